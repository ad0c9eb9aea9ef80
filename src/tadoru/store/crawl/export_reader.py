"""Reads a crawl for exports: every table with filters, the pages for a sitemap, the graph, the stored bodies.

Everything is streamed. Unlike the rest of the store it is synchronous: an export does nothing else at the same time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tadoru.errors import StoreError
from tadoru.store.crawl.connection import CrawlPart, SqlDialect, listed
from tadoru.store.crawl.export_tables import MOST_ITEMS, PAGES, TABLES, ColumnKind, ExportColumn, ExportTable, TableQuery

Row = tuple[Any, ...]

_OF_THE_SITE = "p.internal AND p.purpose = 'page'"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSelection:
    """Which rows to export; None or empty means any."""

    codes: tuple[tuple[int, int], ...] = ()
    """Ranges of status codes, both ends included."""
    statuses: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    internal: bool | None = None
    url: str | None = None
    """A pattern with `*` and `?`."""


class ExportGrid(NamedTuple):
    """A table to be written."""

    name: str
    columns: tuple[ExportColumn, ...]
    rows: Iterator[Row]


class ExportNode(NamedTuple):
    """A page of the graph."""

    page_id: int
    url: str
    status_code: int | None
    title: str | None
    link_score: float | None
    redirect_id: int | None


class StoredPage(NamedTuple):
    """A stored response: header fields, and the body compressed with zlib, None for a redirect without one."""

    url: str
    status_code: int
    headers: list[tuple[str, str]]
    address: str | None
    crawled_at: str
    body: bytes | None
    same_url: str | None
    """An earlier page with the same body."""
    same_at: str | None


def unused_filters(name: str, chosen: ExportSelection) -> list[str]:
    """The filters in use that have no meaning for a table, by the names people know them by."""
    table = TABLES[name]
    found = {
        "--status": (chosen.codes or chosen.statuses) and table.asked is None,
        "--internal": chosen.internal is not None and table.asked is None,
        "--check": chosen.checks and table.judged is None and table.check is None,
        "--severity": chosen.severities and table.judged is None and table.check is None,
        "--url": chosen.url is not None and table.url is None,
    }
    return [flag for flag, unused in found.items() if unused]


class ExportReader(CrawlPart):
    """Streams the rows of exports."""

    def check_ids(self) -> list[str]:
        """The checks this crawl was judged by."""
        return [row[0] for row in self._db.rows("SELECT id FROM checks ORDER BY id")]

    def start_url(self) -> str | None:
        """The first start of the crawl."""
        rows = self._db.rows("SELECT url FROM pages WHERE is_seed ORDER BY depth, hops, id LIMIT 1")
        return rows[0][0] if rows else None

    def dump(self, name: str, chosen: ExportSelection) -> ExportGrid:
        """A table of `TABLES`. What `--extract` found is a column each of `pages`."""
        table = TABLES[name]
        names = self._extracted_names() if table is PAGES else []
        columns = table.columns + tuple(ExportColumn(f"extract_{each}", ColumnKind.VALUES) for each in names)
        return ExportGrid(name, columns, self._rows(table, chosen, names))

    def _extracted_names(self) -> list[str]:
        fields = f"{self._db.dialect.json_fields}(d.extracted)"
        found = self._db.rows(f"SELECT DISTINCT e.key FROM page_details d CROSS JOIN {fields} e WHERE d.extracted IS NOT NULL")
        return sorted(row[0] for row in found)

    def _rows(self, table: ExportTable, chosen: ExportSelection, names: Sequence[str]) -> Iterator[Row]:
        columns = [column.sql for column in table.columns] + ["d.extracted"] * bool(names)
        conditions, values = self._conditions(table, chosen)
        for read in table.reads:
            rows = self._db.stream(_statement(self._db.dialect, columns, read, conditions), values)
            yield from _spread(rows, names) if names else rows

    def _conditions(self, table: ExportTable, chosen: ExportSelection) -> tuple[list[str], list[object]]:
        conditions: list[str] = []
        values: list[object] = []
        if chosen.codes or chosen.statuses:
            either = [f"{table.asked}.status_code BETWEEN ? AND ?"] * len(chosen.codes)
            either += [f"{table.asked}.status = ?"] * len(chosen.statuses)
            conditions.append(f"({' OR '.join(either)})")
            values += [bound for ends in chosen.codes for bound in ends]
            values += chosen.statuses
        if chosen.internal is not None:
            conditions.append(f"{table.asked}.internal = ?")
            values.append(chosen.internal)
        if chosen.url is not None:
            conditions.append(self._db.dialect.matches_glob(table.url or "", "?"))
            values.append(chosen.url)
        if chosen.checks or chosen.severities:
            numbers = listed(self._check_numbers(chosen))
            conditions.append(
                f"{table.check} IN ({numbers})"
                if table.check
                else f"EXISTS (SELECT 1 FROM page_findings o WHERE o.page_id = {table.judged} AND o.check_number IN ({numbers}))"
            )
        return conditions, values

    def _check_numbers(self, chosen: ExportSelection) -> list[int]:
        return [
            number
            for number, name, severity in self._db.rows("SELECT number, id, severity FROM checks")
            if (not chosen.checks or name in chosen.checks) and (not chosen.severities or severity in chosen.severities)
        ]

    def sitemap_pages(self) -> Iterator[tuple[str, str | None]]:
        """The pages that a search engine should know, by URL, with when they changed last."""
        d = self._db.dialect
        return self._db.stream(
            f"""SELECT p.url, p.last_modified FROM pages p {d.by_url} {d.join_in_order} page_details d ON d.page_id = p.id
            WHERE {_OF_THE_SITE} AND p.status_code = 200 AND d.indexable
              AND (p.content_type {d.like} 'text/html%' OR p.content_type {d.like} 'application/xhtml+xml%') ORDER BY p.url"""
        )

    def graph_nodes(self, most: int) -> tuple[list[ExportNode], int]:
        """The pages of the site that most leads to, and how many there are in all."""
        answered = f"{_OF_THE_SITE} AND p.status IN ('completed', 'error')"
        ((total,),) = self._db.rows(f"SELECT count(*) FROM pages p WHERE {answered}")
        rows = self._db.stream(
            f"""SELECT p.id, p.url, p.status_code, p.title, s.link_score, p.redirect_id
            FROM pages p LEFT JOIN page_scores s ON s.page_id = p.id WHERE {answered}
            ORDER BY coalesce(s.link_score, -1) DESC, p.depth, p.url LIMIT ?""",
            (most,),
        )
        return [ExportNode(*row) for row in rows], total

    def graph_edges(self, page_id: int) -> Iterator[tuple[int, bool]]:
        """Where the links of a page lead, each target once, and whether all links to it are `nofollow`."""
        return self._db.stream(
            """SELECT +r.target_id, min(CASE WHEN ' ' || lower(rel.text) || ' ' LIKE '% nofollow %' THEN 1 ELSE 0 END)
            FROM link_relations r
            JOIN texts rel ON rel.id = r.rel_id WHERE r.source_id = ? GROUP BY +r.target_id""",  # +: not by the index of targets
            (page_id,),
        )

    def has_bodies(self) -> bool:
        return bool(self._db.rows("SELECT 1 FROM bodies LIMIT 1"))

    def stored_pages(self) -> Iterator[StoredPage]:
        """Every answer whose body was kept, and every redirect, in the order of the crawl."""
        rows = self._db.stream(
            f"""WITH firsts AS (SELECT b.page_id, min(b.page_id) OVER (PARTITION BY d.body_hash) AS first_id
                FROM bodies b JOIN page_details d ON d.page_id = b.page_id WHERE d.body_hash IS NOT NULL)
            SELECT p.url, p.status_code, d.headers, d.address, p.crawled_at, b.body, o.url, o.crawled_at
            FROM pages p {self._db.dialect.join_in_order} page_details d ON d.page_id = p.id
            LEFT JOIN bodies b ON b.page_id = p.id
            LEFT JOIN firsts f ON f.page_id = p.id AND f.first_id <> f.page_id LEFT JOIN pages o ON o.id = f.first_id
            WHERE p.status_code IS NOT NULL AND p.crawled_at IS NOT NULL
              AND (b.page_id IS NOT NULL OR (p.redirect_id IS NOT NULL AND d.headers IS NOT NULL)) ORDER BY p.id"""
        )
        for url, code, headers, *rest in rows:
            yield StoredPage(url, code, self._headers(url, headers), *rest)

    def _headers(self, url: str, text: str | None) -> list[tuple[str, str]]:
        try:
            return [(str(name), str(value)) for name, value in json.loads(text or "[]")]
        except (ValueError, TypeError):
            raise StoreError(
                "The database {path} is damaged: cannot read the header fields of {url}.", path=self._db.path, url=url
            ) from None


def _statement(dialect: SqlDialect, columns: Sequence[str], read: TableQuery, conditions: Sequence[str]) -> str:
    where = " AND ".join((read.where, *conditions))
    within = "" if dialect.name == "sqlite" else read.within
    text = f"SELECT {', '.join(columns)} FROM {read.source} WHERE {where} ORDER BY {read.order}{within}"
    items = [dialect.json_item("i.value", place) for place in range(MOST_ITEMS)]
    return text.format(d=dialect, item=items, resources_by_url=dialect.indexed_by("sqlite_autoindex_resources_1"))


def _spread(rows: Iterator[Row], names: Sequence[str]) -> Iterator[Row]:
    """The JSON at the end of each row as one value for each name."""
    for row in rows:
        found = json.loads(row[-1]) if row[-1] else {}
        yield (*row[:-1], *[found.get(name) for name in names])
