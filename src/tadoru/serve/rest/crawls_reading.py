"""What a crawl found, over REST: figures, findings, pages, links, comparisons; also while it runs.

All of it is read by `jobs.audit.reading`, from the crawl's own file, which no parameter of a request ever names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from tadoru.errors import UsageError
from tadoru.jobs.audit import reading
from tadoru.serve.crawling.places import database_of
from tadoru.serve.problems import Refused
from tadoru.serve.rest import models_crawled as models
from tadoru.serve.rest.answers import UNCHANGED, json_answer, next_page, problems
from tadoru.serve.rest.crawls import ONE, CrawlId, Limit, found_crawl
from tadoru.serve.rest.crawls_asked import LinksAsked, PagesAsked
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models import LARGEST
from tadoru.serve.service import Service
from tadoru.store.crawls.values import CrawlState, ServedCrawl
from tadoru.store.places import LONGEST

router = APIRouter(tags=["crawls"])
Lang = Annotated[Literal["en", "ja"], Query(description="The language of titles and explanations.")]
Cursor = Annotated[str | None, Query(max_length=LONGEST, description="Where the list goes on, as `next` says.")]
CheckId = Annotated[str, Path(max_length=100, description="The id of a check.", examples=["title-missing"])]
PageId = Annotated[int, Path(ge=1, le=LARGEST, description="The number of a page within its crawl.")]
READS = UNCHANGED | problems(404, 409)


@router.get(ONE + "/overview", response_model=models.CrawlOverview, responses=READS, summary="Read a crawl in figures")
def read_overview(request: Request, crawl_id: CrawlId, who: Asker, service: The) -> Response:
    """States, answers, response times, indexability, findings by severity, and the runs that can be compared."""
    with opened(service, crawl_id) as path:
        return json_answer(request, who, reading.overview(path))


@router.get(ONE + "/findings", response_model=models.CrawlFindings, responses=READS, summary="List what was found")
def list_findings(
    request: Request,
    crawl_id: CrawlId,
    who: Asker,
    service: The,
    severity: Annotated[models.Severity | None, Query(description="Only of this severity.")] = None,
    every: Annotated[bool, Query(alias="all", description="Also checks that found nothing.")] = False,
    lang: Lang = "en",
) -> Response:
    """The checks that apply somewhere, the gravest first, with why they matter and how to mend it."""
    with opened(service, crawl_id) as path:
        return json_answer(request, who, {"items": reading.findings(path, severity=severity, every=every, lang=lang)})


@router.get(
    ONE + "/findings/{check}", response_model=models.CrawlAffectedPage, responses=READS, summary="List where a check applies"
)
def list_affected(
    request: Request, crawl_id: CrawlId, check: CheckId, who: Asker, service: The, limit: Limit = 50, cursor: Cursor = None,
    lang: Lang = "en",
) -> Response:  # fmt: skip
    """The pages that a check applies to, with the evidence."""
    with opened(service, crawl_id) as path:
        known = reading.findings(path, check=check, every=True, lang=lang)
        found = reading.affected(path, check, limit=limit, cursor=cursor) if known else None
        if found is None:
            raise Refused(404, f"Crawl {crawl_id} knows no such check: /findings?all=true lists them.")
        next_url = next_page(request, found[1])
        return json_answer(request, who, {"check": known[0], "items": found[0], "next": next_url}, next_url=next_url)


@router.get(ONE + "/pages", response_model=models.CrawledPages, responses=READS, summary="List the pages of a crawl")
def list_pages(request: Request, crawl_id: CrawlId, asked: Annotated[PagesAsked, Query()], who: Asker, service: The) -> Response:
    """The pages of a crawl, chosen by filters, in an order. `next` leads on without counting through what was seen."""
    falls = None if asked.order is None else asked.order == "down"
    with opened(service, crawl_id) as path:
        found, more = reading.pages(path, asked.filter(), sort=asked.sort, falls=falls, limit=asked.limit, cursor=asked.cursor)
    next_url = next_page(request, more)
    return json_answer(request, who, {"items": found, "next": next_url}, next_url=next_url)


@router.get(ONE + "/pages/{page_id}", response_model=models.CrawledPageDetail, responses=READS, summary="Read a page of a crawl")
def read_page(
    request: Request, crawl_id: CrawlId, page_id: PageId, who: Asker, service: The, lang: Lang = "en",
    links: Annotated[int, Query(ge=0, le=200, description="How many links to it, and from it.")] = 25,
) -> Response:  # fmt: skip
    """Everything that is known of a page: facts, headings, structured data, headers, redirects, findings, links."""
    with opened(service, crawl_id) as path:
        found = reading.page(path, page_id, lang=lang, links=links)
    if found is None:
        raise Refused(404, f"There is no page {page_id} in crawl {crawl_id}.")
    return json_answer(request, who, found)


@router.get(ONE + "/links", response_model=models.CrawledLinks, responses=READS, summary="List the links of a crawl")
def list_links(request: Request, crawl_id: CrawlId, asked: Annotated[LinksAsked, Query()], who: Asker, service: The) -> Response:
    """The links of a crawl with both their ends and their text."""
    with opened(service, crawl_id) as path:
        found, more = reading.links(path, asked.filter(), limit=asked.limit, cursor=asked.cursor)
    next_url = next_page(request, more)
    return json_answer(request, who, {"items": found, "next": next_url}, next_url=next_url)


@router.get(ONE + "/compare", response_model=models.CrawlComparison, responses=READS, summary="Compare a crawl")
def compare_crawl(
    request: Request,
    crawl_id: CrawlId,
    who: Asker,
    service: The,
    other: Annotated[int | None, Query(alias="with", ge=1, le=LARGEST, description="The number of an earlier crawl.")] = None,
    run: Annotated[Literal["previous"] | None, Query(description="Compare with the run before.")] = None,
    lang: Lang = "en",
    shown: Annotated[int, Query(ge=0, le=100, description="How many changes of each kind to show.")] = 20,
) -> Response:
    """What broke, was mended, came, went and changed since another crawl, or since the run before (which is the default)."""
    if other is not None and run is not None:
        raise Refused(422, "Compare with another crawl or with the run before: leave out with, or run.")
    with opened(service, crawl_id) as path:
        if other is None:
            return json_answer(request, who, reading.compare_with_previous(path, lang=lang, shown=shown))
        with opened(service, other) as before:
            return json_answer(request, who, reading.compare(before, path, lang=lang, shown=shown))


@contextmanager
def opened(service: Service, crawl_id: int) -> Iterator[FilePath]:
    """The database of a crawl; what can not be read of it is told in a sentence."""
    crawl = found_crawl(service, crawl_id)
    try:
        yield database_of(service, crawl)
    except reading.NothingToRead as error:
        raise Refused(409, _nothing_yet(crawl) or str(error)) from None
    except reading.NothingToCompare as error:
        raise Refused(409, str(error)) from None
    except UsageError as error:
        raise Refused(422, str(error)) from None


def _nothing_yet(crawl: ServedCrawl) -> str:
    if crawl.state is CrawlState.QUEUED:
        return f"Crawl {crawl.id} waits for its turn: there is nothing to read yet."
    if crawl.state is CrawlState.RUNNING:
        return f"Crawl {crawl.id} is just beginning: ask again in a moment."
    return ""
