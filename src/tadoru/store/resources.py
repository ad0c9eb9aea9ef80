"""Resources to try: leased like pages, but only once the pages are done, and never more than the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tadoru.store.base import ResourceLease, ResourceResult
from tadoru.store.database import Database, stamp, translated

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


class Resources(Database):
    """The resource half of the store."""

    async def reconsider_resources(self, is_internal: Callable[[str], bool], *, externals: bool) -> None:
        """Other rules hold: which of those that were not tried belong to the site, and whether others are tried too."""
        last = 0
        async with self.write() as sql:
            while rows := sql.execute(_OPEN, (last,)).fetchall():
                last = rows[-1][0]
                for number, url, was_internal, was in rows:
                    internal = is_internal(url)
                    status = "queued" if internal or externals else "discovered"
                    if (internal, status) != (bool(was_internal), was):
                        sql.execute(_MOVE, (internal, status, number))

    async def lease_resources(self, worker: int, count: int, *, budget: int) -> list[ResourceLease]:
        async with self.write() as sql:
            room = min(count, budget - sql.execute(_TAKEN).fetchone()[0])
            if room <= 0:
                return []
            rows = sql.execute(_LEASE, (worker, self.clock.now(), room)).fetchall()
            self.count({"resources": len(rows)})
        return [ResourceLease(*row) for row in sorted(rows)]

    async def finish_resources(self, worker: int, results: Sequence[ResourceResult]) -> None:
        now = self.clock.now()
        async with self.write() as sql:
            for result in results:
                if result.again_after is not None:
                    given_back = sql.execute(_AGAIN, (now + result.again_after, result.resource_id, worker))
                    self.count({"resources": -given_back.rowcount})
                    continue
                sql.execute(
                    _RESULT,
                    (
                        result.status, result.status_code, result.content_type, result.content_length, result.final_url,
                        result.skip_reason, result.error_type, result.error_message, stamp(now), result.resource_id, worker,
                    ),
                )  # fmt: skip

    async def resources_wait(self, *, budget: int) -> float | None:
        """Seconds until a resource may be tried, or until somebody else's may come back; None when all is done."""
        with translated(self.path):
            held = self.sql.execute("SELECT 1 FROM resources WHERE owner IS NOT NULL LIMIT 1").fetchone()
            if held is not None:
                return 0.05
            (soonest,) = self.sql.execute(_WAITING).fetchone()
            if soonest is None or self.sql.execute(_TAKEN).fetchone()[0] >= budget:
                return None
        return max(0.0, float(soonest) - self.clock.now())
