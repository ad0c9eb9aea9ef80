"""Deciding anew when other rules hold than on the day a URL was found: what is ours now is requested, the rest is not."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import TOO_DEEP, LinkTarget, PageStatus, RefusedOutcome, UrlPurpose
from tests.contract.crawls import done, external, lease, lease_one, row, started, statuses, target, trapped, url

OTHER = "b.example"
FAR = url("x", OTHER)
INSIDE = LinkTarget(FAR, OTHER, PageStatus.QUEUED)
CHECKED = external("x", check=True)
EXCLUDED = LinkTarget(url("a"), "a.example", PageStatus.SKIPPED, "excluded by pattern a")


async def decide(store: CrawlStore, *targets: LinkTarget, max_depth: int | None = None) -> int:
    """Only these are decided otherwise than they were."""
    by_url = {each.url: each for each in targets}
    return await store.rescope.reconsider(lambda url, seed: by_url.get(url), max_depth=max_depth)


@pytest.mark.parametrize("now", [INSIDE, CHECKED], ids=["a page of the site", "to be tried"])
async def test_another_site_s_page_that_is_wanted_now_is_queued(store: CrawlStore, now: LinkTarget) -> None:
    worker = await started(store, "")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("x"))], max_depth=None)
    assert await lease(store, worker, host=OTHER) == []
    assert await decide(store, now) == 1
    [got] = await lease(store, worker, host=OTHER)
    assert (got.url, got.purpose, (await row(store, FAR)).internal) == (FAR, now.purpose, now.internal)
    counts = await store.frontier.counts()
    assert (counts.discovered, counts.queued, counts.processing) == (0, 0, 1)


async def test_a_link_that_was_only_tried_becomes_a_page_and_is_counted_once(store: CrawlStore) -> None:
    worker = await started(store, "")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), CHECKED)], max_depth=None)
    [tried] = await lease(store, worker, host=OTHER)
    await store.frontier.finish(worker, [done(tried)], max_depth=None)
    assert (await store.frontier.counts()).counted == 2
    assert await decide(store, INSIDE) == 1
    counts = await store.frontier.counts()
    assert (counts.counted, counts.completed, counts.queued) == (1, 1, 1)
    [got] = await lease(store, worker, host=OTHER)
    assert got.purpose is UrlPurpose.PAGE


async def test_what_waits_and_is_excluded_now_is_not_requested_and_comes_back_when_it_is_not(store: CrawlStore) -> None:
    worker = await started(store, "")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=None)
    assert await decide(store, EXCLUDED) == 1
    assert await lease(store, worker) == []
    assert (await row(store, "a")).skip_reason == EXCLUDED.reason
    assert await decide(store, EXCLUDED) == 0, "it stands there already"
    assert await decide(store, target("a")) == 1
    assert [got.url for got in await lease(store, worker)] == [url("a")]


async def test_what_is_let_in_is_held_to_the_depth(store: CrawlStore) -> None:
    worker = await started(store, "")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("x"))], max_depth=0)
    await decide(store, INSIDE, max_depth=0)
    found = await row(store, FAR)
    assert (found.status, found.skip_reason, found.internal) == (PageStatus.SKIPPED, TOO_DEEP, True)
    assert await store.frontier.widen(1) == 1


async def test_what_others_refused_stays_refused(store: CrawlStore) -> None:
    worker = await started(store, "")
    first = done(await lease_one(store, worker), "robots", trapped("trap/1", 1), trapped("trap/2", 1))
    await store.frontier.finish(worker, [first], max_depth=None)
    leases = {got.url: got for got in await lease(store, worker, 5)}
    await store.frontier.finish(
        worker, [RefusedOutcome(lease=leases[url("robots")], reason="robots.txt forbids it")], max_depth=None
    )
    before = await statuses(store)
    assert await decide(store, target("robots"), target("trap/2")) == 0
    assert await statuses(store) == before


async def test_pages_that_were_requested_and_those_that_are_being_requested_stay(store: CrawlStore) -> None:
    worker = await started(store, "", "a")
    first, _second = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(first)], max_depth=None)
    before = await statuses(store)
    assert await decide(store, LinkTarget(url(""), "a.example", PageStatus.SKIPPED, "excluded"), EXCLUDED) == 0
    assert await statuses(store) == before


async def test_it_is_told_which_urls_are_starts(store: CrawlStore) -> None:
    worker = await started(store, "")
    [got] = await lease(store, worker)
    await store.frontier.finish(worker, [done(got, "a", external("x"))], max_depth=None)
    await started(store, "b")
    asked: dict[str, bool] = {}

    def remember(url: str, seed: bool) -> None:
        asked[url] = seed

    await store.rescope.reconsider(remember, max_depth=None)
    assert {name: asked[name] for name in (url("a"), url("b"), FAR)} == {url("a"): False, url("b"): True, FAR: False}
