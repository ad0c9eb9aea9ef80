"""Whole crawls, copied from a file to PostgreSQL, back, or to another of the same kind: every row of every table. And what there
is to copy under a name: a crawl, or a database of events (`events.moving`).

A copy is made into a crawl that is empty, in one transaction, of the crawl as it was at one moment. Leases and slots are not
copied: whoever holds them works on the original, and what was in flight is queued again in the copy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from tadoru.clock import Clock
from tadoru.errors import StoreError, UsageError
from tadoru.store.database import APPLICATION_ID as CRAWL_MARK
from tadoru.store.database import SCHEMA_VERSION, translated
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.migrate import APPLICATION_ID as EVENTS_MARK
from tadoru.store.events.migrate import VERSION_TABLE, is_older
from tadoru.store.events.migrate import version as events_format
from tadoru.store.postgres.address import is_postgresql, names_crawl, parse
from tadoru.store.postgres.dialect import COLUMNS
from tadoru.store.sqlite import SqliteStore

Progress = Callable[[str, int], None]
"""Hears the table that is being copied, and how many of its rows are there by now."""
_TOLD_EVERY = 10_000
_TRUTHS = frozenset({"internal", "is_seed", "indexable"})
_NOT_COPIED = frozenset({"workers"})
_LEASED = (
    "UPDATE pages SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE resources SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE chores SET owner = NULL WHERE owner IS NOT NULL",
    "UPDATE hosts SET slot_owner = NULL, leased = 0",
    "DELETE FROM robots WHERE owner IS NOT NULL",
)
_WAITING = "UPDATE hosts SET queued = (SELECT count(*) FROM pages WHERE host_id = hosts.id AND status = 'queued')"


class Kind(Enum):
    """What a database holds."""

    CRAWL = "crawl"
    EVENTS = "events"


class Found(NamedTuple):
    """A database that can be copied."""

    kind: Kind
    older: str | None
    """Its format, when it is an older one: opening it brings it to the present one."""


def look_at(database: str, clock: Clock) -> Found:
    """What there is in a file or under an address; nothing is changed by looking. Raises UsageError and StoreError.

    On PostgreSQL an address that names a crawl means it; another one means the events, or where there are none the default crawl.
    """
    if not is_postgresql(database):
        return _look_into(Path(database))
    if names_crawl(database):
        return _look_for_crawl(database)
    events = EventsDatabase(database, clock)
    try:
        with events.read() as sql:
            found = events_format(events, sql)
    finally:
        events.close()
    return _look_for_crawl(database) if found is None else Found(Kind.EVENTS, found if is_older(found) else None)


def _look_into(path: Path) -> Found:
    if not path.is_file() or not path.stat().st_size:
        raise UsageError(f"There is no database {path}: give the file of a crawl, or of events.")
    with translated(str(path)), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as sql:
        mark: int = sql.execute("PRAGMA application_id").fetchone()[0]
        if mark == CRAWL_MARK:
            number: int = sql.execute("PRAGMA user_version").fetchone()[0]
            return Found(Kind.CRAWL, str(number) if number < SCHEMA_VERSION else None)
        if mark != EVENTS_MARK:
            raise UsageError(f"{path} is a SQLite database, but not one of Tadoru's: give the file of a crawl, or of events.")
        found: str = sql.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0]
    return Found(Kind.EVENTS, found if is_older(found) else None)


def _look_for_crawl(database: str) -> Found:
    from tadoru.store.postgres.database import FORMATS
    from tadoru.store.postgres.migrating import format_at

    number = format_at(parse(database), len(FORMATS))
    if number is None:
        what = "no crawl" if names_crawl(database) else "neither a crawl nor events"
        raise UsageError(f"There is {what} in {parse(database).shown}: check the address.")
    if number > len(FORMATS):  # It can be worked on; but what is not known of it would be left behind.
        raise StoreError(f"{parse(database).shown} was written by a newer Tadoru (format {number}): update Tadoru to copy it.")
    return Found(Kind.CRAWL, str(number) if number < len(FORMATS) else None)


def _unheard(_table: str, _rows: int) -> None:
    """Nobody is told."""


async def move_crawl(since: SqliteStore, to: SqliteStore, progress: Progress = _unheard) -> Mapping[str, int]:
    """Copy everything; rows by table. Raises UsageError when there is something already."""
    counts: dict[str, int] = {}
    with since.one_moment():
        async with to.write() as sql:
            if any(sql.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in ("pages", "crawl_meta")):
                raise UsageError(f"There is a crawl in {to.path} already: copy into a new one.")
            sql.execute("DELETE FROM texts")
            for table, columns in COLUMNS.items():
                if table not in _NOT_COPIED:
                    counts[table] = to.put_rows(table, columns, _told(table, _rows(since, table, columns), progress))
                    progress(table, counts[table])
            for statement in (*_LEASED, _WAITING):
                sql.execute(statement)
            _recount(to)
    return counts


def _rows(store: SqliteStore, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    truths = frozenset(at for at, column in enumerate(columns) if column in _TRUTHS)
    for row in store.sql.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        yield tuple(bool(one) if at in truths and one is not None else one for at, one in enumerate(row)) if truths else row


def _told(table: str, rows: Iterable[tuple[Any, ...]], progress: Progress) -> Iterator[tuple[Any, ...]]:
    for count, row in enumerate(rows, 1):
        yield row
        if count % _TOLD_EVERY == 0:
            progress(table, count)


def _recount(to: SqliteStore) -> None:
    """What was in flight is queued again, and counted as that."""
    rows = dict(to.sql.execute("SELECT name, value FROM counters WHERE name = 'processing'").fetchall())
    held = rows.get("processing", 0)
    to.count({"processing": -held, "queued": held})
