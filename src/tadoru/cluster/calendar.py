"""Collects the sources of the calendar in the database of the cluster; each source is collected by one worker."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tadoru.clock import Clock
from tadoru.cluster.tasks import WorkerTasks
from tadoru.cluster.worker import BackgroundTask
from tadoru.config.options import EventsOptions
from tadoru.errors import StoreError
from tadoru.jobs.events.collect.worker_pool import WorkerPool
from tadoru.log import Log
from tadoru.store.calendar.store import open_calendar
from tadoru.store.files import beside, open_files

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
