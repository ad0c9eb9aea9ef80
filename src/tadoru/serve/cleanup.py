"""Periodic removal of expired sessions, unused sign-in links and old audit log entries (`store.accounts.users`).

Each process of a service does it; the second one finds nothing to do.
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
"""Seconds between two cleanups."""


def clean_up(service: Service) -> None:
    """Clean up once. A failure is logged and retried the next time."""
    days = service.options.audit_days
    try:
        pruned = service.store.sessions.prune(timedelta(days=days) if days else None)
    except TadoruError as error:
        service.log.write("warning", "cleanup failed", why=str(error))
        return
    if pruned.lines or pruned.sessions or pruned.links:
        service.log.write("info", "tidied", lines=pruned.lines, sessions=pruned.sessions, links=pruned.links)


@asynccontextmanager
async def periodic_cleanup(service: Service, period: float = CLEANUP_INTERVAL) -> AsyncIterator[None]:
    """Clean up periodically while the service runs."""
    ended = asyncio.Event()

    async def repeat() -> None:
        while not ended.is_set():
            await run_in_threadpool(clean_up, service)
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), period)

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        ended.set()
        await task
