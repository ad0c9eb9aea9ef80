"""Lists of events: filters, order by time, change or relevance, and pages.

Each event is listed once, at its first occurrence that matches. A list follows an index of occurrences in its order, from where
the previous page ended. Events that are ongoing when a period starts are found by their last day, in an index of what lasts
longer than a day. So a page costs the same wherever it is and however many events there are.

Relevance is where the words are in the searched text, which starts with the title: a title that is exactly the query, then words
in the title, then words elsewhere; whole words before prefixes. A word at the end of an unspaced run counts as whole: 夏の花火
contains 花火, 花火大会 contains 大会. Both databases compute the same number, and equally relevant events are ordered by
time, so such a list has cursors too; but every page ranks all matches.

The cities and categories that a filter offers are cached, because finding them reads all events: until the newest rows change,
and for a short time at most, because archiving changes none of these.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Label,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op
from sqlalchemy.types import Text

from tadoru.errors import UsageError
from tadoru.model.event import EventStatus
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import (
    CalendarEvent,
    EventPage,
    EventProvenance,
    EventRecord,
    EventTime,
    FieldOwner,
    ListedEvent,
    ZoneUse,
    event_from_row,
    event_rows,
    event_time_from_row,
    in_batches,
    merge_from_row,
    review_from_row,
    select_in,
    sightings_of,
)
from tadoru.store.calendar.schema import (
    event_history,
    events,
    field_owners,
    merges,
    occurrences,
    review_candidates,
    reviews,
    sightings,
)
from tadoru.store.calendar.search_conditions import (
    GeoBox,
    GeoCircle,
    MatchFrequency,
    contains_words,
    geo_conditions,
    match_frequency,
    matching_occurrences,
    occurrence_matches,
    text_contains,
)
from tadoru.store.calendar.search_text import FIELD_SEPARATOR, SearchPhrase, SearchQuery, parse_query
from tadoru.store.cursors import decode_cursor, encode_cursor

CACHE_SECONDS = 30.0
"""Seconds for which the cities and categories are cached."""
_NEWEST = select(*(
    select(func.max(column)).scalar_subquery()
    for column in (events.c.id, events.c.updated_at, event_history.c.id, merges.c.id)
))  # fmt: skip
_CITIES = select(occurrences.c.city).distinct().where(occurrences.c.city != "").order_by(occurrences.c.city)
_SHOWN = (events.c.status == EventStatus.ACTIVE.value, events.c.merged_into.is_(None), events.c.archived_at.is_(None))
_CATEGORIES = select(events.c.category).distinct().where(events.c.category != "", *_SHOWN).order_by(events.c.category)


def _newest(sql: Connection) -> tuple[Any, ...]:
    """Values of which every change modifies at least one."""
    return tuple(sql.execute(_NEWEST).one())


_MAX_ZONE_OFFSET = timedelta(hours=14)
"""Maximum difference between the start of a local day and of the same day in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events to list; None means no condition. Days are local to the event, both included."""

    city: str | None = None
    since: date | None = None
    until: date | None = None
    category: str | None = None
    q: str | None = None
    """Words that must all occur in title, venue, address, city, category, organizer or description; "phrases", and -words that
    must not occur."""
    source_id: int | None = None
    """Any source that lists the event."""
    updated_since: datetime | None = None
    statuses: tuple[EventStatus, ...] = (EventStatus.ACTIVE,)
    archived: bool | None = False
    vanished: bool | None = None
    box: GeoBox | None = None
    near: GeoCircle | None = None
    free: bool = False
    """Only events whose price says that they cost nothing."""
    ids: tuple[int, ...] | None = None


_FREE_WORDS = ("無料", "free", "kostenlos", "gratis", "eintritt frei")
_ZERO_PRICES = ("0", "0円", "0 円", "¥0", "￥0", "0 €", "0€", "€0", "$0", "0.00")
_DIGITS = "123456789１２３４５６７８９"
_PRICE_WORDS = (
    "円", "¥", "￥", "€", "$", "£", "yen", "eur", "大人", "一般", "子", "小学", "中学", "高校", "学生", "以下", "以上", "歳",
    "会員", "adult", "child", "kid", "student", "member", "under", "erwachs", "ermäßigt",
)  # fmt: skip
"""A price with a digit and one of these costs something for somebody: 大人500円、子ども無料; 無料（先着50名） does not."""


def costs_nothing() -> ColumnElement[bool]:
    """The condition that the price of an event says that it is free."""
    price = func.lower(events.c.price)
    is_zero = or_(*(price.contains(word) for word in _FREE_WORDS), func.trim(price).in_(_ZERO_PRICES))
    has_digit, has_word = (or_(*(price.contains(one) for one in ones)) for ones in (_DIGITS, _PRICE_WORDS))
    return and_(is_zero, ~and_(has_digit, has_word))


class _PageRequest(NamedTuple):
    """Where a page starts, its size and its direction."""

    after: tuple[Any, Any] | None
    limit: int | None
    backwards: bool


class EventQueries:
    """Lists, counts and reads events."""

    def __init__(self, db: CalendarDatabase) -> None:
        self.db = db
        self._names: dict[str, tuple[float, tuple[Any, ...], tuple[str, ...]]] = {}

    def list(
        self, chosen: EventFilter | None = None, *, limit: int = 20, cursor: str | None = None, backwards: bool = False
    ) -> EventPage:
        """A page in the order of time; `backwards`: latest first."""
        chosen = chosen or EventFilter()
        after = decode_cursor(cursor, "", TIME_PLACE) if cursor else None
        queries = self.time_queries(chosen, after, limit + 1, backwards=backwards)
        with self.db.read() as sql:
            found = [row for query in queries for row in sql.execute(query)]
            found.sort(key=lambda row: (row.starts_at, row.event_id), reverse=backwards)
            rows = found[:limit]
            items = self.listed(sql, [(row.event_id, row.number) for row in rows])
        more = len(found) > limit
        return EventPage(items=items, next_cursor=encode_cursor("", (rows[-1].starts_at, rows[-1].event_id)) if more else None)

    def list_by_change(
        self, chosen: EventFilter | None = None, *, limit: int = 100, cursor: str | None = None, absorbed: bool = True,
        backwards: bool = False,
    ) -> EventPage:  # fmt: skip
        """A page of all matching events in the order of their last change, including events without a time, and merged ones if
        `absorbed`. `backwards`: latest change first."""
        chosen = chosen or EventFilter()
        query = select(events.c.id, events.c.updated_at).where(*self._conditions(chosen))
        if searched := parse_query(chosen.q or ""):
            query = query.where(contains_words(searched, is_sqlite=self.db.is_sqlite))
        if chosen.city is not None:
            query = query.where(events.c.city == chosen.city)
        if not absorbed:
            query = query.where(events.c.merged_into.is_(None))
        after = decode_cursor(cursor, "", TIME_PLACE) if cursor else None
        query = _paged(query, events.c.updated_at, events.c.id, after, backwards=backwards).limit(limit + 1)
        with self.db.read() as sql:
            found = sql.execute(query).all()
            items = self.listed(sql, [(row.id, 0) for row in found[:limit]])
        last = found[:limit][-1] if len(found) > limit else None
        return EventPage(items=items, next_cursor=encode_cursor("", (last.updated_at, last.id)) if last else None)

    def list_by_relevance(self, chosen: EventFilter, *, limit: int = 20, cursor: str | None = None) -> EventPage:
        """A page of the matching events, most relevant first; each at its first occurrence that matches."""
        searched = parse_query(chosen.q or "")
        if searched is None:
            raise UsageError("Sorting by relevance needs a search. Set q, or choose another sort.")
        after = decode_cursor(cursor, "", (int, *TIME_PLACE)) if cursor else None
        far = relevance_distance(searched, is_sqlite=self.db.is_sqlite).label("distance")
        queries = [_ranked(query, far, after, limit + 1) for query in self.time_queries(chosen, None, None)]
        with self.db.read() as sql:
            found = [row for query in queries for row in sql.execute(query)] if searched.wanted else []
            found.sort(key=lambda row: (row.distance, row.starts_at, row.event_id))
            rows = found[:limit]
            items = self.listed(sql, [(row.event_id, row.number) for row in rows])
        last = rows[-1] if len(found) > limit else None
        more = encode_cursor("", (last.distance, last.starts_at, last.event_id)) if last else None
        return EventPage(items=items, next_cursor=more)

    def count(self, chosen: EventFilter | None = None) -> int:
        """The number of events of a list."""
        with self.db.read() as sql:
            queries = self.time_queries(chosen or EventFilter(), None, None)
            return sum(
                sql.execute(select(func.count()).select_from(query.order_by(None).subquery())).scalar_one() for query in queries
            )

    def last_change(self) -> datetime | None:
        """When an event was last changed; None without events."""
        with self.db.read() as sql:
            at: datetime | None = sql.execute(select(func.max(events.c.updated_at, type_=events.c.updated_at.type))).scalar()
            return at

    def get(self, event_id: int) -> CalendarEvent:
        with self.db.read() as sql:
            row = event_rows(sql, [event_id]).get(event_id)
        if row is None:
            raise UsageError("Event {id} not found. `tadoru events list --all` lists all events.", id=event_id)
        return event_from_row(row)

    def titled(self, title_clean: str, since: date) -> tuple[CalendarEvent, ...]:
        """The events with this cleaned title in the year from a day on; at most two, because only one is certain."""
        span = events.c.local_date.between(since, since + timedelta(days=366))
        query = select(events).where(span, events.c.title_clean == title_clean, events.c.status == EventStatus.ACTIVE.value)
        with self.db.read() as sql:
            return tuple(event_from_row(row) for row in sql.execute(query.limit(2)).mappings())

    def times(self, event_id: int) -> tuple[EventTime, ...]:
        query = select(occurrences).where(occurrences.c.event_id == event_id).order_by(occurrences.c.number)
        with self.db.read() as sql:
            return tuple(event_time_from_row(row) for row in sql.execute(query).mappings())

    def provenance(self, event_id: int) -> EventProvenance:
        """The sightings, owners, merges, reviews and history of an event."""
        found = self.get(event_id)
        times = self.times(event_id)
        with self.db.read() as sql:
            owners = sql.execute(select(field_owners).where(field_owners.c.event_id == event_id)).mappings()
            names = ("owner", "source_id", "who", "at")
            owned = {row["field"]: FieldOwner(**{name: row[name] for name in names}) for row in owners}
            part = or_(merges.c.kept_id == event_id, merges.c.absorbed_id == event_id)
            merged = sql.execute(select(merges).where(part).order_by(merges.c.id)).mappings().all()
            about = select(review_candidates.c.review_id).where(review_candidates.c.event_id == event_id)
            items = sql.execute(select(reviews).where(reviews.c.id.in_(about)).order_by(reviews.c.id)).mappings().all()
            past = select(event_history).where(event_history.c.event_id == event_id).order_by(event_history.c.id)
            return EventProvenance(
                event=found,
                occurrences=times,
                owners=owned,
                sightings=tuple(sightings_of(sql, [event_id]).get(event_id, ())),
                merges=tuple(merge_from_row(row) for row in merged),
                reviews=tuple(review_from_row(row) for row in items),
                history=tuple({name: row[name] for name in ("at", "by", "changes")} for row in sql.execute(past).mappings()),
            )

    def iterate(self, chosen: EventFilter, *, limit: int | None = None) -> Iterator[EventRecord]:
        """The events of a list in the order of time, from one snapshot of the database, a few hundred at a time."""
        with self.db.read() as sql:
            queries = self.time_queries(chosen, None, limit)
            streams = [sql.execute(query, execution_options={"yield_per": 1000}) for query in queries]
            merged = heapq.merge(*streams, key=lambda row: (row.starts_at, row.event_id))
            for part in in_batches(islice(merged, limit)):
                yield from _load_records(sql, [(row.event_id, row.number) for row in part])

    def record(self, event_id: int) -> EventRecord | None:
        """One event in any state; None if there is none."""
        with self.db.read() as sql:
            return next(iter(_load_records(sql, [(event_id, 0)])), None)

    def records(self, event_ids: Iterable[int]) -> dict[int, EventRecord]:
        """Several events by id; missing ones are left out."""
        with self.db.read() as sql:
            return {one.event.id: one for one in _load_records(sql, [(event_id, 0) for event_id in event_ids])}

    def zones(self, chosen: EventFilter) -> tuple[ZoneUse, ...]:
        """The time zones of the events of a list, by name."""
        queries = [query.order_by(None).subquery() for query in self.time_queries(chosen, None, None)]
        wanted = or_(*(events.c.id.in_(select(one.c.event_id)) for one in queries))
        last = func.max(events.c.last_day_over, type_=events.c.last_day_over.type)
        first = func.min(events.c.starts_at, type_=events.c.starts_at.type)
        query = select(events.c.timezone, first, last).where(wanted).group_by(events.c.timezone).order_by(events.c.timezone)
        with self.db.read() as sql:
            return tuple(ZoneUse(name=name, first=begins, last=ends) for name, begins, ends in sql.execute(query))

    def cities(self) -> tuple[str, ...]:
        """All cities of events, including hidden ones."""
        return self._remembered("cities", _CITIES)

    def categories(self) -> tuple[str, ...]:
        """All categories of active events that are not archived."""
        return self._remembered("categories", _CATEGORIES)

    def _remembered(self, what: str, query: Select[Any]) -> tuple[str, ...]:
        with self.db.read() as sql:
            now, newest = self.db.clock.monotonic(), _newest(sql)
            until, state, names = self._names.get(what, (0.0, (), ()))
            if newest != state or now >= until:
                names = tuple(sql.execute(query).scalars())
                self._names[what] = (now + CACHE_SECONDS, newest, names)
            return names

    def time_queries(
        self, chosen: EventFilter, after: tuple[datetime, int] | None, limit: int | None, *, backwards: bool = False
    ) -> Sequence[Select[Any]]:
        """The queries for events that start in the period and for those that are ongoing when it starts."""
        searched = parse_query(chosen.q) if isinstance(chosen.q, str) else None
        times: Any = occurrences
        words: Sequence[ColumnElement[bool]] = ()
        if searched is not None:
            times, words = self._search_plan(searched, is_whole=limit is None)
        starts = select(times.c.event_id, times.c.number, times.c.starts_at).join(events, events.c.id == times.c.event_id)
        starts = starts.where(*self._conditions(chosen), *words, events.c.merged_into.is_(None))
        walk = _PageRequest(after, limit, backwards)
        if chosen.since is None:
            return [self._narrowed(starts, times, chosen, walk).where(times.c.number == 0)]
        later = self._narrowed(starts, times, chosen, walk)
        later = later.where(times.c.local_date >= chosen.since, times.c.starts_at >= earliest_start(chosen.since))
        under_way = self._narrowed(starts, times, chosen, walk, by_index=False).where(
            times.c.local_date < chosen.since, times.c.last_date >= chosen.since, times.c.last_date > times.c.local_date
        )
        first = _is_first(times, chosen.since)
        return [later.where(first), under_way.where(first)]

    def _narrowed(
        self, query: Select[Any], times: Any, chosen: EventFilter, walk: _PageRequest, *, by_index: bool = True
    ) -> Select[Any]:
        """Limit a query to the filter's place and period, in order. A list follows the index of its order. Ongoing events are
        found by their last day, where SQLite would choose the wrong index and read everything a city ever had."""
        city, at = times.c.city, times.c.starts_at
        if not by_index and self.db.is_sqlite:
            city, at = _without_index(city), _without_index(at)
        if chosen.city is not None:
            query = query.where(city == chosen.city)
        if chosen.until is not None:
            query = query.where(times.c.local_date <= chosen.until, at < latest_start(chosen.until))
        return _paged(query, at, times.c.event_id, walk.after, backwards=walk.backwards).limit(walk.limit)

    def _search_plan(self, searched: SearchQuery, *, is_whole: bool) -> tuple[FromClause, Sequence[ColumnElement[bool]]]:
        """The occurrences to list and the conditions on them. PostgreSQL chooses the best plan, SQLite is given one."""
        if not searched.wanted or not self.db.is_sqlite:
            return occurrences, [contains_words(searched, is_sqlite=self.db.is_sqlite)]
        with self.db.read() as sql:
            match match_frequency(sql, searched):
                case MatchFrequency.FEW:
                    return matching_occurrences(searched), []
                case MatchFrequency.COMMON if not is_whole:
                    return occurrences, [text_contains(searched)]
                case _:
                    return occurrences, [occurrence_matches(searched)]

    def _conditions(self, chosen: EventFilter) -> Sequence[ColumnElement[bool]]:
        """The conditions on the event itself."""
        wanted: list[ColumnElement[bool]] = [events.c.status.in_([one.value for one in chosen.statuses])]
        if chosen.category is not None:
            wanted.append(events.c.category == chosen.category)
        if chosen.source_id is not None:
            is_listed = exists().where(sightings.c.event_id == events.c.id, sightings.c.source_id == chosen.source_id)
            wanted.append(is_listed)
        if chosen.free:
            wanted.append(costs_nothing())
        if chosen.updated_since is not None:
            wanted.append(events.c.updated_at >= chosen.updated_since)
        for given, column in ((chosen.archived, events.c.archived_at), (chosen.vanished, events.c.vanished_at)):
            if given is not None:
                wanted.append(column.is_not(None) if given else column.is_(None))
        if chosen.ids is not None:
            wanted.append(events.c.id.in_(chosen.ids))
        return wanted + geo_conditions(chosen.box, chosen.near, exact=self.db.has_postgis)

    def listed(self, sql: Connection, places: Sequence[tuple[int, int]]) -> tuple[ListedEvent, ...]:
        """Load events with the given occurrence numbers."""
        rows = event_rows(sql, [event_id for event_id, _ in places])
        # Not pairs: SQLite would scan the whole table for a list of pairs.
        query = select(occurrences).where(occurrences.c.number.in_({number for _, number in places}))
        wanted = set(places)
        times = {
            row["event_id"]: event_time_from_row(row)
            for row in select_in(sql, query, occurrences.c.event_id, rows)
            if (row["event_id"], row["number"]) in wanted
        }
        return tuple(ListedEvent(event=event_from_row(rows[event_id]), time=times.get(event_id)) for event_id, _ in places)


def _load_records(sql: Connection, places: list[tuple[int, int]]) -> list[EventRecord]:
    rows = event_rows(sql, [event_id for event_id, _ in places])
    times: dict[int, list[EventTime]] = {}
    order = (occurrences.c.event_id, occurrences.c.number)
    for row in select_in(sql, select(occurrences).order_by(*order), occurrences.c.event_id, rows):
        times.setdefault(row["event_id"], []).append(event_time_from_row(row))
    found = []
    for event_id, number in places:
        if event_id in rows:
            every = tuple(times.get(event_id, ()))
            found.append(EventRecord(event=event_from_row(rows[event_id]), time=every[number] if every else None, times=every))
    return found


def _is_first(times: FromClause, since: date) -> ColumnElement[bool]:
    """No earlier occurrence of the event matches too."""
    earlier = occurrences.alias("earlier")
    same = and_(earlier.c.event_id == times.c.event_id, earlier.c.number < times.c.number)
    return or_(times.c.number == 0, ~exists().where(same, earlier.c.last_date >= since))


def _without_index(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column that SQLite does not look up in an index (unary plus)."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def earliest_start(day: Any) -> Any:
    """No event of this day or later starts before this time. A bind parameter stays one (`page_rows`)."""
    return _bind("begin") if isinstance(day, BindParameter) else datetime.combine(day, time(), UTC) - _MAX_ZONE_OFFSET


def latest_start(day: Any) -> Any:
    """No event of this day or earlier starts at or after this time."""
    return (
        _bind("end")
        if isinstance(day, BindParameter)
        else datetime.combine(day, time(), UTC) + timedelta(days=1) + _MAX_ZONE_OFFSET
    )


def _bind(name: str) -> BindParameter[Any]:
    return bindparam(name, type_=occurrences.c.starts_at.type, required=False)


def _paged(
    query: Select[Any], at: ColumnElement[Any], number: ColumnElement[Any], after: tuple[Any, Any] | None, *, backwards: bool
) -> Select[Any]:
    """Order by a time and then by number, starting after a position if there is one."""
    if after is not None:
        here, there = tuple_(at, number), tuple_(*_bound(after, at))
        query = query.where(here < there if backwards else here > there)
    return query.order_by(at.desc(), number.desc()) if backwards else query.order_by(at, number)


def _bound(place: tuple[Any, Any], column: ColumnElement[Any]) -> tuple[Any, Any]:
    if isinstance(place[0], BindParameter):
        return place
    return literal(place[0], type_=column.type), literal(place[1])


TIME_PLACE = (datetime, int)
"""The keys of a cursor: a time, and the number of an event."""
_TITLE_WHOLE, _TITLE_PART, _WHOLE, _PART = 0, 2, 4, 6
"""The distance of a word, by where it occurs."""


def _ranked(query: Select[Any], far: Label[int], after: tuple[int, datetime, int] | None, limit: int) -> Select[Any]:
    """Occurrences ordered by the relevance of their events, starting after a position if there is one."""
    found = query.order_by(None).add_columns(far).subquery()
    order = (found.c.distance, found.c.starts_at, found.c.event_id)
    wanted = select(found)
    if after is not None:
        place = (literal(after[0]), literal(after[1], type_=occurrences.c.starts_at.type), literal(after[2]))
        wanted = wanted.where(tuple_(*order) > tuple_(*place))
    return wanted.order_by(*order).limit(limit)


def relevance_distance(searched: SearchQuery, *, is_sqlite: bool) -> ColumnElement[int]:
    """How far an event is from the query: 0 if its title is exactly the query."""
    text = events.c.search_text
    position = func.instr if is_sqlite else func.strpos

    def at(line: str) -> ColumnElement[int]:
        found: ColumnElement[int] = position(text, literal(line, Text()))
        return found

    end_of_title = position(text.concat(literal(FIELD_SEPARATOR, Text())), literal(FIELD_SEPARATOR, Text()))

    def far(phrase: SearchPhrase) -> ColumnElement[int]:
        whole, anyhow = at(whole_word_line(phrase)), at(phrase.line)
        return case(
            (whole.between(1, end_of_title), _TITLE_WHOLE), (anyhow.between(1, end_of_title), _TITLE_PART),
            (whole > 0, _WHOLE), else_=_PART,
        )  # fmt: skip

    title = " ".join(whole_word_line(phrase).strip() for phrase in searched.wanted)
    is_title = func.substr(text.concat(literal(FIELD_SEPARATOR, Text())), 1, len(title) + 3) == literal(
        f" {title} {FIELD_SEPARATOR}", Text()
    )
    just_this: ColumnElement[int] = case((is_title, 0), else_=1)
    return reduce(add, map(far, searched.wanted), just_this)


def whole_word_line(phrase: SearchPhrase) -> str:
    """The text that matches whole words only; for an unspaced run, where the run ends with them."""
    last = phrase.words[-1]
    # Pairs of a run, of which a query omits the last character (`search_text`).
    ends = f" {last[1]}" if not phrase.is_open and phrase.is_run else ""
    return f" {' '.join(phrase.words)}{ends} "
