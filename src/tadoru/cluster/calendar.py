"""The calendar of the cluster's database: its sources are collected by the workers too, each by one of them."""

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
"""Seconds until a database that has no calendar, or one that cannot be used, is looked at again."""


def calendar_task(options: EventsOptions, clock: Clock, log: Log) -> BackgroundTask:
    """Collect what is due, as long as the worker works."""

    def say(stage: str, **fields: object) -> None:
        log.write("debug", stage, **fields)

    async def collect(desk: WorkerTasks, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                if desk.cluster.has_calendar():
                    await _collect(stop)
            except StoreError as error:
                # The crawls go on: that the database is gone they notice themselves.
                log.write("warning", str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL):
                    await stop.wait()

    async def _collect(stop: asyncio.Event) -> None:
        store = await asyncio.to_thread(open_calendar, options.database, clock)
        try:
            crew = WorkerPool(store, open_files(options.files or beside(options.database)), clock, options, say)
            async with crew.running():
                working = asyncio.create_task(crew.run_due(forever=True))
                asked = asyncio.create_task(stop.wait())
                await asyncio.wait([working, asked], return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
                crew.stop()
                await working
        finally:
            await asyncio.to_thread(store.close)

    return collect
