"""What a search engine was not told yet.

A *target* is one index of one engine. As long as there is one, triggers note every event that is written, in the transaction that
writes it (revision 0004): so nothing depends on clocks, and a transaction that ends late is not missed. A note is a number that
grows with each further change; it is struck out when what was told is what it was when it was read. One worker at a time tells a
target: two could tell it an old state after a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, and_, delete, func, insert, or_, select, update

from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import in_batches, select_in
from tadoru.store.calendar.schema import events, search_changes, search_targets


class SearchTarget(NamedTuple):
    """One index of one engine."""

    id: int
    name: str
    since: datetime
    """Since when changes are noted."""
    synced_at: datetime | None
    form: str
    """How it was told everything; empty when it was not. Changes alone say too little to one that was told in another form."""


class SearchChangeLog(CalendarDatabase):
    """The notes."""

    def search_targets(self) -> tuple[SearchTarget, ...]:
        with self.read() as sql:
            return tuple(
                _target_from(row) for row in sql.execute(select(search_targets).order_by(search_targets.c.id)).mappings()
            )

    def lease_target(self, name: str, worker: int) -> SearchTarget | None:
        """The target, made when it is new, and from now on this worker's. None: another worker is at it."""
        # Alone among those who write events: a transaction that began before there was a target has noted nothing.
        with self.write_events() as sql:
            found = _target(sql, name)
            if found is None:
                sql.execute(insert(search_targets).values(name=name, since=self.now(), worker_id=worker))
            else:
                free = or_(search_targets.c.worker_id.is_(None), search_targets.c.worker_id == worker)
                query = update(search_targets).where(search_targets.c.id == found.id, free).values(worker_id=worker)
                if not sql.execute(query).rowcount:
                    return None
            return _target(sql, name)

    def release_target(self, target: SearchTarget, worker: int) -> None:
        mine = and_(search_targets.c.id == target.id, search_targets.c.worker_id == worker)
        with self.write() as sql:
            sql.execute(update(search_targets).where(mine).values(worker_id=None))

    def begin_whole(self, target: SearchTarget) -> None:
        """The target is about to be told everything: older notes are void."""
        with self.write_events() as sql:
            sql.execute(update(search_targets).where(search_targets.c.id == target.id).values(since=self.now(), form=""))
            sql.execute(delete(search_changes).where(search_changes.c.target_id == target.id))

    def end_whole(self, target: SearchTarget, form: str) -> None:
        """It was told everything, in this form."""
        with self.write_events() as sql:
            sql.execute(update(search_targets).where(search_targets.c.id == target.id).values(form=form, synced_at=self.now()))

    def forget_target(self, name: str) -> bool:
        """Note nothing for it any more. False: it was not known."""
        with self.write_events() as sql:
            return bool(sql.execute(delete(search_targets).where(search_targets.c.name == name)).rowcount)

    def untold(self, target: SearchTarget, *, limit: int) -> dict[int, int]:
        """Events that changed, and the number of the change."""
        mine = search_changes.c.target_id == target.id
        query = select(search_changes.c.event_id, search_changes.c.number).where(mine).order_by(search_changes.c.event_id)
        with self.read() as sql:
            return {row.event_id: row.number for row in sql.execute(query.limit(limit))}

    def count_untold(self, target: SearchTarget) -> int:
        query = select(func.count()).where(search_changes.c.target_id == target.id)
        with self.read() as sql:
            count: int = sql.execute(query).scalar_one()
            return count

    def strike_out(self, target: SearchTarget, worker: int, told: Mapping[int, int]) -> bool:
        """These were told as they were at that number. False: the target is another worker's by now, and they are noted again."""
        with self.write_events() as sql:
            mine = (search_targets.c.id == target.id, search_targets.c.worker_id == worker)
            if sql.execute(select(search_targets.c.id).where(*mine)).first() is None:
                _log_again(sql, target, list(told))
                return False
            changes = search_changes.c
            rows = select(changes.event_id, changes.number).where(changes.target_id == target.id)
            now = {row["event_id"]: row["number"] for row in select_in(sql, rows, changes.event_id, told)}
            same = [event_id for event_id, number in told.items() if now.get(event_id) == number]
            for part in in_batches(same):
                sql.execute(delete(search_changes).where(changes.target_id == target.id, changes.event_id.in_(part)))
            sql.execute(update(search_targets).where(*mine).values(synced_at=self.now()))
            return True

    def event_numbers(self, after: int, *, limit: int) -> tuple[int, ...]:
        """The numbers of all events, some at a time."""
        with self.read() as sql:
            return tuple(sql.execute(select(events.c.id).where(events.c.id > after).order_by(events.c.id).limit(limit)).scalars())


def _target(sql: Connection, name: str) -> SearchTarget | None:
    row = sql.execute(select(search_targets).where(search_targets.c.name == name)).mappings().one_or_none()
    return _target_from(row) if row else None


def _target_from(row: RowMapping) -> SearchTarget:
    return SearchTarget(**{name: row[name] for name in SearchTarget._fields})


def _log_again(sql: Connection, target: SearchTarget, event_ids: Sequence[int]) -> None:
    """What was told may have been told after something newer: let it be told once more."""
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
