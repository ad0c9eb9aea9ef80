"""Reads one page of a list as bare rows, for callers that serve thousands of pages a second.

The statements are those of `listing` with bind parameters, compiled once for each shape of filter and cached. On SQLite
they are passed to the driver directly, which takes a fifth of the time; `FastPageReader` also avoids the thread.
`jobs.events.publish.list_pages` turns the rows into JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Select, bindparam, type_coerce
from sqlalchemy.types import NullType

from tadoru.store.calendar.listing import (
    TIME_PLACE,
    EventFilter,
    EventQueries,
    earliest_start,
    latest_start,
)
from tadoru.store.calendar.schema import events, occurrences
from tadoru.store.cursors import decode_cursor, encode_cursor

EVENT_COLUMNS = tuple(
    "id title description timezone venue address city lat lon category price organizer url image source_url source_id licence "
    "terms_url dedupe_key recurrence when_note uid sequence status created_at updated_at last_seen cancelled_at vanished_at "
    "archived_at times extra".split()
)
TIME_COLUMNS = ("starts_at", "ends_at", "has_time")
PROGRESS_STEPS, MAX_PROGRESS_CALLS = 20_000, 4
"""The time limit of `FastPageReader`: steps of SQLite's virtual machine between calls, and calls. Together about five
milliseconds."""
_NAMED = ("city", "since", "until", "category")
"""The fields of a filter that are bind parameters; all others must have their default."""
_DEFAULTS = tuple(
    (one.name, getattr(EventFilter(), one.name)) for one in fields(EventFilter) if one.name not in {*_NAMED, "archived"}
)
_prepared_queries: WeakKeyDictionary[EventQueries, dict[tuple[Any, ...], list[PreparedQuery]]] = WeakKeyDictionary()


class RowPage(NamedTuple):
    """One page of a list: the columns of each event, then those of its occurrence."""

    rows: list[Any]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """A compiled statement with bind parameters, also in the form of SQLite's driver."""

    query: Select[Any]
    text: str
    order: tuple[str, ...]
    """The names of the parameters in the order of the question marks."""
    fixed: dict[str, Any]
    """Values that are always the same."""
    written: dict[str, Callable[[Any], Any]]
    """Converters for values that the driver does not accept as they are."""

    def values(self, given: dict[str, Any]) -> list[Any]:
        """The values for the question marks."""
        fixed = self.fixed
        return [given[name] if name in given else fixed[name] for name in self.order]


def is_simple_filter(chosen: EventFilter) -> bool:
    """Whether a filter uses only the fields with cached statements."""
    return all(getattr(chosen, name) == value for name, value in _DEFAULTS)


def read_page_rows(
    queries: EventQueries, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False
) -> RowPage:
    """The rows of a page in the order of time, or `backwards`, for a filter that `is_simple_filter`."""
    statements, given = _prepare(queries, chosen, limit, cursor, backwards=backwards)
    found = _by_driver(queries, statements, given) if queries.db.is_sqlite else _by_engine(queries, statements, given)
    return _page(found, limit, backwards=backwards)


class FastPageReader:
    """Reads a page within a short time or not at all, for threads that must not block. SQLite files only, on its own connection.
    Use it from one thread: several would wait for each other, which costs more than the query."""

    def __init__(self, queries: EventQueries, *, steps: int = PROGRESS_STEPS) -> None:
        self._queries = queries
        with queries.db.translated_errors():
            self._kept = queries.db.engine.raw_connection()
            link = self._kept.driver_connection
            assert isinstance(link, sqlite3.Connection)
            link.execute("PRAGMA busy_timeout = 0")
        self._link = link
        self._turns = 0
        link.set_progress_handler(self._is_too_long, steps)

    def page_rows(self, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False) -> RowPage | None:
        """The result of `read_page_rows`; None if it takes too long or would have to wait for a lock."""
        statements, given = _prepare(self._queries, chosen, limit, cursor, backwards=backwards)
        self._turns = 0
        with self._queries.db.translated_errors():
            try:
                self._link.execute("BEGIN")
                found = [row for one in statements for row in self._link.execute(one.text, one.values(given)).fetchall()]
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname.startswith(("SQLITE_INTERRUPT", "SQLITE_BUSY")):
                    return None
                raise
            finally:
                if self._link.in_transaction:
                    self._turns = 0  # Ending the transaction does not count.
                    self._link.execute("ROLLBACK")
        return _page(found, limit, backwards=backwards)

    def _is_too_long(self) -> bool:
        # The driver counts the steps of a statement over all its executions: the first call may belong to another one.
        self._turns += 1
        return self._turns > MAX_PROGRESS_CALLS

    def close(self) -> None:
        """Close the connection instead of returning it to the pool, because its settings differ."""
        self._kept.invalidate()


def _prepare(
    queries: EventQueries, chosen: EventFilter, limit: int, cursor: str | None, *, backwards: bool
) -> tuple[list[PreparedQuery], dict[str, Any]]:
    """The statements and their parameters."""
    after = decode_cursor(cursor, "", TIME_PLACE) if cursor else None
    given: dict[str, Any] = {name: value for name in _NAMED if (value := getattr(chosen, name)) is not None}
    shape = (*given, chosen.archived, after is not None, backwards)
    given["limit"] = limit + 1
    if after is not None:
        given["after_at"], given["after_id"] = after
    if chosen.since is not None:
        given["begin"] = earliest_start(chosen.since)
    if chosen.until is not None:
        given["end"] = latest_start(chosen.until)
    kept = _prepared_queries.setdefault(queries, {})
    if shape not in kept:
        kept[shape] = [
            _compile(queries, query) for query in _statements(queries, chosen, is_further=after is not None, backwards=backwards)
        ]
    if queries.db.is_sqlite:  # Both statements take the same values, so each is converted once.
        writers = {name: write for one in kept[shape] for name, write in one.written.items()}
        given = {name: writers[name](value) if name in writers else value for name, value in given.items()}
    return kept[shape], given


def _page(found: list[Any], limit: int, *, backwards: bool) -> RowPage:
    place = len(EVENT_COLUMNS)
    found.sort(key=lambda row: (row[place], row[0]), reverse=backwards)
    rows = found[:limit]
    return RowPage(rows, encode_cursor("", (to_utc(rows[-1][place]), rows[-1][0])) if len(found) > limit else None)


def _by_driver(queries: EventQueries, statements: list[PreparedQuery], given: dict[str, Any]) -> list[Any]:
    with queries.db.translated_errors(), closing(queries.db.engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("BEGIN")  # One snapshot for all statements; returning the connection ends it.
        found: list[Any] = []
        for one in statements:
            found += cursor.execute(one.text, one.values(given)).fetchall()
        return found


def _by_engine(queries: EventQueries, statements: list[PreparedQuery], given: dict[str, Any]) -> list[Any]:
    with queries.db.read() as sql:
        return [row for one in statements for row in sql.execute(one.query, given)]


def to_utc(value: Any) -> datetime:
    """A time as the driver returns it: text from SQLite, aware from PostgreSQL."""
    at: datetime = datetime.fromisoformat(f"{value}+00:00") if isinstance(value, str) else value.astimezone(UTC)
    return at


def _compile(queries: EventQueries, query: Select[Any]) -> PreparedQuery:
    dialect = queries.db.engine.dialect
    compiled: Any = query.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    writers = {name: bind.type.bind_processor(dialect) for name, bind in compiled.binds.items() if not bind.expanding}
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    return PreparedQuery(
        query=query, text=str(compiled), order=tuple(compiled.positiontup or ()), fixed=fixed,
        written={name: write for name, write in writers.items() if write is not None and name not in fixed},
    )  # fmt: skip


def _statements(queries: EventQueries, chosen: EventFilter, *, is_further: bool, backwards: bool) -> list[Select[Any]]:
    """The queries of a list with bind parameters."""
    named: dict[str, Any] = {name: bindparam(name, required=False) for name in _NAMED if getattr(chosen, name) is not None}
    at = bindparam("after_at", required=False, type_=occurrences.c.starts_at.type)
    after: Any = (at, bindparam("after_id", required=False, type_=occurrences.c.event_id.type)) if is_further else None
    limit: Any = bindparam("limit", required=False, type_=events.c.id.type)
    bare = NullType()
    columns = [type_coerce(events.c[name], bare) for name in EVENT_COLUMNS]
    columns += [type_coerce(occurrences.c[name], bare) for name in TIME_COLUMNS]
    bound = EventFilter(**named, archived=chosen.archived)
    every: Sequence[Any] = queries.time_queries(bound, after, limit, backwards=backwards)
    return [query.with_only_columns(*columns) for query in every]
