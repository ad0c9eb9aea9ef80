"""Whole databases: copied both ways, backed up while in use, restored; nothing is lost and no number is given twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.errors import StoreError, UsageError
from tadoru.model.event import RunStatus
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.calendar.backup import copy_calendar, restore_calendar
from tadoru.store.calendar.schema import metadata
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tadoru.store.crawl.records import RobotsRecord
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.schema import CrawlState
from tadoru.store.service import open_service
from tests.contract.events.conftest import Collector
from tests.contract.events.dumping import dump
from tests.contract.events.matching import FIRST, PlainMatcher, bad, draft, many, series, whole_days
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer

NewStore = Callable[[str], CalendarStore]


@pytest.fixture
def new_store(tmp_path: Path, clock: FakeClock, request: pytest.FixtureRequest) -> Iterator[NewStore]:
    """One more empty database of either kind."""
    opened: list[CalendarStore] = []

    def new_store(kind: str) -> CalendarStore:
        if kind == "sqlite":
            address = str(tmp_path / f"other{len(opened)}.db")
        else:
            postgres: PostgresServer = request.getfixturevalue("postgres")
            address = postgres.new_database(request.getfixturevalue("ready_made"))
        opened.append(open_calendar(address, clock))
        return opened[-1]

    yield new_store
    for one in opened:
        one.close()


@pytest.fixture
def full(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> CalendarStore:
    """Something in every table."""
    first, second = collect.source("A", settings={"mapping": {"title": "名称"}}), collect.source("B", depends_on=1)
    gone = collect.source("gone")
    collect.run(
        first,
        [draft(uid="a"), series(), draft("展示", occurrence=whole_days(FIRST, 5), latitude=39.7, longitude=141.1)],
        (bad(),),
    )
    collect.run(second, [draft(uid="b", price="500円"), draft("星まつり 前夜", uid="c"), draft("odd\x00\ud800", uid="d")])
    done = store.merge_events(2, 3, matcher, by="mika")
    store.undo_merge(done.id, matcher, by="mika")
    store.merge_events(4, 3, matcher, by="mika") if store.event(4).title else None
    store.edit_event(1, {"category": "祭"}, matcher, by="mika")
    store.remember(first.id, etag=b'W/"\xff"', kept={"pages": [1, None, 2.5]})
    store.add_snapshot(first.id, first.url, "a.ics", store.now(), etag=b"\x00\xff")
    store.open_incident(first.id, "failure", {"error": "HTTP 500"})
    store.put_robots("https://example.org", RobotsRecord(200, None, "", b"\xff\x00", 0.0))
    worker = store.join(60)
    store.take_slot(worker, "example.org", 30, gap=1.5)
    store.lease_source(worker, second.id)
    store.finish_run(store.start_run(second.id, worker), RunStatus.PARTIAL, counts={"parsed": 2}, error="one")
    store.remove_source(gone.id, by="mika")
    with closing(open_service(store.database, store.clock)) as service:
        mika, by = service.add_user("mika", "editor", Actor(who="test")), Actor(who="mika", user_id=1)
        service.start_session(mika, by)
        service.add_key("program", ("events:read",), by, user="mika")
        service.add_crawl(
            "site", "audit", ["https://example.org/"], {"depth": 2}, by, every=3600, webhook="https://example.org/h"
        )
        service.claim_crawl(current(), at_once=1)
        service.end_crawl(1, current(), CrawlState.FINISHED, figures={"pages": 3}, changes={"regression": True})
    return store


def test_every_table_has_a_row_to_lose(full: CalendarStore) -> None:
    assert [name for name, rows in dump(full).items() if not rows] == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_has_every_row_of_every_table(full: CalendarStore, new_store: NewStore, kind: str) -> None:
    other, heard = new_store(kind), dict[str, int]()
    counts = copy_calendar(full, other, heard.__setitem__)
    assert dump(other) == dump(full)
    assert counts == heard == {name: len(rows) for name, rows in dump(full).items()}
    assert set(counts) == set(metadata.tables)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_is_used_like_the_original_and_gives_no_number_twice(
    full: CalendarStore, new_store: NewStore, matcher: PlainMatcher, kind: str
) -> None:
    other = new_store(kind)
    copy_calendar(full, other)
    ids = [store.add_source({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren").id for store in (full, other)]
    assert ids == [4, 4], "source 3 was removed, but its history stays its own"
    found = [Collector(store, matcher).run(store.source(4), [*many(3), draft(uid="x")]) for store in (full, other)]
    assert found[0] == found[1]
    assert found[0].merged == 1
    assert [one.event.title for one in other.events(limit=99).items] == [one.event.title for one in full.events(limit=99).items]


def test_a_copy_is_made_into_an_empty_database_only(full: CalendarStore, new_store: NewStore) -> None:
    other = new_store("sqlite")
    other.add_source({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren")
    before = dump(other)
    with pytest.raises(UsageError, match=r"is not empty\. Copy into a new one"):
        copy_calendar(full, other)
    assert dump(other) == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_crawl_that_runs_is_queued_in_a_copy_and_goes_on_in_the_original(
    store: CalendarStore, new_store: NewStore, tmp_path: Path, clock: FakeClock, kind: str
) -> None:
    other, me = new_store(kind), current()
    with closing(open_service(store.database, clock)) as service:
        for wanted in ("", "pause"):
            number = service.add_crawl("site", "audit", ["https://example.org/"], {}, Actor(who="mika")).id
            service.claim_crawl(me, at_once=9)
            if wanted:
                service.pause_crawl(number, Actor(who="mika"))
        store.backup(str(tmp_path / "backup.db"))
        copy_calendar(store, other)
        assert service.holds_crawl(1, me)
    restore_calendar(str(tmp_path / "backup.db"), str(tmp_path / "restored.db"), clock)
    for copy in (other.database, str(tmp_path / "restored.db")):
        with closing(open_service(copy, clock)) as service:
            assert [service.crawl(number).state.value for number in (1, 2)] == ["queued", "paused"]
            assert not service.holds_crawl(1, me)
            assert [run.outcome for number in (1, 2) for run in service.crawl_runs(number)] == ["stopped", "stopped"]
            assert service.unnotified_runs() == ()


def test_a_copy_that_breaks_off_leaves_nothing(full: CalendarStore, new_store: NewStore) -> None:
    other = new_store("sqlite")

    def stop(table: str, rows: int) -> None:
        if table == "sightings":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_calendar(full, other, stop)
    assert not any(dump(other).values())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_one_file_that_is_restored_into_either(
    full: CalendarStore, new_store: NewStore, tmp_path: Path, clock: FakeClock, kind: str
) -> None:
    file = tmp_path / "kept" / "backup.db"
    full.backup(str(file))
    assert [one.name for one in file.parent.iterdir()] == ["backup.db"]
    assert file.stat().st_mode & 0o077 == 0, "sources have addresses that others need not know"
    written = file.read_bytes()
    target = str(tmp_path / "restored.db") if kind == "sqlite" else new_store(kind).database
    restore_calendar(str(file), target, clock)
    assert file.read_bytes() == written
    assert [one.name for one in file.parent.iterdir()] == ["backup.db"]
    restored = open_calendar(target, clock)
    assert dump(restored) == dump(full)
    assert restored.add_source({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren").id == 4
    restored.close()


def test_a_backup_taken_while_others_write_is_whole(
    store: CalendarStore, collect: Collector, tmp_path: Path, clock: FakeClock
) -> None:
    source = collect.source()
    collect.run(source, many(20))
    with store.write() as sql:
        sql.exec_driver_sql("UPDATE events SET price = 'half done'")
        store.backup(str(tmp_path / "backup.db"))
    kept = open_calendar(str(tmp_path / "backup.db"), clock)
    assert {one.event.price for one in kept.events(limit=50).items} == {""}
    assert kept.count_events() == 20
    kept.close()


def test_nothing_is_written_over(full: CalendarStore, tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "backup.db"
    full.backup(str(file))
    with pytest.raises(UsageError, match=r"backup.db already exists. Choose another name"):
        full.backup(str(file))
    with pytest.raises(UsageError, match=r"already exists\. Move it away"):
        restore_calendar(str(file), str(file), clock)
    with pytest.raises(UsageError, match=r"already exists|is not empty"):
        restore_calendar(str(file), full.database, clock)


def test_what_is_no_backup_is_not_restored(tmp_path: Path, clock: FakeClock) -> None:
    with pytest.raises(UsageError, match="not found"):
        restore_calendar(str(tmp_path / "nothing.db"), str(tmp_path / "new.db"), clock)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as sql:
        sql.execute("CREATE TABLE mine(x)")
    with pytest.raises(StoreError, match="not a Tadoru calendar"):
        restore_calendar(str(other), str(tmp_path / "new.db"), clock)
    text = tmp_path / "text.db"
    text.write_text("no database\n" * 100)
    with pytest.raises(StoreError, match="is not a SQLite database"):
        restore_calendar(str(text), str(tmp_path / "new.db"), clock)
    (tmp_path / "empty.db").touch()
    with pytest.raises(UsageError, match=r"is empty\. Choose a backup"):
        restore_calendar(str(tmp_path / "empty.db"), str(tmp_path / "new.db"), clock)
    assert not (tmp_path / "new.db").exists()


def test_a_damaged_backup_is_not_restored(tmp_path: Path, clock: FakeClock, matcher: PlainMatcher) -> None:
    store = open_calendar(str(tmp_path / "events.db"), clock)
    collect = Collector(store, matcher)
    collect.run(collect.source(), many(200))
    store.backup(str(tmp_path / "backup.db"))
    store.close()
    whole = (tmp_path / "backup.db").read_bytes()
    (tmp_path / "backup.db").write_bytes(whole[: len(whole) // 2] + b"\x55" * (len(whole) - len(whole) // 2))
    with pytest.raises(StoreError, match="damaged"):
        restore_calendar(str(tmp_path / "backup.db"), str(tmp_path / "new.db"), clock)
    assert not (tmp_path / "new.db").exists()
