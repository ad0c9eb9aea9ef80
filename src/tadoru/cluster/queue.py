"""The queue of the cluster: the only room that knows the task engine. What is put into it, and under which locks.

A slice has the host as its lock: no two of one host are done at a time, whichever crawls they belong to. Its queueing lock says
that a host of a crawl waits in the queue once at most.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import procrastinate
from procrastinate import exceptions, schema

from tadoru.errors import StoreError
from tadoru.log import Log
from tadoru.store.postgres.cluster import SCHEMA, SLICE, Cluster, slice_prefix

FINISH, SWEEP = "tadoru.finish", "tadoru.sweep"
SLICES, CHORES = "slices", "chores"
HEARTBEAT = 5.0
STALLED = 20.0
"""Seconds without a heartbeat after which a worker counts as gone, and what it was doing is for others."""
ATTEMPTS = 5
AGAIN = 2
"""Seconds until a piece of work that failed is tried once more; longer each time."""
_CONNECTION = {
    "options": f"-c search_path={SCHEMA}", "application_name": "tadoru-queue", "connect_timeout": 10,
    "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker does when it is handed something."""

    slice: Callable[[str, str], Awaitable[None]]
    """A crawl and one of its hosts."""
    finish: Callable[[str], Awaitable[None]]
    sweep: Callable[[], Awaitable[None]]
    give_up: Callable[[str, str], None]
    """A crawl whose work failed too often, and why."""


class Queue:
    """The queue, as those who put work in see it, and as a worker does."""

    def __init__(self, dsn: str, work: Work | None = None) -> None:
        connector = procrastinate.PsycopgConnector(conninfo=dsn, kwargs=_CONNECTION, min_size=1, max_size=4, timeout=20.0)
        self._app = procrastinate.App(connector=connector)
        if work is not None:
            self._register(work)

    def _register(self, work: Work) -> None:
        again = procrastinate.RetryStrategy(max_attempts=ATTEMPTS, wait=AGAIN, linear_wait=AGAIN)

        @self._app.task(name=SLICE, queue=SLICES, retry=again, pass_context=True)
        async def do_slice(context: procrastinate.JobContext, crawl: str, host: str) -> None:
            await _tried(context, crawl, work.slice(crawl, host), work.give_up)

        @self._app.task(name=FINISH, queue=CHORES, retry=again, pass_context=True)
        async def do_finish(context: procrastinate.JobContext, crawl: str) -> None:
            await _tried(context, crawl, work.finish(crawl), work.give_up)

        @self._app.periodic(cron="* * * * * */5")
        @self._app.task(name=SWEEP, queue=CHORES, queueing_lock=SWEEP, lock=SWEEP)
        async def do_sweep(timestamp: int) -> None:
            await work.sweep()

    async def open(self) -> None:
        with _said():
            await self._app.open_async()

    async def close(self) -> None:
        with _said():
            await self._app.close_async()

    async def put_slices(self, crawl: str, hosts: Iterable[str]) -> int:
        """A slice for each host that has none waiting; how many."""
        put = 0
        for host in hosts:
            task = self._app.configure_task(
                SLICE, allow_unknown=True, queue=SLICES, lock=host, queueing_lock=f"{slice_prefix(crawl)}{host}"
            )
            put += await _put(task.defer_async(crawl=crawl, host=host))
        return put

    async def put_finish(self, crawl: str) -> None:
        """What is left when no host waits any more."""
        name = f"finish/{crawl}"
        task = self._app.configure_task(FINISH, allow_unknown=True, queue=CHORES, lock=name, queueing_lock=name)
        await _put(task.defer_async(crawl=crawl))

    async def take_back_stalled(self) -> int:
        """What workers that are gone were doing is to be done again; how much."""
        with _said():
            stalled = list(await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED))
            for job in stalled:
                await _take_back(self._app, job)
        return len(stalled)

    async def run(self, name: str, hosts: int) -> None:
        """Do what comes, so many hosts at a time, until cancelled: what is begun then is ended first. Raises StoreError when the
        database is lost."""
        async with asyncio.TaskGroup() as group:
            # Apart from each other: a worker that is full of slices still sweeps, and finishes crawls.
            group.create_task(self._run(name, SLICES, hosts))
            group.create_task(self._run(f"{name}-chores", CHORES, 2))

    async def _run(self, name: str, queue: str, at_once: int) -> None:
        with _said():
            await self._app.run_worker_async(
                queues=[queue], name=name, concurrency=at_once, install_signal_handlers=False, fetch_job_polling_interval=2.0,
                update_heartbeat_interval=HEARTBEAT, stalled_worker_timeout=STALLED, delete_jobs="successful",
            )  # fmt: skip
        raise StoreError("The queue of the cluster can not be reached: is the database running?")


async def _tried(
    context: procrastinate.JobContext, crawl: str, work: Awaitable[None], give_up: Callable[[str, str], None]
) -> None:
    try:
        await work
    except StoreError:
        raise
    except Exception as error:
        if context.job.attempts + 1 >= ATTEMPTS:
            give_up(crawl, f"{type(error).__name__}: {error}")
        raise


async def _take_back(app: procrastinate.App, job: procrastinate.jobs.Job) -> None:
    """Into the queue again; where another of the same host waits already, that one is enough."""
    try:
        await app.job_manager.retry_job(job)
    except exceptions.UniqueViolation:
        await app.job_manager.finish_job(job, procrastinate.jobs.Status.ABORTED, delete_job=True)


async def _put(deferring: Awaitable[int]) -> bool:
    with _said():
        try:
            await deferring
        except exceptions.AlreadyEnqueued:
            return False
    return True


@contextmanager
def _said() -> Iterator[None]:
    """The engine's errors as the store's."""
    try:
        yield
    except exceptions.ConnectorException as error:
        first = str(error.__cause__ or error).partition("\n")[0]
        raise StoreError(f"The queue of the cluster can not be reached ({first}): is the database running?") from error


class _Heard(logging.Handler):
    """What the task engine says, in the worker's own log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO if log.hears("debug") else logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # A job that failed is tried again, and a crawl that fails for good says so itself.
        level = "debug" if record.levelno < logging.ERROR else "warning"
        self._log.write(level, record.getMessage(), **({"error": f"{type(error).__name__}: {error}"} if error else {}))


def speak_through(log: Log) -> None:
    """Hear the task engine, and tasks that nobody waits for, through this log."""
    for name in ("procrastinate", "psycopg.pool", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [_Heard(log)]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def prepare(cluster: Cluster) -> None:
    """Make the tables that are missing."""
    cluster.prepare(schema.SchemaManager.get_schema())
