"""The results of a crawl: findings, pages and each page, links, site structure, comparison, and downloads.

They are read by `jobs.audit.crawl_results` and contain texts of other sites. Templates escape them; only the drawing of the site
is markup, made by `jobs.reporting`, which escapes what it draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from tadoru.errors import StoreError
from tadoru.i18n.stored_texts import failure_name, translate_reason
from tadoru.i18n.translation import N_, Formatter, Translator, translator
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangeKind, PageChange
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES, describe_change
from tadoru.jobs.audit.crawl_results import LinkFilter, PageFilter
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
from tadoru.jobs.reporting.escape import clip, json_safe, printable
from tadoru.model.finding import Severity, Threshold
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs, shown_run
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.view_models import (
    CRAWLS_URL,
    STATE_LABELS,
    OpenedRun,
    bar_chart,
    crawl_context,
    has_tab,
    open_run,
    web_url,
)
from tadoru.serve.web.rendering import formatter_of, render
from tadoru.serve.web.request_input import MAX_ID, PAGE_SIZE, parse_id
from tadoru.store.crawl.findings import FindingRow
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

router = APIRouter(include_in_schema=False)
MAX_OTHER_CRAWLS = 100
"""Crawls that can be chosen for a comparison."""
MAX_SEARCH_LENGTH = 200
MAX_DEPTH = 1000
STATUS_FILTERS: dict[str, PageFilter] = {
    "2xx": PageFilter(codes=((200, 299),)), "3xx": PageFilter(codes=((300, 399),)), "4xx": PageFilter(codes=((400, 499),)),
    "5xx": PageFilter(codes=((500, 599),)), "error": PageFilter(statuses=("error",)),
    "queued": PageFilter(statuses=("queued", "processing")), "skipped": PageFilter(statuses=("skipped", "discovered")),
}  # fmt: skip
_STATUS_LABELS = {
    "2xx": N_("2xx: success"), "3xx": N_("3xx: redirect"), "4xx": N_("4xx: client error"), "5xx": N_("5xx: server error"),
    "error": N_("No response"), "queued": N_("Queued"), "skipped": N_("Not crawled"),
}  # fmt: skip
SORTS = {
    "url": N_("URL"), "depth": N_("Depth"), "response_ms": N_("Slowest first"), "size": N_("Largest first"),
    "inlinks": N_("Most inlinks first"), "status_code": N_("Status code"), "title": N_("Title"),
}  # fmt: skip
"""The orders of the list of pages."""
LINK_FILTERS: dict[str, LinkFilter] = {
    "broken": LinkFilter(broken=True), "internal": LinkFilter(internal=True), "external": LinkFilter(internal=False),
    "nofollow": LinkFilter(nofollow=True), "all": LinkFilter(),
}  # fmt: skip

_LINK_LABELS = {
    "broken": N_("Broken"), "internal": N_("Internal"), "external": N_("External"), "nofollow": N_("nofollow"), "all": N_("All"),
}  # fmt: skip
_EXPORT_LABELS = {
    "pages": N_("Pages"), "links": N_("Links"), "findings": N_("Findings"), "sitemap": N_("Sitemap (XML)"),
    "dot": N_("Graph (DOT)"),
}  # fmt: skip
Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PageListFilter:
    """The form of the list of pages."""

    q: str = ""
    answer: str = ""
    depth: str = ""
    indexable: str = ""
    sort: str = "url"

    def filter(self) -> PageFilter:
        """The filter of the store."""
        chosen = STATUS_FILTERS.get(self.answer, PageFilter())
        return PageFilter(
            codes=chosen.codes, statuses=chosen.statuses, q=self.q, depth=int(self.depth) if self.depth else None,
            indexable={"yes": True, "no": False}.get(self.indexable),
        )  # fmt: skip

    def query(self, **more: str) -> str:
        """The query string of a URL with these values."""
        given = {"q": self.q, "answer": self.answer, "depth": self.depth, "indexable": self.indexable}
        return _query({**given, "sort": self.sort if self.sort != "url" else "", **more})

    def choices(self, formatter: Formatter) -> dict[str, Choices]:
        """The options of the selects."""
        _ = formatter.gettext
        anything = ("", _("All"))
        return {
            "answer": [anything, *((one, _(label)) for one, label in _STATUS_LABELS.items())],
            "indexable": [anything, ("yes", _("indexable")), ("no", _("not indexable"))],
            "sort": [(one, _(label)) for one, label in SORTS.items()],
        }


@dataclass(frozen=True, slots=True)
class LinkListFilter:
    """The form of the list of links."""

    which: str = "broken"
    q: str = ""
    source: str = ""
    target: str = ""
    """Links from one page or to one page, by its id."""

    def filter(self) -> LinkFilter:
        """The filter of the store."""
        chosen = LINK_FILTERS[self.which]
        return LinkFilter(
            broken=chosen.broken, internal=chosen.internal, nofollow=chosen.nofollow, q=self.q,
            source=int(self.source) if self.source else None, target=int(self.target) if self.target else None,
        )  # fmt: skip

    def query(self, **more: str) -> str:
        """The query string of a URL with these values."""
        return _query({"which": self.which, "q": self.q, "source": self.source, "target": self.target, **more})

    def choices(self, formatter: Formatter) -> Choices:
        """The options of the select."""
        return [(one, formatter.gettext(label)) for one, label in _LINK_LABELS.items()]


def parse_page_filter(given: Mapping[str, str]) -> PageListFilter:
    """The form of a query string; invalid values are ignored."""
    return PageListFilter(
        q=given.get("q", "").strip()[:MAX_SEARCH_LENGTH], answer=_one_of(given.get("answer", ""), STATUS_FILTERS),
        depth=_number(given.get("depth", ""), MAX_DEPTH), indexable=_one_of(given.get("indexable", ""), ("yes", "no")),
        sort=_one_of(given.get("sort", ""), SORTS) or "url",
    )  # fmt: skip


def parse_link_filter(given: Mapping[str, str]) -> LinkListFilter:
    """The form of a query string; by default broken links, or all links of one page."""
    source, target = _number(given.get("source", ""), 2**62), _number(given.get("target", ""), 2**62)
    which = _one_of(given.get("which", ""), LINK_FILTERS) or ("all" if source or target else "broken")
    return LinkListFilter(which, given.get("q", "").strip()[:MAX_SEARCH_LENGTH], source, target)


def _one_of(text: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    return text if text in known else ""


def _number(text: str, most: int) -> str:
    return str(int(text)) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= most else ""


def _query(given: Mapping[str, str]) -> str:
    parameters = {name: value for name, value in given.items() if value}
    return f"?{urlencode(parameters)}" if parameters else ""


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


@router.get("/manage/crawls/{crawl_id}/findings")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/findings")
def findings_page(request: Request, crawl_id: int) -> Response:
    """The findings by check, most severe first."""
    opened = open_tab(request, crawl_id, "findings")
    path = opened.path
    formatter, asked = formatter_of(request), request.query_params.get("severity", "")
    severity = asked if asked in set(Severity) else ""

    def read() -> dict[str, Any]:
        found = crawl_results.list_findings(path, lang=formatter.lang)
        counts = {each.value: sum(one.count for one in found if one.severity == each) for each in Severity}
        return {
            "checks": [one for one in found if severity in ("", one.severity)], "counts": counts, "severity": severity,
            "group": lambda one: translate_name(GROUPS, one.group, translator(formatter.lang)),
        }  # fmt: skip

    return render_tab(request, opened, "findings", "crawls/findings.html", read)


@router.get("/manage/crawls/{crawl_id}/findings/{check}")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/findings/{check}")
def check_page(request: Request, crawl_id: int, check: str) -> Response:
    """One check: why it matters, how to fix it, and the affected pages."""
    opened = open_tab(request, crawl_id, "findings")
    path = opened.path
    lang, cursor = formatter_of(request).lang, request.query_params.get("cursor", "")

    def read() -> dict[str, Any] | None:
        known = crawl_results.list_findings(path, check=check, lang=lang, every=True)
        found = crawl_results.list_affected(path, check, limit=PAGE_SIZE, cursor=cursor or None) if known else None
        if found is None:
            return None
        rows = [
            (
                one,
                describe_evidence(
                    FindingRow(
                        0, one.page_id or 0, one.url, one.subject, one.detail, one.data, one.depth, one.status_code, one.title
                    ),
                    translator(lang),
                ),
            )
            for one in found[0]
        ]
        here = f"{opened.base}/findings/{check}"
        return {
            "check": known[0], "limit": _limit(known[0], lang), "rows": rows, "web_url": web_url,
            "status_colour": status_colour,
            "next_url": f"{here}?cursor={found[1]}" if found[1] else "", "first_url": here if cursor else "",
        }  # fmt: skip

    return render_tab(request, opened, "findings", "crawls/check.html", read)


def _limit(check: CheckSummary, lang: str) -> str:
    return describe_threshold(Threshold(check.threshold, check.unit), translator(lang)) if check.threshold is not None else ""


@router.get("/manage/crawls/{crawl_id}/pages")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/pages")
def pages_page(request: Request, crawl_id: int) -> Response:
    """The pages of a crawl, filtered and sorted by the form."""
    opened = open_tab(request, crawl_id, "pages")
    crawl, path = opened.crawl, opened.path
    asked: PageListFilter = parse_page_filter(request.query_params)
    cursor, formatter = request.query_params.get("cursor", ""), formatter_of(request)

    def read() -> dict[str, Any]:
        found, more = crawl_results.list_pages(path, asked.filter(), sort=asked.sort, limit=PAGE_SIZE, cursor=cursor or None)
        here = f"{opened.base}/pages"
        return {
            "pages": found, "asked": asked, "choices": asked.choices(formatter), "status_colour": status_colour,
            "is_audit": crawl.job == "audit", "format_milliseconds": format_milliseconds, "format_size": format_size,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return render_tab(request, opened, "pages", "crawls/pages.html", read)


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


@router.get("/manage/crawls/{crawl_id}/links")
@router.get("/manage/crawls/{crawl_id}/runs/{run_id}/links")
def links_page(request: Request, crawl_id: int) -> Response:
    """The links of a crawl, by default the broken ones."""
    opened = open_tab(request, crawl_id, "links")
    path = opened.path
    asked: LinkListFilter = parse_link_filter(request.query_params)
    cursor, formatter = request.query_params.get("cursor", ""), formatter_of(request)

    def read() -> dict[str, Any]:
        found, more = crawl_results.list_links(path, asked.filter(), limit=PAGE_SIZE, cursor=cursor or None)
        here = f"{opened.base}/links"
        return {
            "links": found, "asked": asked, "choices": asked.choices(formatter), "status_colour": status_colour,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return render_tab(request, opened, "links", "crawls/links.html", read)


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
        return {"rows": rows, "whole": [(_(_EXPORT_LABELS[name]), f"{base}?format={name}{of_run}") for name in whole]}

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
    row = FindingRow(0, of.id, of.url, one.subject, one.detail, one.data, of.depth, of.status_code, of.title)
    return describe_evidence(row, translator(lang))


def _json(value: Any) -> str:
    lines = clip(json.dumps(value, ensure_ascii=False, indent=1), MAX_JSON_LENGTH).split("\n")
    return "\n".join(json_safe(line) for line in lines)
