"""One crawl in one worker: an engine that asks the hosts it was given, begun with the first and ended after the last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tadoru.clock import Clock
from tadoru.engine.crawl import Crawler
from tadoru.engine.host_queues import HostAssignment
from tadoru.engine.notifications import Notify
from tadoru.errors import StoreError
from tadoru.jobs import launch
from tadoru.jobs.launch import CrawlPlan


class CrawlSession:
    """An engine at work on a crawl."""

    def __init__(self, plan: CrawlPlan, hosts: int, clock: Clock, notify: Notify) -> None:
        self.held: set[str] = set()
        """The hosts it was given."""
        self._clock = clock
        self._assignment = HostAssignment()
        self._crawls: list[Crawler] = []
        policy = replace(plan.policy, concurrency=max(plan.policy.concurrency, hosts))
        self._task = asyncio.create_task(
            launch.crawl(replace(plan, policy=policy), notify, steer=self._crawls.append, assignment=self._assignment)
        )

    @property
    def is_over(self) -> bool:
        return self._task.done()

    @property
    def is_idle(self) -> bool:
        """Nobody needs it, and it has nothing of its own to do."""
        return not self.held and not any(crawl.is_reading_sitemaps for crawl in self._crawls)

    async def ask(self, host: str, seconds: float, stopping: asyncio.Event) -> None:
        """Ask a host until there is nothing left, the time is over, or the worker is to stop. Raises what ended the engine."""
        self.held.add(host)
        try:
            idle = self._assignment.assign(host)
            await self._first(idle.wait(), stopping.wait(), self._clock.sleep(seconds))
            if not self._task.done():
                await self._first(self._assignment.release(host))
        finally:
            self.held.discard(host)
        if self._task.done():
            if self._task.cancelled():
                raise StoreError("The crawl was let go, since the database is gone.")
            self._task.result()

    async def _first(self, *waits: Coroutine[Any, Any, object]) -> None:
        """Until one of these happens, or the engine ends."""
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait([*tasks, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def end(self) -> None:
        """Stop, with everything written."""
        if self._crawls:
            self._crawls[0].stop()
        else:
            self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def drop(self) -> None:
        """The database is gone: there is nothing to write to."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await self._task
