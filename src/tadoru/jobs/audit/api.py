"""The Python API: `tadoru.audit(url, …) -> AuditResult`, and its twin for a running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tadoru.clock import SystemClock
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.audit.run import finish, prepare
from tadoru.jobs.crawl_setup import parse_options
from tadoru.model.finding import Check, Finding
from tadoru.options import AuditOptions
from tadoru.store.crawl.open import open_existing


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """An audited crawl. Everything is in its database; this reads the most asked for."""

    database: str
    score: float | None
    """Health from 0 to 100; None when the crawl was stopped before it could be judged."""
    pages: int
    """Pages that answered, or failed to."""
    stopped: bool
    """Whether the crawl ended before its work was done: by its time limit, say."""

    def checks(self) -> list[Check]:
        """The catalogue that the crawl was judged by."""
        store = open_existing(self.database, SystemClock())
        return [stored.check for stored in store.stored_checks()]

    def findings(self, *, severity: str | None = None, check: str | None = None) -> Iterator[Finding]:
        """What was found, read from the database as it is asked for."""
        store = open_existing(self.database, SystemClock())
        wanted = {
            stored.number: stored.check.id
            for stored in store.stored_checks()
            if severity in (None, stored.check.severity) and check in (None, stored.check.id)
        }
        for row in store.found(list(wanted)):
            yield Finding(wanted[row.check_number], row.url, row.detail, row.data)


def audit(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """Audit a site into a database. Options are those of `tadoru audit` (`database="site.db", limit=500, …`).

    Without a URL it goes on with the crawl in the database. What a site does wrong is in the result; a
    `tadoru.errors.UsageError` means that the call itself was wrong.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(audit_async(url, notify=notify, **options))
    raise UsageError("audit() was called where an event loop is running: await audit_async() there.")


async def audit_async(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """The same, awaited. Cancelling it stops the crawl; calling it again goes on with it."""
    chosen = parse_options("audit", AuditOptions, options)
    clock = SystemClock()
    prepared = await prepare(chosen, [url] if url is not None else chosen.seed_urls, options)
    began = clock.monotonic()
    ended = await launch.crawl(prepared.plan, notify or _silent)
    await finish(chosen, prepared, ended, clock.monotonic() - began)
    store = open_existing(chosen.database, clock)
    try:
        score, counts = await store.get_meta("score"), await store.counts()
    finally:
        await store.close()
    return AuditResult(
        database=chosen.database,
        score=float(score) if score else None,
        pages=counts.counted,
        stopped=ended.stopped,
    )


def _silent(notice: CrawlNotification) -> None:
    """Nobody is watching."""
