"""Tasks that are done once per crawl, by one worker. When that worker dies, another one takes over."""

from __future__ import annotations

from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.database import stamp

_CLAIM = "UPDATE chores SET owner = ? WHERE name = ? AND done_at IS NULL AND (owner IS NULL OR owner = ?)"


class SingletonTasks:
    """Claims and finishes tasks."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    async def claim(self, worker: int, name: str) -> bool:
        def body(sql: SqlConnection) -> bool:
            sql.execute("INSERT INTO chores(name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
            return bool(sql.execute(_CLAIM, (worker, name, worker)).rowcount)

        return await self._db.write(body)

    async def finish(self, name: str) -> None:
        values = (stamp(self._db.clock.now()), name)
        await self._db.write(lambda sql: sql.execute("UPDATE chores SET owner = NULL, done_at = ? WHERE name = ?", values))

    async def repeat(self, name: str) -> None:
        """There is more to it than there was: do it again, unless somebody is at it."""
        await self._db.write(lambda sql: sql.execute("DELETE FROM chores WHERE name = ? AND owner IS NULL", (name,)))

    async def is_done(self, name: str) -> bool:
        row = await self._db.read(lambda sql: sql.execute("SELECT done_at FROM chores WHERE name = ?", (name,)).fetchone())
        return row is not None and row[0] is not None
