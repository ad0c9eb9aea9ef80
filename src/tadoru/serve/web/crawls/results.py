"""What the lists of a crawl are asked for by their addresses: which pages, which links, in which order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from tadoru.errors import StoreError
from tadoru.jobs.audit import crawl_results
from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangeKind, PageChange
from tadoru.jobs.audit.compare.report_formats import SENTENCES, Sentences
from tadoru.jobs.audit.crawl_results import LinkFilter, PageFilter
from tadoru.jobs.audit.crawl_results.models import CheckSummary
from tadoru.jobs.audit.crawl_results.run_comparison import ChangedPage, ComparisonResult, NothingToCompare
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    LANGUAGES,
    describe_evidence,
    describe_threshold,
    format_milliseconds,
    format_size,
)
from tadoru.model.finding import Severity, Threshold
from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.crawls.overview import read_cached
from tadoru.serve.web.crawls.page_detail import page_detail, status_colour
from tadoru.serve.web.crawls.view_models import CRAWLS_URL, crawl_context, crawl_or_404, format_figure, has_tab, web_url
from tadoru.serve.web.rendering import formatter_of, render
from tadoru.serve.web.request_input import MAX_ID, parse_id
from tadoru.serve.web.words import Say
from tadoru.store.crawl.findings import FindingRow
from tadoru.store.served_crawls.schema import ServedCrawl

MAX_SEARCH_LENGTH = 200
MAX_DEPTH = 1000
STATUS_FILTERS: dict[str, PageFilter] = {
    "2xx": PageFilter(codes=((200, 299),)), "3xx": PageFilter(codes=((300, 399),)), "4xx": PageFilter(codes=((400, 499),)),
    "5xx": PageFilter(codes=((500, 599),)), "error": PageFilter(statuses=("error",)),
    "queued": PageFilter(statuses=("queued", "processing")), "skipped": PageFilter(statuses=("skipped", "discovered")),
}  # fmt: skip
SORTS = ("url", "depth", "response_ms", "size", "inlinks", "status_code", "title")
LINK_FILTERS: dict[str, LinkFilter] = {
    "broken": LinkFilter(broken=True), "internal": LinkFilter(internal=True), "external": LinkFilter(internal=False),
    "nofollow": LinkFilter(nofollow=True), "all": LinkFilter(),
}  # fmt: skip

Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PageListFilter:
    """Which pages, and in which order."""

    q: str = ""
    answer: str = ""
    depth: str = ""
    indexable: str = ""
    sort: str = "url"

    def filter(self) -> PageFilter:
        chosen = STATUS_FILTERS.get(self.answer, PageFilter())
        return PageFilter(
            codes=chosen.codes, statuses=chosen.statuses, q=self.q, depth=int(self.depth) if self.depth else None,
            indexable={"yes": True, "no": False}.get(self.indexable),
        )  # fmt: skip

    def query(self, **more: str) -> str:
        """The part of an address that asks for the same."""
        given = {"q": self.q, "answer": self.answer, "depth": self.depth, "indexable": self.indexable}
        return _query({**given, "sort": self.sort if self.sort != "url" else "", **more})

    def choices(self, say: Say) -> dict[str, Choices]:
        anything = ("", say("pages.any"))
        return {
            "answer": [anything, *((one, say(f"pages.answer.{one}")) for one in STATUS_FILTERS)],
            "indexable": [anything, ("yes", say("pages.indexable.yes")), ("no", say("pages.indexable.no"))],
            "sort": [(one, say(f"pages.sort.{one}")) for one in SORTS],
        }


@dataclass(frozen=True, slots=True)
class LinkListFilter:
    """Which links."""

    which: str = "broken"
    q: str = ""
    source: str = ""
    target: str = ""
    """Of one page, or to one page, by its number."""

    def filter(self) -> LinkFilter:
        chosen = LINK_FILTERS[self.which]
        return LinkFilter(
            broken=chosen.broken, internal=chosen.internal, nofollow=chosen.nofollow, q=self.q,
            source=int(self.source) if self.source else None, target=int(self.target) if self.target else None,
        )  # fmt: skip

    def query(self, **more: str) -> str:
        return _query({"which": self.which, "q": self.q, "source": self.source, "target": self.target, **more})

    def choices(self, say: Say) -> Choices:
        return [(one, say(f"links.{one}")) for one in LINK_FILTERS]


def parse_page_filter(given: Mapping[str, str]) -> PageListFilter:
    """What an address asks for; what makes no sense is left out."""
    return PageListFilter(
        q=given.get("q", "").strip()[:MAX_SEARCH_LENGTH], answer=_one_of(given.get("answer", ""), STATUS_FILTERS),
        depth=_number(given.get("depth", ""), MAX_DEPTH), indexable=_one_of(given.get("indexable", ""), ("yes", "no")),
        sort=_one_of(given.get("sort", ""), SORTS) or "url",
    )  # fmt: skip


def parse_link_filter(given: Mapping[str, str]) -> LinkListFilter:
    """The same, of links; those of one page are all shown unless it is said."""
    source, target = _number(given.get("source", ""), 2**62), _number(given.get("target", ""), 2**62)
    which = _one_of(given.get("which", ""), LINK_FILTERS) or ("all" if source or target else "broken")
    return LinkListFilter(which, given.get("q", "").strip()[:MAX_SEARCH_LENGTH], source, target)


def _one_of(text: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    return text if text in known else ""


def _number(text: str, most: int) -> str:
    return str(int(text)) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= most else ""


def _query(given: Mapping[str, str]) -> str:
    asked = {name: value for name, value in given.items() if value}
    return f"?{urlencode(asked)}" if asked else ""


router = APIRouter(include_in_schema=False)
A_PAGE = 50
T = TypeVar("T")
Read = Callable[..., T]


def open_tab(request: Request, crawl_id: int, tab: str) -> tuple[ServedCrawl, str]:
    """The crawl of an address whose page is of this kind, and the path of its database."""
    crawl = crawl_or_404(request, crawl_id)
    if not has_tab(crawl, tab):
        raise HttpProblem(404, "")
    return crawl, str(crawl_database(service_of(request), crawl))


def render_tab(
    request: Request, crawl: ServedCrawl, tab: str, template: str, read: Callable[[], dict[str, Any] | None]
) -> Response:
    """A page of a crawl, or one that says why there is nothing to show. `read` gives what the template needs; None is 404."""
    telling = formatter_of(request)
    around = crawl_context(crawl, telling.say, tab)
    try:
        content = read()
    except crawl_results.CrawlNotReadable:
        return render(request, "crawl_empty.html", place=CRAWLS_URL, **around, sentence=telling.say("crawl.nothing_yet"))
    except crawl_results.UnknownCursor as error:
        raise HttpProblem(400, str(error)) from None
    except StoreError as error:
        service_of(request).log.write("error", str(error), crawl=crawl.id)
        sentence = telling.say("crawl.unreadable")
        return render(request, "crawl_empty.html", status=503, place=CRAWLS_URL, **around, sentence=sentence)
    if content is None:
        raise HttpProblem(404, "")
    return render(request, template, place=CRAWLS_URL, **around, **content)


@router.get("/manage/crawls/{crawl_id}/findings")
def findings_page(request: Request, crawl_id: int) -> Response:
    """What was found, the gravest first."""
    crawl, path = open_tab(request, crawl_id, "findings")
    telling, asked = formatter_of(request), request.query_params.get("severity", "")
    severity = asked if asked in set(Severity) else ""

    def read() -> dict[str, Any]:
        found = read_cached(crawl_results.list_findings, path, lang=telling.lang)
        counts = {each.value: sum(one.count for one in found if one.severity == each) for each in Severity}
        return {
            "checks": [one for one in found if severity in ("", one.severity)], "counts": counts, "severity": severity,
            "group": lambda one: LANGUAGES[telling.lang].named(GROUPS, one.group),
        }  # fmt: skip

    return render_tab(request, crawl, "findings", "crawl_findings.html", read)


@router.get("/manage/crawls/{crawl_id}/findings/{check}")
def check_page(request: Request, crawl_id: int, check: str) -> Response:
    """One check: why it matters, how to mend it, and every page that it applies to."""
    crawl, path = open_tab(request, crawl_id, "findings")
    lang, cursor = formatter_of(request).lang, request.query_params.get("cursor", "")

    def read() -> dict[str, Any] | None:
        known = crawl_results.list_findings(path, check=check, lang=lang, every=True)
        found = crawl_results.list_affected(path, check, limit=A_PAGE, cursor=cursor or None) if known else None
        if found is None:
            return None
        rows = [
            (
                one,
                describe_evidence(
                    FindingRow(
                        0, one.page_id or 0, one.url, one.subject, one.detail, one.data, one.depth, one.status_code, one.title
                    ),
                    LANGUAGES[lang],
                ),
            )
            for one in found[0]
        ]
        here = f"{CRAWLS_URL}/{crawl.id}/findings/{check}"
        return {
            "check": known[0], "limit": _limit(known[0], lang), "rows": rows, "web": web_url, "kind_of": status_colour,
            "next_url": f"{here}?cursor={found[1]}" if found[1] else "", "first_url": here if cursor else "",
        }  # fmt: skip

    return render_tab(request, crawl, "findings", "crawl_check.html", read)


def _limit(check: CheckSummary, lang: str) -> str:
    return describe_threshold(Threshold(check.threshold, check.unit), LANGUAGES[lang]) if check.threshold is not None else ""


@router.get("/manage/crawls/{crawl_id}/pages")
def pages_page(request: Request, crawl_id: int) -> Response:
    """The pages, chosen and ordered by the form above them."""
    crawl, path = open_tab(request, crawl_id, "pages")
    asked: PageListFilter = parse_page_filter(request.query_params)
    cursor, say = request.query_params.get("cursor", ""), formatter_of(request).say

    def read() -> dict[str, Any]:
        found, more = crawl_results.list_pages(path, asked.filter(), sort=asked.sort, limit=A_PAGE, cursor=cursor or None)
        here = f"{CRAWLS_URL}/{crawl.id}/pages"
        return {
            "pages": found, "asked": asked, "choices": asked.choices(say), "kind_of": status_colour, "is_audit": crawl.job == "audit",
            "time_words": format_milliseconds, "size_words": format_size,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return render_tab(request, crawl, "pages", "crawl_pages.html", read)


@router.get("/manage/crawls/{crawl_id}/pages/{page_id}")
def page_page(request: Request, crawl_id: int, page_id: int) -> Response:
    """One page, with everything that is known of it."""
    crawl, path = open_tab(request, crawl_id, "pages")
    if not 0 < page_id < MAX_ID:
        raise HttpProblem(404, "")
    telling = formatter_of(request)

    def read() -> dict[str, Any] | None:
        found = crawl_results.read_page(path, page_id, lang=telling.lang)
        return None if found is None else page_detail(found, telling) | {"is_audit": crawl.job == "audit"}

    return render_tab(request, crawl, "pages", "crawl_page.html", read)


@router.get("/manage/crawls/{crawl_id}/links")
def links_page(request: Request, crawl_id: int) -> Response:
    """Links, at first those that are broken."""
    crawl, path = open_tab(request, crawl_id, "links")
    asked: LinkListFilter = parse_link_filter(request.query_params)
    cursor, say = request.query_params.get("cursor", ""), formatter_of(request).say

    def read() -> dict[str, Any]:
        found, more = crawl_results.list_links(path, asked.filter(), limit=A_PAGE, cursor=cursor or None)
        here = f"{CRAWLS_URL}/{crawl.id}/links"
        return {
            "links": found, "asked": asked, "choices": asked.choices(say), "kind_of": status_colour,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return render_tab(request, crawl, "links", "crawl_links.html", read)


@router.get("/manage/crawls/{crawl_id}/graph")
def graph_page(request: Request, crawl_id: int) -> Response:
    """The picture of the site."""
    crawl, path = open_tab(request, crawl_id, "graph")

    def read() -> dict[str, Any]:
        drawing = read_cached(crawl_results.draw_site_graph, path, lang=formatter_of(request).lang)
        nodes = read_cached(crawl_results.read_graph, path).nodes if drawing is not None else ()
        return {"picture": Markup(drawing.svg) if drawing is not None else "", "nodes": nodes, "kind_of": status_colour}  # noqa: S704

    return render_tab(request, crawl, "graph", "crawl_graph.html", read)


MAX_OTHER_CRAWLS = 100
"""Crawls that can be chosen to compare with."""
_GOOD = frozenset({ChangeKind.FIXED, ChangeKind.INDEXED, ChangeKind.FASTER})
_TABLES = ("pages", "links", "findings")


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes of one kind."""

    words: str
    kind: str
    count: int
    items: tuple[tuple[ChangedPage, str], ...]
    """Each with what it was and is, in words."""


@router.get("/manage/crawls/{crawl_id}/compare")
def compare_page(request: Request, crawl_id: int) -> Response:
    """What is different from before."""
    crawl, path = open_tab(request, crawl_id, "compare")
    service, lang = service_of(request), formatter_of(request).lang
    others = _others(service, crawl)
    asked = parse_id(request.query_params.get("with"))
    other = next((one for one in others if one.id == asked), None)

    def read() -> dict[str, Any]:
        content: dict[str, Any] = {
            "others": others,
            "other": other,
            "compared": None,
            "groups": [],
            "sentence": "",
            "web": web_url,
        }
        try:
            if other is not None:
                found = read_cached(crawl_results.compare_crawls, crawl_database(service, other), path, lang=lang)
            else:
                found = read_cached(crawl_results.compare_with_previous, path, lang=lang)
        except NothingToCompare:
            return content | {
                "sentence": formatter_of(request).say("compare.other_none" if other is not None else "compare.none")
            }
        groups = _groups(found, SENTENCES[lang])
        return content | {"compared": found, "groups": groups, "shown": format_figure}

    return render_tab(request, crawl, "compare", "crawl_compare.html", read)


def _others(service: Service, crawl: ServedCrawl) -> Sequence[ServedCrawl]:
    """Those that may have something to compare with: they ran here, or were made elsewhere."""
    found = service.store.crawls(job=crawl.job, limit=MAX_OTHER_CRAWLS + 1)
    return [one for one in found if one.id != crawl.id and (one.started_at or not one.is_ours)][:MAX_OTHER_CRAWLS]


def _groups(found: ComparisonResult, say: Sentences) -> list[ChangeGroup]:
    groups = []
    for name, count in found.totals.items():
        kind = ChangeKind(name)
        if kind in FINDING_CHANGES:
            continue
        colour = "bad" if kind in REGRESSIONS else "good" if kind in _GOOD else ""
        items = tuple((one, say.values(PageChange(kind, one.url, one.before, one.after))) for one in found.changes.get(name, ()))
        groups.append(ChangeGroup(say.kinds[kind], colour, count, items))
    return groups


@router.get("/manage/crawls/{crawl_id}/exports")
def exports_page(request: Request, crawl_id: int) -> Response:
    """The crawl as files: links to where REST makes them."""
    crawl, _ = open_tab(request, crawl_id, "exports")
    base, say = f"/api/v1/crawls/{crawl.id}/export", formatter_of(request).say

    def read() -> dict[str, Any]:
        tables = [one for one in _TABLES if crawl.job == "audit" or one != "findings"]
        of_tables = [name for name, form in crawl_results.DOWNLOAD_FORMATS.items() if form.of_tables]
        whole = [name for name, form in crawl_results.DOWNLOAD_FORMATS.items() if not form.of_tables]
        rows = [(say(f"exports.{one}"), [(name, f"{base}?format={name}&table={one}") for name in of_tables]) for one in tables]
        return {"rows": rows, "whole": [(say(f"exports.{name}"), f"{base}?format={name}") for name in whole]}

    return render_tab(request, crawl, "exports", "crawl_exports.html", read)
