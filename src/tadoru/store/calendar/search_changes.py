"""The changes that external search engines have not received yet.

A *target* is one index of one engine. While there is one, triggers log every event that is written, in the transaction that
writes it (migration 0004), so nothing depends on clocks and a transaction that commits late is not missed. A log entry is a
number that grows with each further change; it is deleted if it is still the same after the event was sent. One worker at a time
syncs a target: two could send an old state after a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, and_, delete, insert, or_, select, update

from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import in_batches, select_in
from tadoru.store.calendar.schema import events, search_changes, search_targets


class SearchTarget(NamedTuple):
    """One index of one search engine."""

    id: int
    name: str
    since: datetime
    """Since when changes are logged."""
    synced_at: datetime | None
    form: str
    """The document version of the last full sync; empty if there was none. Changes alone are not enough after another version."""


class SearchChangeLog:
    """The log of changes for each target."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def targets(self) -> tuple[SearchTarget, ...]:
        with self._db.read() as sql:
            return tuple(
                _target_from(row) for row in sql.execute(select(search_targets).order_by(search_targets.c.id)).mappings()
            )

    def lease(self, name: str, worker: int) -> SearchTarget | None:
        """Lease the target, created if it is new. None: another worker has it."""
        # Exclusive: a transaction that started before the target existed has logged nothing.
        with self._db.write_events() as sql:
            found = _target(sql, name)
            if found is None:
                sql.execute(insert(search_targets).values(name=name, since=self._db.now(), worker_id=worker))
            else:
                free = or_(search_targets.c.worker_id.is_(None), search_targets.c.worker_id == worker)
                query = update(search_targets).where(search_targets.c.id == found.id, free).values(worker_id=worker)
                if not sql.execute(query).rowcount:
                    return None
            return _target(sql, name)

    def release(self, target: SearchTarget, worker: int) -> None:
        mine = and_(search_targets.c.id == target.id, search_targets.c.worker_id == worker)
        with self._db.write() as sql:
            sql.execute(update(search_targets).where(mine).values(worker_id=None))

    def begin_full_sync(self, target: SearchTarget) -> None:
        """Start a full sync: older log entries are void."""
        with self._db.write_events() as sql:
            sql.execute(update(search_targets).where(search_targets.c.id == target.id).values(since=self._db.now(), form=""))
            sql.execute(delete(search_changes).where(search_changes.c.target_id == target.id))

    def end_full_sync(self, target: SearchTarget, form: str) -> None:
        """Finish a full sync with this document version."""
        with self._db.write_events() as sql:
            sql.execute(
                update(search_targets).where(search_targets.c.id == target.id).values(form=form, synced_at=self._db.now())
            )

    def forget(self, name: str) -> bool:
        """Stop logging for a target. False: it was not known."""
        with self._db.write_events() as sql:
            return bool(sql.execute(delete(search_targets).where(search_targets.c.name == name)).rowcount)

    def pending(self, target: SearchTarget, *, limit: int) -> dict[int, int]:
        """Changed events, and the number of each change."""
        mine = search_changes.c.target_id == target.id
        query = select(search_changes.c.event_id, search_changes.c.number).where(mine).order_by(search_changes.c.event_id)
        with self._db.read() as sql:
            return {row.event_id: row.number for row in sql.execute(query.limit(limit))}

    def mark_synced(self, target: SearchTarget, worker: int, sent: Mapping[int, int]) -> bool:
        """Remove the entries that were sent. False: another worker has the target now, and the entries are logged again."""
        with self._db.write_events() as sql:
            mine = (search_targets.c.id == target.id, search_targets.c.worker_id == worker)
            if sql.execute(select(search_targets.c.id).where(*mine)).first() is None:
                _log_again(sql, target, list(sent))
                return False
            changes = search_changes.c
            rows = select(changes.event_id, changes.number).where(changes.target_id == target.id)
            now = {row["event_id"]: row["number"] for row in select_in(sql, rows, changes.event_id, sent)}
            same = [event_id for event_id, number in sent.items() if now.get(event_id) == number]
            for part in in_batches(same):
                sql.execute(delete(search_changes).where(changes.target_id == target.id, changes.event_id.in_(part)))
            sql.execute(update(search_targets).where(*mine).values(synced_at=self._db.now()))
            return True

    def event_numbers(self, after: int, *, limit: int) -> tuple[int, ...]:
        """The ids of all events, a batch at a time."""
        with self._db.read() as sql:
            return tuple(sql.execute(select(events.c.id).where(events.c.id > after).order_by(events.c.id).limit(limit)).scalars())


def _target(sql: Connection, name: str) -> SearchTarget | None:
    row = sql.execute(select(search_targets).where(search_targets.c.name == name)).mappings().one_or_none()
    return _target_from(row) if row else None


def _target_from(row: RowMapping) -> SearchTarget:
    return SearchTarget(**{name: row[name] for name in SearchTarget._fields})


def _log_again(sql: Connection, target: SearchTarget, event_ids: Sequence[int]) -> None:
    """Log events again, because an older state may have been sent after a newer one."""
    if sql.execute(select(search_targets.c.id).where(search_targets.c.id == target.id)).first() is None:
        return
    mine, event_id = search_changes.c.target_id == target.id, search_changes.c.event_id
    there = {row["event_id"] for row in select_in(sql, select(search_changes).where(mine), event_id, event_ids)}
    for part in in_batches(there):
        query = update(search_changes).where(mine, event_id.in_(part))
        sql.execute(query.values(number=search_changes.c.number + 1))
    new = [{"target_id": target.id, "event_id": one, "number": 1} for one in event_ids if one not in there]
    if new:
        sql.execute(insert(search_changes), new)
