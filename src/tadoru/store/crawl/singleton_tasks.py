"""Tasks that are done once per crawl, by one worker. When that worker dies, another one takes over."""

from __future__ import annotations

from tadoru.store.crawl.database import Database, stamp, translated


class SingletonTasks:
    """Claims and finishes tasks."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def claim(self, worker: int, name: str) -> bool:
        async with self._db.transaction() as sql:
            sql.execute("INSERT OR IGNORE INTO chores(name) VALUES (?)", (name,))
            claimed = sql.execute(
                "UPDATE chores SET owner = ? WHERE name = ? AND done_at IS NULL AND (owner IS NULL OR owner = ?)",
                (worker, name, worker),
            )
            return bool(claimed.rowcount)

    async def finish(self, name: str) -> None:
        async with self._db.transaction() as sql:
            sql.execute("UPDATE chores SET owner = NULL, done_at = ? WHERE name = ?", (stamp(self._db.clock.now()), name))

    async def repeat(self, name: str) -> None:
        """There is more to it than there was: do it again, unless somebody is at it."""
        async with self._db.transaction() as sql:
            sql.execute("DELETE FROM chores WHERE name = ? AND owner IS NULL", (name,))

    async def is_done(self, name: str) -> bool:
        with translated(self._db.path):
            row = self._db.sql.execute("SELECT done_at FROM chores WHERE name = ?", (name,)).fetchone()
        return row is not None and row[0] is not None
