"""Copies of whole databases: random rows of every table arrive as they were, whatever happens to the copying in the middle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import CheckConstraint, Column, Table, insert, text, update
from sqlalchemy.types import BigInteger, Double, LargeBinary

from tadoru.errors import StoreError
from tadoru.store.calendar.backup import copy_calendar
from tadoru.store.calendar.schema import (
    BooleanFlag,
    JsonValue,
    LocalDate,
    SafeText,
    UtcDateTime,
    events,
    metadata,
    source_history,
    sources,
)
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import Collector
from tests.contract.events.dumping import dump
from tests.contract.events.matching import PlainMatcher, draft, many
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer
from tests.support.properties import examples

NewDatabase = Callable[[str], str]

_NUMBERS = st.integers(-(2**63), 2**63 - 1)
_MOMENTS = st.datetimes(timezones=st.just(UTC))
_TEXTS = st.text(st.characters(), max_size=12) | st.sampled_from(["", "\x00", "a\x00b", "\ud800", "祭り\udfff", "\\N", "\t\n\\."])
_REALS = st.floats(allow_nan=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.integers() | st.floats(-1e15, 1e15) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)
_KINDS: tuple[tuple[type, st.SearchStrategy[Any]], ...] = (
    (SafeText, _TEXTS),
    (UtcDateTime, _MOMENTS),
    (LocalDate, st.dates()),
    (BooleanFlag, st.booleans()),
    (JsonValue, _JSON.filter(lambda value: value is not None)),
    (LargeBinary, st.binary(max_size=12)),
    (Double, _REALS),
    (BigInteger, _NUMBERS),
)
_SETTLED = {
    "events.status": st.just("hidden"),
    "crawls.state": st.sampled_from(["queued", "paused", "stopped", "finished", "failed"]),
    "crawl_runs.ended_at": _MOMENTS,
}
"""What other columns of the row, or the copying itself, have a say in."""


def _values(table: Table, column: Column[Any], known: dict[str, list[int]]) -> st.SearchStrategy[Any]:
    """What a column can hold."""
    empty = st.none() if column.nullable else st.nothing()
    if (name := f"{table.name}.{column.name}") in _SETTLED:
        return _SETTLED[name]
    if column.foreign_keys:
        parent = next(iter(column.foreign_keys)).column.table.name
        return empty | st.sampled_from(known[parent]) if known.get(parent) else empty
    for check in (one for one in table.constraints | column.constraints if isinstance(one, CheckConstraint)):  # type: ignore[operator]
        said = re.fullmatch(rf"{column.name} IN \((.*)\)", str(check.sqltext))
        if said:
            return empty | st.sampled_from([word.strip("'") for word in said[1].split(",")])
    return empty | next(values for kind, values in _KINDS if isinstance(column.type, kind))


@st.composite
def _databases(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table that belong together."""
    known: dict[str, list[int]] = {}
    made: dict[str, list[dict[str, Any]]] = {}
    for table in metadata.sorted_tables:
        rows = []
        for number in range(draw(st.integers(0, 2))):
            row = {column.name: draw(_values(table, column, known)) for column in table.columns if _is_possible(column, known)}
            if len(row) < len(table.columns):
                continue
            for column in table.columns:
                if isinstance(column.type, SafeText) and row[column.name] is not None and not _is_chosen(table, column):
                    row[column.name] += f"#{number}"  # Some have to be unique; all may be.
            if "id" in table.c:
                row["id"] = draw(st.integers(1, 2**62).filter(lambda one, table=table: one not in known.get(table.name, ())))  # type: ignore[misc]
                known.setdefault(table.name, []).append(row["id"])
            elif any(_key(table, row) == _key(table, other) for other in rows):
                continue
            rows.append(row)
        made[table.name] = rows
    return made


def _is_possible(column: Column[Any], known: dict[str, list[int]]) -> bool:
    return column.nullable or not column.foreign_keys or bool(known.get(next(iter(column.foreign_keys)).column.table.name))


def _is_chosen(table: Table, column: Column[Any]) -> bool:
    checks = [str(one.sqltext) for one in (*table.constraints, *column.constraints) if isinstance(one, CheckConstraint)]
    return f"{table.name}.{column.name}" in _SETTLED or any(said.startswith(f"{column.name} IN") for said in checks)


def _key(table: Table, row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in table.primary_key.columns)


@pytest.fixture(scope="module")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with its tables, to copy."""
    file = tmp_path_factory.mktemp("empty") / "events.db"
    open_calendar(str(file), FakeClock()).close()
    return file


@pytest.fixture
def new_database(tmp_path: Path, empty_file: Path, request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """The address of one more empty database of either kind."""
    made: list[str] = []

    def new_database(kind: str) -> str:
        if kind == "sqlite":
            return str(shutil.copyfile(empty_file, tmp_path / f"{len(list(tmp_path.iterdir()))}.db"))
        made.append(request.getfixturevalue("postgres").new_database(request.getfixturevalue("ready_made")))
        return made[-1]

    yield new_database
    for address in made:
        request.getfixturevalue("postgres").drop(address)


def _emptied(store: CalendarStore) -> CalendarStore:
    names = ", ".join(table.name for table in metadata.sorted_tables)
    with store.db.write() as sql:
        if store.db.is_sqlite:
            for table in reversed(metadata.sorted_tables):
                sql.execute(table.delete())
            sql.execute(text("DELETE FROM sqlite_sequence"))
        else:
            sql.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    return store


def test_random_rows_of_every_table_survive_the_way_to_a_server_and_back(new_database: NewDatabase) -> None:
    stores = [open_calendar(new_database(kind), FakeClock()) for kind in ("sqlite", "postgresql", "sqlite")]

    @given(_databases())
    @examples(15, suppress_health_check=list(HealthCheck), deadline=None)
    def hold(rows: dict[str, list[dict[str, Any]]]) -> None:
        first, second, third = map(_emptied, stores)
        with first.db.write() as sql:
            for name, values in rows.items():
                if values:
                    sql.execute(insert(metadata.tables[name]), values)
        copy_calendar(first.db, second.db)
        copy_calendar(second.db, third.db)
        assert dump(second.db) == dump(first.db)
        assert dump(third.db) == dump(first.db)

    try:
        hold()
    finally:
        for store in stores:
            store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rows_that_name_later_ones_arrive(kind: str, store: CalendarStore, collect: Collector, new_database: NewDatabase) -> None:
    first, second = collect.source("A"), collect.source("B")
    collect.run(first, many(5))
    with store.db.write() as sql:
        sql.execute(update(sources).where(sources.c.id == first.id).values(depends_on=second.id))
        sql.execute(update(events).where(events.c.id == 1).values(merged_into=5))
        sql.execute(update(events).where(events.c.id == 5).values(merged_into=1))
    with closing(open_calendar(new_database(kind))) as other:
        copy_calendar(store.db, other.db)
        assert dump(other.db) == dump(store.db)


def test_what_no_database_keeps_is_dropped_on_the_way(new_database: NewDatabase, clock: FakeClock) -> None:
    file = new_database("sqlite")
    with closing(sqlite3.connect(file)) as sql:
        sql.execute(
            "INSERT INTO sources(id, name, type, url, enabled, created_at, updated_at, settings, allow_private)"
            " VALUES (1, 'a' || char(0) || 'b', 'ics', 'https://example.org', 1, ?, ?, ?, 0)",
            ("2031-01-01 00:00:00.000000", "2031-01-01 00:00:00.000000", '{"odd":[NaN,-Infinity,"\\u0000x\\ud800"]}'),
        )
        sql.commit()
    with closing(open_calendar(file, clock)) as old, closing(open_calendar(new_database("postgresql"), clock)) as new:
        copy_calendar(old.db, new.db)
        found = new.sources.get(1)
        assert (found.name, found.settings) == ("ab", {"odd": [None, None, "x"]})


def test_a_number_that_is_no_number_is_nothing_in_either_database(store: CalendarStore) -> None:
    with store.db.write() as sql:
        at = datetime(2031, 1, 1, tzinfo=UTC)
        sql.execute(insert(source_history).values(source_id=1, at=at, old=float("nan"), new=[float("inf"), 1.5]))
    assert [(row["old"], row["new"]) for row in dump(store.db, "source_history")["source_history"]] == [(None, [None, 1.5])]


COPY = """
import sys
from tadoru.store.calendar.backup import copy_calendar
from tadoru.store.calendar.store import open_calendar

def progress(table, rows):
    if table == "sightings" and rows:
        print("here", flush=True)
        sys.stdin.readline()

copy_calendar(open_calendar(sys.argv[1]).db, open_calendar(sys.argv[2]).db, progress)
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_that_was_killed_looks_empty_and_is_made_again(
    kind: str, new_database: NewDatabase, matcher: PlainMatcher, checkout: Path, clock: FakeClock
) -> None:
    file, target = new_database("sqlite"), new_database(kind)
    with closing(open_calendar(file, clock)) as old:
        collect = Collector(old, matcher)
        collect.run(collect.source(), [*many(20), draft(uid="x")])
        command = [sys.executable, "-c", COPY, file, target]
        path = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=path) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            process.send_signal(signal.SIGKILL)
        with closing(open_calendar(target, clock)) as new:
            assert not any(dump(new.db).values())
            copy_calendar(old.db, new.db)
            assert dump(new.db) == dump(old.db)


def test_nobody_writes_into_a_copy_before_it_is_whole(
    store: CalendarStore, collect: Collector, new_database: NewDatabase, clock: FakeClock
) -> None:
    collect.source("A")
    address = new_database("postgresql")
    with closing(open_calendar(address, clock)) as new, closing(open_calendar(address, clock, patience=0.05)) as other:

        def write(table: str, _rows: int) -> None:
            if table == "events":
                with pytest.raises(StoreError, match="locked by another process"):
                    other.sources.add({"name": "B", "type": "rss", "url": "https://example.org"}, by="ren")

        copy_calendar(store.db, new.db, write)
        assert [one.name for one in other.sources.list()] == ["A"]


def test_a_row_that_the_target_refuses_is_one_sentence(
    store: CalendarStore, collect: Collector, new_database: NewDatabase, clock: FakeClock, postgres: PostgresServer
) -> None:
    collect.source("A")
    address = new_database("postgresql")
    with postgres.connect(address.partition("@/")[2].partition("?")[0]) as sql:
        sql.execute("ALTER TABLE sources ADD CHECK (name <> 'A')")
    with closing(open_calendar(address, clock)) as new:
        with pytest.raises(StoreError, match=r"The database postgresql://.* failed: new row for relation"):
            copy_calendar(store.db, new.db)
        assert not any(dump(new.db).values())
