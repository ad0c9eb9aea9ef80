"""A connection to the events database: which kind, how its transactions begin, and its errors as sentences.

`write` is one transaction that writes; on SQLite it waits for other writers at its start (BEGIN IMMEDIATE), so that it never
fails in its middle. `write_events` is one that decides about events by looking at the others: only one of these runs at a time on
a database, whatever the number of workers, or two workers could each store the same event as new.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError

from tadoru.clock import Clock, to_datetime
from tadoru.errors import StoreError, UsageError, without_passwords
from tadoru.extras import not_installed
from tadoru.store.calendar.schema import UtcDateTime

LOCK_TIMEOUT = 30.0
"""Seconds to wait for another program's transaction before giving up."""
_CREATE_LOCK = threading.Lock()
"""Nobody opens a file between its making and our closing it: closing takes away the locks that this process has on a file."""
INVALID_URL = "The database address can not be read: write it as postgresql://user:password@host/name."
EVENT_WRITE_LOCK = 0x7AD0_0003
"""The advisory lock of those who decide about events, on PostgreSQL."""


def is_postgresql(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://", "postgresql+psycopg://"))


class CalendarDatabase:
    """An engine on one database. The rooms of the store are built on it."""

    def __init__(self, database: str, clock: Clock, *, patience: float = LOCK_TIMEOUT) -> None:
        self.clock = clock
        self.is_sqlite = not is_postgresql(database)
        self.has_postgis = False
        self.database = database
        self.engine = _sqlite_engine(database, patience) if self.is_sqlite else _postgresql_engine(database, patience)
        self.name = without_passwords(database)
        """As messages show it."""

    def close(self) -> None:
        self.engine.dispose()

    def now(self) -> datetime:
        """The time of stamps."""
        return to_datetime(self.clock.now())

    def shared_now(self, sql: Connection) -> datetime:
        """The time of leases and slots, the same for every machine: on PostgreSQL the database's."""
        if self.is_sqlite:
            return self.now()
        at: datetime = sql.execute(select(func.clock_timestamp(type_=UtcDateTime))).scalar_one()
        return at

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One view of the database that does not change while it is read."""
        with self.translated(), self.engine.connect() as sql:
            if not self.is_sqlite:
                sql.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with sql.begin():
                yield sql

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that writes; undone when its body raises."""
        with self.translated(), self.engine.connect() as sql:
            sql.execution_options(tadoru_writes=True)
            with sql.begin():
                yield sql

    @contextmanager
    def write_events(self) -> Iterator[Connection]:
        """One transaction that decides about events, alone."""
        with self.write() as sql:
            if not self.is_sqlite:
                sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": EVENT_WRITE_LOCK})
            yield sql

    @contextmanager
    def translated(self) -> Iterator[None]:
        """The drivers' errors as one sentence each."""
        try:
            yield
        except DBAPIError as error:
            sentence = _sqlite_sentence if self.is_sqlite else _postgresql_sentence
            raise StoreError(sentence(error.orig or error, self.name)) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(_sqlite_sentence(error, self.name)) from error


def _sqlite_engine(path: str, patience: float) -> Engine:
    file = Path(path)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder of {path} can not be made ({error.strerror}): give another path.") from error
    engine = create_engine(
        URL.create("sqlite", database=path),
        connect_args={"timeout": patience, "isolation_level": None},
        pool_size=4,
        max_overflow=60,
    )
    event.listen(engine, "do_connect", lambda *_: _create_private_file(file))
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _create_private_file(file: Path) -> None:
    """Make a new database that only its owner may read: users and keys are in it. SQLite makes its other files alike."""
    with _CREATE_LOCK, suppress(OSError):  # It is there already, or SQLite says better what is wrong.
        os.close(os.open(file.resolve(), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _set_pragmas(connection: sqlite3.Connection, _record: Any) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")


def _begin_transaction(sql: Connection) -> None:
    sql.exec_driver_sql("BEGIN IMMEDIATE" if sql.get_execution_options().get("tadoru_writes") else "BEGIN")


def _postgresql_engine(database: str, patience: float) -> Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise UsageError(not_installed("PostgreSQL", "postgres")) from error
    try:
        url = make_url(database).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise UsageError(INVALID_URL) from error
    if url.host and "[" in url.host:  # Half an IPv6 address is a name to SQLAlchemy.
        raise UsageError(INVALID_URL)
    limit = f"-c lock_timeout={int(patience * 1000)} -c timezone=UTC"
    given = url.query.get("options", "")
    options = f"{given if isinstance(given, str) else ' '.join(given)} {limit}".strip()
    return create_engine(
        url.difference_update_query(["options"]),
        connect_args={"options": options, "connect_timeout": 10},
        pool_size=4,
        max_overflow=60,
        pool_pre_ping=True,
    )


def _sqlite_sentence(error: BaseException, name: str) -> str:
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith("SQLITE_NOTADB"):
        return f"{name} is not a SQLite database: give another file, or remove this one."
    if code.startswith("SQLITE_CORRUPT"):
        return f"The database {name} is damaged ({error}): restore a backup, or begin a new one with another file."
    if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"The database {name} could not be written ({error}): free some disk space and run the same command again."
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        return f"The database {name} can not be opened for writing: check the folder and its permissions."
    if code.startswith("SQLITE_BUSY"):
        return f"The database {name} is locked by another program: close it there and run the same command again."
    return f"The database {name} failed: {error}."


_SENTENCES = {
    "28": "The database {name} refused the user or the password: check the address.",
    "3D": "The database {name} does not exist: make it with `createdb`, or give another address.",
    "42501": "The user of {name} may not do that ({error}): grant it the rights, or give another user.",
    "53100": "The database {name} has no room left on its disk: free some and run the same command again.",
    "55P03": "The database {name} is locked by another program: wait for it and run the same command again.",
}


def _postgresql_sentence(error: BaseException, name: str) -> str:
    state = getattr(error, "sqlstate", None)
    detail = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
    if state is None:
        for part, key in (("password", "28"), ("does not exist", "3D")):
            if part in detail:
                return _SENTENCES[key].format(name=name, error=detail)
        detail = detail.removeprefix("connection failed: ")
        return f"The database {name} can not be reached ({detail}): check the address, and that the server is running."
    for key in (state, state[:2]):
        if key in _SENTENCES:
            return _SENTENCES[key].format(name=name, error=detail)
    return f"The database {name} failed: {detail}."
