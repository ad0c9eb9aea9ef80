"""Limits are exact: pages, depth and time, whatever runs side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.crawling import FastClock, by_path, crawl, set_up
from tests.support.site import Site


@pytest.mark.parametrize("engines", [1, 4])
@pytest.mark.parametrize("limit", [1, 7, 50])
async def test_the_limit_of_pages_is_exact(tmp_path: Path, limit: int, engines: int) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/dense/400/40/0", limit=limit, concurrency=16)
        ended = await setup.run(engines=engines)
        result = await setup.result()
    assert len(site.requests) == limit + 1  # and robots.txt
    assert result.total_processed == limit
    assert all(each.limit_reached and not each.stopped for each in ended)


async def test_failures_count_against_the_limit(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/bad/garbage", "/gone", *(f"/leaf/{number}" for number in range(10))])
        setup = await set_up(site, tmp_path, limit=4, concurrency=1, ignore_robots=True)
        await setup.run(clock=FastClock())
        result = await setup.result()
    assert result.total_processed == 4


async def test_a_second_run_with_the_same_limit_does_nothing_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    async with Site() as site:
        for limit, asked in ((5, 5), (5, 5), (9, 9)):
            setup = await set_up(site, tmp_path, "/tree/30/3/0", limit=limit, ignore_robots=True)
            await setup.run()
            assert len(site.requests) == asked


async def test_a_limit_that_is_never_reached_is_not_reported() -> None:
    async with Site() as site:
        result = await crawl(site, "/tree/5/2/0", limit=5)
        more = await crawl(site, "/tree/5/2/0", limit=6)
    assert (result.stopped, more.stopped) == (None, None)
    assert result.total_processed == more.total_processed == 5


async def test_what_the_limit_left_out_is_listed_with_the_reason() -> None:
    async with Site() as site:
        result = await crawl(site, "/tree/10/9/0", limit=3)
    assert result.stopped == "limit of 3 pages"
    left = [info for info in result.internal_urls if info.status_code is None]
    assert len(left) == 7
    assert {info.not_fetched for info in left} == {"stopped before it was requested"}


@pytest.mark.parametrize("depth, pages", [(0, 1), (1, 4), (2, 13)])
async def test_no_page_beyond_the_depth_is_requested(depth: int, pages: int) -> None:
    async with Site() as site:
        result = await crawl(site, "/tree/100/3/0", depth=depth, ignore_robots=True)
    assert len(site.requests) == result.total_processed == pages
    assert {info.not_fetched for info in result.internal_urls if info.depth > depth} == {"deeper than the depth limit"}


async def test_a_larger_depth_goes_on_where_a_smaller_one_ended(tmp_path: Path) -> None:
    async with Site() as site:
        for depth, asked in ((1, 4), (2, 13)):
            setup = await set_up(site, tmp_path, "/tree/100/3/0", depth=depth, ignore_robots=True)
            await setup.run()
            assert len(site.requests) == asked


async def test_when_time_is_up_what_is_in_flight_is_finished_and_the_rest_is_kept(tmp_path: Path) -> None:
    async with Site() as site:
        gate = site.hold("/tree/50/3/0")
        setup = await set_up(site, tmp_path, "/tree/50/3/0", ignore_robots=True, max_time=1.0)
        clock = FastClock(5.0)
        running = asyncio.create_task(setup.run(clock=clock))
        await site.requested("/tree/50/3/0")
        while clock.monotonic() < 1.5:
            await clock.sleep(0.1)
        assert not running.done()
        gate.release()
        (ended,) = await running
        result = await setup.result()
    assert (ended.stopped, ended.out_of_time) == (True, True)
    assert (len(site.requests), result.total_processed, result.total_found) == (1, 1, 4)


async def test_time_that_is_up_is_the_reason_in_the_result() -> None:
    async with Site() as site:
        result = await crawl(site, "/tree/500/3/0", delay=0.2, max_time=0.1)
    assert result.stopped == "time limit"
    assert result.total_processed <= 1


async def test_a_page_that_waits_to_be_asked_again_when_the_limit_is_reached_says_so() -> None:
    async with Site() as site:
        site.page("/", links=["/bad/drop", "/leaf/1", "/leaf/2", "/leaf/3"])
        pages = by_path(site, await crawl(site, limit=3, concurrency=1, ignore_robots=True))
    assert pages["/bad/drop"].not_fetched == (
        f"stopped before it was retried: {site.base.removeprefix('http://')} closed the connection without a response."
    )
    assert pages["/leaf/3"].not_fetched == "stopped before it was requested"
