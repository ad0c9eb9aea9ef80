"""A crawl on PostgreSQL is brought to a new format while others work on it: nobody waits for long, and nothing is lost."""

from __future__ import annotations

import re
import shutil
import threading
from contextlib import closing
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from tadoru.errors import NewerFormat, StoreError
from tadoru.store.copy_crawl import look_at
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.crawl_url import parse
from tadoru.store.crawl.postgres.migrations import FORMAT, READABLE_BY, WRITING, format_of, migrate
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.scripts import SQL
from tests.store.test_migration import FACTS, FINDINGS
from tests.support.clock import FakeClock
from tests.support.old_crawls import make_schema
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import server

LATER = FORMAT + 1
COLOUR = Path("upgrade", "postgresql", f"{LATER:04}_colour.sql")
"""The step to a format that no program has yet."""
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def old(crawl: str) -> str:
    """A crawl that a program of format 4 made."""
    with opened(crawl) as link:
        make_schema(link, parse(crawl).schema, 4)
    return crawl


def opened(address: str) -> closing[PgConnection]:
    return closing(PgConnection(parse(address)))


def connected(address: str) -> psycopg.Connection[tuple[object, ...]]:
    """A connection as an old program had one."""
    place = parse(address)
    sql = psycopg.connect(place.dsn, autocommit=True)
    sql.execute(f'SET search_path TO "{place.schema}", public')
    return sql


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The scripts of a program that is newer by a format."""
    with resources.as_file(SQL) as scripts:
        shutil.copytree(scripts, tmp_path / "scripts")
    (tmp_path / "scripts" / COLOUR).write_text("ALTER TABLE pages ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';")
    return tmp_path / "scripts"


class OldWorker(threading.Thread):
    """Crawls with the statements of format 4 until it is told to stop: hosts and pages become known, and are done."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._sql = connected(address)
        self._wanted = threading.Event()
        self.pages, self.error = 0, None
        self.progress = threading.Condition()

    def run(self) -> None:
        try:
            while not self._wanted.is_set():
                self._page(self.pages + 1)
                with self.progress:
                    self.pages += 1
                    self.progress.notify_all()
        except psycopg.Error as error:
            self.error = error
        finally:
            self._sql.close()
            with self.progress:
                self.progress.notify_all()

    def _page(self, number: int) -> None:
        at, name = "2031-01-01 00:00:00.000", f"h{number % 7}.example"
        with self._sql.transaction():
            self._sql.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", [WRITING])
            self._sql.execute("INSERT INTO hosts(name) VALUES (%s) ON CONFLICT (name) DO NOTHING", [name])
            statement = "INSERT INTO pages(id, url, status, host_id, depth, is_seed, added_at)"
            found = "SELECT %s, %s, 'queued', id, 0, true, %s FROM hosts WHERE name = %s"
            self._sql.execute(f"{statement} {found}", [number, f"https://{name}/{number}", at, name])
            self._sql.execute("UPDATE hosts SET queued = queued + 1 WHERE name = %s", [name])
        with self._sql.transaction():
            self._sql.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", [WRITING])
            self._sql.execute("UPDATE pages SET status = 'completed', crawled_at = %s WHERE status = 'queued'", [at])
            self._sql.execute("UPDATE hosts SET queued = 0 WHERE name = %s", [name])

    def wait_for(self, pages: int) -> None:
        with self.progress:
            self.progress.wait_for(lambda: self.error is not None or self.pages >= pages)
        assert self.error is None, self.error

    def stop(self) -> None:
        self._wanted.set()
        self.join()


def test_new_programs_open_an_old_crawl_at_once_while_an_old_one_crawls_into_it(old: str) -> None:
    worker = OldWorker(old)
    worker.start()
    worker.wait_for(20)
    stores: list[PostgresStore] = []
    openers = [threading.Thread(target=lambda: stores.append(PostgresStore(old, FakeClock()))) for _ in range(4)]
    for one in openers:
        one.start()
    for one in openers:
        one.join()
    worker.wait_for(worker.pages + 20)
    worker.stop()
    assert len(stores) == 4
    for store in stores:
        assert store.sql.execute("SELECT count(*) FROM pages WHERE status = 'completed'").fetchone()[0] == worker.pages
        store.db.sql.close()
    with opened(old) as link:
        assert link.run("SELECT * FROM crawl_format").fetchall() == [(FORMAT, READABLE_BY)]


SCHEMA = {
    "columns": """SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default, collation_name,
        identity_generation FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2""",
    "indexes": "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1, 2",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2""",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = current_schema() ORDER BY 1",
    "functions": """SELECT proname, pg_get_function_arguments(oid), pg_get_function_result(oid), provolatile,
        regexp_replace(prosrc, '\\s+', '', 'g') FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1""",
    "first rows": "SELECT * FROM texts",
}


def schema_of(address: str) -> dict[str, list[str]]:
    with connected(address) as sql:
        rows = {what: sql.execute(query.encode()).fetchall() for what, query in SCHEMA.items()}
    return {what: [repr(row).replace(parse(address).schema, "") for row in found] for what, found in rows.items()}


@pytest.mark.parametrize("version", range(1, FORMAT))
def test_an_old_crawl_becomes_what_a_new_one_would_be(version: int, crawl: str) -> None:
    with opened(crawl) as link:
        make_schema(link, parse(crawl).schema, version)
    PostgresStore(crawl, FakeClock()).db.sql.close()
    with crawl_on(server()) as other:
        PostgresStore(other, FakeClock()).db.sql.close()
        assert schema_of(crawl) == schema_of(other)


class Migration(threading.Thread):
    """A newer program that opens the crawl."""

    def __init__(self, address: str, folder: Path, attempts: int = 60) -> None:
        super().__init__()
        self._address, self._folder, self._attempts = address, folder, attempts
        self.error: StoreError | None = None

    def run(self) -> None:
        with opened(self._address) as link:
            try:
                migrate(link, parse(self._address).schema, version=LATER, folder=self._folder, attempts=self._attempts)
            except StoreError as error:
                self.error = error


def test_a_migration_waits_for_a_long_reader_without_keeping_others_waiting(crawl: str, later: Path) -> None:
    with closing(PostgresStore(crawl, FakeClock()).db.sql) as link, connected(crawl) as reader, connected(crawl) as watch:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pages")
        newer = Migration(crawl, later)
        newer.start()
        while watch.execute(WAITS).fetchone() == (0,):
            pass  # Until the migration stands behind the reader.
        assert link.run("SELECT count(*) FROM pages").fetchone() == (0,), "who comes later does not wait for the reader"
        assert newer.is_alive()
        reader.execute("ROLLBACK")
        newer.join()
        assert newer.error is None
        assert watch.execute("SELECT version FROM crawl_format").fetchone() == (LATER,)


def test_a_migration_that_never_gets_its_turn_says_so_and_changes_nothing(crawl: str, later: Path) -> None:
    PostgresStore(crawl, FakeClock()).db.sql.close()
    before = schema_of(crawl)
    with connected(crawl) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pages")
        newer = Migration(crawl, later, attempts=2)
        newer.start()
        newer.join()
        reader.execute("ROLLBACK")
    assert "it is in use. Stop long-running readers" in str(newer.error)
    assert schema_of(crawl) == before


def test_a_migration_that_fails_leaves_the_crawl_as_it_was(crawl: str, later: Path) -> None:
    PostgresStore(crawl, FakeClock()).db.sql.close()
    (later / COLOUR).write_text("ALTER TABLE pages ADD COLUMN colour TEXT; SELECT nothing FROM nowhere;")
    before = schema_of(crawl)
    newer = Migration(crawl, later)
    newer.start()
    newer.join()
    assert 'relation "nowhere" does not exist' in str(newer.error)
    assert schema_of(crawl) == before


def test_a_newer_crawl_is_worked_on_as_far_as_it_says_so_but_not_copied(crawl: str, later: Path) -> None:
    PostgresStore(crawl, FakeClock()).db.sql.close()
    Migration(crawl, later).run()
    PostgresStore(crawl, FakeClock()).db.sql.close()
    with pytest.raises(StoreError, match=r"was written by a newer Tadoru .* Upgrade Tadoru to copy it"):
        look_at(crawl, FakeClock())
    with opened(crawl) as link:
        link.run("UPDATE crawl_format SET readable_by = %s", [LATER])
        with pytest.raises(StoreError, match=r"was written by a newer Tadoru .* Upgrade Tadoru to read it"):
            format_of(link, parse(crawl).schema)


def test_numbers_go_on_behind_the_highest_of_an_older_crawl(old: str) -> None:
    with connected(old) as sql:
        sql.execute("INSERT INTO pages(id, url, host_id, depth, added_at) VALUES (7, 'https://h.example/', 1, 0, '2031-01-01')")
        sql.execute("INSERT INTO texts(id, text) VALUES (3, 'more')")
        sql.execute("INSERT INTO counters(name, value) VALUES ('queued', 1)")
    PostgresStore(old, FakeClock()).db.sql.close()
    with connected(old) as sql:
        page = "INSERT INTO pages(url, host_id, depth, added_at) VALUES ('https://h.example/a', 1, 0, '2031-01-01') RETURNING id"
        assert sql.execute(page).fetchone() == (8,)
        assert sql.execute("INSERT INTO texts(text) VALUES ('less') RETURNING id").fetchone() == (4,)
        assert sql.execute("SELECT worker, name, value FROM counters").fetchall() == [(0, "queued", 1)]


def test_facts_of_the_whole_site_are_read_from_the_findings_of_pages_that_are_not_requested_again(crawl: str) -> None:
    with opened(crawl) as link:
        make_schema(link, parse(crawl).schema, 6)
        link.run(FINDINGS)
    store = PostgresStore(crawl, FakeClock())
    with closing(store.db.sql):
        assert list(store.analysis.site_view(likeness=0.9).site_facts()) == [(1, FACTS)]


def test_a_program_that_numbers_pages_itself_is_told_to_upgrade(crawl: str) -> None:
    PostgresStore(crawl, FakeClock()).db.sql.close()
    with (
        opened(crawl) as link,
        pytest.raises(NewerFormat, match=rf"was written by a newer Tadoru \(format {FORMAT}\)\. Upgrade Tadoru"),
    ):
        format_of(link, parse(crawl).schema, 5)


NARROWS = re.compile(
    r"\bDROP (TABLE|COLUMN|CONSTRAINT)\b|\bRENAME\b|\bALTER COLUMN\b|\bSET NOT NULL\b|\bTRUNCATE\b"
    r"|\bADD COLUMN\b(?=[^,;]*\bNOT NULL\b)(?![^,;]*\bDEFAULT\b)",
    re.IGNORECASE,
)
"""What an old program that still runs would stumble over."""


def test_no_script_takes_from_an_old_program_what_it_needs() -> None:
    for words in ("ALTER TABLE a DROP COLUMN b", "ALTER TABLE a ADD COLUMN b TEXT NOT NULL, ADD COLUMN c INT DEFAULT 0"):
        assert NARROWS.search(words)
    assert not NARROWS.search("ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT ''; CREATE TABLE c (d TEXT NOT NULL)")
    steps = SQL.joinpath("upgrade", "postgresql").iterdir()
    crawls = [step for step in steps if int(step.name[:4]) != READABLE_BY]  # That one is closed to old programs.
    revisions = resources.files("tadoru.store").joinpath("calendar", "migrations", "versions").iterdir()
    for script in (*crawls, *(one for one in revisions if one.name.endswith(".postgresql.sql"))):
        assert not NARROWS.search(script.read_text(encoding="utf-8")), script.name
