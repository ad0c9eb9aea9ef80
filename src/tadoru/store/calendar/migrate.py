"""Creates a calendar database or migrates an older one; refuses databases of other programs and of newer versions.

The revisions are Alembic's, in `migrations/`; Alembic is imported only when there is something to do. Two processes that open a
database at the same time wait for each other, and the second has nothing left to do. On PostgreSQL other processes may be
working: a statement that needs an exclusive table lock waits for it only briefly, because every later query on that table queues
behind it. Then everything is rolled back and tried again. `docs/explanation/formats.md` lists what a revision may contain.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from tadoru.errors import StoreError
from tadoru.store.calendar.database import EVENT_WRITE_LOCK, CalendarDatabase
from tadoru.store.errors import CALENDAR_FILE, not_a_calendar

VERSIONS = ("0001", "0002", "0003", "0004", "0005", "0008", "0009", "0010")
"""Every revision, oldest first."""
READABLE_BY = "0004"
"""The oldest version whose programs can use a database of this version, so that old and new workers can run side by side during
an update."""
VERSION_TABLE = "tadoru_events_version"
REVISIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x7AD0_0004
"""The advisory lock of migrations on PostgreSQL."""
ATTEMPTS = 60
"""Attempts, about one per second, while other processes hold the locks."""
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
    """Create or migrate the database, or raise an error that says why it cannot be used. Tests pass revisions of their own."""
    with store.read() as sql:
        found = read_version(
            store, sql, versions
        )  # Before anything is written: a database of another program must stay as it is.
    if store.is_sqlite:
        with store.translated_errors(), store.engine.connect() as sql:
            _switch_to_wal(sql)
    if needs_migration(found, versions):
        for left in reversed(range(attempts)):
            if _migrate(store, versions, revisions, readable_by, is_last=not left):
                break
    if not store.is_sqlite:
        from tadoru.store.calendar.search_conditions import prepare_postgis

        store.has_postgis = prepare_postgis(store)


def needs_migration(found: str | None, versions: Sequence[str] = VERSIONS) -> bool:
    """Whether a database of this version has to be migrated. A newer version that can be read has not."""
    return found is None or found in versions[:-1]


def _migrate(store: CalendarDatabase, versions: Sequence[str], revisions: Path, readable_by: str, *, is_last: bool) -> bool:
    """Migrate in one transaction, unless another process already has. False: locks of other processes prevented it."""
    try:
        with store.write() as sql:
            if not store.is_sqlite:
                sql.execute(text(f"SET LOCAL lock_timeout TO '{_LOCK_TIMEOUT}'"))
                for key in (MIGRATION_LOCK, EVENT_WRITE_LOCK):  # No `write_events` is running.
                    sql.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
            if needs_migration(read_version(store, sql, versions), versions):
                run_migrations(sql, versions[-1], revisions)
                _write_readable_by(sql, readable_by)
            if store.is_sqlite:
                sql.exec_driver_sql(f"PRAGMA application_id = {CALENDAR_FILE}")
        return True
    except StoreError as error:
        driver = getattr(error.__cause__, "orig", None)
        if getattr(driver, "sqlstate", None) not in _BUSY:
            raise
        if is_last:
            raise StoreError(
                "Cannot migrate {database} to format {format}: it is always in use. Stop long-running readers and try again.",
                database=store.name,
                format=versions[-1],
            ) from error
    with store.read() as sql:
        sql.execute(text("SELECT pg_sleep(:pause * (0.5 + random()))"), {"pause": _PAUSE})
    return False


def _write_readable_by(sql: Connection, oldest: str) -> None:
    """Store, next to the version, which programs can use the database."""
    if "readable_by" not in {column["name"] for column in inspect(sql).get_columns(VERSION_TABLE)}:
        sql.execute(text(f"ALTER TABLE {VERSION_TABLE} ADD COLUMN readable_by VARCHAR(32)"))
    sql.execute(text(f"UPDATE {VERSION_TABLE} SET readable_by = :oldest"), {"oldest": oldest})


def _switch_to_wal(sql: Connection) -> None:
    """SQLite does not wait for locks here, and two processes that switch at the same time may both fail: wait and try again."""
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
    """The version of a database, None of an empty one. Raises StoreError for a newer version that this program cannot use."""
    tables = set(inspect(sql).get_table_names())
    if store.is_sqlite and tables and (mark := sql.exec_driver_sql("PRAGMA application_id").scalar()) != CALENDAR_FILE:
        raise not_a_calendar(store.name, int(mark or 0))
    if VERSION_TABLE not in tables:
        if tables & {"events", "sources", "sightings", "users", "sessions"}:
            raise StoreError(
                "{database} has tables of another program. Use another database or another schema.", database=store.name
            )
        return None
    row = sql.execute(text(f"SELECT * FROM {VERSION_TABLE}")).mappings().first()
    found: str | None = row["version_num"] if row else None
    if row is not None and found not in versions and row.get("readable_by") not in versions:
        raise StoreError(
            "Cannot open {database}: a newer version of Tadoru wrote it (format {format}). Update Tadoru.",
            database=store.name,
            format=found,
        )
    return found


def run_migrations(sql: Connection, to: str, revisions: Path) -> None:
    """Run the missing revisions in the transaction of this connection."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.runtime.migration import MigrationContext, MigrationStep
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(revisions))

    def steps(found: tuple[str, ...], _context: MigrationContext) -> list[MigrationStep]:
        missing = [*script.iterate_revisions(to, found, implicit_base=True)]
        return [MigrationStep.upgrade_from_script(script.revision_map, revision) for revision in reversed(missing)]

    with EnvironmentContext(Config(), script, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=sql, version_table=VERSION_TABLE)
        environment.run_migrations()
