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
from datetime import UTC, datetime
from pathlib import Path

import procrastinate
from procrastinate import exceptions, jobs, manager, retry, schema

from tadoru.errors import NewerFormat, StoreError
from tadoru.log import Log
from tadoru.store.cluster.registry import SCHEMA, SLICE, STALLED, ClusterRegistry, slice_prefix
from tadoru.store.cluster.schema import TaskEngineSchema
from tadoru.store.crawl.postgres.connection import ConnectionLost, pool, with_defaults

MAX_ATTEMPTS = 5
MAX_RETRY_DELAY = 60.0
AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
"""Past by any clock: the task engine would take this machine's, which may be minutes ahead of the database's."""
UNRELATED_ERRORS = (ConnectionLost, NewerFormat)
"""The database is away, or another worker has to do it: that says nothing about a crawl."""


class RetryStrategy(retry.BaseRetryStrategy):
    """When what failed is tried again. The moment is the database's: that is what it is compared with."""

    def __init__(self, later: Callable[[float], datetime], seconds: float) -> None:
        self._later, self._seconds = later, seconds

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> procrastinate.RetryDecision | None:
        if is_last_attempt(job) and not isinstance(exception, UNRELATED_ERRORS):
            return None
        try:
            return procrastinate.RetryDecision(retry_at=self._later(min(self._seconds * (job.attempts + 1), MAX_RETRY_DELAY)))
        except StoreError:
            return procrastinate.RetryDecision(retry_at=AT_ONCE)  # There is no database to write it to.


def is_last_attempt(job: jobs.Job) -> bool:
    """Whether this attempt is the last one."""
    return job.attempts + 1 >= MAX_ATTEMPTS


async def run_task(
    context: procrastinate.JobContext, crawl: str, work: Awaitable[None], give_up: Callable[[str, str], None]
) -> None:
    """Do some work of a crawl; give the crawl up when it failed for the last time."""
    try:
        await work
    except UNRELATED_ERRORS:
        raise
    except Exception as error:
        if is_last_attempt(context.job):
            give_up(crawl, str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}")
        raise


class OwnedJobManager(manager.JobManager):
    """Whoever was cut off for long finds that its work is another's by now, and has no say in it any more."""

    async def finish_job(self, job: jobs.Job, status: jobs.Status, delete_job: bool) -> None:
        if await self._is_held(job):
            await super().finish_job(job, status, delete_job)

    async def retry_job(
        self, job: jobs.Job, retry_at: datetime | None = None, priority: int | None = None, queue: str | None = None,
        lock: str | None = None,
    ) -> None:  # fmt: skip
        if await self._is_held(job):
            await super().retry_job(job, retry_at or AT_ONCE, priority, queue, lock)

    async def take_back(self, job: jobs.Job) -> bool:
        """Put the work of a worker that is gone into the queue again; where another of the same host waits already, that one is
        enough. False when somebody else was faster."""
        if not await self._is_held(job):
            return False
        try:
            try:
                await super().retry_job(job, AT_ONCE)
            except exceptions.UniqueViolation:
                await super().finish_job(job, jobs.Status.ABORTED, delete_job=True)
        except exceptions.ConnectorException:
            if await self._is_held(job):
                raise
            return False
        return True

    async def _is_held(self, job: jobs.Job) -> bool:
        found = await self.list_jobs_async(id=job.id)
        return any(one.worker_id == job.worker_id and one.status == jobs.Status.DOING.value for one in found)


FINISH, SWEEP = "tadoru.finish", "tadoru.sweep"
SLICES, MAINTENANCE = "slices", "chores"
CONNECT_TIMEOUT = 10.0
"""Seconds for which a connection to the database is waited for."""
_FORGOTTEN = "procrastinate_jobs_worker_id_fkey"
_CONNECTION = {
    "options": f"-c search_path={SCHEMA}", "application_name": "tadoru-queue", "connect_timeout": "10",
    "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTiming:
    """How soon a worker that is gone is noticed. All workers of a cluster should agree about it."""

    heartbeat: float = 5.0
    stalled: float = STALLED
    sweep: int = 5
    """Seconds between two looks after workers that are gone."""
    again: float = 2.0
    """Seconds until work that failed is tried once more; longer each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHandlers:
    """What a worker does when it is handed something."""

    slice: Callable[[str, str], Awaitable[None]]
    """A crawl and one of its hosts."""
    finish: Callable[[str], Awaitable[None]]
    sweep: Callable[[], Awaitable[None]]
    give_up: Callable[[str, str], None]
    """A crawl whose work failed too often, and why."""
    later: Callable[[float], datetime]
    """The moment in so many seconds, by the database's clock."""


class TaskQueue:
    """The queue, as those who put work in see it, and as a worker does."""

    def __init__(self, dsn: str, work: TaskHandlers | None = None, timing: ClusterTiming | None = None) -> None:
        timing = timing or ClusterTiming()
        connector = procrastinate.PsycopgConnector(
            pool_factory=pool, conninfo=with_defaults(dsn, _CONNECTION), min_size=1, max_size=4, timeout=CONNECT_TIMEOUT
        )
        self._app = procrastinate.App(connector=connector)
        self._app.job_manager = self._jobs = OwnedJobManager(connector)
        self._timing = timing
        if work is not None:
            self._register(work)

    def _register(self, work: TaskHandlers) -> None:
        again = RetryStrategy(work.later, self._timing.again)

        @self._app.task(name=SLICE, queue=SLICES, retry=again, pass_context=True)
        async def do_slice(context: procrastinate.JobContext, crawl: str, host: str) -> None:
            await run_task(context, crawl, work.slice(crawl, host), work.give_up)

        @self._app.task(name=FINISH, queue=MAINTENANCE, retry=again, pass_context=True)
        async def do_finish(context: procrastinate.JobContext, crawl: str) -> None:
            await run_task(context, crawl, work.finish(crawl), work.give_up)

        @self._app.periodic(cron=f"* * * * * */{self._timing.sweep}")
        # Without a lock: a worker that is killed while it sweeps would keep all others from doing so, for ever.
        @self._app.task(name=SWEEP, queue=MAINTENANCE, queueing_lock=SWEEP)
        async def do_sweep(timestamp: int) -> None:
            await work.sweep()

    async def open(self) -> None:
        with _store_errors():
            await self._app.open_async()

    async def close(self) -> None:
        with _store_errors():
            await self._app.close_async()

    async def put_slices(self, crawl: str, hosts: Iterable[str]) -> int:
        """A slice for each host that has none waiting; how many."""
        slices = [
            self._app.configure_task(
                SLICE, allow_unknown=True, queue=SLICES, lock=host, queueing_lock=f"{slice_prefix(crawl)}{host}"
            ).make_new_job(crawl=crawl, host=host)
            for host in hosts
        ]
        if not slices or await _enqueue(self._jobs.batch_defer_jobs_async(slices)):
            return len(slices)
        return sum([await _enqueue(self._jobs.defer_job_async(one)) for one in slices])  # One of them waits already.

    async def put_finish(self, crawl: str) -> None:
        """What is left when no host waits any more."""
        name = f"finish/{crawl}"
        task = self._app.configure_task(FINISH, allow_unknown=True, queue=MAINTENANCE, lock=name, queueing_lock=name)
        await _enqueue(task.defer_async(crawl=crawl))

    async def take_back_stalled(self) -> int:
        """What workers that are gone were doing is to be done again; how much."""
        with _store_errors():
            stalled = await self._jobs.get_stalled_jobs(seconds_since_heartbeat=self._timing.stalled)
            return sum([await self._jobs.take_back(job) for job in stalled])

    async def run(self, name: str, hosts: int) -> None:
        """Do what comes, so many hosts at a time, until cancelled: what is begun then is ended first. Raises StoreError when the
        database is lost."""
        async with asyncio.TaskGroup() as group:
            # Apart from each other: a worker that is full of slices still sweeps, and finishes crawls.
            group.create_task(self._run(name, SLICES, hosts))
            group.create_task(self._run(f"{name}-chores", MAINTENANCE, 2))

    async def _run(self, name: str, queue: str, at_once: int) -> None:
        with _store_errors():
            await self._app.run_worker_async(
                queues=[queue], name=name, concurrency=at_once, install_signal_handlers=False, fetch_job_polling_interval=2.0,
                update_heartbeat_interval=self._timing.heartbeat, stalled_worker_timeout=self._timing.stalled,
                delete_jobs="successful",
            )  # fmt: skip
        raise ConnectionLost("The queue of the cluster cannot be reached: is the database running?")


async def _enqueue(deferring: Awaitable[object]) -> bool:
    with _store_errors():
        try:
            await deferring
        except exceptions.AlreadyEnqueued:
            return False
    return True


@contextmanager
def _store_errors() -> Iterator[None]:
    """The engine's errors as the store's."""
    try:
        yield
    except exceptions.ConnectorException as error:
        first = str(error.__cause__ or error).partition("\n")[0]
        if _FORGOTTEN in first:
            raise ConnectionLost(
                "This worker was silent for so long that others have its work by now: it begins anew."
            ) from error
        raise ConnectionLost(f"The queue of the cluster cannot be reached ({first}): is the database running?") from error


class _EngineLogHandler(logging.Handler):
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


def log_engine_messages(log: Log) -> None:
    """Hear the task engine, and tasks that nobody waits for, through this log."""
    for name in ("procrastinate", "psycopg.pool", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [_EngineLogHandler(log)]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def engine_schema() -> TaskEngineSchema:
    """The tables that this version of the task engine wants."""
    folder = Path(schema.SchemaManager.get_migrations_path())
    changes = tuple(sorted(one.name for one in folder.glob("*.sql")))
    return TaskEngineSchema(schema.SchemaManager.get_schema(), changes, lambda name: (folder / name).read_text(encoding="utf-8"))


def prepare_schema(cluster: ClusterRegistry) -> None:
    """Make the tables that are missing, and bring those of an older program to what this one needs. Raises StoreError."""
    cluster.prepare(engine_schema())
