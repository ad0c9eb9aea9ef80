"""Hosts that accept requests and do not respond: they take few places, they are slowed down, and at last given up."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tadoru.engine.host_queues import HostAssignment
from tadoru.engine.notifications import HostSlowed, PageFailed, PageRetried
from tadoru.jobs import launch
from tadoru.model.web import FailureKind
from tests.support.auditing import Audit
from tests.support.crawling import FastClock, Setup, set_up
from tests.support.exchange import Exchange, Reply
from tests.support.generated_sites import document
from tests.support.site import Site

PATHS = [f"/p/{number}" for number in range(12)]
SILENCE = {FailureKind.RESPONSE_TIMEOUT}


class SilentAndGood:
    """A start page with links to two hosts that hold their responses back and to ten that respond."""

    def __init__(self, sites: list[Site], silent_paths: list[str]) -> None:
        self.start, *others = sites
        self.silent, self.good = others[:2], others[2:]
        self.gates = [site.hold(path) for site in self.silent for path in silent_paths]
        for site in others:
            for path in PATHS:
                site.page(path)
        self.links = [site.url(path) for path in PATHS for site in others]
        self.start.page("/", links=self.links)

    async def good_requested(self) -> None:
        for site in self.good:
            for path in PATHS:
                await site.requested(path)

    def release(self) -> None:
        for gate in self.gates:
            gate.release()


async def _open(stack: AsyncExitStack, silent_paths: list[str] = PATHS) -> SilentAndGood:
    sites = [await stack.enter_async_context(Site(host=f"127.0.0.{number}")) for number in range(1, 14)]
    return SilentAndGood(sites, silent_paths)


async def _set_up(sites: SilentAndGood, folder: Path, **options: float) -> Setup:
    options = {"timeout": 600.0, **options}
    return await set_up(sites.start, folder, check=True, allow_private=True, ignore_robots=True, **options)


@pytest.mark.parametrize("delay", [0.0, 0.01])
@pytest.mark.parametrize("concurrency", [4, 16])
async def test_silent_hosts_do_not_take_the_places_of_the_others(tmp_path: Path, delay: float, concurrency: int) -> None:
    async with AsyncExitStack() as stack:
        sites = await _open(stack)
        setup = await _set_up(sites, tmp_path, delay=delay, concurrency=concurrency)
        running = asyncio.create_task(setup.run())
        await sites.good_requested()
        assert [len(site.requests) for site in sites.silent] == [1, 1]
        sites.release()
        await running
    assert all(site.hits(path) == 1 for site in sites.silent for path in PATHS)


@pytest.mark.parametrize("delay", [0.0, 0.01])
async def test_hosts_that_fall_silent_do_not_take_the_places_of_the_others(tmp_path: Path, delay: float) -> None:
    async with AsyncExitStack() as stack:
        sites = await _open(stack, PATHS[6:])
        setup = await _set_up(sites, tmp_path, delay=delay, concurrency=12)
        running = asyncio.create_task(setup.run())
        await sites.good_requested()
        sites.release()
        await running


async def test_a_cluster_worker_crawls_its_good_hosts_beside_silent_ones(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        sites = await _open(stack)
        setup = await _set_up(sites, tmp_path, delay=0.0, concurrency=4)
        assignment = HostAssignment()
        for site in (sites.start, *sites.silent, *sites.good):
            assignment.assign(site.base.partition("//")[2])
        crawls: list[launch.Crawler] = []
        running = asyncio.create_task(
            launch.crawl(setup.prepared.plan, setup.notices.append, on_created=crawls.append, assignment=assignment)
        )
        await sites.good_requested()
        crawls[0].stop()
        sites.release()
        await running


async def test_resources_of_silent_hosts_do_not_take_the_places_of_the_others(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        sites = await _open(stack)
        images = "".join(f'<img src="{url}" alt="x" width="1" height="1">' for url in sites.links)
        sites.start.reply("/page", body=document("Page", (), images))
        audit = Audit(sites.start, tmp_path)
        running = asyncio.create_task(
            audit.run(
                "/page", resources=1000, check_external=True, allow_private=True, ignore_robots=True, timeout=600.0, concurrency=4
            )
        )
        await sites.good_requested()
        sites.release()
        await running
    assert audit.select("status, count(*) FROM resources GROUP BY status") == [("completed", len(sites.links))]


async def _crawl_silent(site: Site, folder: Path, paths: list[str], *, speed: float, **options: float) -> Setup:
    """Crawl a site whose pages do not respond, on a fast clock; timeouts pass in real time."""
    site.page("/", links=paths)
    for path in paths:
        site.misbehave(path, "never")
    setup = await set_up(site, folder, ignore_robots=True, timeout=0.5, **options)
    await setup.run(clock=FastClock(speed))
    return setup


async def test_timeouts_slow_the_host_down_with_growing_pauses(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await _crawl_silent(site, tmp_path, PATHS[:1], speed=20.0)
    slowed = setup.told(HostSlowed)
    assert [(notice.gap, notice.pause, notice.silent) for notice in slowed] == [(0.5, 2.0**strike, True) for strike in range(4)]


async def test_many_timeouts_at_once_are_one_sign_of_silence(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await _crawl_silent(site, tmp_path, PATHS[:8], speed=100.0, concurrency=8)
    slowed, retried = setup.told(HostSlowed), setup.told(PageRetried)
    assert len(retried) >= 8
    before_the_second = setup.notices[: setup.notices.index(slowed[1])]
    assert sum(isinstance(notice, PageRetried) for notice in before_the_second) == 8
    assert max(notice.pause for notice in slowed) <= 30.0


async def test_a_page_that_does_not_respond_while_others_do_is_no_silence(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/slow", "/leaf/1"])
        site.misbehave("/slow", "never")
        held = site.hold("/leaf/1")
        setup = await set_up(site, tmp_path, ignore_robots=True, timeout=2.0, concurrency=2)
        running = asyncio.create_task(setup.run(clock=FastClock(100.0)))
        await site.requested("/slow")
        held.release()
        await site.requested("/slow", times=2)
        running.cancel()
        await asyncio.wait([running])
    first = next(notice for notice in setup.notices if isinstance(notice, PageRetried | HostSlowed))
    assert isinstance(first, PageRetried)


async def test_a_host_that_stays_silent_is_given_up(tmp_path: Path) -> None:
    paths = [f"/n/{number}" for number in range(100)]
    async with Site() as site:
        setup = await _crawl_silent(site, tmp_path, paths, speed=100.0)
        result = await setup.result()
    failed = setup.told(PageFailed)
    assert {notice.url for notice in failed} == {site.url(path) for path in paths}
    assert {failed.error_type for failed in result.failed_urls} == SILENCE
    assert len(site.requests) < 60
    assert any("has not responded for more than 300 seconds" in notice.message for notice in failed)


async def test_a_host_that_responds_again_is_crawled_to_the_end(tmp_path: Path) -> None:
    silent_for = 3

    async def serve(exchange: Exchange, _: str) -> None:
        nonlocal silent_for
        silent_for -= 1
        if silent_for >= 0:
            await asyncio.Event().wait()
        await exchange.send(Reply(body=b"<title>here</title>"))

    paths = [f"/n/{number}" for number in range(30)]
    async with Site() as site:
        site.page("/", links=paths)
        site.handle("/n/*", serve)
        setup = await set_up(site, tmp_path, ignore_robots=True, timeout=1.0, concurrency=1)
        await setup.run(clock=FastClock(20.0))
        result = await setup.result()
    assert result.failed_urls == ()
    assert {info.title for info in result.internal_urls if "/n/" in info.url} == {"here"}
    assert [notice.pause for notice in setup.told(HostSlowed)] == [1.0, 2.0, 4.0]
