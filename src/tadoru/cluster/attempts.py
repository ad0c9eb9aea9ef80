"""What becomes of work that fails, and whose it is: when it is tried again, when a crawl is given up, and who may say that
something is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import procrastinate
from procrastinate import exceptions, jobs, manager, retry

from tadoru.errors import NewerFormat, StoreError
from tadoru.store.postgres.connection import Gone

ATTEMPTS = 5
LONGEST_WAIT = 60.0
AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
"""Past by any clock: the task engine would take this machine's, which may be minutes ahead of the database's."""
NOT_ITS_FAULT = (Gone, NewerFormat)
"""The database is away, or another worker has to do it: that says nothing about a crawl."""


class Again(retry.BaseRetryStrategy):
    """When what failed is tried again. The moment is the database's: that is what it is compared with."""

    def __init__(self, later: Callable[[float], datetime], seconds: float) -> None:
        self._later, self._seconds = later, seconds

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> procrastinate.RetryDecision | None:
        if is_last(job) and not isinstance(exception, NOT_ITS_FAULT):
            return None
        try:
            return procrastinate.RetryDecision(retry_at=self._later(min(self._seconds * (job.attempts + 1), LONGEST_WAIT)))
        except StoreError:
            return procrastinate.RetryDecision(retry_at=AT_ONCE)  # There is no database to write it to.


def is_last(job: jobs.Job) -> bool:
    """Whether this attempt is the last one."""
    return job.attempts + 1 >= ATTEMPTS


async def tried(
    context: procrastinate.JobContext, crawl: str, work: Awaitable[None], give_up: Callable[[str, str], None]
) -> None:
    """Do some work of a crawl; give the crawl up when it failed for the last time."""
    try:
        await work
    except NOT_ITS_FAULT:
        raise
    except Exception as error:
        if is_last(context.job):
            give_up(crawl, str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}")
        raise


class OwnJobs(manager.JobManager):
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
