"""A crawl that somebody else runs: the service. One door to the jobs `audit`, `links` and `docs`, with what a run came to.

Who asked for it was not at this machine. So no private host is let through because it was named, nothing of the operator's
configuration that holds credentials goes along, and one process does the work: the service runs several crawls beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions, CrawlOptions, DocsOptions, LinksOptions
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.notifications import Notify
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.audit import run as audit_job
from tadoru.jobs.audit.trend import audit_changes, audit_figures
from tadoru.jobs.crawl_setup import StartFailure
from tadoru.jobs.docs import run as docs_job
from tadoru.jobs.launch import run_loop
from tadoru.jobs.links import run as links_job
from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.result_reader import stored_edges
from tadoru.jobs.regressions import regression, regression_changes
from tadoru.jobs.reporting.formatting import format_count
from tadoru.jobs.reporting.output import open_output
from tadoru.model.web import FailureKind
from tadoru.rules.address import Exemptions
from tadoru.store.crawl.open import open_store

OPTIONS_BY_JOB: dict[str, type[CrawlOptions]] = {"audit": AuditOptions, "links": LinksOptions, "docs": DocsOptions}
OPERATOR_SETTINGS = frozenset({
    "user_agent", "proxy", "insecure", "delay", "concurrency", "timeout", "max_response_size", "trap_limit", "strip_tracking",
    "strip_sessions", "resources", "threshold", "no_plugins", "render", "tokenizer", "spa_wait",
})  # fmt: skip
"""What an operator's configuration sets for crawls of the service. Starts, files and credentials are not among them."""
MAX_REMOVED_SHARE = 0.2
"""The share of a documentation site's pages that may go at once before it is a regression; a handful always may."""
MAX_REMOVED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTask:
    """What is to be crawled."""

    job: str
    starts: tuple[str, ...]
    options: CrawlOptions
    path: Path
    """The crawl's database, or the folder of a documentation site."""
    again: bool = False
    """Ask for everything again; otherwise go on with what is there."""
    allowed: Exemptions = Exemptions()
    """The private addresses that may be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlHooks:
    """Who is told what while it runs."""

    notify: Notify
    watch: launch.ProgressCallback
    steer: Callable[[Crawler], None]
    """Handed the crawl before it starts, to be able to stop it."""
    begun: Callable[[], None]
    """Called when everything is set up: from here on it can be gone on with."""
    is_stopped: Callable[[], bool]
    """Whether it was stopped before there was anything to steer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run came to."""

    is_over: bool
    """False when it was interrupted: there is more to do."""
    error: str = ""
    """Why nothing was crawled, in a sentence."""
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)


def options_for(job: str, operators: Mapping[str, Any], chosen: Mapping[str, Any]) -> CrawlOptions:
    """The options of a job: its defaults, the operator's, and what was chosen. Values come from JSON."""
    kept = {name: value for name, value in operators.items() if name in OPERATOR_SETTINGS} | dict(chosen)
    known = OPTIONS_BY_JOB[job].__dataclass_fields__
    values: dict[str, Any] = {name: _tuples(value) for name, value in kept.items() if name in known}
    return replace(OPTIONS_BY_JOB[job](**values), processes=1)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def run_crawl_task(order: CrawlTask, hooks: CrawlHooks) -> RunResult:
    """Crawl, and analyse or write what was found. Not for use inside an event loop. Raises TadoruError."""
    match order.options:
        case AuditOptions():
            return _audit(order, order.options, hooks)
        case LinksOptions():
            return _links(order, order.options, hooks)
        case DocsOptions():
            return _docs(order, order.options, hooks)
    raise UsageError(f"There is no job “{order.job}”.")


def _crawl(plan: launch.CrawlPlan, hooks: CrawlHooks) -> CrawlOutcome:
    hooks.begun()
    if hooks.is_stopped():
        return CrawlOutcome(stopped=True)
    return run_loop(launch.crawl(plan, hooks.notify, watch=hooks.watch, steer=hooks.steer))


def _config(order: CrawlTask) -> dict[str, Any]:
    """What the crawl's own database keeps of the options: never the operator's proxy, which may hold a password."""
    kept = {name: getattr(order.options, name) for name in type(order.options).__dataclass_fields__}
    return kept | {"proxy": "***" if order.options.proxy else None}


def _is_interrupted(ended: CrawlOutcome) -> bool:
    return ended.stopped and not ended.out_of_time


def _start_error(state: StartFailure | None) -> str:
    if state is None:
        return ""
    if state.status == "error":
        if state.error_type == FailureKind.BLOCKED_ADDRESS:
            return f"{state.url} is not crawled from here: {state.reason.rstrip('.')}."
        return f"{state.url} could not be reached ({(state.error_type or 'no answer').replace('_', ' ')})."
    return f"Nothing could be crawled from {state.url}: {state.reason}."


def _audit(order: CrawlTask, options: AuditOptions, hooks: CrawlHooks) -> RunResult:
    clock = SystemClock()
    order.path.parent.mkdir(parents=True, exist_ok=True)
    options = replace(options, database=str(order.path), recrawl=order.again)
    prepared = run_loop(audit_job.prepare(options, order.starts, _config(order), order.allowed))
    began = clock.monotonic()
    nothing = CrawlOutcome(stopped=False, limit_reached=True)
    ended = nothing if prepared.nothing_to_do else _crawl(prepared.plan, hooks)
    is_analysed = run_loop(audit_job.finish(options, prepared, ended, clock.monotonic() - began))
    if _is_interrupted(ended):
        return RunResult(is_over=False)
    if error := _start_error(run_loop(audit_job.read_start_state(prepared))):
        return RunResult(is_over=True, error=error)
    notes = (f"Nothing was crawled: {prepared.nothing_to_do.replace('--limit', 'the limit').partition(', or')[0]}.",)
    if not is_analysed:
        return RunResult(is_over=True, notes=("Another process is still crawling into the same database.",))
    return RunResult(
        is_over=True,
        notes=notes if prepared.nothing_to_do else (),
        figures=run_loop(audit_figures(options.database, clock)),
        changes=run_loop(audit_changes(options.database, clock)),
    )


def _links(order: CrawlTask, options: LinksOptions, hooks: CrawlHooks) -> RunResult:
    clock = SystemClock()
    order.path.parent.mkdir(parents=True, exist_ok=True)
    if order.again and order.path.is_file() and run_loop(_is_done(order.path, options.limit)):
        _set_aside(order.path)
    prepared = run_loop(links_job.prepare(options, order.starts, str(order.path), durable=True, allowed=order.allowed))
    began = clock.monotonic()
    ended = _crawl(prepared.plan, hooks)
    if _is_interrupted(ended):
        return RunResult(is_over=False)
    stopped = (
        "time limit" if ended.out_of_time else f"limit of {format_count(options.limit, 'page')}" if ended.limit_reached else None
    )
    result = run_loop(links_job.read_result(options, prepared, duration=clock.monotonic() - began, stopped=stopped))
    if error := _start_error(run_loop(links_job.read_start_state(prepared))):
        return RunResult(is_over=True, error=error)
    report = LinksReport(
        result=result, edges=lambda: stored_edges(str(order.path)), broken=result.bad_links, show_external=True, checked=True
    )
    with open_output(str(order.path.with_name("result.json"))) as out:
        write_links_report(report, "json", out)
    kinds = [one.kind for one in result.bad_links]
    figures = {"pages": result.total_processed, "errors": len(result.failed_urls), "broken_links": len(kinds)}
    return RunResult(is_over=True, figures=figures | {f"broken.{kind}": kinds.count(kind) for kind in set(kinds)})


async def _is_done(path: Path, limit: int) -> bool:
    """Whether a crawl of links has nothing left to ask for."""
    store = open_store(str(path), SystemClock())
    try:
        counts = await store.counts()
        return not counts.queued + counts.processing or 0 < limit <= counts.counted
    finally:
        await store.close()


def _set_aside(path: Path) -> None:
    """A crawl of links begins anew in a file of its own; the last one is kept beside it until then."""
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").replace(f"{path.with_suffix('')}.before.db{ending}")


def _docs(order: CrawlTask, options: DocsOptions, hooks: CrawlHooks) -> RunResult:
    was = (order.path / "index.json").exists()
    options = replace(options, output=str(order.path), diff=was)
    order.path.parent.mkdir(parents=True, exist_ok=True)
    prepared = run_loop(docs_job.prepare(options, order.starts[0], _config(order), order.allowed))
    ended = _crawl(prepared.plan, hooks)
    finished = run_loop(docs_job.finish(options, prepared, ended))
    if _is_interrupted(ended):
        return RunResult(is_over=False)
    written = finished.written
    if written is None:
        return RunResult(
            is_over=True, error=_start_error(finished.start) or "Another process is still crawling into the same folder."
        )
    changes = written.changes
    figures = {
        "pages": written.pages, "tokens": written.tokens, "specs": written.specs,
        "added": len(changes.added), "changed": len(changes.changed), "removed": len(changes.removed),
    }  # fmt: skip
    notes = (finished.missing,) if finished.missing else ()
    return RunResult(is_over=True, notes=notes, figures=figures, changes=docs_changes(figures) if was else {})


def docs_changes(figures: Mapping[str, int]) -> dict[str, Any]:
    """Whether so many pages of a documentation site are gone that somebody should know."""
    gone = figures["removed"]
    is_worse = gone > max(MAX_REMOVED, MAX_REMOVED_SHARE * (figures["pages"] + gone))
    reasons = [regression("pages_gone", gone=gone, pages=figures["pages"] + gone)] if is_worse else []
    return regression_changes(reasons) | {name: figures[name] for name in ("added", "changed", "removed")}


def links_changes(figures: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Whether more links are broken than in the run before."""
    was, now = int(before.get("broken_links", 0)), int(figures.get("broken_links", 0))
    reasons = [regression("broken_links", count=now, before=was)] if now > was else []
    return regression_changes(reasons) | {"new": max(0, now - was), "fixed": max(0, was - now)}
