"""Copies whole crawls between files and PostgreSQL, and recognises what a name stands for: a crawl or a calendar."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from tadoru.clock import Clock
from tadoru.errors import NewerFormat, UsageError
from tadoru.i18n.translation import N_
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.migrate import VERSION_TABLE, needs_migration
from tadoru.store.calendar.migrate import read_version as events_format
from tadoru.store.crawl.connection import SqlConnection, SqlDialect
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.postgres.crawl_url import is_postgresql, names_crawl, parse
from tadoru.store.crawl.sqlite.database import SCHEMA_VERSION, Database
from tadoru.store.crawl.sqlite.page_writer import PageWriter
from tadoru.store.errors import CALENDAR_FILE, CRAWL_FILE, translated


def copy_crawl(path: Path, to: Path) -> None:
    """Copy a crawl's file, with what is in its log, into one new file that only its owner may read."""
    to.touch(mode=0o600)
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        translated(str(path)),
        closing(sqlite3.connect(address, uri=True, timeout=30)) as since,
        closing(sqlite3.connect(to)) as copy,
    ):
        since.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # One file is the whole copy.


Progress = Callable[[str, int], None]
"""Hears the table that is being copied, and how many of its rows are there by now."""
_TOLD_EVERY = 10_000
_TRUTHS = frozenset({"internal", "is_seed", "indexable"})
_NOT_COPIED = frozenset({"workers"})
_COUNTERS = "SELECT name, CAST(sum(value) AS BIGINT) FROM counters GROUP BY name"
"""PostgreSQL has several rows for a counter, so that those who count do not wait for each other."""
_SHORTER_PATHS = "SELECT page_id, depth, parent_id, max_depth FROM depth_changes ORDER BY depth, page_id, parent_id"
_LEASED = (
    "UPDATE pages SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE resources SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE chores SET owner = NULL WHERE owner IS NOT NULL",
    "UPDATE hosts SET slot_owner = NULL, leased = 0",
    "DELETE FROM robots WHERE owner IS NOT NULL",
)
_WAITING = "UPDATE hosts SET queued = (SELECT count(*) FROM pages WHERE host_id = hosts.id AND status = 'queued')"


class DatabaseKind(Enum):
    """What a database holds."""

    CRAWL = "crawl"
    EVENTS = "events"


class CopySource(NamedTuple):
    """A database that can be copied."""

    kind: DatabaseKind
    older: str | None
    """Its format, when it is an older one: opening it brings it to the present one."""


def look_at(database: str, clock: Clock) -> CopySource:
    """What there is in a file or under an address; nothing is changed by looking. Raises UsageError and StoreError.

    On PostgreSQL an address that names a crawl means it; another one means the events, or where there are none the default crawl.
    """
    if not is_postgresql(database):
        return _look_into(Path(database))
    if names_crawl(database):
        return _look_for_crawl(database)
    events = CalendarDatabase(database, clock)
    try:
        with events.read() as sql:
            found = events_format(events, sql)
    finally:
        events.close()
    return (
        _look_for_crawl(database) if found is None else CopySource(DatabaseKind.EVENTS, found if needs_migration(found) else None)
    )


def _look_into(path: Path) -> CopySource:
    if not path.is_file() or not path.stat().st_size:
        raise UsageError("Database {path} not found. Choose the file of a crawl or of a calendar.", path=path)
    with translated(str(path)), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as sql:
        mark: int = sql.execute("PRAGMA application_id").fetchone()[0]
        if mark == CRAWL_FILE:
            number: int = sql.execute("PRAGMA user_version").fetchone()[0]
            return CopySource(DatabaseKind.CRAWL, str(number) if number < SCHEMA_VERSION else None)
        if mark != CALENDAR_FILE:
            raise UsageError(
                "{path} is a SQLite database, but neither a Tadoru crawl nor a calendar. Choose another file.", path=path
            )
        found: str = sql.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0]
    return CopySource(DatabaseKind.EVENTS, found if needs_migration(found) else None)


def _look_for_crawl(database: str) -> CopySource:
    from tadoru.store.crawl.postgres.migrations import FORMAT, format_at

    number = format_at(parse(database))
    if number is None:
        message = (
            N_("No crawl in {path}. Check the URL.")
            if names_crawl(database)
            else N_("No crawl or calendar in {path}. Check the URL.")
        )
        raise UsageError(message, path=parse(database).shown)
    if number > FORMAT:  # It can be worked on; but what is not known of it would be left behind.
        raise NewerFormat(
            "{path} was written by a newer Tadoru (format {format}). Upgrade Tadoru to copy it.",
            path=parse(database).shown,
            format=number,
        )
    return CopySource(DatabaseKind.CRAWL, str(number) if number < FORMAT else None)


def _unheard(_table: str, _rows: int) -> None:
    """Nobody is told."""


async def move_crawl(since: CrawlDatabase, to: CrawlDatabase, progress: Progress = _unheard) -> Mapping[str, int]:
    """Copy everything; rows by table. Raises UsageError when there is something already."""

    def copied(sql: SqlConnection) -> dict[str, int]:
        if any(sql.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in ("pages", "crawl_meta")):
            raise UsageError("{path} already has a crawl. Copy into a new one.", path=to.path)
        sql.execute("DELETE FROM texts")
        counts: dict[str, int] = {}
        with _reading(since) as original:
            for table, columns in _common_columns(original, since.db.dialect, sql, to.db.dialect).items():
                counts[table] = to.db.put_rows(table, columns, _told(table, _rows(original, table, columns), progress))
                progress(table, counts[table])
            if to.db.dialect.name == "sqlite" and since.db.dialect.name != "sqlite":
                _apply_shorter_paths(to, original.execute(_SHORTER_PATHS).fetchall())
        for statement in (*_LEASED, _WAITING):
            sql.execute(statement)
        # What was in flight is queued again.
        held = to.db.counter(sql, "processing")
        to.db.count(sql, {"processing": -held, "queued": held})
        return counts

    return await to.db.write(copied)


def _apply_shorter_paths(to: CrawlDatabase, proposals: Sequence[tuple[int, int, int | None, int | None]]) -> None:
    """Apply what a crawl on PostgreSQL would apply later, and a file applies at once."""
    assert isinstance(to.db, Database)
    for page, depth, parent, max_depth in proposals:
        writer = PageWriter(to.db, 0, max_depth)
        writer.lower(page, depth, parent)
        writer.flush()


@contextmanager
def _reading(since: CrawlDatabase) -> Iterator[SqlConnection]:
    """A connection that shows a crawl as it is at one moment, in whatever thread this is."""
    if since.db.dialect.name != "sqlite":
        with since.snapshot():
            yield since.sql
        return
    path = Path(since.path)
    with translated(since.path), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as sql:
        sql.execute("BEGIN")
        yield sql


def _common_columns(
    original: SqlConnection, its_words: SqlDialect, copy: SqlConnection, words: SqlDialect
) -> dict[str, list[str]]:
    """The columns that both databases have, by table. What only one of them has is its own."""
    found = set(original.execute(its_words.columns).fetchall())
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for table, column in copy.execute(words.columns).fetchall():
        if table not in _NOT_COPIED and (table, column) in found:
            columns[table].append(column)
    return {**columns, "counters": ["name", "value"]}


def _rows(sql: SqlConnection, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    truths = frozenset(at for at, column in enumerate(columns) if column in _TRUTHS)
    for row in sql.execute(_COUNTERS if table == "counters" else f"SELECT {', '.join(columns)} FROM {table}"):
        yield tuple(bool(one) if at in truths and one is not None else one for at, one in enumerate(row)) if truths else row


def _told(table: str, rows: Iterable[tuple[Any, ...]], progress: Progress) -> Iterator[tuple[Any, ...]]:
    for count, row in enumerate(rows, 1):
        yield row
        if count % _TOLD_EVERY == 0:
            progress(table, count)
