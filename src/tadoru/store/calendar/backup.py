"""Backs up, restores and copies whole databases of either kind.

A copy has all rows of all tables with their ids, and the id counters. Its target must be empty. It is one transaction over a
consistent snapshot of the original: if it is killed, the target is still empty and the copy can be repeated. Rows are copied in
batches, so memory does not grow with them. The sync state of search engines is not copied (`schema.search_metadata`), and the
target builds its full-text index itself.

A backup is one SQLite file: made with the online backup of SQLite, or by copying a PostgreSQL database.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, CursorResult, Row, Select, Table, bindparam, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from tadoru.clock import Clock, SystemClock
from tadoru.errors import StoreError, UsageError
from tadoru.store.accounts import schema as _access  # noqa: F401 - its tables belong to the whole
from tadoru.store.calendar.database import CalendarDatabase, is_postgresql
from tadoru.store.calendar.migrate import VERSIONS, prepare_database, read_version
from tadoru.store.calendar.schema import metadata, search_targets
from tadoru.store.served_crawls.schema import release_running_crawls

Progress = Callable[[str, int], None]
"""Called with the table that is being copied and the number of rows copied so far."""
_AT_ONCE = 2000
_SELF_REFERENCES = {"events": "merged_into", "sources": "depends_on"}
"""Columns that refer to a row of the same table, possibly a later one: set when all rows are there."""
Put = Callable[[Connection, Table, Sequence[Row[Any]]], None]


def no_progress(_table: str, _rows: int) -> None:
    """Report nothing."""


def copy_calendar(since: CalendarDatabase, to: CalendarDatabase, progress: Progress = no_progress) -> dict[str, int]:
    """Copy everything into an empty database; returns the rows by table. All or nothing."""
    counts: dict[str, int] = {}
    with since.read() as old, to.write_events() as new:
        _check_known_version(since, old)
        _check_empty(to, new)
        for table in metadata.sorted_tables:
            counts[table.name] = _copy(old, new, table, _insert if to.is_sqlite else _copy_in, progress)
        _set_counters(to, new, _counters(since, old))
        release_running_crawls(new)
    return counts


def _check_known_version(since: CalendarDatabase, sql: Connection) -> None:
    """A newer database may be readable, but what this program does not know would be lost in the copy."""
    found = read_version(since, sql)
    if found not in VERSIONS:
        raise StoreError(
            "Cannot copy {database}: a newer version of Tadoru wrote it (format {format}). Update Tadoru.",
            database=since.name,
            format=found,
        )


def _check_empty(to: CalendarDatabase, sql: Connection) -> None:
    """Lock the tables until the copy is complete; raise if they are not empty."""
    if not to.is_sqlite:
        names = ", ".join(table.name for table in metadata.sorted_tables)
        sql.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
    for table in metadata.sorted_tables:
        if sql.execute(select(*table.primary_key.columns).limit(1)).first() is not None:
            raise UsageError("The database {database} is not empty. Copy into a new one.", database=to.name)


def _copy(old: Connection, new: Connection, table: Table, put: Put, progress: Progress) -> int:
    count, name = 0, _SELF_REFERENCES.get(table.name)
    columns = [text(f"NULL AS {name}") if column.name == name else column for column in table.columns]
    with _rows(old, select(*columns).select_from(table).order_by(*table.primary_key.columns)) as rows:
        for part in rows.partitions(_AT_ONCE):
            put(new, table, part)
            count += len(part)
            progress(table.name, count)
    if name:
        column = table.c[name]
        change = update(table).where(table.c.id == bindparam("b_id")).values({name: bindparam("b_value")})
        with _rows(old, select(table.c.id, column).where(column.is_not(None)).order_by(table.c.id)) as rows:
            for part in rows.partitions(_AT_ONCE):
                new.execute(change, [dict(zip(("b_id", "b_value"), row, strict=True)) for row in part])
    progress(table.name, count)
    return count


def _rows(sql: Connection, query: Select[Any]) -> CursorResult[Any]:
    """Stream the rows of a query."""
    found: CursorResult[Any] = sql.execute(query, execution_options={"yield_per": _AT_ONCE})
    return found


def _insert(sql: Connection, table: Table, rows: Sequence[Row[Any]]) -> None:
    names = [column.name for column in table.columns]
    sql.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])


def _copy_in(sql: Connection, table: Table, rows: Sequence[Row[Any]]) -> None:
    """Insert rows with COPY. In batches, because PostgreSQL keeps the pending checks of each COPY in memory."""
    bound = [column.type.dialect_impl(sql.dialect).bind_processor(sql.dialect) for column in table.columns]
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    statement, driver = f'COPY "{table.name}" ({names}) FROM STDIN', cast(Any, sql.connection.driver_connection)
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as out:
            for row in rows:
                out.write_row([value if make is None else make(value) for make, value in zip(bound, row, strict=True)])
    except sql.dialect.loaded_dbapi.Error as error:
        raise DBAPIError(statement, None, error) from error


def _counters(store: CalendarDatabase, sql: Connection) -> dict[str, int]:
    """The last id of each table, including deleted rows: no id is assigned twice."""
    if store.is_sqlite:
        return {row.name: row.seq for row in sql.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    found = {}
    for name in _numbered():
        sequence = sql.execute(text("SELECT pg_get_serial_sequence(:name, 'id')"), {"name": name}).scalar_one()
        found[name] = sql.execute(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")).scalar_one()
    return found


def _set_counters(store: CalendarDatabase, sql: Connection, counters: dict[str, int]) -> None:
    """Let new ids start after the existing ones."""
    for name in _numbered():
        highest: int = sql.execute(text(f"SELECT coalesce(max(id), 0) FROM {name}")).scalar_one()
        last = max(highest, counters.get(name, 0))
        if not store.is_sqlite:
            query = "SELECT setval(pg_get_serial_sequence(:name, 'id'), greatest(:last, 1), :last > 0)"
            sql.execute(text(query), {"name": name, "last": last})
        elif metadata.tables[name].dialect_options["sqlite"]["autoincrement"]:
            sql.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": name})
            sql.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), {"name": name, "last": last})


def _numbered() -> list[str]:
    return [table.name for table in metadata.sorted_tables if "id" in table.c]


def back_up_calendar(db: CalendarDatabase, path: str, progress: Progress = no_progress) -> None:
    """Write everything to one SQLite file while the database is in use. An existing file is not overwritten."""
    target, part = Path(path), Path(f"{path}.part")
    if target.exists():
        raise UsageError("{path} already exists. Choose another name.", path=path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # Left by an interrupted backup.
        part.touch(mode=0o600)
    except OSError as error:
        raise StoreError(
            "Cannot write {path} ({reason}). Check the folder and its permissions.", path=path, reason=error.strerror
        ) from error
    if db.is_sqlite:
        with db.translated_errors(), db.engine.connect() as sql:
            driver = sql.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            _copy_file(driver, part)
    else:
        _copy_into(db, part, progress)
    part.replace(target)


def _copy_into(db: CalendarDatabase, file: Path, progress: Progress) -> None:
    copy = CalendarDatabase(str(file), db.clock)
    try:
        prepare_database(copy)
        copy_calendar(db, copy, progress)
    finally:
        copy.close()
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode = DELETE")


def _copy_file(since: sqlite3.Connection, to: Path) -> None:
    with closing(sqlite3.connect(to)) as copy:
        since.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # The backup is a single file.


def restore_calendar(backup: str, database: str, clock: Clock | None = None, progress: Progress = no_progress) -> None:
    """Create a database from a backup: a new file, or in an empty PostgreSQL database. The backup, also of an older version, is
    not modified."""
    clock = clock or SystemClock()
    if not Path(backup).is_file():
        raise UsageError("Backup {path} not found. Check the path.", path=backup)
    _check(backup, clock)
    if is_postgresql(database):
        with tempfile.TemporaryDirectory() as folder:
            _restore_file(backup, Path(folder, "backup.db"))
            since, to = CalendarDatabase(str(Path(folder, "backup.db")), clock), CalendarDatabase(database, clock)
            try:
                prepare_database(since)
                prepare_database(to)
                copy_calendar(since, to, progress)
            finally:
                since.close()
                to.close()
        return
    target, part = Path(database), Path(f"{database}.part")
    if target.exists():
        raise UsageError("{path} already exists. Move it away, or restore into another file.", path=database)
    store = CalendarDatabase(str(part), clock)
    try:
        part.unlink(missing_ok=True)
        _restore_file(backup, part)
        prepare_database(store)
        with store.write() as sql:
            release_running_crawls(sql)
            sql.execute(delete(search_targets))  # The state of the engines is unknown here: sync everything again.
    finally:
        store.close()
    with closing(sqlite3.connect(part)) as sql:
        sql.execute("PRAGMA journal_mode = DELETE")
    part.replace(target)


def _check(backup: str, clock: Clock) -> None:
    """Raise if the file is not a backup, before anything is created from it."""
    store = CalendarDatabase(backup, clock)
    try:
        with store.read() as sql:
            if read_version(store, sql) is None:
                raise UsageError("{path} is empty. Choose a backup.", path=backup)
            bad = sql.execute(text("PRAGMA quick_check(1)")).scalar_one()
            if bad != "ok":
                raise StoreError("The backup {path} is damaged ({reason}). Use another one.", path=backup, reason=bad)
    finally:
        store.close()


def _restore_file(backup: str, to: Path) -> None:
    try:
        to.touch(mode=0o600)
        with closing(sqlite3.connect(f"{Path(backup).resolve().as_uri()}?mode=ro", uri=True)) as since:
            _copy_file(since, to)
    except (sqlite3.OperationalError, OSError) as error:
        raise StoreError(
            "Cannot write {path} ({reason}). Check the folder and its permissions.", path=to, reason=error
        ) from error
