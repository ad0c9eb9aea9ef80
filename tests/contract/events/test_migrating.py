"""A database is brought to a new format while others work on it: they go on, and so do the programs of the format before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from tadoru.errors import StoreError
from tadoru.jobs.events.dedupe import EventMatcher
from tadoru.model.event import RunStatus
from tadoru.store.calendar import migrate
from tadoru.store.calendar.backup import copy_calendar
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.migrate import VERSIONS
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import PlainMatcher, draft, many
from tests.contract.events.test_opening import later_revisions
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer

NEWER = (*VERSIONS, "9001")
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def address(postgres: PostgresServer, ready_made: str) -> Iterator[str]:
    made = postgres.new_database(ready_made)
    yield made
    postgres.drop(made)


class Migration(threading.Thread):
    """A newer program that opens the database."""

    def __init__(self, address: str, revisions: Path, **options: int) -> None:
        super().__init__()
        self._store = CalendarDatabase(address, FakeClock())
        self._revisions, self._options = revisions, options
        self.error: StoreError | None = None

    def run(self) -> None:
        try:
            migrate.prepare_database(self._store, NEWER, self._revisions, **self._options)  # type: ignore[arg-type]
        except StoreError as error:
            self.error = error
        finally:
            self._store.close()


def test_an_old_program_goes_on_while_and_after_a_new_one_migrates(
    store: CalendarStore, collect: Collector, tmp_path: Path, clock: FakeClock
) -> None:
    source = collect.source()
    collect.run(source, many(2))
    with closing(CalendarDatabase(store.db.database, clock)) as new:
        migrate.prepare_database(new, NEWER, later_revisions(tmp_path, fails=False))
    collect.run(source, many(5))
    with closing(open_calendar(store.db.database, clock)) as again:
        assert again.events.count() == 5, "an old program is started once more, and finds what it knows"
        with again.db.read() as sql:
            assert sql.execute(text("SELECT colour FROM sources")).scalars().all() == ["red"]


def test_a_newer_database_is_not_copied_by_an_old_program_that_would_leave_something_behind(
    store: CalendarStore, tmp_path: Path, clock: FakeClock
) -> None:
    migrate.prepare_database(store.db, NEWER, later_revisions(tmp_path, fails=False))
    refused = pytest.raises(StoreError, match=r"a newer version of Tadoru wrote it \(format 9001\)")
    with closing(open_calendar(str(tmp_path / "copy.db"), clock)) as other, refused:
        copy_calendar(store.db, other.db)


def test_a_migration_waits_for_a_long_reader_without_keeping_others_waiting(
    address: str, tmp_path: Path, matcher: PlainMatcher, clock: FakeClock
) -> None:
    with closing(open_calendar(address, clock)) as store:
        collect = Collector(store, matcher)
        collect.source("A")
        with psycopg.connect(address) as reader, psycopg.connect(address, autocommit=True) as watch:
            assert reader.execute("SELECT count(*) FROM sources").fetchone() == (1,), "a transaction that does not end"
            newer = Migration(address, later_revisions(tmp_path, fails=False))
            newer.start()
            while watch.execute(WAITS).fetchone() == (0,):
                pass  # Until the migration stands behind the reader.
            assert [one.name for one in store.sources.list()] == ["A"], "who comes later is not kept waiting for the reader"
            assert newer.is_alive()
            reader.rollback()
            newer.join()
    assert newer.error is None
    with closing(open_calendar(address, clock)) as store, store.db.read() as sql:
        assert sql.execute(text("SELECT colour FROM sources")).scalars().all() == ["red"]


def test_a_migration_that_never_gets_its_turn_says_so_and_changes_nothing(address: str, tmp_path: Path) -> None:
    with psycopg.connect(address) as reader:
        reader.execute("SELECT count(*) FROM sources")
        newer = Migration(address, later_revisions(tmp_path, fails=False), attempts=1)
        newer.start()
        newer.join()
    assert "to format 9001: it is always in use. Stop long-running readers" in str(newer.error)
    with psycopg.connect(address) as sql:
        assert sql.execute(f"SELECT version_num FROM {migrate.VERSION_TABLE}").fetchone() == (VERSIONS[-1],)


def test_several_newer_programs_at_once_migrate_it_once(address: str, tmp_path: Path, clock: FakeClock) -> None:
    revisions = later_revisions(tmp_path, fails=False)
    newer = [Migration(address, revisions) for _ in range(4)]
    with psycopg.connect(address) as writer:
        writer.execute("SELECT pg_advisory_xact_lock(%s)", [migrate.MIGRATION_LOCK])
        for one in newer:
            one.start()
        with psycopg.connect(address, autocommit=True) as watch:
            while watch.execute(WAITS).fetchone() == (0,):
                pass
    for one in newer:
        one.join()
    assert [one.error for one in newer] == [None] * 4
    with psycopg.connect(address) as sql:
        assert sql.execute(f"SELECT * FROM {migrate.VERSION_TABLE}").fetchall() == [("9001", migrate.READABLE_BY)]


def test_events_of_the_format_before_archived_and_written_ones_too_get_their_blocking_keys_with_the_next_run(
    store: CalendarStore, clock: FakeClock
) -> None:
    matcher = EventMatcher()
    old = Collector(store, matcher)  # type: ignore[arg-type]
    source = old.source()
    held = draft("秋の大演奏会", venue="桜川アートホール", city="桜川市")
    past = draft("春の大演奏会", datetime(2020, 4, 1, 10, tzinfo=UTC), venue="桜川アートホール", city="桜川市")
    written = draft("町内の茶話会", venue="桜川集会所", city="桜川市")
    old.run(source, [held, past])
    store.edits.create(written, matcher, "mika")
    assert store.retention.archive() == 1
    with store.db.write() as sql:
        sql.execute(text("DELETE FROM blocks"))
        sql.execute(text("DROP TABLE block_formats"))
        sql.execute(text("ALTER TABLE hosts DROP COLUMN wait_from"))
        sql.execute(text(f"UPDATE {migrate.VERSION_TABLE} SET version_num = '0008'"))
    with closing(open_calendar(store.db.database, clock)) as upgraded:
        again = Collector(upgraded, matcher)  # type: ignore[arg-type]
        run = again.start(source)
        assert upgraded.results.fill_blocks(run, matcher) == 3
        assert upgraded.results.fill_blocks(run, matcher) == 0, "once is enough"
        upgraded.runs.finish(run, RunStatus.SUCCESS, counts={})
        with upgraded.db.read() as sql:
            keys = set(sql.execute(text("SELECT block FROM blocks")).scalars())
        assert keys == {key for one in (held, past, written) for key in matcher.blocks(one)}
        other = again.source("Hall")
        assert again.run(other, [replace(held, city="")]).inserted == 0, "it is recognised by its venue"
        assert upgraded.events.count() == 2, "and one is archived"
