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
from tadoru.i18n.translation import N_
from tadoru.store.calendar.schema import UtcDateTime

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
    """An engine for one database; base class of everything in `store.calendar`."""

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

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Raise errors of the drivers as `StoreError`."""
        try:
            yield
        except DBAPIError as error:
            raised = _sqlite_error if self.is_sqlite else _postgresql_error
            raise raised(error.orig or error, self.name) from error
        except sqlite3.DatabaseError as error:
            raise _sqlite_error(error, self.name) from error


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


def _sqlite_error(error: BaseException, name: str) -> StoreError:
    code = getattr(error, "sqlite_errorname", "")
    template = next((message for codes, message in _SQLITE_MESSAGES if code.startswith(codes)), _FAILED)
    return StoreError(template, database=name, reason=error)


_FAILED = N_("The database {database} failed: {reason}.")
_SQLITE_MESSAGES = (
    (("SQLITE_NOTADB",), N_("{database} is not a SQLite database. Choose another file, or remove this one.")),
    (
        ("SQLITE_CORRUPT",),
        N_("The database {database} is damaged ({reason}). Restore a backup, or start again with another file."),
    ),
    (
        ("SQLITE_FULL", "SQLITE_IOERR"),
        N_("Cannot write to the database {database} ({reason}). Free some disk space and rerun the command."),
    ),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN"),
        N_("Cannot open the database {database} for writing. Check the folder and its permissions."),
    ),
    (
        ("SQLITE_BUSY",),
        N_("The database {database} is locked by another process. Close that process and rerun the command."),
    ),
)
_REFUSED = N_("The database {database} rejected the user or the password. Check the database URL.")
_MISSING = N_("The database {database} does not exist. Create it with `createdb`, or use another database URL.")
_POSTGRESQL_MESSAGES = {
    "28": _REFUSED,
    "3D": _MISSING,
    "42501": N_("The user of {database} lacks a permission ({reason}). Grant it, or use another user."),
    "53100": N_("The disk of the database {database} is full. Free some space and rerun the command."),
    "55P03": N_("The database {database} is locked by another process. Wait for that process and rerun the command."),
}
"""By SQLSTATE or its class."""


def _postgresql_error(error: BaseException, name: str) -> StoreError:
    state = getattr(error, "sqlstate", None)
    detail = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
    if state is None:
        for part, message in (("password", _REFUSED), ("does not exist", _MISSING)):
            if part in detail:
                return StoreError(message, database=name)
        detail = detail.removeprefix("connection failed: ")
        message = N_(
            "Cannot connect to the database {database} ({reason}). Check the database URL and that the server is running."
        )
        return StoreError(message, database=name, reason=detail)
    template = _POSTGRESQL_MESSAGES.get(state) or _POSTGRESQL_MESSAGES.get(state[:2]) or _FAILED
    return StoreError(template, database=name, reason=detail)
