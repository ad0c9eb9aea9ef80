"""A worker: it connects to the database, sends heartbeats, finishes its tasks when it is stopped, and reconnects when the
database was lost.

All state is in the database, so losing the connection is only a pause: requests in flight are repeated by this or another worker.
Beside its crawls, a worker collects the sources of the calendar in the same database; each source is collected by one worker.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from tadoru.clock import Clock
from tadoru.cluster import queue
from tadoru.cluster.metrics import WorkerMetrics
from tadoru.cluster.queue import ClusterTiming
from tadoru.cluster.tasks import WorkerTasks
from tadoru.config.options import EventsOptions, WorkerOptions
from tadoru.errors import StoreError
from tadoru.jobs.events.collect.worker_pool import WorkerPool
from tadoru.log import Log
from tadoru.store.calendar.store import open_calendar
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.crawl.postgres.crawl_url import address_of
from tadoru.store.files import beside, open_files
from tadoru.version import VERSION

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
