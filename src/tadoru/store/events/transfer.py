"""Whole databases, backed up and restored.

A backup is one SQLite file, whichever the database: of SQLite by its online backup, of PostgreSQL by a copy (`moving`). Both are
consistent while others write.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import delete, text

from tadoru.clock import Clock, SystemClock
from tadoru.errors import StoreError, UsageError
from tadoru.store.crawls.copies import let_go_of_running
from tadoru.store.events.connect import EventsDatabase, is_postgresql
from tadoru.store.events.migrate import prepare, version
from tadoru.store.events.moving import Progress, copy_events, unheard
from tadoru.store.events.search_schema import search_targets


class Transfer(EventsDatabase):
    """Backups."""

    def backup(self, path: str, progress: Progress = unheard) -> None:
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


def restore_events(backup: str, database: str, clock: Clock | None = None, progress: Progress = unheard) -> None:
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
        to.touch(mode=0o600)
        with closing(sqlite3.connect(f"{Path(backup).resolve().as_uri()}?mode=ro", uri=True)) as since:
            _copy_file(since, to)
    except (sqlite3.OperationalError, OSError) as error:
        raise StoreError(f"{to} can not be written ({error}): check the folder and its permissions.") from error
