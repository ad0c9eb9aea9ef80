"""Sharing a small queue: a worker that asks first must not leave the others idle."""

from __future__ import annotations

from tadoru.store.base import CrawlStore, PageStatus, Target

TTL = 60.0


async def test_while_little_is_queued_each_worker_takes_its_part(store: CrawlStore) -> None:
    first, second = await store.join(TTL), await store.join(TTL)
    targets = [Target(f"https://example.com/{number}", "example.com", PageStatus.QUEUED) for number in range(10)]
    await store.add(targets, seed=False)
    taken = await store.lease(first, {"example.com": 64}, new_hosts=0, per_host=4, limit=0)
    assert len(taken.leases) == 5
    rest = await store.lease(second, {"example.com": 64}, new_hosts=0, per_host=4, limit=0)
    assert rest.leases
    assert not {lease.url for lease in rest.leases} & {lease.url for lease in taken.leases}
