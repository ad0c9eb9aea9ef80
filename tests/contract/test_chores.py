"""Chores: work that is done once for the whole crawl, by one worker while it lives."""

from __future__ import annotations

from tadoru.store.crawl.interface import CrawlStore, FailedOutcome, RefusedOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, done, lease, lease_one, started
from tests.support.clock import FakeClock

CHORE = "sitemaps"


async def test_a_chore_is_one_worker_s_at_a_time(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await one.join(TTL), await two.join(TTL)
    assert await one.claim_task(first, CHORE)
    assert not await two.claim_task(second, CHORE)
    assert await one.claim_task(first, CHORE), "who has it still has it"
    assert await two.claim_task(second, "another"), "chores are told apart by their names"


async def test_a_chore_is_done_once(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await one.join(TTL), await two.join(TTL)
    await one.claim_task(first, CHORE)
    assert not await two.is_task_done(CHORE)
    await one.finish_task(CHORE)
    assert await two.is_task_done(CHORE)
    assert not await two.claim_task(second, CHORE)
    assert not await one.claim_task(first, CHORE)


async def test_a_chore_that_nobody_claimed_is_not_done(store: CrawlStore) -> None:
    assert not await store.is_task_done(CHORE)


async def test_the_chore_of_a_worker_that_left_is_free_again(store: CrawlStore) -> None:
    first, second = await store.join(TTL), await store.join(TTL)
    await store.claim_task(first, CHORE)
    await store.leave(first)
    assert await store.claim_task(second, CHORE)


async def test_the_chore_of_a_worker_that_died_is_free_again(store: CrawlStore, clock: FakeClock) -> None:
    dead, living = await store.join(TTL), await store.join(9 * TTL)
    await store.claim_task(dead, CHORE)
    clock.advance(TTL + 1)
    assert not await store.claim_task(living, CHORE)
    await store.recover(living)
    assert await store.claim_task(living, CHORE)


async def test_what_is_done_stays_done_when_its_worker_goes(store: CrawlStore) -> None:
    worker = await store.join(TTL)
    await store.claim_task(worker, CHORE)
    await store.finish_task(CHORE)
    await store.leave(worker)
    assert await store.is_task_done(CHORE)
    assert not await store.claim_task(await store.join(TTL), CHORE)


async def test_a_seed_is_open_until_it_and_what_it_redirects_to_are_answered(store: CrawlStore) -> None:
    worker = await started(store, "x")
    assert await store.has_open_seeds(), "queued"
    got = await lease_one(store, worker)
    assert await store.has_open_seeds(), "leased"
    assert not await store.has_answered_seeds()
    await store.finish(worker, [done(got, redirect="y")], max_depth=None)
    assert await store.has_open_seeds(), "it moved"
    assert await store.has_answered_seeds()
    await store.finish(worker, [done(await lease_one(store, worker), "a", "b")], max_depth=None)
    assert not await store.has_open_seeds(), "what it links to is no start"


async def test_a_start_that_is_refused_or_down_was_not_answered(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    await store.finish(
        worker,
        [RefusedOutcome(lease=x, reason="robots.txt"), FailedOutcome(lease=y, kind="dns_failure", message="m")],
        max_depth=None,
    )
    assert not await store.has_open_seeds()
    assert not await store.has_answered_seeds()
