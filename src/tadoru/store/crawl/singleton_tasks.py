"""Tasks that are done once per crawl, by one worker. When that worker dies, another one takes over."""

from __future__ import annotations

from tadoru.store.crawl.database import Database, stamp, translated


class SingletonTasks(Database):
    """Claims and finishes tasks."""

    async def claim_task(self, worker: int, name: str) -> bool:
        async with self.write() as sql:
            sql.execute("INSERT OR IGNORE INTO chores(name) VALUES (?)", (name,))
            claimed = sql.execute(
                "UPDATE chores SET owner = ? WHERE name = ? AND done_at IS NULL AND (owner IS NULL OR owner = ?)",
                (worker, name, worker),
            )
            return bool(claimed.rowcount)

    async def finish_task(self, name: str) -> None:
        async with self.write() as sql:
            sql.execute("UPDATE chores SET owner = NULL, done_at = ? WHERE name = ?", (stamp(self.clock.now()), name))

    async def repeat_task(self, name: str) -> None:
        """There is more to it than there was: do it again, unless somebody is at it."""
        async with self.write() as sql:
            sql.execute("DELETE FROM chores WHERE name = ? AND owner IS NULL", (name,))

    async def is_task_done(self, name: str) -> bool:
        with translated(self.path):
            row = self.sql.execute("SELECT done_at FROM chores WHERE name = ?", (name,)).fetchone()
        return row is not None and row[0] is not None

    async def has_open_seeds(self) -> bool:
        return self._has_seed("status = 'queued' OR status = 'processing'")

    async def has_answered_seeds(self) -> bool:
        return self._has_seed("status = 'completed'")

    def _has_seed(self, state: str) -> bool:
        with translated(self.path):
            return self.sql.execute(f"SELECT 1 FROM pages WHERE is_seed AND ({state}) LIMIT 1").fetchone() is not None
