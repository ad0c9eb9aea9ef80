"""One crawl in one worker: a crawler for the hosts that are assigned to it."""

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
    """A crawler that runs from the first assigned host to the last."""

    def __init__(self, plan: CrawlPlan, hosts: int, clock: Clock, notify: Notify) -> None:
        self.held: set[str] = set()
        """The hosts assigned to it."""
        self._clock = clock
        self._assignment = HostAssignment()
        self._crawls: list[Crawler] = []
        policy = replace(plan.policy, concurrency=max(plan.policy.concurrency, hosts))
        self._task = asyncio.create_task(
            launch.crawl(replace(plan, policy=policy), notify, on_created=self._crawls.append, assignment=self._assignment)
        )

    @property
    def is_over(self) -> bool:
        return self._task.done()

    @property
    def is_idle(self) -> bool:
        """Whether no host is assigned and no sitemap is being read."""
        return not self.held and not any(crawl.is_reading_sitemaps for crawl in self._crawls)

    async def crawl_host(self, host: str, seconds: float, stopping: asyncio.Event) -> None:
        """Crawl a host until nothing is left, the time is over, or the worker stops. Raises the error that ended the crawler."""
        self.held.add(host)
        try:
            idle = self._assignment.assign(host)
            await self._wait_for_first(idle.wait(), stopping.wait(), self._clock.sleep(seconds))
            if not self._task.done():
                await self._wait_for_first(self._assignment.release(host))
        finally:
            self.held.discard(host)
        if self._task.done():
            if self._task.cancelled():
                raise StoreError("The crawl was interrupted because the database is gone.")
            self._task.result()

    async def _wait_for_first(self, *waits: Coroutine[Any, Any, object]) -> None:
        """Wait until one of these happens, or the crawler ends."""
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait([*tasks, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def end(self) -> None:
        """Stop the crawler after everything is written."""
        if self._crawls:
            self._crawls[0].stop()
        else:
            self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def drop(self) -> None:
        """Cancel the crawler because the database is gone."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await self._task
