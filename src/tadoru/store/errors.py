"""The errors of SQLite and PostgreSQL as `StoreError`, whichever driver or library raised them: one message for each cause."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from tadoru.errors import StoreError
from tadoru.i18n.translation import N_

CRAWL_FILE = 0x7AD0_0001
CALENDAR_FILE = 0x7AD0_0002
"""The application ids that mark SQLite files of Tadoru."""
_FAILED = N_("The database {database} failed: {reason}.")
_READ_ONLY = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
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
    (_READ_ONLY, N_("Cannot open the database {database} for writing. Check the folder and its permissions.")),
    (("SQLITE_BUSY",), N_("The database {database} is locked by another process. Close that process and rerun the command.")),
)
_UNREACHABLE = N_("Cannot connect to the database {database} ({reason}). Check the database URL and that the server is running.")
_LOST = N_("Lost the connection to the database {database} ({reason}). Rerun the command when it is available again.")
_REFUSED = N_("The database {database} rejected the user or the password. Check the database URL.")
_MISSING = N_("The database {database} does not exist. Create it with `createdb`, or use another database URL.")
_LOST_STATES = ("57P01", "57P02", "57P03", "08006", "08003", "25P03")
_POSTGRESQL_MESSAGES = {
    "28": _REFUSED,
    "3D": _MISSING,
    "42501": N_("The user of {database} lacks a permission ({reason}). Grant it, or use another user."),
    "53100": N_("The disk of the database {database} is full. Free some space and rerun the command."),
    "53200": N_("The server of {database} is out of memory ({reason}). Reduce its load and rerun the command."),
    "55P03": N_("The database {database} is locked by another process. Wait for that process and rerun the command."),
    **dict.fromkeys(_LOST_STATES, _LOST),
}
"""By SQLSTATE or its class."""


class DeadlockVictim(StoreError):
    """PostgreSQL rolled this transaction back to resolve a deadlock; it can be repeated."""


class ConnectionLost(StoreError):
    """The database cannot be reached, or the connection was lost."""


def not_a_crawl(path: str, application_id: int) -> StoreError:
    """The error about a SQLite file that is no crawl."""
    if application_id == CALENDAR_FILE:
        return StoreError("{path} is a Tadoru calendar (`tadoru events`), not a Tadoru crawl. Choose another file.", path=path)
    return StoreError("{path} is a SQLite database, but not a Tadoru crawl. Choose another file.", path=path)


def not_a_calendar(path: str, application_id: int) -> StoreError:
    """The error about a SQLite file that is no calendar."""
    if application_id == CRAWL_FILE:
        return StoreError(
            "{database} is a Tadoru crawl (`tadoru links`, `audit` or `docs`), not a Tadoru calendar. Choose another file.",
            database=path,
        )
    return StoreError("{database} is a SQLite database, but not a Tadoru calendar. Choose another file.", database=path)


@contextmanager
def translated(database: str) -> Iterator[None]:
    """Raises the errors of a driver, also those that SQLAlchemy wraps, as StoreError."""
    try:
        yield
    except Exception as error:
        original = getattr(error, "orig", None) or error
        if isinstance(original, sqlite3.Error):
            raise _sqlite_error(original, database) from error
        if hasattr(original, "sqlstate"):
            raise postgresql_error(original, database) from error
        raise


def is_busy(error: BaseException) -> bool:
    """Whether another transaction has the lock of a SQLite file."""
    return str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY")


def is_read_only(error: BaseException | None) -> bool:
    """Whether a SQLite file, or the folder that it is in, cannot be written."""
    return str(getattr(error, "sqlite_errorname", "")).startswith(_READ_ONLY)


def _sqlite_error(error: BaseException, database: str) -> StoreError:
    code = getattr(error, "sqlite_errorname", "")
    template = next((message for codes, message in _SQLITE_MESSAGES if code.startswith(codes)), _FAILED)
    return StoreError(template, database=database, reason=error)


def postgresql_error(error: BaseException, database: str) -> StoreError:
    """An error of psycopg."""
    if type(error).__name__ == "PipelineAborted" and hasattr(error.__context__, "sqlstate") and error.__context__ is not None:
        error = error.__context__
    reason = str(error).strip().partition("\n")[0].rstrip(".").removeprefix("connection failed: ") or type(error).__name__
    state: str = getattr(error, "sqlstate", None) or ""
    if not state and any(one.__name__ == "OperationalError" for one in type(error).__mro__):
        return ConnectionLost(_connection_message(reason), database=database, reason=reason)
    kind = ConnectionLost if state in _LOST_STATES else DeadlockVictim if state in ("40001", "40P01") else StoreError
    message = _POSTGRESQL_MESSAGES.get(state) or _POSTGRESQL_MESSAGES.get(state[:2]) or _FAILED
    return kind(message, database=database, reason=reason)


def _connection_message(reason: str) -> str:
    """By the text of the server: errors of a connection have no SQLSTATE."""
    cause = reason.rpartition("FATAL:")[2].strip()
    if cause.startswith('database "') and cause.endswith('" does not exist'):
        return _MISSING
    return _REFUSED if cause.startswith("password authentication failed") else _UNREACHABLE
