"""Pace and slots: two workers together are as polite as one."""

from __future__ import annotations

import pytest

from tadoru.rules.pace import MAX_HOLD, Pace, start
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import SHORTEST_WAIT
from tests.contract.conftest import Open
from tests.contract.crawls import HOST, TTL, started, target
from tests.support.clock import FakeClock

HOLD = 20.0


async def paced(store: CrawlStore, gap: float = 4.0) -> int:
    worker = await started(store, "x", "y")
    await store.hosts.begin_pace(HOST, start(gap, None))
    return worker


async def wait_of(store: CrawlStore, worker: int) -> float:
    """For how long a host wants to be left alone, as a lease says it."""
    return (await store.frontier.lease(worker, {HOST: 1}, new_hosts=0, per_host=0, limit=0)).hosts[HOST].wait


async def test_a_free_slot_is_taken_at_once(store: CrawlStore) -> None:
    assert await store.hosts.take_slot(await paced(store), HOST, HOLD) == 0.0


async def test_the_gap_counts_from_the_sending(store: CrawlStore, clock: FakeClock) -> None:
    worker = await paced(store)
    await store.hosts.take_slot(worker, HOST, HOLD)
    clock.advance(10)
    await store.hosts.sent(worker, HOST)
    assert await store.hosts.take_slot(worker, HOST, HOLD) == pytest.approx(4.0)
    clock.advance(3)
    assert await store.hosts.take_slot(worker, HOST, HOLD) == pytest.approx(1.0)
    clock.advance(1)
    assert await store.hosts.take_slot(worker, HOST, HOLD) == 0.0


async def test_a_held_slot_is_nobody_elses_however_often_they_ask(handles: Open, clock: FakeClock) -> None:
    one, two = handles(), handles()
    first = await paced(one)
    second = await two.frontier.join(TTL)
    await one.hosts.take_slot(first, HOST, HOLD)
    for _ in range(19):
        wait = await two.hosts.take_slot(second, HOST, HOLD)
        assert SHORTEST_WAIT <= wait <= 1.0
        assert await one.hosts.take_slot(first, HOST, HOLD) > 0
        clock.advance(1)


async def test_a_slot_falls_free_when_its_hold_runs_out(store: CrawlStore, clock: FakeClock) -> None:
    worker = await paced(store)
    other = await store.frontier.join(TTL)
    await store.hosts.take_slot(worker, HOST, HOLD)
    clock.advance(HOLD)
    assert await store.hosts.take_slot(other, HOST, HOLD) == 0.0


async def test_a_sending_after_the_hold_ran_out_still_starts_a_gap_and_frees_nobody_elses_slot(
    store: CrawlStore, clock: FakeClock
) -> None:
    late, other = await paced(store), await store.frontier.join(TTL)
    await store.hosts.take_slot(late, HOST, HOLD)
    clock.advance(HOLD)
    await store.hosts.take_slot(other, HOST, HOLD)
    await store.hosts.sent(late, HOST)
    clock.advance(5)
    assert await store.hosts.take_slot(late, HOST, HOLD) > 0
    await store.hosts.sent(other, HOST)
    assert await store.hosts.take_slot(late, HOST, HOLD) == pytest.approx(4.0)


@pytest.mark.parametrize("how", ["leaves", "dies"])
async def test_the_slot_of_a_worker_that_is_gone_falls_free_after_one_gap(store: CrawlStore, clock: FakeClock, how: str) -> None:
    gone, other = await paced(store), await store.frontier.join(TTL * 9)
    await store.hosts.take_slot(gone, HOST, 1000.0)
    clock.advance(TTL + 1)
    if how == "leaves":
        await store.frontier.leave(gone)
    else:
        await store.frontier.recover()
    assert await store.hosts.take_slot(other, HOST, HOLD) == pytest.approx(4.0)
    clock.advance(4)
    assert await store.hosts.take_slot(other, HOST, HOLD) == 0.0


async def test_a_pause_keeps_everybody_away(store: CrawlStore, clock: FakeClock) -> None:
    worker = await paced(store)
    await store.hosts.set_pace(HOST, start(4.0, None), pause=30)
    assert await wait_of(store, worker) == pytest.approx(30)
    assert await store.hosts.take_slot(worker, HOST, HOLD) == pytest.approx(30)
    clock.advance(30)
    assert await wait_of(store, worker) == 0.0
    assert await store.hosts.take_slot(worker, HOST, HOLD) == 0.0


async def test_a_pause_outlives_the_request_that_was_on_its_way(store: CrawlStore, clock: FakeClock) -> None:
    sending, told = await paced(store), await store.frontier.join(TTL)
    await store.hosts.take_slot(sending, HOST, HOLD)
    await store.hosts.set_pace(HOST, start(4.0, None), pause=30)
    await store.hosts.sent(sending, HOST)
    assert await store.hosts.take_slot(told, HOST, HOLD) == pytest.approx(30)


async def test_a_shorter_pause_does_not_shorten_a_longer_one(store: CrawlStore) -> None:
    worker = await paced(store)
    await store.hosts.set_pace(HOST, start(4.0, None), pause=30)
    await store.hosts.set_pace(HOST, start(4.0, None), pause=2)
    await store.hosts.set_pace(HOST, start(4.0, None))
    assert await store.hosts.take_slot(worker, HOST, HOLD) == pytest.approx(30)


async def test_hosts_do_not_wait_for_each_other(store: CrawlStore) -> None:
    worker = await paced(store)
    await store.hosts.begin_pace("b.example", start(4.0, None))
    await store.hosts.take_slot(worker, HOST, HOLD)
    assert await store.hosts.take_slot(worker, "b.example", HOLD) == 0.0


async def test_a_host_nobody_paced_yet_can_be_asked(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    assert await store.hosts.take_slot(worker, "new.example", HOLD) == 0.0
    await store.hosts.sent(worker, "new.example")
    assert await store.hosts.take_slot(worker, "new.example", HOLD) == 0.0


async def test_the_first_pace_is_the_one_that_holds(store: CrawlStore) -> None:
    assert await store.hosts.begin_pace(HOST, start(1.0, None)) == Pace(1.0, 1.0, None, None, 0)


async def test_a_slower_pace_raises_the_base_and_a_faster_one_does_not_lower_it(handles: Open) -> None:
    store = handles()
    await store.hosts.begin_pace(HOST, start(1.0, None))
    assert await handles().hosts.begin_pace(HOST, start(1.0, 5.0)) == Pace(5.0, 5.0, None, None, 0)
    assert await store.hosts.begin_pace(HOST, start(1.0, None)) == Pace(5.0, 5.0, None, None, 0)


async def test_a_run_that_begins_may_be_faster_than_the_last_one(store: CrawlStore) -> None:
    await store.hosts.begin_pace(HOST, start(4.0, None))
    await store.hosts.begin_pace("b.example", start(0.5, None))
    await store.hosts.lower_paces(1.0)
    assert await store.hosts.begin_pace(HOST, start(1.0, None)) == Pace(1.0, 1.0, None, None, 0)
    assert await store.hosts.begin_pace("b.example", start(0.0, None)) == Pace(0.5, 0.5, None, None, 0), "it was no slower"
    await store.hosts.lower_paces(0.0)
    assert await store.hosts.begin_pace(HOST, start(0.0, 3.0)) == Pace(3.0, 3.0, None, None, 0), "robots.txt asks for it"


async def test_who_joins_others_does_not_hurry_them(store: CrawlStore) -> None:
    worker = await paced(store, 4.0)
    await store.hosts.lower_paces(0.0)
    assert await store.hosts.begin_pace(HOST, start(0.0, None)) == Pace(4.0, 4.0, None, None, 0)
    await store.frontier.leave(worker)
    await store.hosts.lower_paces(0.0)
    assert await store.hosts.begin_pace(HOST, start(0.0, None)) == Pace(0.0, 0.0, None, None, 0)


async def test_a_host_that_asked_for_patience_is_not_hurried_by_a_new_run(store: CrawlStore) -> None:
    await store.hosts.set_pace(HOST, Pace(8.0, 4.0, 0.5, 0.25, 2))
    await store.hosts.lower_paces(1.0)
    assert await store.hosts.begin_pace(HOST, start(1.0, None)) == Pace(8.0, 1.0, 0.5, 0.25, 2)


async def test_a_gap_that_grew_survives_a_base_that_is_raised_below_it(store: CrawlStore) -> None:
    await store.hosts.set_pace(HOST, Pace(8.0, 1.0, 0.5, 0.25, 2))
    assert await store.hosts.begin_pace(HOST, start(2.0, None)) == Pace(8.0, 2.0, 0.5, 0.25, 2)


async def test_a_pace_that_was_set_is_what_others_are_told(handles: Open) -> None:
    store = handles()
    worker = await paced(store, 1.0)
    slowed = Pace(8.0, 1.0, 0.5, 0.25, 3)
    await handles().hosts.set_pace(HOST, slowed)
    leased = await store.frontier.lease(worker, {HOST: 1}, new_hosts=0, per_host=0, limit=0)
    assert leased.hosts[HOST].pace == slowed


async def test_a_worker_with_an_old_pace_in_mind_can_not_lower_the_base(store: CrawlStore) -> None:
    await store.hosts.begin_pace(HOST, start(5.0, None))
    await store.hosts.set_pace(HOST, Pace(1.0, 1.0, 0.5, 0.25, 0))
    assert await store.hosts.begin_pace(HOST, start(0.0, None)) == Pace(5.0, 5.0, 0.5, 0.25, 0)


async def test_those_hosts_are_leased_first_that_may_be_asked_soonest(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.add([target("x", "b.example"), target("x", "c.example")], seed=False)
    await store.hosts.set_pace(HOST, start(1.0, None), pause=9)
    await store.hosts.set_pace("b.example", start(1.0, None), pause=5)
    leased = await store.frontier.lease(worker, {}, new_hosts=2, per_host=1, limit=0)
    assert [got.host for got in leased.leases] == ["c.example", "b.example"]


async def test_a_clock_that_was_put_back_by_an_hour_stops_nobody_for_an_hour(store: CrawlStore, clock: FakeClock) -> None:
    worker = await paced(store)
    await store.hosts.take_slot(worker, HOST, HOLD)
    await store.hosts.sent(worker, HOST)
    clock.put_back(3600)
    assert await wait_of(store, worker) <= MAX_HOLD
    assert await store.hosts.take_slot(worker, HOST, HOLD) == pytest.approx(4.0)
    clock.advance(4)
    assert await store.hosts.take_slot(worker, HOST, HOLD) == 0.0
