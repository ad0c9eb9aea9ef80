"""Reads a crawl for reports: streamed, in an order that does not depend on timing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.records import LinkRow, PageRow, TrapRecord, Validators, parse_utc

_PAGES = """SELECT p.id, p.url, p.internal, p.purpose, p.status, p.depth, parent.url, p.status_code, p.content_type, p.title,
    onward.url, p.skip_reason, p.last_error_type, p.last_error_message, p.added_at, p.crawled_at, p.ttfb_ms + p.download_time_ms
    FROM pages p LEFT JOIN pages parent ON parent.id = p.parent_id LEFT JOIN pages onward ON onward.id = p.redirect_id"""
_REDIRECTED_ONLY = """UPDATE pages SET hops = -1 WHERE parent_id IS NULL AND (NOT is_seed OR hops > 0)
    AND EXISTS (SELECT 1 FROM pages s WHERE s.redirect_id = pages.id AND s.depth = pages.depth)"""
_THE_OTHERS = "UPDATE pages SET hops = 0 WHERE hops > 0"
_PARENTS_BY_REDIRECT = """UPDATE pages SET hops = :hops + 1, parent_id = found.parent FROM (
        SELECT s.redirect_id AS page, s.id AS parent, row_number() OVER (PARTITION BY s.redirect_id ORDER BY s.url) AS place
        FROM pages s JOIN pages t ON t.id = s.redirect_id WHERE s.hops = :hops AND t.hops = -1 AND t.depth = s.depth) AS found
    WHERE found.page = pages.id AND found.place = 1"""
# A loop that was added by hand has no beginning.
_BEGINNING = "UPDATE pages SET hops = 0 WHERE id = (SELECT id FROM pages WHERE hops = -1 ORDER BY depth, url LIMIT 1)"

_INDEXES = (
    "CREATE INDEX IF NOT EXISTS links_by_target ON link_relations(target_id)",
    "CREATE INDEX IF NOT EXISTS pages_by_redirect ON pages(redirect_id) WHERE redirect_id IS NOT NULL",
)
_IN_ORDER = "CREATE INDEX IF NOT EXISTS pages_in_order ON pages(depth, url)"  # Reports read in this order several times over.
# Of a page that was sent: a redirect that answers 304 would have lost where it leads.
_VALIDATORS = """SELECT d.etag, d.last_modified_field FROM page_details d JOIN pages p ON p.id = d.page_id
    WHERE d.page_id = ? AND p.status_code < 300"""
_ANCHORS = "SELECT anchors FROM page_anchors WHERE page_id = ?"
_TRAPS = "SELECT key, why, known, refused, example FROM traps WHERE refused > 0 ORDER BY refused DESC, key"


def _links(join: str, more: str = "") -> str:
    return f"""SELECT s.url, t.url, a.text, rel.text, r.kind, r.position, f.text{more} FROM pages s
        {join} link_relations r ON r.source_id = s.id JOIN pages t ON t.id = r.target_id
        JOIN texts a ON a.id = r.text_id JOIN texts rel ON rel.id = r.rel_id JOIN texts f ON f.id = r.fragment_id"""


_LINKS_TO = f"{_links('JOIN')} WHERE r.target_id = ? ORDER BY s.url, r.position"
_FRAGMENTS = f"""{_links("JOIN", ", r.target_id")} WHERE r.fragment_id <> 0
    AND EXISTS (SELECT 1 FROM page_anchors n WHERE n.page_id = r.target_id) ORDER BY t.url, s.url, r.position"""


class CrawlGraph:
    """Reads pages, links and traps."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
        in_order = db.dialect.join_in_order
        self._links = f"{_links(in_order)} ORDER BY s.url, r.position"
        # A page's parent is the first by name of the pages that lead to it on a shortest path. Links go before redirects, and
        # redirects are followed step by step, because a loop of them must not make two pages each other's parent. (Without the
        # two words of the dialect, SQLite would look for each parent twice, and through all pages of a depth for each page.)
        self._parents_by_link = f"""UPDATE pages SET parent_id = found.parent FROM (
                SELECT p.id AS page, (SELECT s.id FROM link_relations r {in_order} pages s ON s.id = r.source_id
                    WHERE r.target_id = p.id AND s.depth = p.depth - 1 ORDER BY s.url LIMIT 1) AS parent
                FROM pages p WHERE NOT p.is_seed OR p.hops > 0 {db.dialect.all_rows}) AS found
            WHERE found.page = pages.id
                AND (found.parent <> pages.parent_id OR (found.parent IS NULL) <> (pages.parent_id IS NULL))"""

    async def complete(self) -> None:
        """Bring to an end what is done beside the crawl, before its results are computed. A file has nothing of that kind."""

    async def settle(self) -> None:
        """Make parents deterministic and reports fast. Called when a crawl ends; calling it twice is harmless."""
        await self._db.write(self._settle)

    def _settle(self, sql: SqlConnection) -> None:
        sql.execute(self._db.dialect.take_turn("settle")).fetchone()
        for index in _INDEXES:
            sql.execute(index)
        in_file = self._db.dialect.name == "sqlite"
        if in_file:  # On PostgreSQL a URL may be longer than a page of an index holds.
            sql.execute(_IN_ORDER)
        else:  # Without statistics, which the server collects once a minute, it would read all links for each page.
            sql.execute(self._db.dialect.update_statistics)
        sql.execute(self._parents_by_link)
        sql.execute(_REDIRECTED_ONLY)
        sql.execute(_THE_OTHERS)
        _follow_redirects(sql)
        while sql.execute(_BEGINNING).rowcount:
            _follow_redirects(sql)
        if in_file:
            sql.execute(self._db.dialect.update_statistics)

    async def pages(self) -> AsyncIterator[PageRow]:
        """Every known URL by depth, then URL."""
        async for rows in self._db.batches(f"{_PAGES} ORDER BY p.depth, p.url"):
            for row in rows:
                yield _page_row(row)

    async def links(self) -> AsyncIterator[LinkRow]:
        """Every stored link, by source and position."""
        async for rows in self._db.batches(self._links):
            for row in rows:
                yield LinkRow(*row)

    async def links_to(self, page_ids: Sequence[int]) -> AsyncIterator[LinkRow]:
        """The links that lead to given pages."""
        for page in page_ids:
            async for rows in self._db.batches(_LINKS_TO, (page,)):
                for row in rows:
                    yield LinkRow(*row)

    async def fragment_links(self) -> AsyncIterator[tuple[LinkRow, bool]]:
        """Links with a fragment into pages whose anchors are known, with whether the anchor is there. By target, then source and
        position."""
        held, anchors = 0, frozenset[str]()
        async for rows in self._db.batches(_FRAGMENTS):
            for *link, page in rows:
                if page != held:
                    held, anchors = page, await self._anchors(page)
                yield LinkRow(*link), link[6] in anchors

    async def _anchors(self, page: int) -> frozenset[str]:
        (text,) = await self._db.read(lambda sql: sql.execute(_ANCHORS, (page,)).fetchone())
        return frozenset(text.split("\n"))

    async def validators(self, page_id: int) -> Validators:
        """With what a page was sent the last time."""
        row = await self._db.read(lambda sql: sql.execute(_VALIDATORS, (page_id,)).fetchone())
        return Validators(*row) if row else Validators(None, None)

    async def traps(self) -> list[TrapRecord]:
        """The classes of URLs that were cut off, the one that was cut most first."""
        rows = await self._db.read(lambda sql: sql.execute(_TRAPS).fetchall())
        return [TrapRecord(*row) for row in rows]


def _follow_redirects(sql: SqlConnection) -> None:
    hops = 0
    while sql.execute(_PARENTS_BY_REDIRECT, {"hops": hops}).rowcount:
        hops += 1


def _page_row(row: tuple[Any, ...]) -> PageRow:
    number, url, internal, *rest, added, crawled, response_ms = row
    return PageRow._make((number, url, bool(internal), *rest, parse_utc(added), parse_utc(crawled), response_ms))
