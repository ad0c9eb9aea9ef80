"""Several connections at one crawl on a real PostgreSQL: what they may do at once, and that nobody waits in a circle."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.rules.budget import BreadthLimits
from tadoru.rules.pace import Pace
from tadoru.store.crawl.postgres.frontier import LEASE
from tadoru.store.crawl.postgres.pool import retried
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import CrawlCounts, Lease, ResourceResult, SitemapRecord
from tadoru.store.errors import DeadlockVictim
from tests.contract.crawls import TTL, done, lease, target

HOSTS = [f"{number}.example" for number in range(6)]
ROOT = Path(__file__).parents[3]
# A worker that has leased, and whose transaction is still open when it dies.
_DIES = """
import asyncio, signal, sys
from tadoru.clock import SystemClock
from tadoru.store.crawl.postgres.store import PostgresStore

async def main():
    store = PostgresStore(sys.argv[1], SystemClock())
    worker = await store.frontier.join(60)
    async with store.db.pool.transaction() as link:
        await link.execute("UPDATE hosts SET leased = leased + 1")
        taken = await link.execute("UPDATE pages SET status = 'processing', owner = %s", [worker])
        print(taken.rowcount, flush=True)
        signal.pause()

asyncio.run(main())
"""


def opened(crawl: str) -> PostgresStore:
    return PostgresStore(crawl, SystemClock())


def fill(crawl: str, each: int) -> None:
    async def run() -> None:
        await (await filled(crawl, each)).close()

    asyncio.run(run())


def counts_of(crawl: str) -> CrawlCounts:
    async def run() -> CrawlCounts:
        store = opened(crawl)
        try:
            return await store.frontier.counts()
        finally:
            await store.close()

    return asyncio.run(run())


async def filled(crawl: str, each: int) -> PostgresStore:
    store = opened(crawl)
    await store.frontier.add([target(str(page), host) for host in HOSTS for page in range(each)], seed=False)
    return store


def at_once(crawl: str, number: int, task: Callable[[PostgresStore, int], Awaitable[list[Lease]]]) -> list[list[Lease]]:
    """What a task answers to each of so many connections that begin together, each in a thread of its own."""
    begin, found = threading.Barrier(number), [list[Lease]() for _ in range(number)]
    failed: list[BaseException] = []

    async def run(at: int) -> None:
        store = opened(crawl)
        try:
            worker = await store.frontier.join(TTL)
            begin.wait(60)
            found[at] = await task(store, worker)
        except BaseException as error:
            failed.append(error)
        finally:
            await store.close()

    threads = [threading.Thread(target=lambda at=at: asyncio.run(run(at))) for at in range(number)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return found


def test_those_who_lease_at_once_never_get_one_page(crawl: str) -> None:
    fill(crawl, 40)

    async def take(store: PostgresStore, worker: int) -> list[Lease]:
        got: list[Lease] = []
        while more := (await store.frontier.lease(worker, {HOSTS[0]: 3}, new_hosts=2, per_host=2, limit=0)).leases:
            got += more
        return got

    pages = [got.page_id for some in at_once(crawl, 4, take) for got in some]
    assert len(pages) == len(set(pages))
    counts = counts_of(crawl)
    assert (counts.processing, counts.queued) == (len(pages), 240 - len(pages))


@pytest.mark.parametrize("limit", [1, 17])
def test_the_limit_is_exact_whoever_leases_at_once(crawl: str, limit: int) -> None:
    fill(crawl, 10)

    async def take(store: PostgresStore, worker: int) -> list[Lease]:
        wanted = dict.fromkeys(HOSTS, 2)
        return [
            got
            for _ in range(6)
            for got in (await store.frontier.lease(worker, wanted, new_hosts=0, per_host=0, limit=limit)).leases
        ]

    assert sum(map(len, at_once(crawl, 4, take))) == limit


async def test_a_page_that_another_transaction_has_locked_is_passed_over(crawl: str) -> None:
    store, other = await filled(crawl, 3), opened(crawl)
    worker = await store.frontier.join(TTL)
    other.db.sql.run("BEGIN")
    (locked,) = other.db.sql.run("SELECT id FROM pages ORDER BY id LIMIT 1 FOR UPDATE").fetchall()[0]
    got = await lease(store, worker, 3, host=HOSTS[0])
    assert len(got) == 2
    assert locked not in {one.page_id for one in got}
    other.db.sql.run("ROLLBACK")
    assert [one.page_id for one in await lease(store, worker, 3, host=HOSTS[0])] == [locked]
    await store.close()
    await other.close()


async def test_leases_slots_and_paces_do_not_wait_for_who_writes(crawl: str) -> None:
    store, writer = await filled(crawl, 2), opened(crawl)
    worker = await store.frontier.join(TTL)
    async with writer.db.pool.transaction(*writer.db.beginning):
        assert len(await lease(store, worker, 1, host=HOSTS[0])) == 1
        await store.hosts.begin_pace(HOSTS[0], Pace(0.0, 0.0, None, None, 0))
        assert await store.hosts.take_slot(worker, HOSTS[0], 30.0) == 0.0
        await store.hosts.sent(worker, HOSTS[0])
        assert await store.robots.claim(worker, "https://0.example", hold=5.0, max_age=60.0) is True
        assert await store.frontier.renew(worker, TTL)
    await store.close()
    await writer.close()


async def test_who_was_declared_dead_leases_nothing(crawl: str) -> None:
    store = await filled(crawl, 2)
    worker = await store.frontier.join(TTL)
    await store.frontier.leave(worker)
    assert await lease(store, worker, 2, host=HOSTS[0]) == []
    assert (await store.frontier.counts()).processing == 0
    await store.close()


def test_a_storm_of_leases_answers_and_slots_ends_with_every_page_answered_once(crawl: str) -> None:
    fill(crawl, 12)

    async def work(store: PostgresStore, worker: int) -> list[Lease]:
        done_by_me: list[Lease] = []
        while (await store.frontier.counts()).queued + (await store.frontier.counts()).processing:
            got = (await store.frontier.lease(worker, {HOSTS[worker % 6]: 2}, new_hosts=3, per_host=2, limit=0)).leases
            for one in got:
                await store.hosts.begin_pace(one.host, Pace(0.0, 0.0, None, None, 0))
                if await store.hosts.take_slot(worker, one.host, 0.5) == 0.0:
                    await store.hosts.sent(worker, one.host)
                await store.hosts.set_pace(one.host, Pace(0.0, 0.0, 0.1, 0.1, 0))
            await store.frontier.renew(worker, TTL)
            # To pages that others write at this moment, and to each other's hosts, in any order.
            links = [target(str(page % 12), HOSTS[(page + worker) % 6]) for page in range(8)]
            recorded = await store.frontier.finish(worker, [done(one, *links) for one in reversed(got)], max_depth=None)
            assert recorded == len(got)
            done_by_me += got
        return done_by_me

    pages = [got.page_id for some in at_once(crawl, 4, work) for got in some]
    assert sorted(pages) == sorted(set(pages))
    assert len(pages) == 72
    counts = counts_of(crawl)
    assert (counts.completed, counts.counted, counts.queued, counts.processing) == (72, 72, 0, 0)
    store = opened(crawl)
    assert store.db.sql.run("SELECT sum(queued), sum(leased), sum(asked) FROM hosts").fetchall() == [(0, 0, 72)]
    store.db.sql.close()


async def test_workers_that_add_the_same_urls_at_once_wait_for_each_other_and_add_each_once(crawl: str) -> None:
    await (await filled(crawl, 4)).close()

    async def work(store: PostgresStore, worker: int) -> list[Lease]:
        got = (await store.frontier.lease(worker, {}, new_hosts=2, per_host=1, limit=0)).leases
        new = [f"new-{number}" for number in range(200)]
        paths = new if worker % 2 else new[::-1]
        await store.frontier.finish(worker, [done(one, *paths) for one in got], max_depth=None)
        return got

    pages = await asyncio.to_thread(at_once, crawl, 4, work)
    store = opened(crawl)
    found = store.db.sql.run("SELECT count(*), count(DISTINCT url), min(depth) FROM pages WHERE url LIKE '%%new-%%'").fetchall()
    assert found == [(200, 200, 1)]
    assert (await store.frontier.counts()).known == 224
    links = sum(map(len, pages)) * 200
    assert store.db.sql.run("SELECT count(*) FROM link_relations").fetchall() == [(links,)]
    await store.close()


def die_while_leasing(crawl: str) -> None:
    """A worker is killed in the middle of a lease."""
    with subprocess.Popen(
        [sys.executable, "-c", _DIES, crawl], stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src"}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "18\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


async def test_a_worker_that_is_killed_while_it_leases_keeps_nothing(crawl: str) -> None:
    store = await filled(crawl, 3)
    await asyncio.to_thread(die_while_leasing, crawl)
    assert await store.frontier.recover() == 0
    worker = await store.frontier.join(TTL)
    # The server notices that the other end is gone when it next looks; the hosts are locked until then, and are waited for.
    got = await store.frontier.lease(worker, dict.fromkeys(HOSTS, 3), new_hosts=0, per_host=0, limit=0)
    assert len(got.leases) == 18
    await store.close()


async def test_the_victim_of_a_deadlock_is_tried_again(crawl: str) -> None:
    gate, one, two = await filled(crawl, 1), opened(crawl), opened(crawl)
    lock, wait = "SELECT id FROM hosts WHERE name = %s FOR UPDATE", ("SELECT pg_advisory_xact_lock_shared(7)", ())
    quick = ("SET LOCAL deadlock_timeout TO '10ms'", ())
    gate.db.sql.run("SELECT pg_advisory_lock(7)")
    names = [(one, HOSTS[0], HOSTS[1]), (two, HOSTS[1], HOSTS[0])]
    tasks = [
        asyncio.ensure_future(store.db.pool.run(quick, (lock, [first]), wait, (lock, [second]))) for store, first, second in names
    ]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'"
    async with gate.db.pool.link() as watch:
        while await (await watch.execute(waiting)).fetchall() != [(2,)]:
            assert not any(task.done() for task in tasks)
    gate.db.sql.run("SELECT pg_advisory_unlock(7)")  # Each has what the other one wants.
    assert [len(await task) for task in tasks] == [1, 1]
    with pytest.raises(DeadlockVictim):
        await retried(_always_sacrificed)
    for store in (gate, one, two):
        await store.close()


async def _always_sacrificed() -> int:
    raise DeadlockVictim("deadlock detected")


async def test_leasing_looks_at_no_more_hosts_than_it_needs(crawl: str) -> None:
    store = await filled(crawl, 1)
    await store.frontier.add([target("", f"more-{number}.example") for number in range(3_000)], seed=False)
    store.db.sql.run("ANALYZE")
    worker = await store.frontier.join(TTL)
    values = {"worker": worker, "names": [], "wants": [], "limit": 0, "wanted": 4, "new_hosts": 4, "per_host": 1,
              "at_host": 0, "stamp": "", "shard": 1}  # fmt: skip
    plan = "\n".join(row[0] for row in store.db.sql.run(f"EXPLAIN {LEASE}", values).fetchall())
    assert "hosts_waiting" in plan
    await store.close()


async def test_notes_tasks_sitemaps_and_resources_are_written_while_another_worker_writes(crawl: str) -> None:
    store, other = PostgresStore(crawl, SystemClock(), patience=1.0), opened(crawl)
    worker = await store.frontier.join(TTL)
    async with other.db.pool.transaction(*other.db.beginning):
        await store.meta.set("scope", "{}")
        assert await store.meta.change("scope", lambda was: f"{was}!") == "{}!"
        assert await store.tasks.claim(worker, "sitemaps")
        await store.tasks.finish("sitemaps")
        await store.tasks.repeat("sitemaps")
        await store.sitemaps.put(SitemapRecord("https://s.example/sitemap.xml", 0, "robots", "read", "urlset", 200, 10, 1, ()))
        assert await store.resources.lease(worker, 3, budget=9) == []
        await store.resources.finish(worker, [ResourceResult(resource_id=1, status="completed")])
    await store.close()
    await other.close()


async def test_the_domains_of_hosts_are_locked_in_one_order_whatever_the_numbers_of_the_hosts(crawl: str) -> None:
    store, other = opened(crawl), opened(crawl)
    store.limits.set(BreadthLimits(hosts_per_domain=9))
    await store.frontier.add([target("", "www.first.example"), target("", "www.second.example")], seed=False)
    new = [target("", "a.second.example"), target("", "b.first.example")]  # The first of them gets the lower number.
    trap = "SELECT 1 FROM traps WHERE key = %s FOR UPDATE"
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
    async with other.db.pool.transaction() as link:
        await link.execute(trap, ["*.first.example"])
        adding = asyncio.ensure_future(store.frontier.add(new, seed=False))
        async with other.db.pool.link() as watch:
            while not await (await watch.execute(waits, ["%INTO traps%"])).fetchall():
                assert not adding.done()
        await link.execute(f"{trap} NOWAIT", ["*.second.example"])
    assert await adding == 2
    await store.close()
    await other.close()
