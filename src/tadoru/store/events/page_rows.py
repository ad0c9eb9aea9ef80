"""A page of a list as bare rows, for who gives out thousands of them a second.

The statements are those of `listing`, with names in the place of values: one is built for each kind of question and kept, so that
nothing is built or compiled again, and the values come as the driver has them. On SQLite they are handed to the driver itself,
which takes a fifth of the time; `AtOnce` spares the thread as well. What is made of the rows is the caller's affair
(`jobs.events.publish.page`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, fields
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
STEPS, TURNS = 20_000, 4
"""What a moment is: so many steps of SQLite's machine, so often. Together about five milliseconds."""
_NAMED = ("city", "since", "until", "category")
"""What of a filter has a name in the statements that are kept; the rest of it is as it is by default."""
_PLAIN = tuple(
    (one.name, getattr(EventFilter(), one.name)) for one in fields(EventFilter) if one.name not in {*_NAMED, "archived"}
)
_kept: WeakKeyDictionary[Listing, dict[tuple[Any, ...], list[Ready]]] = WeakKeyDictionary()


class RowPage(NamedTuple):
    """A part of a list: the columns of each event, then those of the time it is listed for."""

    rows: list[Any]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A statement with names in the place of values, and the same as SQLite's driver takes it."""

    query: Select[Any]
    text: str
    order: tuple[str, ...]
    """The names in the order of the question marks."""
    fixed: dict[str, Any]
    """What is the same each time."""
    written: dict[str, Callable[[Any], Any]]
    """How the driver writes the values that it does not take as they are."""

    def values(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """What stands for the question marks."""
        written = self.written
        every = self.fixed | {name: written[name](value) if name in written else value for name, value in given.items()}
        return tuple([every[name] for name in self.order])


def is_plain(chosen: EventFilter) -> bool:
    """Is this a kind of question whose statements are kept?"""
    return all(getattr(chosen, name) == value for name, value in _PLAIN)


def page_rows(store: Listing, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False) -> RowPage:
    """The rows of a page in the order of time or `backwards`, of a question that `is_plain`."""
    statements, given = _question(store, chosen, limit, cursor, backwards=backwards)
    found = _by_driver(store, statements, given) if store.is_sqlite else _by_engine(store, statements, given)
    return _page(found, limit, backwards=backwards)


class AtOnce:
    """A page of a list in a moment or not at all, for a thread that nothing may hold up: of a file only, on a connection of its
    own. Whoever asks from several threads makes them wait for one another, which costs more than the question."""

    def __init__(self, store: Listing, *, steps: int = STEPS) -> None:
        self._store = store
        with store.translated():
            self._kept = store.engine.raw_connection()
            link = self._kept.driver_connection
            assert isinstance(link, sqlite3.Connection)
            link.execute("PRAGMA busy_timeout = 0")
        self._link = link
        self._turns = 0
        link.set_progress_handler(self._is_too_long, steps)

    def page_rows(self, chosen: EventFilter, *, limit: int, cursor: str | None, backwards: bool = False) -> RowPage | None:
        """As `page_rows` would answer; None when it takes longer than a moment, or somebody has to be waited for."""
        statements, given = _question(self._store, chosen, limit, cursor, backwards=backwards)
        self._turns = 0
        with self._store.translated():
            try:
                self._link.execute("BEGIN")
                found = [row for one in statements for row in self._link.execute(one.text, one.values(given)).fetchall()]
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname.startswith(("SQLITE_INTERRUPT", "SQLITE_BUSY")):
                    return None
                raise
            finally:
                if self._link.in_transaction:
                    self._turns = 0  # To end it is not part of the question.
                    self._link.execute("ROLLBACK")
        return _page(found, limit, backwards=backwards)

    def _is_too_long(self) -> bool:
        # The driver counts the steps of a statement over all the times that it ran: the first turn is another's.
        self._turns += 1
        return self._turns > TURNS

    def close(self) -> None:
        """The connection goes: its settings are nobody else's."""
        self._kept.invalidate()


def _question(
    store: Listing, chosen: EventFilter, limit: int, cursor: str | None, *, backwards: bool
) -> tuple[list[Ready], dict[str, Any]]:
    """The statements, and what their names stand for."""
    after = place_of(cursor) if cursor else None
    given: dict[str, Any] = {name: value for name in _NAMED if (value := getattr(chosen, name)) is not None}
    shape = (*given, chosen.archived, after is not None, backwards)
    given["limit"] = limit + 1
    if after is not None:
        given["after_at"], given["after_id"] = after
    if chosen.since is not None:
        given["begin"] = begin_of(chosen.since)
    if chosen.until is not None:
        given["end"] = end_of(chosen.until)
    kept = _kept.setdefault(store, {})
    if shape not in kept:
        kept[shape] = [
            _ready(store, query) for query in _statements(store, chosen, is_further=after is not None, backwards=backwards)
        ]
    return kept[shape], given


def _page(found: list[Any], limit: int, *, backwards: bool) -> RowPage:
    place = len(EVENT_COLUMNS)
    found.sort(key=lambda row: (row[place], row[0]), reverse=backwards)
    rows = found[:limit]
    return RowPage(rows, cursor_of(moment(rows[-1][place]), rows[-1][0]) if len(found) > limit else None)


def _by_driver(store: Listing, statements: list[Ready], given: dict[str, Any]) -> list[Any]:
    with store.translated(), closing(store.engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("BEGIN")  # One view for all of them; giving the connection back ends it.
        found: list[Any] = []
        for one in statements:
            found += cursor.execute(one.text, one.values(given)).fetchall()
        return found


def _by_engine(store: Listing, statements: list[Ready], given: dict[str, Any]) -> list[Any]:
    with store.read() as sql:
        return [row for one in statements for row in sql.execute(one.query, given)]


def moment(value: Any) -> datetime:
    """A point in time as the driver has it: text of SQLite, aware of PostgreSQL."""
    at: datetime = datetime.fromisoformat(f"{value}+00:00") if isinstance(value, str) else value.astimezone(UTC)
    return at


def _ready(store: Listing, query: Select[Any]) -> Ready:
    dialect = store.engine.dialect
    compiled: Any = query.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    writers = {name: bind.type.bind_processor(dialect) for name, bind in compiled.binds.items() if not bind.expanding}
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    return Ready(
        query=query, text=str(compiled), order=tuple(compiled.positiontup or ()), fixed=fixed,
        written={name: write for name, write in writers.items() if write is not None and name not in fixed},
    )  # fmt: skip


def _statements(store: Listing, chosen: EventFilter, *, is_further: bool, backwards: bool) -> list[Select[Any]]:
    """The queries of a list with names in the place of values."""
    named: dict[str, Any] = {name: bindparam(name, required=False) for name in _NAMED if getattr(chosen, name) is not None}
    at = bindparam("after_at", required=False, type_=occurrences.c.starts_at.type)
    after: Any = (at, bindparam("after_id", required=False, type_=occurrences.c.event_id.type)) if is_further else None
    limit: Any = bindparam("limit", required=False, type_=events.c.id.type)
    bare = NullType()
    columns = [type_coerce(events.c[name], bare) for name in EVENT_COLUMNS]
    columns += [type_coerce(occurrences.c[name], bare) for name in TIME_COLUMNS]
    asked = EventFilter(**named, archived=chosen.archived)
    queries: list[Any] = list(store.time_queries(asked, after, limit, backwards=backwards))
    return [query.with_only_columns(*columns) for query in queries]
