"""What a crawl on PostgreSQL brings to an end: shorter paths, and redirects that lead back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.store.copy_crawl import move_crawl
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.postgres.store import PostgresStore
from tests.contract.crawls import TTL, depths, done, lease, lease_one, rows, started, statuses, target, url


@pytest.fixture
async def store(crawl: str) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(crawl, SystemClock())
    yield opened
    await opened.close()


def propose(store: PostgresStore, path: str, depth: int, max_depth: int | None = None) -> None:
    """A shorter path that a worker found and did not live to apply."""
    store.db.sql.run(
        "INSERT INTO depth_changes(page_id, depth, max_depth) SELECT id, %s, %s FROM pages WHERE url = %s",
        [depth, max_depth, url(path)],
    )


async def chained(store: PostgresStore, *, max_depth: int | None = None) -> int:
    """s → a → b → c, each one step further; the worker that crawled it."""
    worker = await started(store, "s")
    for onward in ("a", "b", "c"):
        await store.frontier.finish(worker, [done(await lease_one(store, worker), onward)], max_depth=max_depth)
    return worker


async def test_a_shorter_path_that_nobody_applied_reaches_everything_behind_it(store: PostgresStore) -> None:
    await chained(store)
    propose(store, "b", 1)
    await store.graph.settle()
    assert await depths(store) == {"s": 0, "a": 1, "b": 1, "c": 2}


async def test_a_page_that_comes_within_the_depth_is_queued_before_the_crawl_is_over(store: PostgresStore) -> None:
    worker = await started(store, "s")
    for onward in ("a", "b"):
        await store.frontier.finish(worker, [done(await lease_one(store, worker), onward)], max_depth=1)
    assert (await statuses(store))["b"] == "skipped"
    propose(store, "b", 1, 1)
    assert await store.limits.refill() == 1
    assert (await statuses(store))["b"] == "queued"
    assert [got.url for got in await lease(store, worker, 5)] == [url("b")]
    counts = await store.frontier.counts()
    assert (counts.queued, counts.processing, counts.skipped) == (0, 1, 0)


async def test_a_loop_of_which_two_workers_wrote_a_half_each_is_one_error(store: PostgresStore) -> None:
    worker = await started(store, "a", "b")
    for got in await lease(store, worker, 2):
        await store.frontier.finish(worker, [done(got, redirect="c")], max_depth=None)
    turned = "UPDATE pages SET redirect_id = (SELECT id FROM pages WHERE url = %s) WHERE url = %s"
    for since, to in (("a", "b"), ("b", "a")):
        store.db.sql.run(turned, [url(to), url(since)])
    before = await store.frontier.counts()
    await store.graph.settle()
    found = {name: row.status for name, row in (await rows(store)).items()}
    assert sorted(found[name] for name in "ab") == ["completed", "error"]
    counts = await store.frontier.counts()
    assert (counts.completed, counts.error) == (before.completed - 1, before.error + 1)
    await store.graph.settle()
    assert await store.frontier.counts() == counts


async def test_a_start_that_redirects_to_itself_and_is_queued_again_stays_queued(store: PostgresStore) -> None:
    worker = await started(store, "s")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="s")], max_depth=None)
    assert (await statuses(store))["s"] == "error"
    await store.frontier.add([target("s")], seed=True)
    await store.graph.settle()
    assert (await statuses(store))["s"] == "queued"
    assert (await store.frontier.counts()).queued == 1
    assert len(await lease(store, await store.frontier.join(TTL), 2)) == 1


async def test_a_shorter_path_that_nobody_applied_is_part_of_a_copy_in_a_file(store: PostgresStore, tmp_path: Path) -> None:
    await chained(store, max_depth=2)
    propose(store, "b", 1, 2)
    copy = open_store(str(tmp_path / "copy.db"), SystemClock())
    await move_crawl(store, copy)
    assert await depths(copy) == {"s": 0, "a": 1, "b": 1, "c": 2}
    assert (await statuses(copy))["c"] == "queued"
    assert (await copy.frontier.counts()).queued == 1
    await copy.close()
