"""A worker: it connects to the database, sends heartbeats, finishes its tasks when it is stopped, and reconnects when the
database was lost. Its tasks are a session for each crawl, with a crawler for the hosts assigned to it.

All state is in the database, so losing the connection is only a pause: requests in flight are repeated by this or another worker.
Beside its crawls, a worker collects the sources of the calendar in the same database; each source is collected by one worker.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tadoru.clock import Clock
from tadoru.cluster import queue
from tadoru.cluster.metrics import WorkerMetrics
from tadoru.cluster.queue import ClusterTiming, TaskHandlers, TaskQueue, options_from_shared
from tadoru.config.options import EventsOptions, WorkerOptions
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.host_queues import HostAssignment
from tadoru.engine.notifications import Notify
from tadoru.errors import StoreError, UsageError
from tadoru.jobs import launch
from tadoru.jobs.audit.run import AuditCrawl, queue_deferred_urls
from tadoru.jobs.crawl_setup import PreparedCrawl
from tadoru.jobs.events.collect.worker_pool import WorkerPool
from tadoru.jobs.launch import CrawlPlan
from tadoru.log import Log
from tadoru.store.calendar.store import open_calendar
from tadoru.store.cluster.registry import OPEN, ClusterCrawl, ClusterRegistry, UnusableCrawl
from tadoru.store.crawl.open import open_beside
from tadoru.store.crawl.postgres.crawl_url import address_of
from tadoru.store.errors import ConnectionLost
from tadoru.store.files import beside, open_files
from tadoru.version import VERSION


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


MAX_QUEUED_SLICES = 200
"""Maximum queued slices of all crawls. The other URLs wait in the frontier of their crawl."""
POLL_INTERVAL = 1.0
"""Seconds between two polls of a worker that can take more hosts."""
RETRY_INTERVAL = 0.5


class WorkerTasks:
    """Runs the tasks of one worker and queues new ones."""

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
        """The database URL of a crawl, by its name."""
        self.cluster = cluster
        self._hosts, self._seconds, self._clock, self._log = hosts, seconds, clock, log
        self._sessions: dict[str, CrawlSession] = {}
        self._session_lock = asyncio.Lock()
        self._queueing = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._warnings: dict[str, str] = {}
        """The last problem that was logged of a crawl."""
        self._timing, self._metrics = timing, metrics
        handlers = TaskHandlers(slice=self.slice, finish=self.finish, sweep=self.sweep, give_up=self.give_up)
        self.queue = TaskQueue(cluster.dsn, handlers, timing)

    @property
    def held(self) -> list[str]:
        """The hosts that are crawled now."""
        return [host for session in self._sessions.values() for host in session.held]

    # ---- task handlers
    async def slice(self, crawl: str, host: str) -> None:
        """Crawl one host of a crawl for a limited time."""
        if (found := await self._open_crawl(crawl)) is None:
            return
        session = await self._session(found)
        self._metrics.slice_started(host)
        is_done = False
        try:
            await session.crawl_host(host, self._seconds, self._stopping)
            is_done = True
        finally:
            self._metrics.slice_ended(host, failed=not is_done)
            await self._close_idle()
        await self.queue_tasks(crawl)

    async def finish(self, crawl: str) -> None:
        """Finish a crawl when no host is waiting: resources and analysis, and URLs that are found meanwhile."""
        if (found := await self._open_crawl(crawl)) is None:
            return
        # In a thread: the analysis of a large site takes minutes, in which this worker has to send heartbeats.
        is_done = await asyncio.to_thread(launch.run_loop, self._finish(found))
        if is_done and await asyncio.to_thread(self.cluster.end_crawl, crawl, "done"):
            self._log.write("info", "crawl done", crawl=crawl)

    async def _finish(self, crawl: ClusterCrawl) -> bool:
        audit, prepared = await self._prepared(crawl)
        if not crawl.is_out_of_time and not prepared.nothing_to_do and await queue_deferred_urls(audit.options):
            return False  # The URLs are for all workers.
        began = self._clock.monotonic()
        ended = CrawlOutcome(stopped=crawl.is_out_of_time, out_of_time=crawl.is_out_of_time, limit_reached=True)
        if not prepared.nothing_to_do and not crawl.is_out_of_time:
            ended = await self._crawl_remaining(prepared.plan)
        seconds = self._clock.monotonic() - began
        while not (await audit.finish(prepared, ended, seconds)).is_complete:
            if self._stopping.is_set():
                return False
            await self._clock.sleep(RETRY_INTERVAL)  # Another worker still has a session of this crawl.
            seconds = 0.0
        return True

    async def _crawl_remaining(self, plan: CrawlPlan) -> CrawlOutcome:
        crawlers: list[Crawler] = []

        async def stop_when_requested() -> None:
            while not self._stopping.is_set() or not crawlers:
                await self._clock.sleep(RETRY_INTERVAL)
            crawlers[0].stop()

        stop_task = asyncio.create_task(stop_when_requested())
        try:
            return await launch.crawl(plan, self._metrics.notify, on_created=crawlers.append)
        finally:
            stop_task.cancel()

    async def sweep(self) -> None:
        """A periodic task of one worker: queue the tasks of lost workers again, and queue new slices for all crawls."""
        taken = await self.queue.requeue_stalled()
        if taken:
            self._log.write("warning", "tasks of lost workers requeued", tasks=taken)
        await asyncio.to_thread(self.cluster.forget_workers)
        await self._for_each(await self._open_crawls(), self._recover)
        await self.queue_tasks()

    async def _recover(self, crawl: ClusterCrawl) -> None:
        """Return the leases of lost sessions to the queue. Sessions do so themselves, but when nothing is queued there may be
        none, and all workers would wait."""
        if _is_over(crawl, await asyncio.to_thread(self.cluster.counts, crawl.name)) is not False:
            return
        store = await open_beside(self._address(crawl.name), self._clock, new=False)
        try:
            await store.frontier.recover()
        finally:
            await store.close()

    async def give_up(self, crawl: str, error: str) -> None:
        """Mark a crawl as failed after too many attempts."""
        if await asyncio.to_thread(self.cluster.end_crawl, crawl, "failed", error):
            self._log.write("error", "crawl failed", crawl=crawl, error=error)

    async def _for_each(self, crawls: Sequence[ClusterCrawl], work: Callable[[ClusterCrawl], Awaitable[None]]) -> None:
        """Do this for each crawl: one that is unusable fails and stops no other. Raises ConnectionLost."""
        for crawl in crawls:
            try:
                await work(crawl)
            except ConnectionLost:
                raise
            except UnusableCrawl as error:
                await self.give_up(crawl.name, str(error))
            except (StoreError, UsageError) as error:
                self._warn(crawl.name, error)
            else:
                self._warnings.pop(crawl.name, None)

    def _warn(self, crawl: str, error: Exception) -> None:
        """Log a problem of a crawl once, not at every poll."""
        if self._warnings.get(crawl) != str(error):
            self._warnings[crawl] = str(error)
            self._log.write("warning", "crawl skipped", crawl=crawl, error=str(error))

    # ---- new tasks
    async def watch(self) -> None:
        """Queue slices while the worker can take more hosts, and close idle sessions."""
        while True:
            await self._clock.sleep(POLL_INTERVAL)
            await self._close_idle()
            await self._end_stopped()
            if len(self.held) < self._hosts and not self._stopping.is_set():
                await self.queue_tasks()

    async def _end_stopped(self) -> None:
        """End the sessions of crawls that were stopped."""
        wanted = {crawl.name for crawl in await self._open_crawls()}
        for name, session in list(self._sessions.items()):
            if name not in wanted:
                await self._end_session(name, session)

    async def queue_tasks(self, only: str = "") -> None:
        """Queue a slice for each host with waiting URLs, or the finish task of a crawl without any; for one crawl or all."""
        found = await self._open_crawls()
        most = max(MAX_QUEUED_SLICES // max(len(found), 1), 1)
        wanted = [crawl for crawl in found if only in ("", crawl.name)]
        await self._for_each(wanted, lambda crawl: self._queue_tasks_of(crawl, most))

    async def _open_crawl(self, name: str) -> ClusterCrawl | None:
        """An open crawl; None when it was stopped or deleted meanwhile."""
        return next((crawl for crawl in await self._open_crawls() if crawl.name == name), None)

    async def _open_crawls(self) -> list[ClusterCrawl]:
        return [crawl for crawl in await asyncio.to_thread(self.cluster.crawls) if crawl.state == OPEN]

    async def _queue_tasks_of(self, crawl: ClusterCrawl, most: int) -> None:
        counts = await asyncio.to_thread(self.cluster.counts, crawl.name)
        over = _is_over(crawl, counts)
        if over:
            if not await asyncio.to_thread(self.cluster.is_finishing, crawl.name):
                await self.queue.put_finish(crawl.name)
        elif over is None and counts["lined up"] <= most // 4:
            async with self._queueing:
                looking = self.cluster.looking()
                try:
                    if await asyncio.to_thread(looking.__enter__):
                        hosts = await asyncio.to_thread(self.cluster.waiting_hosts, crawl.name, most)
                        await self.queue.put_slices(crawl.name, hosts)
                finally:
                    await asyncio.to_thread(looking.__exit__, None, None, None)

    # ---- sessions
    async def _prepared(self, crawl: ClusterCrawl) -> tuple[AuditCrawl, PreparedCrawl]:
        audit = AuditCrawl(replace(options_from_shared(crawl.options, self._address(crawl.name)), max_time=None))
        prepared = await audit.join()
        # Its leases expire when its slices do.
        policy = replace(prepared.plan.policy, lease_ttl=self._timing.stalled)
        return audit, replace(prepared, plan=replace(prepared.plan, policy=policy))

    async def _session(self, crawl: ClusterCrawl) -> CrawlSession:
        async with self._session_lock:
            session = self._sessions.get(crawl.name)
            if session is None or session.is_over:
                _, prepared = await self._prepared(crawl)
                session = self._sessions[crawl.name] = CrawlSession(prepared.plan, self._hosts, self._clock, self._metrics.notify)
            return session

    async def _close_idle(self) -> None:
        """Close sessions without hosts: the worker that finishes the crawl would wait for them."""
        async with self._session_lock:
            for crawl, session in list(self._sessions.items()):
                if session.is_over or session.is_idle:
                    del self._sessions[crawl]
                    await self._end_session(crawl, session)

    async def _end_session(self, crawl: str, session: CrawlSession) -> None:
        """End a session; its error concerns only its crawl."""
        if not session.is_over:
            try:
                await session.end()
            except (StoreError, UsageError) as error:
                self._warn(crawl, error)

    # ---- shutdown
    def stop(self) -> None:
        """End all slices: requests in flight are written, other leases are released."""
        self._stopping.set()

    async def end(self) -> None:
        """End all sessions."""
        for crawl, session in list(self._sessions.items()):
            await self._end_session(crawl, session)

    async def drop(self) -> None:
        """Cancel all sessions because the database is gone."""
        self._stopping.set()
        for session in list(self._sessions.values()):
            await session.drop()


def _is_over(crawl: ClusterCrawl, counts: Mapping[str, int]) -> bool | None:
    """True: nothing is left; False: only requests in flight are left; None: URLs are waiting."""
    limit = int(crawl.options.get("limit") or 0)
    if crawl.is_out_of_time or 0 < limit <= counts.get("counted", 0) or not counts.get("queued", 0):
        return not counts.get("processing", 0)
    return None


HEARTBEAT_INTERVAL = 2.0
MIN_PAUSE, MAX_PAUSE = 0.5, 15.0
BackgroundTask = Callable[[WorkerTasks, asyncio.Event], Coroutine[Any, Any, None]]
"""Runs besides the crawls until the event is set."""


class Worker:
    """Runs tasks of the cluster until it is stopped."""

    def __init__(
        self,
        options: WorkerOptions,
        clock: Clock,
        log: Log,
        background: tuple[BackgroundTask, ...] = (),
        timing: ClusterTiming | None = None,
    ) -> None:
        self._options, self._clock, self._log, self._background = options, clock, log, background
        self._timing = timing or ClusterTiming()
        self._name = options.name or f"{platform.node()}-{os.getpid()}"
        self.metrics = WorkerMetrics(clock, self._name)
        self._stop = asyncio.Event()
        self._pause = MIN_PAUSE
        self._number = 0
        """Its row in the list of workers, which it keeps when it reconnects."""

    def stop(self) -> None:
        """Take no new tasks and finish the running ones; then `run` returns."""
        self._stop.set()

    async def run(self) -> None:
        """Work until `stop`. Raises StoreError when the first connection fails; later the worker reconnects."""
        queue_ready = False
        while not self._stop.is_set():
            try:
                cluster = ClusterRegistry(self._options.database)
                try:
                    queue.prepare_schema(cluster)
                    queue_ready = True
                    await self._connected(cluster)
                finally:
                    cluster.close()
            except StoreError as error:
                if not queue_ready:
                    raise
                self.metrics.disconnected()
                self._log.write("warning", "worker disconnected", error=str(error))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause):
                        await self._stop.wait()
                self._pause = min(self._pause * 2, MAX_PAUSE)

    async def _connected(self, cluster: ClusterRegistry) -> None:
        """Work while the database is available."""
        options = self._options
        tasks = WorkerTasks(
            lambda crawl: address_of(options.database, crawl),
            cluster,
            hosts=options.hosts,
            seconds=options.slice,
            clock=self._clock,
            log=self._log,
            timing=self._timing,
            metrics=self.metrics,
        )
        await tasks.queue.open()
        self._log.write("info", "worker started", name=self._name, database=cluster.shown, hosts=options.hosts)
        try:
            await self._run_tasks(cluster, tasks)
        finally:
            with suppress(StoreError):
                await tasks.queue.close()

    async def _run_tasks(self, cluster: ClusterRegistry, tasks: WorkerTasks) -> None:
        queue_task = asyncio.create_task(tasks.queue.run(self._name, self._options.hosts))
        heartbeats = asyncio.create_task(self._send_heartbeats(cluster, tasks))
        running = [queue_task, heartbeats, asyncio.create_task(tasks.watch())]
        running += [asyncio.create_task(run(tasks, self._stop)) for run in self._background]
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([*running, stop], return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_stopped = stop.done()
            stop.cancel()
            await (self._drain(tasks, queue_task) if is_stopped else tasks.drop())
            for task in running:
                task.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise root_error(error)

    async def _drain(self, tasks: WorkerTasks, queue_task: asyncio.Task[None]) -> None:
        """Finish or release everything before the worker leaves."""
        tasks.stop()
        queue_task.cancel()
        await asyncio.wait([queue_task])  # Not `await queue_task`: a cancellation of this task must not be lost.
        with suppress(StoreError):
            await tasks.end()

    async def _send_heartbeats(self, cluster: ClusterRegistry, tasks: WorkerTasks) -> None:
        """Send heartbeats for `tadoru cluster status`; the queue has its own."""
        try:
            while True:
                began = self._clock.monotonic()
                is_known = await asyncio.to_thread(cluster.beat, self._number, len(tasks.held), self.metrics.pages)
                self.metrics.round_trip(self._clock.monotonic() - began)
                if not is_known:
                    worker = (self._name, platform.node(), os.getpid(), VERSION)
                    self._number = await asyncio.to_thread(cluster.register, *worker)
                self._pause = MIN_PAUSE
                await self._clock.sleep(HEARTBEAT_INTERVAL)
        finally:
            with suppress(StoreError):
                await asyncio.to_thread(cluster.leave, self._number)


def root_error(error: BaseException) -> BaseException:
    """The error of the database in an exception group, otherwise the first one."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inner = [root_error(one) for one in error.exceptions]
    return next((one for one in inner if isinstance(one, StoreError)), inner[0])


CHECK_INTERVAL = 30.0
"""Seconds after which a database without a usable calendar is checked again."""


def calendar_task(options: EventsOptions, clock: Clock, log: Log) -> BackgroundTask:
    """A background task that collects due sources while the worker runs."""

    def log_stage(stage: str, **fields: object) -> None:
        log.write("debug", stage, **fields)

    async def collect(tasks: WorkerTasks, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                if await asyncio.to_thread(tasks.cluster.has_calendar):
                    await _collect(stop)
            except StoreError as error:
                # The crawls continue: they detect a lost database themselves.
                log.write("warning", "calendar unavailable", error=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL):
                    await stop.wait()

    async def _collect(stop: asyncio.Event) -> None:
        store = await asyncio.to_thread(open_calendar, options.database, clock)
        try:
            workers = WorkerPool(store, open_files(options.files or beside(options.database)), clock, options, log_stage)
            async with workers.running():
                working = asyncio.create_task(workers.run_due(forever=True))
                stop_task = asyncio.create_task(stop.wait())
                await asyncio.wait([working, stop_task], return_when=asyncio.FIRST_COMPLETED)
                stop_task.cancel()
                workers.stop()
                await working
        finally:
            await asyncio.to_thread(store.close)

    return collect
