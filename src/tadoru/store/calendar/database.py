"""Connections, transactions and error messages of the calendar database.

`write` is a transaction that writes; on SQLite it waits for other writers when it starts (BEGIN IMMEDIATE), so it never fails
halfway. `write_events` is a transaction that compares events with each other before it writes: only one of them runs at a time on
a database, however many workers there are. Otherwise two workers could each store the same event as new.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from tadoru.clock import Clock, to_datetime
from tadoru.errors import StoreError, UsageError, without_passwords
from tadoru.extras import not_installed
from tadoru.i18n.translation import N_
from tadoru.store.calendar.schema import UtcDateTime
from tadoru.store.errors import translated

LOCK_TIMEOUT = 30.0
"""Seconds to wait for the transaction of another process."""
_CREATE_LOCK = threading.Lock()
"""Prevents another thread from opening a file between its creation and our close: closing drops all locks of this process on that
file."""
INVALID_URL = N_("Invalid database URL. Write it as postgresql://user:password@host/name.")
EVENT_WRITE_LOCK = 0x7AD0_0003
"""The advisory lock of `write_events` on PostgreSQL."""


def is_postgresql(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://", "postgresql+psycopg://"))


class CalendarDatabase:
    """The engine of one database, which the parts of a calendar are given."""

    def __init__(self, database: str, clock: Clock, *, patience: float = LOCK_TIMEOUT) -> None:
        self.clock = clock
        self.is_sqlite = not is_postgresql(database)
        self.has_postgis = False
        self.database = database
        self.engine = _sqlite_engine(database, patience) if self.is_sqlite else _postgresql_engine(database, patience)
        self.name = without_passwords(database)
        """The database as messages show it."""

    def close(self) -> None:
        self.engine.dispose()

    def now(self) -> datetime:
        """The current time, for timestamps."""
        return to_datetime(self.clock.now())

    def shared_now(self, sql: Connection) -> datetime:
        """The time of leases and slots, the same on every machine: the database's clock on PostgreSQL."""
        if self.is_sqlite:
            return self.now()
        at: datetime = sql.execute(select(func.clock_timestamp(type_=UtcDateTime))).scalar_one()
        return at

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent snapshot of the database."""
        with self.translated_errors(), self.engine.connect() as sql:
            if not self.is_sqlite:
                sql.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with sql.begin():
                yield sql

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes; rolled back if its body raises."""
        with self.translated_errors(), self.engine.connect() as sql:
            sql.execution_options(tadoru_writes=True)
            with sql.begin():
                yield sql

    @contextmanager
    def write_events(self) -> Iterator[Connection]:
        """A transaction that compares and writes events; runs exclusively."""
        with self.write() as sql:
            if not self.is_sqlite:
                sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": EVENT_WRITE_LOCK})
            yield sql

    def translated_errors(self) -> AbstractContextManager[None]:
        """Raises errors of the drivers as `StoreError`."""
        return translated(self.name)


def _sqlite_engine(path: str, patience: float) -> Engine:
    file = Path(path)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            "Cannot create the folder of {path} ({reason}). Choose another path.", path=path, reason=error.strerror
        ) from error
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
    """Create a new database file that only its owner can read, because it holds users and keys. SQLite gives its other files the
    same mode."""
    with _CREATE_LOCK, suppress(OSError):  # The file exists, or SQLite reports the problem better.
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
    if url.host and "[" in url.host:  # SQLAlchemy takes half an IPv6 address for a host name.
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
