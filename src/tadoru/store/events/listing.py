"""Lists of events: filters, order, pages. Each event is listed once, at the first of its times that fits.

A list walks the occurrences in the order it shows, along an index, from where the last page ended. What is under way when a
period begins is looked up by its last day, in an index that holds only what lasts longer than a day. So a page costs the same
wherever it is and however many events there are.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus
from tadoru.store.events.names import Names
from tadoru.store.events.places import Box, Circle, within
from tadoru.store.events.rows import among, event_from, event_rows
from tadoru.store.events.schema import events, occurrences, sightings
from tadoru.store.events.search_index import Share, has_words, is_said, share, time_is_of_found, times_of_found
from tadoru.store.events.search_words import Query, query_of
from tadoru.store.events.values import EventTime, Listed, Page

_ZONES = timedelta(hours=14)
"""No local day begins or ends further than this from the same day in UTC."""
_TIME_NAMES = ("starts_at", "ends_at", "has_time", "local_date", "last_date")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events; what is not given is not asked about. Days are local to the event and both included."""

    city: str | None = None
    since: date | None = None
    until: date | None = None
    category: str | None = None
    q: str | None = None
    """Words that must all be there, in title, venue, address, city, category, organizer or description; "phrases", and -words
    that must not."""
    source_id: int | None = None
    """Any source that speaks of it."""
    updated_since: datetime | None = None
    statuses: tuple[EventStatus, ...] = (EventStatus.ACTIVE,)
    archived: bool | None = False
    vanished: bool | None = None
    box: Box | None = None
    near: Circle | None = None
    ids: tuple[int, ...] | None = None


class _Walk(NamedTuple):
    """Where a list goes on, how far, and in which direction."""

    after: tuple[Any, Any] | None
    limit: int | None
    backwards: bool


class Listing(Names):
    """Reading events."""

    def events(
        self, chosen: EventFilter | None = None, *, limit: int = 20, cursor: str | None = None, backwards: bool = False
    ) -> Page:
        """A page in the order of time, or `backwards`: the same events, the last one first."""
        chosen = chosen or EventFilter()
        after = place_of(cursor) if cursor else None
        queries = self.time_queries(chosen, after, limit + 1, backwards=backwards)
        with self.read() as sql:
            found = [row for query in queries for row in sql.execute(query)]
            found.sort(key=lambda row: (row.starts_at, row.event_id), reverse=backwards)
            rows = found[:limit]
            items = self.listed(sql, [(row.event_id, row.number) for row in rows])
        more = len(found) > limit
        return Page(items=items, next_cursor=cursor_of(rows[-1].starts_at, rows[-1].event_id) if more else None)

    def events_by_change(
        self, chosen: EventFilter | None = None, *, limit: int = 100, cursor: str | None = None, absorbed: bool = True,
        backwards: bool = False,
    ) -> Page:  # fmt: skip
        """A page in the order of the last change, of every event that fits, at whatever time: also those without one, and
        absorbed ones unless they are not wanted. `backwards`: the latest change first."""
        chosen = chosen or EventFilter()
        query = select(events.c.id, events.c.updated_at).where(*self._conditions(chosen))
        if asked := query_of(chosen.q or ""):
            query = query.where(has_words(asked, is_sqlite=self.is_sqlite))
        if chosen.city is not None:
            query = query.where(events.c.city == chosen.city)
        if not absorbed:
            query = query.where(events.c.merged_into.is_(None))
        after = place_of(cursor) if cursor else None
        query = _walked(query, events.c.updated_at, events.c.id, after, backwards=backwards).limit(limit + 1)
        with self.read() as sql:
            found = sql.execute(query).all()
            items = self.listed(sql, [(row.id, 0) for row in found[:limit]])
        last = found[:limit][-1] if len(found) > limit else None
        return Page(items=items, next_cursor=cursor_of(last.updated_at, last.id) if last else None)

    def count_events(self, chosen: EventFilter | None = None) -> int:
        """How many a list has."""
        with self.read() as sql:
            queries = self.time_queries(chosen or EventFilter(), None, None)
            return sum(
                sql.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one() for query in queries
            )

    def last_change(self) -> datetime | None:
        """When an event changed last; None when there are none."""
        with self.read() as sql:
            at: datetime | None = sql.execute(select(func.max(events.c.updated_at, type_=events.c.updated_at.type))).scalar()
            return at

    def time_queries(
        self, chosen: EventFilter, after: tuple[datetime, int] | None, limit: int | None, *, backwards: bool = False
    ) -> list[Select[Any]]:
        """What begins in the period, and what is under way when it begins."""
        asked = query_of(chosen.q) if isinstance(chosen.q, str) else None
        times: Any = occurrences
        words: list[ColumnElement[bool]] = []
        if asked is not None:
            times, words = self._found(asked, is_whole=limit is None)
        starts = select(times.c.event_id, times.c.number, times.c.starts_at).join(events, events.c.id == times.c.event_id)
        starts = starts.where(*self._conditions(chosen), *words, events.c.merged_into.is_(None))
        walk = _Walk(after, limit, backwards)
        if chosen.since is None:
            return [self._narrowed(starts, times, chosen, walk).where(times.c.number == 0)]
        later = self._narrowed(starts, times, chosen, walk)
        later = later.where(times.c.local_date >= chosen.since, times.c.starts_at >= begin_of(chosen.since))
        under_way = self._narrowed(starts, times, chosen, walk, by_index=False).where(
            times.c.local_date < chosen.since, times.c.last_date >= chosen.since, times.c.last_date > times.c.local_date
        )
        first = _is_first(times, chosen.since)
        return [later.where(first), under_way.where(first)]

    def _narrowed(
        self, query: Select[Any], times: Any, chosen: EventFilter, walk: _Walk, *, by_index: bool = True
    ) -> Select[Any]:
        """In order, and only where and when was asked for. A list walks along the index of its order; what is under way is
        looked up by its last day, where SQLite would guess wrong and walk through all that a city ever had."""
        city, at = times.c.city, times.c.starts_at
        if not by_index and self.is_sqlite:
            city, at = _by_no_index(city), _by_no_index(at)
        if chosen.city is not None:
            query = query.where(city == chosen.city)
        if chosen.until is not None:
            query = query.where(times.c.local_date <= chosen.until, at < end_of(chosen.until))
        return _walked(query, at, times.c.event_id, walk.after, backwards=walk.backwards).limit(walk.limit)

    def _found(self, asked: Query, *, is_whole: bool) -> tuple[FromClause, list[ColumnElement[bool]]]:
        """The times to list and what to ask of them: PostgreSQL knows which way is the shortest, SQLite is told."""
        if not asked.wanted or not self.is_sqlite:
            return occurrences, [has_words(asked, is_sqlite=self.is_sqlite)]
        with self.read() as sql:
            match share(sql, asked):
                case Share.FEW:
                    return times_of_found(asked), []
                case Share.COMMON if not is_whole:
                    return occurrences, [is_said(asked)]
                case _:
                    return occurrences, [time_is_of_found(asked)]

    def _conditions(self, chosen: EventFilter) -> list[ColumnElement[bool]]:
        """What is asked of the event itself."""
        wanted: list[ColumnElement[bool]] = [events.c.status.in_([one.value for one in chosen.statuses])]
        if chosen.category is not None:
            wanted.append(events.c.category == chosen.category)
        if chosen.source_id is not None:
            said = exists().where(sightings.c.event_id == events.c.id, sightings.c.source_id == chosen.source_id)
            wanted.append(said)
        if chosen.updated_since is not None:
            wanted.append(events.c.updated_at >= chosen.updated_since)
        for given, column in ((chosen.archived, events.c.archived_at), (chosen.vanished, events.c.vanished_at)):
            if given is not None:
                wanted.append(column.is_not(None) if given else column.is_(None))
        if chosen.ids is not None:
            wanted.append(events.c.id.in_(chosen.ids))
        return wanted + within(chosen.box, chosen.near, exact=self.has_postgis)

    def listed(self, sql: Connection, places: list[tuple[int, int]]) -> tuple[Listed, ...]:
        """Events and the numbers of their times, read."""
        rows = event_rows(sql, [event_id for event_id, _ in places])
        # Not pairs: SQLite looks for a list of pairs in the whole table.
        query = select(occurrences).where(occurrences.c.number.in_({number for _, number in places}))
        wanted = set(places)
        times = {
            row["event_id"]: time_from(row)
            for row in among(sql, query, occurrences.c.event_id, rows)
            if (row["event_id"], row["number"]) in wanted
        }
        return tuple(Listed(event=event_from(rows[event_id]), time=times.get(event_id)) for event_id, _ in places)


def time_from(row: Any) -> EventTime:
    return EventTime(**{name: row[name] for name in _TIME_NAMES})


def _is_first(times: FromClause, since: date) -> ColumnElement[bool]:
    """No earlier time of the event fits as well."""
    earlier = occurrences.alias("earlier")
    same = and_(earlier.c.event_id == times.c.event_id, earlier.c.number < times.c.number)
    return or_(times.c.number == 0, ~exists().where(same, earlier.c.last_date >= since))


def _by_no_index(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column that SQLite does not look up in an index: its sign for this is a plus."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def begin_of(day: Any) -> Any:
    """No event of this day or later begins before it. A name in the place of a value stays one (`page_rows`)."""
    return _named("begin") if isinstance(day, BindParameter) else datetime.combine(day, time(), UTC) - _ZONES


def end_of(day: Any) -> Any:
    """No event of this day or earlier begins at it or after it."""
    return _named("end") if isinstance(day, BindParameter) else datetime.combine(day, time(), UTC) + timedelta(days=1) + _ZONES


def _named(name: str) -> BindParameter[Any]:
    return bindparam(name, type_=occurrences.c.starts_at.type, required=False)


def _walked(
    query: Select[Any], at: ColumnElement[Any], number: ColumnElement[Any], after: tuple[Any, Any] | None, *, backwards: bool
) -> Select[Any]:
    """In the order of a time and, where times are equal, of numbers; behind a place when there is one."""
    if after is not None:
        here, there = tuple_(at, number), tuple_(*_bound(after, at))
        query = query.where(here < there if backwards else here > there)
    return query.order_by(at.desc(), number.desc()) if backwards else query.order_by(at, number)


def _bound(place: tuple[Any, Any], column: ColumnElement[Any]) -> tuple[Any, Any]:
    if isinstance(place[0], BindParameter):
        return place
    return literal(place[0], type_=column.type), literal(place[1])


def cursor_of(at: datetime, event_id: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), event_id]).encode()).decode().rstrip("=")


def place_of(cursor: str) -> tuple[datetime, int]:
    try:
        at, event_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not isinstance(event_id, int) or abs(event_id) >= 2**63:
            raise ValueError(cursor)
        moment = moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as error:
        raise UsageError("This place in the list is unknown: begin again without `cursor`.") from error
    return moment, event_id
