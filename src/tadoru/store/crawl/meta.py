"""Notes about a crawl: its configuration, scope and score, by name."""

from __future__ import annotations

from collections.abc import Callable

from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.database import translated

_VALUE = "SELECT value FROM crawl_meta WHERE key = ?"
_SET = "INSERT INTO crawl_meta(key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_ADD = "INSERT INTO crawl_meta(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING"
_CHANGE = "UPDATE crawl_meta SET value = ? WHERE key = ? AND value = ?"


class CrawlMeta:
    """Reads and writes the notes of a crawl."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    async def get(self, key: str) -> str | None:
        return await self._db.read(lambda sql: _value(sql, key))

    def all(self) -> dict[str, str]:
        """Everything that is noted about the crawl."""
        with translated(self._db.path):
            return dict(self._db.sql.execute("SELECT key, value FROM crawl_meta"))

    async def set(self, key: str, value: str) -> None:
        await self._db.write(lambda sql: sql.execute(_SET, (key, value)))

    async def change(self, key: str, change: Callable[[str | None], str]) -> str:
        def body(sql: SqlConnection) -> str:
            while True:
                was = _value(sql, key)
                value = change(was)
                added = sql.execute(_ADD, (key, value)) if was is None else sql.execute(_CHANGE, (value, key, was))
                if added.rowcount:  # Otherwise another transaction changed it in between.
                    return value

        return await self._db.write(body)


def _value(sql: SqlConnection, key: str) -> str | None:
    row = sql.execute(_VALUE, (key,)).fetchone()
    return row[0] if row else None
