"""A server that says a page is as it was: what is known of it stays, and it counts as answered."""

from __future__ import annotations

from tadoru.clock import to_datetime
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import CrawlCounts, RetryOutcome, UnchangedOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, lease, lease_one, row, started
from tests.support.clock import FakeClock


async def test_an_unchanged_page_is_completed_and_counted(store: CrawlStore, clock: FakeClock) -> None:
    worker = await started(store, "x", "y")
    clock.advance(3)
    assert await store.frontier.finish(worker, [UnchangedOutcome(lease=await lease_one(store, worker))], max_depth=None) == 1
    found = await row(store, "x")
    assert (found.status, found.crawled_at) == ("completed", to_datetime(clock.now()))
    assert await store.frontier.counts() == CrawlCounts(completed=1, counted=1, queued=1)
    assert await lease(store, worker, 9, limit=1) == [], "it counts against the limit"


async def test_an_unchanged_page_leaves_no_error_of_earlier_attempts(store: CrawlStore) -> None:
    worker = await started(store, "x")
    again = RetryOutcome(lease=await lease_one(store, worker), after=0.0, kind="http_503", message="Answered 503.")
    await store.frontier.finish(worker, [again], max_depth=None)
    await store.frontier.finish(worker, [UnchangedOutcome(lease=await lease_one(store, worker))], max_depth=None)
    found = await row(store, "x")
    assert (found.error_type, found.error_message) == (None, None)


async def test_an_unchanged_page_whose_lease_was_lost_is_not_recorded(handles: Open, clock: FakeClock) -> None:
    one, two = handles(), handles()
    dead = await started(one, "x")
    got = await lease_one(one, dead)
    living = await two.frontier.join(9 * TTL)
    clock.advance(TTL + 1)
    await two.frontier.recover(living)
    assert await one.frontier.finish(dead, [UnchangedOutcome(lease=got)], max_depth=None) == 0
    assert await two.frontier.counts() == CrawlCounts(queued=1)


async def test_an_unchanged_page_is_told_by_its_status(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [UnchangedOutcome(lease=await lease_one(store, worker))], max_depth=None)
    assert (await store.frontier.metrics()).statuses == {304: 1}
