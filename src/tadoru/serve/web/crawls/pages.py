"""Crawls: which there are, how each stands, and what is done with them. What they found is read in `crawls_reading`; what may be
asked for is decided in `serve.crawl_runner`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.editing import changed_options
from tadoru.serve.web.crawls.overview import overview_charts
from tadoru.serve.web.crawls.view_models import (
    CRAWLS_URL,
    JOBS,
    Trend,
    crawl_context,
    crawl_or_404,
    crawl_row,
    crawl_run_row,
    figure,
    format_figure,
    format_regression,
    severity_labels,
    short_url,
    trend_lines,
    web_url,
)
from tadoru.serve.web.rendering import formatter_of, redirect_after, render
from tadoru.serve.web.request_input import parse_id
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl

router = APIRouter(include_in_schema=False)
A_PAGE = 50
MAX_LOG_LINES = 20
MAX_RUNS = 30
"""Runs of a crawl that are drawn and listed."""
_PROGRESS = ("pages", "queued", "known", "errors", "rate")
_AGAIN = {
    CrawlState.FINISHED: "crawl.again", CrawlState.PAUSED: "crawl.resume", CrawlState.STOPPED: "crawl.resume",
    CrawlState.FAILED: "crawl.retry",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrawlActions:
    """What may be asked of a crawl as it stands."""

    run: str
    """The key of the words of its button; empty when it can not be run."""
    pause: bool
    stop: bool
    remove: bool


@dataclass(frozen=True, slots=True)
class CrawlLogLine:
    """Something that a crawl said."""

    at: datetime
    level: str
    text: str


@router.get("/manage/crawls")
def crawls_page(request: Request) -> Response:
    """Every crawl, the newest first."""
    service, say = service_of(request), formatter_of(request).say
    asked = request.query_params.get("job", "")
    job = asked if asked in JOBS else ""
    found = service.store.crawls(job=job or None, limit=A_PAGE + 1, before=parse_id(request.query_params.get("before")))
    last = service.store.finished_runs([one.id for one in found])
    shown = [crawl_row(one, last.get(one.id)) for one in found[:A_PAGE]]
    more = f"{CRAWLS_URL}?before={found[A_PAGE - 1].id}" + (f"&job={job}" if job else "") if len(found) > A_PAGE else ""
    return render(
        request, "crawls.html", place=CRAWLS_URL, crawls=shown, job=job, next_url=more, short=short_url,
        jobs=[("", say("crawls.all")), *((one, say(f"crawl.job.{one}")) for one in JOBS)], severities=severity_labels(say),
    )  # fmt: skip


@router.get("/manage/crawls/{crawl_id}")
def crawl_page(request: Request, crawl_id: int) -> Response:
    """One crawl: how it stands, what it found in figures, and what its runs were like."""
    return _shown(request, crawl_or_404(request, crawl_id))


def _shown(request: Request, crawl: ServedCrawl, *, problem: str = "", status: int = 200) -> Response:
    service, telling = service_of(request), formatter_of(request)
    runs = service.store.crawl_runs(crawl.id, limit=MAX_RUNS)
    lines = trend_lines(runs)
    return render(
        request, "crawl.html", status=status, place=CRAWLS_URL, problem=problem, **crawl_context(crawl, telling.say), can=_actions(crawl),
        progress=_progress(crawl), notices=_notices(service, crawl), runs=[crawl_run_row(one) for one in runs], trends=lines,
        trend_rows=_rows(runs, lines), chosen=changed_options(crawl, telling), web=web_url, shown=format_figure, reason_in=format_regression,
        webhook_host=urlsplit(crawl.webhook).hostname or "",
        overview=overview_charts(service, crawl, telling),
    )  # fmt: skip


@router.post("/manage/crawls/{crawl_id}/run")
def run_crawl_page(request: Request, crawl_id: int) -> Response:
    """Ask for a run; one that was paused or stopped goes on."""
    return _control(request, crawl_id, control.run, "crawl_queued")


@router.post("/manage/crawls/{crawl_id}/pause")
def pause_crawl_page(request: Request, crawl_id: int) -> Response:
    """Ask for a pause."""
    return _control(request, crawl_id, control.pause, "crawl_pausing")


@router.post("/manage/crawls/{crawl_id}/stop")
def stop_crawl_page(request: Request, crawl_id: int) -> Response:
    """Ask for an end; what was found stays."""
    return _control(request, crawl_id, control.stop, "crawl_stopping")


@router.get("/manage/crawls/{crawl_id}/remove")
def confirm_removal_page(request: Request, crawl_id: int) -> Response:
    """Ask whether it is really to go."""
    return _confirm_removal(request, crawl_or_404(request, crawl_id))


@router.post("/manage/crawls/{crawl_id}/remove")
def remove_crawl_page(request: Request, crawl_id: int) -> Response:
    """Forget it, with everything it found."""
    crawl = crawl_or_404(request, crawl_id)
    try:
        control.remove(service_of(request), actor_of(request), crawl.id)
    except HttpProblem as error:
        return _confirm_removal(request, crawl, problem=error.detail, status=error.status_code)
    return redirect_after(CRAWLS_URL, "crawl_removed")


def _confirm_removal(request: Request, crawl: ServedCrawl, *, problem: str = "", status: int = 200) -> Response:
    say, base = formatter_of(request).say, f"{CRAWLS_URL}/{crawl.id}"
    return render(
        request, "crawl_sure.html", status=status, place=CRAWLS_URL, problem=problem, action=f"{base}/remove", back=base,
        heading=say("crawl.remove.title", name=crawl.name), words=say("crawl.remove.do"),
        sentence=say("crawl.remove.sure" if crawl.is_ours else "crawl.remove.elsewhere"),
    )  # fmt: skip


def _control(request: Request, crawl_id: int, what: Callable[..., ServedCrawl], done: str) -> Response:
    crawl = crawl_or_404(request, crawl_id)
    try:
        what(service_of(request), actor_of(request), crawl.id)
    except HttpProblem as error:
        return _shown(request, crawl_or_404(request, crawl_id), problem=error.detail, status=error.status_code)
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}", done)


def _actions(crawl: ServedCrawl) -> CrawlActions:
    state, ends = crawl.state, bool(crawl.wanted)
    return CrawlActions(
        run=_AGAIN.get(state, "") if crawl.starts else "",
        pause=crawl.is_busy and not ends,
        stop=(crawl.is_busy or state is CrawlState.PAUSED) and crawl.wanted != "stop",
        remove=state is not CrawlState.RUNNING,
    )


def _progress(crawl: ServedCrawl) -> dict[str, Any]:
    values: dict[str, Any] = {name: int(figure(crawl.progress, name) or 0) for name in _PROGRESS}
    return values | {"rate": f"{figure(crawl.progress, 'rate') or 0.0:.1f}"}


def _notices(service: Service, crawl: ServedCrawl) -> list[CrawlLogLine]:
    """What the crawl said lately."""
    told = service.store.notices_about(f"crawl/{crawl.id}", limit=MAX_LOG_LINES)
    return [CrawlLogLine(one.at, str(one.body.get("level", "")), str(one.body.get("text", ""))) for one in told]


def _rows(runs: Sequence[CrawlRun], lines: Sequence[Trend]) -> list[tuple[datetime | None, list[float | None]]]:
    """The trends as a table, the newest run first."""
    finished = [one for one in runs if one.outcome == "finished"]
    return [(one.ended_at, [figure(one.figures, line.name) for line in lines]) for one in finished]
