"""Reads a crawl for reports: streamed, in an order that does not depend on timing."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from tadoru.store.crawl.database import Database, translated
from tadoru.store.crawl.interface import LinkRow, PageRow, TrapRecord, Validators

_PAGES = """SELECT p.id, p.url, p.internal, p.purpose, p.status, p.depth, parent.url, p.status_code, p.content_type, p.title,
    onward.url, p.skip_reason, p.last_error_type, p.last_error_message, p.added_at, p.crawled_at, p.ttfb_ms + p.download_time_ms
    FROM pages p LEFT JOIN pages parent ON parent.id = p.parent_id LEFT JOIN pages onward ON onward.id = p.redirect_id"""
_LINKS = """SELECT s.url, t.url, a.text, rel.text, r.kind, r.position, f.text FROM pages s
    CROSS JOIN link_relations r ON r.source_id = s.id JOIN pages t ON t.id = r.target_id
    JOIN texts a ON a.id = r.text_id JOIN texts rel ON rel.id = r.rel_id JOIN texts f ON f.id = r.fragment_id"""
_LINKS_TO = _LINKS.replace("CROSS JOIN", "JOIN").replace(" FROM pages s", ", r.target_id FROM pages s")
# A page's parent is the first by name of the pages that lead to it on a shortest path. Links go before redirects, and redirects
# are followed step by step, because a loop of them must not make two pages each other's parent. (LIMIT -1: SQLite would otherwise
# look for each parent twice. CROSS JOIN: it would otherwise look through all pages of a depth for each page.)
_PARENTS_BY_LINK = """UPDATE pages SET parent_id = found.parent FROM (
        SELECT p.id AS page, (SELECT s.id FROM link_relations r CROSS JOIN pages s ON s.id = r.source_id
            WHERE r.target_id = p.id AND s.depth = p.depth - 1 ORDER BY s.url LIMIT 1) AS parent
        FROM pages p WHERE NOT p.is_seed OR p.hops > 0 LIMIT -1) AS found
    WHERE found.page = pages.id AND found.parent IS NOT pages.parent_id"""
_REDIRECTED_ONLY = """UPDATE pages SET hops = -1 WHERE parent_id IS NULL AND (NOT is_seed OR hops > 0)
    AND EXISTS (SELECT 1 FROM pages s WHERE s.redirect_id = pages.id AND s.depth = pages.depth)"""
_THE_OTHERS = "UPDATE pages SET hops = 0 WHERE hops > 0"
_PARENTS_BY_REDIRECT = """UPDATE pages SET hops = ?1 + 1, parent_id = found.parent FROM (
        SELECT s.redirect_id AS page, s.id AS parent, row_number() OVER (PARTITION BY s.redirect_id ORDER BY s.url) AS place
        FROM pages s JOIN pages t ON t.id = s.redirect_id WHERE s.hops = ?1 AND t.hops = -1 AND t.depth = s.depth) AS found
    WHERE found.page = pages.id AND found.place = 1"""

# A loop that was added by hand has no beginning.
_BEGINNING = "UPDATE pages SET hops = 0 WHERE id = (SELECT id FROM pages WHERE hops = -1 ORDER BY depth, url LIMIT 1)"


_INDEXES = (
    "CREATE INDEX IF NOT EXISTS links_by_target ON link_relations(target_id)",
    "CREATE INDEX IF NOT EXISTS pages_by_redirect ON pages(redirect_id) WHERE redirect_id IS NOT NULL",
)
_IN_ORDER = "CREATE INDEX IF NOT EXISTS pages_in_order ON pages(depth, url)"  # Reports read in this order several times over.


class CrawlGraph:
    """Reads pages, links and traps."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def settle(self) -> None:
        async with self._db.transaction() as sql:
            for index in _INDEXES:
                sql.execute(index)
            if not self._db.is_postgresql:  # There a URL may be longer than a page of an index holds.
                sql.execute(_IN_ORDER)
            sql.execute(_PARENTS_BY_LINK)
            sql.execute(_REDIRECTED_ONLY)
            sql.execute(_THE_OTHERS)
            self._follow_redirects(sql)
            while sql.execute(_BEGINNING).rowcount:
                self._follow_redirects(sql)
            sql.execute("ANALYZE" if self._db.is_postgresql else "PRAGMA optimize")

    @staticmethod
    def _follow_redirects(sql: sqlite3.Connection) -> None:
        hops = 0
        while sql.execute(_PARENTS_BY_REDIRECT, (hops,)).rowcount:
            hops += 1

    async def pages(self) -> AsyncIterator[PageRow]:
        with translated(self._db.path):
            for row in self._db.sql.execute(f"{_PAGES} ORDER BY p.depth, p.url"):
                yield _page_row(row)

    async def links(self) -> AsyncIterator[LinkRow]:
        with translated(self._db.path):
            for row in self._db.sql.execute(f"{_LINKS} ORDER BY s.url, r.position"):
                yield LinkRow(*row)

    async def links_to(self, page_ids: Sequence[int]) -> AsyncIterator[LinkRow]:
        with translated(self._db.path):
            for page in page_ids:
                for row in self._db.sql.execute(f"{_LINKS_TO} WHERE r.target_id = ? ORDER BY s.url, r.position", (page,)):
                    yield LinkRow(*row[:7])

    async def fragment_links(self) -> AsyncIterator[tuple[LinkRow, bool]]:
        with translated(self._db.path):
            rows = self._db.sql.execute(
                f"{_LINKS_TO} WHERE r.fragment_id <> 0 AND EXISTS (SELECT 1 FROM page_anchors n WHERE n.page_id = r.target_id) "
                "ORDER BY t.url, s.url, r.position"
            )
            held, anchors = 0, frozenset[str]()
            for *link, page in rows:
                if page != held:
                    text = self._db.sql.execute("SELECT anchors FROM page_anchors WHERE page_id = ?", (page,)).fetchone()[0]
                    held, anchors = page, frozenset(text.split("\n"))
                yield LinkRow(*link), link[6] in anchors

    async def validators(self, page_id: int) -> Validators:
        with translated(self._db.path):
            # Of a page that was sent: a redirect that answers 304 would have lost where it leads.
            row = self._db.sql.execute(
                """SELECT d.etag, d.last_modified_field FROM page_details d JOIN pages p ON p.id = d.page_id
                WHERE d.page_id = ? AND p.status_code < 300""",
                (page_id,),
            ).fetchone()
        return Validators(*row) if row else Validators(None, None)

    async def traps(self) -> list[TrapRecord]:
        with translated(self._db.path):
            rows = self._db.sql.execute(
                "SELECT key, why, known, refused, example FROM traps WHERE refused > 0 ORDER BY refused DESC, key"
            )
            return [TrapRecord(*row) for row in rows]


def _page_row(row: tuple[Any, ...]) -> PageRow:
    number, url, internal, *rest, added, crawled, response_ms = row
    return PageRow._make((number, url, bool(internal), *rest, _time(added), _time(crawled) if crawled else None, response_ms))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
