"""A process that asks only the hosts that somebody gave it, for as long as it has them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.host_queues import HostAssignment
from tadoru.jobs import launch
from tests.support.crawling import Setup, set_up
from tests.support.site import Site


class Session:
    """A running crawler with a host assignment."""

    def __init__(self, setup: Setup) -> None:
        self.assignment = HostAssignment()
        self._crawls: list[Crawler] = []
        plan = setup.prepared.plan
        self._task = asyncio.create_task(
            launch.crawl(plan, setup.notices.append, on_created=self._crawls.append, assignment=self.assignment)
        )

    async def end(self) -> None:
        self._crawls[0].stop()
        await self._task


def host_of(site: Site) -> str:
    return site.base.partition("//")[2]


async def test_a_host_is_asked_until_nothing_is_left_and_then_its_slice_is_over(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/20/3/0", concurrency=4)
        session = Session(setup)
        idle = session.assignment.assign(host_of(site))
        await idle.wait()
        await session.assignment.release(host_of(site))
        assert {site.hits(f"/tree/20/3/{page}") for page in range(20)} == {1}
        await session.end()
        counts = await setup.store(SystemClock()).frontier.counts()
    assert (counts.completed, counts.queued, counts.processing) == (20, 0, 0)


async def test_no_host_is_asked_that_nobody_gave(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/5/3/0")
        session = Session(setup)
        idle = session.assignment.assign("other.example")
        await idle.wait()
        await session.end()
    assert site.paths == []


async def test_what_is_held_of_a_host_that_leaves_is_given_back_and_what_is_in_flight_is_kept(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=[f"/{n}" for n in range(30)])
        gates = [site.hold(f"/{n}") for n in range(30)]
        setup = await set_up(site, tmp_path, "/", concurrency=2)
        session = Session(setup)
        session.assignment.assign(host_of(site))
        await site.requested("/0")
        leaving = asyncio.create_task(session.assignment.release(host_of(site)))
        for gate in gates:
            gate.release()
        await leaving
        counts = await setup.store(SystemClock()).frontier.counts()
        assert counts.processing == 0
        assert 2 <= counts.completed <= 4, "the start, and what was in flight"
        assert counts.completed + counts.queued == 31
        idle = session.assignment.assign(host_of(site))
        await idle.wait()
        await session.end()
        counts = await setup.store(SystemClock()).frontier.counts()
    assert (counts.completed, counts.queued) == (31, 0)


async def test_a_process_that_is_stopped_lets_everybody_go(tmp_path: Path) -> None:
    async with Site() as site:
        gate = site.hold("/tree/20/3/0")
        setup = await set_up(site, tmp_path, "/tree/20/3/0")
        session = Session(setup)
        idle = session.assignment.assign(host_of(site))
        await site.requested("/tree/20/3/0")
        ending = asyncio.create_task(session.end())
        gate.release()
        await ending
        assert idle.is_set()
        await session.assignment.release(host_of(site))
