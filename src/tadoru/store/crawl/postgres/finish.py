"""What a crawl on PostgreSQL brings to an end before it is read: shorter paths, and redirects that lead back."""

from __future__ import annotations

from tadoru.model.web import FailureKind
from tadoru.store.crawl.crawl_limits import CrawlLimits
from tadoru.store.crawl.database import stamp
from tadoru.store.crawl.metrics import error_counter
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.depths import apply_depth_changes
from tadoru.store.crawl.reader import CrawlGraph

_IN_LOOPS = """WITH RECURSIVE walk(start, step) AS (
        SELECT id, redirect_id FROM pages WHERE redirect_id IS NOT NULL
        UNION SELECT w.start, p.redirect_id FROM walk w JOIN pages p ON p.id = w.step
        WHERE p.redirect_id IS NOT NULL AND w.step <> w.start)
    SELECT p.id, p.url, p.redirect_id, p.status FROM walk w JOIN pages p ON p.id = w.start
    WHERE w.step = w.start ORDER BY p.url"""
_LOOP = "UPDATE pages SET status = 'error', last_error_type = ?, last_error_message = ? WHERE id = ?"
_ERROR = "INSERT INTO crawl_errors(url, error_type, error_message, occurred_at) VALUES (?, ?, ?, ?)"


class PgLimits(CrawlLimits):
    """The limits of a crawl on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        super().__init__(db)
        self._pg = db

    async def refill(self) -> int:
        return await apply_depth_changes(self._pg, 0) + await super().refill()


class PgGraph(CrawlGraph):
    """Pages and links on PostgreSQL."""

    def __init__(self, db: PgDatabase) -> None:
        super().__init__(db)
        self._pg = db

    async def settle(self) -> None:
        await apply_depth_changes(self._pg, 0)
        await self._pg.write(self._close_loops)
        await super().settle()

    def _close_loops(self, sql: PgConnection) -> None:
        """Two workers that write the two halves of a loop at the same moment do not see it: the last page by URL is an error."""
        pages = {number: (url, onward, status) for number, url, onward, status in sql.execute(_IN_LOOPS).fetchall()}
        while pages:
            number, (url, onward, status) = pages.popitem()
            is_closed = status == "error"
            while onward in pages:
                _, onward, status = pages.pop(onward)
                is_closed |= status == "error"
            if not is_closed:
                message = f"The redirects from {url} lead back to it."
                sql.execute(_LOOP, (str(FailureKind.REDIRECT_LOOP), message, number))
                sql.execute(_ERROR, (url, str(FailureKind.REDIRECT_LOOP), message, stamp(self._pg.clock.now())))
                changes = {"completed": -1, "redirects": -1, "error": 1, "counted": 1}
                self._pg.count(sql, {**changes, error_counter(FailureKind.REDIRECT_LOOP): 1})
