"""The results of a crawl: findings, pages and each page, links, site structure, comparison, and downloads.

They are read by `jobs.audit.crawl_results` and contain texts of other sites. Templates escape them; only the drawing of the site
is markup, made by `jobs.reporting`, which escapes what it draws.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from tadoru.errors import StoreError, UsageError
from tadoru.i18n.translation import N_, Formatter, Translator, translator
from tadoru.jobs.audit.compare.comparison import FINDING_CHANGES, REGRESSIONS, ChangeKind, PageChange
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES, describe_change
from tadoru.jobs.audit.crawl_results import downloads, queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import CheckSummary
from tadoru.jobs.audit.crawl_results.run_comparison import ChangedPage, ComparisonResult, NothingToCompare, find_new
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    describe_evidence,
    describe_threshold,
    translate_name,
)
from tadoru.model.finding import Severity, Threshold
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.crawl_runner.crawl_tables import (
    LEVELS,
    SORTS,
    STATES,
    RankedCheck,
    causes_since,
    changed_checks,
    earlier_of,
    find_segment,
    list_finding_rows,
    segment_names,
)
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.view_models import (
    CRAWLS_URL,
    STATE_LABELS,
    OpenedRun,
    crawl_context,
    crawl_or_404,
    has_tab,
    open_run,
    severity_labels,
    short_url,
    status_colour,
    web_url,
)
from tadoru.serve.web.rendering import formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, parse_id
from tadoru.store.crawl.browse import AffectedPage
from tadoru.store.crawl.findings import FindingRow as StoredFinding
from tadoru.store.crawl.sqlite.store import CrawlNotReadable
from tadoru.store.cursors import UnknownCursor
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

router = APIRouter(include_in_schema=False)
PageFunction = TypeVar("PageFunction", bound=Callable[..., Response])
MAX_OTHER_CRAWLS = 100
"""Crawls that can be chosen for a comparison."""
_EXPORT_LABELS = {
    "pages": N_("Pages"), "links": N_("Links"), "findings": N_("Findings"), "sitemap": N_("Sitemap (XML)"),
    "dot": N_("Graph (DOT)"),
}  # fmt: skip


def crawl_tab(router: APIRouter, path: str) -> Callable[[PageFunction], PageFunction]:
    """Serve a page of a crawl below its URL, and below those of its runs."""

    def add(page: PageFunction) -> PageFunction:
        router.get(f"/manage/crawls/{{crawl_id}}/runs/{{run_id}}/{path}")(page)
        return router.get(f"/manage/crawls/{{crawl_id}}/{path}")(page)

    return add


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
    except CrawlNotReadable:
        sentence = _("No data yet: the crawl has not started, or its files are missing.")
        return render(request, "crawls/empty.html", place=CRAWLS_URL, **shared, sentence=sentence)
    except UnknownCursor as error:
        raise HttpProblem(400, error) from None
    except StoreError as error:
        service_of(request).log.write("error", str(error), crawl=crawl.id)
        sentence = _("The files of this crawl cannot be read. Try again in a moment, or check the log of the service.")
        return render(request, "crawls/empty.html", status=503, place=CRAWLS_URL, **shared, sentence=sentence)
    if content is None:
        raise HttpProblem(404)
    return render(request, template, place=CRAWLS_URL, **shared, **content)


MAX_REASON_LENGTH = 300
MAX_DOTS, MAX_CURVES = 80, 160
"""Pages and other links that the drawing of a site shows."""


@crawl_tab(router, "findings")
def findings_page(request: Request, crawl_id: int) -> Response:
    """The findings by check, those first that are worth most."""
    opened = open_tab(request, crawl_id, "findings")
    formatter, query = formatter_of(request), request.query_params
    severity, state = _one_of(query.get("severity", ""), set(Severity)), _one_of(query.get("state", ""), STATES)
    group, q = query.get("group", "")[:50], query.get("q", "").strip()[:200]
    segment, template = query.get("segment", "").strip()[:200], query.get("template", "").strip()[:100]
    sort, service = _one_of(query.get("sort", ""), SORTS) or "priority", service_of(request)
    _, crawl, path = formatter.gettext, opened.crawl, opened.path

    def read() -> dict[str, Any]:
        within = None
        if segment or template:
            part = find_segment(service, crawl, path, segment) if segment else None
            within = queries.count_in_segment(path, segment=part, template=template)
        every = list_finding_rows(service, crawl, path, lang=formatter.lang, counts=within)
        counts = {each.value: sum(one.check.count for one in every if one.check.severity == each) for each in Severity}
        groups = sorted({one.check.group for one in every})
        shown = [
            one for one in every
            if severity in ("", one.check.severity) and group in ("", one.check.group)
            and (_has_state(one, state) if state else one.state != "ignored")
            and q.casefold() in f"{one.check.title} {one.check.id}".casefold()
        ]  # fmt: skip
        shown.sort(key=SORTS[sort])
        kept = {"q": q, "severity": severity, "group": group, "state": state, "segment": segment, "template": template}
        templates = [(name, f"{name} · {short_url(url)}") for name, url, *_ in queries.list_templates(path)]
        return {
            "sort": sort, "sort_url": f"{opened.base}/findings?{urlencode({k: v for k, v in kept.items() if v} | {'sort': ''})}",
            "template_id": template, "templates": [("", _("All")), *templates], "rows": shown,
            "counts": counts, "severity": severity, "state": state, "q": q, "group_id": group, "segment": segment,
            "states": [("", _("All")), *((name, f"{_(label)} ({_count_state(every, name)})") for name, label in STATES.items())],
            "groups": [("", _("All")), *((one, _group_name(one, formatter)) for one in groups)],
            "segments": [("", _("All")), *((one, one) for one in segment_names(service, crawl, path))],
            "levels": {name: _(text) for name, text in LEVELS.items()},
            "state_names": {name: _(text) for name, text in STATES.items()},
            "group": lambda one: _group_name(one.group, formatter),
            "severity_choices": [("", _("All")), *((one.value, severity_labels(formatter)[one.value]) for one in Severity)],
        }  # fmt: skip

    return render_tab(request, opened, "findings", "crawls/findings.html", read)


def _group_name(group: str, formatter: Formatter) -> str:
    return translate_name(GROUPS, group, translator(formatter.lang))


def _count_state(rows: Sequence[RankedCheck], state: str) -> int:
    return sum(_has_state(one, state) for one in rows)


def _has_state(row: RankedCheck, state: str) -> bool:
    """Whether a check, or one of its findings, is in a state."""
    is_listed = row.state != "ignored"
    match state:
        case "new":
            return is_listed and row.new > 0
        case "fixed":
            return is_listed and row.fixed > 0
        case "ignored":
            return not is_listed or row.ignored > 0
    return is_listed and row.check.count > row.new


def _one_of(text: str, known: Collection[str]) -> str:
    return text if text in known else ""


@crawl_tab(router, "findings/{check}")
def check_page(request: Request, crawl_id: int, check: str) -> Response:
    """One check: why it matters, how to fix it, its causes, and the affected pages."""
    opened = open_tab(request, crawl_id, "findings")
    lang, cursor, path = formatter_of(request).lang, request.query_params.get("cursor", ""), opened.path

    def read() -> dict[str, Any] | None:
        known = queries.list_findings(path, check=check, lang=lang, every=True)
        found = queries.list_affected(path, check, limit=PAGE_SIZE, cursor=cursor or None) if known else None
        if found is None:
            return None
        here = f"{opened.base}/findings/{check}"
        ignored = [one for one in service_of(request).store.annotations.ignored(opened.crawl.id) if one.check_id == check]
        subjects = {one.subject for one in ignored if one.subject}
        service = service_of(request)
        earlier = earlier_of(service, opened.crawl, path)
        places = [(one.url if one.page_id else "", one.subject) for one in found[0]]
        new = find_new(earlier, check, places) if earlier is not None else [False] * len(places)
        evidence = (describe_evidence(_stored_finding(one), translator(lang)) for one in found[0])
        rows = [*zip(found[0], evidence, new, strict=True)]
        causes, known_causes = causes_since(path, earlier, check) if not cursor else ((), frozenset())
        change = changed_checks(service, opened.crawl, path, lang).get(check) if not cursor else None
        return {
            "known_causes": known_causes,
            "changed": change.examples if change else (), "change": change,
            "check": known[0], "limit": _limit(known[0], lang), "rows": [one for one in rows if one[0].url not in subjects],
            "web_url": web_url, "status_colour": status_colour, "causes": [one for one in causes if one.url not in subjects],
            "ignored": ignored, "own": f"{CRAWLS_URL}/{opened.crawl.id}", "is_ignored": any(not one.subject for one in ignored),
            "next_url": f"{here}?cursor={found[1]}" if found[1] else "", "first_url": here if cursor else "",
            "max_reason": MAX_REASON_LENGTH, "ignore_url": web_url(request.query_params.get("ignore", "")[:2000]),
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


@crawl_tab(router, "graph")
def graph_page(request: Request, crawl_id: int) -> Response:
    """The structure of the site as a drawing and a list."""
    opened = open_tab(request, crawl_id, "graph")
    path = opened.path

    def read() -> dict[str, Any]:
        drawing = queries.draw_site_graph(path, most=MAX_DOTS, curves=MAX_CURVES, lang=formatter_of(request).lang)
        pages = queries.read_overview(path).pages
        return {"picture": Markup(drawing.svg) if drawing is not None else "", "dots": min(MAX_DOTS, pages), "pages": pages}  # noqa: S704

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


@crawl_tab(router, "compare")
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
                found = run_comparison.compare_crawls(previous.path, path, lang=formatter.lang)
            else:
                found = run_comparison.compare_with_previous(path, lang=formatter.lang)
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


@crawl_tab(router, "exports")
def exports_page(request: Request, crawl_id: int) -> Response:
    """Links to the downloads of the API."""
    opened = open_tab(request, crawl_id, "exports")
    crawl, _path = opened.crawl, opened.path
    base, _ = f"/api/v1/crawls/{crawl.id}/export", formatter_of(request).gettext
    of_run = f"&run={opened.run.id}" if opened.is_chosen and opened.run else ""

    def read() -> dict[str, Any]:
        tables = [one for one in _TABLES if crawl.job == "audit" or one != "findings"]
        formats = downloads.available_formats()
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
