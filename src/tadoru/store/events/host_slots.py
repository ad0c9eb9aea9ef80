"""One request at a time for each host, a gap between them, and pauses that a host asked for: in the database, so that any number
of workers is as polite as one.

A slot is taken, the request goes out and comes back, and the slot is given back; the next one is free when the gap since the
sending is over. A worker that dies in between blocks nobody: on this machine it is noticed at once, elsewhere when its time is
over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.schema import hosts, robots, workers
from tadoru.store.values import RobotsRecord
from tadoru.store.workers import Identity, is_dead, machine_name

SHORTEST_WAIT = 0.05
"""Seconds after which to ask again for a slot that another worker has."""


class HostSlots(EventsDatabase):
    """The politeness of the events database."""

    def take_slot(self, worker: int, host: str, hold: float, *, gap: float) -> float:
        """0: the slot is yours until `sent` and `give_back`, or for `hold` seconds; otherwise ask again after so many seconds."""
        with self.write() as sql:
            self._know(sql, host)
            now = self.shared_now(sql)
            row = sql.execute(self._locked(host)).one()
            is_taken = row.slot_worker is not None and row.slot_worker != worker and row.slot_until > now
            if is_taken and not self._is_gone(sql, row.slot_worker, now):
                return float(max(SHORTEST_WAIT, min((row.slot_until - now).total_seconds(), gap / 4)))
            if row.next_at is not None and row.next_at > now:
                return float((row.next_at - now).total_seconds())
            until = now + timedelta(seconds=hold)
            sql.execute(update(hosts).where(hosts.c.name == host).values(slot_worker=worker, slot_until=until, gap=gap))
            return 0.0

    def _is_gone(self, sql: Connection, worker: int, now: datetime) -> bool:
        """Whether the worker that has a slot will not give it back: nobody waits for the dead."""
        row = sql.execute(select(workers).where(workers.c.id == worker)).one_or_none()
        return row is None or row.expires_at <= now or is_dead(Identity(row.machine, row.pid, row.started), machine_name())

    def sent(self, worker: int, host: str) -> None:
        """The request goes out now: the gap begins."""
        with self.write() as sql:
            now, row = self.shared_now(sql), sql.execute(self._locked(host)).one()
            if row.slot_worker == worker:
                self._not_before(sql, row, now + timedelta(seconds=row.gap))

    def give_back(self, worker: int, host: str) -> None:
        """The answer is here, or there is none."""
        mine = (hosts.c.name == host, hosts.c.slot_worker == worker)
        with self.write() as sql:
            sql.execute(update(hosts).where(*mine).values(slot_worker=None, slot_until=None))

    def pause_host(self, host: str, seconds: float) -> None:
        """Nothing goes to this host for so long (Retry-After). A longer pause that holds already stays."""
        with self.write() as sql:
            self._know(sql, host)
            row = sql.execute(self._locked(host)).one()
            self._not_before(sql, row, self.shared_now(sql) + timedelta(seconds=seconds))

    def _not_before(self, sql: Connection, row: Any, at: datetime) -> None:
        if row.next_at is None or row.next_at < at:
            sql.execute(update(hosts).where(hosts.c.name == row.name).values(next_at=at))

    def _locked(self, host: str) -> Any:
        query = select(hosts).where(hosts.c.name == host)
        return query if self.is_sqlite else query.with_for_update()

    def _know(self, sql: Connection, host: str) -> None:
        make = sqlite.insert(hosts) if self.is_sqlite else postgresql.insert(hosts)
        sql.execute(make.values(name=host).on_conflict_do_nothing())

    def robots(self, origin: str) -> RobotsRecord | None:
        """What robots.txt of an origin said, with its age."""
        with self.read() as sql:
            row = sql.execute(select(robots).where(robots.c.origin == origin)).one_or_none()
            if row is None:
                return None
            age = (self.shared_now(sql) - row.fetched_at).total_seconds()
            return RobotsRecord(row.status, row.failure, row.message, row.body or b"", age)

    def put_robots(self, origin: str, record: RobotsRecord) -> None:
        with self.write() as sql:
            at = self.shared_now(sql) - timedelta(seconds=record.age)
            sql.execute(delete(robots).where(robots.c.origin == origin))
            said = {"status": record.status, "failure": record.failure, "message": record.message or "", "body": record.body}
            sql.execute(insert(robots).values(origin=origin, fetched_at=at, **said))
