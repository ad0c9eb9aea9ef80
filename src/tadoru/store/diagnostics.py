"""Checks whether a database could be used, for `tadoru doctor`; leaves nothing behind."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tadoru.clock import Clock
from tadoru.errors import StoreError
from tadoru.store.crawl.postgres.crawl_url import parse

OLDEST = (3, 35)
"""Of SQLite, which knows RETURNING since."""
OLDEST_SERVER = 14


class ServerStatus(NamedTuple):
    """Version and settings of a PostgreSQL server."""

    version: str
    is_old: bool
    encoding: str
    may_create: bool
    """Whether a crawl may be made: it is a schema."""
    ahead: float
    """Seconds that its clock is ahead of this machine's."""


def sqlite_version() -> tuple[str, bool]:
    """Which one this Python has, and whether it is too old."""
    return sqlite3.sqlite_version, sqlite3.sqlite_version_info[:2] < OLDEST


def try_folder(folder: Path) -> None:
    """Make a database in a folder as a crawl would, and take it away again. Raises StoreError."""
    try:
        with tempfile.TemporaryDirectory(prefix=".tadoru-", dir=folder) as place:
            with closing(sqlite3.connect(Path(place) / "try.db")) as sql:
                mode = sql.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                sql.execute("CREATE TABLE one (number INTEGER)")
                sql.commit()
            if mode != "wal":
                raise StoreError(
                    "The file system of {folder} cannot be shared between processes. Use a local disk.", folder=folder
                )
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            "Cannot write to {folder} ({reason}). Use another folder, or fix its permissions.", folder=folder, reason=error
        ) from error


def ask_server(database: str, clock: Clock) -> ServerStatus:
    """Raises StoreError or UsageError."""
    from tadoru.store.crawl.postgres.connection import PgConnection

    link = PgConnection(parse(database), schema="public")
    try:
        row = link.run(
            """SELECT current_setting('server_version'), current_setting('server_version_num')::int,
            current_setting('server_encoding'), has_database_privilege(current_database(), 'CREATE'),
            extract(epoch FROM clock_timestamp())::float8"""
        ).fetchall()[0]
        version, number, encoding, may_create, now = row
        return ServerStatus(version, number // 10_000 < OLDEST_SERVER, encoding, may_create, now - clock.now())
    finally:
        link.close()
