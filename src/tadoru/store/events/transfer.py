"""Whole databases: copied from one kind to the other, backed up, restored.

A copy is every row of every table with its own number, and where the numbers of each table had got to; it is made into an empty
database only. A backup is one SQLite file, whichever the database: of SQLite by its online backup, of PostgreSQL by a copy. Both
are consistent while others write.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Table, bindparam, delete, func, insert, select, text, update

from tadoru.clock import Clock, SystemClock
from tadoru.errors import StoreError, UsageError
from tadoru.store.access import schema as _access  # noqa: F401 - its tables belong to the whole
from tadoru.store.crawls.copies import let_go_of_running
from tadoru.store.events.connect import EventsDatabase, is_postgresql
from tadoru.store.events.migrate import prepare, version
from tadoru.store.events.schema import metadata
from tadoru.store.events.search_schema import search_targets

Progress = Callable[[str, int], None]
"""Hears the name of each table that is done, and its rows."""
_AT_ONCE = 2000
_LATER = {"events": "merged_into", "sources": "depends_on"}
"""Columns that name a row of the same table, which may come later: written when all are there."""


def _unheard(_table: str, _rows: int) -> None:
    pass


def copy_events(since: EventsDatabase, to: EventsDatabase, progress: Progress = _unheard) -> dict[str, int]:
    """Copy everything into an empty database; rows by table. All or nothing."""
    counts: dict[str, int] = {}
    with since.read() as old, to.write_events() as new:
        for table in metadata.sorted_tables:
            if new.execute(select(func.count()).select_from(table)).scalar_one():
                raise UsageError(f"The database {to.name} is not empty: copy into a new one.")
        for table in metadata.sorted_tables:
            counts[table.name] = _copy(old, new, table)
            progress(table.name, counts[table.name])
        _go_on_counting(to, new, _counters(since, old))
        let_go_of_running(new)
    return counts


def _copy(old: Connection, new: Connection, table: Table) -> int:
    count, later = 0, []
    name = _LATER.get(table.name)
    order = list(table.primary_key.columns)
    rows = old.execution_options(yield_per=_AT_ONCE).execute(select(table).order_by(*order)).mappings()
    for part in rows.partitions(_AT_ONCE):
        values = [dict(row) for row in part]
        if name:
            later += [{"b_id": row["id"], "b_value": row[name]} for row in values if row[name] is not None]
            values = [row | {name: None} for row in values]
        new.execute(insert(table), values)
        count += len(values)
    if name and later:
        new.execute(update(table).where(table.c.id == bindparam("b_id")).values({name: bindparam("b_value")}), later)
    return count


def _counters(store: EventsDatabase, sql: Connection) -> dict[str, int]:
    """The last number each table has given, also to a row that is gone: no number is ever given twice."""
    if store.is_sqlite:
        return {row.name: row.seq for row in sql.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    found = {}
    for name in _numbered():
        sequence = sql.execute(text("SELECT pg_get_serial_sequence(:name, 'id')"), {"name": name}).scalar_one()
        found[name] = sql.execute(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")).scalar_one()
    return found


def _go_on_counting(store: EventsDatabase, sql: Connection, counters: dict[str, int]) -> None:
    """New rows get numbers after those that were given."""
    for name in _numbered():
        highest: int = sql.execute(text(f"SELECT coalesce(max(id), 0) FROM {name}")).scalar_one()
        last = max(highest, counters.get(name, 0))
        if not store.is_sqlite:
            query = "SELECT setval(pg_get_serial_sequence(:name, 'id'), :next, false)"
            sql.execute(text(query), {"name": name, "next": last + 1})
        elif metadata.tables[name].dialect_options["sqlite"]["autoincrement"]:
            sql.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": name})
            sql.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), {"name": name, "last": last})


def _numbered() -> list[str]:
    return [table.name for table in metadata.sorted_tables if "id" in table.c]


class Transfer(EventsDatabase):
    """Backups."""

    def backup(self, path: str, progress: Progress = _unheard) -> None:
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
        copy = EventsDatabase(str(file), self.clock)
        try:
            prepare(copy)
            copy_events(self, copy, progress)
        finally:
            copy.close()
        with closing(sqlite3.connect(file)) as sql:
            sql.execute("PRAGMA journal_mode = DELETE")


def _copy_file(since: sqlite3.Connection, to: Path) -> None:
    with closing(sqlite3.connect(to)) as copy:
        since.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # One file is the whole backup.


def restore_events(backup: str, database: str, clock: Clock | None = None, progress: Progress = _unheard) -> None:
    """Make a database of a backup: a new file, or an empty PostgreSQL database. The backup, also an old one, stays as it is."""
    clock = clock or SystemClock()
    if not Path(backup).is_file():
        raise UsageError(f"There is no file {backup}: give the path of a backup.")
    _check(backup, clock)
    if is_postgresql(database):
        with tempfile.TemporaryDirectory() as folder:
            _restore_file(backup, Path(folder, "backup.db"))
            since, to = EventsDatabase(str(Path(folder, "backup.db")), clock), EventsDatabase(database, clock)
            try:
                prepare(since)
                prepare(to)
                copy_events(since, to, progress)
            finally:
                since.close()
                to.close()
        return
    target, part = Path(database), Path(f"{database}.part")
    if target.exists():
        raise UsageError(f"{database} exists already: move it away, or restore into another file.")
    store = EventsDatabase(str(part), clock)
    try:
        part.unlink(missing_ok=True)
        _restore_file(backup, part)
        prepare(store)
        with store.write() as sql:
            let_go_of_running(sql)
            sql.execute(delete(search_targets))  # What engines were told since is not known here: tell them everything again.
    finally:
        store.close()
    with closing(sqlite3.connect(part)) as sql:
        sql.execute("PRAGMA journal_mode = DELETE")
    part.replace(target)


def _check(backup: str, clock: Clock) -> None:
    """Refuse what is not a backup of ours before anything is made of it."""
    store = EventsDatabase(backup, clock)
    try:
        with store.read() as sql:
            if version(store, sql) is None:
                raise UsageError(f"{backup} is empty: give the path of a backup.")
            bad = sql.execute(text("PRAGMA quick_check(1)")).scalar_one()
            if bad != "ok":
                raise StoreError(f"The backup {backup} is damaged ({bad}): use another one.")
    finally:
        store.close()


def _restore_file(backup: str, to: Path) -> None:
    try:
        with closing(sqlite3.connect(f"{Path(backup).resolve().as_uri()}?mode=ro", uri=True)) as since:
            _copy_file(since, to)
    except sqlite3.OperationalError as error:
        raise StoreError(f"{to} can not be written ({error}): check the folder and its permissions.") from error
