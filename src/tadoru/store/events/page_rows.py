"""A page of a list as bare rows, for who gives out thousands of them a second.

The statements are those of `listing`, with names in the place of values: one is built for each kind of question and kept, so that
nothing is built or compiled again, and the values come as the driver has them. What is made of them is the caller's affair
(`jobs.events.publish.page`).
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Select, bindparam, type_coerce
from sqlalchemy.types import NullType

from tadoru.store.events.listing import EventFilter, Listing, begin_of, cursor_of, end_of, place_of
from tadoru.store.events.schema import events, occurrences

EVENT_COLUMNS = tuple(
    "id title description timezone venue address city lat lon category price organizer url image source_url source_id licence "
    "terms_url dedupe_key recurrence when_note uid sequence status created_at updated_at last_seen cancelled_at vanished_at "
    "archived_at times extra".split()
)
TIME_COLUMNS = ("starts_at", "ends_at", "has_time")
_NAMED = ("city", "since", "until", "category")
"""What of a filter has a name in the statements that are kept; the rest of it is as it is by default."""
_kept: WeakKeyDictionary[Listing, dict[tuple[Any, ...], list[Select[Any]]]] = WeakKeyDictionary()


class RowPage(NamedTuple):
    """A part of a list: the columns of each event, then those of the time it is listed for."""

    rows: list[Any]
    next_cursor: str | None


def is_plain(chosen: EventFilter) -> bool:
    """Is this a kind of question whose statements are kept?"""
    plain = EventFilter()
    free = {*_NAMED, "archived"}
    return all(getattr(chosen, one.name) == getattr(plain, one.name) for one in fields(EventFilter) if one.name not in free)


def page_rows(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None) -> RowPage:
    """The rows of a page in the order of time, of a question that `is_plain`."""
    after = place_of(cursor) if cursor else None
    given: dict[str, Any] = {name: value for name in _NAMED if (value := getattr(chosen, name)) is not None}
    shape = (*given, chosen.archived, after is not None)
    given["limit"] = limit + 1
    if after is not None:
        given["after_at"], given["after_id"] = after
    if chosen.since is not None:
        given["begin"] = begin_of(chosen.since)
    if chosen.until is not None:
        given["end"] = end_of(chosen.until)
    kept = _kept.setdefault(store, {})
    if shape not in kept:
        kept[shape] = _statements(store, chosen, is_further=after is not None)
    with store.read() as sql:
        found = [row for query in kept[shape] for row in sql.execute(query, given)]
    place = len(EVENT_COLUMNS)
    found.sort(key=lambda row: (row[place], row[0]))
    rows = found[:limit]
    return RowPage(rows, cursor_of(moment(rows[-1][place]), rows[-1][0]) if len(found) > limit else None)


def moment(value: Any) -> datetime:
    """A point in time as the driver has it: text of SQLite, aware of PostgreSQL."""
    at: datetime = datetime.fromisoformat(value).replace(tzinfo=UTC) if isinstance(value, str) else value.astimezone(UTC)
    return at


def _statements(store: Listing, chosen: EventFilter, *, is_further: bool) -> list[Select[Any]]:
    """The queries of a list with names in the place of values."""
    named: dict[str, Any] = {name: bindparam(name) for name in _NAMED if getattr(chosen, name) is not None}
    at = bindparam("after_at", type_=occurrences.c.starts_at.type)
    after: Any = (at, bindparam("after_id", type_=occurrences.c.event_id.type)) if is_further else None
    limit: Any = bindparam("limit", type_=events.c.id.type)
    bare = NullType()
    columns = [type_coerce(events.c[name], bare) for name in EVENT_COLUMNS]
    columns += [type_coerce(occurrences.c[name], bare) for name in TIME_COLUMNS]
    queries: list[Any] = list(store.time_queries(EventFilter(**named, archived=chosen.archived), after, limit))
    return [query.with_only_columns(*columns) for query in queries]
