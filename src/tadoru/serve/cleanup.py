"""What the service does now and then by itself: it takes away what is over (`store.accounts.users`).

Each process of a service does it; whoever comes second finds nothing to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from starlette.concurrency import run_in_threadpool

from tadoru.errors import TadoruError
from tadoru.serve.service import Service

CLEANUP_INTERVAL = 6 * 3600.0
"""Seconds between two times."""


def clean_up(service: Service) -> None:
    """Once. That it fails is told, and tried again the next time."""
    days = service.options.audit_days
    try:
        pruned = service.store.prune_access(timedelta(days=days) if days else None)
    except TadoruError as error:
        service.log.write("warning", "What is over could not be taken away", why=str(error))
        return
    if pruned.lines or pruned.sessions or pruned.links:
        service.log.write("info", "tidied", lines=pruned.lines, sessions=pruned.sessions, links=pruned.links)


@asynccontextmanager
async def periodic_cleanup(service: Service, period: float = CLEANUP_INTERVAL) -> AsyncIterator[None]:
    """While the service runs."""
    ended = asyncio.Event()

    async def now_and_then() -> None:
        while not ended.is_set():
            await run_in_threadpool(clean_up, service)
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), period)

    task = asyncio.create_task(now_and_then())
    try:
        yield
    finally:
        ended.set()
        await task
