"""Runs a crawl for the service: the jobs `audit`, `links` and `docs` with one interface, and the result of a run.

The crawl was not requested by a user of this machine. So no private host is exempt because it is a start URL, credentials in the
configuration of the operator are not used, and one process does the work, because the service runs several crawls at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import CRAWL_JOBS, OPERATOR_SETTINGS, AuditOptions, CrawlOptions, DocsOptions, LinksOptions
from tadoru.config.resolve import shown_values
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.notifications import Notify
from tadoru.errors import Message, UsageError, quoted
from tadoru.i18n.stored_texts import failure_name, regression, regression_changes, skip_reason
from tadoru.jobs import launch
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.jobs.audit.trend import audit_changes, audit_figures
from tadoru.jobs.crawl_setup import FinishedCrawl, Result, SiteCrawl, StartFailure
from tadoru.jobs.docs.run import DocsCrawl
from tadoru.jobs.launch import run_loop
from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.result_reader import stored_edges
from tadoru.jobs.links.run import LinksCrawl
from tadoru.jobs.reporting.output import open_output
from tadoru.model.web import FailureKind
from tadoru.rules.address import Exemptions
from tadoru.store.crawl.open import open_store

MAX_REMOVED_SHARE = 0.2
"""The share of removed pages of a documentation site above which a run is a regression; up to `MAX_REMOVED` never are."""
MAX_REMOVED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTask:
    """A crawl of the service."""

    job: str
    starts: tuple[str, ...]
    options: CrawlOptions
    path: Path
    """The database of the crawl, or the folder of a documentation site."""
    again: bool = False
    """Crawl everything again; otherwise resume."""
    allowed: Exemptions = Exemptions()
    """The private hosts that may be crawled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlHooks:
    """Functions that are called during the run."""

    notify: Notify
    watch: launch.ProgressCallback
    on_created: Callable[[Crawler], None]
    """Called with the crawler before it starts, to be able to stop it."""
    on_prepared: Callable[[], None]
    """Called when everything is prepared: from here on the crawl can be resumed."""
    is_stopped: Callable[[], bool]
    """Whether it was stopped before the crawler was created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run."""

    is_over: bool
    """False when it was interrupted and can be resumed."""
    error: Message | None = None
    """Why nothing was crawled."""
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)


def options_for(job: str, operators: Mapping[str, Any], given: Mapping[str, Any]) -> CrawlOptions:
    """The options of a job: its defaults, those of the operator, and those of the crawl. Values come from JSON."""
    kept = {name: value for name, value in operators.items() if name in OPERATOR_SETTINGS} | dict(given)
    known = CRAWL_JOBS[job].__dataclass_fields__
    values: dict[str, Any] = {name: _tuples(value) for name, value in kept.items() if name in known}
    return replace(CRAWL_JOBS[job](**values), processes=1)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def run_crawl_task(task: CrawlTask, hooks: CrawlHooks) -> RunResult:
    """Crawl, and analyse or write the results. Not for use inside an event loop. Raises TadoruError."""
    task.path.parent.mkdir(parents=True, exist_ok=True)
    match task.options:
        case AuditOptions():
            return _audit(task, task.options, hooks)
        case LinksOptions():
            return _links(task, task.options, hooks)
        case DocsOptions():
            return _docs(task, task.options, hooks)
    raise UsageError("There is no job {job}.", job=quoted(task.job))


def _run(crawl: SiteCrawl[Result], hooks: CrawlHooks) -> FinishedCrawl[Result]:
    def run(plan: launch.CrawlPlan) -> CrawlOutcome:
        hooks.on_prepared()
        if hooks.is_stopped():
            return CrawlOutcome(stopped=True)
        return run_loop(launch.crawl(plan, hooks.notify, watch=hooks.watch, on_created=hooks.on_created))

    return crawl.run_with(run)


def _start_error(failure: StartFailure | None) -> Message | None:
    if failure is None:
        return None
    if failure.status == "error":
        if failure.error_type == FailureKind.BLOCKED_ADDRESS:
            return Message(
                "{url} cannot be crawled from here: {reason}. The operator can allow it with --crawl-private HOST:PORT.",
                url=failure.url,
                reason=failure.reason.rstrip("."),
            )
        reason = failure_name(failure.error_type) if failure.error_type else Message("no response")
        return Message("{url} could not be reached ({reason}).", url=failure.url, reason=reason)
    return Message("Nothing could be crawled from {url}: {reason}.", url=failure.url, reason=skip_reason(failure.reason))


def _audit(task: CrawlTask, options: AuditOptions, hooks: CrawlHooks) -> RunResult:
    options = replace(options, database=str(task.path), recrawl=task.again)
    finished = _run(AuditCrawl(options, task.starts, shown_values(task.options, task.job), task.allowed), hooks)
    if finished.is_interrupted:
        return RunResult(is_over=False)
    if error := _start_error(finished.start):
        return RunResult(is_over=True, error=error)
    if not finished.is_complete:
        return RunResult(is_over=True, notes=(Message("Another process is still crawling into the same database."),))
    nothing = finished.prepared.nothing_to_do
    reason = nothing.replace("--limit", "the limit").partition(", or")[0]
    clock = SystemClock()
    return RunResult(
        is_over=True,
        notes=(Message("Nothing was crawled: {reason}.", reason=reason),) if nothing else (),
        figures=run_loop(audit_figures(options.database, clock)),
        changes=run_loop(audit_changes(options.database, clock)),
    )


def _links(task: CrawlTask, options: LinksOptions, hooks: CrawlHooks) -> RunResult:
    if task.again and task.path.is_file() and run_loop(_is_done(task.path, options.limit)):
        _set_aside(task.path)
    finished = _run(LinksCrawl(options, task.starts, str(task.path), allowed=task.allowed), hooks)
    if finished.is_interrupted:
        return RunResult(is_over=False)
    if error := _start_error(finished.start):
        return RunResult(is_over=True, error=error)
    result = finished.result
    report = LinksReport(
        result=result, edges=lambda: stored_edges(str(task.path)), broken=result.bad_links, show_external=True, checked=True
    )
    with open_output(str(task.path.with_name("result.json"))) as out:
        write_links_report(report, "json", out)
    kinds = [one.kind for one in result.bad_links]
    figures = {"pages": result.total_processed, "errors": len(result.failed_urls), "broken_links": len(kinds)}
    return RunResult(is_over=True, figures=figures | {f"broken.{kind}": kinds.count(kind) for kind in set(kinds)})


async def _is_done(path: Path, limit: int) -> bool:
    """Whether a crawl of links has nothing left to request."""
    store = open_store(str(path), SystemClock())
    try:
        counts = await store.frontier.counts()
        return not counts.queued + counts.processing or 0 < limit <= counts.counted
    finally:
        await store.close()


def _set_aside(path: Path) -> None:
    """Rename the database of the last crawl of links: a new crawl starts in a new file."""
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").replace(f"{path.with_suffix('')}.before.db{ending}")


def _docs(task: CrawlTask, options: DocsOptions, hooks: CrawlHooks) -> RunResult:
    has_previous = (task.path / "index.json").exists()
    options = replace(options, output=str(task.path), diff=has_previous)
    finished = _run(DocsCrawl(options, task.starts[0], shown_values(task.options, task.job), task.allowed), hooks)
    if finished.is_interrupted:
        return RunResult(is_over=False)
    written = finished.result.written
    if written is None:
        return RunResult(
            is_over=True, error=_start_error(finished.start) or Message("Another process is still crawling into the same folder.")
        )
    changes = written.changes
    figures = {
        "pages": written.pages, "tokens": written.tokens, "specs": written.specs,
        "added": len(changes.added), "changed": len(changes.changed), "removed": len(changes.removed),
    }  # fmt: skip
    notes = (finished.result.missing,) if finished.result.missing else ()
    return RunResult(is_over=True, notes=notes, figures=figures, changes=docs_changes(figures) if has_previous else {})


def docs_changes(figures: Mapping[str, int]) -> dict[str, Any]:
    """The changes of a documentation site, which are a regression if many pages were removed."""
    gone = figures["removed"]
    is_worse = gone > max(MAX_REMOVED, MAX_REMOVED_SHARE * (figures["pages"] + gone))
    reasons = [regression("pages_gone", gone=gone, pages=figures["pages"] + gone)] if is_worse else []
    return regression_changes(reasons) | {name: figures[name] for name in ("added", "changed", "removed")}


def links_changes(figures: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a crawl of links, which are a regression if more links are broken than before."""
    was, now = int(before.get("broken_links", 0)), int(figures.get("broken_links", 0))
    reasons = [regression("broken_links", count=now, before=was)] if now > was else []
    return regression_changes(reasons) | {"new": max(0, now - was), "fixed": max(0, was - now)}
