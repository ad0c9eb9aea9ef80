"""The Python API: `tadoru.audit(url, …) -> AuditResult`, and `audit_async` for a running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.audit.run import finish, prepare
from tadoru.jobs.crawl_setup import parse_options
from tadoru.model.finding import Check, Finding
from tadoru.store.crawl.open import open_existing


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """An audited crawl. Everything is in its database; this class reads the main results."""

    database: str
    score: float | None
    """Health score from 0 to 100; None if the crawl was stopped before the analysis."""
    pages: int
    """Number of crawled pages."""
    stopped: bool
    """Whether the crawl ended early, for example by its time limit."""

    def checks(self) -> list[Check]:
        """The checks of the crawl."""
        store = open_existing(self.database, SystemClock())
        return [stored.check for stored in store.findings.stored_checks()]

    def findings(self, *, severity: str | None = None, check: str | None = None) -> Iterator[Finding]:
        """The findings, streamed from the database."""
        store = open_existing(self.database, SystemClock())
        wanted = {
            stored.number: stored.check.id
            for stored in store.findings.stored_checks()
            if severity in (None, stored.check.severity) and check in (None, stored.check.id)
        }
        for row in store.findings.found(list(wanted)):
            yield Finding(wanted[row.check_number], row.url, row.detail, row.data)


def audit(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """Audit a site into a database. Options are those of `tadoru audit` (`database="site.db", limit=500, …`).

    Without a URL it resumes the crawl in the database. Problems of the site are in the result; a
    `tadoru.errors.UsageError` means that the call is invalid.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(audit_async(url, notify=notify, **options))
    raise UsageError("audit() cannot run inside an event loop. Await audit_async() instead.")


async def audit_async(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """The same as a coroutine. Cancelling it stops the crawl; calling it again resumes it."""
    chosen = parse_options("audit", AuditOptions, options)
    clock = SystemClock()
    prepared = await prepare(chosen, [url] if url is not None else chosen.seed_urls, options)
    began = clock.monotonic()
    ended = await launch.crawl(prepared.plan, notify or _silent)
    await finish(chosen, prepared, ended, clock.monotonic() - began)
    store = open_existing(chosen.database, clock)
    try:
        score, counts = await store.meta.get("score"), await store.frontier.counts()
    finally:
        await store.close()
    return AuditResult(
        database=chosen.database,
        score=float(score) if score else None,
        pages=counts.counted,
        stopped=ended.stopped,
    )


def _silent(notice: CrawlNotification) -> None:
    """Discards notifications."""
