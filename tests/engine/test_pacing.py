"""Politeness as the server sees it. A slow machine makes gaps longer, never shorter, so that these cannot fail by being late."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from tadoru.clock import SystemClock
from tadoru.engine.notifications import HostSlowed
from tests.support.crawling import FastClock, crawl, set_up
from tests.support.site import Site

SLACK = 0.05
"""How late the site may see one request, between its going out, where its gap begins, and the site's turn in the loop."""


def gaps(site: Site) -> list[float]:
    return [after.at - before.at for before, after in pairwise(site.requests)]


def keeps(site: Site, gap: float) -> bool:
    """Whether the site saw its requests so far apart. One seen late makes one gap shorter, but not all of them together."""
    return min(gaps(site)) > gap / 2 and sum(gaps(site)) > (len(gaps(site)) - 0.5) * gap


@pytest.mark.parametrize("engines", [1, 2])
async def test_requests_to_a_host_keep_their_distance(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/12/4/0", delay=0.05, concurrency=8)
        await setup.run(engines=engines)
    assert len(site.requests) == 13
    assert keeps(site, 0.05)


async def test_two_hosts_are_asked_side_by_side() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page(
            "/", links=[*(f"/leaf/{number}" for number in range(6)), *(other.url(f"/leaf/{number}") for number in range(6))]
        )
        await crawl(site, delay=0.05, check=True, allow_private=True, concurrency=8)
    ours = [seen.at for seen in site.requests]
    theirs = [seen.at for seen in other.requests]
    assert len(theirs) == 7
    assert theirs[0] < ours[-1]
    assert keeps(site, 0.05)
    assert keeps(other, 0.05)


async def test_a_host_that_answers_slowly_is_still_asked_at_its_pace() -> None:
    async with Site() as site:
        site.page("/", links=["/a", "/b", "/c"])
        gates = [site.hold(path) for path in ("/a", "/b", "/c")]
        crawling = asyncio.create_task(crawl(site, delay=0.03, concurrency=4))
        for path in ("/a", "/b", "/c"):
            await site.requested(path)
        for gate in gates:
            gate.release()
        await crawling
    assert keeps(site, 0.03)


async def test_a_slow_start_cannot_bring_two_requests_together(tmp_path: Path) -> None:
    async with Site() as site:
        gate = site.hold("/tree/4/3/0")
        setup = await set_up(site, tmp_path, "/tree/4/3/0", delay=0.05, concurrency=4, ignore_robots=True)
        running = asyncio.create_task(setup.run(engines=2))
        await site.requested("/tree/4/3/0")
        gate.release()
        await running
    assert keeps(site, 0.05)


async def test_503_slows_the_host_down_until_it_has_recovered(tmp_path: Path) -> None:
    speed = 100.0
    async with Site() as site:
        site.page("/", links=["/p", *(f"/leaf/{number}" for number in range(40))])
        site.reply("/p", status=503, times=1)
        site.page("/p")
        setup = await set_up(site, tmp_path, ignore_robots=True, concurrency=1)
        await setup.run(clock=FastClock(speed))
    (slowed,) = setup.told(HostSlowed)
    assert (slowed.gap, slowed.pause) == (0.5, 1.0)
    after = [gap * speed for gap in gaps(site)]
    assert after[1] >= 1.0
    assert min(after[2:8]) >= 0.2
    assert len(site.requests) == 43


async def test_many_503_at_once_are_one_sign_of_trouble(tmp_path: Path) -> None:
    paths = [f"/p{number}" for number in range(8)]
    async with Site() as site:
        site.page("/", links=paths)
        gates = [site.hold(path) for path in paths]
        for path in paths:
            site.reply(path, status=503, times=1)
            site.page(path)
        setup = await set_up(site, tmp_path, ignore_robots=True, concurrency=8)
        running = asyncio.create_task(setup.run(clock=FastClock(100.0)))
        for path in paths:
            await site.requested(path)
        for gate in gates:
            gate.release()
        await running
        result = await setup.result()
    assert {notice.gap for notice in setup.told(HostSlowed)} == {0.5}
    assert {info.status_code for info in result.internal_urls} == {200}


async def test_retry_after_stops_the_host_and_not_the_others() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        leaves = [f"/leaf/{number}" for number in range(5)]
        site.page("/", links=["/p", *leaves, *map(other.url, leaves)])
        site.reply("/p", status=429, headers={"Retry-After": "1"}, times=1)
        site.page("/p")
        await crawl(site, check=True, allow_private=True, concurrency=1, ignore_robots=True)
        (first, second) = (seen.at for seen in site.requests if seen.path == "/p")
        meanwhile = [seen.path for seen in site.requests if first < seen.at < first + 0.95]
    assert second - first >= 1.0 - SLACK
    assert meanwhile == []
    assert all(seen.at < second for seen in other.requests)
    assert len(other.requests) == 5


async def test_an_unpaced_host_does_not_starve_one_that_is_paced() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        other.robots("User-agent: *\nCrawl-delay: 0.02\n")
        site.page("/", links=[*map(other.url, ("/leaf/1", "/leaf/2", "/leaf/3")), "/tree/400/20/0"])
        await crawl(site, check=True, allow_private=True, concurrency=2)
    assert len(other.requests) == 4
    assert other.requests[-1].at < site.requests[-1].at


class CountingClock(SystemClock):
    """Tells when the loop has looked at the time so often: a few times each time round."""

    def __init__(self) -> None:
        self._left = 0
        self.reached = asyncio.Event()

    def count(self, looks: int) -> None:
        """Count from now on."""
        self._left = looks

    def monotonic(self) -> float:
        self._left -= 1
        if self._left == 0:
            self.reached.set()
        return super().monotonic()


@pytest.mark.parametrize("engines", [1, 2])
async def test_an_engine_with_nothing_to_do_but_wait_does_not_spin(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        site.page("/", links=["/slow"])
        gate = site.hold("/slow")
        setup = await set_up(site, tmp_path, ignore_robots=True)
        clock = CountingClock()
        running = asyncio.create_task(setup.run(engines=engines, clock=clock))
        await site.requested("/slow")
        began = SystemClock().monotonic()
        clock.count(80 * engines)  # Not before: on a busy machine much is looked at until the crawl has begun.
        await clock.reached.wait()
        took = SystemClock().monotonic() - began
        gate.release()
        await running
    assert took > 0.5
