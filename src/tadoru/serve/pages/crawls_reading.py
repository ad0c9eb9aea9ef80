"""What a crawl found, a page of ours for each way to look at it: findings, pages, one page, links, the picture of the site.

All of it is read by `jobs.audit.reading` and is text of strangers: the templates escape it, and only the picture is markup, made
by `jobs.report.graph`, which escapes what it draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from tadoru.errors import StoreError
from tadoru.jobs.audit import reading
from tadoru.jobs.audit.reading.values import CheckSummary
from tadoru.jobs.audit.report.language import LANGUAGES
from tadoru.jobs.audit.report.phrases import evidence, limit_words, size_words, time_words
from tadoru.jobs.audit.report.texts import GROUPS
from tadoru.model.finding import Severity, Threshold
from tadoru.serve.crawling.places import database_of
from tadoru.serve.pages.crawls_choosing import LinksAsked, PagesAsked, links_asked, pages_asked
from tadoru.serve.pages.crawls_detail import detail_of, kind_of
from tadoru.serve.pages.crawls_frame import PLACE, found_crawl, frame, has_tab
from tadoru.serve.pages.crawls_kept import kept
from tadoru.serve.pages.crawls_showing import web
from tadoru.serve.pages.desk import LARGEST
from tadoru.serve.pages.rendering import render, telling_of
from tadoru.serve.problems import Refused
from tadoru.serve.service import service_of
from tadoru.store.crawls.values import ServedCrawl
from tadoru.store.found import FoundRow

router = APIRouter(include_in_schema=False)
A_PAGE = 50
T = TypeVar("T")
Read = Callable[..., T]


def opened(request: Request, crawl_id: int, tab: str) -> tuple[ServedCrawl, str]:
    """The crawl of an address whose page is of this kind, and the path of its database."""
    crawl = found_crawl(request, crawl_id)
    if not has_tab(crawl, tab):
        raise Refused(404, "")
    return crawl, str(database_of(service_of(request), crawl))


def shown(request: Request, crawl: ServedCrawl, tab: str, template: str, read: Callable[[], dict[str, Any] | None]) -> Response:
    """A page of a crawl, or one that says why there is nothing to show. `read` gives what the template needs; None is 404."""
    telling = telling_of(request)
    around = frame(crawl, telling.say, tab)
    try:
        content = read()
    except reading.NothingToRead:
        return render(request, "crawl_empty.html", place=PLACE, **around, sentence=telling.say("crawl.nothing_yet"))
    except reading.UnknownPlace as error:
        raise Refused(400, str(error)) from None
    except StoreError as error:
        service_of(request).log.write("error", str(error), crawl=crawl.id)
        sentence = telling.say("crawl.unreadable")
        return render(request, "crawl_empty.html", status=503, place=PLACE, **around, sentence=sentence)
    if content is None:
        raise Refused(404, "")
    return render(request, template, place=PLACE, **around, **content)


@router.get("/manage/crawls/{crawl_id}/findings")
def findings_page(request: Request, crawl_id: int) -> Response:
    """What was found, the gravest first."""
    crawl, path = opened(request, crawl_id, "findings")
    telling, asked = telling_of(request), request.query_params.get("severity", "")
    severity = asked if asked in set(Severity) else ""

    def read() -> dict[str, Any]:
        found = kept(reading.findings, path, lang=telling.lang)
        counts = {each.value: sum(one.count for one in found if one.severity == each) for each in Severity}
        return {
            "checks": [one for one in found if severity in ("", one.severity)], "counts": counts, "severity": severity,
            "group": lambda one: LANGUAGES[telling.lang].named(GROUPS, one.group),
        }  # fmt: skip

    return shown(request, crawl, "findings", "crawl_findings.html", read)


@router.get("/manage/crawls/{crawl_id}/findings/{check}")
def check_page(request: Request, crawl_id: int, check: str) -> Response:
    """One check: why it matters, how to mend it, and every page that it applies to."""
    crawl, path = opened(request, crawl_id, "findings")
    lang, cursor = telling_of(request).lang, request.query_params.get("cursor", "")

    def read() -> dict[str, Any] | None:
        known = reading.findings(path, check=check, lang=lang, every=True)
        found = reading.affected(path, check, limit=A_PAGE, cursor=cursor or None) if known else None
        if found is None:
            return None
        rows = [
            (
                one,
                evidence(
                    FoundRow(
                        0, one.page_id or 0, one.url, one.subject, one.detail, one.data, one.depth, one.status_code, one.title
                    ),
                    LANGUAGES[lang],
                ),
            )
            for one in found[0]
        ]
        here = f"{PLACE}/{crawl.id}/findings/{check}"
        return {
            "check": known[0], "limit": _limit(known[0], lang), "rows": rows, "web": web, "kind_of": kind_of,
            "next_url": f"{here}?cursor={found[1]}" if found[1] else "", "first_url": here if cursor else "",
        }  # fmt: skip

    return shown(request, crawl, "findings", "crawl_check.html", read)


def _limit(check: CheckSummary, lang: str) -> str:
    return limit_words(Threshold(check.threshold, check.unit), LANGUAGES[lang]) if check.threshold is not None else ""


@router.get("/manage/crawls/{crawl_id}/pages")
def pages_page(request: Request, crawl_id: int) -> Response:
    """The pages, chosen and ordered by the form above them."""
    crawl, path = opened(request, crawl_id, "pages")
    asked: PagesAsked = pages_asked(request.query_params)
    cursor, say = request.query_params.get("cursor", ""), telling_of(request).say

    def read() -> dict[str, Any]:
        found, more = reading.pages(path, asked.filter(), sort=asked.sort, limit=A_PAGE, cursor=cursor or None)
        here = f"{PLACE}/{crawl.id}/pages"
        return {
            "pages": found, "asked": asked, "choices": asked.choices(say), "kind_of": kind_of, "is_audit": crawl.job == "audit",
            "time_words": time_words, "size_words": size_words,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return shown(request, crawl, "pages", "crawl_pages.html", read)


@router.get("/manage/crawls/{crawl_id}/pages/{page_id}")
def page_page(request: Request, crawl_id: int, page_id: int) -> Response:
    """One page, with everything that is known of it."""
    crawl, path = opened(request, crawl_id, "pages")
    if not 0 < page_id < LARGEST:
        raise Refused(404, "")
    telling = telling_of(request)

    def read() -> dict[str, Any] | None:
        found = reading.page(path, page_id, lang=telling.lang)
        return None if found is None else detail_of(found, telling) | {"is_audit": crawl.job == "audit"}

    return shown(request, crawl, "pages", "crawl_page.html", read)


@router.get("/manage/crawls/{crawl_id}/links")
def links_page(request: Request, crawl_id: int) -> Response:
    """Links, at first those that are broken."""
    crawl, path = opened(request, crawl_id, "links")
    asked: LinksAsked = links_asked(request.query_params)
    cursor, say = request.query_params.get("cursor", ""), telling_of(request).say

    def read() -> dict[str, Any]:
        found, more = reading.links(path, asked.filter(), limit=A_PAGE, cursor=cursor or None)
        here = f"{PLACE}/{crawl.id}/links"
        return {
            "links": found, "asked": asked, "choices": asked.choices(say), "kind_of": kind_of,
            "next_url": here + asked.query(cursor=more) if more else "", "first_url": here + asked.query() if cursor else "",
        }  # fmt: skip

    return shown(request, crawl, "links", "crawl_links.html", read)


@router.get("/manage/crawls/{crawl_id}/graph")
def graph_page(request: Request, crawl_id: int) -> Response:
    """The picture of the site."""
    crawl, path = opened(request, crawl_id, "graph")

    def read() -> dict[str, Any]:
        drawing = kept(reading.draw, path, lang=telling_of(request).lang)
        nodes = kept(reading.graph, path).nodes if drawing is not None else ()
        return {"picture": Markup(drawing.svg) if drawing is not None else "", "nodes": nodes, "kind_of": kind_of}  # noqa: S704

    return shown(request, crawl, "graph", "crawl_graph.html", read)
