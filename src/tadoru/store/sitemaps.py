"""Sitemaps as they were read, and the pages they name."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tadoru.store.base import UNLINKED, NamedPage, PageStatus, SitemapRecord
from tadoru.store.batch import Writing
from tadoru.store.database import stamp

_SITEMAP = """INSERT INTO sitemaps(url, level, named_by, status, kind, status_code, bytes, urls, problems, read_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(url) DO UPDATE SET status = excluded.status, kind = excluded.kind, status_code = excluded.status_code,
        bytes = excluded.bytes, urls = excluded.urls, problems = excluded.problems, read_at = excluded.read_at
    RETURNING id"""


class Sitemaps(Writing):
    """The sitemap half of the store."""

    async def put_sitemap(self, record: SitemapRecord) -> int:
        problems = json.dumps(record.problems, ensure_ascii=False) if record.problems else None
        async with self.write() as sql:
            row = sql.execute(
                _SITEMAP,
                (
                    record.url, record.level, record.named_by, record.status, record.kind, record.status_code,
                    record.bytes, record.urls, problems, stamp(self.clock.now()),
                ),
            ).fetchone()  # fmt: skip
            number: int = row[0]
            sql.execute("DELETE FROM sitemap_entries WHERE sitemap_id = ?", (number,))
        return number

    async def name_pages(self, sitemap: int, pages: Sequence[NamedPage]) -> int:
        async with self.write() as sql:
            batch = self.batch(0, None)
            batch.expect([page.target for page in pages])
            rows = [(sitemap, batch.know(page.target, UNLINKED, None), page.lastmod) for page in pages]
            wanted = (page.target.status is PageStatus.QUEUED for page in pages)
            batch.want(number for (_, number, _), is_wanted in zip(rows, wanted, strict=True) if is_wanted)
            batch.flush()
            sql.executemany("INSERT OR IGNORE INTO sitemap_entries VALUES (?, ?, ?)", rows)
        return batch.inserted
