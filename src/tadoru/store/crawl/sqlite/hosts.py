"""Hosts: the pace that all workers share.

A slot is taken, the request is sent, and only then the gap starts (`sent`), so a slow connect cannot bring two requests close
together. A worker that dies in between blocks nobody: its slot is free when its death is noticed, or after `hold`.
"""

from __future__ import annotations

from tadoru.rules.pace import Pace
from tadoru.store.crawl.records import longest_wait, slot_wait
from tadoru.store.crawl.sqlite.database import Database

_SENT = """UPDATE hosts SET next_at = max(next_at, ? + coalesce(gap, 0)), slot_owner = nullif(slot_owner, ?)
    WHERE name = ?"""
_PACE = "SELECT gap, base, latency, baseline, strikes FROM hosts WHERE id = ?"
_SET_PACE = """UPDATE hosts SET gap = max(?, coalesce(base, 0)), base = max(?, coalesce(base, 0)), latency = ?, baseline = ?,
    strikes = ?, next_at = max(next_at, ?) WHERE id = ?"""
_LOWER = """UPDATE hosts SET gap = CASE WHEN strikes > 0 THEN gap ELSE ? END, base = ?
    WHERE base > ? AND NOT EXISTS (SELECT 1 FROM workers)"""


class SqliteHosts:
    """Slots and paces of hosts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        async with self._db.transaction() as sql:
            number, now = self._db.host_id(host), self._db.clock.now()
            next_at, gap, owner, until = sql.execute(
                "SELECT next_at, coalesce(gap, 0), slot_owner, slot_until FROM hosts WHERE id = ?", (number,)
            ).fetchone()
            wait = float(next_at - now)
            if wait > longest_wait(gap):
                wait = gap
                sql.execute("UPDATE hosts SET next_at = ? WHERE id = ?", (now + gap, number))
            wait = slot_wait(wait, gap, until - now if owner is not None else 0.0)
            if not wait:
                sql.execute("UPDATE hosts SET slot_owner = ?, slot_until = ? WHERE id = ?", (worker, now + hold, number))
            return wait

    async def sent(self, worker: int, host: str) -> None:
        async with self._db.transaction() as sql:
            sql.execute(_SENT, (self._db.clock.now(), worker, host))

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        async with self._db.transaction() as sql:
            number = self._db.host_id(host)
            sql.execute(
                "UPDATE hosts SET gap = max(coalesce(gap, 0), ?), base = ? WHERE id = ? AND (base IS NULL OR base < ?)",
                (pace.gap, pace.base, number, pace.base),
            )
            return Pace(*sql.execute(_PACE, (number,)).fetchone())

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        async with self._db.transaction() as sql:
            number, until = self._db.host_id(host), self._db.clock.now() + pause if pause > 0 else 0.0
            sql.execute(_SET_PACE, (pace.gap, pace.base, pace.latency, pace.baseline, pace.strikes, until, number))

    async def lower_paces(self, delay: float) -> None:
        async with self._db.transaction() as sql:
            sql.execute(_LOWER, (delay, delay, delay))
