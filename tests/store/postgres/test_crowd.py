"""Several connections at one crawl on a real PostgreSQL: what they may do at once, and that nobody waits in a circle."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.rules.pace import Pace
from tadoru.store.crawl.interface import Lease
from tadoru.store.crawl.postgres.connection import DeadlockVictim
from tadoru.store.crawl.postgres.frontier import _LEASE
from tadoru.store.crawl.postgres.store import PostgresStore
from tests.contract.crawls import TTL, done, lease, target
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import PostgresServer, server

HOSTS = [f"{number}.example" for number in range(6)]
ROOT = Path(__file__).parents[3]
# A worker that has leased, and whose transaction is still open when it dies.
_DIES = """
import asyncio, signal, sys
from tadoru.clock import SystemClock
from tadoru.store.crawl.postgres.store import PostgresStore

async def main():
    store = PostgresStore(sys.argv[1], SystemClock())
    worker = await store.join(60)
    store.link.run("BEGIN")
    found = await store.lease(worker, {}, new_hosts=6, per_host=2, limit=0)
    print(len(found.leases), flush=True)
    signal.pause()

asyncio.run(main())
"""


@pytest.fixture
def postgres() -> PostgresServer:
    return server()


@pytest.fixture
def crawl(postgres: PostgresServer) -> Iterator[str]:
    with crawl_on(postgres) as address:
        yield address


def opened(crawl: str) -> PostgresStore:
    return PostgresStore(crawl, SystemClock())


async def filled(crawl: str, each: int) -> PostgresStore:
    store = opened(crawl)
    await store.frontier.add([target(str(page), host) for host in HOSTS for page in range(each)], seed=False)
    return store


def at_once(crawl: str, number: int, task: Callable[[PostgresStore, int], list[Lease]]) -> list[list[Lease]]:
    """What a task answers to each of so many connections that begin together, each in a thread of its own."""
    begin, found = threading.Barrier(number), [list[Lease]() for _ in range(number)]
    failed: list[BaseException] = []

    def run(at: int) -> None:
        store = opened(crawl)
        try:
            worker = asyncio.run(store.frontier.join(TTL))
            begin.wait(60)
            found[at] = task(store, worker)
        except BaseException as error:
            failed.append(error)
        finally:
            store.db.link.close()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return found


def test_those_who_lease_at_once_never_get_one_page(crawl: str) -> None:
    asyncio.run((asyncio.run(filled(crawl, 40))).close())

    def take(store: PostgresStore, worker: int) -> list[Lease]:
        async def run() -> list[Lease]:
            got: list[Lease] = []
            while more := (await store.frontier.lease(worker, {HOSTS[0]: 3}, new_hosts=2, per_host=2, limit=0)).leases:
                got += more
            return got

        return asyncio.run(run())

    pages = [got.page_id for some in at_once(crawl, 4, take) for got in some]
    assert len(pages) == len(set(pages))
    store = opened(crawl)
    counts = asyncio.run(store.frontier.counts())
    assert (counts.processing, counts.queued) == (len(pages), 240 - len(pages))
    store.db.link.close()


@pytest.mark.parametrize("limit", [1, 17])
def test_the_limit_is_exact_whoever_leases_at_once(crawl: str, limit: int) -> None:
    asyncio.run((asyncio.run(filled(crawl, 10))).close())

    def take(store: PostgresStore, worker: int) -> list[Lease]:
        async def run() -> list[Lease]:
            wanted = dict.fromkeys(HOSTS, 2)
            return [
                got
                for _ in range(6)
                for got in (await store.frontier.lease(worker, wanted, new_hosts=0, per_host=0, limit=limit)).leases
            ]

        return asyncio.run(run())

    assert sum(map(len, at_once(crawl, 4, take))) == limit


async def test_a_page_that_another_transaction_has_locked_is_passed_over(crawl: str) -> None:
    store, other = await filled(crawl, 3), opened(crawl)
    worker = await store.frontier.join(TTL)
    other.db.link.run("BEGIN")
    (locked,) = other.db.link.run("SELECT id FROM pages ORDER BY id LIMIT 1 FOR UPDATE").fetchall()[0]
    got = await lease(store, worker, 3, host=HOSTS[0])
    assert len(got) == 2
    assert locked not in {one.page_id for one in got}
    other.db.link.run("ROLLBACK")
    assert [one.page_id for one in await lease(store, worker, 3, host=HOSTS[0])] == [locked]
    await store.close()
    await other.close()


async def test_leases_slots_and_paces_do_not_wait_for_who_writes(crawl: str) -> None:
    store, writer = await filled(crawl, 2), opened(crawl)
    worker = await store.frontier.join(TTL)
    async with writer.transaction():
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
    asyncio.run((asyncio.run(filled(crawl, 12))).close())

    def work(store: PostgresStore, worker: int) -> list[Lease]:
        async def run() -> list[Lease]:
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

        return asyncio.run(run())

    pages = [got.page_id for some in at_once(crawl, 4, work) for got in some]
    assert sorted(pages) == sorted(set(pages))
    assert len(pages) == 72
    store = opened(crawl)
    counts = asyncio.run(store.frontier.counts())
    assert (counts.completed, counts.counted, counts.queued, counts.processing) == (72, 72, 0, 0)
    assert store.db.link.run("SELECT sum(queued), sum(leased), sum(asked) FROM hosts").fetchall() == [(0, 0, 72)]
    store.db.link.close()


def test_a_worker_that_is_killed_while_it_leases_keeps_nothing(crawl: str) -> None:
    store = asyncio.run(filled(crawl, 3))
    command = [sys.executable, "-c", _DIES, crawl]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src"}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "12\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert asyncio.run(store.frontier.recover()) == 0
    worker = asyncio.run(store.frontier.join(TTL))
    # The server notices that the other end is gone when it next looks; the hosts are locked until then, and are waited for.
    got = asyncio.run(store.frontier.lease(worker, dict.fromkeys(HOSTS, 3), new_hosts=0, per_host=0, limit=0))
    assert len(got.leases) == 18
    store.db.link.close()


def test_who_is_sacrificed_in_a_deadlock_tries_again(crawl: str) -> None:
    gate, one, two = asyncio.run(filled(crawl, 1)), opened(crawl), opened(crawl)
    lock, wait = "SELECT id FROM hosts WHERE name = %s FOR UPDATE", ("SELECT pg_advisory_xact_lock_shared(7)", ())
    gate.db.link.run("SELECT pg_advisory_lock(7)")
    found: list[object] = []

    def both(store: PostgresStore, first: str, second: str) -> None:
        store.db.link.run("SET deadlock_timeout TO '10ms'")
        found.extend(asyncio.run(store.db.at_once((lock, [first]), wait, (lock, [second]))))

    threads = [
        threading.Thread(target=both, args=(one, HOSTS[0], HOSTS[1])),
        threading.Thread(target=both, args=(two, HOSTS[1], HOSTS[0])),
    ]
    for thread in threads:
        thread.start()
    pids = [store.db.link.driver.info.backend_pid for store in (one, two)]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s) AND wait_event_type = 'Lock'"
    while gate.db.link.run(waiting, [pids]).fetchall() != [(2,)]:
        assert all(thread.is_alive() for thread in threads)
    gate.db.link.run("SELECT pg_advisory_unlock(7)")  # Each has what the other one wants.
    for thread in threads:
        thread.join()
    assert len(found) == 2
    with pytest.raises(DeadlockVictim):
        asyncio.run(two.db.retried(_always_sacrificed))
    for store in (gate, one, two):
        store.db.link.close()


async def _always_sacrificed() -> int:
    raise DeadlockVictim("deadlock detected")


async def test_leasing_looks_at_no_more_hosts_than_it_needs(crawl: str) -> None:
    store = await filled(crawl, 1)
    await store.frontier.add([target("", f"more-{number}.example") for number in range(3_000)], seed=False)
    store.db.link.run("ANALYZE")
    worker = await store.frontier.join(TTL)
    values = {"worker": worker, "names": [], "wants": [], "limit": 0, "wanted": 4, "new_hosts": 4, "per_host": 1,
              "at_host": 0, "stamp": ""}  # fmt: skip
    plan = "\n".join(row[0] for row in store.db.link.run(f"EXPLAIN {_LEASE}", values).fetchall())
    assert "hosts_waiting" in plan
    await store.close()
