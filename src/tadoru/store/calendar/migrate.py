"""Bringing a database to the present format: a new one, an older one, and never somebody else's or a newer one.

The revisions are Alembic's, in `migrations/`; it is loaded only when there is something to do. Two processes that open a database
at once wait for each other, and the second finds it done. On PostgreSQL others may be at work meanwhile: a statement that has to
have a table alone waits for it a moment only, because whoever comes to that table has to wait behind it; then everything is let
go, and tried again. What a revision may contain is told in `docs/explanation/formats.md`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tadoru.errors import StoreError
from tadoru.store.calendar.database import EVENT_WRITE_LOCK, CalendarDatabase

APPLICATION_ID = 0x7AD0_0002
"""Marks a SQLite file as a Tadoru events database."""
VERSIONS = ("0001", "0002", "0003", "0004", "0005")
"""Every revision, oldest first."""
READABLE_BY = "0004"
"""The oldest format whose programs can work on a database of this one: old and new workers stand side by side while all are
updated."""
VERSION_TABLE = "tadoru_events_version"
REVISIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x7AD0_0004
"""The advisory lock of those who migrate, on PostgreSQL."""
ATTEMPTS = 60
"""How often it is tried, about a second each with the pause after it, while others hold what it needs."""
_LOCK_TIMEOUT = "500ms"
_PAUSE = 0.5
_BUSY = ("55P03", "40P01")


def prepare_database(
    store: CalendarDatabase,
    versions: Sequence[str] = VERSIONS,
    revisions: Path = REVISIONS,
    *,
    readable_by: str = READABLE_BY,
    attempts: int = ATTEMPTS,
) -> None:
    """Make the database ready for use, or say in a sentence why it can not be. Tests bring revisions of their own."""
    with store.read() as sql:
        found = read_version(store, sql, versions)  # Before anything is written: somebody else's database stays as it is.
    if store.is_sqlite:
        with store.translated(), store.engine.connect() as sql:
            _switch_to_wal(sql)
    if needs_migration(found, versions):
        for left in reversed(range(attempts)):
            if _migrate(store, versions, revisions, readable_by, is_last=not left):
                break
    if not store.is_sqlite:
        from tadoru.store.calendar.search_conditions import prepare_postgis

        store.has_postgis = prepare_postgis(store)


def needs_migration(found: str | None, versions: Sequence[str] = VERSIONS) -> bool:
    """Whether a database of this format is to be brought to the present one; a newer one, which can be read, is not."""
    return found is None or found in versions[:-1]


def _migrate(store: CalendarDatabase, versions: Sequence[str], revisions: Path, readable_by: str, *, is_last: bool) -> bool:
    """Do it in one transaction, unless another process was faster. False: others are in the way, and had their turn."""
    try:
        with store.write() as sql:
            if not store.is_sqlite:
                sql.execute(text(f"SET LOCAL lock_timeout TO '{_LOCK_TIMEOUT}'"))
                for key in (MIGRATION_LOCK, EVENT_WRITE_LOCK):  # Nobody is in the middle of deciding about events.
                    sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            if needs_migration(read_version(store, sql, versions), versions):
                run_migrations(sql, versions[-1], revisions)
                _write_readable_by(sql, readable_by)
            if store.is_sqlite:
                sql.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        return True
    except StoreError as error:
        driver = getattr(error.__cause__, "orig", None)
        if getattr(driver, "sqlstate", None) not in _BUSY:
            raise
        if is_last:
            raise StoreError(
                f"The database {store.name} is in use all the time and could not be brought to format {versions[-1]}:"
                " end what reads it for long, and run this again."
            ) from error
    with store.read() as sql:
        sql.execute(text("SELECT pg_sleep(:pause * (0.5 + random()))"), {"pause": _PAUSE})
    return False


def _write_readable_by(sql: Connection, oldest: str) -> None:
    """Write down beside the format which programs can work on it."""
    if "readable_by" not in {column["name"] for column in inspect(sql).get_columns(VERSION_TABLE)}:
        sql.execute(text(f"ALTER TABLE {VERSION_TABLE} ADD COLUMN readable_by VARCHAR(32)"))
    sql.execute(text(f"UPDATE {VERSION_TABLE} SET readable_by = :oldest"), {"oldest": oldest})


def _switch_to_wal(sql: Connection) -> None:
    """SQLite does not wait for others here, and two that switch at once may both fail: so wait for them, and try again."""
    driver = sql.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    for last in (*[False] * 99, True):
        try:
            driver.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if last or not str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY"):
                raise
        driver.execute("BEGIN IMMEDIATE")
        driver.execute("COMMIT")


def read_version(store: CalendarDatabase, sql: Connection, versions: Sequence[str] = VERSIONS) -> str | None:
    """The format of a database, None of an empty one. A newer one is told only when these programs can work on it."""
    tables = set(inspect(sql).get_table_names())
    if store.is_sqlite and tables and sql.exec_driver_sql("PRAGMA application_id").scalar() != APPLICATION_ID:
        raise StoreError(f"{store.name} is a SQLite database, but not one of Tadoru's events: give another file.")
    if VERSION_TABLE not in tables:
        if tables & {"events", "sources", "sightings", "users", "sessions"}:
            raise StoreError(f"{store.name} has tables of another program: give another database, or a schema of its own.")
        return None
    row = sql.execute(text(f"SELECT * FROM {VERSION_TABLE}")).mappings().first()
    found: str | None = row["version_num"] if row else None
    if row is not None and found not in versions and row.get("readable_by") not in versions:
        raise StoreError(f"{store.name} was written by a newer Tadoru (format {found}): update Tadoru to read it.")
    return found


def run_migrations(sql: Connection, to: str, revisions: Path) -> None:
    """Run the revisions that are missing, in the transaction of this connection."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(revisions))

    def steps(found: object, _context: MigrationContext) -> object:
        return script._upgrade_revs(to, found)  # type: ignore[arg-type]

    with EnvironmentContext(Config(), script, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=sql, version_table=VERSION_TABLE)
        environment.run_migrations()
