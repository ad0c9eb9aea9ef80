"""A database is made, opened, shared, and refused when it is not ours: one sentence each."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from tadoru.errors import StoreError, TadoruError, UsageError
from tadoru.store.calendar import migrate
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.migrate import VERSION_TABLE, VERSIONS
from tadoru.store.calendar.schema import metadata, search_metadata
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import OpenEvents
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that nobody has opened."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "events.db")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return postgres.new_database()


def test_what_is_stored_is_there_when_it_is_opened_again(empty: str, clock: FakeClock) -> None:
    store = open_calendar(empty, clock)
    store.sources.add({"name": "A", "type": "rss", "url": "https://example.org"}, by="test")
    store.close()
    again = open_calendar(empty, clock)
    assert [one.name for one in again.sources.list()] == ["A"]
    again.close()


def is_no_index_of_words(name: str | None, kind: str, parents: object) -> bool:
    """The index of searched texts is of each database's own kind, and only in its revision."""
    return not (name or "").startswith("events_search")


def test_migrations_make_what_the_schema_says(empty: str, clock: FakeClock) -> None:
    store = open_calendar(empty, clock)
    with store.db.read() as sql:
        opts = {"version_table": VERSION_TABLE, "compare_server_default": False, "include_name": is_no_index_of_words}
        context = MigrationContext.configure(sql, opts=opts)
        assert compare_metadata(context, [metadata, search_metadata]) == []
        assert sql.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == [VERSIONS[-1]]
    store.close()


def test_tables_made_by_migrations_are_word_for_word_those_of_the_schema(tmp_path: Path, clock: FakeClock) -> None:
    """Alembic compares neither CHECK, nor STRICT, nor the conditions of partial indexes."""
    store = open_calendar(str(tmp_path / "a.db"), clock)
    other = CalendarDatabase(str(tmp_path / "b.db"), clock)
    with other.write() as sql:
        metadata.create_all(sql)
        search_metadata.create_all(sql)
    named = "sql IS NOT NULL AND name <> :own AND name NOT LIKE 'events_search%'"
    query = text(f"SELECT name, sql FROM sqlite_schema WHERE {named} ORDER BY name")

    def words(database: CalendarDatabase) -> dict[str, list[str]]:
        with database.read() as sql:
            rows = sql.execute(query, {"own": VERSION_TABLE})
            return {row.name: row.sql.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split() for row in rows}

    assert words(store.db) == words(other)
    store.close()
    other.close()


def test_conditions_of_indexes_and_checks_are_the_same_on_postgresql(postgres: PostgresServer, clock: FakeClock) -> None:
    one, other = postgres.new_database(), postgres.new_database()
    open_calendar(one, clock).close()
    plain = CalendarDatabase(other, clock)
    with plain.write() as sql:
        metadata.create_all(sql)
        search_metadata.create_all(sql)
    plain.close()
    query = """SELECT indexname AS name, indexdef AS said FROM pg_indexes
        WHERE schemaname = 'public' AND indexname NOT LIKE 'events_search%'
        UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace"""

    def said(address: str) -> set[tuple[str, str]]:
        with postgres.connect(address.partition("@/")[2].partition("?")[0]) as sql:
            return {(name, words) for name, words in sql.execute(query).fetchall() if VERSION_TABLE not in name}

    assert said(one) == said(other)


def test_every_revision_is_known(checkout: Path) -> None:
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(Path(migrate.__file__).parent / "migrations"))
    assert tuple(one.revision for one in script.walk_revisions())[::-1] == VERSIONS


LATER = """
from alembic import op

revision, down_revision, branch_labels, depends_on = "9001", "{newest}", None, None


def upgrade() -> None:
    op.execute("ALTER TABLE sources ADD COLUMN colour TEXT DEFAULT 'red'")
    if {fails}:
        op.execute("SELECT nothing FROM nowhere")
"""


def later_revisions(folder: Path, *, fails: bool) -> Path:
    shutil.copytree(migrate.REVISIONS, folder / "later")
    (folder / "later" / "versions" / "v9001_colour.py").write_text(
        LATER.replace("{fails}", str(fails)).replace("{newest}", VERSIONS[-1])
    )
    return folder / "later"


def test_an_older_database_is_brought_up_to_date_with_what_it_holds(empty: str, clock: FakeClock, tmp_path: Path) -> None:
    store = open_calendar(empty, clock)
    store.sources.add({"name": "A", "type": "rss", "url": "https://example.org"}, by="test")
    for _ in range(2):  # The second time there is nothing to do.
        migrate.prepare_database(
            store.db, (*VERSIONS, "9001"), later_revisions(tmp_path / str(_), fails=False), readable_by="9001"
        )
    with store.db.read() as sql:
        assert sql.execute(text("SELECT name, colour FROM sources")).all() == [("A", "red")]
        assert sql.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == ["9001"]
    store.close()
    assert "a newer version of Tadoru wrote it (format 9001)" in refused(empty, clock)


def test_a_migration_that_fails_leaves_the_database_as_it_was(empty: str, clock: FakeClock, tmp_path: Path) -> None:
    store = open_calendar(empty, clock)
    with pytest.raises(StoreError):
        migrate.prepare_database(store.db, (*VERSIONS, "9001"), later_revisions(tmp_path, fails=True))
    store.close()
    again = open_calendar(empty, clock)
    with again.db.read() as sql:
        assert "colour" not in {one["name"] for one in inspect(sql).get_columns("sources")}
    again.close()


IMPORTED = """
import sys
from tadoru.store.calendar.store import open_calendar
open_calendar(sys.argv[1]).close()
print(sorted(name for name in sys.modules if name.split(".")[0] in ("alembic", "mako")))
"""


def test_a_database_that_is_up_to_date_is_opened_without_the_migrations_library(
    empty: str, clock: FakeClock, checkout: Path
) -> None:
    open_calendar(empty, clock).close()
    command = [sys.executable, "-c", IMPORTED, empty]
    done = subprocess.run(command, cwd=checkout / "src", capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


OPEN = """
import sys
from tadoru.store.calendar.store import open_calendar
sys.stdin.readline()
store = open_calendar(sys.argv[1])
print(len(store.sources.list()))
store.close()
"""


def test_processes_that_open_a_new_database_at_once_all_get_it(empty: str, checkout: Path) -> None:
    command = [sys.executable, "-c", OPEN, empty]
    started = [
        subprocess.Popen(
            command, cwd=checkout / "src", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    assert [one.communicate()[0:2] for one in started] == [("0\n", "")] * 4


def test_sqlite_is_set_up_for_several_processes(tmp_path: Path, clock: FakeClock) -> None:
    store = open_calendar(str(tmp_path / "events.db"), clock)
    with store.db.read() as sql:
        asked = {name: sql.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "foreign_keys", "busy_timeout")}
    assert asked == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000}
    store.close()


def refused(database: str, clock: FakeClock) -> str:
    with pytest.raises(TadoruError) as caught:
        open_calendar(database, clock, patience=0.1)
    return str(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no database, but long enough to be read as one\n" * 50)
    assert refused(str(file), clock) == f"{file} is not a SQLite database. Choose another file, or remove this one."
    assert file.read_text().startswith("no database")


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as sql:
        sql.execute("CREATE TABLE mine(x)")
    before = file.read_bytes()
    assert refused(str(file), clock).endswith("is a SQLite database, but not a Tadoru calendar. Choose another file.")
    assert file.read_bytes() == before


def test_a_crawl_is_no_events_database(tmp_path: Path, clock: FakeClock) -> None:
    from tadoru.store.crawl.open import open_store

    open_store(str(tmp_path / "crawl.db"), clock)
    assert "not a Tadoru calendar" in refused(str(tmp_path / "crawl.db"), clock)


def test_a_damaged_database_is_named_as_such(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "events.db"
    open_calendar(str(file), clock).close()
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))

    def use() -> None:
        store = open_calendar(str(file), clock)
        try:
            store.sources.list()
        finally:
            store.close()

    with pytest.raises(StoreError, match=r"is damaged \(.*\). Restore a backup"):
        use()


def test_a_locked_database_is_named_as_such(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "events.db"
    open_calendar(str(file), clock).close()
    store = open_calendar(str(file), clock, patience=0.05)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"is locked by another process\. Close that process"):
        store.sources.add({"name": "A", "type": "rss", "url": "https://example.org"}, by="test")
    holder.execute("ROLLBACK")
    holder.close()
    store.close()


def test_a_database_of_a_newer_program_is_refused(empty: str, clock: FakeClock) -> None:
    store = open_calendar(empty, clock)
    with store.db.write() as sql:
        sql.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0999', readable_by = '0998'"))
    store.close()
    assert "a newer version of Tadoru wrote it (format 0999). Update Tadoru." in refused(empty, clock)


def test_a_postgresql_database_with_tables_of_others_is_refused(postgres: PostgresServer, clock: FakeClock) -> None:
    address = postgres.new_database()
    with postgres.connect(address.partition("@/")[2].partition("?")[0]) as sql:
        sql.execute("CREATE TABLE events(x int)")
    assert "has tables of another program" in refused(address, clock)


def test_a_server_that_is_not_there_is_named_without_the_password(clock: FakeClock, tmp_path: Path) -> None:
    said = refused(f"postgresql://mika:geheim@/events?host={tmp_path}", clock)
    assert "Cannot connect to" in said
    assert "geheim" not in said
    assert "\n" not in said


def test_a_postgresql_database_that_does_not_exist_is_named(postgres: PostgresServer, clock: FakeClock) -> None:
    assert "does not exist. Create it with `createdb`" in refused(postgres.address("nowhere"), clock)


@pytest.mark.parametrize("address", ["postgresql://[", "postgresql://host:port/name"])
def test_an_address_that_can_not_be_read_is_a_usage_error(clock: FakeClock, address: str) -> None:
    with pytest.raises(UsageError, match=r"postgresql://user:password@host/name"):
        open_calendar(address, clock)


def test_a_schema_of_its_own_keeps_two_databases_in_one(postgres: PostgresServer, clock: FakeClock) -> None:
    address = postgres.new_database()
    with postgres.connect(address.partition("@/")[2].partition("?")[0]) as sql:
        sql.execute("CREATE SCHEMA one")
        sql.execute("CREATE SCHEMA two")
    one = open_calendar(f"{address}&options=-csearch_path%3Done", clock)
    two = open_calendar(f"{address}&options=-csearch_path%3Dtwo", clock)
    one.sources.add({"name": "A", "type": "rss", "url": "https://example.org"}, by="test")
    assert (len(one.sources.list()), len(two.sources.list())) == (1, 0)
    one.close()
    two.close()


def test_a_second_handle_sees_what_the_first_wrote(handles: OpenEvents, store: CalendarStore) -> None:
    other = handles()
    store.sources.add({"name": "A", "type": "rss", "url": "https://example.org"}, by="test")
    assert [one.name for one in other.sources.list()] == ["A"]
