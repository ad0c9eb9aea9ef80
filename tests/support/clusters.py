"""A cluster with something to see in it, on a real PostgreSQL, written by the code that workers and the store write it with."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from tadoru.clock import SystemClock
from tadoru.cluster.queue import TaskQueue, prepare_schema
from tadoru.rules.pace import Pace
from tadoru.store.cluster.registry import SCHEMA, ClusterRegistry
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import CompletedOutcome, FailedOutcome, LinkTarget, PageFacts, PageStatus, RobotsRecord
from tests.support.postgres import PostgresServer

TTL = 60.0
NOT_FOR_LONG = -3600.0
"""Heard of in an hour from now: whoever lives when a test begins lives when it ends, however busy the machine is."""


def ran(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: a browser that tests drive has a loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(work)).result()


def linked(database: str) -> psycopg.Connection[Any]:
    """A connection in which the tables of the cluster have short names."""
    return psycopg.connect(database, autocommit=True, options=f"-c search_path={SCHEMA},public")


class SampleCluster:
    """A database with a cluster, and what a test does to it."""

    def __init__(self, database: str) -> None:
        self.database = database
        self.cluster = ClusterRegistry(database)
        prepare_schema(self.cluster)

    def close(self) -> None:
        self.cluster.close()

    def sql(self, text: str, *values: object) -> None:
        """What only time or a fault does."""
        with linked(self.database) as link:
            link.execute(text, values)

    def address(self, crawl: str) -> str:
        return f"{self.database}&crawl={crawl}"

    def worker(self, name: str, machine: str, *, hosts: int = 0, pages: int = 0, silent: float = 0.0) -> int:
        """A worker that was last heard of so many seconds ago."""
        number = self.cluster.register(name, machine, 4242, "0.1.0")
        self.cluster.beat(number, hosts, pages)
        self.sql(
            """UPDATE workers SET seen_at = seen_at - make_interval(secs => %s), started_at = started_at - interval '1 hour'
            WHERE id = %s""",
            silent, number,
        )  # fmt: skip
        return number

    def crawl(self, name: str, *hosts: str, pages: int = 3) -> None:
        """A crawl with pages on each of these hosts: the first page of each is done, the second failed, the rest waits."""
        self.cluster.put_crawl(name, "audit", {"delay": 1.0})
        ran(self._fill(self.address(name), hosts, pages))

    async def _fill(self, address: str, hosts: tuple[str, ...], pages: int) -> None:
        store = PostgresStore(address, SystemClock())
        try:
            worker = await store.frontier.join(TTL)
            targets = [
                LinkTarget(f"https://{host}/{number}", host, PageStatus.QUEUED) for host in hosts for number in range(pages)
            ]
            await store.frontier.add(targets, seed=True)
            leased = await store.frontier.lease(worker, {}, new_hosts=len(hosts), per_host=2, limit=0)
            outcomes = [
                CompletedOutcome(lease=one, facts=PageFacts(status_code=200)) if one.url.endswith("/0")
                else FailedOutcome(lease=one, kind="timeout", message="No answer.")
                for one in leased.leases
            ]  # fmt: skip
            await store.frontier.finish(worker, outcomes, max_depth=None)
            await store.frontier.leave(worker)
        finally:
            await store.close()

    def pace(self, crawl: str, host: str, pace: Pace, pause: float = 0.0) -> None:
        ran(self._with(crawl, lambda store: store.hosts.set_pace(host, pace, pause)))

    def no_robots(self, crawl: str, host: str) -> None:
        """The robots.txt of a host gives no answer."""
        record = RobotsRecord(None, "timeout", "No answer.", b"", 0.0)
        ran(self._with(crawl, lambda store: store.robots.put(f"https://{host}", record)))

    async def _with(self, crawl: str, work: Any) -> None:
        store = PostgresStore(self.address(crawl), SystemClock())
        try:
            await work(store)
        finally:
            await store.close()

    def put_slices(self, crawl: str, *hosts: str) -> None:
        """What a worker puts into the queue for hosts that wait."""

        async def put() -> None:
            queue = TaskQueue(self.cluster.dsn)
            await queue.open()
            await queue.put_slices(crawl, hosts)
            await queue.close()

        ran(put())

    def begin_slice(self, host: str, *, silent: float = 0.0) -> None:
        """The task engine hands a slice to a worker that was last heard of so many seconds ago."""
        self.sql(
            """WITH w AS (
                INSERT INTO procrastinate_workers(last_heartbeat) VALUES (now() - make_interval(secs => %s)) RETURNING id)
            UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM w) WHERE lock = %s""",
            silent, host,
        )  # fmt: skip


@contextmanager
def cluster_on(server: PostgresServer) -> Iterator[SampleCluster]:
    """A cluster in a database of its own, with nothing in it."""
    database = server.new_database()
    try:
        with closing(SampleCluster(database)) as made:
            yield made
    finally:
        server.drop(database)


def fill(seen: SampleCluster) -> None:
    """Two workers that live and one that is gone; a crawl with everything that can be wrong with a host, and one that is done."""
    seen.worker("den-1", "den", hosts=3, pages=1234, silent=NOT_FOR_LONG)
    seen.worker("den-2", "den", hosts=1, pages=567, silent=NOT_FOR_LONG)
    seen.worker("attic-1", "attic", hosts=2, pages=89, silent=300.0)
    hosts = ("a.example", "b.example", "slow.example", "shut.example", "bad.example")
    seen.crawl("shops", *hosts)
    seen.pace("shops", "slow.example", Pace(gap=32.0, base=1.0, latency=4.5, baseline=0.2, strikes=3), pause=600.0)
    seen.no_robots("shops", "shut.example")
    seen.put_slices("shops", *hosts)
    seen.begin_slice("a.example", silent=NOT_FOR_LONG)
    seen.begin_slice("b.example", silent=120.0)
    seen.sql("UPDATE procrastinate_jobs SET status = 'failed', attempts = 5 WHERE lock = 'bad.example'")
    seen.crawl("docs", "docs.example", pages=2)
    seen.cluster.end_crawl("docs", "done")
