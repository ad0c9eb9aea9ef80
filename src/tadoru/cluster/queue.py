"""The queue of the cluster, as the task engine keeps it. What is put into it, and under which locks.

A slice has the host as its lock: no two of one host are done at a time, whichever crawls they belong to. Its queueing lock says
that a host of a crawl waits in the queue once at most.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import procrastinate
from procrastinate import exceptions, schema

from tadoru.cluster.attempts import Again, OwnJobs, tried
from tadoru.log import Log
from tadoru.store.postgres.cluster import SCHEMA, SLICE, STALLED, Cluster, slice_prefix
from tadoru.store.postgres.cluster_tables import EngineSchema
from tadoru.store.postgres.connection import Gone, with_defaults
from tadoru.store.postgres.pool import pool

FINISH, SWEEP = "tadoru.finish", "tadoru.sweep"
SLICES, CHORES = "slices", "chores"
PATIENCE = 10.0
"""Seconds for which a connection to the database is waited for."""
_FORGOTTEN = "procrastinate_jobs_worker_id_fkey"
_CONNECTION = {
    "options": f"-c search_path={SCHEMA}", "application_name": "tadoru-queue", "connect_timeout": "10",
    "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How soon a worker that is gone is noticed. All workers of a cluster should agree about it."""

    heartbeat: float = 5.0
    stalled: float = STALLED
    sweep: int = 5
    """Seconds between two looks after workers that are gone."""
    again: float = 2.0
    """Seconds until work that failed is tried once more; longer each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker does when it is handed something."""

    slice: Callable[[str, str], Awaitable[None]]
    """A crawl and one of its hosts."""
    finish: Callable[[str], Awaitable[None]]
    sweep: Callable[[], Awaitable[None]]
    give_up: Callable[[str, str], None]
    """A crawl whose work failed too often, and why."""
    later: Callable[[float], datetime]
    """The moment in so many seconds, by the database's clock."""


class Queue:
    """The queue, as those who put work in see it, and as a worker does."""

    def __init__(self, dsn: str, work: Work | None = None, timing: Timing | None = None) -> None:
        timing = timing or Timing()
        connector = procrastinate.PsycopgConnector(
            pool_factory=pool, conninfo=with_defaults(dsn, _CONNECTION), min_size=1, max_size=4, timeout=PATIENCE
        )
        self._app = procrastinate.App(connector=connector)
        self._app.job_manager = self._jobs = OwnJobs(connector)
        self._timing = timing
        if work is not None:
            self._register(work)

    def _register(self, work: Work) -> None:
        again = Again(work.later, self._timing.again)

        @self._app.task(name=SLICE, queue=SLICES, retry=again, pass_context=True)
        async def do_slice(context: procrastinate.JobContext, crawl: str, host: str) -> None:
            await tried(context, crawl, work.slice(crawl, host), work.give_up)

        @self._app.task(name=FINISH, queue=CHORES, retry=again, pass_context=True)
        async def do_finish(context: procrastinate.JobContext, crawl: str) -> None:
            await tried(context, crawl, work.finish(crawl), work.give_up)

        @self._app.periodic(cron=f"* * * * * */{self._timing.sweep}")
        # Without a lock: a worker that is killed while it sweeps would keep all others from doing so, for ever.
        @self._app.task(name=SWEEP, queue=CHORES, queueing_lock=SWEEP)
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
        slices = [
            self._app.configure_task(
                SLICE, allow_unknown=True, queue=SLICES, lock=host, queueing_lock=f"{slice_prefix(crawl)}{host}"
            ).make_new_job(crawl=crawl, host=host)
            for host in hosts
        ]
        if not slices or await _put(self._jobs.batch_defer_jobs_async(slices)):
            return len(slices)
        return sum([await _put(self._jobs.defer_job_async(one)) for one in slices])  # One of them waits already.

    async def put_finish(self, crawl: str) -> None:
        """What is left when no host waits any more."""
        name = f"finish/{crawl}"
        task = self._app.configure_task(FINISH, allow_unknown=True, queue=CHORES, lock=name, queueing_lock=name)
        await _put(task.defer_async(crawl=crawl))

    async def take_back_stalled(self) -> int:
        """What workers that are gone were doing is to be done again; how much."""
        with _said():
            stalled = await self._jobs.get_stalled_jobs(seconds_since_heartbeat=self._timing.stalled)
            return sum([await self._jobs.take_back(job) for job in stalled])

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
                update_heartbeat_interval=self._timing.heartbeat, stalled_worker_timeout=self._timing.stalled,
                delete_jobs="successful",
            )  # fmt: skip
        raise Gone("The queue of the cluster can not be reached: is the database running?")


async def _put(deferring: Awaitable[object]) -> bool:
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
        if _FORGOTTEN in first:
            raise Gone("This worker was silent for so long that others have its work by now: it begins anew.") from error
        raise Gone(f"The queue of the cluster can not be reached ({first}): is the database running?") from error


class _Heard(logging.Handler):
    """What the task engine says, in the worker's own log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO if log.hears("debug") else logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # A job that failed is tried again, and a crawl that fails for good says so itself; a task that nobody waits for was left
        # behind by a database that went away, of which the worker speaks.
        level = "debug" if record.levelno < logging.ERROR or record.name == "asyncio" else "warning"
        self._log.write(level, record.getMessage(), **({"error": f"{type(error).__name__}: {error}"} if error else {}))


def speak_through(log: Log) -> None:
    """Hear the task engine, and tasks that nobody waits for, through this log."""
    for name in ("procrastinate", "psycopg.pool", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [_Heard(log)]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def engine_schema() -> EngineSchema:
    """The tables that this version of the task engine wants."""
    folder = Path(schema.SchemaManager.get_migrations_path())
    changes = tuple(sorted(one.name for one in folder.glob("*.sql")))
    return EngineSchema(schema.SchemaManager.get_schema(), changes, lambda name: (folder / name).read_text(encoding="utf-8"))


def prepare(cluster: Cluster) -> None:
    """Make the tables that are missing, and bring those of an older program to what this one needs. Raises StoreError."""
    cluster.prepare(engine_schema())
