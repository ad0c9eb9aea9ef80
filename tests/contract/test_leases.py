"""Leases: each URL has one owner at a time, and no death of a worker loses one."""

from __future__ import annotations

import pytest

from tadoru.rules.pace import Pace
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import (
    CompletedOutcome,
    FailedOutcome,
    Lease,
    Outcome,
    PageFacts,
    PageStatus,
    RefusedOutcome,
    ReleasedOutcome,
    RetryOutcome,
)
from tests.contract.conftest import Open
from tests.contract.crawls import HOST, TTL, decided, done, external, lease, lease_one, row, started, statuses, target, to
from tests.support.clock import FakeClock


async def test_a_leased_url_is_nobody_elses(handles: Open) -> None:
    one, two = handles(), handles()
    first = await started(one, "x", "y", "z")
    second = await two.frontier.join(TTL)
    mine = await lease(one, first, 2)
    theirs = await lease(two, second, 5)
    assert {got.url for got in mine} & {got.url for got in theirs} == set()
    assert len(mine) == 2
    assert len(theirs) == 1
    assert await lease(one, first, 5) == []


async def test_the_shallowest_come_first_then_the_longest_known(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("deep")], seed=False, depth=2)
    await store.frontier.add([target("late"), target("later")], seed=False, depth=1)
    await store.frontier.add([target("start")], seed=True)
    assert [got.url.rpartition("/")[2] for got in await lease(store, worker, 9)] == ["start", "late", "later", "deep"]


async def test_a_page_that_came_closer_is_leased_before_those_it_overtook(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("far")], seed=False, depth=5)
    await store.frontier.add([target("near")], seed=False, depth=3)
    await store.frontier.add([target("far")], seed=False, depth=1)
    assert [got.url.rpartition("/")[2] for got in await lease(store, worker, 9)] == ["far", "near"]


async def test_what_a_lease_says_of_its_url(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.add([external("y", check=True)], seed=False, depth=2)
    leased = await store.frontier.lease(worker, {}, new_hosts=5, per_host=5, limit=0)
    by_host = {got.host: got for got in leased.leases}
    assert by_host[HOST][1:] == ("https://a.example/x", HOST, 0, 0, 0, "page", True)
    assert by_host["b.example"][1:] == ("https://b.example/y", "b.example", 2, 0, 0, "check", False)
    assert set(leased.hosts) == {HOST, "b.example"}
    assert leased.hosts[HOST].pace is None


async def test_named_hosts_get_what_they_want_and_others_their_share(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add(
        [target(str(n), host) for host in ("a.example", "b.example", "c.example") for n in range(5)], seed=False
    )
    leased = await store.frontier.lease(worker, {"b.example": 3, "unheard.example": 4}, new_hosts=1, per_host=2, limit=0)
    assert [got.host for got in leased.leases] == ["b.example"] * 3 + ["a.example"] * 2
    assert set(leased.hosts) == {"b.example", "a.example"}


async def test_a_host_that_is_named_with_nothing_gives_nothing_and_tells_its_pace(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target(str(n), host) for host in ("a.example", "b.example") for n in range(5)], seed=False)
    await store.hosts.set_pace("a.example", Pace(gap=2.0, base=1.0, latency=None, baseline=None, strikes=1), 7.0)
    leased = await store.frontier.lease(worker, {"a.example": 0}, new_hosts=3, per_host=2, limit=0)
    assert [got.host for got in leased.leases] == ["b.example"] * 2
    assert (leased.hosts["a.example"].pace or Pace(0, 0, None, None, 0)).gap == 2.0
    assert leased.hosts["a.example"].wait == pytest.approx(7.0)
    nothing = await store.frontier.lease(worker, {"a.example": 0, "b.example": 0}, new_hosts=3, per_host=2, limit=0)
    assert nothing.leases == []
    assert set(nothing.hosts) == {"a.example", "b.example"}


async def test_hosts_that_only_have_waiting_retries_do_not_keep_others_from_being_asked(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("x", "a.example"), target("x", "b.example")], seed=False)
    [got] = (await store.frontier.lease(worker, {}, new_hosts=1, per_host=1, limit=0)).leases
    await store.frontier.finish(worker, [RetryOutcome(lease=got, after=30, kind="http_503", message="")], max_depth=None)
    leased = await store.frontier.lease(worker, {}, new_hosts=1, per_host=1, limit=0)
    assert [lease.host for lease in leased.leases] == ["b.example"]


async def test_leaving_gives_every_lease_back(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    await lease(store, worker, 2)
    await store.frontier.leave(worker)
    assert await statuses(store) == {"x": "queued", "y": "queued"}
    assert not await store.frontier.renew(worker, TTL)
    assert len(await lease(store, await store.frontier.join(TTL), 5)) == 2


async def test_leaving_twice_is_harmless(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.leave(worker)
    other = await store.frontier.join(TTL)
    await lease_one(store, other)
    await store.frontier.leave(worker)
    assert (await store.frontier.counts()).processing == 1


async def test_a_worker_that_renews_keeps_its_leases(handles: Open, clock: FakeClock) -> None:
    store = handles()
    worker = await started(store, "x")
    await lease_one(store, worker)
    for _ in range(5):
        clock.advance(TTL - 1)
        assert await store.frontier.renew(worker, TTL)
        assert await handles().frontier.recover() == 0
    assert (await store.frontier.counts()).processing == 1


async def test_the_leases_of_a_worker_that_stopped_renewing_return(handles: Open, clock: FakeClock) -> None:
    store = handles()
    dead = await started(store, "x", "y", "z")
    await lease(store, dead, 2)
    living = await store.frontier.join(TTL * 3)
    await lease(store, living, 1)
    clock.advance(TTL + 1)
    assert await handles().frontier.recover() == 2
    assert not await store.frontier.renew(dead, TTL)
    assert await store.frontier.renew(living, TTL)
    assert await statuses(store) == {"x": "queued", "y": "queued", "z": "processing"}
    assert await store.frontier.recover() == 0


async def test_a_worker_that_was_declared_dead_leases_no_page(store: CrawlStore, clock: FakeClock) -> None:
    dead = await started(store, "x")
    clock.advance(TTL + 1)
    await store.frontier.recover()
    assert await lease(store, dead) == []
    assert len(await lease(store, await store.frontier.join(TTL))) == 1


async def test_a_worker_that_was_asleep_does_not_take_its_own_leases_back(handles: Open, clock: FakeClock) -> None:
    store = handles()
    sleeper = await started(store, "x", "y")
    other = await store.frontier.join(TTL)
    await lease(store, sleeper, 1)
    await lease(store, other, 1)
    clock.advance(TTL + 1)
    assert await store.frontier.recover(sleeper) == 1
    assert await store.frontier.renew(sleeper, TTL)
    assert (await store.frontier.counts()).processing == 1


def _late(got: Lease) -> list[Outcome]:
    return [
        CompletedOutcome(lease=got, facts=PageFacts(status_code=200), links=to("new"), targets=decided("new"), anchors=["a"]),
        CompletedOutcome(lease=got, facts=PageFacts(status_code=301), redirect=target("new")),
        FailedOutcome(lease=got, kind="dns_failure", message=""),
        RetryOutcome(lease=got, after=5.0, kind="http_503", message=""),
        RefusedOutcome(lease=got, reason="robots"),
        ReleasedOutcome(lease=got),
    ]


@pytest.mark.parametrize("kind", range(6), ids=["completed", "redirect", "failed", "again", "refused", "released"])
@pytest.mark.parametrize("again", [False, True], ids=["queued", "leased by another"])
async def test_a_late_outcome_of_a_dead_worker_changes_nothing(
    store: CrawlStore, clock: FakeClock, kind: int, again: bool
) -> None:
    dead = await started(store, "x")
    got = await lease_one(store, dead)
    clock.advance(TTL + 1)
    await store.frontier.recover()
    living = await store.frontier.join(TTL)
    if again:
        await lease_one(store, living)
    before = [page async for page in store.graph.pages()], await store.frontier.counts()
    assert await store.frontier.finish(dead, [_late(got)[kind]], max_depth=None) == 0
    assert ([page async for page in store.graph.pages()], await store.frontier.counts()) == before


async def test_an_outcome_is_recorded_once(store: CrawlStore) -> None:
    worker = await started(store, "x")
    got = await lease_one(store, worker)
    assert await store.frontier.finish(worker, [done(got), done(got)], max_depth=None) == 1
    assert await store.frontier.finish(worker, [FailedOutcome(lease=got, kind="tls_error", message="")], max_depth=None) == 0
    assert (await store.frontier.counts()).counted == 1
    assert (await row(store, "x")).status == PageStatus.COMPLETED


class Treacherous(list[object]):
    """A list that breaks while it is read."""

    def __iter__(self):  # type: ignore[no-untyped-def]
        yield from super().__iter__()
        raise RuntimeError("broke in the middle")


async def test_finish_is_all_or_nothing(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    first, second = await lease(store, worker, 2)
    before = [page async for page in store.graph.pages()], await store.frontier.counts()
    links = Treacherous(to("p", "q"))
    broken = CompletedOutcome(lease=second, facts=PageFacts(status_code=200), links=links, targets=decided("p", "q"))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="broke in the middle"):
        await store.frontier.finish(worker, [done(first, "new"), broken], max_depth=None)
    assert ([page async for page in store.graph.pages()], await store.frontier.counts()) == before
    assert [link async for link in store.graph.links()] == []
    assert await store.frontier.finish(worker, [done(first, "new"), done(second, "p", "new")], max_depth=None) == 2
    assert [link.target_url.rpartition("/")[2] async for link in store.graph.links()] == ["new", "p", "new"]
    assert (await store.frontier.counts()).known == 4


async def test_no_outcomes_are_no_work(store: CrawlStore) -> None:
    worker = await started(store, "x")
    assert await store.frontier.finish(worker, [], max_depth=None) == 0
