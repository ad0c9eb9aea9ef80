"""Pages of crawls: the list, one crawl with its overview in figures and charts, and its actions.

The results are in `results`, the forms in `editing`.

The report of a crawl can be opened by a link, for somebody without an account: the summary, the comparison with the previous run
and the report of the last finished run, and no other page. The key of a link is in the query, which is not logged, and only the
hash of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.translation import N_, Formatter, translator
from tadoru.jobs.audit.crawl_results import downloads, queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import CheckSummary, CrawlOverview, TimeFigures
from tadoru.jobs.audit.crawl_results.run_comparison import ComparisonResult, NothingToCompare
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    format_milliseconds,
    format_time_bound,
    response_class_name,
    score_grade,
    translate_name,
)
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.serve.api.crawl_desk import SHARED_URL, shared_url
from tadoru.serve.api.responses import StreamResponse
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.crawl_runner.crawl_tables import defined_segments, ignored_checks, named_segments
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.editing import changed_options
from tadoru.serve.web.crawls.results import crawl_tab, open_tab
from tadoru.serve.web.crawls.view_models import (
    CRAWLS_URL,
    JOB_LABELS,
    ChartBar,
    OpenedRun,
    Trend,
    bar_chart,
    crawl_context,
    crawl_or_404,
    crawl_row,
    crawl_run_row,
    figure,
    figure_formatter,
    open_run,
    severity_labels,
    short_url,
    trend_lines,
    web_url,
)
from tadoru.serve.web.rendering import Problem, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, parse_id
from tadoru.store.crawl.sqlite.store import CrawlNotReadable
from tadoru.store.served_crawls.live_messages import message_texts
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, SavedView, ServedCrawl, SharedReport

router = APIRouter(include_in_schema=False)
MAX_LOG_LINES = 20
MAX_LISTED_RUNS = 30
"""Runs of a crawl that are listed; all are charted."""
_CONTROLS: dict[str, tuple[Callable[..., ServedCrawl], str]] = {
    "run": (control.run, "crawl_queued"), "pause": (control.pause, "crawl_pausing"), "stop": (control.stop, "crawl_stopping"),
}  # fmt: skip
_PROGRESS = ("pages", "queued", "known", "errors", "rate")
_AGAIN = {
    CrawlState.FINISHED: N_("Run again"), CrawlState.PAUSED: N_("Resume"), CrawlState.STOPPED: N_("Run again"),
    CrawlState.FAILED: N_("Run again"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrawlActions:
    """What can be done with a crawl in its state."""

    run: str
    """The label of the button; empty if the crawl cannot be run."""
    pause: bool
    stop: bool
    remove: bool


@dataclass(frozen=True, slots=True)
class CrawlLogLine:
    """A line of the log of a crawl."""

    at: datetime
    level: str
    text: str


@router.get("/manage/crawls")
def crawls_page(request: Request) -> Response:
    """All crawls or those of one job, newest first."""
    service, formatter = service_of(request), formatter_of(request)
    _, job = formatter.gettext, request.query_params.get("job", "")
    job = job if job in JOB_LABELS else ""
    found = service.store.crawls.list(job=job or None, limit=PAGE_SIZE + 1, before=parse_id(request.query_params.get("before")))
    last = service.store.crawls.finished_runs([one.id for one in found])
    shown = [crawl_row(one, last.get(one.id)) for one in found[:PAGE_SIZE]]
    more = f"{CRAWLS_URL}?before={found[PAGE_SIZE - 1].id}" + (f"&job={job}" if job else "") if len(found) > PAGE_SIZE else ""
    return render(
        request, "crawls/list.html", place=CRAWLS_URL, crawls=shown, job=job, next_url=more, short_url=short_url,
        jobs=[("", _("All")), *((one, _(label)) for one, label in JOB_LABELS.items())], severities=severity_labels(formatter),
    )  # fmt: skip


@router.get("/manage/crawls/{crawl_id}")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}")
def crawl_page(request: Request, crawl_id: int) -> Response:
    """One crawl: state, figures, trends, runs and settings."""
    return _shown(request, crawl_id)


def _shown(request: Request, crawl_id: int, *, problem: Problem = "", status: int = 200) -> Response:
    service, formatter, opened = service_of(request), formatter_of(request), open_run(request, crawl_id)
    crawl, runs = opened.crawl, service.store.crawls.runs(crawl_id, limit=MAX_RUNS)
    lines, kept = trend_lines(runs), openable_runs(service, crawl, runs)
    return render(
        request, "crawls/detail.html", status=status, place=CRAWLS_URL, problem=problem, **crawl_context(opened, formatter),
        can=_actions(crawl), progress=_progress(crawl), notices=_notices(service, crawl), own=f"{CRAWLS_URL}/{crawl.id}",
        runs=[crawl_run_row(one, formatter, can_open=one.id in kept) for one in runs[:MAX_LISTED_RUNS]], trends=lines,
        trend_rows=_rows(runs, lines), is_chosen=opened.is_chosen, shown_run_id=opened.run.id if opened.run else 0,
        chosen=changed_options(crawl, formatter), web_url=web_url, webhook_host=urlsplit(crawl.webhook).hostname or "",
        overview=overview_charts(service, opened, formatter),
    )  # fmt: skip


@router.get("/manage/crawls/{crawl_id}/remove")
def confirm_removal_page(request: Request, crawl_id: int) -> Response:
    """The confirmation before a crawl is removed."""
    return _confirm_removal(request, crawl_or_404(request, crawl_id))


@router.post("/manage/crawls/{crawl_id}/remove")
def remove_crawl_page(request: Request, crawl_id: int) -> Response:
    """Remove a crawl and its results."""
    crawl = crawl_or_404(request, crawl_id)
    try:
        control.remove(service_of(request), actor_of(request), crawl.id)
    except HttpProblem as error:
        return _confirm_removal(request, crawl, problem=error, status=error.status_code)
    return redirect_after(CRAWLS_URL, "crawl_removed")


def _confirm_removal(request: Request, crawl: ServedCrawl, *, problem: Problem = "", status: int = 200) -> Response:
    _, base = formatter_of(request).gettext, f"{CRAWLS_URL}/{crawl.id}"
    if crawl.is_ours:
        sentence = _("This deletes all pages, findings, runs and files of the crawl. It cannot be undone.")
    else:
        sentence = _("This removes the crawl from the list. Its files were created elsewhere and are kept.")
    return render(
        request, "crawls/confirm_removal.html", status=status, place=CRAWLS_URL, problem=problem, action=f"{base}/remove",
        back=base, heading=_("Remove {name}?", name=crawl.name), label=_("Remove crawl"), sentence=sentence,
    )  # fmt: skip


@router.post("/manage/crawls/{crawl_id}/run")
@router.post("/manage/crawls/{crawl_id}/pause")
@router.post("/manage/crawls/{crawl_id}/stop")
def control_crawl_page(request: Request, crawl_id: int) -> Response:
    """Run, pause or stop a crawl, as the path says."""
    action, done = _CONTROLS[request.url.path.rpartition("/")[2]]
    crawl = crawl_or_404(request, crawl_id)
    try:
        action(service_of(request), actor_of(request), crawl.id)
    except HttpProblem as error:
        return _shown(request, crawl.id, problem=error, status=error.status_code)
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
    """The latest log lines of a crawl."""
    notices = service.store.messages.notices_about(f"crawl/{crawl.id}", limit=MAX_LOG_LINES)
    texts = (message_texts(one.body).get("text", str(one.body.get("text", ""))) for one in notices)
    return [CrawlLogLine(one.at, str(one.body.get("level", "")), text) for one, text in zip(notices, texts, strict=True)]


def _rows(runs: Sequence[CrawlRun], lines: Sequence[Trend]) -> list[tuple[datetime | None, list[float | None]]]:
    """The trends as a table, newest run first."""
    finished = [one for one in runs if one.outcome == "finished"]
    return [(one.ended_at, [figure(one.figures, line.name) for line in lines]) for one in finished]


MAX_SEGMENTS = 8
FIX_FIRST = 5
"""Checks that are listed as most urgent."""


_KINDS = {"2xx": "good", "3xx": "warn", "4xx": "bad", "5xx": "bad", "no answer": "bad"}
_FILTERS = {"no answer": "error", "waiting": "queued", "not requested": "skipped"}
"""Their names in the filter of the list of pages."""


@dataclass(frozen=True, slots=True)
class OverviewCharts:
    """The figures and charts of the overview."""

    overview: CrawlOverview
    grade: str
    tiles: tuple[tuple[str, int, str], ...]
    answers: tuple[ChartBar, ...]
    times: tuple[ChartBar, ...]
    percentiles: tuple[str, str, str] | None
    depths: tuple[ChartBar, ...]
    indexability: tuple[ChartBar, ...]
    first: tuple[CheckSummary, ...]
    segments: tuple[tuple[str, int, int, int], ...]
    """The segments, or else the largest folders: pages, broken pages, findings."""
    templates: tuple[tuple[str, str, int, int], ...]
    """The largest templates: the URL of a page, pages, findings."""
    defined: tuple[SavedView, ...]
    """The segments that somebody defined."""
    ignored: int
    """Checks with findings that are ignored; the score counts them."""


def overview_charts(service: Service, opened: OpenedRun, formatter: Formatter) -> OverviewCharts | None:
    """The overview of a run; None if there is nothing to read, or it cannot be read now."""
    crawl, path, has_segments = opened.crawl, opened.path, opened.crawl.job != "docs"
    ignored = ignored_checks(service.store.annotations.ignored(crawl.id))
    try:
        found = queries.read_overview(path)
        named = named_segments(service, crawl, path) if has_segments else ()
        checks = queries.list_findings(path, lang=formatter.lang) if found.severities else []
    except (CrawlNotReadable, StoreError):
        return None
    base, translate = opened.base, translator(formatter.lang)
    return OverviewCharts(
        overview=found,
        grade=score_grade(found.score, translate) if found.score is not None else "",
        tiles=_tiles(found, formatter, base, has_links=crawl.job != "docs"),
        answers=bar_chart(
            (
                response_class_name(name, translate),
                count,
                _KINDS.get(name, ""),
                f"{base}/pages?{urlencode({'answer': _FILTERS.get(name, name)})}",
            )
            for name, count in found.charts.classes.items()
            if count
        ),
        times=_times(found.charts.times),
        percentiles=_percentiles(found.charts.times),
        depths=depth_bars(found.charts.depths, base),
        indexability=bar_chart(
            (translate_name(INDEXABILITIES, one.reason, translate), one.pages, "good" if one.indexable else "", "")
            for one in found.indexability
        ),
        first=tuple(one for one in checks if one.severity in ("error", "warning") and one.id not in ignored)[:FIX_FIRST],
        segments=queries.list_segments(path, named=named)[: MAX_SEGMENTS if not named else None] if has_segments else (),
        templates=queries.list_templates(path)[:MAX_SEGMENTS] if crawl.job == "audit" else (),
        defined=defined_segments(service, crawl),
        ignored=sum(one.id in ignored for one in checks),
    )


def _tiles(found: CrawlOverview, formatter: Formatter, base: str, *, has_links: bool) -> tuple[tuple[str, int, str], ...]:
    _, severities = formatter.gettext, severity_labels(formatter)
    tiles = [(_("pages"), found.pages, f"{base}/pages")]
    if found.severities:
        tiles.append((_("indexable"), found.indexable, f"{base}/pages?indexable=yes"))
        tiles += [
            (severities[one.severity], one.findings, f"{base}/findings?severity={one.severity}") for one in found.severities[:3]
        ]
    elif has_links:
        broken = sum(found.charts.classes.get(name, 0) for name in ("4xx", "5xx", "no answer"))
        tiles.append((_("broken URLs"), broken, f"{base}/links?which=broken"))
    if found.waiting:
        tiles.append((_("not crawled yet"), found.waiting, f"{base}/pages?answer=queued"))
    if has_links:
        tiles.append((_("external URLs"), found.external, f"{base}/links?which=external"))
    return tuple(tiles)


def depth_bars(depths: Sequence[tuple[int, int]], base: str) -> tuple[ChartBar, ...]:
    """A bar for each depth with a link to its pages; if there are many, the last bar counts the rest."""
    shown = limit_columns([(str(depth), pages) for depth, pages in depths])
    return bar_chart((depth, pages, "good", f"{base}/pages?depth={depth}" if depth.isdecimal() else "") for depth, pages in shown)


def _times(times: TimeFigures) -> tuple[ChartBar, ...]:
    """Response times by class, each named by its upper bound, without empty classes at the end."""
    if not times.count:
        return ()
    names = [*(f"≤ {format_time_bound(bound)}" for bound in times.bounds), f"> {format_time_bound(times.bounds[-1])}"]
    classes = list(zip(names, times.classes, strict=True))
    while not classes[-1][1]:
        classes.pop()
    return bar_chart(
        (name, count, "good" if bound <= 1000 else "warn", "")
        for (name, count), bound in zip(classes, (*times.bounds, 10**9), strict=False)
    )


def _percentiles(times: TimeFigures) -> tuple[str, str, str] | None:
    if times.p50 is None or times.p90 is None or times.p99 is None:
        return None
    return format_milliseconds(times.p50), format_milliseconds(times.p90), format_milliseconds(times.p99)


DAYS = (7, 30, 90, 365)
MAX_LABEL_LENGTH = 80
MAX_SHOWN_CHECKS = 30
_PRIVATE = {"X-Robots-Tag": "noindex, nofollow", "Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}


@crawl_tab(router, "report")
def report_page(request: Request, crawl_id: int) -> Response:
    """The HTML report of an audit, as `tadoru report` writes it."""
    return _report(open_tab(request, crawl_id, "findings").path, formatter_of(request).lang)


@router.get("/manage/crawls/{crawl_id}/share")
def shares_page(request: Request, crawl_id: int) -> Response:
    """The links to the report of a crawl, and the form for another."""
    return _shares(request, crawl_id)


@router.post("/manage/crawls/{crawl_id}/share")
def share_page(request: Request, crawl_id: int) -> Response:
    """Create a link; it is shown once, on this page."""
    opened, form = open_tab(request, crawl_id, "findings"), SubmittedForm(request)
    label, days = " ".join(form.text("label").split())[:MAX_LABEL_LENGTH], form.text("days")
    if not label.isprintable() or days not in map(str, DAYS):
        raise HttpProblem(422, "Choose how long the link works.")
    service = service_of(request)
    try:
        token = service.store.annotations.share(opened.crawl.id, actor_of(request), label=label, days=int(days))
    except UsageError as error:
        return _shares(request, crawl_id, problem=error, status=422)
    return _shares(request, crawl_id, link=shared_url(request, token))


@router.post("/manage/crawls/{crawl_id}/share/{share_id}/revoke")
def revoke_share_page(request: Request, crawl_id: int, share_id: int) -> Response:
    """Revoke a link."""
    opened = open_tab(request, crawl_id, "findings")
    service_of(request).store.annotations.revoke_share(opened.crawl.id, share_id, actor_of(request))
    return redirect_after(f"{CRAWLS_URL}/{opened.crawl.id}/share", "share_revoked")


def _shares(request: Request, crawl_id: int, *, link: str = "", problem: Problem = "", status: int = 200) -> Response:
    opened, formatter, service = open_run(request, crawl_id), formatter_of(request), service_of(request)
    if opened.crawl.job != "audit":
        raise HttpProblem(404)
    now = service.store.db.now()
    return render(
        request, "crawls/shares.html", status=status, place=CRAWLS_URL, problem=problem,
        **crawl_context(opened, formatter, "exports"),
        link=link, shares=service.store.annotations.shares(opened.crawl.id), now=now, max_label=MAX_LABEL_LENGTH,
        days=[(str(one), formatter.ngettext("{count} day", "{count} days", one)) for one in DAYS],
    )  # fmt: skip


@router.get(SHARED_URL)
def shared_page(request: Request) -> Response:
    """What a link shows: summary, comparison with the previous run, and the findings."""
    shared, crawl = _opened(request)
    service, formatter = service_of(request), formatter_of(request)
    path, _ = shown_run(service, crawl).path, formatter.gettext
    try:
        overview = queries.read_overview(path)
        checks = [one for one in queries.list_findings(path, lang=formatter.lang) if one.severity != "info"]
    except (CrawlNotReadable, StoreError):
        raise HttpProblem(404) from None
    compared = compare_with_last(service, crawl, formatter.lang)
    context: dict[str, Any] = {
        "crawl": crawl, "shared": shared, "overview": overview, "checks": checks[:MAX_SHOWN_CHECKS], "compared": compared,
        "more_checks": max(0, len(checks) - MAX_SHOWN_CHECKS), "key": request.query_params.get("key", ""),
        "grade": score_grade(overview.score, translator(formatter.lang)) if overview.score is not None else "",
        "format_figure": figure_formatter(formatter), "severities": severity_labels(formatter),
        "fixed": sum(one.fixed for one in compared.checks) if compared else 0,
        "new": sum(one.new for one in compared.checks) if compared else 0,
    }  # fmt: skip
    response = render(request, "crawls/shared.html", **context)
    response.headers.update(_PRIVATE)
    return response


@router.get(f"{SHARED_URL}/report")
def shared_report_page(request: Request) -> Response:
    """The HTML report that a link leads to."""
    _, crawl = _opened(request)
    return _report(str(shown_run(service_of(request), crawl).path), formatter_of(request).lang)


def _opened(request: Request) -> tuple[SharedReport, ServedCrawl]:
    """The crawl that the key of a URL opens; 404 for any other key."""
    service, key = service_of(request), request.query_params.get("key", "")
    shared = service.store.annotations.open_share(key) if 20 <= len(key) <= 100 else None
    if shared is None:
        raise HttpProblem(404, "This link has expired or was revoked. Ask for another one.")
    try:
        return shared, service.store.crawls.get(shared.crawl_id)
    except CrawlNotFound:
        raise HttpProblem(404) from None


def compare_with_last(service: Service, crawl: ServedCrawl, lang: str) -> ComparisonResult | None:
    """The comparison of the last finished run with the one before; None if there is none."""
    runs = service.store.crawls.runs(crawl.id, limit=MAX_RUNS)
    kept = openable_runs(service, crawl, runs)
    finished = [run for run in runs if run.outcome == "finished" and run.id in kept]
    path = shown_run(service, crawl).path
    try:
        if len(finished) > 1 and kept[finished[1].id] != path:
            return run_comparison.compare_crawls(kept[finished[1].id], path, lang=lang)
        return run_comparison.compare_with_previous(path, lang=lang)
    except (NothingToCompare, CrawlNotReadable):
        return None


def _report(path: str, lang: str) -> Response:
    try:
        made = downloads.html_report(path, lang=lang)
    except (CrawlNotReadable, StoreError):
        raise HttpProblem(404, "There is no report yet: the crawl has not finished.") from None
    headers = _PRIVATE | {"Content-Security-Policy": downloads.report_policy(lang)}
    return StreamResponse(made.chunks, headers=headers, media_type=made.media_type)
