"""Whole databases copied into others, of either kind: every row of every table with its own number, and where the numbers of each
table had got to.

A copy is made into an empty database only, in one transaction, of the original as it was at one moment: whoever is killed in the
middle leaves an empty database, and the same can be run again. Rows go by in parts, so memory does not grow with them. What
search engines were told is not copied (`search_schema`), and the index of searched texts is made anew by the database itself.
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
"""Hears the table that is being copied, and how many of its rows are there by now."""
_AT_ONCE = 2000
_SELF_REFERENCES = {"events": "merged_into", "sources": "depends_on"}
"""Columns that name a row of the same table, which may come later: written when all are there."""
Put = Callable[[Connection, Table, Sequence[Row[Any]]], None]


def no_progress(_table: str, _rows: int) -> None:
    """Nobody is told."""


def copy_calendar(since: CalendarDatabase, to: CalendarDatabase, progress: Progress = no_progress) -> dict[str, int]:
    """Copy everything into an empty database; rows by table. All or nothing."""
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
    """These programs may work on a newer database; but what they do not know of it they would leave behind."""
    found = read_version(since, sql)
    if found not in VERSIONS:
        raise StoreError(f"{since.name} was written by a newer Tadoru (format {found}): update Tadoru to copy it.")


def _check_empty(to: CalendarDatabase, sql: Connection) -> None:
    """Let nobody write here until all is there, or refuse when somebody has."""
    if not to.is_sqlite:
        names = ", ".join(table.name for table in metadata.sorted_tables)
        sql.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
    for table in metadata.sorted_tables:
        if sql.execute(select(*table.primary_key.columns).limit(1)).first() is not None:
            raise UsageError(f"The database {to.name} is not empty: copy into a new one.")


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
    """Rows that come as they are asked for."""
    found: CursorResult[Any] = sql.execute(query, execution_options={"yield_per": _AT_ONCE})
    return found


def _insert(sql: Connection, table: Table, rows: Sequence[Row[Any]]) -> None:
    names = [column.name for column in table.columns]
    sql.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])


def _copy_in(sql: Connection, table: Table, rows: Sequence[Row[Any]]) -> None:
    """Write rows as fast as PostgreSQL takes them. Part by part: it keeps what it has to check of each one in memory."""
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
    """The last number each table has given, also to a row that is gone: no number is ever given twice."""
    if store.is_sqlite:
        return {row.name: row.seq for row in sql.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    found = {}
    for name in _numbered():
        sequence = sql.execute(text("SELECT pg_get_serial_sequence(:name, 'id')"), {"name": name}).scalar_one()
        found[name] = sql.execute(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")).scalar_one()
    return found


def _set_counters(store: CalendarDatabase, sql: Connection, counters: dict[str, int]) -> None:
    """New rows get numbers after those that were given."""
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


class BackupStore(CalendarDatabase):
    """Backups."""

    def backup(self, path: str, progress: Progress = no_progress) -> None:
        """Everything in one SQLite file, while it is in use. An existing file is not written over."""
        target, part = Path(path), Path(f"{path}.part")
        if target.exists():
            raise UsageError(f"{path} exists already: give another name.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)  # Of a backup that was broken off.
            part.touch(mode=0o600)
        except OSError as error:
            raise StoreError(f"{path} can not be written ({error.strerror}): check the folder and its permissions.") from error
        if self.is_sqlite:
            with self.translated(), self.engine.connect() as sql:
                driver = sql.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                _copy_file(driver, part)
        else:
            self._copy_into(part, progress)
        part.replace(target)

    def _copy_into(self, file: Path, progress: Progress) -> None:
        copy = CalendarDatabase(str(file), self.clock)
        try:
            prepare_database(copy)
            copy_calendar(self, copy, progress)
        finally:
            copy.close()
        with closing(sqlite3.connect(file)) as sql:
            sql.execute("PRAGMA journal_mode = DELETE")


def _copy_file(since: sqlite3.Connection, to: Path) -> None:
    with closing(sqlite3.connect(to)) as copy:
        since.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # One file is the whole backup.


def restore_calendar(backup: str, database: str, clock: Clock | None = None, progress: Progress = no_progress) -> None:
    """Make a database of a backup: a new file, or an empty PostgreSQL database. The backup, also an old one, stays as it is."""
    clock = clock or SystemClock()
    if not Path(backup).is_file():
        raise UsageError(f"There is no file {backup}: give the path of a backup.")
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
        raise UsageError(f"{database} exists already: move it away, or restore into another file.")
    store = CalendarDatabase(str(part), clock)
    try:
        part.unlink(missing_ok=True)
        _restore_file(backup, part)
        prepare_database(store)
        with store.write() as sql:
            release_running_crawls(sql)
            sql.execute(delete(search_targets))  # What engines were told since is not known here: tell them everything again.
    finally:
        store.close()
    with closing(sqlite3.connect(part)) as sql:
        sql.execute("PRAGMA journal_mode = DELETE")
    part.replace(target)


def _check(backup: str, clock: Clock) -> None:
    """Refuse what is not a backup of ours before anything is made of it."""
    store = CalendarDatabase(backup, clock)
    try:
        with store.read() as sql:
            if read_version(store, sql) is None:
                raise UsageError(f"{backup} is empty: give the path of a backup.")
            bad = sql.execute(text("PRAGMA quick_check(1)")).scalar_one()
            if bad != "ok":
                raise StoreError(f"The backup {backup} is damaged ({bad}): use another one.")
    finally:
        store.close()


def _restore_file(backup: str, to: Path) -> None:
    try:
        to.touch(mode=0o600)
        with closing(sqlite3.connect(f"{Path(backup).resolve().as_uri()}?mode=ro", uri=True)) as since:
            _copy_file(since, to)
    except (sqlite3.OperationalError, OSError) as error:
        raise StoreError(f"{to} can not be written ({error}): check the folder and its permissions.") from error
