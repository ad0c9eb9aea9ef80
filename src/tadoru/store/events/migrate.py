"""Bringing a database to the present format: a new one, an older one, and never somebody else's or a newer one.

The revisions are Alembic's, in `migrations/`; it is loaded only when there is something to do. Two processes that open a database
at once wait for each other, and the second finds it done.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tadoru.errors import StoreError
from tadoru.store.events.connect import EventsDatabase

APPLICATION_ID = 0x7AD0_0002
"""Marks a SQLite file as a Tadoru events database."""
VERSIONS = ("0001", "0002", "0003", "0004")
"""Every revision, oldest first."""
VERSION_TABLE = "tadoru_events_version"
REVISIONS = Path(__file__).parent / "migrations"
MIGRATING = 0x7AD0_0004
"""The advisory lock of those who migrate, on PostgreSQL."""


def prepare(store: EventsDatabase, versions: Sequence[str] = VERSIONS, revisions: Path = REVISIONS) -> None:
    """Make the database ready for use, or say in a sentence why it can not be. Tests bring revisions of their own."""
    with store.read() as sql:
        found = version(store, sql, versions)  # Before anything is written: somebody else's database stays as it is.
    if store.is_sqlite:
        with store.translated(), store.engine.connect() as sql:
            _switch_to_wal(sql)
    if found != versions[-1]:
        with store.write() as sql:
            if not store.is_sqlite:
                sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
            if version(store, sql, versions) != versions[-1]:
                upgrade(sql, versions[-1], revisions)
            if store.is_sqlite:
                sql.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    if not store.is_sqlite:
        from tadoru.store.events.places import prepare_postgis

        store.has_postgis = prepare_postgis(store)


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


def version(store: EventsDatabase, sql: Connection, versions: Sequence[str] = VERSIONS) -> str | None:
    """The format of a database, None of an empty one."""
    tables = set(inspect(sql).get_table_names())
    if store.is_sqlite and tables and sql.exec_driver_sql("PRAGMA application_id").scalar() != APPLICATION_ID:
        raise StoreError(f"{store.name} is a SQLite database, but not one of Tadoru's events: give another file.")
    if VERSION_TABLE not in tables:
        if tables & {"events", "sources", "sightings", "users", "sessions"}:
            raise StoreError(f"{store.name} has tables of another program: give another database, or a schema of its own.")
        return None
    found: str | None = sql.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if found is not None and found not in versions:
        raise StoreError(f"{store.name} was written by a newer Tadoru (format {found}): update Tadoru to read it.")
    return found


def upgrade(sql: Connection, to: str, revisions: Path) -> None:
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
