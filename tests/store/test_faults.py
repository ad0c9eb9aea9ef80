"""A database that is locked or full in the middle of a crawl: one sentence, and nothing lost."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import done, lease_one, rows, started
from tests.support.clock import FakeClock

PATIENCE = 30.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(str(tmp_path / "crawl.db"), clock, patience=PATIENCE)
    yield store
    await store.close()


async def test_a_lock_of_another_program_is_waited_for_and_then_named(store: SqliteStore, clock: FakeClock) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        await store.frontier.finish(worker, [done(got, "new")], max_depth=None)
    assert (
        str(caught.value) == f"The database {store.path} is locked by another process. Close that process and rerun the command."
    )
    assert PATIENCE <= clock.monotonic() < PATIENCE + 1
    assert (await store.frontier.counts()).processing == 1
    other.close()
    assert await store.frontier.finish(worker, [done(got, "new")], max_depth=None) == 1


async def test_a_lock_that_is_given_up_in_time_is_only_waited_for(store: SqliteStore, clock: FakeClock) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    sleep = clock.sleep

    async def sleep_until_released(seconds: float) -> None:
        await sleep(seconds)
        if clock.monotonic() > 5:
            other.close()

    clock.sleep = sleep_until_released  # type: ignore[method-assign]
    await store.meta.set("job", "links")
    assert 5 < clock.monotonic() < 6
    assert await store.meta.get("job") == "links"


async def test_a_full_disk_loses_nothing(store: SqliteStore) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    before = await rows(store), await store.frontier.counts()
    outcome = done(got, *(f"page-with-a-long-name-{'n' * 200}-{number}" for number in range(500)))
    [pages] = store.sql.execute("PRAGMA page_count").fetchone()
    store.sql.execute(f"PRAGMA max_page_count = {pages + 3}").fetchone()
    with pytest.raises(StoreError) as caught:
        await store.frontier.finish(worker, [outcome], max_depth=None)
    expected = "(database or disk is full). Free some disk space and rerun the command."
    assert str(caught.value) == f"Cannot write to the database {store.path} {expected}"
    assert (await rows(store), await store.frontier.counts()) == before
    store.sql.execute("PRAGMA max_page_count = 100000").fetchone()
    assert await store.frontier.finish(worker, [outcome], max_depth=None) == 1
    assert (await store.frontier.counts()).known == 501
    assert len([link async for link in store.graph.links()]) == 500


async def test_what_was_rolled_back_is_not_remembered(store: SqliteStore) -> None:
    await started(store, "x")

    async def fail() -> None:
        async with store.db.transaction():
            store.db.host_id("new.example")
            store.db.known["https://new.example/"] = (99, 0)
            store.db.texts["text"] = 99
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert (dict(store.db.known), dict(store.db.texts), dict(store.db.host_ids)) == ({}, {}, {})
    async with store.db.transaction() as sql:
        number = store.db.host_id("new.example")
        assert sql.execute("SELECT name FROM hosts WHERE id = ?", (number,)).fetchone() == ("new.example",)


async def test_a_closed_store_says_so(store: SqliteStore) -> None:
    await store.close()
    with pytest.raises(StoreError, match="failed: Cannot operate on a closed database"):
        await store.frontier.counts()
