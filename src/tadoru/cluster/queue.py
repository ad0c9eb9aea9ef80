"""The queue of the cluster: the only room that knows the task engine. What is put into it, and under which locks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import procrastinate
from procrastinate import exceptions, schema

from tadoru.store.postgres.cluster import SCHEMA, Cluster

SLICE, FINISH, COLLECT, SWEEP = "tadoru.slice", "tadoru.finish", "tadoru.collect", "tadoru.sweep"
HEARTBEAT = 5.0
STALLED = 20.0
"""Seconds without a heartbeat after which a worker counts as gone, and what it was doing is for others."""
_AGAIN = procrastinate.RetryStrategy(max_attempts=100, wait=2, exponential_wait=None, linear_wait=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker does when it is handed something."""

    slice: Callable[[str, str], Awaitable[None]]
    """A crawl and one of its hosts."""
    finish: Callable[[str], Awaitable[None]]
    collect: Callable[[int], Awaitable[None]]
    sweep: Callable[[], Awaitable[None]]


class Queue:
    """The queue, as those who put work in see it, and as a worker does."""

    def __init__(self, dsn: str, work: Work | None = None) -> None:
        options = {"options": f"-c search_path={SCHEMA}"}
        connector = procrastinate.PsycopgConnector(conninfo=dsn, kwargs=options, min_size=1, max_size=4)
        self._app = procrastinate.App(connector=connector)
        if work is not None:
            self._register(work)

    def _register(self, work: Work) -> None:
        @self._app.task(name=SLICE, queue="crawl", retry=_AGAIN)
        async def do_slice(crawl: str, host: str) -> None:
            await work.slice(crawl, host)

        @self._app.task(name=FINISH, queue="crawl", retry=_AGAIN)
        async def do_finish(crawl: str) -> None:
            await work.finish(crawl)

        @self._app.task(name=COLLECT, queue="events", retry=_AGAIN)
        async def do_collect(source: int) -> None:
            await work.collect(source)

        @self._app.periodic(cron="* * * * * */10")
        @self._app.task(name=SWEEP, queue="sweep", queueing_lock=SWEEP, lock=SWEEP)
        async def do_sweep(timestamp: int) -> None:
            await work.sweep()

    async def open(self) -> None:
        await self._app.open_async()

    async def close(self) -> None:
        await self._app.close_async()

    async def put_slices(self, crawl: str, hosts: Iterable[str]) -> int:
        """A slice for each host that has none waiting; how many."""
        put = 0
        for host in hosts:
            task = self._app.configure_task(
                SLICE, allow_unknown=True, queue="crawl", lock=host, queueing_lock=f"{slice_prefix(crawl)}{host}"
            )
            put += await _put(task.defer_async(crawl=crawl, host=host))
        return put

    async def put_finish(self, crawl: str) -> None:
        task = self._app.configure_task(
            FINISH, allow_unknown=True, queue="crawl", lock=f"finish/{crawl}", queueing_lock=f"finish/{crawl}"
        )
        await _put(task.defer_async(crawl=crawl))

    async def put_source(self, source: int, host: str) -> None:
        task = self._app.configure_task(COLLECT, allow_unknown=True, queue="events", lock=host, queueing_lock=f"source/{source}")
        await _put(task.defer_async(source=source))

    async def take_back_stalled(self) -> int:
        """What workers that are gone were doing is to be done again; how much."""
        stalled = list(await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED))
        for job in stalled:
            await self._app.job_manager.retry_job(job)
        return len(stalled)

    async def run(self, name: str, at_once: int) -> None:
        """Do what comes, so many pieces at a time, until cancelled; what is begun then is finished."""
        await self._app.run_worker_async(
            name=name, concurrency=at_once + 2, install_signal_handlers=False, fetch_job_polling_interval=1.0,
            update_heartbeat_interval=HEARTBEAT, stalled_worker_timeout=STALLED, delete_jobs="always",
        )  # fmt: skip


def slice_prefix(crawl: str) -> str:
    """How the queueing locks of a crawl's slices begin."""
    return f"slice/{crawl}/"


async def _put(deferring: Awaitable[int]) -> bool:
    try:
        await deferring
    except exceptions.AlreadyEnqueued:
        return False
    return True


def prepare(cluster: Cluster) -> None:
    """Make the tables that are missing."""
    cluster.prepare(schema.SchemaManager.get_schema())
