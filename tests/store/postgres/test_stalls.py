"""A database that stands still: whoever waits for it, the event loop goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.cluster.metrics import WorkerMetrics
from tadoru.cluster.queue import ClusterTiming, prepare_schema
from tadoru.cluster.worker import WorkerTasks
from tadoru.log import Log
from tadoru.rules.pace import Pace
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.crawl.open import open_beside
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import RobotsRecord, SitemapRecord
from tests.contract.crawls import TTL, done, target
from tests.support.postgres import PostgresServer

PATIENCE = 60.0
"""Seconds after which a loop that waits is let go, and the test fails."""


def processes(postmaster: int) -> list[int]:
    """The processes of a server."""
    found = [postmaster]
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == postmaster:
            found.append(int(entry.parent.name))
    return found


@contextmanager
def standing_still(postgres: PostgresServer) -> Iterator[threading.Event]:
    """A server that does nothing until this ends; the event is set if it had to be let go because somebody waited for it."""
    stopped, was_late = processes(postgres.pid), threading.Event()

    def tell_all(what: signal.Signals) -> None:
        for pid in stopped:
            with suppress(ProcessLookupError):  # The process of a connection that was closed just now.
                os.kill(pid, what)

    def let_go() -> None:
        was_late.set()
        tell_all(signal.SIGCONT)

    timer = threading.Timer(PATIENCE, let_go)
    tell_all(signal.SIGSTOP)
    timer.start()
    try:
        yield was_late
    finally:
        timer.cancel()
        tell_all(signal.SIGCONT)


async def test_the_event_loop_goes_on_while_the_database_stands_still(crawl: str, postgres: PostgresServer) -> None:
    store = PostgresStore(crawl, SystemClock())
    await store.frontier.add([target(str(page)) for page in range(20)], seed=True)
    worker = await store.frontier.join(TTL)
    host = target("").host
    leased = (await store.frontier.lease(worker, {host: 8}, new_hosts=0, per_host=0, limit=0)).leases
    await store.hosts.begin_pace(host, Pace(0.0, 0.0, None, None, 0))
    sitemap = SitemapRecord("https://s.example/sitemap.xml", 0, "robots", "read", "urlset", 200, 10, 1, ())
    with standing_still(postgres) as was_late:
        waiting = [
            asyncio.ensure_future(call)
            for call in (
                store.frontier.renew(worker, TTL),
                store.frontier.finish(worker, [done(one, "new") for one in leased[:4]], max_depth=None),
                store.frontier.lease(worker, {host: 2}, new_hosts=1, per_host=1, limit=9),
                store.frontier.counts(),
                store.frontier.recover(worker),
                store.frontier.add([target("more")], seed=False),
                store.hosts.take_slot(worker, host, 30.0),
                store.hosts.set_pace(host, Pace(0.0, 0.0, 0.1, 0.1, 0)),
                store.robots.claim(worker, "https://r.example", hold=5.0, max_age=60.0),
                store.robots.put("https://q.example", RobotsRecord(200, None, "", b"", 0.0)),
                store.meta.get("scope"),
                store.meta.set("scope", "{}"),
                store.tasks.claim(worker, "sitemaps"),
                store.tasks.is_done("sitemaps"),
                store.sitemaps.put(sitemap),
                store.resources.lease(worker, 3, budget=9),
                store.resources.wait(budget=9),
                store.limits.refill(),
                store.graph.validators(leased[0].page_id),
                store.frontier.widen(None),
            )
        ]
        for _ in range(200):  # Turns of the loop: if one of the calls blocked it, none would come.
            await asyncio.sleep(0)
        assert not was_late.is_set(), "something made the event loop wait for the database"
        assert not any(task.done() for task in waiting)
    found = await asyncio.gather(*waiting)
    assert found[0] is True, "the worker is still known"
    assert found[1] == 4
    await store.close()


async def test_who_is_cancelled_while_the_database_stands_still_leaves_the_connection_usable(
    crawl: str, postgres: PostgresServer
) -> None:
    store = PostgresStore(crawl, SystemClock())
    await store.frontier.add([target("a")], seed=True)
    with standing_still(postgres):
        tasks = [asyncio.ensure_future(store.meta.set("a", "1")), asyncio.ensure_future(store.frontier.counts())]
        for _ in range(50):  # Turns of the loop, in which both calls begin to wait for the server.
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
    for task in tasks:
        with pytest.raises(asyncio.CancelledError):
            await task
    await store.meta.set("a", "2")
    assert await store.meta.get("a") == "2"
    assert (await store.frontier.counts()).queued == 1
    await store.close()


async def test_the_event_loop_goes_on_while_a_crawl_is_opened(crawl: str, postgres: PostgresServer) -> None:
    await PostgresStore(crawl, SystemClock()).close()
    with standing_still(postgres) as was_late:
        opening = asyncio.ensure_future(open_beside(crawl, SystemClock(), new=False))
        for _ in range(200):
            await asyncio.sleep(0)
        assert not was_late.is_set(), "opening made the event loop wait for the database"
        assert not opening.done()
    store = await opening
    assert (await store.frontier.counts()).queued == 0
    await store.close()


async def test_a_worker_of_a_cluster_goes_on_while_the_database_stands_still(postgres: PostgresServer) -> None:
    database = postgres.new_database()
    cluster = ClusterRegistry(database)
    prepare_schema(cluster)
    cluster.put_crawl("site", "audit", {})
    clock = SystemClock()
    tasks = WorkerTasks(
        lambda name: f"{database}&crawl={name}", cluster, hosts=1, seconds=1.0, clock=clock, log=Log(sys.stderr, clock),
        timing=ClusterTiming(), metrics=WorkerMetrics(clock, "worker"),
    )  # fmt: skip
    await tasks.queue.open()
    with standing_still(postgres) as was_late:
        calls = tasks.queue_tasks(), tasks.sweep(), tasks.slice("site", "a.example"), tasks.give_up("gone", "It failed.")
        waiting = [asyncio.ensure_future(call) for call in calls]
        for _ in range(200):
            await asyncio.sleep(0)
        assert not was_late.is_set(), "something made the event loop wait for the database"
        assert not any(task.done() for task in waiting)
    await asyncio.gather(*waiting, return_exceptions=True)  # There is no such crawl.
    await tasks.queue.close()
    cluster.close()
    postgres.drop(database)
