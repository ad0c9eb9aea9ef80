"""Hosts: the pace that all workers share, and the answers for robots.txt.

A slot is taken, the request is sent, and only then the gap starts (`sent`), so a slow connect cannot bring two requests close
together. A worker that dies in between blocks nobody: its slot is free when its death is noticed, or after `hold`.
"""

from __future__ import annotations

from tadoru.rules.pace import Pace
from tadoru.store.crawl.records import FAILED_ROBOTS_AGE, RobotsRecord, longest_wait, slot_wait
from tadoru.store.crawl.sqlite.database import Database

_SENT = """UPDATE hosts SET next_at = max(next_at, ? + coalesce(gap, 0)), slot_owner = nullif(slot_owner, ?)
    WHERE name = ?"""
_PACE = "SELECT gap, base, latency, baseline, strikes FROM hosts WHERE id = ?"
_SET_PACE = """UPDATE hosts SET gap = max(?, coalesce(base, 0)), base = max(?, coalesce(base, 0)), latency = ?, baseline = ?,
    strikes = ?, next_at = max(next_at, ?) WHERE id = ?"""
_LOWER = """UPDATE hosts SET gap = CASE WHEN strikes > 0 THEN gap ELSE ? END, base = ?
    WHERE base > ? AND NOT EXISTS (SELECT 1 FROM workers)"""
_CLAIM = "INSERT OR REPLACE INTO robots(origin, owner, claimed_until) VALUES (?, ?, ?)"


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


class SqliteRobots:
    """The answers for robots.txt."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def claim(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        async with self._db.transaction() as sql:
            now = self._db.clock.now()
            row = sql.execute(
                "SELECT status, failure, message, body, fetched_at, claimed_until FROM robots WHERE origin = ?", (origin,)
            ).fetchone()
            if row is not None and row[4] is not None:
                record = RobotsRecord(row[0], row[1], row[2], row[3] or b"", now - row[4])
                if record.age <= (max_age if record.is_settled else min(max_age, FAILED_ROBOTS_AGE)):
                    return record
            elif row is not None and row[5] > now:
                return False
            sql.execute(_CLAIM, (origin, worker, now + hold))
            return True

    async def forget_failed(self) -> None:
        async with self._db.transaction() as sql:
            sql.execute("DELETE FROM robots WHERE fetched_at IS NOT NULL AND (status IS NULL OR status >= 500 OR status = 429)")

    async def put(self, origin: str, record: RobotsRecord) -> None:
        async with self._db.transaction() as sql:
            sql.execute(
                "INSERT OR REPLACE INTO robots(origin, status, failure, message, body, fetched_at) VALUES (?, ?, ?, ?, ?, ?)",
                (origin, record.status, record.failure, record.message, record.body, self._db.clock.now() - record.age),
            )
