"""Lists of pages, links and totals for the service, page by page."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from math import ceil
from typing import Any, ClassVar, Literal, NamedTuple

from tadoru.model.web import LANDMARKS
from tadoru.store.crawl.connection import CrawlPart, SqlDialect, listed
from tadoru.store.crawl.records import UNLINKED, parse_utc
from tadoru.store.cursors import Key, decode_cursor, encode_cursor

_MOST_HOPS = 20
MS = "p.ttfb_ms + coalesce(p.download_time_ms, 0)"


class _Order(NamedTuple):
    keys: tuple[str, ...]
    """Expressions that are never NULL; together they are unique."""
    kinds: tuple[type, ...]
    falls: bool = False
    """The largest first, unless it is said."""


def _by(expression: str, kind: type, *, falls: bool = False) -> _Order:
    nothing = "''" if kind is str else "-1"
    return _Order((f"coalesce({expression}, {nothing})", "p.id"), (kind, int), falls)


_SCORE = "(SELECT {} FROM page_scores s WHERE s.page_id = p.id)"
ORDERS: dict[str, _Order] = {
    "url": _Order(("p.url",), (str,)),
    "depth": _Order(("p.depth", "p.url"), (int, str)),
    "found": _Order(("p.id",), (int,)),
    "title": _by("p.title", str),
    "status_code": _by("p.status_code", int),
    "response_ms": _by(MS, float, falls=True),
    "size": _by("p.response_size_bytes", int, falls=True),
    "inlinks": _by(_SCORE.format("s.inlinks"), int, falls=True),
    "link_score": _by(_SCORE.format("s.link_score"), float, falls=True),
}
"""What a list of pages can be ordered by."""

_LINE = f"""SELECT p.id, p.url, p.internal, p.status, p.status_code, p.title, p.depth, p.content_type, d.indexable,
        d.indexability, {MS}, p.response_size_bytes, s.inlinks, s.link_score,
        (SELECT count(*) FROM page_findings f WHERE f.page_id = p.id), onward.url, p.skip_reason, p.last_error_type,
        p.last_error_message, p.crawled_at
    FROM pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    LEFT JOIN pages onward ON onward.id = p.redirect_id"""
_FACTS = """p.purpose, p.is_seed, parent.id AS parent_id, parent.url AS parent_url, p.added_at, p.crawls, p.retry_count,
        p.meta_description, p.meta_robots, p.canonical_url, p.content_hash, p.dns_ms, p.connect_ms, p.tls_ms, p.ttfb_ms,
        p.download_time_ms, p.content_length, p.last_modified, p.server, p.content_encoding, d.http_version, d.address,
        d.transferred_bytes, d.body_hash, d.etag, d.charset, d.language, d.title_length, d.title_pixels, d.description_length,
        d.description_pixels, d.h1, d.word_count, d.text_ratio, d.canonical_http, d.x_robots_tag, d.next_url, d.prev_url,
        s.unique_inlinks, s.outlinks, s.external_outlinks, cluster.url AS cluster_url,
        d.template, d.segment, d.headers, d.headings, d.images, d.directives, d.extracted, d.rendering"""
_FACT_NAMES = tuple(column.strip().rpartition(" ")[2].rpartition(".")[2] for column in _FACTS.split(","))
_OF_PAGE = """FROM pages p LEFT JOIN page_details d ON d.page_id = p.id LEFT JOIN page_scores s ON s.page_id = p.id
    LEFT JOIN pages parent ON parent.id = p.parent_id LEFT JOIN pages cluster ON cluster.id = s.cluster_id WHERE p.id = ?"""
_AFFECTED = """SELECT f.page_id, CASE WHEN f.page_id <> 0 THEN p.url ELSE f.subject END, f.subject, f.detail, f.data, p.title,
        p.status_code, p.depth, s.inlinks
    FROM page_findings f LEFT JOIN pages p ON p.id = f.page_id LEFT JOIN page_scores s ON s.page_id = f.page_id
    WHERE f.check_number = ? AND (f.page_id, f.subject) > (?, ?) ORDER BY f.page_id, f.check_number, f.subject LIMIT ?"""


_WHOSE = {
    None: "(p.purpose = 'page' OR NOT p.internal)",
    True: "p.internal AND p.purpose = 'page'",
    False: "NOT p.internal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFilter:
    """Which pages to list; None or empty means any."""

    internal: bool | None = True
    statuses: tuple[str, ...] = ()
    codes: tuple[tuple[int, int], ...] = ()
    """Ranges of status codes, both ends included; a page fits that has one of these, or one of the statuses."""
    q: str = ""
    """In its URL or its title."""
    depth: int | None = None
    """`UNLINKED`: those that no link leads to."""
    indexable: bool | None = None
    content_type: str = ""
    """How it begins."""
    check: str = ""
    """With a finding of this check."""


class PublishedRecord:
    """A record that the service returns as it is: OpenAPI and GraphQL describe it by its types and docstrings, under the name
    `published` if that differs from the name of the class."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def __init_subclass__(cls, published: str = "") -> None:
        if published:
            cls.__qualname__ = published
            cls.__pydantic_config__ = {**cls.__pydantic_config__, "title": published}


@dataclass(frozen=True, slots=True)
class PageSummary(PublishedRecord, published="CrawledPage"):
    """A page of a crawl."""

    id: int
    url: str
    internal: bool
    status: Literal["discovered", "queued", "processing", "skipped", "completed", "error"]
    status_code: int | None
    title: str | None
    depth: int | None
    """Null if it has no inlinks."""
    content_type: str | None
    indexable: bool | None
    indexability: str | None
    response_ms: float | None
    size: int | None
    inlinks: int | None
    """Null if not counted yet."""
    link_score: float | None
    findings: int
    redirect_url: str | None
    skip_reason: str | None
    error_type: str | None
    error_message: str | None
    crawled_at: datetime | None


@dataclass(frozen=True, slots=True)
class AffectedPage(PublishedRecord, published="CrawlAffected"):
    """A subject of a finding."""

    page_id: int | None
    """Null if the subject is not a page."""
    url: str
    subject: str
    detail: str
    data: Mapping[str, Any]
    title: str | None
    status_code: int | None
    depth: int | None
    inlinks: int | None


class PageBrowser(CrawlPart):
    """Reads lists of pages and single pages."""

    def page_lines(
        self, chosen: PageFilter, *, sort: str = "url", falls: bool | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[PageSummary], str | None]:
        """Pages in an order of `ORDERS`, and where the list goes on. Raises UsageError."""
        order = ORDERS[sort]
        down = order.falls if falls is None else falls
        name = f"{sort}:{'down' if down else 'up'}"
        conditions, values = _page_conditions(chosen, self._db.dialect)
        if cursor:
            marks = ", ".join("?" * len(order.keys))
            conditions.append(f"({', '.join(order.keys)}) {'<' if down else '>'} ({marks})")
            values += decode_cursor(cursor, name, order.kinds)
        by = ", ".join(f"{key} DESC" if down else key for key in order.keys)
        # What may fit few pages is looked for in one pass; in the order of an index each row would be a jump.
        is_rare = chosen.q or chosen.check or chosen.content_type or chosen.internal is False
        way = self._db.dialect.by_id if is_rare else ""
        statement = f"""SELECT p.id, {", ".join(order.keys)} FROM pages p {way} WHERE {" AND ".join(conditions)}
            ORDER BY {by} LIMIT ?"""
        rows = self._db.rows(statement, (*values, limit + 1))
        more = encode_cursor(name, rows[limit - 1][1:]) if len(rows) > limit else None
        return self._lines([row[0] for row in rows[:limit]]), more

    def page_count(self, chosen: PageFilter) -> int:
        """How many pages there are of these: one pass."""
        conditions, values = _page_conditions(chosen, self._db.dialect)
        ((number,),) = self._db.rows(f"SELECT count(*) FROM pages p WHERE {' AND '.join(conditions)}", values)
        return int(number)

    def page_id(self, url: str) -> int | None:
        """The number of a URL."""
        rows = self._db.rows(f"SELECT id FROM pages WHERE {self._db.dialect.is_text('url', '?')}", (url,))
        return rows[0][0] if rows else None

    def page_line(self, page: int) -> PageSummary | None:
        """One page, as lists show it."""
        return next(iter(self._lines([page])), None)

    def page_facts(self, page: int) -> dict[str, Any]:
        """Everything about a page that is one value, by the names of the database; what is a list there is read."""
        (row,) = self._db.rows(f"SELECT {_FACTS} {_OF_PAGE}", (page,))
        facts = dict(zip(_FACT_NAMES, row, strict=True))
        for name in ("headers", "headings", "images", "directives"):
            facts[name] = read_json(facts[name], [])
        for name in ("extracted", "rendering"):
            facts[name] = read_json(facts[name], {})
        return facts

    def redirect_steps(self, page: int) -> list[tuple[str, int | None]]:
        """URL and status code of each step from a page that redirects, the page itself first; empty for any other."""
        steps: list[tuple[str, int | None]] = []
        seen: set[int] = set()
        onward: int | None = page
        while onward is not None and onward not in seen and len(steps) <= _MOST_HOPS:
            seen.add(onward)
            ((url, code, after),) = self._of_page("SELECT url, status_code, redirect_id FROM pages WHERE id = ?", onward)
            steps.append((url, code))
            onward = after
        return steps if len(steps) > 1 else []

    def page_alternates(self, page: int) -> list[tuple[str, str, str]]:
        """Language, URL and source of each alternate that a page names."""
        return self._of_page("SELECT language, url, source FROM page_hreflang WHERE page_id = ? ORDER BY position", page)

    def page_items(self, page: int) -> list[tuple[str, str, Any]]:
        """Syntax, type and properties of each item of structured data."""
        rows = self._of_page("SELECT syntax, type, properties FROM page_items WHERE page_id = ? ORDER BY position", page)
        return [(syntax, kind, read_json(properties, {})) for syntax, kind, properties in rows]

    def page_resources(self, page: int, limit: int) -> list[tuple[Any, ...]]:
        """URL, kind, status, status code, content type and size of each resource that a page uses."""
        return self._db.rows(
            """SELECT x.url, x.kind, x.status, x.status_code, x.content_type, x.content_length FROM resource_uses u
            JOIN resources x ON x.id = u.resource_id WHERE u.page_id = ? ORDER BY u.position LIMIT ?""",
            (page, limit),
        )

    def page_found(self, page: int) -> list[tuple[int, str, str, Mapping[str, Any]]]:
        """The number of the check, the subject, the detail and the data of each finding."""
        rows = self._of_page(
            "SELECT check_number, subject, detail, data FROM page_findings WHERE page_id = ? ORDER BY check_number, subject", page
        )
        return [(number, subject, detail, read_json(data, {})) for number, subject, detail, data in rows]

    def affected(self, check: int, *, limit: int, cursor: str | None = None) -> tuple[list[AffectedPage], str | None]:
        """The findings of a check, those about no page first, then in the order in which their pages became known."""
        order = f"check {check}"
        place: tuple[Key, ...] = decode_cursor(cursor, order, (int, str)) if cursor else (-1, "")
        rows = self._db.rows(_AFFECTED, (check, *place, limit + 1))
        more = encode_cursor(order, (rows[limit - 1][0], rows[limit - 1][2])) if len(rows) > limit else None
        return [_affected(row) for row in rows[:limit]], more

    def _lines(self, pages: Sequence[int]) -> list[PageSummary]:
        by_id = {row[0]: _page_row(row) for row in self._db.rows(f"{_LINE} WHERE p.id IN ({listed(pages)})")}
        return [by_id[page] for page in pages if page in by_id]

    def _of_page(self, statement: str, page: int) -> list[tuple[Any, ...]]:
        return self._db.rows(statement, (page,))


def _page_conditions(chosen: PageFilter, dialect: SqlDialect) -> tuple[list[str], list[Any]]:
    conditions = [_WHOSE[chosen.internal]]
    values: list[Any] = []
    if chosen.statuses or chosen.codes:
        either = ["p.status = ?"] * len(chosen.statuses) + ["p.status_code BETWEEN ? AND ?"] * len(chosen.codes)
        conditions.append(f"({' OR '.join(either)})")
        values += [*chosen.statuses, *(end for ends in chosen.codes for end in ends)]
    if chosen.q:
        conditions.append(f"(p.url {dialect.like} ? ESCAPE '\\' OR p.title {dialect.like} ? ESCAPE '\\')")
        values += [containing(chosen.q)] * 2
    if chosen.depth is not None:
        conditions.append("p.depth = ?" if chosen.depth < UNLINKED else "p.depth >= ?")
        values.append(min(chosen.depth, UNLINKED))
    if chosen.indexable is not None:
        conditions.append("(SELECT d.indexable FROM page_details d WHERE d.page_id = p.id) = ?")
        values.append(chosen.indexable)
    if chosen.content_type:
        conditions.append(f"p.content_type {dialect.like} ? ESCAPE '\\'")
        values.append(containing(chosen.content_type)[1:])
    if chosen.check:
        conditions.append(
            """EXISTS (SELECT 1 FROM page_findings f WHERE f.page_id = p.id
            AND f.check_number = (SELECT number FROM checks WHERE id = ?))"""
        )
        values.append(chosen.check)
    return conditions, values


def read_json(text: str | None, nothing: Any) -> Any:
    """What was kept as JSON, of values that JSON knows: a stranger's number may be too large for any."""
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite) if text else nothing
    except ValueError:  # Somebody wrote into the file by hand.
        return nothing


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def containing(text: str) -> str:
    """A pattern of LIKE for this very text anywhere."""
    for sign in "\\%_":
        text = text.replace(sign, f"\\{sign}")
    return f"%{text}%"


def _page_row(row: tuple[Any, ...]) -> PageSummary:
    values = list(row)
    values[2], values[6], values[-1] = bool(row[2]), shown_depth(row[6]), parse_utc(row[-1])
    values[8] = None if row[8] is None else bool(row[8])
    return PageSummary(*values)


def _affected(row: tuple[Any, ...]) -> AffectedPage:
    page_id, url, subject, detail, data, title, code, depth, inlinks = row
    return AffectedPage(page_id or None, url, subject, detail, read_json(data, {}), title, code, shown_depth(depth), inlinks)


def shown_depth(depth: int | None) -> int | None:
    """None for a page that no link leads to."""
    return depth if depth is not None and depth < UNLINKED else None


# Counted here and not by GROUP BY, for which SQLite sorts all rows first.
_ROWS = """SELECT p.internal, p.status, p.status_code, p.depth, p.ttfb_ms + coalesce(p.download_time_ms, 0) FROM pages p
    WHERE p.purpose = 'page' OR NOT p.internal"""
_AT_ONCE = 10_000


class CrawlTotals(NamedTuple):
    """The number of URLs with one state and depth."""

    internal: bool
    status: str
    status_code: int | None
    depth: int
    urls: int


class TotalsBrowser(CrawlPart):
    """Reads the totals of a crawl."""

    def standing(self) -> tuple[list[CrawlTotals], list[tuple[int, int]]]:
        """How many URLs stand where, those of the site and the others; and how many answers of the site took so many
        milliseconds, rounded up, the fastest first."""
        standing: Counter[tuple[Any, ...]] = Counter()
        times: Counter[int] = Counter()
        for internal, status, code, depth, ms in self._db.stream(_ROWS):
            standing[internal, status, code, depth] += 1
            if ms is not None and internal and status == "completed":
                times[ceil(ms)] += 1
        rows = [CrawlTotals(bool(key[0]), key[1], key[2], key[3], urls) for key, urls in standing.items()]
        return rows, sorted(times.items())

    def finding_counts(self) -> tuple[dict[int, int], dict[str, int]]:
        """How many findings there are of each check, by its number; and on how many pages there is one of each severity."""
        counts: Counter[int] = Counter()
        masks: Counter[int] = Counter()
        checks = self._db.rows("SELECT number, severity FROM checks")
        severities = list(dict.fromkeys(severity for _, severity in checks))
        bits = {number: 1 << severities.index(severity) for number, severity in checks}
        rows = self._db.stream("SELECT page_id, check_number FROM page_findings ORDER BY page_id")
        page = mask = 0  # Findings lie by page, so that those of one page are met together.
        while part := list(islice(rows, _AT_ONCE)):
            counts.update(number for _, number in part)
            for number, check in part:
                if number != page:
                    masks[mask] += 1 if page else 0
                    page, mask = number, 0
                mask |= bits.get(check, 0)
        masks[mask] += 1 if page else 0
        pages = {name: sum(found for mask, found in masks.items() if mask >> at & 1) for at, name in enumerate(severities)}
        return counts, pages


_COLUMNS = """SELECT r.source_id, s.url, r.target_id, t.url, a.text, rel.text, f.text, r.kind, r.position, t.internal, t.status,
    t.status_code, r.landmark"""
_THE_REST = """{join} texts a ON a.id = r.text_id {join} texts rel ON rel.id = r.rel_id {join} texts f ON f.id = r.fragment_id"""
# A redirect is broken where it leads: the audit has followed it.
BROKEN_TARGET = """(t.status = 'error' OR t.status_code >= 400 OR (t.status_code BETWEEN 300 AND 399 AND EXISTS (
    SELECT 1 FROM page_findings b WHERE b.page_id = t.id
    AND b.check_number IN (SELECT number FROM checks WHERE id = 'redirect-loop' OR id = 'redirect-to-error'))))"""
# Texts are stored once each: what is looked for in them is looked for there, and not at every link.
_NOFOLLOW = "SELECT id FROM texts WHERE ' ' || text || ' ' {like} '% nofollow %'"
_CONTAINS = """(r.target_id IN (SELECT id FROM pages WHERE url {like} ? ESCAPE '\\')
    OR r.text_id IN (SELECT id FROM texts WHERE text {like} ? ESCAPE '\\'))"""
# Joined in order, so that SQLite goes the way that is written here whatever it believes about the number of rows.
_BY_SOURCE = f"""FROM link_relations r {{by}} {{join}} pages t ON t.id = r.target_id {{join}} pages s ON s.id = r.source_id
    {_THE_REST}"""
_BY_TARGET = f"""FROM pages t {{by_id}} {{join}} link_relations r {{by}} ON r.target_id = t.id
    {{join}} pages s ON s.id = r.source_id {_THE_REST}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFilter:
    """Which links to list; None or empty means any."""

    source: int | None = None
    target: int | None = None
    internal: bool | None = None
    """Whether they stay on the site."""
    broken: bool = False
    """Only those whose target does not answer, or with an error, or redirects to such a page or to itself."""
    nofollow: bool | None = None
    q: str = ""
    """In the URL of the target, or in the text of the link."""
    is_inlink: bool = False
    """Without links of a page to itself, which are not counted as inlinks."""


@dataclass(frozen=True, slots=True)
class LinkSummary(PublishedRecord, published="CrawledLink"):
    """A link with its source and target."""

    source_id: int
    source_url: str
    target_id: int
    target_url: str
    anchor: str
    rel: str
    fragment: str
    kind: str
    position: int
    internal: bool
    target_status: str
    target_code: int | None
    landmark: str = ""
    """The part of the page that it stands in: content, nav, header, footer, aside; empty if unknown."""


class LinkBrowser(CrawlPart):
    """Reads lists of links."""

    def link_lines(
        self, chosen: LinkFilter, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[LinkSummary], str | None]:
        """Links by source and position, broken ones by target where there is an index of these; and where the list goes on."""
        d = self._db.dialect
        by_index = (chosen.broken or chosen.target is not None) and chosen.source is None and self.has_link_index()
        by_target = by_index and chosen.target is None
        keys = ["t.id"] * by_target + ["r.source_id", "r.position"]
        order = "links by target" if by_target else "links by source"
        by = d.indexed_by("links_by_target") if by_index else d.by_id
        tables = (_BY_TARGET if by_target else _BY_SOURCE).format(by=by, by_id=d.by_id, join=d.join_in_order)
        conditions, values = _link_conditions(chosen, d)
        if cursor:
            conditions.append(f"({', '.join(keys)}) > ({', '.join('?' * len(keys))})")
            values += decode_cursor(cursor, order, (int,) * len(keys))
        statement = f"{_COLUMNS} {tables} WHERE {' AND '.join(conditions) or 'true'} ORDER BY {', '.join(keys)} LIMIT ?"
        rows = self._db.rows(statement, (*values, limit + 1))
        lines = [_link_row(row) for row in rows[:limit]]
        return lines, encode_cursor(order, _link_key(lines[-1], len(keys))) if len(rows) > limit else None

    def link_total(self, *, to: int | None = None, of: int | None = None) -> int | None:
        """How many links lead to a page, or away from it; None while nobody has counted."""
        if to is None:
            return int(self._db.rows("SELECT count(*) FROM link_relations WHERE source_id = ?", (of,))[0][0])
        rows = self._db.rows("SELECT inlinks FROM page_scores WHERE page_id = ?", (to,))
        if not rows and self.has_link_index():
            rows = self._db.rows("SELECT count(*) FROM link_relations WHERE target_id = ? AND source_id <> target_id", (to,))
        return rows[0][0] if rows else None

    def has_link_index(self) -> bool:
        """Whether links can be found by their targets."""
        return bool(self._db.rows(self._db.dialect.index_exists("links_by_target")))


def _link_conditions(chosen: LinkFilter, dialect: SqlDialect) -> tuple[list[str], list[Any]]:
    found: list[tuple[str, list[Any]]] = []
    if chosen.source is not None:
        found.append(("r.source_id = ?", [chosen.source]))
    if chosen.target is not None:
        found.append(("r.target_id = ?", [chosen.target]))
    if chosen.is_inlink:
        found.append(("r.source_id <> r.target_id", []))
    if chosen.internal is not None:
        found.append(("t.internal = ?", [chosen.internal]))
    if chosen.broken:
        found.append((BROKEN_TARGET, []))
    if chosen.nofollow is not None:
        found.append((f"r.rel_id {'' if chosen.nofollow else 'NOT '}IN ({_NOFOLLOW.format(like=dialect.like)})", []))
    if chosen.q:
        found.append((_CONTAINS.format(like=dialect.like), [containing(chosen.q)] * 2))
    return [condition for condition, _ in found], [value for _, values in found for value in values]


def _link_row(row: tuple[Any, ...]) -> LinkSummary:
    values = list(row)
    values[9], values[-1] = bool(row[9]), LANDMARKS[row[-1]] if 0 < (row[-1] or 0) < len(LANDMARKS) else ""
    return LinkSummary(*values)


def _link_key(line: LinkSummary, keys: int) -> tuple[Key, ...]:
    return (line.target_id, line.source_id, line.position)[3 - keys :]
