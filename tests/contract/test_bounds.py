"""Bounds: pages of a host, hosts of a domain, the queue. Kept by all workers together, with a reason for what is left out."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import FailureKind
from tadoru.rules.budget import BreadthLimits
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import (
    HOST_SPENT,
    QUEUE_FULL,
    TRAPPED_HOST,
    FailedOutcome,
    LinkTarget,
    PageStatus,
    RefusedOutcome,
    ReleasedOutcome,
    RetryOutcome,
    TrapRecord,
    UrlPurpose,
)
from tests.contract.conftest import Open
from tests.contract.crawls import TTL, done, external, lease, rows, started, statuses, target
from tests.support.clock import FakeClock
from tests.support.memory_store.store import MemoryStore
from tests.support.properties import examples


async def reasons(store: CrawlStore) -> dict[str, str | None]:
    """Why each page that was skipped was."""
    return {path: found.skip_reason for path, found in (await rows(store)).items() if found.status == "skipped"}


async def queued(store: CrawlStore) -> list[str]:
    return sorted(path for path, status in (await statuses(store)).items() if status == "queued")


async def test_two_workers_together_never_lease_more_of_a_host_than_it_may_be_asked_for(handles: Open) -> None:
    stores = [handles(), handles()]
    for store in stores:
        store.limits.set(BreadthLimits(pages_per_host=3))
    first = await started(stores[0], *"abcdef")
    second = await stores[1].frontier.join(TTL)
    held = await lease(stores[0], first, 2)
    more = await lease(stores[1], second, 64)
    assert (len(held), len(more)) == (2, 1)
    assert await lease(stores[0], first, 64) == []
    await stores[0].frontier.finish(first, [done(one) for one in held], max_depth=None)
    assert await queued(stores[0]) == ["d", "e", "f"]  # What is in flight may come back.
    await stores[1].frontier.finish(second, [done(more[0], "g")], max_depth=None)
    assert await reasons(stores[0]) == dict.fromkeys("defg", HOST_SPENT)
    assert (await stores[1].frontier.counts()).queued == 0


async def test_what_was_not_asked_for_leaves_its_place_to_others(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(pages_per_host=2))
    worker = await started(store, *"abcdef")
    one, two = await lease(store, worker, 6)
    unreached = RetryOutcome(lease=two, after=60.0, kind=FailureKind.DNS, message="No such host.")
    await store.frontier.finish(worker, [RefusedOutcome(lease=one, reason="robots.txt"), unreached], max_depth=None)
    three, four = await lease(store, worker, 6)
    await store.frontier.finish(worker, [ReleasedOutcome(lease=three)], max_depth=None)
    await store.frontier.leave(worker)
    worker = await store.frontier.join(TTL)
    again = await lease(store, worker, 6)
    assert {three.url, four.url} == {one.url for one in again}


async def test_an_answer_that_is_asked_for_again_counts_each_time(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(pages_per_host=2))
    worker = await started(store, "a")
    for _ in range(2):
        [held] = await lease(store, worker, 6)
        await store.frontier.finish(
            worker, [RetryOutcome(lease=held, after=0.0, kind="http_503", message="Answered 503.")], max_depth=None
        )
    assert await reasons(store) == {"a": HOST_SPENT}


async def test_links_that_are_only_checked_do_not_count(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(pages_per_host=1))
    await store.frontier.add([external("x", check=True), external("y", check=True)], seed=False)
    worker = await store.frontier.join(TTL)
    for _ in "xy":
        [held] = await lease(store, worker, 1, host="b.example")
        assert held.purpose is UrlPurpose.CHECK
        await store.frontier.finish(worker, [done(held)], max_depth=None)
    assert await reasons(store) == {}


async def test_a_larger_number_of_pages_takes_up_what_was_left_out_and_a_smaller_one_leaves_out_more(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(pages_per_host=1))
    worker = await started(store, *"abc")
    [held] = await lease(store, worker, 9)
    await store.frontier.finish(worker, [FailedOutcome(lease=held, kind="http_500", message="Answered 500.")], max_depth=None)
    assert await reasons(store) == dict.fromkeys("bc", HOST_SPENT)
    assert await store.limits.requeue() == 0
    store.limits.set(BreadthLimits(pages_per_host=2))
    assert await store.limits.requeue() == 2
    assert [one.url[-1] for one in await lease(store, worker, 9)] == ["b"]
    await store.frontier.leave(worker)
    store.limits.set(BreadthLimits(pages_per_host=1))
    await store.limits.requeue()
    assert await reasons(store) == dict.fromkeys("bc", HOST_SPENT)
    store.limits.set(BreadthLimits())
    await store.limits.requeue()
    assert await queued(store) == ["b", "c"]


async def test_what_a_larger_depth_lets_in_is_still_within_the_bounds(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(pages_per_host=1))
    worker = await started(store, "a")
    [held] = await lease(store, worker)
    await store.frontier.finish(worker, [done(held, "b")], max_depth=0)
    await store.frontier.widen(None)
    assert await reasons(store) == {"b": HOST_SPENT}


def subdomain(name: str, path: str = "") -> LinkTarget:
    return target(path, f"{name}.trap.example")


async def test_a_domain_with_ever_new_hosts_is_cut_off_and_told_as_a_trap(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(hosts_per_domain=2))
    worker = await started(store, "a")
    [held] = await lease(store, worker)
    links = [subdomain(name) for name in "abcd"] + [subdomain("a", "more"), subdomain("d", "more"), target("", "other.example")]
    await store.frontier.finish(worker, [done(held, *links)], max_depth=None)
    assert set((await reasons(store)).values()) == {TRAPPED_HOST}
    assert sorted(await reasons(store)) == [
        "https://c.trap.example/",
        "https://d.trap.example/",
        "https://d.trap.example/more",
    ]
    assert await store.graph.traps() == [TrapRecord("*.trap.example", "subdomains", 2, 3, "https://d.trap.example/")]
    store.limits.set(BreadthLimits(hosts_per_domain=3))
    await store.limits.requeue()
    assert sorted(await reasons(store)) == ["https://d.trap.example/", "https://d.trap.example/more"]


async def test_a_host_that_a_person_named_belongs_to_the_crawl(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(hosts_per_domain=1))
    await store.frontier.add([subdomain("a")], seed=False)
    await store.frontier.add([subdomain("b"), subdomain("c")], seed=True)
    await store.frontier.add([subdomain("c", "x"), subdomain("d")], seed=False)
    assert list(await reasons(store)) == ["https://d.trap.example/"]


async def test_a_full_queue_keeps_what_is_nearest_and_puts_the_rest_off(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(queued=30))
    await store.limits.requeue()
    worker = await started(store, "a")
    for depth in (3, 2, 1):
        found = [target(f"{depth}-{number}", f"{number}.example") for number in range(20)]
        await store.frontier.add(found, seed=False, depth=depth)
    counts = await store.frontier.counts()
    assert (counts.queued, counts.skipped) == (30, 31)
    waiting = Counter(row.depth for row in (await rows(store)).values() if row.status == "queued")
    assert waiting == {0: 1, 1: 20, 2: 9}
    assert set((await reasons(store)).values()) == {QUEUE_FULL}
    assert await store.limits.refill() == 0  # There is no room yet.
    got = await store.frontier.lease(worker, {}, new_hosts=64, per_host=2, limit=0)
    assert len(got.leases) == 30
    await store.frontier.finish(worker, [done(one) for one in got.leases], max_depth=None)
    assert await store.limits.refill() == 30
    waiting = Counter(row.depth for row in (await rows(store)).values() if row.status == "queued")
    assert waiting == {2: 11, 3: 19}


async def test_one_host_can_not_fill_the_queue(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(queued=30))
    await store.limits.requeue()
    await store.frontier.add([target(f"{number:02}") for number in range(20)], seed=False)
    await store.frontier.add([target("", "b.example")], seed=False)
    assert (await store.frontier.counts()).queued == 4
    assert [path for path in await queued(store) if "b.example" not in path] == ["00", "01", "02"]


async def test_a_link_that_was_only_checked_and_becomes_a_start_counts_for_the_limit_of_its_host(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(queued=3))
    checked = [target(path)._replace(purpose=UrlPurpose.CHECK, internal=False) for path in ("a", "b")]
    await store.frontier.add(checked, seed=False)
    assert await queued(store) == ["a", "b"]
    await store.frontier.add([target("a")], seed=True)
    assert await queued(store) == ["b"]
    assert await reasons(store) == {"a": QUEUE_FULL}


async def test_everything_that_was_put_off_comes_back_in_the_end(store: CrawlStore) -> None:
    store.limits.set(BreadthLimits(queued=4))
    await store.limits.requeue()
    await store.frontier.add([target(f"{number}", f"{number % 5}.example") for number in range(24)], seed=False)
    worker, asked = await store.frontier.join(TTL), 0
    for _ in range(60):
        got = await store.frontier.lease(worker, {}, new_hosts=8, per_host=8, limit=0)
        asked += len(got.leases)
        await store.frontier.finish(worker, [done(one) for one in got.leases], max_depth=None)
        if not got.leases and not await store.limits.refill():
            break
    assert asked == 24
    assert (await store.frontier.counts()).skipped == 0


@examples(40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=8),
    most=st.integers(1, 6),
    places=st.integers(1, 3),
    order=st.randoms(use_true_random=False),
)
async def test_whatever_happens_no_host_is_asked_for_more_than_its_share(sizes: list[int], most: int, places: int, order) -> None:  # type: ignore[no-untyped-def]
    store = MemoryStore(FakeClock())
    store.bound(BreadthLimits(pages_per_host=most))
    targets = [target(str(page), f"{host}.example") for host, size in enumerate(sizes) for page in range(size)]
    await store.add(targets, seed=False)
    workers, asked = [await store.join(TTL), await store.join(TTL)], Counter[str]()
    for _ in range(400):
        worker = order.choice(workers)
        got = await store.lease(worker, {}, new_hosts=places, per_host=2, limit=0)
        for one in got.leases:
            outcome = order.choice([done, done, lambda lease: ReleasedOutcome(lease=lease)])(one)
            asked[one.host] += not isinstance(outcome, ReleasedOutcome)
            await store.finish(worker, [outcome], max_depth=None)
        if not (await store.counts()).queued:
            break
    assert asked == {f"{host}.example": min(size, most) for host, size in enumerate(sizes)}
    assert (await store.counts()).skipped == sum(max(0, size - most) for size in sizes)
    assert {row.status async for row in store.pages()} <= {PageStatus.COMPLETED, PageStatus.SKIPPED}
