"""Sitemaps with the pages they list, and resources to check: leased like pages, once the pages are done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tadoru.store.crawl.database import Database, stamp, translated
from tadoru.store.crawl.interface import UNLINKED, NamedPage, PageStatus, ResourceLease, ResourceResult, SitemapRecord
from tadoru.store.crawl.page_writer import PageWriter

_SITEMAP = """INSERT INTO sitemaps(url, level, named_by, status, kind, status_code, bytes, urls, problems, read_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(url) DO UPDATE SET status = excluded.status, kind = excluded.kind, status_code = excluded.status_code,
        bytes = excluded.bytes, urls = excluded.urls, problems = excluded.problems, read_at = excluded.read_at
    RETURNING id"""


class SitemapTable:
    """Stores sitemaps and the pages they list."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def put(self, record: SitemapRecord) -> int:
        problems = json.dumps(record.problems, ensure_ascii=False) if record.problems else None
        async with self._db.transaction() as sql:
            row = sql.execute(
                _SITEMAP,
                (
                    record.url, record.level, record.named_by, record.status, record.kind, record.status_code,
                    record.bytes, record.urls, problems, stamp(self._db.clock.now()),
                ),
            ).fetchone()  # fmt: skip
            number: int = row[0]
            sql.execute("DELETE FROM sitemap_entries WHERE sitemap_id = ?", (number,))
        return number

    async def name_pages(self, sitemap: int, pages: Sequence[NamedPage]) -> int:
        async with self._db.transaction() as sql:
            batch = PageWriter(self._db, 0, None)
            batch.expect([page.target for page in pages])
            rows = [(sitemap, batch.know(page.target, UNLINKED, None), page.lastmod) for page in pages]
            wanted = (page.target.status is PageStatus.QUEUED for page in pages)
            batch.want(number for (_, number, _), is_wanted in zip(rows, wanted, strict=True) if is_wanted)
            batch.flush()
            sql.executemany("INSERT OR IGNORE INTO sitemap_entries VALUES (?, ?, ?)", rows)
        return batch.inserted


_TAKEN = "SELECT coalesce((SELECT value FROM counters WHERE name = 'resources'), 0)"
"""How many are being tried or were: counted, because there may be millions of them."""
_LEASE = """UPDATE resources SET status = 'processing', owner = ? WHERE id IN (
    SELECT id FROM resources INDEXED BY resources_waiting WHERE status = 'queued' AND not_before <= ? ORDER BY id LIMIT ?)
    RETURNING id, url, host, retry_count"""
_WAITING = "SELECT min(not_before) FROM resources INDEXED BY resources_waiting WHERE status = 'queued'"
_RESULT = """UPDATE resources SET status = ?, owner = NULL, status_code = ?, content_type = ?, content_length = ?, final_url = ?,
    skip_reason = ?, last_error_type = ?, last_error_message = ?, checked_at = ? WHERE id = ? AND owner = ?"""
_AGAIN = """UPDATE resources SET status = 'queued', owner = NULL, retry_count = retry_count + 1, not_before = ?
    WHERE id = ? AND owner = ?"""
_OPEN = """SELECT id, url, internal, status FROM resources
    WHERE id > ? AND (status = 'discovered' OR status = 'queued') ORDER BY id LIMIT 2000"""
_MOVE = "UPDATE resources SET internal = ?, status = ? WHERE id = ?"


class ResourceTable:
    """Leases resources and stores their results."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def reconsider(self, is_internal: Callable[[str], bool], *, externals: bool) -> None:
        """Other rules hold: which of those that were not tried belong to the site, and whether others are tried too."""
        last = 0
        async with self._db.transaction() as sql:
            while rows := sql.execute(_OPEN, (last,)).fetchall():
                last = rows[-1][0]
                for number, url, was_internal, was in rows:
                    internal = is_internal(url)
                    status = "queued" if internal or externals else "discovered"
                    if (internal, status) != (bool(was_internal), was):
                        sql.execute(_MOVE, (internal, status, number))

    async def lease(self, worker: int, count: int, *, budget: int) -> list[ResourceLease]:
        async with self._db.transaction() as sql:
            room = min(count, budget - sql.execute(_TAKEN).fetchone()[0])
            if room <= 0:
                return []
            rows = sql.execute(_LEASE, (worker, self._db.clock.now(), room)).fetchall()
            self._db.count({"resources": len(rows)})
        return [ResourceLease(*row) for row in sorted(rows)]

    async def finish(self, worker: int, results: Sequence[ResourceResult]) -> None:
        now = self._db.clock.now()
        async with self._db.transaction() as sql:
            for result in results:
                if result.again_after is not None:
                    given_back = sql.execute(_AGAIN, (now + result.again_after, result.resource_id, worker))
                    self._db.count({"resources": -given_back.rowcount})
                    continue
                sql.execute(
                    _RESULT,
                    (
                        result.status, result.status_code, result.content_type, result.content_length, result.final_url,
                        result.skip_reason, result.error_type, result.error_message, stamp(now), result.resource_id, worker,
                    ),
                )  # fmt: skip

    async def wait(self, *, budget: int) -> float | None:
        """Seconds until a resource may be tried, or until somebody else's may come back; None when all is done."""
        with translated(self._db.path):
            held = self._db.sql.execute("SELECT 1 FROM resources WHERE owner IS NOT NULL LIMIT 1").fetchone()
            if held is not None:
                return 0.05
            (soonest,) = self._db.sql.execute(_WAITING).fetchone()
            if soonest is None or self._db.sql.execute(_TAKEN).fetchone()[0] >= budget:
                return None
        return max(0.0, float(soonest) - self._db.clock.now())
