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
from tadoru.store.calendar.backup import back_up_calendar, copy_calendar, restore_calendar
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
    done = store.merges.merge(2, 3, matcher, by="mika")
    store.merges.undo(done.id, matcher, by="mika")
    store.merges.merge(4, 3, matcher, by="mika") if store.events.get(4).title else None
    store.edits.edit(1, {"category": "祭"}, matcher, by="mika")
    store.schedule.remember(first.id, etag=b'W/"\xff"', kept={"pages": [1, None, 2.5]})
    store.runs.add_snapshot(first.id, first.url, "a.ics", store.db.now(), etag=b"\x00\xff")
    store.incidents.open(first.id, "failure", {"error": "HTTP 500"})
    store.hosts.put_robots("https://example.org", RobotsRecord(200, None, "", b"\xff\x00", 0.0))
    worker = store.schedule.join(60)
    store.hosts.take_slot(worker, "example.org", 30, gap=1.5)
    store.schedule.lease(worker, second.id)
    store.runs.finish(store.runs.start(second.id, worker), RunStatus.PARTIAL, counts={"parsed": 2}, error="one")
    store.sources.remove(gone.id, by="mika")
    with closing(open_service(store.db.database, store.db.clock)) as service:
        mika, by = service.users.add("mika", "editor", Actor(who="test")), Actor(who="mika", user_id=1)
        service.sessions.start(mika, by)
        service.keys.add("program", ("events:read",), by, user="mika")
        service.crawls.add(
            "site", "audit", ["https://example.org/"], {"depth": 2}, by, every=3600, webhook="https://example.org/h"
        )
        service.claims.claim(current(), at_once=1)
        service.claims.end(1, current(), CrawlState.FINISHED, figures={"pages": 3}, changes={"regression": True})
        service.annotations.save_view(1, by, tab="pages", name="Slow", query="response_ms=%3E500")
        service.annotations.ignore(1, by, check_id="title-missing", subject="", reason="old pages")
        service.annotations.share(1, by, label="client", days=7)
    return store


def test_every_table_has_a_row_to_lose(full: CalendarStore) -> None:
    assert [name for name, rows in dump(full.db).items() if not rows] == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_has_every_row_of_every_table(full: CalendarStore, new_store: NewStore, kind: str) -> None:
    other, heard = new_store(kind), dict[str, int]()
    counts = copy_calendar(full.db, other.db, heard.__setitem__)
    assert dump(other.db) == dump(full.db)
    assert counts == heard == {name: len(rows) for name, rows in dump(full.db).items()}
    assert set(counts) == set(metadata.tables)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_is_used_like_the_original_and_gives_no_number_twice(
    full: CalendarStore, new_store: NewStore, matcher: PlainMatcher, kind: str
) -> None:
    other = new_store(kind)
    copy_calendar(full.db, other.db)
    ids = [
        store.sources.add({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren").id for store in (full, other)
    ]
    assert ids == [4, 4], "source 3 was removed, but its history stays its own"
    found = [Collector(store, matcher).run(store.sources.get(4), [*many(3), draft(uid="x")]) for store in (full, other)]
    assert found[0] == found[1]
    assert found[0].merged == 1
    assert [one.event.title for one in other.events.list(limit=99).items] == [
        one.event.title for one in full.events.list(limit=99).items
    ]


def test_a_copy_is_made_into_an_empty_database_only(full: CalendarStore, new_store: NewStore) -> None:
    other = new_store("sqlite")
    other.sources.add({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren")
    before = dump(other.db)
    with pytest.raises(UsageError, match=r"is not empty\. Copy into a new one"):
        copy_calendar(full.db, other.db)
    assert dump(other.db) == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_crawl_that_runs_is_queued_in_a_copy_and_goes_on_in_the_original(
    store: CalendarStore, new_store: NewStore, tmp_path: Path, clock: FakeClock, kind: str
) -> None:
    other, me = new_store(kind), current()
    with closing(open_service(store.db.database, clock)) as service:
        for wanted in ("", "pause"):
            number = service.crawls.add("site", "audit", ["https://example.org/"], {}, Actor(who="mika")).id
            service.claims.claim(me, at_once=9)
            if wanted:
                service.crawls.pause(number, Actor(who="mika"))
        back_up_calendar(store.db, str(tmp_path / "backup.db"))
        copy_calendar(store.db, other.db)
        assert service.claims.holds(1, me)
    restore_calendar(str(tmp_path / "backup.db"), str(tmp_path / "restored.db"), clock)
    for copy in (other.db.database, str(tmp_path / "restored.db")):
        with closing(open_service(copy, clock)) as service:
            assert [service.crawls.get(number).state.value for number in (1, 2)] == ["queued", "paused"]
            assert not service.claims.holds(1, me)
            assert [run.outcome for number in (1, 2) for run in service.crawls.runs(number)] == ["stopped", "stopped"]
            assert service.claims.unnotified_runs() == ()


def test_a_copy_that_breaks_off_leaves_nothing(full: CalendarStore, new_store: NewStore) -> None:
    other = new_store("sqlite")

    def stop(table: str, rows: int) -> None:
        if table == "sightings":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_calendar(full.db, other.db, stop)
    assert not any(dump(other.db).values())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_one_file_that_is_restored_into_either(
    full: CalendarStore, new_store: NewStore, tmp_path: Path, clock: FakeClock, kind: str
) -> None:
    file = tmp_path / "kept" / "backup.db"
    back_up_calendar(full.db, str(file))
    assert [one.name for one in file.parent.iterdir()] == ["backup.db"]
    assert file.stat().st_mode & 0o077 == 0, "sources have addresses that others need not know"
    written = file.read_bytes()
    target = str(tmp_path / "restored.db") if kind == "sqlite" else new_store(kind).db.database
    restore_calendar(str(file), target, clock)
    assert file.read_bytes() == written
    assert [one.name for one in file.parent.iterdir()] == ["backup.db"]
    restored = open_calendar(target, clock)
    assert dump(restored.db) == dump(full.db)
    assert restored.sources.add({"name": "new", "type": "rss", "url": "https://example.org"}, by="ren").id == 4
    restored.close()


def test_a_backup_taken_while_others_write_is_whole(
    store: CalendarStore, collect: Collector, tmp_path: Path, clock: FakeClock
) -> None:
    source = collect.source()
    collect.run(source, many(20))
    with store.db.write() as sql:
        sql.exec_driver_sql("UPDATE events SET price = 'half done'")
        back_up_calendar(store.db, str(tmp_path / "backup.db"))
    kept = open_calendar(str(tmp_path / "backup.db"), clock)
    assert {one.event.price for one in kept.events.list(limit=50).items} == {""}
    assert kept.events.count() == 20
    kept.close()


def test_nothing_is_written_over(full: CalendarStore, tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "backup.db"
    back_up_calendar(full.db, str(file))
    with pytest.raises(UsageError, match=r"backup.db already exists. Choose another name"):
        back_up_calendar(full.db, str(file))
    with pytest.raises(UsageError, match=r"already exists\. Move it away"):
        restore_calendar(str(file), str(file), clock)
    with pytest.raises(UsageError, match=r"already exists|is not empty"):
        restore_calendar(str(file), full.db.database, clock)


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
    back_up_calendar(store.db, str(tmp_path / "backup.db"))
    store.close()
    whole = (tmp_path / "backup.db").read_bytes()
    (tmp_path / "backup.db").write_bytes(whole[: len(whole) // 2] + b"\x55" * (len(whole) - len(whole) // 2))
    with pytest.raises(StoreError, match="damaged"):
        restore_calendar(str(tmp_path / "backup.db"), str(tmp_path / "new.db"), clock)
    assert not (tmp_path / "new.db").exists()
