"""Resources to try: each once, by one worker, within the budget, whoever else is at it."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import CompletedOutcome, PageFacts, PageRecords, ResourceLease, ResourceResult, ResourceUse
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, lease_one, started, without_file
from tests.support.clock import FakeClock

PLENTY = 1000


def use(name: str, *, wanted: bool = True) -> ResourceUse:
    return ResourceUse(f"https://a.example/{name}.png", "a.example", "img", internal=True, wanted=wanted)


async def used(store: CrawlStore, *uses: ResourceUse) -> int:
    """A worker of a crawl whose only page is made of these."""
    worker = await started(store, "x")
    records = PageRecords(indexable=True, indexability="indexable")
    answer = CompletedOutcome(
        lease=await lease_one(store, worker), facts=PageFacts(status_code=200), records=records, resources=uses
    )
    await store.frontier.finish(worker, [answer], max_depth=None)
    return worker


def names(leases: list[ResourceLease]) -> list[str]:
    return [each.url.removeprefix("https://a.example/").removesuffix(".png") for each in leases]


def tried(each: ResourceLease, status: str = "completed") -> ResourceResult:
    return ResourceResult(resource_id=each.resource_id, status=status, status_code=200)


async def test_resources_are_tried_in_the_order_they_were_found_and_once(store: CrawlStore) -> None:
    worker = await used(store, use("a"), use("b"), use("a"), use("c"))
    leases = await store.resources.lease(worker, 2, budget=PLENTY)
    assert names(leases) == ["a", "b"]
    assert [(each.host, each.attempt) for each in leases] == [("a.example", 0)] * 2
    await store.resources.finish(worker, [tried(each) for each in leases])
    assert names(await store.resources.lease(worker, 9, budget=PLENTY)) == ["c"]


async def test_what_is_not_wanted_is_known_and_not_tried(store: CrawlStore) -> None:
    worker = await used(store, use("a", wanted=False), use("b"))
    assert names(await store.resources.lease(worker, 9, budget=PLENTY)) == ["b"]


async def test_two_workers_never_try_the_same_resource(handles: Open) -> None:
    one, two = handles(), handles()
    first = await used(one, use("a"), use("b"), use("c"))
    second = await two.frontier.join(TTL)
    assert names(await one.resources.lease(first, 2, budget=PLENTY)) == ["a", "b"]
    assert names(await two.resources.lease(second, 2, budget=PLENTY)) == ["c"]
    assert await one.resources.lease(first, 2, budget=PLENTY) == []


async def test_the_budget_counts_what_is_being_tried_and_what_was(store: CrawlStore) -> None:
    worker = await used(store, *[use(name) for name in "abcdef"])
    leases = await store.resources.lease(worker, 3, budget=4)
    statuses = ("completed", "error", "skipped")
    await store.resources.finish(worker, [tried(each, status) for each, status in zip(leases, statuses, strict=True)])
    assert names(await store.resources.lease(worker, 9, budget=4)) == ["d"]
    assert await store.resources.lease(worker, 9, budget=4) == []
    assert names(await store.resources.lease(worker, 9, budget=5)) == ["e"], "a larger budget goes on"


async def test_a_resource_to_be_tried_again_waits_for_its_time(store: CrawlStore, clock: FakeClock) -> None:
    worker = await used(store, use("a"), use("b"))
    leases = await store.resources.lease(worker, 2, budget=2)
    again = ResourceResult(resource_id=leases[0].resource_id, status="queued", again_after=10.0)
    await store.resources.finish(worker, [again, tried(leases[1])])
    assert await store.resources.lease(worker, 9, budget=2) == []
    assert await store.resources.wait(budget=2) == 10.0
    clock.advance(10.0)
    assert await store.resources.wait(budget=2) == 0.0
    [last] = await store.resources.lease(worker, 9, budget=2)
    assert (names([last]), last.attempt) == (["a"], 1)


async def test_there_is_nothing_to_wait_for_when_all_were_tried_or_the_budget_is_spent(store: CrawlStore) -> None:
    worker = await used(store, use("a"), use("b"))
    leases = await store.resources.lease(worker, 1, budget=1)
    await store.resources.finish(worker, [tried(leases[0])])
    assert await store.resources.wait(budget=1) is None
    leases = await store.resources.lease(worker, 1, budget=PLENTY)
    await store.resources.finish(worker, [tried(leases[0])])
    assert await store.resources.wait(budget=PLENTY) is None


async def test_what_another_worker_holds_may_come_back(store: CrawlStore, clock: FakeClock) -> None:
    dead = await used(store, use("a"))
    await store.resources.lease(dead, 1, budget=1)
    living = await store.frontier.join(9 * TTL)
    wait = await store.resources.wait(budget=1)
    assert wait is not None
    assert wait > 0
    clock.advance(TTL + 1)
    await store.frontier.recover(living)
    [again] = await store.resources.lease(living, 1, budget=1)
    assert (names([again]), again.attempt) == (["a"], 0)
    # Whoever was declared dead has nothing more to say about it.
    await store.resources.finish(dead, [tried(again)])
    assert await store.resources.wait(budget=1) is not None
    await store.resources.finish(living, [tried(again)])
    assert await store.resources.wait(budget=1) is None


async def test_a_worker_that_was_declared_dead_leases_nothing(store: CrawlStore, clock: FakeClock) -> None:
    dead = await used(store, use("a"))
    living = await store.frontier.join(9 * TTL)
    clock.advance(TTL + 1)
    await store.frontier.recover(living)
    assert await store.resources.lease(dead, 1, budget=1) == []
    assert names(await store.resources.lease(living, 1, budget=1)) == ["a"]


async def test_a_worker_that_leaves_gives_its_resources_back(store: CrawlStore) -> None:
    worker = await used(store, use("a"))
    await store.resources.lease(worker, 1, budget=PLENTY)
    await store.frontier.leave(worker)
    assert names(await store.resources.lease(await store.frontier.join(TTL), 1, budget=PLENTY)) == ["a"]


async def test_a_page_without_resources_leaves_nothing_to_try(store: CrawlStore) -> None:
    worker = await used(store)
    assert await store.resources.lease(worker, 9, budget=PLENTY) == []
    assert await store.resources.wait(budget=PLENTY) is None


@pytest.mark.parametrize("name", ["memory", "sqlite"])
@given(budget=st.integers(0, 12), data=st.data())
def test_exactly_the_budget_is_tried_whatever_becomes_of_each(name: str, budget: int, data: st.DataObject) -> None:
    async def run() -> None:
        store = without_file(name)
        workers = [await used(store, *[use(str(number)) for number in range(10)]), await store.frontier.join(TTL)]
        held: list[tuple[int, ResourceLease]] = []
        over: list[str] = []
        while True:
            for worker in workers:
                leases = await store.resources.lease(worker, data.draw(st.integers(1, 3)), budget=budget)
                held += [(worker, each) for each in leases]
            if not held:
                break
            worker, each = held.pop(data.draw(st.integers(0, len(held) - 1)))
            if data.draw(st.booleans()):
                again = ResourceResult(resource_id=each.resource_id, status="queued", again_after=0.0)
                await store.resources.finish(worker, [again])
            else:
                await store.resources.finish(worker, [tried(each)])
                over.append(each.url)
        assert len(over) == len(set(over)) == min(budget, 10)
        assert await store.resources.wait(budget=budget) is None
        await store.close()

    asyncio.run(run())
