"""Every event of a list, one after the other, for those who give out a whole calendar.

A walk is one view of the database from its beginning to its end, and holds a few hundred events at a time, however many there
are. `listing` has the pages for people; the order and the filters are the same.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, func, or_, select

from tadoru.store.events.listing import EventFilter, Listing, time_from
from tadoru.store.events.rows import among, event_from, event_rows, portions
from tadoru.store.events.schema import events, occurrences
from tadoru.store.events.values import Event, EventTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event as it is given out."""

    event: Event
    time: EventTime | None
    """The first of its times that fits what was asked for; None in quarantine."""
    times: tuple[EventTime, ...] = ()
    """All of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneUse:
    """A time zone, and from when to when events take place in it."""

    name: str
    first: datetime
    last: datetime


def walk(store: Listing, chosen: EventFilter, *, limit: int | None = None) -> Iterator[Told]:
    """The events of a list in the order of time."""
    with store.read() as sql:
        streams = [sql.execute(query, execution_options={"yield_per": 1000}) for query in store.time_queries(chosen, None, limit)]
        merged = heapq.merge(*streams, key=lambda row: (row.starts_at, row.event_id))
        for part in portions(islice(merged, limit)):
            yield from _told(sql, [(row.event_id, row.number) for row in part])


def told(store: Listing, event_id: int) -> Told | None:
    """One event, whatever its state."""
    with store.read() as sql:
        return next(iter(_told(sql, [(event_id, 0)])), None)


def told_all(store: Listing, event_ids: Iterable[int]) -> dict[int, Told]:
    """Several events by their id; those that are not there are left out."""
    with store.read() as sql:
        return {one.event.id: one for one in _told(sql, [(event_id, 0) for event_id in event_ids])}


def _told(sql: Connection, places: list[tuple[int, int]]) -> list[Told]:
    rows = event_rows(sql, [event_id for event_id, _ in places])
    times: dict[int, list[EventTime]] = {}
    order = (occurrences.c.event_id, occurrences.c.number)
    for row in among(sql, select(occurrences).order_by(*order), occurrences.c.event_id, rows):
        times.setdefault(row["event_id"], []).append(time_from(row))
    found = []
    for event_id, number in places:
        if event_id in rows:
            every = tuple(times.get(event_id, ()))
            found.append(Told(event=event_from(rows[event_id]), time=every[number] if every else None, times=every))
    return found


def zones_in_use(store: Listing, chosen: EventFilter) -> tuple[ZoneUse, ...]:
    """The zones of the events of a list, by name."""
    asked = [query.order_by(None).subquery() for query in store.time_queries(chosen, None, None)]
    wanted = or_(*(events.c.id.in_(select(one.c.event_id)) for one in asked))
    last = func.max(events.c.last_day_over, type_=events.c.last_day_over.type)
    first = func.min(events.c.starts_at, type_=events.c.starts_at.type)
    query = select(events.c.timezone, first, last).where(wanted).group_by(events.c.timezone).order_by(events.c.timezone)
    with store.read() as sql:
        return tuple(ZoneUse(name=name, first=begins, last=ends) for name, begins, ends in sql.execute(query))
