"""Stopping: once lets what is in flight finish, at once loses nothing either, and a fault of ours stops nobody else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.job import FetchedPage, PageResult
from tadoru.engine.notifications import CrawlNotification, PageDone, PageHandlerFailed
from tadoru.jobs import launch
from tadoru.jobs.links.job import LinksJob
from tadoru.model.web import FailureKind
from tadoru.store.crawl.records import CrawlCounts
from tests.support.crawling import FastClock, Setup, by_path, set_up
from tests.support.site import Site


async def counts(setup: Setup) -> CrawlCounts:
    store = setup.store(SystemClock())
    try:
        return await store.frontier.counts()
    finally:
        await store.close()


async def finish_and_compare(site: Site, setup: Setup, pages: int) -> None:
    """The stopped crawl goes on to the same end as one that was never stopped."""
    await setup.run()
    result = await setup.result()
    assert {info.status_code for info in result.internal_urls} == {200}
    assert len(result.internal_urls) == result.total_processed == pages


async def test_stopping_lets_requests_in_flight_finish_and_gives_the_rest_back(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/60/3/0", concurrency=3, ignore_robots=True)
        held = [f"/tree/60/3/{page}" for page in (1, 2, 3)]
        gates = [site.hold(path) for path in held]
        crawls: list[Crawler] = []
        running = asyncio.create_task(setup.run(on_created=crawls.append))
        for path in held:
            await site.requested(path)
        crawls[0].stop()
        for gate in gates:
            gate.release()
        (ended,) = await running
        assert ended.stopped
        assert len(site.requests) == 4
        left = await counts(setup)
        assert (left.processing, left.completed, left.queued) == (0, 4, 9)
        await finish_and_compare(site, setup, 60)
        assert {site.hits(path) for path in held} == {1}


async def test_stopping_does_not_wait_for_a_turn_that_is_far_off(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nCrawl-delay: 50\n")
        setup = await set_up(site, tmp_path, "/tree/5/2/0")
        crawls: list[Crawler] = []
        running = asyncio.create_task(setup.run(on_created=crawls.append))
        await site.requested("/robots.txt")
        async with asyncio.timeout(45):
            while not crawls[0]._page_fetch._waiting:  # noqa: ASYNC110 - nothing announces that a visit waits for its turn
                await asyncio.sleep(0)
            crawls[0].stop()
            (ended,) = await running
        assert ended.stopped
        assert (await counts(setup)).queued == 1
    assert site.paths == ["/robots.txt"]


async def test_stopping_does_not_wait_for_a_slow_robots_txt(tmp_path: Path) -> None:
    async with Site() as site:
        gate = site.hold("/robots.txt")
        setup = await set_up(site, tmp_path, "/tree/5/2/0", timeout=60.0)
        crawls: list[Crawler] = []
        running = asyncio.create_task(setup.run(on_created=crawls.append))
        await site.requested("/robots.txt")
        crawls[0].stop()
        async with asyncio.timeout(45):
            await running
        gate.release()
        await finish_and_compare(site, setup, 5)


async def test_stopping_before_anything_began_is_harmless(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/5/2/0")
        (ended,) = await setup.run(on_created=lambda crawl: crawl.stop())
        assert ended.stopped
        assert site.requests == []
        await finish_and_compare(site, setup, 5)


async def test_a_crawl_that_is_cancelled_loses_nothing(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/60/3/0", concurrency=3)
        gate = site.hold("/tree/60/3/2")
        running = asyncio.create_task(setup.run())
        await site.requested("/tree/60/3/2")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        left = await counts(setup)
        assert left.processing == 0
        gate.release()
        await finish_and_compare(site, setup, 60)
    assert site.hits("/tree/60/3/2") == 2
    assert sum(site.hits(f"/tree/60/3/{page}") > 1 for page in range(60)) <= 3


@pytest.mark.parametrize("held", ["/robots.txt", "/tree/9/2/0"])
async def test_cancelling_after_stopping_ends_it_at_once(tmp_path: Path, held: str) -> None:
    async with Site() as site:
        site.hold(held)
        setup = await set_up(site, tmp_path, "/tree/9/2/0", timeout=60.0)
        crawls: list[Crawler] = []
        running = asyncio.create_task(setup.run(on_created=crawls.append))
        await site.requested(held)
        crawls[0].stop()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(45):
                await running
        assert (await counts(setup)).queued == 1


async def test_nothing_is_left_running_after_a_crawl_that_was_cancelled(tmp_path: Path) -> None:
    async with Site() as site:
        site.hold("/robots.txt")
        setup = await set_up(site, tmp_path, "/tree/9/2/0")
        before = {task for task in asyncio.all_tasks() if "Site" not in repr(task.get_coro())}
        running = asyncio.create_task(setup.run())
        await site.requested("/robots.txt")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        after = {task for task in asyncio.all_tasks() if "Site" not in repr(task.get_coro())}
    assert after <= before


class FailingJob(LinksJob):
    """A job with a bug."""

    def handle(self, page: FetchedPage) -> PageResult:
        if page.url.endswith("/3"):
            raise ZeroDivisionError("our own fault")
        return super().handle(page)


async def test_a_job_that_fails_on_a_page_is_told_and_the_crawl_goes_on(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/20/3/0")
        job = FailingJob(scope=setup.prepared.plan.job.scope)
        setup.prepared = replace(setup.prepared, plan=replace(setup.prepared.plan, job=job))
        await setup.run()
        result = await setup.result()
    (broke,) = setup.told(PageHandlerFailed)
    assert broke.url == site.url("/tree/20/3/3")
    assert "our own fault" in broke.trace
    (failed,) = result.failed_urls
    assert (failed.url, failed.error_type) == (broke.url, FailureKind.UNPARSABLE)
    assert sum(info.status_code == 200 for info in result.internal_urls) == len(result.internal_urls) - 1 > 10


async def test_a_listener_that_fails_ends_the_crawl_with_its_error_and_loses_nothing(tmp_path: Path) -> None:
    def listen(notice: CrawlNotification) -> None:
        if isinstance(notice, PageDone) and notice.depth == 1:
            raise LookupError("the listener's own fault")

    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/20/3/0")
        with pytest.raises(LookupError, match="listener"):
            async with asyncio.timeout(45):
                await launch.crawl(setup.prepared.plan, listen)
        assert (await counts(setup)).processing == 0
        await finish_and_compare(site, setup, 20)


async def test_a_page_beyond_its_bounds_is_unparsable_and_no_fault_of_ours(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/nested/100000", "/leaf/1"])
        setup = await set_up(site, tmp_path)
        await setup.run(clock=FastClock())
        pages = by_path(site, await setup.result())
    assert setup.told(PageHandlerFailed) == []
    assert pages["/leaf/1"].status_code == 200
