"""Crawls of one cluster that ask the same host: what one did keeps the others away, whatever is asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from tadoru.clock import SystemClock
from tadoru.rules.pace import Pace
from tadoru.store.crawl.postgres.store import PostgresStore
from tests.support.clusters import SampleCluster, cluster_on, ran
from tests.support.postgres import server

T = TypeVar("T")
HOST, HOLD = "shop.example", 60.0


@pytest.fixture
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        yield made


def steady(gap: float) -> Pace:
    return Pace(gap=gap, base=gap, latency=0.0, baseline=0.0, strikes=0)


def at(seen: SampleCluster, crawl: str, work: Callable[[PostgresStore, int], Awaitable[T]]) -> T:
    """What one worker of a crawl does."""

    async def do() -> T:
        store = PostgresStore(seen.address(crawl), SystemClock())
        try:
            return await work(store, await store.frontier.join(60.0))
        finally:
            await store.close()

    found: T = ran(do())
    return found


def asking(seen: SampleCluster, crawl: str, gap: float) -> None:
    """Ask the host for a crawl."""

    async def ask(store: PostgresStore, worker: int) -> None:
        await store.hosts.begin_pace(HOST, steady(gap))
        assert await store.hosts.take_slot(worker, HOST, HOLD) == 0
        await store.hosts.sent(worker, HOST)

    at(seen, crawl, ask)


def waiting(seen: SampleCluster, crawl: str, gap: float = 1.0) -> float:
    async def wait(store: PostgresStore, worker: int) -> float:
        await store.hosts.begin_pace(HOST, steady(gap))
        return await store.hosts.take_slot(worker, HOST, HOLD)

    return at(seen, crawl, wait)


@pytest.mark.parametrize("theirs, ours", [(500.0, 1.0), (1.0, 500.0)])
def test_a_host_is_left_alone_as_long_as_either_crawl_would(seen: SampleCluster, theirs: float, ours: float) -> None:
    seen.crawl("one", HOST)
    seen.crawl("two", HOST)
    asking(seen, "one", theirs)
    assert 300 < waiting(seen, "two", ours) <= 500


def test_who_is_about_to_ask_for_another_crawl_counts_as_asking(seen: SampleCluster) -> None:
    seen.crawl("one", HOST)
    seen.crawl("two", HOST)

    async def take(store: PostgresStore, worker: int) -> float:
        return await store.hosts.take_slot(worker, HOST, 500.0)

    assert at(seen, "one", take) == 0
    assert waiting(seen, "two", gap=500.0) > 300


def test_other_hosts_crawls_apart_and_what_is_long_over_hinder_nobody(seen: SampleCluster) -> None:
    seen.crawl("one", HOST)
    seen.crawl("over", HOST)
    seen.crawl("elsewhere", "other.example")
    asking(seen, "over", 500.0)
    seen.cluster.end_crawl("over", "done")
    seen.sql("UPDATE crawls SET ended_at = now() - interval '1 hour' WHERE name = 'over'")
    asking(seen, "apart", 500.0)
    assert waiting(seen, "one") == 0


def test_of_crawls_that_ask_at_the_same_moment_one_may(seen: SampleCluster) -> None:
    names = [f"crawl{number}" for number in range(6)]
    for name in names:
        seen.crawl(name, HOST)
    together = threading.Barrier(len(names))

    def ask(name: str) -> float:
        async def take(store: PostgresStore, worker: int) -> float:
            await store.hosts.begin_pace(HOST, steady(500.0))
            together.wait(60)
            return await store.hosts.take_slot(worker, HOST, HOLD)

        return at(seen, name, take)

    with ThreadPoolExecutor(len(names)) as threads:
        waits = sorted(threads.map(ask, names))
    assert waits[0] == 0
    assert waits[1] > 300, waits


def test_a_crawl_that_was_just_added_is_noticed_by_those_that_run(seen: SampleCluster) -> None:
    seen.crawl("one", HOST)

    async def take_turns(store: PostgresStore, worker: int) -> tuple[float, float]:
        await store.hosts.begin_pace(HOST, steady(500.0))
        before = await store.hosts.take_slot(worker, "other.example", HOLD)

        def add_another() -> None:
            seen.crawl("two", HOST)
            asking(seen, "two", 500.0)

        await asyncio.to_thread(add_another)
        return before, await store.hosts.take_slot(worker, HOST, HOLD)

    before, after = at(seen, "one", take_turns)
    assert before == 0
    assert after > 0, "both crawls have asked the host at the same moment"
