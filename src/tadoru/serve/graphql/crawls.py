"""Crawls and documentation sites, for those who may read them.

What a crawl found is read from its own file, and so is asked of one crawl at a time: a list of crawls tells how they stand.
"""

from __future__ import annotations

from typing import Any

import strawberry

from tadoru.jobs.audit import reading
from tadoru.serve.docs_sites.reading import pages as pages_of_site
from tadoru.serve.docs_sites.sites import site_of, sites
from tadoru.serve.graphql.asking import one_of, whole
from tadoru.serve.graphql.limits import A_PAGE, LARGEST_PAGE
from tadoru.serve.graphql.rights import Asked, field
from tadoru.serve.graphql.types import list_of, object_of, page, page_of
from tadoru.serve.rest import models_crawled, models_crawls, models_docs
from tadoru.serve.rest.crawls import crawl_json, found_crawl
from tadoru.serve.rest.crawls_asked import PagesAsked
from tadoru.serve.rest.crawls_reading import opened
from tadoru.serve.rest.docs_sites import entry_json, site_json

_JOBS = ("audit", "links", "docs")
_SEVERITIES = ("error", "warning", "notice", "info")
_LANGUAGES = ("en", "ja")


def _size(first: int) -> int:
    return whole(first, "first", most=LARGEST_PAGE)


def _after(after: str | None) -> int | None:
    return None if after is None else whole(after, "after")


# ---- One crawl --------------------------------------------------------------------------------------------------------------
def _runs(info: Asked, root: strawberry.Parent[Any], first: int = A_PAGE, after: str | None = None) -> Any:
    """Its runs, the newest first, with numbers to see a trend by."""
    limit = _size(first)
    found = info.context.service.store.crawl_runs(root["id"], limit=limit + 1, before=_after(after))
    return page(list(found[:limit]), found[limit - 1].id if len(found) > limit else None)


def _overview(info: Asked, root: strawberry.Parent[Any]) -> Any:
    """What it found, in figures."""
    with opened(info.context.service, root["id"]) as path:
        return reading.overview(path)


def _findings(
    info: Asked, root: strawberry.Parent[Any], severity: str | None = None, lang: str = "en"
) -> Any:  # fmt: skip
    """The checks that apply somewhere, the gravest first, with why they matter and how to mend it."""
    chosen = None if severity is None else one_of(severity, "severity", _SEVERITIES)
    with opened(info.context.service, root["id"]) as path:
        return reading.findings(path, severity=chosen, every=False, lang=one_of(lang, "lang", _LANGUAGES))


def _pages(  # noqa: PLR0913, PLR0917 - the filters of a list, each an argument
    info: Asked, root: strawberry.Parent[Any], status: str | None = None, q: str | None = None, depth: int | None = None,
    indexable: bool | None = None, check: str | None = None, sort: str = "url", first: int = A_PAGE, after: str | None = None,
) -> Any:  # fmt: skip
    """Its pages, chosen by filters, in an order."""
    given = {
        "status": status, "q": q, "depth": depth, "indexable": indexable, "check": check, "sort": sort, "limit": first,
        "cursor": after,
    }  # fmt: skip
    asked = PagesAsked.model_validate({name: value for name, value in given.items() if value is not None})
    with opened(info.context.service, root["id"]) as path:
        found, more = reading.pages(path, asked.filter(), sort=asked.sort, limit=asked.limit, cursor=asked.cursor)
    return page(list(found), more)


Crawl = object_of(models_crawls.Crawl)
CrawlDetail = object_of(
    models_crawls.Crawl,
    {
        "runs": field(_runs, page_of(object_of(models_crawls.CrawlRun)), "CrawlDetail.runs"),
        "overview": field(_overview, object_of(models_crawled.CrawlOverview), "CrawlDetail.overview"),
        "findings": field(_findings, list_of(object_of(models_crawled.CrawlCheck)), "CrawlDetail.findings"),
        "pages": field(_pages, page_of(object_of(models_crawled.CrawledPage), "CrawledPages"), "CrawlDetail.pages"),
    },
    name="CrawlDetail",
)


# ---- One documentation site -------------------------------------------------------------------------------------------------
def _contents(info: Asked, root: strawberry.Parent[Any], first: int = A_PAGE, after: str | None = None) -> Any:
    """Its pages in reading order."""
    limit, place = _size(first), whole(after or 0, "after", least=0)
    found = pages_of_site(site_of(info.context.service, root["id"]), after=place, limit=limit + 1)
    return page([entry_json(one) for one in found[:limit]], found[limit - 1].place if len(found) > limit else None)


DocsSite = object_of(models_docs.DocsSite)
DocsSiteDetail = object_of(
    models_docs.DocsSite,
    {"contents": field(_contents, page_of(object_of(models_docs.DocsEntry)), "DocsSiteDetail.contents")},
    name="DocsSiteDetail",
)


# ---- What one may begin with ------------------------------------------------------------------------------------------------
def crawls(info: Asked, job: str | None = None, first: int = A_PAGE, after: str | None = None) -> Any:
    """The crawls of the service, the newest first."""
    limit, chosen = _size(first), None if job is None else one_of(job, "job", _JOBS)
    found = info.context.service.store.crawls(job=chosen, limit=limit + 1, before=_after(after))
    return page([crawl_json(one) for one in found[:limit]], found[limit - 1].id if len(found) > limit else None)


def crawl(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002 - what people write
    """One crawl, the last that was heard of its run, and what it found."""
    return crawl_json(found_crawl(info.context.service, whole(id, "id")))


def docs_sites(info: Asked, first: int = A_PAGE, after: str | None = None) -> Any:
    """The documentation sites, the newest first."""
    limit = _size(first)
    found = sites(info.context.service, limit=limit + 1, before=_after(after))
    return page([site_json(one) for one in found[:limit]], found[limit - 1].id if len(found) > limit else None)


def docs_site(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002
    """One documentation site, and its pages."""
    return site_json(site_of(info.context.service, whole(id, "id")))


CRAWLS = {
    "crawls": field(crawls, page_of(Crawl), "crawls"),
    "crawl": field(crawl, CrawlDetail, "crawl"),
    "docs_sites": field(docs_sites, page_of(DocsSite), "docsSites"),
    "docs_site": field(docs_site, DocsSiteDetail, "docsSite"),
}
"""The fields that this room adds to what one may begin with."""
