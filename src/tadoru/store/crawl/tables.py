"""Tables of a crawl as people browse them: each column is declared once, with its label, value, order and filter.

A query returns one page of rows, continued by a cursor, and the number of matching rows up to `MAX_COUNTED`. Larger results are
shown in the order of the database, so that no request sorts a whole crawl of many million links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tadoru.i18n.translation import N_
from tadoru.model.web import LANDMARKS
from tadoru.store.crawl.browse import BROKEN_TARGET, MS, containing
from tadoru.store.crawl.connection import CrawlPart, SqlDialect
from tadoru.store.crawl.export_reader import ExportGrid
from tadoru.store.crawl.export_tables import ColumnKind, ExportColumn
from tadoru.store.crawl.records import UNLINKED
from tadoru.store.cursors import decode_cursor, encode_cursor

MAX_COUNTED = 50_000
"""Rows that are counted and sorted at most."""
MAX_EXPORTED = 1_000_000
MAX_FILTER_LENGTH = 200
_NUMBER = re.compile(r"\s*+(>=|<=|>|<|=)?\s*+(-?\d{1,12}(?:\.\d{1,3})?)\s*+")
_RANGE = re.compile(r"\s*+(-?\d{1,12}(?:\.\d{1,3})?)?\s*+\.\.\s*+(-?\d{1,12}(?:\.\d{1,3})?)?\s*+")
_TYPES = {ColumnKind.TEXT: str, ColumnKind.TIME: str, ColumnKind.INTEGER: int, ColumnKind.REAL: float, ColumnKind.TRUTH: int}


class BrowsedColumn(NamedTuple):
    """A column: its label, its value, and how it is ordered and filtered."""

    name: str
    label: str
    sql: str
    kind: ColumnKind = ColumnKind.TEXT
    shown: bool = True
    """Whether it is shown unless somebody chooses columns."""
    falls: bool = False
    """The largest first, unless it is said."""
    sortable: bool = True
    page: str = ""
    """The ID of the page that a cell links to."""
    choices: Mapping[str, tuple[str, str]] = {}
    """Filters by name: label and condition. Else the kind decides how it is filtered."""
    contains: str = ""
    """The condition of a text filter, where looking at each row would be slow; `{like}` and one value."""
    is_exact: bool = False
    """Its value is never NULL, and an index has its order."""


class SiteSegment(NamedTuple):
    """A part of a site: the URLs whose path matches one of the patterns, in which `*` stands for anything.

    A pattern without `*` is the beginning of a path; `/` alone stands for the pages that are in no folder.
    """

    origins: tuple[str, ...]
    patterns: tuple[str, ...]


class CrawlTable(NamedTuple):
    """A table: its rows, their key, and its columns."""

    name: str
    label: str
    source: str
    where: str
    keys: tuple[tuple[str, type], ...]
    """The expressions that identify a row; together they are also its default order."""
    columns: tuple[BrowsedColumn, ...]
    search: tuple[str, ...]
    """The columns that a search looks into."""
    segment: str = ""
    """The URL by which a row belongs to a segment."""
    default_sort: str = ""
    """The column that it is sorted by unless somebody chooses another."""

    def column(self, name: str) -> BrowsedColumn | None:
        """A column by its name."""
        return next((one for one in self.columns if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFilter:
    """What somebody wants to see of a table."""

    q: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    """By column; a number may be `>500` or `200..299`, a text `!part` (without it) or `=whole`."""
    sort: str = ""
    falls: bool | None = None
    segment: SiteSegment | None = None
    source: int | None = None
    target: int | None = None
    """Links of one page, by its ID."""


class TablePage(NamedTuple):
    """A page of a table."""

    rows: list[tuple[Any, ...]]
    """The values of the columns."""
    pages: list[dict[str, int]]
    """For each row the pages that its cells link to, by column."""
    next: str | None
    total: int
    is_capped: bool
    """There are more rows than `total`, and they are not sorted."""


_STATES: dict[str, tuple[str, str]] = {
    "2xx": (N_("2xx: success"), "{p}.status_code BETWEEN 200 AND 299"),
    "3xx": (N_("3xx: redirect"), "{p}.status_code BETWEEN 300 AND 399"),
    "4xx": (N_("4xx: client error"), "{p}.status_code BETWEEN 400 AND 499"),
    "5xx": (N_("5xx: server error"), "{p}.status_code BETWEEN 500 AND 599"),
    "error": (N_("No response"), "{p}.status = 'error'"),
    "queued": (N_("Queued"), "({p}.status = 'queued' OR {p}.status = 'processing')"),
    "skipped": (N_("Not crawled"), "({p}.status = 'skipped' OR {p}.status = 'discovered')"),
}


def _states(table: str) -> dict[str, tuple[str, str]]:
    return {name: (label, condition.format(p=table)) for name, (label, condition) in _STATES.items()}


def _flag(condition: str, yes: str, no: str) -> dict[str, tuple[str, str]]:
    return {"yes": (yes, condition), "no": (no, f"NOT ({condition})")}


_INTEGER, _REAL, _TIME = ColumnKind.INTEGER, ColumnKind.REAL, ColumnKind.TIME
_PAGES_SOURCE = """pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    LEFT JOIN pages onward ON onward.id = p.redirect_id"""
_FINDING_COUNT = "(SELECT count(*) FROM page_findings f WHERE f.page_id = p.id)"
_OF_SITE = "p.internal AND p.purpose = 'page'"
_DEPTH = f"CASE WHEN p.depth < {UNLINKED} THEN p.depth END"
_URL = BrowsedColumn("url", N_("URL"), "p.url", page="p.id", is_exact=True)
_CODE = BrowsedColumn("status_code", N_("Status code"), "p.status_code", _INTEGER)
_INLINKS = BrowsedColumn("inlinks", N_("Inlinks"), "s.inlinks", _INTEGER, falls=True)
PAGES = CrawlTable(
    "pages", N_("Pages"), _PAGES_SOURCE, _OF_SITE, (("p.id", int),),
    (
        _URL, BrowsedColumn("title", N_("Title"), "p.title"),
        BrowsedColumn("answer", N_("Status"), "p.status", shown=False, choices=_states("p")), _CODE,
        BrowsedColumn(
            "indexable", N_("Indexability"), "d.indexability",
            choices=_flag("coalesce(d.indexable, false)", N_("indexable"), N_("not indexable")),
        ),
        BrowsedColumn("depth", N_("Depth"), _DEPTH, _INTEGER), _INLINKS,
        BrowsedColumn("findings", N_("Findings"), _FINDING_COUNT, _INTEGER, falls=True),
        BrowsedColumn("response_ms", N_("Response time (ms)"), MS, _REAL, falls=True),
        BrowsedColumn("size", N_("Size (bytes)"), "p.response_size_bytes", _INTEGER, shown=False, falls=True),
        BrowsedColumn("word_count", N_("Word count"), "d.word_count", _INTEGER, shown=False),
        BrowsedColumn("h1", N_("First heading"), "d.h1", shown=False),
        BrowsedColumn("description", N_("Meta description"), "p.meta_description", shown=False),
        BrowsedColumn("canonical", N_("Canonical"), "p.canonical_url", shown=False),
        BrowsedColumn("robots", N_("Meta robots"), "p.meta_robots", shown=False),
        BrowsedColumn("language", N_("Language"), "d.language", shown=False),
        BrowsedColumn("content_type", N_("Content type"), "p.content_type", shown=False),
        BrowsedColumn("outlinks", N_("Outlinks"), "s.outlinks", _INTEGER, shown=False, falls=True),
        BrowsedColumn("external_outlinks", N_("External links"), "s.external_outlinks", _INTEGER, shown=False, falls=True),
        BrowsedColumn("link_score", N_("Link score"), "s.link_score", _REAL, shown=False, falls=True),
        BrowsedColumn("redirect", N_("Redirects to"), "onward.url", shown=False, page="onward.id"),
        BrowsedColumn("template", N_("Template"), "d.template", shown=False),
        BrowsedColumn("crawled_at", N_("Crawled"), "p.crawled_at", _TIME, shown=False),
    ),
    ("url", "title"), "p.url", "url",
)  # fmt: skip
REDIRECTS = CrawlTable(
    "redirects", N_("Redirects"), _PAGES_SOURCE, f"{_OF_SITE} AND p.redirect_id IS NOT NULL", (("p.id", int),),
    (
        _URL, _CODE, BrowsedColumn("target", N_("Target"), "onward.url", page="onward.id"),
        BrowsedColumn("target_code", N_("Status code of the target"), "onward.status_code", _INTEGER),
        BrowsedColumn("target_answer", N_("Status of the target"), "onward.status", shown=False, choices=_states("onward")),
        BrowsedColumn("depth", N_("Depth"), _DEPTH, _INTEGER), _INLINKS,
    ),
    ("url", "target"), "p.url",
)  # fmt: skip
_IN_PAGES = "{} IN (SELECT id FROM pages WHERE url {{like}} ? ESCAPE '\\')"
_IN_TEXTS = "{} IN (SELECT id FROM texts WHERE text {{like}} ? ESCAPE '\\')"
_NOFOLLOW = "r.rel_id IN (SELECT id FROM texts WHERE ' ' || text || ' ' {like} '% nofollow %')"
_NAMED = " ".join(f"WHEN {at} THEN '{name}'" for at, name in enumerate(LANDMARKS) if name)
_LANDMARK = f"CASE r.landmark {_NAMED} ELSE '' END"
LINKS = CrawlTable(
    "links", N_("Links"),
    """link_relations r {by} {join} pages t ON t.id = r.target_id {join} pages p ON p.id = r.source_id
    {join} texts a ON a.id = r.text_id {join} texts rel ON rel.id = r.rel_id {join} texts f ON f.id = r.fragment_id""",
    "true", (("r.source_id", int), ("r.position", int)),
    (
        BrowsedColumn("target", N_("Target"), "t.url", page="t.id", contains=_IN_PAGES.format("r.target_id"), is_exact=True),
        BrowsedColumn(
            "which", N_("Links"), "CASE WHEN t.internal THEN 'internal' ELSE 'external' END", shown=False, choices={
                "broken": (N_("Broken"), BROKEN_TARGET), "internal": (N_("Internal"), "t.internal"),
                "external": (N_("External"), "NOT t.internal"), "nofollow": (N_("nofollow"), _NOFOLLOW),
            },
        ),
        BrowsedColumn("status_code", N_("Status code"), "t.status_code", _INTEGER),
        BrowsedColumn("answer", N_("Status"), "t.status", shown=False, choices=_states("t")),
        BrowsedColumn("url", N_("Linked from"), "p.url", page="p.id", contains=_IN_PAGES.format("r.source_id"), is_exact=True),
        BrowsedColumn("anchor", N_("Anchor text"), "a.text", contains=_IN_TEXTS.format("r.text_id")),
        BrowsedColumn(
            "landmark", N_("Part of the page"), _LANDMARK, sortable=False, choices={
                "content": (N_("Content"), "r.landmark = 1"), "nav": (N_("Navigation"), "r.landmark = 2"),
                "header": (N_("Header"), "r.landmark = 3"), "footer": (N_("Footer"), "r.landmark = 4"),
                "aside": (N_("Sidebar"), "r.landmark = 5"),
            },
        ),
        BrowsedColumn("position", N_("Position"), "r.position + 1", _INTEGER, shown=False),
        BrowsedColumn("kind", N_("Kind"), "r.kind", shown=False),
        BrowsedColumn("rel", N_("rel"), "rel.text", shown=False, contains=_IN_TEXTS.format("r.rel_id")),
        BrowsedColumn("fragment", N_("Fragment"), "f.text", shown=False),
        BrowsedColumn("depth", N_("Depth"), _DEPTH, _INTEGER, shown=False),
    ),
    ("target", "anchor"), "p.url",
)  # fmt: skip
_SEVERITIES = "CASE c.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 WHEN 'notice' THEN 2 ELSE 3 END"
FINDINGS = CrawlTable(
    "findings", N_("Findings"),
    """page_findings f {join} checks c ON c.number = f.check_number LEFT JOIN pages p ON p.id = f.page_id
    LEFT JOIN page_scores s ON s.page_id = f.page_id LEFT JOIN page_details d ON d.page_id = f.page_id""",
    "true", (("f.page_id", int), ("f.check_number", int), ("f.subject", str)),
    (
        BrowsedColumn("url", N_("Page"), "CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END", page="p.id"),
        BrowsedColumn("check", N_("Check"), "c.id"),
        BrowsedColumn(
            "severity", N_("Severity"), "c.severity", choices={
                "error": (N_("Error"), "c.severity = 'error'"), "warning": (N_("Warning"), "c.severity = 'warning'"),
                "notice": (N_("Notice"), "c.severity = 'notice'"), "info": (N_("Info"), "c.severity = 'info'"),
            },
        ),
        BrowsedColumn("group", N_("Group"), "c.check_group", shown=False),
        BrowsedColumn("subject", N_("Subject"), "f.subject"), BrowsedColumn("detail", N_("Evidence"), "f.detail"),
        _CODE, BrowsedColumn("depth", N_("Depth"), _DEPTH, _INTEGER, shown=False), _INLINKS,
        BrowsedColumn("template", N_("Template"), "d.template", shown=False),
    ),
    ("url", "subject", "detail"), "p.url",
)  # fmt: skip
RESOURCES = CrawlTable(
    "resources", N_("Resources"), "resources x", "true", (("x.id", int),),
    (
        BrowsedColumn("url", N_("URL"), "x.url", is_exact=True), BrowsedColumn("kind", N_("Kind"), "x.kind"),
        BrowsedColumn("status_code", N_("Status code"), "x.status_code", _INTEGER),
        BrowsedColumn("answer", N_("Status"), "x.status", shown=False, choices=_states("x")),
        BrowsedColumn(
            "site", N_("Site"), "CASE WHEN x.internal THEN 'internal' ELSE 'external' END",
            choices=_flag("x.internal", N_("Internal"), N_("External")),
        ),
        BrowsedColumn("content_type", N_("Content type"), "x.content_type"),
        BrowsedColumn("size", N_("Size (bytes)"), "x.content_length", _INTEGER, falls=True),
        BrowsedColumn("final_url", N_("Redirects to"), "x.final_url", shown=False),
        BrowsedColumn("error", N_("Error"), "x.last_error_message", shown=False),
    ),
    ("url",), "x.url",
)  # fmt: skip
BROWSED_TABLES = {one.name: one for one in (PAGES, LINKS, REDIRECTS, RESOURCES, FINDINGS)}


class TableBrowser(CrawlPart):
    """Reads tables page by page."""

    def page(self, table: CrawlTable, chosen: TableFilter, *, limit: int = 50, cursor: str | None = None) -> TablePage:
        """A page of a table with all its columns. Raises UnknownCursor."""
        source, conditions, values = self._query(table, chosen)
        total = self._count(source, conditions, values)
        is_capped = total > MAX_COUNTED
        name, keys, down = _order(table, chosen, is_capped=is_capped)
        if cursor:
            conditions.append(f"({', '.join(sql for sql, _ in keys)}) {'<' if down else '>'} ({', '.join('?' * len(keys))})")
            values = [*values, *decode_cursor(cursor, name, [kind for _, kind in keys])]
        linked = [column for column in table.columns if column.page]
        selected = [sql for sql, _ in keys] + [column.sql for column in table.columns] + [column.page for column in linked]
        by = ", ".join(f"{sql} DESC" if down else sql for sql, _ in keys)
        rows = self._db.rows(
            f"SELECT {', '.join(selected)} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY {by} LIMIT ?",
            (*values, limit + 1),
        )
        at, width = len(keys), len(keys) + len(table.columns)
        return TablePage(
            [tuple(row[at:width]) for row in rows[:limit]],
            [{column.name: page for column, page in zip(linked, row[width:], strict=True) if page} for row in rows[:limit]],
            encode_cursor(name, rows[limit - 1][:at]) if len(rows) > limit else None, min(total, MAX_COUNTED), is_capped,
        )  # fmt: skip

    def grid(self, table: CrawlTable, chosen: TableFilter, columns: Sequence[str]) -> ExportGrid:
        """All rows of a view with some columns, in its order, to be exported."""
        source, conditions, values = self._query(table, chosen)
        is_capped = self._count(source, conditions, values) > MAX_COUNTED
        _, keys, down = _order(table, chosen, is_capped=is_capped)
        wanted = [one for one in table.columns if one.name in columns]
        by = ", ".join(f"{sql} DESC" if down else sql for sql, _ in keys)
        statement = f"""SELECT {", ".join(one.sql for one in wanted)} FROM {source} WHERE {" AND ".join(conditions)}
            ORDER BY {by} LIMIT ?"""
        rows: Iterator[tuple[Any, ...]] = self._db.stream(statement, (*values, MAX_EXPORTED))
        return ExportGrid(table.name, tuple(ExportColumn(one.name, one.kind) for one in wanted), rows)

    def causes(self, *, internal: bool | None, broken: bool, limit: int, places: int) -> list[LinkCause]:
        """The targets of broken links, or of links to redirects, with the most inlinks first, each with some of its places."""
        d = self._db.dialect
        condition = BROKEN_TARGET if broken else f"t.status_code BETWEEN 300 AND 399 AND NOT {BROKEN_TARGET}"
        if internal is not None:
            condition += f" AND {'' if internal else 'NOT '}t.internal"
        counted = f"SELECT count(*) FROM link_relations r {d.indexed_by('links_by_target')} WHERE r.target_id = t.id"
        if not self._db.rows(d.index_exists("links_by_target")):
            return []
        rows = self._db.rows(
            f"""SELECT id, url, status, status_code, links FROM (SELECT t.id, t.url, t.status, t.status_code, ({counted}) AS links
                FROM pages t WHERE {condition}) AS targets WHERE links > 0 ORDER BY links DESC, id LIMIT ?""",
            (limit,),
        )
        place = f"""SELECT r.source_id, p.url, a.text, r.position FROM link_relations r {d.indexed_by("links_by_target")}
            {d.join_in_order} pages p ON p.id = r.source_id {d.join_in_order} texts a ON a.id = r.text_id
            WHERE r.target_id = ? ORDER BY r.source_id, r.position LIMIT ?"""
        found = []
        for target, url, status, code, links in rows:
            its = tuple(LinkPlace(*one) for one in self._db.rows(place, (target, places)))
            found.append(LinkCause(target, url, status, code, links, its))
        return found

    def check_counts(self, segment: SiteSegment | None, template: str = "") -> dict[int, int]:
        """The number of findings of each check on the pages of a segment, a template, or both."""
        condition, values = _segment_condition("p.url", segment, self._db.dialect) if segment else ("true", [])
        if template:
            condition += " AND p.id IN (SELECT page_id FROM page_details WHERE template = ?)"
            values = [*values, template]
        rows = self._db.rows(
            f"""SELECT f.check_number, count(*) FROM pages p JOIN page_findings f ON f.page_id = p.id
            WHERE {condition} GROUP BY 1""",
            values,
        )
        return dict(rows)

    def segment_counts(self, segments: Sequence[SiteSegment]) -> list[tuple[int, int, int]]:
        """Pages, broken pages and findings of each segment, in one pass."""
        sums: list[str] = []
        values: list[Any] = []
        for segment in segments:
            condition, its = _segment_condition("url", segment, self._db.dialect)
            for figure in ("1", "is_broken", "findings"):
                sums.append(f"coalesce(sum(CASE WHEN {condition} THEN {figure} ELSE 0 END), 0)")
                values += its
        if not sums:
            return []
        (row,) = self._db.rows(
            f"""SELECT {", ".join(sums)} FROM (SELECT p.url AS url, {_FINDING_COUNT} AS findings,
            CASE WHEN p.status = 'error' OR p.status_code >= 400 THEN 1 ELSE 0 END AS is_broken FROM pages p
            WHERE {_OF_SITE} AND (p.status = 'completed' OR p.status = 'error')) AS part""",
            values,
        )
        return [(int(row[at]), int(row[at + 1]), int(row[at + 2])) for at in range(0, len(row), 3)]

    def templates(self, limit: int) -> list[tuple[str, str, int, int]]:
        """The templates of the pages, largest first: the URL of one page, the number of pages, and of findings."""
        rows = self._db.rows(
            f"""SELECT d.template, min(p.url), count(*), sum({_FINDING_COUNT}) FROM page_details d
            JOIN pages p ON p.id = d.page_id WHERE d.template IS NOT NULL
            GROUP BY d.template ORDER BY count(*) DESC, d.template LIMIT ?""",
            (limit,),
        )
        return [(str(name), str(url), int(pages), int(findings)) for name, url, pages, findings in rows]

    def folders(self, origins: Sequence[str]) -> list[tuple[str, int, int, int]]:
        """The first folders of the URLs of a site: pages, broken pages and findings of each, in one pass."""
        found: dict[str, list[int]] = {}
        rows = self._db.stream(
            f"""SELECT p.url, p.status, p.status_code, (SELECT count(*) FROM page_findings f WHERE f.page_id = p.id)
            FROM pages p WHERE {_OF_SITE} AND (p.status = 'completed' OR p.status = 'error')"""
        )
        for url, status, code, findings in rows:
            origin = next((one for one in origins if url.startswith(f"{one}/")), None)
            if origin is None:
                continue
            counts = found.setdefault(_first_folder(url[len(origin) + 1 :]), [0, 0, 0])
            counts[0] += 1
            counts[1] += status == "error" or (code or 0) >= 400
            counts[2] += findings
        return sorted(((name, *counts) for name, counts in found.items()), key=lambda one: (-one[1], one[0]))  # type: ignore[misc]

    def _query(self, table: CrawlTable, chosen: TableFilter) -> tuple[str, list[str], list[Any]]:
        d, conditions, values = self._db.dialect, [table.where], []
        for column in table.columns:
            if given := chosen.filters.get(column.name, "")[:MAX_FILTER_LENGTH].strip():
                condition, its = _condition(column, given, d)
                if condition:
                    conditions.append(condition)
                    values += its
        if chosen.q:
            parts = [_contains(one, d) for one in table.columns if one.name in table.search]
            conditions.append(f"({' OR '.join(parts)})")
            values += [containing(chosen.q[:MAX_FILTER_LENGTH])] * len(parts)
        if chosen.segment and table.segment:
            condition, its = _segment_condition(table.segment, chosen.segment, d)
            conditions.append(condition)
            values += its
        for name, page in (("source", chosen.source), ("target", chosen.target)):
            if page is not None and table is LINKS:
                # Links of a page to itself are no inlinks.
                conditions.append(f"r.{name}_id = ?" + (" AND r.source_id <> r.target_id" if name == "target" else ""))
                values.append(page)
        return self._source(table, chosen), conditions, values

    def _source(self, table: CrawlTable, chosen: TableFilter) -> str:
        d = self._db.dialect
        by_target = (
            table is LINKS and chosen.source is None and (chosen.target is not None or chosen.filters.get("which") == "broken")
        )
        if by_target and self._db.rows(d.index_exists("links_by_target")):
            by = d.indexed_by("links_by_target")
            if chosen.target is not None:
                return table.source.format(by=by, join=d.join_in_order)
            head = "link_relations r {by} {join} pages t ON t.id = r.target_id"
            turned = f"pages t {{join}} link_relations r {by} ON r.target_id = t.id"
            return table.source.replace(head, turned).format(join=d.join_in_order)
        return table.source.format(by=d.by_id, join=d.join_in_order)

    def _count(self, source: str, conditions: Sequence[str], values: Sequence[Any]) -> int:
        statement = (
            f"SELECT count(*) FROM (SELECT 1 FROM {source} WHERE {' AND '.join(conditions)} LIMIT {MAX_COUNTED + 1}) AS part"
        )
        return int(self._db.rows(statement, tuple(values))[0][0])


class LinkPlace(NamedTuple):
    """A link to a target: the page that has it, its text and position."""

    page_id: int
    url: str
    anchor: str
    position: int


class LinkCause(NamedTuple):
    """A target that several links lead to."""

    target_id: int
    url: str
    status: str
    status_code: int | None
    links: int
    places: tuple[LinkPlace, ...]


def _first_folder(path: str) -> str:
    """The first folder of a path without its first slash, as `_segment_condition` tells pages in no folder apart."""
    first, last, question = path.find("/"), path.rfind("/"), path.find("?")
    if first < 0 or (0 <= question < last and not first < path.rfind("?")):
        return "/"
    return f"/{path[:first]}/"


def _segment_condition(column: str, segment: SiteSegment, d: SqlDialect) -> tuple[str, list[str]]:
    """The condition of a segment and its values."""
    parts, values = [], []
    like = f"{column} {d.like} ? ESCAPE '\\'"
    for origin in segment.origins:
        for pattern in segment.patterns:
            escaped = containing(f"{origin}{pattern}")[1:-1].replace("*", "%")
            if pattern == "/":
                parts.append(f"({like} AND (NOT {like} OR ({like} AND NOT {like})))")
                values += [f"{escaped}{rest}" for rest in ("%", "%/%", "%?%/%", "%/%?%")]
            else:
                parts.append(like)
                values.append(escaped if "*" in pattern else f"{escaped}%")
    return f"({' OR '.join(parts) or 'false'})", values


def _order(table: CrawlTable, chosen: TableFilter, *, is_capped: bool) -> tuple[str, list[tuple[str, type]], bool]:
    """The name of an order, its keys, and whether it falls."""
    column = table.column(chosen.sort or table.default_sort)
    if column is None or not column.sortable or is_capped:
        return f"{table.name}:found", list(table.keys), False
    down = column.falls if chosen.falls is None else chosen.falls
    kind = _TYPES.get(column.kind, str)
    value = column.sql if column.is_exact else f"coalesce({column.sql}, {chr(39) * 2 if kind is str else '-1'})"
    if column.name == "severity":
        value, kind = _SEVERITIES, int
    return f"{table.name}:{column.name}:{'down' if down else 'up'}", [(value, kind), *table.keys], down


def _condition(column: BrowsedColumn, given: str, d: SqlDialect) -> tuple[str, list[Any]]:
    """The condition of a filter and its values; empty if it makes no sense."""
    if column.choices:
        condition = column.choices[given][1] if given in column.choices else ""
        return condition.format(like=d.like) if condition else "", []
    if column.kind in (ColumnKind.INTEGER, ColumnKind.REAL):
        return _number_condition(column.sql, given)
    if given == "=":
        return f"coalesce({column.sql}, '') = ''", []
    if given.startswith("=") and not column.contains:
        return f"{column.sql} = ?", [given[1:]]
    if given.startswith("!"):
        return f"NOT coalesce({_contains(column, d)}, false)", [containing(given[1:])]
    return _contains(column, d), [containing(given)]


def _contains(column: BrowsedColumn, d: SqlDialect) -> str:
    return column.contains.format(like=d.like) if column.contains else f"{column.sql} {d.like} ? ESCAPE '\\'"


def _number_condition(sql: str, given: str) -> tuple[str, list[Any]]:
    if (one := _NUMBER.fullmatch(given)) is not None:
        return f"{sql} {one[1] or '='} ?", [float(one[2])]
    if (both := _RANGE.fullmatch(given)) is not None and (both[1] or both[2]):
        ends = [(f"{sql} {sign} ?", float(value)) for sign, value in ((">=", both[1]), ("<=", both[2])) if value]
        return " AND ".join(condition for condition, _ in ends), [value for _, value in ends]
    return "", []
