"""What one worker has under way: an engine for each crawl, the hosts it was handed, and what to put into the queue next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from tadoru.clock import Clock
from tadoru.cluster.queue import Queue, Work, slice_prefix
from tadoru.cluster.shift import Shift
from tadoru.engine.crawl import Ended
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.audit.run import Prepared, finish, prepare
from tadoru.options import AuditOptions
from tadoru.store.postgres.cluster import Cluster

SLICE = 30.0
"""Seconds that a host is asked before it goes back into the queue: long against the time that handing it over takes."""
AT_ONCE = 200
"""Slices put into the queue at a time."""
NOT_SHARED = frozenset({
    "database", "seed_urls", "cookies", "auth_type", "auth_username", "auth_password", "auth_token", "auth_header", "auth_value",
    "header", "report", "baseline", "fail_on", "suppress", "processes",
})  # fmt: skip
"""Options of a crawl that its workers do not get: secrets are each worker's own to know, files are on one machine only."""


def shared_options(options: AuditOptions) -> dict[str, Any]:
    """What the workers have to know of how a crawl is to be done."""
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name not in NOT_SHARED}


def options_from(shared: dict[str, Any], database: str) -> AuditOptions:
    """The options of a crawl, as somebody shared them; what a newer or older program calls otherwise is left out."""
    known = {one.name for one in fields(AuditOptions)} - NOT_SHARED
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in shared.items() if name in known}
    return AuditOptions(**values, database=database, processes=1)


class Desk:
    """The work of one worker."""

    def __init__(self, database: Callable[[str], str], cluster: Cluster, hosts: int, seconds: float, clock: Clock) -> None:
        self._database = database
        """The address of a crawl by its name."""
        self._cluster, self._hosts, self._seconds, self._clock = cluster, hosts, seconds, clock
        self._shifts: dict[str, Shift] = {}
        self._turn = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._done = 0
        self.queue: Queue | None = None

    def work(self) -> Work:
        return Work(slice=self.slice, finish=self.finish, collect=self.collect, sweep=self.sweep)

    @property
    def pages(self) -> int:
        return self._done + sum(shift.pages for shift in self._shifts.values())

    @property
    def held(self) -> int:
        return sum(shift._held for shift in self._shifts.values())

    async def slice(self, crawl: str, host: str) -> None:
        """Ask one host of a crawl for a while, and see what waits afterwards."""
        shift = await self._shift(crawl)
        try:
            await shift.ask(host, self._seconds, self._stopping)
        finally:
            await self._tidy(crawl)
        await self.look(crawl)

    async def look(self, crawl: str) -> None:
        """Hosts that have something to ask for get a slice; a crawl with nothing left gets finished."""
        assert self.queue is not None
        waiting = self._cluster.waiting_hosts(crawl, slice_prefix(crawl), AT_ONCE)
        await self.queue.put_slices(crawl, waiting)
        if not waiting and self._is_over(crawl):
            await self.queue.put_finish(crawl)

    def _is_over(self, crawl: str) -> bool:
        counts = self._cluster.counts(crawl)
        if counts.get("processing", 0):
            return False
        limit = self._cluster.crawl(crawl).options.get("limit", 0)
        return not counts.get("queued", 0) or 0 < limit <= counts.get("counted", 0)

    async def finish(self, crawl: str) -> None:
        """What is left when no host waits: resources, the analysis. Whatever turns up meanwhile is done here too."""
        if self._cluster.crawl(crawl).state != "open":
            return
        options, prepared = await self._prepared(crawl)
        began = self._clock.monotonic()
        ended = Ended(stopped=False, limit_reached=True)
        if not prepared.nothing_to_do:
            ended = await launch.crawl(prepared.plan, lambda _notice: None)
        if await finish(options, prepared, ended, self._clock.monotonic() - began):
            self._cluster.end_crawl(crawl, "done")

    async def collect(self, source: int) -> None:
        """Collect a source of events."""
        raise UsageError(f"Source {source} can not be collected: this worker has no calendar.")

    async def sweep(self) -> None:
        """Now and then, by one worker: take back what workers that are gone were doing, and see after every crawl."""
        assert self.queue is not None
        await self.queue.take_back_stalled()
        self._cluster.forget_workers()
        for crawl in self._cluster.crawls():
            if crawl.state == "open":
                await self.look(crawl.name)

    async def _prepared(self, crawl: str) -> tuple[AuditOptions, Prepared]:
        shared = self._cluster.crawl(crawl)
        options = options_from(dict(shared.options), self._database(crawl))
        return options, await prepare(options, (), dict(shared.options))

    async def _shift(self, crawl: str) -> Shift:
        async with self._turn:
            shift = self._shifts.get(crawl)
            if shift is None or shift.is_over:
                if shift is not None:
                    self._done += shift.pages
                _, prepared = await self._prepared(crawl)
                shift = self._shifts[crawl] = Shift(prepared.plan, self._hosts, self._clock)
            return shift

    async def _tidy(self, crawl: str) -> None:
        """An engine that nobody needs any more holds a worker's place in the crawl: others would wait for it."""
        async with self._turn:
            shift = self._shifts.get(crawl)
            if shift is not None and (shift.is_idle or shift.is_over):
                del self._shifts[crawl]
                self._done += shift.pages
                if not shift.is_over:
                    await shift.end()

    def stop(self) -> None:
        """End every slice: what is in flight is written, the rest is given back."""
        self._stopping.set()

    def drop(self) -> None:
        for shift in self._shifts.values():
            shift.drop()
        self._shifts.clear()
