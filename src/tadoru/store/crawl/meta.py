"""Notes about a crawl: its configuration, scope and score, by name."""

from __future__ import annotations

from collections.abc import Callable

from tadoru.store.crawl.database import Database, translated


class CrawlMeta:
    """Reads and writes the notes of a crawl."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def get(self, key: str) -> str | None:
        with translated(self._db.path):
            row = self._db.sql.execute("SELECT value FROM crawl_meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def all(self) -> dict[str, str]:
        """Everything that is noted about the crawl."""
        with translated(self._db.path):
            return dict(self._db.sql.execute("SELECT key, value FROM crawl_meta"))

    async def set(self, key: str, value: str) -> None:
        async with self._db.transaction() as sql:
            sql.execute("INSERT OR REPLACE INTO crawl_meta VALUES (?, ?)", (key, value))

    async def change(self, key: str, change: Callable[[str | None], str]) -> str:
        async with self._db.transaction() as sql:
            row = sql.execute("SELECT value FROM crawl_meta WHERE key = ?", (key,)).fetchone()
            value = change(row[0] if row else None)
            sql.execute("INSERT OR REPLACE INTO crawl_meta VALUES (?, ?)", (key, value))
        return value
