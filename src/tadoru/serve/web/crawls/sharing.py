"""The report of a crawl for others: as a page in the browser, and by a link for somebody without an account.

A link opens the summary, the comparison with the previous run and the report of the last finished run, and no other page. Its
key is in the query, which is not logged, and only the hash of it is stored.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.translation import translator
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.crawl_results.run_comparison import ComparisonResult, NothingToCompare
from tadoru.jobs.audit.report.messages import score_grade
from tadoru.serve.api.crawl_desk import SHARED_URL, shared_url
from tadoru.serve.api.responses import StreamResponse
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.results import open_tab
from tadoru.serve.web.crawls.view_models import CRAWLS_URL, crawl_context, figure_formatter, open_run, severity_labels
from tadoru.serve.web.rendering import Problem, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import SubmittedForm
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import ServedCrawl, SharedReport

router = APIRouter(include_in_schema=False)
DAYS = (7, 30, 90, 365)
MAX_LABEL_LENGTH = 80
MAX_SHOWN_CHECKS = 30
_PRIVATE = {"X-Robots-Tag": "noindex, nofollow", "Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}


@router.get("/manage/crawls/{crawl_id}/report")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/report")
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
        overview = crawl_results.read_overview(path)
        checks = [one for one in crawl_results.list_findings(path, lang=formatter.lang) if one.severity != "info"]
    except (crawl_results.CrawlNotReadable, StoreError):
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
            return crawl_results.compare_crawls(kept[finished[1].id], path, lang=lang)
        return crawl_results.compare_with_previous(path, lang=lang)
    except (NothingToCompare, crawl_results.CrawlNotReadable):
        return None


def _report(path: str, lang: str) -> Response:
    try:
        made = crawl_results.html_report(path, lang=lang)
    except (crawl_results.CrawlNotReadable, StoreError):
        raise HttpProblem(404, "There is no report yet: the crawl has not finished.") from None
    headers = _PRIVATE | {"Content-Security-Policy": crawl_results.report_policy(lang)}
    return StreamResponse(made.chunks, headers=headers, media_type=made.media_type)
