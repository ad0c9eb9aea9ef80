"""robots.txt is asked for once, by one worker, and its answer is kept for as long as it deserves."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import RobotsRecord
from tests.contract.conftest import Open
from tests.contract.crawls import TTL
from tests.support.clock import FakeClock

ORIGIN = "https://a.example"
DAY = 86_400.0
ANSWER = RobotsRecord(200, None, "", b"User-agent: *\nDisallow: /private\n\xff", 0.0)


async def claim(store: CrawlStore, worker: int, max_age: float = DAY, hold: float = 70.0) -> RobotsRecord | bool:
    return await store.robots.claim(worker, ORIGIN, hold=hold, max_age=max_age)


async def test_the_first_to_ask_fetches_and_the_others_wait(handles: Open) -> None:
    one, two = handles(), handles()
    first, second = await one.frontier.join(TTL), await two.frontier.join(TTL)
    assert await claim(one, first) is True
    assert await claim(two, second) is False
    assert await claim(one, first) is False
    await one.robots.put(ORIGIN, ANSWER)
    assert await claim(two, second) == ANSWER


async def test_each_origin_has_its_own(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.robots.put(ORIGIN, ANSWER)
    assert await store.robots.claim(worker, "http://a.example", hold=1, max_age=DAY) is True


async def test_a_claim_that_ran_out_is_somebody_elses(store: CrawlStore, clock: FakeClock) -> None:
    first, second = await store.frontier.join(TTL), await store.frontier.join(TTL)
    await claim(store, first, hold=70)
    clock.advance(69)
    assert await claim(store, second) is False
    clock.advance(1)
    assert await claim(store, second) is True


@pytest.mark.parametrize("how", ["leaves", "dies"])
async def test_a_claim_of_a_worker_that_is_gone_is_somebody_elses(store: CrawlStore, clock: FakeClock, how: str) -> None:
    gone, other = await store.frontier.join(1), await store.frontier.join(TTL)
    await claim(store, gone, hold=1000)
    clock.advance(2)
    await (store.frontier.leave(gone) if how == "leaves" else store.frontier.recover())
    assert await claim(store, other) is True


async def test_an_answer_says_how_old_it_is(store: CrawlStore, clock: FakeClock) -> None:
    worker = await store.frontier.join(TTL)
    await store.robots.put(ORIGIN, ANSWER._replace(age=5.0))
    clock.advance(10)
    assert await claim(store, worker) == ANSWER._replace(age=15.0)


@pytest.mark.parametrize("status", [200, 301, 404, 410])
async def test_a_settled_answer_is_kept_to_its_greatest_age(store: CrawlStore, clock: FakeClock, status: int) -> None:
    worker = await store.frontier.join(TTL)
    await store.robots.put(ORIGIN, ANSWER._replace(status=status))
    clock.advance(1000)
    assert await claim(store, worker, max_age=1000) == ANSWER._replace(status=status, age=1000.0)
    clock.advance(1)
    assert await claim(store, worker, max_age=1000) is True
    assert await claim(store, worker, max_age=1000) is False


FAILED = [
    RobotsRecord(500, None, "", b"", 0.0),
    RobotsRecord(429, None, "", b"", 0.0),
    RobotsRecord(None, "dns_failure", "No host.", b"", 0.0),
]


@pytest.mark.parametrize("record", FAILED, ids=["500", "429", "no answer"])
async def test_a_failed_answer_is_kept_for_a_minute(store: CrawlStore, clock: FakeClock, record: RobotsRecord) -> None:
    worker = await store.frontier.join(TTL)
    await store.robots.put(ORIGIN, record)
    clock.advance(60)
    assert await claim(store, worker) == record._replace(age=60.0)
    clock.advance(1)
    assert await claim(store, worker) is True


async def test_a_worker_that_dies_later_does_not_take_its_answer_with_it(store: CrawlStore) -> None:
    first, second = await store.frontier.join(TTL), await store.frontier.join(TTL)
    await claim(store, first)
    await store.robots.put(ORIGIN, ANSWER)
    await store.frontier.leave(first)
    assert await claim(store, second) == ANSWER


@pytest.mark.parametrize("status, kept", [(200, True), (404, True), (503, False), (429, False), (None, False)])
async def test_answers_that_were_none_can_be_forgotten(store: CrawlStore, status: int | None, kept: bool) -> None:
    worker = await store.frontier.join(TTL)
    await claim(store, worker)
    await store.robots.put(ORIGIN, RobotsRecord(status, None if status else "connection_refused", "", b"", 0.0))
    await store.robots.claim(worker, "https://b.example", hold=70.0, max_age=DAY)
    await store.robots.forget_failed()
    assert isinstance(await claim(store, worker), RobotsRecord) == kept
    assert await store.robots.claim(worker, "https://b.example", hold=70.0, max_age=DAY) is False, "somebody is at it"
