"""The results of a crawl: findings, pages and each page, links, site structure, comparison, and downloads.

They are read by `jobs.audit.crawl_results` and contain texts of other sites. Templates escape them; only the drawing of the site
is markup, made by `jobs.reporting`, which escapes what it draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.stored_texts import failure_name, translate_reason
from tadoru.i18n.translation import N_, Formatter, Translator, translator
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangeKind, PageChange
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES, describe_change
from tadoru.jobs.audit.crawl_results.models import CheckSummary, PageDetail, PageFinding
from tadoru.jobs.audit.crawl_results.run_comparison import ChangedPage, ComparisonResult, NothingToCompare
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    INDEXABILITIES,
    describe_evidence,
    describe_threshold,
    format_milliseconds,
    format_size,
    translate_name,
)
from tadoru.jobs.reporting.escape import clip, json_safe, printable, url_origin
from tadoru.model.finding import Severity, Threshold
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.view_models import (
    CRAWLS_URL,
    STATE_LABELS,
    OpenedRun,
    bar_chart,
    crawl_context,
    crawl_or_404,
    has_tab,
    open_run,
    severity_labels,
    web_url,
)
from tadoru.serve.web.rendering import formatter_of, redirect_after, render
from tadoru.serve.web.request_input import MAX_ID, PAGE_SIZE, SubmittedForm, parse_id
from tadoru.store.crawl.browse import AffectedPage
from tadoru.store.crawl.findings import FindingRow as StoredFinding
from tadoru.store.crawl.tables import LinkCause
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

router = APIRouter(include_in_schema=False)
MAX_OTHER_CRAWLS = 100
"""Crawls that can be chosen for a comparison."""
_EXPORT_LABELS = {
    "pages": N_("Pages"), "links": N_("Links"), "findings": N_("Findings"), "sitemap": N_("Sitemap (XML)"),
    "dot": N_("Graph (DOT)"),
}  # fmt: skip


def open_tab(request: Request, crawl_id: int, tab: str) -> OpenedRun:
    """The crawl with an id and the run to show; 404 if it has no such tab."""
    opened = open_run(request, crawl_id)
    if not has_tab(opened.crawl, tab):
        raise HttpProblem(404)
    return opened


def render_tab(
    request: Request, opened: OpenedRun, tab: str, template: str, read: Callable[[], dict[str, Any] | None]
) -> Response:
    """A tab of a crawl, or a page that explains why there is nothing to show. `read` returns the context, or None for 404."""
    formatter = formatter_of(request)
    crawl, _, shared = opened.crawl, formatter.gettext, crawl_context(opened, formatter, tab)
    try:
        content = read()
    except crawl_results.CrawlNotReadable:
        sentence = _("No data yet: the crawl has not started, or its files are missing.")
        return render(request, "crawls/empty.html", place=CRAWLS_URL, **shared, sentence=sentence)
    except crawl_results.UnknownCursor as error:
        raise HttpProblem(400, error) from None
    except StoreError as error:
        service_of(request).log.write("error", str(error), crawl=crawl.id)
        sentence = _("The files of this crawl cannot be read. Try again in a moment, or check the log of the service.")
        return render(request, "crawls/empty.html", status=503, place=CRAWLS_URL, **shared, sentence=sentence)
    if content is None:
        raise HttpProblem(404)
    return render(request, template, place=CRAWLS_URL, **shared, **content)


STATES = {"new": N_("New"), "open": N_("Open"), "ignored": N_("Ignored"), "fixed": N_("Fixed")}
LEVELS = {"high": N_("high"), "medium": N_("medium"), "low": N_("low")}
_RANKS = {name: rank for rank, name in enumerate(LEVELS)}
MAX_COMPARED_PAGES = 50_000
"""Pages up to which findings are compared with the previous run whenever they are listed."""
CAUSES = {"link-broken": True, "page-broken-linked": True, "link-external-broken": False, "link-to-redirect": True}
"""Checks whose findings have a target as their cause, and whether that is a page of the site."""
MAX_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check in the list of findings, with what is known about its change and its worth."""

    check: CheckSummary
    new: int
    fixed: int
    state: str
    reason: str
    """Why it is ignored."""
    effect: str
    effort: str
    priority: int = 0


def effect_and_effort(check: CheckSummary, pages: int) -> tuple[str, str]:
    """How much fixing a finding helps, by severity and share of the pages, and how much work it is: what is on nearly every page
    comes from one template, and a few places are quickly changed."""
    share = min(1.0, check.count / max(1, pages))
    if check.severity == "error":
        effect = "high" if share >= 0.02 or check.count >= 10 else "medium"
    elif check.severity == "warning":
        effect = "high" if share >= 0.5 else "medium" if share >= 0.05 or check.count >= 10 else "low"
    else:
        effect = "medium" if check.severity == "notice" and share >= 0.5 else "low"
    effort = "low" if check.count <= 5 or share >= 0.8 else "high" if check.count > 100 else "medium"
    return effect, effort


@router.get("/manage/crawls/{crawl_id}/findings")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/findings")
def findings_page(request: Request, crawl_id: int) -> Response:
    """The findings by check, those first that are worth most."""
    opened = open_tab(request, crawl_id, "findings")
    formatter, query = formatter_of(request), request.query_params
    severity, state = _one_of(query.get("severity", ""), set(Severity)), _one_of(query.get("state", ""), STATES)
    group, q = query.get("group", "")[:50], query.get("q", "").strip()[:200]
    segment = query.get("segment", "").strip()[:200]
    _, origin = formatter.gettext, url_origin(opened.crawl.starts[0]) if opened.crawl.starts else ""

    def read() -> dict[str, Any]:
        every = _finding_rows(request, opened, f"{origin}/{segment.lstrip('/')}" if segment else "", formatter)
        counts = {each.value: sum(one.check.count for one in every if one.check.severity == each) for each in Severity}
        groups = sorted({one.check.group for one in every})
        shown = [
            one for one in every
            if severity in ("", one.check.severity) and group in ("", one.check.group)
            and (one.state == state if state else one.state != "ignored")
            and q.casefold() in f"{one.check.title} {one.check.id}".casefold()
        ]  # fmt: skip
        segments = [name for name, *_ in crawl_results.list_segments(opened.path)[:30]]
        return {
            "rows": shown, "counts": counts, "severity": severity, "state": state, "q": q, "group_id": group, "segment": segment,
            "states": [("", _("All")), *((name, f"{_(label)} ({_count_state(every, name)})") for name, label in STATES.items())],
            "groups": [("", _("All")), *((one, _group_name(one, formatter)) for one in groups)],
            "segments": [("", _("All")), *((one, one) for one in segments)],
            "levels": {name: _(text) for name, text in LEVELS.items()},
            "state_names": {name: _(text) for name, text in STATES.items()},
            "group": lambda one: _group_name(one.group, formatter),
            "severity_choices": [("", _("All")), *((one.value, severity_labels(formatter)[one.value]) for one in Severity)],
        }  # fmt: skip

    return render_tab(request, opened, "findings", "crawls/findings.html", read)


def _group_name(group: str, formatter: Formatter) -> str:
    return translate_name(GROUPS, group, translator(formatter.lang))


def _count_state(rows: Sequence[CheckRow], state: str) -> int:
    return sum(one.state == state for one in rows)


def _one_of(text: str, known: Collection[str]) -> str:
    return text if text in known else ""


def _finding_rows(request: Request, opened: OpenedRun, segment: str, formatter: Formatter) -> list[CheckRow]:
    """Every check that has findings or had some in the previous run, by priority."""
    found = crawl_results.list_findings(opened.path, lang=formatter.lang, every=True)
    if segment:
        within = crawl_results.count_in_segment(opened.path, segment=segment)
        found = [replace(one, count=within.get(one.id, 0)) for one in found]
    pages = crawl_results.read_overview(opened.path).pages
    changes = {} if segment else _changes(request, opened, formatter.lang, pages)
    ignored = {
        one.check_id: one.reason for one in service_of(request).store.annotations.ignored(opened.crawl.id) if not one.subject
    }
    rows = []
    for check in found:
        new, fixed = changes.get(check.id, (0, 0))
        if not check.count and not fixed:
            continue
        state = "ignored" if check.id in ignored else "fixed" if not check.count else "new" if new >= check.count else "open"
        rows.append(CheckRow(check, new, fixed, state, ignored.get(check.id, ""), *effect_and_effort(check, pages)))
    severities = list(Severity)
    rows.sort(
        key=lambda one: (
            one.state in ("ignored", "fixed"), _RANKS[one.effect], -_RANKS[one.effort],
            severities.index(Severity(one.check.severity)), -one.check.count,
        )
    )  # fmt: skip
    return [replace(one, priority=number) for number, one in enumerate(rows, 1)]


def _changes(request: Request, opened: OpenedRun, lang: str, pages: int) -> dict[str, tuple[int, int]]:
    """New and fixed findings of each check since the previous run; empty without one, or if the site is too large."""
    runs = _compared_runs(request, opened, formatter_of(request))
    after = next((one for one in runs if opened.run is not None and one.key == f"run-{opened.run.id}"), None)
    previous = _previous(runs, after)
    if pages > MAX_COMPARED_PAGES:
        return {}
    try:
        if previous is not None:
            found = crawl_results.compare_crawls(previous.path, opened.path, lang=lang)
        else:
            found = crawl_results.compare_with_previous(opened.path, lang=lang)
    except NothingToCompare:
        return {}
    return {one.check: (one.new, one.fixed) for one in found.checks}


@router.get("/manage/crawls/{crawl_id}/findings/{check}")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/findings/{check}")
def check_page(request: Request, crawl_id: int, check: str) -> Response:
    """One check: why it matters, how to fix it, its causes, and the affected pages."""
    opened = open_tab(request, crawl_id, "findings")
    lang, cursor, path = formatter_of(request).lang, request.query_params.get("cursor", ""), opened.path

    def read() -> dict[str, Any] | None:
        known = crawl_results.list_findings(path, check=check, lang=lang, every=True)
        found = crawl_results.list_affected(path, check, limit=PAGE_SIZE, cursor=cursor or None) if known else None
        if found is None:
            return None
        rows = [(one, describe_evidence(_stored_finding(one), translator(lang))) for one in found[0]]
        here = f"{opened.base}/findings/{check}"
        ignored = [one for one in service_of(request).store.annotations.ignored(opened.crawl.id) if one.check_id == check]
        subjects = {one.subject for one in ignored if one.subject}
        causes: tuple[LinkCause, ...] = ()
        if check in CAUSES and not cursor:
            causes = crawl_results.link_causes(path, internal=CAUSES[check], broken=check != "link-to-redirect")
        return {
            "check": known[0], "limit": _limit(known[0], lang), "rows": [one for one in rows if one[0].url not in subjects],
            "web_url": web_url, "status_colour": status_colour, "causes": [one for one in causes if one.url not in subjects],
            "ignored": ignored, "own": f"{CRAWLS_URL}/{opened.crawl.id}", "is_ignored": any(not one.subject for one in ignored),
            "next_url": f"{here}?cursor={found[1]}" if found[1] else "", "first_url": here if cursor else "",
            "max_reason": MAX_REASON_LENGTH,
        }  # fmt: skip

    return render_tab(request, opened, "findings", "crawls/check.html", read)


def _stored_finding(one: AffectedPage) -> StoredFinding:
    return StoredFinding(0, one.page_id or 0, one.url, one.subject, one.detail, one.data, one.depth, one.status_code, one.title)


@router.post("/manage/crawls/{crawl_id}/findings/{check}/ignore")
def ignore_page(request: Request, crawl_id: int, check: str) -> Response:
    """Ignore a check or one of its subjects, for a reason."""
    crawl, form = crawl_or_404(request, crawl_id), SubmittedForm(request)
    reason = " ".join(form.text("reason").split())[:MAX_REASON_LENGTH]
    if not reason or len(check) > 100:
        raise HttpProblem(422, "Enter the reason why this finding is ignored.")
    try:
        service_of(request).store.annotations.ignore(
            crawl.id, actor_of(request), check_id=check, subject=form.text("subject")[:2000], reason=reason
        )
    except UsageError as error:
        raise HttpProblem(422, error) from None
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}/findings/{quote(check)}", "finding_ignored")


@router.post("/manage/crawls/{crawl_id}/findings/{check}/reopen")
def reopen_page(request: Request, crawl_id: int, check: str) -> Response:
    """No longer ignore a finding."""
    crawl, number = crawl_or_404(request, crawl_id), parse_id(SubmittedForm(request).text("id"))
    if number is not None:
        service_of(request).store.annotations.unignore(crawl.id, number, actor_of(request))
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}/findings/{quote(check)}", "finding_open")


def _limit(check: CheckSummary, lang: str) -> str:
    return describe_threshold(Threshold(check.threshold, check.unit), translator(lang)) if check.threshold is not None else ""


@router.get("/manage/crawls/{crawl_id}/pages/{page_id}")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/pages/{page_id}")
def page_page(request: Request, crawl_id: int, page_id: int) -> Response:
    """One page of a crawl in detail."""
    opened = open_tab(request, crawl_id, "pages")
    crawl, path = opened.crawl, opened.path
    if not 0 < page_id < MAX_ID:
        raise HttpProblem(404)
    formatter = formatter_of(request)

    def read() -> dict[str, Any] | None:
        found = crawl_results.read_page(path, page_id, lang=formatter.lang)
        return None if found is None else page_detail(found, formatter) | {"is_audit": crawl.job == "audit"}

    return render_tab(request, opened, "pages", "crawls/page.html", read)


@router.get("/manage/crawls/{crawl_id}/graph")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/graph")
def graph_page(request: Request, crawl_id: int) -> Response:
    """The structure of the site as a drawing and a list."""
    opened = open_tab(request, crawl_id, "graph")
    path = opened.path

    def read() -> dict[str, Any]:
        drawing = crawl_results.draw_site_graph(path, lang=formatter_of(request).lang)
        nodes = crawl_results.read_graph(path).nodes if drawing is not None else ()
        return {"picture": Markup(drawing.svg) if drawing is not None else "", "nodes": nodes, "status_colour": status_colour}  # noqa: S704

    return render_tab(request, opened, "graph", "crawls/graph.html", read)


_GOOD = frozenset({ChangeKind.FIXED, ChangeKind.INDEXED, ChangeKind.FASTER})
_TABLES = ("pages", "links", "findings")


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes of one kind."""

    label: str
    kind: str
    count: int
    items: tuple[tuple[ChangedPage, str], ...]
    """Each page with a description of its change."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What can be compared: a run of this crawl, or the last results of another."""

    key: str
    """`run-3` or `crawl-7`."""
    label: str
    path: str


@router.get("/manage/crawls/{crawl_id}/compare")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/compare")
def compare_page(request: Request, crawl_id: int) -> Response:
    """The comparison of any two runs, or with another crawl."""
    opened = open_tab(request, crawl_id, "compare")
    formatter, query = formatter_of(request), request.query_params
    runs, others = _compared_runs(request, opened, formatter), _compared_crawls(request, opened, formatter)
    sides = {one.key: one for one in (*runs, *others)}
    after = sides.get(query.get("to", "")) or sides.get(f"run-{opened.run.id if opened.run else 0}")
    before = sides.get(query.get("from", "")) or sides.get(f"crawl-{parse_id(query.get('with'))}")

    def read() -> dict[str, Any]:
        content: dict[str, Any] = {
            "runs": runs, "others": others, "before": before, "after": after, "groups": [], "sentence": "", "web_url": web_url,
            "compared": None,
        }  # fmt: skip
        previous = before or _previous(runs, after)
        path = after.path if after is not None else opened.path
        try:
            if previous is not None:
                found = crawl_results.compare_crawls(previous.path, path, lang=formatter.lang)
            else:
                found = crawl_results.compare_with_previous(path, lang=formatter.lang)
        except NothingToCompare:
            _ = formatter.gettext
            if previous is None:
                return content | {"sentence": _("Nothing to compare with: the crawl has run only once.")}
            return content | {"sentence": _("These runs cannot be compared: they are the same, or one of them has no data.")}
        return content | {"compared": found, "groups": _groups(found, translator(formatter.lang)), "before": previous}

    return render_tab(request, opened, "compare", "crawls/compare.html", read)


def _compared_runs(request: Request, opened: OpenedRun, formatter: Formatter) -> list[ComparedSide]:
    """The runs of the crawl whose results were kept, newest first."""
    service, crawl = service_of(request), opened.crawl
    runs = service.store.crawls.runs(crawl.id, limit=MAX_RUNS)
    kept = openable_runs(service, crawl, runs)
    return [
        ComparedSide(
            f"run-{run.id}",
            f"{formatter.timestamp(run.started_at)} · {formatter.gettext(STATE_LABELS[CrawlState(run.outcome or 'running')])}",
            str(kept[run.id]),
        )
        for run in runs
        if run.id in kept
    ]


def _compared_crawls(request: Request, opened: OpenedRun, formatter: Formatter) -> list[ComparedSide]:
    service = service_of(request)
    return [
        ComparedSide(
            f"crawl-{one.id}",
            f"{one.name} · {formatter.timestamp(one.started_at or one.created_at)}",
            str(shown_run(service, one).path),
        )
        for one in _others(service, opened.crawl)
    ]


def _previous(runs: Sequence[ComparedSide], after: ComparedSide | None) -> ComparedSide | None:
    """The run before another that has results of its own; None if there is none."""
    place = next((number for number, one in enumerate(runs) if after is not None and one.key == after.key), None)
    return None if place is None or after is None else next((one for one in runs[place + 1 :] if one.path != after.path), None)


def _others(service: Service, crawl: ServedCrawl) -> Sequence[ServedCrawl]:
    """Other crawls of the same job that have run here, or were imported."""
    found = service.store.crawls.list(job=crawl.job, limit=MAX_OTHER_CRAWLS + 1)
    return [one for one in found if one.id != crawl.id and (one.started_at or not one.is_ours)][:MAX_OTHER_CRAWLS]


def _groups(found: ComparisonResult, _: Translator) -> list[ChangeGroup]:
    groups = []
    for name, count in found.totals.items():
        kind = ChangeKind(name)
        if kind in FINDING_CHANGES:
            continue
        colour = "bad" if kind in REGRESSIONS else "good" if kind in _GOOD else ""
        items = tuple(
            (one, describe_change(PageChange(kind, one.url, one.before, one.after), _)) for one in found.changes.get(name, ())
        )
        groups.append(ChangeGroup(_(CHANGE_NAMES[kind]), colour, count, items))
    return groups


@router.get("/manage/crawls/{crawl_id}/exports")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/exports")
def exports_page(request: Request, crawl_id: int) -> Response:
    """Links to the downloads of the API."""
    opened = open_tab(request, crawl_id, "exports")
    crawl, _path = opened.crawl, opened.path
    base, _ = f"/api/v1/crawls/{crawl.id}/export", formatter_of(request).gettext
    of_run = f"&run={opened.run.id}" if opened.is_chosen and opened.run else ""

    def read() -> dict[str, Any]:
        tables = [one for one in _TABLES if crawl.job == "audit" or one != "findings"]
        formats = crawl_results.available_formats()
        of_tables = [name for name, form in formats.items() if form.of_tables]
        whole = [name for name, form in formats.items() if not form.of_tables]
        rows = [
            (_(_EXPORT_LABELS[one]), [(name, f"{base}?format={name}&table={one}{of_run}") for name in of_tables])
            for one in tables
        ]
        return {
            "has_report": crawl.job == "audit",
            "rows": rows,
            "whole": [(_(_EXPORT_LABELS[name]), f"{base}?format={name}{of_run}") for name in whole],
        }

    return render_tab(request, opened, "exports", "crawls/exports.html", read)


MAX_JSON_LENGTH = 4000
_NUMBERS = {
    "word_count": N_("Word count"),
    "unique_inlinks": N_("Linking pages"),
    "outlinks": N_("Outlinks"),
    "external_outlinks": N_("External links"),
    "retry_count": N_("Retries"),
}
_TEXTS = {
    "meta_description": N_("Meta description"),
    "h1": N_("First heading"),
    "meta_robots": N_("Meta robots"),
    "x_robots_tag": N_("X-Robots-Tag"),
    "canonical_url": N_("Canonical"),
    "canonical_http": N_("Canonical (header)"),
    "language": N_("Language"),
    "charset": N_("Character set"),
    "http_version": N_("HTTP version"),
    "server": N_("Server"),
    "content_encoding": N_("Compression"),
    "etag": N_("ETag"),
    "next_url": N_("Next page"),
    "prev_url": N_("Previous page"),
    "cluster_url": N_("Near-duplicate of"),
}
_STEPS = {
    "dns_ms": N_("DNS lookup"), "connect_ms": N_("Connection"), "tls_ms": N_("TLS"), "ttfb_ms": N_("Time to first byte"),
    "download_time_ms": N_("Download"),
}  # fmt: skip


def page_detail(page: PageDetail, formatter: Formatter) -> dict[str, Any]:
    """The context of the template."""
    return {
        "page": page.summary, "facts": list(_facts(page, formatter)), "steps": _steps(page.facts, formatter),
        "headings": page.headings, "hops": page.redirects, "headers": page.headers, "hreflang": page.hreflang,
        "status_colour": status_colour, "web_url": web_url, "format_step": _format_step, "format_size": format_size,
        "format_milliseconds": format_milliseconds,
        "found": [(one, _evidence(one, page, formatter.lang))  for one in sorted(page.findings, key=_severity_rank)],
        "items": [(one.syntax, one.type, _json(one.properties)) for one in page.structured_data],
        "extracted": [(name, value if isinstance(value, str) else _json(value)) for name, value in page.extracted.items()],
        "inlinks": page.inlinks, "outlinks": page.outlinks,
    }  # fmt: skip


def _severity_rank(one: PageFinding) -> int:
    return list(Severity).index(Severity(one.check.severity))


def status_colour(status: str, code: int | None) -> str:
    """The colour of a status code."""
    if status == "error":
        return "bad"
    if code is None:
        return ""
    return "good" if code < 300 else "warn" if code < 400 else "bad"


def _facts(page: PageDetail, formatter: Formatter) -> Iterator[tuple[str, str, str]]:
    """The details that are known: label, value, and the URL of a link."""
    _, one, facts = formatter.gettext, page.summary, page.facts
    if one.title:
        yield _("Title"), printable(one.title), ""
    if one.redirect_url:
        yield _("Redirects to"), one.redirect_url, web_url(one.redirect_url)
    if one.skip_reason:
        yield _("Skipped because"), printable(translate_reason(one.skip_reason, formatter.translator)), ""
    if one.error_type or one.error_message:
        kind = formatter.translator.text(failure_name(one.error_type)) if one.error_type else ""
        yield _("Error"), printable(" · ".join(part for part in (kind, one.error_message) if part)), ""
    if one.indexability:
        yield _("Indexability"), translate_name(INDEXABILITIES, one.indexability, translator(formatter.lang)), ""
    yield _("Depth"), str(one.depth) if one.depth is not None else _("no inlinks"), ""
    if one.content_type:
        yield _("Content type"), printable(one.content_type), ""
    if one.size is not None:
        yield _("Size"), format_size(one.size), ""
    for name, label in _NUMBERS.items():
        if facts.get(name):
            yield _(label), formatter.number(int(facts[name])), ""
    if one.link_score is not None:
        yield _("Link score"), f"{one.link_score:.0f}", ""
    for name, label in _TEXTS.items():
        if value := facts.get(name):
            yield _(label), printable(str(value)), web_url(str(value)) if name.endswith(("url", "_http")) else ""
    if one.crawled_at:
        yield _("Crawled"), formatter.timestamp(one.crawled_at), ""


def _steps(facts: Mapping[str, Any], formatter: Formatter) -> tuple[Any, ...]:
    """The phases of the request as bars of microseconds."""
    known = [(label, float(facts[name])) for name, label in _STEPS.items() if isinstance(facts.get(name), int | float)]
    return bar_chart((formatter.gettext(label), round(ms * 1000), "good", "") for label, ms in known)


def _format_step(microseconds: int) -> str:
    ms = microseconds / 1000
    return f"{ms:.1f} ms" if ms < 10 else format_milliseconds(ms)


def _evidence(one: PageFinding, page: PageDetail, lang: str) -> str:
    of = page.summary
    row = StoredFinding(0, of.id, of.url, one.subject, one.detail, one.data, of.depth, of.status_code, of.title)
    return describe_evidence(row, translator(lang))


def _json(value: Any) -> str:
    lines = clip(json.dumps(value, ensure_ascii=False, indent=1), MAX_JSON_LENGTH).split("\n")
    return "\n".join(json_safe(line) for line in lines)
