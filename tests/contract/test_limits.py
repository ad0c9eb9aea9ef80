"""The limit on pages is exact, however many workers lease at once."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import FailedOutcome, Lease, Outcome, RefusedOutcome, ReleasedOutcome, RetryOutcome
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, done, lease, lease_one, started, target, without_file
from tests.support.clock import FakeClock


async def test_leases_count_before_they_are_answered(handles: Open) -> None:
    one, two = handles(), handles()
    first = await started(one, *map(str, range(9)))
    second = await two.frontier.join(TTL)
    assert len(await lease(one, first, 3, limit=5)) == 3
    assert len(await lease(two, second, 3, limit=5)) == 2
    assert await lease(one, first, 3, limit=5) == []


async def test_the_limit_holds_over_several_hosts_of_one_call(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add(
        [target(str(n), host) for host in ("a.example", "b.example", "c.example") for n in range(5)], seed=False
    )
    leased = await store.frontier.lease(worker, {"a.example": 2}, new_hosts=4, per_host=2, limit=5)
    assert len(leased.leases) == 5


async def test_a_redirect_is_not_counted(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect="y")], max_depth=None)
    assert len(await lease(store, worker, 5, limit=1)) == 1


@pytest.mark.parametrize("kind", ["released", "again", "refused"])
async def test_what_was_not_answered_makes_room(store: CrawlStore, kind: str) -> None:
    worker = await started(store, "x", "y")
    [got] = await lease(store, worker, 5, limit=1)
    given: dict[str, Outcome] = {
        "released": ReleasedOutcome(lease=got),
        "again": RetryOutcome(lease=got, after=99, kind="k", message=""),
        "refused": RefusedOutcome(lease=got, reason="r"),
    }
    await store.frontier.finish(worker, [given[kind]], max_depth=None)
    assert len(await lease(store, worker, 5, limit=1)) == 1


@pytest.mark.parametrize("kind", ["completed", "failed"])
async def test_what_was_answered_or_failed_is_counted(store: CrawlStore, kind: str) -> None:
    worker = await started(store, "x", "y")
    [got] = await lease(store, worker, 5, limit=1)
    await store.frontier.finish(
        worker, [done(got) if kind == "completed" else FailedOutcome(lease=got, kind="k", message="")], max_depth=None
    )
    assert await lease(store, worker, 5, limit=1) == []
    assert len(await lease(store, worker, 5, limit=0)) == 1


async def test_the_leases_of_a_dead_worker_make_room(store: CrawlStore, clock: FakeClock) -> None:
    dead = await started(store, "x", "y")
    await lease(store, dead, 2, limit=2)
    clock.advance(TTL + 1)
    await store.frontier.recover()
    assert len(await lease(store, await store.frontier.join(TTL), 5, limit=2)) == 2


@pytest.mark.parametrize("name", ["memory", "sqlite"])
@given(limit=st.integers(1, 12), data=st.data())
def test_a_crawl_with_a_limit_answers_exactly_so_many_pages(name: str, limit: int, data: st.DataObject) -> None:
    async def run() -> None:
        store = without_file(name)
        await store.frontier.add([target(str(n)) for n in range(12)], seed=True)
        held: list[tuple[int, Lease]] = []
        workers = [await store.frontier.join(TTL) for _ in range(3)]
        while True:
            for worker in workers:
                held += [(worker, got) for got in await lease(store, worker, data.draw(st.integers(1, 4)), limit=limit)]
            if not held:
                break
            worker, got = held.pop(data.draw(st.integers(0, len(held) - 1)))
            kind = data.draw(st.sampled_from(["answer", "answer", "fail", "release", "redirect", "refuse"]))
            outcomes: dict[str, Outcome] = {
                "answer": done(got, f"{got.page_id}/more"),
                "fail": FailedOutcome(lease=got, kind="k", message=""),
                "release": ReleasedOutcome(lease=got),
                "redirect": done(got, redirect=f"{got.page_id}/onward"),
                "refuse": RefusedOutcome(lease=got, reason="r"),
            }
            await store.frontier.finish(worker, [outcomes[kind]], max_depth=None)
        counts = await store.frontier.counts()
        assert counts.counted <= limit
        assert counts.counted == limit or counts.queued == 0
        await store.close()

    asyncio.run(run())


async def test_who_has_its_hosts_to_itself_takes_what_it_wants_however_many_others_work(store: CrawlStore) -> None:
    await store.frontier.add([target(str(number), "a.example") for number in range(4)], seed=False)
    worker, *_ = [await store.frontier.join(TTL) for _ in range(4)]
    alone = await store.frontier.lease(worker, {"a.example": 3}, new_hosts=0, per_host=1, limit=0)
    assert len(alone.leases) == 3, "a fair part would be one"
