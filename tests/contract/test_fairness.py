"""Sharing a small queue: a worker that asks first must not leave the others idle."""

from __future__ import annotations

from collections import Counter

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import LinkTarget, PageStatus
from tests.contract.crawls import done, target
from tests.support.clock import FakeClock

TTL = 60.0


async def test_a_host_with_very_many_urls_does_not_keep_others_waiting(store: CrawlStore, clock: FakeClock) -> None:
    """Nobody waits for more turns than there are hosts, also while new ones turn up."""
    small = [f"{number}.example" for number in range(6)]
    await store.frontier.add([target(str(number), "big.example") for number in range(60)], seed=False)
    await store.frontier.add([target(str(page), host) for host in small for page in range(3)], seed=False)
    worker, waits = await store.frontier.join(TTL), []
    since = dict.fromkeys(["big.example", *small], 0)
    for turn in range(26):
        clock.advance(1)
        if turn < 6:
            await store.frontier.add([target("", f"new-{turn}.example")], seed=False)
            since[f"new-{turn}.example"] = turn
        got = await store.frontier.lease(worker, {}, new_hosts=1, per_host=1, limit=0)
        [host] = got.hosts
        waits.append(turn - since[host])
        since[host] = turn
        await store.frontier.finish(worker, [done(one) for one in got.leases], max_depth=None)
    assert len(since) == 13
    assert max(waits) <= 13
    asked = Counter([row.url.split("/")[2] async for row in store.graph.pages() if row.status == PageStatus.COMPLETED])
    assert asked.keys() == since.keys()
    assert asked["big.example"] <= 3


async def test_while_little_is_queued_each_worker_takes_its_part(store: CrawlStore) -> None:
    first, second = await store.frontier.join(TTL), await store.frontier.join(TTL)
    targets = [LinkTarget(f"https://example.com/{number}", "example.com", PageStatus.QUEUED) for number in range(10)]
    await store.frontier.add(targets, seed=False)
    taken = await store.frontier.lease(first, {"example.com": 64}, new_hosts=1, per_host=4, limit=0)
    assert len(taken.leases) == 5
    rest = await store.frontier.lease(second, {"example.com": 64}, new_hosts=1, per_host=4, limit=0)
    assert rest.leases
    assert not {lease.url for lease in rest.leases} & {lease.url for lease in taken.leases}
