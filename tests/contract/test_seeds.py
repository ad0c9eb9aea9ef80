"""Starts, and what the crawl remembers of itself."""

from __future__ import annotations

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import CrawlCounts, FailedOutcome, PageStatus, RefusedOutcome, RetryOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import done, external, lease, lease_one, row, rows, started, target


async def test_seeds_are_known_once(store: CrawlStore) -> None:
    assert await store.frontier.add([target("x"), target("y"), target("x")], seed=True) == 2
    assert await store.frontier.add([target("y"), target("z")], seed=True) == 1
    assert await store.frontier.counts() == CrawlCounts(queued=3)


async def test_a_seed_that_was_done_is_not_done_again(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker))], max_depth=None)
    assert await store.frontier.add([target("x")], seed=True) == 0
    assert await lease(store, worker) == []


async def test_a_seed_that_was_only_discovered_is_queued(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("e"))], max_depth=None)
    assert await store.frontier.add([target("e", "b.example")], seed=True) == 0
    found = (await rows(store))["https://b.example/e"]
    assert (found.status, found.depth, found.internal, found.purpose, found.skip_reason) == ("queued", 0, True, "page", None)
    assert found.parent_url is None
    [got] = await lease(store, worker, host="b.example")
    assert got.seed


async def test_a_seed_that_was_only_to_be_checked_is_read(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("e", check=True))], max_depth=None)
    await store.frontier.add([target("e", "b.example")], seed=True)
    [got] = await lease(store, worker, host="b.example")
    assert (got.purpose, got.seed, got.depth) == ("page", True, 0)
    assert (await store.frontier.counts()).queued == 0


async def test_a_seed_that_was_too_deep_or_refused_is_queued(store: CrawlStore) -> None:
    worker = await started(store, "x", "refused")
    x, refused = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, "deep"), RefusedOutcome(lease=refused, reason="robots")], max_depth=0)
    assert (await store.frontier.counts()).skipped == 2
    await store.frontier.add([target("deep"), target("refused")], seed=True)
    assert len(await lease(store, worker, 5)) == 2
    assert (await row(store, "deep")).depth == 0


async def test_a_seed_that_failed_is_tried_again_from_the_beginning(store: CrawlStore) -> None:
    worker = await started(store, "x")
    again = RetryOutcome(lease=await lease_one(store, worker), after=0.0, kind="connection_refused", message="m")
    await store.frontier.finish(worker, [again], max_depth=None)
    await store.frontier.finish(
        worker, [FailedOutcome(lease=await lease_one(store, worker), kind="dns_failure", message="m")], max_depth=None
    )
    assert await store.frontier.counts() == CrawlCounts(error=1, counted=1)
    await store.frontier.add([target("x")], seed=True)
    assert await store.frontier.counts() == CrawlCounts(queued=1)
    got = await lease_one(store, worker)
    assert got.attempt == 0
    await store.frontier.finish(worker, [done(got)], max_depth=None)
    found = await row(store, "x")
    assert (found.status, found.error_type) == ("completed", None)
    assert await store.frontier.counts() == CrawlCounts(completed=1, counted=1)


async def test_a_page_that_failed_is_not_tried_again_because_a_seed_redirects_to_it(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, "gone")], max_depth=None)
    await store.frontier.finish(
        worker, [FailedOutcome(lease=await lease_one(store, worker), kind="dns_failure", message="m")], max_depth=None
    )
    await store.frontier.finish(worker, [done(y, redirect="gone")], max_depth=None)
    assert (await row(store, "gone")).status == "error"


async def test_a_seed_that_the_rules_exclude_stays_excluded_however_often_it_is_added(store: CrawlStore) -> None:
    excluded = target("x", status=PageStatus.SKIPPED, reason="excluded by a pattern")
    await store.frontier.add([excluded], seed=True)
    await store.frontier.add([excluded], seed=True)
    assert await store.frontier.counts() == CrawlCounts(skipped=1)
    assert (await row(store, "x")).skip_reason == "excluded by a pattern"


async def test_a_seed_added_later_brings_what_is_behind_it_closer(store: CrawlStore) -> None:
    worker = await started(store, "start")
    for links in (["a"], ["b"], ["c"]):
        await store.frontier.finish(worker, [done(await lease_one(store, worker), *links)], max_depth=2)
    assert {path: page.depth for path, page in (await rows(store)).items()} == {"start": 0, "a": 1, "b": 2, "c": 3}
    await store.frontier.add([target("b")], seed=True)
    found = await rows(store)
    assert (found["b"].depth, found["b"].parent_url, found["c"].depth) == (0, None, 1)
    assert found["c"].status == "skipped"
    assert await store.frontier.widen(2) == 1


async def test_urls_may_be_added_that_are_no_seeds(store: CrawlStore) -> None:
    worker = await store.frontier.join(60)
    await store.frontier.add([target("from-sitemap")], seed=False, depth=1)
    got = await lease_one(store, worker)
    assert (got.seed, got.depth) == (False, 1)


async def test_meta_is_remembered_by_everybody(handles: Open) -> None:
    one, two = handles(), handles()
    assert await one.meta.get("scope") is None
    await one.meta.set("scope", '{"mode": "host"}')
    await two.meta.set("job", "links")
    await one.meta.set("scope", "日本")
    assert await two.meta.get("scope") == "日本"
    assert await one.meta.get("job") == "links"
