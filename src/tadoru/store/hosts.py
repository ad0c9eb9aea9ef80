"""Hosts: the pace that every worker shares, and what robots.txt said. Two workers are as polite as one because this is in the store.

A slot is taken, the request goes out, and only then does the gap start (`sent`): a slow connect can not bring two requests close
together. A worker that dies between the two blocks nobody: its slot falls free when its death is noticed, or after `hold`.
"""

from __future__ import annotations

from tadoru.rules.pace import Pace
from tadoru.store.base import RobotsRecord
from tadoru.store.database import Database

SHORTEST_WAIT = 0.002
"""How soon to ask again for a slot that somebody holds and is about to use."""

FAILED_ROBOTS_AGE = 60.0


class Hosts(Database):
    """The politeness half of the store."""

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        async with self.write() as sql:
            now = self.clock.now()
            next_at, gap, owner = sql.execute("SELECT next_at, coalesce(gap, 0), slot_owner FROM hosts WHERE name = ?", (host,)).fetchone()
            if next_at <= now:
                sql.execute("UPDATE hosts SET next_at = ?, slot_owner = ? WHERE name = ?", (now + hold, worker, host))
                return 0.0
            wait: float = next_at - now
            return wait if owner is None else max(SHORTEST_WAIT, min(wait, gap / 4))

    async def sent(self, worker: int, host: str) -> None:
        async with self.write() as sql:
            now = self.clock.now()
            sql.execute(
                "UPDATE hosts SET next_at = CASE WHEN slot_owner = ? THEN ? + gap ELSE max(next_at, ? + gap) END, "
                "slot_owner = CASE WHEN slot_owner = ? THEN NULL ELSE slot_owner END WHERE name = ?",
                (worker, now, now, worker, host),
            )

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        async with self.write() as sql:
            number = self.host_id(host)
            sql.execute(
                "UPDATE hosts SET gap = max(coalesce(gap, 0), ?), base = ? WHERE id = ? AND (base IS NULL OR base < ?)",
                (pace.gap, pace.base, number, pace.base),
            )
            return Pace(*sql.execute("SELECT gap, base, latency, baseline, strikes FROM hosts WHERE id = ?", (number,)).fetchone())

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        async with self.write() as sql:
            self.host_id(host)
            sql.execute(
                "UPDATE hosts SET gap = ?, base = ?, latency = ?, baseline = ?, strikes = ?, next_at = max(next_at, ?) WHERE name = ?",
                (pace.gap, pace.base, pace.latency, pace.baseline, pace.strikes, self.clock.now() + pause if pause > 0 else 0.0, host),
            )

    async def claim_robots(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        async with self.write() as sql:
            now = self.clock.now()
            row = sql.execute(
                "SELECT status, failure, message, body, fetched_at, claimed_until FROM robots WHERE origin = ?", (origin,)
            ).fetchone()
            if row is not None and row[4] is not None:
                record = RobotsRecord(row[0], row[1], row[2], row[3] or b"", now - row[4])
                if record.age <= (max_age if record.is_settled else min(max_age, FAILED_ROBOTS_AGE)):
                    return record
            elif row is not None and row[5] > now:
                return False
            sql.execute("INSERT OR REPLACE INTO robots(origin, owner, claimed_until) VALUES (?, ?, ?)", (origin, worker, now + hold))
            return True

    async def put_robots(self, origin: str, record: RobotsRecord) -> None:
        async with self.write() as sql:
            sql.execute(
                "INSERT OR REPLACE INTO robots(origin, status, failure, message, body, fetched_at) VALUES (?, ?, ?, ?, ?, ?)",
                (origin, record.status, record.failure, record.message, record.body, self.clock.now() - record.age),
            )
