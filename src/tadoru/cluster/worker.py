"""A worker from its start to its end: connected, heard of, drained when it is asked to stop, and back when the database is.

Everything it knows is in the database, so that losing the connection is nothing but a pause: what was in flight is asked for
again, by this worker or by another.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tadoru.clock import Clock
from tadoru.cluster import queue
from tadoru.cluster.metrics import WorkerMetrics
from tadoru.cluster.queue import ClusterTiming
from tadoru.cluster.tasks import WorkerTasks
from tadoru.errors import StoreError
from tadoru.log import Log
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.crawl.postgres.crawl_url import address_of
from tadoru.version import VERSION

HEARTBEAT_INTERVAL = 2.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
BackgroundTask = Callable[[WorkerTasks, asyncio.Event], Coroutine[Any, Any, None]]
"""Something to do beside the crawls, until the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What a worker is asked to do."""

    database: str
    hosts: int
    """How many hosts it asks at a time."""
    seconds: float
    """For how long it asks one, before others have their turn."""
    name: str = ""
    timing: ClusterTiming = ClusterTiming()

    @property
    def full_name(self) -> str:
        return self.name or f"{platform.node()}-{os.getpid()}"


class Worker:
    """One worker."""

    def __init__(self, duty: WorkerSettings, clock: Clock, log: Log, sides: tuple[BackgroundTask, ...] = ()) -> None:
        self._duty, self._clock, self._log, self._sides = duty, clock, log, sides
        self.metrics = WorkerMetrics(clock, duty.full_name)
        self._stop = asyncio.Event()
        self._pause = SHORTEST_PAUSE

    def stop(self) -> None:
        """Take nothing new, end what is begun; `run` returns then."""
        self._stop.set()

    async def run(self) -> None:
        """Work until `stop`. Raises what is wrong with the address or the rights at the start; later the database may come and
        go."""
        queue_ready = False
        while not self._stop.is_set():
            try:
                cluster = ClusterRegistry(self._duty.database)
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
                self._log.write("warning", str(error))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause):
                        await self._stop.wait()
                self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _connected(self, cluster: ClusterRegistry) -> None:
        """Work for as long as the database is there."""
        duty = self._duty
        desk = WorkerTasks(
            lambda crawl: address_of(duty.database, crawl), cluster, hosts=duty.hosts, seconds=duty.seconds, clock=self._clock,
            log=self._log, timing=duty.timing, metrics=self.metrics,
        )  # fmt: skip
        await desk.queue.open()
        self._log.write("info", f"Worker {duty.full_name} is at work.", database=cluster.shown, hosts=duty.hosts)
        try:
            await self._at_work(cluster, desk)
        finally:
            with suppress(StoreError):
                await desk.queue.close()

    async def _at_work(self, cluster: ClusterRegistry, desk: WorkerTasks) -> None:
        doing = asyncio.create_task(desk.queue.run(self._duty.full_name, self._duty.hosts))
        tasks = [doing, asyncio.create_task(self._beat(cluster, desk)), asyncio.create_task(desk.watch())]
        tasks += [asyncio.create_task(side(desk, self._stop)) for side in self._sides]
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
        finally:
            is_asked = stop.done()
            stop.cancel()
            await (self._drain(desk, doing) if is_asked else desk.drop())
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise root_error(error)

    async def _drain(self, desk: WorkerTasks, doing: asyncio.Task[None]) -> None:
        """Everything that was begun is written and given back before the worker leaves."""
        desk.stop()
        doing.cancel()
        await asyncio.wait([doing])  # Not `await doing`: whoever is told to stop at once while it waits must hear of it.
        with suppress(StoreError):
            await desk.end()

    async def _beat(self, cluster: ClusterRegistry, desk: WorkerTasks) -> None:
        """Be seen by `tadoru cluster status`; the queue has heartbeats of its own."""
        number = 0
        try:
            while True:
                began = self._clock.monotonic()
                is_known = cluster.beat(number, len(desk.held), self.metrics.pages)
                self.metrics.round_trip(self._clock.monotonic() - began)
                if not is_known:
                    number = cluster.register(self._duty.full_name, platform.node(), os.getpid(), VERSION)
                self._pause = SHORTEST_PAUSE
                await self._clock.sleep(HEARTBEAT_INTERVAL)
        finally:
            with suppress(StoreError):
                cluster.leave(number)


def root_error(error: BaseException) -> BaseException:
    """The first of what several tasks at once ended with; that of the database, if it is among them."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inner = [root_error(one) for one in error.exceptions]
    return next((one for one in inner if isinstance(one, StoreError)), inner[0])
