"""Reading a crawl for reports: streamed, in an order that does not depend on timing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from tadoru.store.base import LinkRow, PageRow, TrapRecord
from tadoru.store.database import Database, translated

_PAGES = """SELECT p.id, p.url, p.internal, p.purpose, p.status, p.depth, parent.url, p.status_code, p.content_type, p.title, onward.url,
    p.skip_reason, p.last_error_type, p.last_error_message, p.added_at, p.crawled_at, p.ttfb_ms + p.download_time_ms
    FROM pages p LEFT JOIN pages parent ON parent.id = p.parent_id LEFT JOIN pages onward ON onward.id = p.redirect_id"""
_LINKS = """SELECT s.url, t.url, a.text, rel.text, r.kind, r.position, f.text FROM link_relations r
    JOIN pages s ON s.id = r.source_id JOIN pages t ON t.id = r.target_id
    JOIN texts a ON a.id = r.text_id JOIN texts rel ON rel.id = r.rel_id JOIN texts f ON f.id = r.fragment_id"""
_SETTLE_PARENTS = """UPDATE pages SET parent_id = coalesce(
    (SELECT s.id FROM link_relations r JOIN pages s ON s.id = r.source_id
     WHERE r.target_id = pages.id AND s.depth = pages.depth - 1 ORDER BY s.url LIMIT 1), parent_id)
    WHERE is_seed = 0 AND hops = 0"""


class Reader(Database):
    """The reporting half of the store."""

    async def settle(self) -> None:
        async with self.write() as sql:
            sql.execute("CREATE INDEX IF NOT EXISTS links_by_target ON link_relations(target_id)")
            sql.execute(_SETTLE_PARENTS)
            sql.execute("PRAGMA optimize")

    async def pages(self) -> AsyncIterator[PageRow]:
        with translated(self.path):
            for row in self.sql.execute(f"{_PAGES} ORDER BY p.depth, p.url"):
                yield PageRow(*row[:2], bool(row[2]), *row[3:14], _time(row[14]), _time(row[15]) if row[15] else None, row[16])

    async def links(self) -> AsyncIterator[LinkRow]:
        with translated(self.path):
            for row in self.sql.execute(f"{_LINKS} ORDER BY s.url, r.position"):
                yield LinkRow(*row)

    async def links_to(self, page_ids: Sequence[int]) -> AsyncIterator[LinkRow]:
        with translated(self.path):
            for page in page_ids:
                for row in self.sql.execute(f"{_LINKS} WHERE r.target_id = ? ORDER BY s.url, r.position", (page,)):
                    yield LinkRow(*row)

    async def fragment_links(self) -> AsyncIterator[tuple[LinkRow, bool]]:
        with translated(self.path):
            rows = self.sql.execute(
                f"{_LINKS.replace(' FROM', ', n.anchors FROM', 1)} JOIN page_anchors n ON n.page_id = r.target_id "
                "WHERE r.fragment_id <> 0 ORDER BY t.id, s.url, r.position"
            )
            held, anchors = "", frozenset[str]()
            for *link, text in rows:
                if text != held:
                    held, anchors = text, frozenset(text.split("\n"))
                yield LinkRow(*link), link[6] in anchors

    async def traps(self) -> list[TrapRecord]:
        with translated(self.path):
            return [TrapRecord(*row) for row in self.sql.execute("SELECT * FROM traps WHERE refused > 0 ORDER BY refused DESC, key")]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
