"""What one worker has under way: an engine for each crawl, the hosts it was handed, and what to put into the queue next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from tadoru.clock import Clock
from tadoru.cluster.metrics import WorkerMetrics
from tadoru.cluster.queue import ClusterTiming, TaskHandlers, TaskQueue
from tadoru.cluster.session import CrawlSession
from tadoru.cluster.submission import options_from_shared
from tadoru.config.options import AuditOptions
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.jobs import launch
from tadoru.jobs.audit.run import PreparedAudit, finish, join_audit, queue_deferred_urls
from tadoru.jobs.launch import CrawlPlan
from tadoru.log import Log
from tadoru.store.cluster.registry import OPEN, ClusterCrawl, ClusterRegistry
from tadoru.store.crawl.open import open_existing

MAX_QUEUED_SLICES = 200
"""Slices that wait in the queue at most, of all crawls: the frontier waits in the crawl, where it costs nothing."""
POLL_INTERVAL = 1.0
"""Seconds between two looks of a worker that has places left."""
RETRY_INTERVAL = 0.5


class WorkerTasks:
    """The work of one worker."""

    def __init__(
        self,
        address: Callable[[str], str],
        cluster: ClusterRegistry,
        *,
        hosts: int,
        seconds: float,
        clock: Clock,
        log: Log,
        timing: ClusterTiming,
        metrics: WorkerMetrics,
    ) -> None:
        self._address = address
        """Where a crawl is, by its name."""
        self.cluster = cluster
        self._hosts, self._seconds, self._clock, self._log = hosts, seconds, clock, log
        self._shifts: dict[str, CrawlSession] = {}
        self._turn = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._timing, self._metrics = timing, metrics
        work = TaskHandlers(slice=self.slice, finish=self.finish, sweep=self.sweep, give_up=self.give_up, later=cluster.later)
        self.queue = TaskQueue(cluster.dsn, work, timing)

    @property
    def held(self) -> list[str]:
        """The hosts that are asked now."""
        return [host for shift in self._shifts.values() for host in shift.held]

    # ---- what the queue hands out
    async def slice(self, crawl: str, host: str) -> None:
        """Ask one host of a crawl for a while."""
        if (found := self._open(crawl)) is None:
            return
        shift = await self._shift(found)
        self._metrics.slice_began(host)
        is_done = False
        try:
            await shift.ask(host, self._seconds, self._stopping)
            is_done = True
        finally:
            self._metrics.slice_ended(host, failed=not is_done)
            await self._tidy()
        await self.look(crawl)

    async def finish(self, crawl: str) -> None:
        """What is left when no host waits: resources, the analysis. Whatever turns up meanwhile is done here too."""
        if (found := self._open(crawl)) is None:
            return
        # In a thread: the analysis of a large site takes minutes, in which this worker has to be heard of.
        if await asyncio.to_thread(launch.run_loop, self._finish(found)):
            self.cluster.end_crawl(crawl, "done")
            self._log.write("info", f"The crawl {crawl} is done.")

    async def _finish(self, crawl: ClusterCrawl) -> bool:
        options, prepared = await self._prepared(crawl)
        if not crawl.is_out_of_time and not prepared.nothing_to_do and await queue_deferred_urls(options):
            return False  # For all workers, not for this one alone.
        began = self._clock.monotonic()
        ended = CrawlOutcome(stopped=crawl.is_out_of_time, out_of_time=crawl.is_out_of_time, limit_reached=True)
        if not prepared.nothing_to_do and not crawl.is_out_of_time:
            ended = await self._crawl_the_rest(prepared.plan)
        seconds = self._clock.monotonic() - began
        while not await finish(options, prepared, ended, seconds):
            if self._stopping.is_set():
                return False
            await self._clock.sleep(RETRY_INTERVAL)  # Another worker has not put its engine away yet.
            seconds = 0.0
        return True

    async def _crawl_the_rest(self, plan: CrawlPlan) -> CrawlOutcome:
        begun: list[Crawler] = []

        async def stop_when_asked() -> None:
            while not self._stopping.is_set() or not begun:
                await self._clock.sleep(RETRY_INTERVAL)
            begun[0].stop()

        asked = asyncio.create_task(stop_when_asked())
        try:
            return await launch.crawl(plan, self._metrics.hear, steer=begun.append)
        finally:
            asked.cancel()

    async def sweep(self) -> None:
        """Now and then, by one worker: take back what workers that are gone were doing, and see after every crawl."""
        taken = await self.queue.take_back_stalled()
        if taken:
            self._log.write("warning", "A worker is gone: what it was doing is done again.", pieces=taken)
        self.cluster.forget_workers()
        for crawl in self._all_open():
            if _is_over(crawl, self.cluster.counts(crawl.name)) is False:
                await self._take_back(crawl.name)
        await self.look()

    async def _take_back(self, crawl: str) -> None:
        """What is in flight with engines that are gone waits again. Engines see to that themselves, but with nothing in the queue
        there may be none, and everybody would wait for those that are gone."""
        store = open_existing(self._address(crawl), self._clock)
        try:
            await store.recover()
        finally:
            await store.close()

    def give_up(self, crawl: str, error: str) -> None:
        """A crawl that fails again and again waits for somebody to look at it."""
        self.cluster.end_crawl(crawl, "failed", error)
        self._log.write("error", f"The crawl {crawl} failed: {error}")

    # ---- what is to be done next
    async def watch(self) -> None:
        """See what waits as long as there are places left, and put engines away that nobody needs."""
        while True:
            await self._clock.sleep(POLL_INTERVAL)
            await self._tidy()
            await self._end_what_was_stopped()
            if len(self.held) < self._hosts and not self._stopping.is_set():
                await self.look()

    async def _end_what_was_stopped(self) -> None:
        """Somebody may stop a crawl in the middle of its slices."""
        wanted = {crawl.name for crawl in self._all_open()}
        for name, shift in list(self._shifts.items()):
            if name not in wanted and not shift.is_over:
                await shift.end()

    async def look(self, only: str = "") -> None:
        """Hosts that have something to ask for get a slice; a crawl with nothing left gets finished. One crawl only, or all."""
        found = self._all_open()
        for crawl in found:
            if only in ("", crawl.name):
                await self._look(crawl, max(MAX_QUEUED_SLICES // len(found), 1))

    def _open(self, name: str) -> ClusterCrawl | None:
        """A crawl that is to be done; None when it was stopped or forgotten meanwhile."""
        return next((crawl for crawl in self._all_open() if crawl.name == name), None)

    def _all_open(self) -> list[ClusterCrawl]:
        return [crawl for crawl in self.cluster.crawls() if crawl.state == OPEN]

    async def _look(self, crawl: ClusterCrawl, most: int) -> None:
        counts = self.cluster.counts(crawl.name)
        over = _is_over(crawl, counts)
        if over:
            await self.queue.put_finish(crawl.name)
        elif over is None and counts["lined up"] <= most // 4:
            async with self._looking:
                with self.cluster.looking() as is_alone:
                    if is_alone:
                        await self.queue.put_slices(crawl.name, self.cluster.waiting_hosts(crawl.name, most))

    # ---- engines
    async def _prepared(self, crawl: ClusterCrawl) -> tuple[AuditOptions, PreparedAudit]:
        options = replace(options_from_shared(crawl.options, self._address(crawl.name)), max_time=None)
        prepared = await join_audit(options)
        # What it holds is for others when its slices are.
        policy = replace(prepared.plan.policy, lease_ttl=self._timing.stalled)
        return options, replace(prepared, plan=replace(prepared.plan, policy=policy))

    async def _shift(self, crawl: ClusterCrawl) -> CrawlSession:
        async with self._turn:
            shift = self._shifts.get(crawl.name)
            if shift is None or shift.is_over:
                _, prepared = await self._prepared(crawl)
                shift = self._shifts[crawl.name] = CrawlSession(prepared.plan, self._hosts, self._clock, self._metrics.hear)
            return shift

    async def _tidy(self) -> None:
        """An engine that nobody needs holds a worker's place in the crawl: whoever finishes it would wait."""
        async with self._turn:
            for crawl, shift in list(self._shifts.items()):
                if shift.is_over or shift.is_idle:
                    del self._shifts[crawl]
                    if not shift.is_over:
                        await shift.end()

    # ---- the end
    def stop(self) -> None:
        """End every slice: what is in flight is written, the rest is given back."""
        self._stopping.set()

    async def end(self) -> None:
        """Put all engines away."""
        for shift in list(self._shifts.values()):
            if not shift.is_over:
                await shift.end()

    async def drop(self) -> None:
        """The database is gone."""
        self._stopping.set()
        for shift in list(self._shifts.values()):
            await shift.drop()


def _is_over(crawl: ClusterCrawl, counts: Mapping[str, int]) -> bool | None:
    """None when there is something to ask for, False when only others' answers are waited for."""
    limit = int(crawl.options.get("limit") or 0)
    if crawl.is_out_of_time or 0 < limit <= counts.get("counted", 0) or not counts.get("queued", 0):
        return not counts.get("processing", 0)
    return None
