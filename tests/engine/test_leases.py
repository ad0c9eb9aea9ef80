"""Engines that die, sleep too long, or come late: every page is recorded once, and none is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.notifications import LeasesRecovered
from tadoru.errors import StoreError
from tadoru.store.crawl.records import CompletedOutcome, PageFacts
from tests.support.crawling import by_path, set_up
from tests.support.site import Site


class OffsetClock(SystemClock):
    """The machine's clock, put forward by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def test_the_pages_of_an_engine_that_stopped_renewing_are_taken_over(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/10/3/0", ignore_robots=True)
        clock = OffsetClock()
        lost = setup.store(clock)
        worker = await lost.frontier.join(60.0)
        (lease,) = (await lost.frontier.lease(worker, {}, new_hosts=1, per_host=4, limit=0)).leases
        clock.ahead = 61.0
        await setup.run(clock=clock)
        assert [notice.count for notice in setup.told(LeasesRecovered)] == [1]
        late = CompletedOutcome(lease=lease, facts=PageFacts(status_code=418))
        assert await lost.frontier.finish(worker, [late], max_depth=None) == 0
        await lost.close()
        pages = by_path(site, await setup.result())
    assert {info.status_code for info in pages.values()} == {200}
    assert len(pages) == 10


async def test_what_a_dead_engine_was_asking_for_others_is_asked_by_one_that_waits_for_it(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/4/3/0")
        clock = OffsetClock()
        lost = setup.store(clock)
        worker = await lost.frontier.join(60.0)
        assert await lost.robots.claim(worker, site.base, hold=3600.0, max_age=3600.0) is True
        running = asyncio.create_task(setup.run(clock=clock, lease_ttl=3600.0))
        done, _ = await asyncio.wait({running}, timeout=0.2)
        assert not done
        clock.ahead = 61.0
        async with asyncio.timeout(60):
            await running
        await lost.close()
    assert site.paths[0] == "/robots.txt"
    assert len(site.requests) == 5


async def test_an_engine_waits_for_the_pages_of_a_living_sibling(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/10/3/0", ignore_robots=True)
        sibling = setup.store(SystemClock())
        worker = await sibling.frontier.join(60.0)
        (lease,) = (await sibling.frontier.lease(worker, {}, new_hosts=1, per_host=4, limit=0)).leases
        running = asyncio.create_task(setup.run())
        done, _ = await asyncio.wait({running}, timeout=0.3)
        assert not done
        assert site.requests == []
        await sibling.frontier.leave(worker)
        await sibling.close()
        await running
        assert lease.url == site.url("/tree/10/3/0")
        assert len(by_path(site, await setup.result())) == 10


async def test_an_engine_that_was_declared_dead_joins_again_and_records_nothing_twice(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/40/3/0", ignore_robots=True, concurrency=2)
        clock = OffsetClock()
        gates = [site.hold("/tree/40/3/1"), site.hold("/tree/40/3/2")]
        sleeper = asyncio.create_task(setup.run(clock=clock, lease_ttl=0.4))
        await site.requested("/tree/40/3/2")
        # The machine wakes from a long sleep; the first to look is another engine.
        clock.ahead = 3600.0
        other = asyncio.create_task(setup.run(clock=clock, lease_ttl=60.0))
        await site.requested("/tree/40/3/2", times=2)
        store = setup.store(clock)
        async with asyncio.timeout(60):
            # Until the sleeper has noticed; nothing announces it.
            while store.sql.execute("SELECT count(*) FROM workers").fetchone()[0] < 2:  # noqa: ASYNC110
                await asyncio.sleep(0)
        for gate in gates:
            gate.release()
        await asyncio.gather(sleeper, other)
        result = await setup.result()
        counted = await store.frontier.counts()
        await store.close()
    assert len(result.internal_urls) == result.total_processed == 40
    assert (counted.completed, counted.processing, counted.queued) == (40, 0, 0)
    assert {info.status_code for info in result.internal_urls} == {200}
    assert [page for page in range(40) if site.hits(f"/tree/40/3/{page}") > 1] == [1, 2]


async def test_a_paced_crawl_holds_no_more_pages_than_it_is_about_to_request(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/links/200", ignore_robots=True, delay=0.02)
        crawls: list[Crawler] = []
        running = asyncio.create_task(setup.run(on_created=crawls.append))
        await site.requested("/leaf/9")
        store = setup.store(SystemClock())
        counted = await store.frontier.counts()
        await store.close()
        crawls[0].stop()
        await running
    assert counted.processing <= 8
    assert counted.queued > 150


async def test_a_store_that_breaks_ends_the_crawl_with_its_error(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/10/3/0", ignore_robots=True)
        gate = site.hold("/tree/10/3/0")
        running = asyncio.create_task(setup.run())
        await site.requested("/tree/10/3/0")
        vandal = setup.store(SystemClock())
        vandal.sql.execute("ALTER TABLE pages RENAME TO elsewhere")
        await vandal.close()
        gate.release()
        with pytest.raises(StoreError, match=r"crawl\.db"):
            async with asyncio.timeout(60):
                await running


@pytest.mark.parametrize("engines", [2, 5])
async def test_engines_on_one_store_share_the_work_and_end_together(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/dense/200/20/0", concurrency=4)
        ended = await setup.run(engines=engines)
        result = await setup.result()
    reached = len(result.internal_urls)
    assert reached > 100
    assert len(site.requests) == reached + 1
    assert [each.stopped for each in ended] == [False] * engines


async def test_a_crawl_that_was_killed_while_it_was_set_up_begins_anew(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/4/3/0")
        store = setup.store(SystemClock())
        # As if the process had died before the start was written.
        store.sql.execute("DELETE FROM crawl_meta WHERE key = 'starts'")
        store.sql.execute("DELETE FROM pages")
        store.sql.execute("DELETE FROM counters")
        await store.close()
        again = await set_up(site, tmp_path, "/tree/4/3/0")
        await again.run()
        assert len((await again.result()).internal_urls) == 4
