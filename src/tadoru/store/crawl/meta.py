"""Notes about a crawl by name, and the tasks that one worker does once for the whole crawl."""

from __future__ import annotations

from collections.abc import Callable

from tadoru.store.crawl.connection import CrawlPart, SqlConnection
from tadoru.store.crawl.sqlite.database import stamp

_VALUE = "SELECT value FROM crawl_meta WHERE key = ?"
_SET = "INSERT INTO crawl_meta(key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_ADD = "INSERT INTO crawl_meta(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING"
_CHANGE = "UPDATE crawl_meta SET value = ? WHERE key = ? AND value = ?"


class CrawlMeta(CrawlPart):
    """Reads and writes the notes of a crawl."""

    async def get(self, key: str) -> str | None:
        return await self._db.read(lambda sql: _value(sql, key))

    def all(self) -> dict[str, str]:
        """Everything that is noted about the crawl."""
        return dict(self._db.rows("SELECT key, value FROM crawl_meta"))

    async def set(self, key: str, value: str) -> None:
        await self._db.write(lambda sql: sql.execute(_SET, (key, value)), beside=True)

    async def change(self, key: str, change: Callable[[str | None], str]) -> str:
        """What it becomes, made of what it is: nobody else changes it in between."""

        def body(sql: SqlConnection) -> str:
            while True:
                was = _value(sql, key)
                value = change(was)
                added = sql.execute(_ADD, (key, value)) if was is None else sql.execute(_CHANGE, (value, key, was))
                if added.rowcount:  # Otherwise another transaction changed it in between.
                    return value

        return await self._db.write(body, beside=True)


def _value(sql: SqlConnection, key: str) -> str | None:
    row = sql.execute(_VALUE, (key,)).fetchone()
    return row[0] if row else None


_CLAIM = "UPDATE chores SET owner = ? WHERE name = ? AND done_at IS NULL AND (owner IS NULL OR owner = ?)"


class SingletonTasks(CrawlPart):
    """Claims and finishes tasks."""

    async def claim(self, worker: int, name: str) -> bool:
        """Whether a piece of work that is done once for the whole crawl is ours to do now."""

        def body(sql: SqlConnection) -> bool:
            if sql.execute(self._db.dialect.living_worker, (worker,)).fetchone() is None:
                return False
            sql.execute("INSERT INTO chores(name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
            return bool(sql.execute(_CLAIM, (worker, name, worker)).rowcount)

        return await self._db.write(body, beside=True)

    async def finish(self, name: str) -> None:
        values = (stamp(self._db.clock.now()), name)
        finished = "UPDATE chores SET owner = NULL, done_at = ? WHERE name = ?"
        await self._db.write(lambda sql: sql.execute(finished, values), beside=True)

    async def repeat(self, name: str) -> None:
        """There is more to it than there was: do it again, unless somebody is at it."""
        unclaimed = "DELETE FROM chores WHERE name = ? AND owner IS NULL"
        await self._db.write(lambda sql: sql.execute(unclaimed, (name,)), beside=True)

    async def is_done(self, name: str) -> bool:
        row = await self._db.read(lambda sql: sql.execute("SELECT done_at FROM chores WHERE name = ?", (name,)).fetchone())
        return row is not None and row[0] is not None
