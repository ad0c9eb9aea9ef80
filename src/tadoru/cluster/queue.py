"""The task queue of the cluster in Procrastinate: its tasks, their locks and retries.

A slice has the host as its lock: no two slices of one host run at a time, for any crawl. Its queueing lock means that a host of a
crawl is queued at most once. A crawl is submitted with the options that the workers need, without secrets and local files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import procrastinate
from procrastinate import exceptions, jobs, manager, retry, schema

from tadoru.config.options import AuditOptions
from tadoru.config.resolve import CREDENTIALS
from tadoru.errors import NewerFormat, StoreError, UsageError
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.log import Log
from tadoru.store.cluster.registry import LATER, SCHEMA, SLICE, STALLED, ClusterRegistry, finish_lock, slice_prefix
from tadoru.store.cluster.schema import TaskEngineSchema
from tadoru.store.crawl.postgres.connection import pool, with_defaults
from tadoru.store.crawl.postgres.crawl_url import parse
from tadoru.store.errors import ConnectionLost

MAX_ATTEMPTS = 5
MAX_RETRY_DELAY = 60.0
AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
"""In the past by any clock: Procrastinate would use the clock of this machine, which may be minutes ahead of the database."""
UNRELATED_ERRORS: tuple[type[StoreError], ...] = (ConnectionLost, NewerFormat)
"""The database is not available, or this worker is too old: not a failure of the crawl."""
MAX_RECORD_ATTEMPTS = 6
"""Attempts to record the end of a task: more than the pool has connections, all of which may be broken."""


class RetryLimitReached(Exception):
    """A task failed too often, and its crawl was marked as failed."""


class RetryStrategy(retry.BaseRetryStrategy):
    """Whether a failed task is retried. `OwnedJobManager` determines when, by the clock of the database."""

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> procrastinate.RetryDecision | None:
        return None if isinstance(exception, RetryLimitReached) else procrastinate.RetryDecision(retry_at=AT_ONCE)


def is_last_attempt(job: jobs.Job) -> bool:
    """Whether this attempt is the last one."""
    return job.attempts + 1 >= MAX_ATTEMPTS


async def run_task(
    context: procrastinate.JobContext,
    crawl: str,
    work: Awaitable[None],
    give_up: Callable[[str, str], Awaitable[None]],
    unrelated: tuple[type[StoreError], ...] = UNRELATED_ERRORS,
) -> None:
    """Run a task of a crawl; mark the crawl as failed after the last attempt. Unrelated errors are retried without limit."""
    try:
        await work
    except unrelated:
        raise
    except Exception as error:
        if not is_last_attempt(context.job):
            raise
        # If the database is not available, this raises a StoreError, and the task is retried.
        await give_up(crawl, str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}")
        raise RetryLimitReached(str(error)) from error


class OwnedJobManager(manager.JobManager):
    """Changes the state of a task only while this worker owns it: after a long disconnection another worker may have it."""

    def __init__(self, connector: procrastinate.PsycopgConnector, retry_after: float) -> None:
        """`retry_after`: seconds until a failed task is retried; longer each time."""
        super().__init__(connector)
        self._retry_after = retry_after
        self.record_failed = asyncio.Event()
        """The end of a task could not be recorded: nobody repeats it as long as this worker is connected."""

    async def finish_job(self, job: jobs.Job, status: jobs.Status, delete_job: bool) -> None:
        # Another sweep follows in any case, so a failed one is not kept.
        is_deleted = delete_job or job.task_name == SWEEP
        await self._record(job, lambda: super(OwnedJobManager, self).finish_job(job, status, is_deleted))

    async def retry_job(
        self, job: jobs.Job, retry_at: datetime | None = None, priority: int | None = None, queue: str | None = None,
        lock: str | None = None,
    ) -> None:  # fmt: skip
        async def retry_now() -> None:
            try:
                await super(OwnedJobManager, self).retry_job(job, await self._retry_time(job), priority, queue, lock)
            except exceptions.UniqueViolation:
                # The same task was queued meanwhile, and would start with its first attempt: this one replaces it.
                for queued in await self.list_jobs_async(queueing_lock=job.queueing_lock, status=jobs.Status.TODO.value):
                    assert queued.id is not None
                    await self.cancel_job_by_id_async(queued.id, delete_job=True)
                raise

        await self._record(job, retry_now)

    async def _retry_time(self, job: jobs.Job) -> datetime:
        """When a task is retried, by the clock of the database: those of the workers may differ."""
        seconds = min(self._retry_after * (job.attempts + 1), MAX_RETRY_DELAY)
        row = await self.connector.execute_query_one_async(LATER, seconds=seconds)
        at: datetime = row["at"]
        return at

    async def _record(self, job: jobs.Job, change: Callable[[], Awaitable[None]]) -> None:
        """Record the end of a task that this worker owns; repeated, because a connection of the pool may be broken."""
        for attempt in range(1, MAX_RECORD_ATTEMPTS + 1):
            try:
                if await self._is_owned(job):
                    await change()
                return
            except exceptions.ConnectorException:
                if attempt == MAX_RECORD_ATTEMPTS:
                    self.record_failed.set()
                    raise

    async def requeue(self, job: jobs.Job) -> bool:
        """Queue a task of a lost worker again, unless the same task is queued already. False when another worker was faster."""
        if not await self._is_owned(job):
            return False
        try:
            try:
                await super().retry_job(job, AT_ONCE)
            except exceptions.UniqueViolation:
                await super().finish_job(job, jobs.Status.ABORTED, delete_job=True)
        except exceptions.ConnectorException:
            if await self._is_owned(job):
                raise
            return False
        return True

    async def _is_owned(self, job: jobs.Job) -> bool:
        found = await self.list_jobs_async(id=job.id)
        return any(one.worker_id == job.worker_id and one.status == jobs.Status.DOING.value for one in found)


FINISH, SWEEP = "tadoru.finish", "tadoru.sweep"
SLICES, MAINTENANCE = "slices", "chores"
CONNECT_TIMEOUT = 10.0
"""Seconds to wait for a connection to the database."""
_WORKER_FOREIGN_KEY = "procrastinate_jobs_worker_id_fkey"
_CONNECTION = {
    "options": f"-c search_path={SCHEMA}", "application_name": "tadoru-queue", "connect_timeout": "10",
    "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTiming:
    """How soon a lost worker is detected. All workers of a cluster should use the same values."""

    heartbeat: float = 5.0
    stalled: float = STALLED
    sweep: int = 5
    """Seconds between two checks for lost workers."""
    again: float = 2.0
    """Seconds until a failed task is retried; longer each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHandlers:
    """The functions that run tasks."""

    slice: Callable[[str, str], Awaitable[None]]
    """Called with a crawl and one of its hosts."""
    finish: Callable[[str], Awaitable[None]]
    sweep: Callable[[], Awaitable[None]]
    give_up: Callable[[str, str], Awaitable[None]]
    """Called with a crawl whose tasks failed too often, and the error."""


class TaskQueue:
    """The queue for those that add tasks and for workers."""

    def __init__(self, dsn: str, handlers: TaskHandlers | None = None, timing: ClusterTiming | None = None) -> None:
        timing = timing or ClusterTiming()
        connector = procrastinate.PsycopgConnector(
            pool_factory=pool, conninfo=with_defaults(dsn, _CONNECTION), min_size=1, max_size=4, timeout=CONNECT_TIMEOUT
        )
        self._app = procrastinate.App(connector=connector)
        self._app.job_manager = self._jobs = OwnedJobManager(connector, timing.again)
        self._timing = timing
        if handlers is not None:
            self._register(handlers)

    def _register(self, handlers: TaskHandlers) -> None:
        again = RetryStrategy()

        @self._app.task(name=SLICE, queue=SLICES, retry=again, pass_context=True)
        async def do_slice(context: procrastinate.JobContext, crawl: str, host: str) -> None:
            await run_task(context, crawl, handlers.slice(crawl, host), handlers.give_up)

        @self._app.task(name=FINISH, queue=MAINTENANCE, retry=again, pass_context=True)
        async def do_finish(context: procrastinate.JobContext, crawl: str) -> None:
            # A lost connection counts: the analysis itself may crash the server process.
            await run_task(context, crawl, handlers.finish(crawl), handlers.give_up, unrelated=(NewerFormat,))

        @self._app.periodic(cron=f"* * * * * */{self._timing.sweep}")
        # Without a lock: a worker that is killed during the sweep would block all others.
        @self._app.task(name=SWEEP, queue=MAINTENANCE, queueing_lock=SWEEP)
        async def do_sweep(timestamp: int) -> None:
            await handlers.sweep()

    async def open(self) -> None:
        with _store_errors():
            await self._app.open_async()

    async def close(self) -> None:
        with _store_errors():
            await self._app.close_async()

    async def put_slices(self, crawl: str, hosts: Iterable[str]) -> int:
        """Queue a slice for each host without one; returns how many."""
        slices = [
            self._app.configure_task(
                SLICE, allow_unknown=True, queue=SLICES, lock=host, queueing_lock=f"{slice_prefix(crawl)}{host}"
            ).make_new_job(crawl=crawl, host=host)
            for host in hosts
        ]
        if not slices or await _enqueue(self._jobs.batch_defer_jobs_async(slices)):
            return len(slices)
        return sum([await _enqueue(self._jobs.defer_job_async(one)) for one in slices])  # One of them is queued already.

    async def put_finish(self, crawl: str) -> None:
        """Queue the finish task of a crawl."""
        name = finish_lock(crawl)
        task = self._app.configure_task(FINISH, allow_unknown=True, queue=MAINTENANCE, lock=name, queueing_lock=name)
        await _enqueue(task.defer_async(crawl=crawl))

    async def requeue_stalled(self) -> int:
        """Queue the tasks of lost workers again; returns how many."""
        with _store_errors():
            stalled = await self._jobs.get_stalled_jobs(seconds_since_heartbeat=self._timing.stalled)
            return sum([await self._jobs.requeue(job) for job in stalled])

    async def run(self, name: str, hosts: int) -> None:
        """Run tasks until cancelled, with at most `hosts` slices at a time; running tasks are finished. Raises StoreError when
        the database is lost."""
        async with asyncio.TaskGroup() as group:
            # Separate workers: one that is full of slices still sweeps and finishes crawls.
            group.create_task(self._run(name, SLICES, hosts))
            group.create_task(self._run(f"{name}-chores", MAINTENANCE, 2))
            group.create_task(self._check_records())

    async def _check_records(self) -> None:
        await self._jobs.record_failed.wait()
        raise ConnectionLost("Cannot reach the task queue of the cluster. Check that the database is running.")

    async def _run(self, name: str, queue: str, concurrency: int) -> None:
        with _store_errors():
            await self._app.run_worker_async(
                queues=[queue], name=name, concurrency=concurrency, install_signal_handlers=False, fetch_job_polling_interval=2.0,
                update_heartbeat_interval=self._timing.heartbeat, stalled_worker_timeout=self._timing.stalled,
                delete_jobs="successful",
            )  # fmt: skip
        raise ConnectionLost("Cannot reach the task queue of the cluster. Check that the database is running.")


async def _enqueue(deferring: Awaitable[object]) -> bool:
    with _store_errors():
        try:
            await deferring
        except exceptions.AlreadyEnqueued:
            return False
    return True


@contextmanager
def _store_errors() -> Iterator[None]:
    """Raise errors of Procrastinate as errors of the store."""
    try:
        yield
    except exceptions.ConnectorException as error:
        first = str(error.__cause__ or error).partition("\n")[0]
        if _WORKER_FOREIGN_KEY in first:
            raise ConnectionLost(
                "This worker was disconnected for so long that others have its tasks. It starts again."
            ) from error
        raise ConnectionLost(
            "Cannot reach the task queue of the cluster ({error}). Check that the database is running.", error=first
        ) from error


class _EngineLogHandler(logging.Handler):
    """Writes messages of Procrastinate to the log of the worker."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.INFO if log.is_enabled("debug") else logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        # A failed task is retried, and a failed crawl is logged; a task that was never awaited was left by a lost database, which
        # the worker logs.
        level = "debug" if record.levelno < logging.ERROR or record.name == "asyncio" else "warning"
        self._log.write(level, record.getMessage(), **({"error": f"{type(error).__name__}: {error}"} if error else {}))


def log_engine_messages(log: Log) -> None:
    """Send messages of Procrastinate and asyncio to this log."""
    for name in ("procrastinate", "psycopg.pool", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [_EngineLogHandler(log)]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def engine_schema() -> TaskEngineSchema:
    """The tables of this version of Procrastinate."""
    folder = Path(schema.SchemaManager.get_migrations_path())
    changes = tuple(sorted(one.name for one in folder.glob("*.sql")))
    return TaskEngineSchema(schema.SchemaManager.get_schema(), changes, lambda name: (folder / name).read_text(encoding="utf-8"))


def prepare_schema(cluster: ClusterRegistry) -> None:
    """Create missing tables and upgrade those of an older version. Raises StoreError."""
    cluster.prepare(engine_schema())


LOCAL_OPTIONS = frozenset({"database", "seed_urls", "report", "baseline", "fail_on", "suppress", "processes"})
"""Options that depend on one machine, such as files."""


def shared_options(options: AuditOptions) -> dict[str, Any]:
    """The options for the workers. Raises UsageError for a crawl that cannot be shared."""
    if any(getattr(options, name, None) for name in CREDENTIALS) or "@" in (options.proxy or ""):
        raise UsageError(
            "A crawl with credentials cannot be submitted to workers: the database would contain them. Run it without --detach."
        )
    return {one.name: getattr(options, one.name) for one in fields(options) if _is_shared(one.name)}


def options_from_shared(shared: Mapping[str, Any], database: str) -> AuditOptions:
    """The options of a submitted crawl, without those that this version does not know."""
    known = {one.name for one in fields(AuditOptions) if _is_shared(one.name)}
    found = {name: value for name, value in shared.items() if name in known}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return AuditOptions(**values, database=database, processes=1)


def _is_shared(name: str) -> bool:
    return name not in LOCAL_OPTIONS and name not in CREDENTIALS


async def submit_crawl(crawl: AuditCrawl) -> None:
    """Start or resume a crawl on the workers. Raises UsageError."""
    shared, database = shared_options(crawl.options), crawl.options.database
    cluster = ClusterRegistry(database)
    try:
        prepare_schema(cluster)
        await crawl.prepare()
        # Last: workers find it within a second.
        cluster.put_crawl(parse(database).crawl, "audit", shared)
    finally:
        cluster.close()
