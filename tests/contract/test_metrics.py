"""What somebody who watches is told: counted where every worker counts, so that it is one truth for all of them."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.records import CompletedOutcome, FailedOutcome, PageFacts, RefusedOutcome, RetryOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, done, lease, lease_one, started


def answered(status: int = 200, ms: float | None = None, size: int | None = None) -> PageFacts:
    return PageFacts(status_code=status, ttfb_ms=ms, response_size_bytes=size)


async def test_a_crawl_that_has_not_begun_has_nothing_to_tell(store: CrawlStore) -> None:
    found = await store.frontier.metrics()
    assert found == CrawlMetrics(counts=await store.frontier.counts())
    assert found.percentile(0.5) is None


async def test_statuses_and_bytes_are_counted(store: CrawlStore) -> None:
    worker = await started(store, *"abc")
    a, b, c = await lease(store, worker, 3)
    facts = (answered(200, size=700), answered(404, size=30), answered(200))
    outcomes = [CompletedOutcome(lease=each, facts=said) for each, said in zip((a, b, c), facts, strict=True)]
    await store.frontier.finish(worker, outcomes, max_depth=None)
    found = await store.frontier.metrics()
    assert (found.statuses, found.bytes, found.workers) == ({200: 2, 404: 1}, 730, 1)
    assert found.counts == await store.frontier.counts()


async def test_a_redirect_is_a_status_too(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="y")], max_depth=None)
    assert (await store.frontier.metrics()).statuses == {301: 1}


async def test_attempts_that_failed_are_counted_by_kind_each_time(store: CrawlStore) -> None:
    worker = await started(store, "x", "y", "z")
    x, y, z = await lease(store, worker, 3)
    again = RetryOutcome(lease=x, after=0.0, kind="http_503", message="Answered 503.")
    failed = FailedOutcome(lease=y, kind="dns_failure", message="No such host.")
    await store.frontier.finish(worker, [again, failed, RefusedOutcome(lease=z, reason="robots.txt")], max_depth=None)
    [x] = await lease(store, worker)
    await store.frontier.finish(worker, [FailedOutcome(lease=x, kind="http_503", message="Answered 503.")], max_depth=None)
    assert (await store.frontier.metrics()).errors == {"http_503": 2, "dns_failure": 1}


async def test_a_redirect_loop_is_an_error(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="x")], max_depth=None)
    assert (await store.frontier.metrics()).errors == {"redirect_loop": 1}


@pytest.mark.parametrize("share, expected", [(0.5, 50.0), (0.9, 90.0), (1.0, 100.0)])
async def test_percentiles_are_within_their_class(store: CrawlStore, share: float, expected: float) -> None:
    worker = await started(store, *map(str, range(100)))
    leases = await lease(store, worker, 100)
    outcomes = [CompletedOutcome(lease=each, facts=answered(ms=float(number))) for number, each in enumerate(leases, 1)]
    await store.frontier.finish(worker, outcomes, max_depth=None)
    found = (await store.frontier.metrics()).percentile(share)
    assert found is not None
    assert expected <= found <= expected * 1.5


async def test_the_time_of_an_answer_is_waiting_and_reading_together(store: CrawlStore) -> None:
    worker = await started(store, "x")
    facts = PageFacts(status_code=200, ttfb_ms=40.0, download_time_ms=300.0)
    await store.frontier.finish(worker, [CompletedOutcome(lease=await lease_one(store, worker), facts=facts)], max_depth=None)
    found = (await store.frontier.metrics()).percentile(0.5)
    assert found is not None
    assert 340 <= found <= 340 * 1.5


async def test_every_handle_tells_the_same(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await started(one, "x", "y"), await two.frontier.join(TTL)
    for store, worker in ((one, first), (two, second)):
        facts = answered(ms=5.0, size=100)
        await store.frontier.finish(worker, [CompletedOutcome(lease=await lease_one(store, worker), facts=facts)], max_depth=None)
    assert await one.frontier.metrics() == await two.frontier.metrics()
    assert (await one.frontier.metrics()).bytes == 200
    assert (await one.frontier.metrics()).workers == 2


async def test_what_was_recorded_by_nobody_is_not_counted(store: CrawlStore) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    stranger = await store.frontier.join(TTL)
    assert await store.frontier.finish(stranger, [done(got)], max_depth=None) == 0
    assert (await store.frontier.metrics()).statuses == {}
