"""A search engine is told what the calendar holds: whatever happens on the way, in the end its index equals the database.

The engines are stubs of ours (`tests.support.search_engines`), which hold the official clients to the documented interface.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from tadoru.config.options import EventsOptions
from tadoru.errors import ConfigError, TadoruError, UsageError
from tadoru.jobs.events.search.engine import SEARCHABLE, SearchEngineBusy, SearchEngineError, engine_for
from tadoru.jobs.events.search.index_sync import IndexSync, SyncResult, sync_once
from tadoru.store.calendar.schema import events
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, PlainMatcher, bad, draft, many
from tests.support.clock import FakeClock
from tests.support.search_engines import KEY, MeilisearchStub, StubEngine, TypesenseStub

STUBS = {"meilisearch": MeilisearchStub, "typesense": TypesenseStub}


@pytest.fixture(params=["meilisearch", "typesense"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def stub(kind: str) -> Iterator[StubEngine]:
    with closing(STUBS[kind]()) as one:
        yield one


@pytest.fixture
def small(tmp_path: Path, clock: FakeClock) -> Iterator[CalendarStore]:
    """One database is enough where it is the engine that matters."""
    with closing(open_calendar(str(tmp_path / "small.db"), clock)) as one:
        yield one


def options(kind: str, stub: StubEngine, **given: Any) -> EventsOptions:
    return EventsOptions(search_engine=kind, search_url=stub.url, search_key="SEARCH", **given)


def sync(
    store: CalendarStore, kind: str, stub: StubEngine, *, whole: bool = False, archived: bool = True, **given: Any
) -> SyncResult:
    engine = engine_for(options(kind, stub), {"SEARCH": KEY})
    assert engine is not None
    store.schedule.reap()
    worker = store.schedule.join(60.0)
    try:
        with closing(engine):
            done = asyncio.run(IndexSync(store, engine, store.db.clock, worker, archived=archived, **given).run(whole=whole))
    finally:
        store.schedule.leave(worker)
    assert done is not None
    return done


def public(store: CalendarStore, *, archived: bool = True) -> dict[str, str]:
    """The titles of what everybody may see, read with no help of the product's."""
    with store.db.read() as sql:
        rows = sql.execute(select(events)).mappings().all()
    seen = [row for row in rows if row["status"] == "active" and row["merged_into"] is None]
    return {str(row["id"]): row["title"] for row in seen if archived or row["archived_at"] is None}


def told(stub: StubEngine) -> dict[str, str]:
    return {number: document["title"] for number, document in stub.documents().items()}


def test_an_engine_that_knows_nothing_is_told_everything_and_then_what_changed(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher, clock: FakeClock, kind: str, stub: StubEngine
) -> None:
    source, other = collect.source("A"), collect.source("B")
    collect.run(source, [*many(12), draft("花火", latitude=39.7, longitude=141.1, description="<b>夜</b>\n空")], (bad(),))
    first = sync(store, kind, stub, at_once=5)
    assert (first.is_whole, first.put) == (True, 13)
    assert told(stub) == public(store)
    assert len(told(stub)) == 13

    assert sync(store, kind, stub) == SyncResult()  # nothing changed
    one, two, three, four = [int(number) for number in list(public(store))[:4]]
    store.edits.edit(one, {"title": "夜市"}, matcher, by="mika")
    store.edits.hide(two, by="mika")
    merge = store.merges.merge(three, four, matcher, by="mika")
    collect.run(other, [draft("音楽会", FIRST + timedelta(days=40))])
    done = sync(store, kind, stub)
    assert (done.is_whole, done.removed) == (False, 2)
    assert told(stub) == public(store)
    assert str(two) not in told(stub)

    store.edits.unhide(two, by="mika")
    store.merges.undo(merge.id, matcher, by="mika")
    clock.advance(86400 * 400)
    store.retention.archive(after=timedelta(days=1))
    sync(store, kind, stub, at_once=3)
    assert told(stub) == public(store)
    assert all(one["archived"] for one in stub.documents().values())
    with store.db.write_events() as sql:
        sql.execute(text("DELETE FROM events WHERE id = :id"), {"id": one})
    sync(store, kind, stub)
    assert told(stub) == public(store)
    assert str(one) not in told(stub)


def test_a_document_says_what_the_event_says(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), [draft("花火", latitude=39.7, longitude=141.1, description="<b>夜</b>\n空", category="祭")])
    sync(small, kind, stub)
    document = stub.documents()["1"]
    starts = int(FIRST.timestamp())
    place = {"meilisearch": {"_geo": {"lat": 39.7, "lng": 141.1}}, "typesense": {"location": [39.7, 141.1]}}[kind]
    said = {"id": "1", "title": "花火", "description": "夜 空", "category": "祭", "city": "盛岡", "starts_at": starts,
            "ends_at": starts + 3600, "local_date": "2023-12-01", "cancelled": False, "archived": False, **place}  # fmt: skip
    assert {name: document[name] for name in said} == said
    assert None not in document.values()


def test_archived_events_are_left_out_when_they_are_not_wanted_and_come_back_when_they_are(
    small: CalendarStore, clock: FakeClock, kind: str, stub: StubEngine
) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), [draft("花火"), draft("後で", FIRST + timedelta(days=300))])
    sync(small, kind, stub, archived=False)
    assert len(told(stub)) == 2
    clock.advance(86400 * 100)
    small.retention.archive(after=timedelta(days=1))
    assert sync(small, kind, stub, archived=False).removed == 1
    assert list(told(stub).values()) == ["後で"]
    assert sync(small, kind, stub).is_whole  # the index was filled in another form
    assert len(told(stub)) == 2


def test_the_index_has_settings_of_ours(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    sync(small, kind, stub)
    if isinstance(stub, MeilisearchStub):
        settings = stub.indexes["events"]["settings"]
        assert settings["searchableAttributes"] == list(SEARCHABLE)
        assert {"id", "city", "starts_at", "_geo"} <= set(settings["filterableAttributes"])
        assert {"starts_at"} <= set(settings["sortableAttributes"])
        assert list(stub.indexes) == ["events"]
    else:
        assert isinstance(stub, TypesenseStub)
        fields = stub.collections[stub.aliases["events"]]["fields"]
        assert all(fields[name]["locale"] == "ja" for name in SEARCHABLE)
        assert fields["starts_at"]["sort"]
        assert len(stub.collections) == 1


def test_a_full_sync_leaves_the_old_index_in_use_until_the_new_one_is_ready(
    small: CalendarStore, kind: str, stub: StubEngine
) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), many(6))
    sync(small, kind, stub)
    seen: list[int] = []
    stub.on_request = lambda number: seen.append(len(stub.documents()))
    assert sync(small, kind, stub, whole=True, at_once=2).is_whole
    assert set(seen) == {6}
    assert len(seen) > 5


def test_what_changes_while_everything_is_told_is_told_as_well(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    collect, matcher = Collector(small, PlainMatcher()), PlainMatcher()
    collect.run(collect.source(), many(6))
    sync(small, kind, stub)
    before = stub.requests

    def change(number: int) -> None:
        if number in range(before, before + 12):
            small.edits.edit(1 + (number - before) % 6, {"title": f"改 {number}"}, matcher, by="mika")

    stub.on_request = change
    sync(small, kind, stub, whole=True, at_once=2)
    assert told(stub) == public(small)
    assert all(title.startswith("改") for title in told(stub).values())


@pytest.mark.parametrize("whole, fault", [(True, 429), (True, "close"), (True, "lost"), (False, 503), (False, 500)])
def test_a_fault_at_any_request_is_got_over(
    small: CalendarStore, kind: str, stub: StubEngine, whole: bool, fault: int | str
) -> None:
    collect, matcher = Collector(small, PlainMatcher()), PlainMatcher()
    collect.run(collect.source(), many(3))
    sync(small, kind, stub)
    for at in range(100):
        stub.faults = {stub.requests + at: fault}
        small.edits.edit(1, {"title": f"改 {at}"}, matcher, by="mika")
        (small.edits.unhide if at % 2 else small.edits.hide)(2, by="mika")
        try:
            sync(small, kind, stub, whole=whole, at_once=2)
        except SearchEngineBusy:
            # Whether the new index was put in place is not known: the next sync makes it anew.
            assert whole
            assert fault in ("close", "lost")
            sync(small, kind, stub)
        assert told(stub) == public(small), at
        if stub.faults:
            break  # there was no such request any more
    assert at >= 3


@pytest.mark.parametrize(
    "said, least, most",
    [("90", 90, 100), ("0", 1, 10), ("86400", 300, 310), ("Tue, 14 Nov 2023 22:15:00 GMT", 90, 110), ("soon", 1, 10)],
)
def test_an_engine_says_when_to_come_again_and_is_believed_within_bounds(
    small: CalendarStore, kind: str, stub: StubEngine, clock: FakeClock, said: str, least: int, most: int
) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), many(3))
    sync(small, kind, stub)
    small.edits.edit(1, {"title": "夜市"}, PlainMatcher(), by="mika")
    stub.faults, stub.retry_after, before = {stub.requests + 1: 429}, said, clock.now()
    sync(small, kind, stub)
    assert least <= clock.now() - before <= most
    assert told(stub) == public(small)


def test_an_engine_that_is_down_loses_nothing(small: CalendarStore, kind: str, clock: FakeClock) -> None:
    collect, matcher = Collector(small, PlainMatcher()), PlainMatcher()
    collect.run(collect.source(), many(3))
    stub = STUBS[kind]()
    sync(small, kind, stub)
    stub.close()
    small.edits.edit(1, {"title": "夜市"}, matcher, by="mika")
    before = clock.now()
    with pytest.raises(SearchEngineBusy, match="Cannot connect to") as caught:
        sync(small, kind, stub)
    assert KEY not in str(caught.value)
    assert clock.now() - before >= 1 + 2 + 4 + 8 + 16  # it was tried again, and not at once
    (target,) = small.search_changes.targets()
    assert len(small.search_changes.pending(target, limit=10)) == 1


def test_a_batch_that_is_too_large_is_halved(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), many(9))
    stub.largest = 1800
    assert sync(small, kind, stub).put == 9
    assert told(stub) == public(small)
    stub.largest = 100
    with pytest.raises(SearchEngineError, match="too large for"):
        sync(small, kind, stub, whole=True)


def test_a_wrong_key_is_told_without_it(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    engine = engine_for(options(kind, stub), {"SEARCH": "falsch-987"})
    assert engine is not None
    with closing(engine), pytest.raises(SearchEngineError, match="rejected the key") as caught:
        asyncio.run(sync_once(small, engine, small.db.clock))
    assert "falsch-987" not in str(caught.value)
    assert stub.requests == 1  # nobody tries a wrong key again


def test_a_document_that_is_refused_is_an_error_and_stays_noted(small: CalendarStore, kind: str, stub: StubEngine) -> None:
    collect = Collector(small, PlainMatcher())
    collect.run(collect.source(), many(2))
    sync(small, kind, stub)
    if isinstance(stub, MeilisearchStub):
        stub.indexes["events"]["key"] = "uid_of_another_program"
    else:
        assert isinstance(stub, TypesenseStub)
        stub.collections[stub.aliases["events"]]["fields"]["colour"] = {"name": "colour", "type": "string"}
    small.edits.edit(1, {"title": "夜市"}, PlainMatcher(), by="mika")
    with pytest.raises(SearchEngineError, match="rejected the request"):
        sync(small, kind, stub)
    assert len(small.search_changes.pending(small.search_changes.targets()[0], limit=10)) == 1


def test_one_worker_at_a_time_tells_an_engine(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    collect.run(collect.source(), many(2))
    one, other = store.schedule.join(60.0), store.schedule.join(60.0)
    target = store.search_changes.lease("engine", one)
    assert target is not None
    assert store.search_changes.lease("engine", other) is None
    store.edits.edit(1, {"title": "夜市"}, matcher, by="mika")
    noted = store.search_changes.pending(target, limit=10)
    store.edits.edit(1, {"title": "朝市"}, matcher, by="mika")  # after it was read
    assert store.search_changes.mark_synced(target, one, noted)
    assert list(store.search_changes.pending(target, limit=10)) == [1]

    noted = store.search_changes.pending(target, limit=10)
    store.schedule.leave(one)  # given up for dead while it tells
    assert store.search_changes.lease("engine", other) is not None
    assert store.search_changes.mark_synced(target, other, noted)
    assert store.search_changes.pending(target, limit=10) == {}
    assert not store.search_changes.mark_synced(target, one, noted)  # what it told may be old: somebody tells it again
    assert list(store.search_changes.pending(target, limit=10)) == [1]
    assert store.search_changes.forget("engine")
    assert not store.search_changes.mark_synced(target, one, noted)
    assert not store.search_changes.forget("engine")


def test_nothing_is_noted_when_nobody_is_to_be_told_and_seeing_an_event_again_is_no_change(
    store: CalendarStore, collect: Collector
) -> None:
    source = collect.source()
    collect.run(source, many(3))
    target = store.search_changes.lease("engine", store.schedule.join(60.0))
    assert target is not None
    assert len(store.search_changes.pending(target, limit=10)) == 0
    collect.run(source, many(3))  # the same again
    assert len(store.search_changes.pending(target, limit=10)) == 0
    collect.run(source, many(4))
    assert list(store.search_changes.pending(target, limit=10)) == [4]


@pytest.mark.parametrize(
    "given, said",
    [
        ({"search_url": None}, "Set --search-url"),
        ({"search_url": "ftp://x"}, "Set --search-url"),
        ({"search_url": "http://me:secret@host"}, "Set --search-url"),
        ({"search_url": "http://host", "search_index": "a/b"}, "Invalid index name"),
        ({"search_url": "http://host", "search_key": "NOWHERE"}, "The environment variable NOWHERE"),
    ],
)
def test_what_can_not_be_used_is_told_before_anything_is_sent(given: dict[str, Any], said: str, kind: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        engine_for(EventsOptions(search_engine=kind, **given), {})
    assert "secret" not in str(caught.value)
    assert engine_for(EventsOptions()) is None


def test_typesense_needs_a_key() -> None:
    with pytest.raises(UsageError, match="needs a key"):
        engine_for(EventsOptions(search_engine="typesense", search_url="http://127.0.0.1:1"), {})


def command(database: Path, kind: str, stub: StubEngine, *more: str) -> list[str]:
    where = ["--search-engine", kind, "--search-url", stub.url, "--search-key", "SEARCH", *more]
    return [sys.executable, "-m", "tadoru", "events", "-d", str(database), "search-sync", *where]


@pytest.mark.parametrize("kind", ["meilisearch"])
def test_a_sync_that_is_killed_between_telling_and_noting_it_is_made_good_by_the_next(
    tmp_path: Path, clock: FakeClock, kind: str, stub: StubEngine, checkout: Path
) -> None:
    database = tmp_path / "events.db"
    environment = {**os.environ, "SEARCH": KEY, "PYTHONPATH": str(checkout / "src")}
    with closing(open_calendar(str(database), clock)) as store:
        collect, matcher = Collector(store, PlainMatcher()), PlainMatcher()
        collect.run(collect.source(), many(5))
        sync(store, kind, stub)
        store.edits.edit(1, {"title": "夜市"}, matcher, by="mika")
        store.edits.hide(2, by="mika")
        began, put = stub.requests, 2
        process = subprocess.Popen(
            command(database, kind, stub), env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        # The engine has the documents; what was told is not struck out yet.
        stub.on_request = lambda number: process.send_signal(signal.SIGKILL) if number == began + put else None
        assert process.wait(60) == -signal.SIGKILL
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()
        stub.on_request = lambda number: None
        assert len(store.search_changes.pending(store.search_changes.targets()[0], limit=10)) == 2
        done = subprocess.run(
            command(database, kind, stub), env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "Changes: 1 event sent, 1 removed.\n"), done.stderr
        assert told(stub) == public(store)
        assert len(store.search_changes.pending(store.search_changes.targets()[0], limit=10)) == 0


def test_an_error_of_an_engine_is_one_of_ours() -> None:
    assert issubclass(SearchEngineError, TadoruError)
    assert SearchEngineError("x").exit_code == 1
