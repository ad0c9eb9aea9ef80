"""Chores: work that is done once for the whole crawl, by one worker while it lives."""

from __future__ import annotations

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import FailedOutcome, RefusedOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, done, lease, lease_one, started
from tests.support.clock import FakeClock

CHORE = "sitemaps"


async def test_a_chore_is_one_worker_s_at_a_time(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await one.frontier.join(TTL), await two.frontier.join(TTL)
    assert await one.tasks.claim(first, CHORE)
    assert not await two.tasks.claim(second, CHORE)
    assert await one.tasks.claim(first, CHORE), "who has it still has it"
    assert await two.tasks.claim(second, "another"), "chores are told apart by their names"


async def test_a_chore_is_done_once(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await one.frontier.join(TTL), await two.frontier.join(TTL)
    await one.tasks.claim(first, CHORE)
    assert not await two.tasks.is_done(CHORE)
    await one.tasks.finish(CHORE)
    assert await two.tasks.is_done(CHORE)
    assert not await two.tasks.claim(second, CHORE)
    assert not await one.tasks.claim(first, CHORE)


async def test_a_chore_that_nobody_claimed_is_not_done(store: CrawlStore) -> None:
    assert not await store.tasks.is_done(CHORE)


async def test_the_chore_of_a_worker_that_left_is_free_again(store: CrawlStore) -> None:
    first, second = await store.frontier.join(TTL), await store.frontier.join(TTL)
    await store.tasks.claim(first, CHORE)
    await store.frontier.leave(first)
    assert await store.tasks.claim(second, CHORE)


async def test_the_chore_of_a_worker_that_died_is_free_again(store: CrawlStore, clock: FakeClock) -> None:
    dead, living = await store.frontier.join(TTL), await store.frontier.join(9 * TTL)
    await store.tasks.claim(dead, CHORE)
    clock.advance(TTL + 1)
    assert not await store.tasks.claim(living, CHORE)
    await store.frontier.recover(living)
    assert await store.tasks.claim(living, CHORE)


async def test_a_worker_that_was_declared_dead_claims_no_chore(store: CrawlStore, clock: FakeClock) -> None:
    dead, living = await store.frontier.join(TTL), await store.frontier.join(9 * TTL)
    clock.advance(TTL + 1)
    await store.frontier.recover(living)
    assert not await store.tasks.claim(dead, CHORE)
    assert await store.tasks.claim(living, CHORE)


async def test_what_is_done_stays_done_when_its_worker_goes(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.tasks.claim(worker, CHORE)
    await store.tasks.finish(CHORE)
    await store.frontier.leave(worker)
    assert await store.tasks.is_done(CHORE)
    assert not await store.tasks.claim(await store.frontier.join(TTL), CHORE)


async def test_a_seed_is_open_until_it_and_what_it_redirects_to_are_answered(store: CrawlStore) -> None:
    worker = await started(store, "x")
    assert await store.frontier.has_open_seeds(), "queued"
    got = await lease_one(store, worker)
    assert await store.frontier.has_open_seeds(), "leased"
    assert not await store.frontier.has_answered_seeds()
    await store.frontier.finish(worker, [done(got, redirect="y")], max_depth=None)
    assert await store.frontier.has_open_seeds(), "it moved"
    assert await store.frontier.has_answered_seeds()
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a", "b")], max_depth=None)
    assert not await store.frontier.has_open_seeds(), "what it links to is no start"


async def test_a_start_that_is_refused_or_down_was_not_answered(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(
        worker,
        [RefusedOutcome(lease=x, reason="robots.txt"), FailedOutcome(lease=y, kind="dns_failure", message="m")],
        max_depth=None,
    )
    assert not await store.frontier.has_open_seeds()
    assert not await store.frontier.has_answered_seeds()
