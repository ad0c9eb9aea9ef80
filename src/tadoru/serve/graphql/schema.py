"""The root fields: the calendar; sources, runs and reviews; crawls and documentation sites.

Each field needs the permission of the REST route that `context` names. The results of a crawl are read from its own file, so only
one crawl has them; a list of crawls has their states.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, get_args

import strawberry

from tadoru.jobs.audit.crawl_results import queries
from tadoru.jobs.audit.crawl_results.models import CheckSummary, CrawlOverview
from tadoru.jobs.events.publish.json_documents import event_json, review_json, run_json
from tadoru.model.event import ReviewReason
from tadoru.serve.api import crawl_desk, crawl_models, models, source_models
from tadoru.serve.api import reviews as review_routes
from tadoru.serve.api import sources as source_routes
from tadoru.serve.api.crawl_results import CrawlPagesQuery, open_crawl
from tadoru.serve.api.crawls import crawl_json, crawl_runs_page, crawls_page, get_crawl
from tadoru.serve.api.docs_sites import DocsEntryOut, DocsSiteOut, contents_page, site_json, sites_page
from tadoru.serve.api.event_queries import StrictQuery, read_event_page
from tadoru.serve.api.events import visible_event
from tadoru.serve.api.responses import ListPart
from tadoru.serve.api.source_actions import get_run, get_source
from tadoru.serve.crawl_runner.crawl_tables import MAX_QUERY_LENGTH, SORTS, RankedCheck
from tadoru.serve.docs_sites.sites import get_docs_site
from tadoru.serve.graphql.context import Document, FieldInfo, guarded_field, parse_choice, parse_number
from tadoru.serve.graphql.limits import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from tadoru.serve.graphql.types import list_type, object_type, page_document, page_type
from tadoru.store.crawl.browse import PageSummary
from tadoru.store.served_crawls.schema import IgnoredFinding, SavedView, SharedReport

_JOBS = ("audit", "links", "docs")
_SEVERITIES = ("error", "warning", "notice", "info")
_LANGUAGES = ("en", "ja")


def _size(first: int) -> int:
    return parse_number(first, "first", most=MAX_PAGE_SIZE)


def _after(after: str | None) -> int | None:
    return None if after is None else parse_number(after, "after")


# ---- One crawl --------------------------------------------------------------------------------------------------------------
def _runs(info: FieldInfo, root: strawberry.Parent[Any], first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """Its runs, newest first, with figures for trends."""
    return page_document(crawl_runs_page(info.context.service, root["id"], limit=_size(first), cursor=_after(after)))


def _overview(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """The overview of its results."""
    with open_crawl(info.context.service, root["id"]) as path:
        return queries.read_overview(path)


def _findings(
    info: FieldInfo, root: strawberry.Parent[Any], severity: str | None = None, lang: str = "en"
) -> Any:  # fmt: skip
    """The checks with findings, most severe first, with reasons and fixes."""
    chosen = None if severity is None else parse_choice(severity, "severity", _SEVERITIES)
    with open_crawl(info.context.service, root["id"]) as path:
        return queries.list_findings(path, severity=chosen, every=False, lang=parse_choice(lang, "lang", _LANGUAGES))


def _pages(  # noqa: PLR0913, PLR0917 - one argument per filter
    info: FieldInfo,
    root: strawberry.Parent[Any],
    status: str | None = None,
    q: str | None = None,
    depth: int | None = None,
    indexable: bool | None = None,
    check: str | None = None,
    sort: str = "url",
    first: int = DEFAULT_PAGE_SIZE,
    after: str | None = None,
) -> Any:
    """Its pages, filtered and sorted."""
    given = {
        "status": status, "q": q, "depth": depth, "indexable": indexable, "check": check, "sort": sort, "limit": first,
        "cursor": after,
    }  # fmt: skip
    query = CrawlPagesQuery.model_validate({name: value for name, value in given.items() if value is not None})
    with open_crawl(info.context.service, root["id"]) as path:
        found, more = queries.list_pages(path, query.filter(), sort=query.sort, limit=query.limit, cursor=query.cursor)
    return page_document(ListPart(found, more))


def _table(
    info: FieldInfo,
    root: strawberry.Parent[Any],
    name: str,
    view: str = "",
    first: int = DEFAULT_PAGE_SIZE,
    after: str | None = None,
) -> Any:
    """A table (pages, links, redirects, resources or occurrences), with the query string of its page as the view; `next` is the
    cursor of the next page."""
    table = parse_choice(name, "name", get_args(crawl_desk.TableName))
    query = view[:MAX_QUERY_LENGTH]
    return crawl_desk.read_table_page(info.context.service, root["id"], table, query, limit=_size(first), cursor=after)


def _views(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """Its named views and segments."""
    return list(info.context.service.store.annotations.views(root["id"]))


def _segments(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """Its segments, or else its first folders, with pages, broken pages and findings."""
    return crawl_desk.read_segments(info.context.service, root["id"])


def _priorities(
    info: FieldInfo, root: strawberry.Parent[Any], sort: str = "priority", segment: str = "", lang: str = "en"
) -> Any:  # fmt: skip
    """The checks with findings by what to fix first: state, effect, effort."""
    chosen, language = parse_choice(sort, "sort", tuple(SORTS)), parse_choice(lang, "lang", _LANGUAGES)
    return crawl_desk.read_priorities(info.context.service, root["id"], sort=chosen, segment=segment[:200], lang=language)


def _ignored(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """Its ignored findings, with the reasons."""
    return list(info.context.service.store.annotations.ignored(root["id"]))


def _shares(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """The links to its report, without their keys."""
    return list(info.context.service.store.annotations.shares(root["id"]))


Crawl = object_type(crawl_models.CrawlOut)
CrawlDetail = object_type(
    crawl_models.CrawlOut,
    {
        "runs": guarded_field(_runs, page_type(object_type(crawl_models.CrawlRunOut)), "CrawlDetail.runs"),
        "overview": guarded_field(_overview, object_type(CrawlOverview), "CrawlDetail.overview"),
        "table": guarded_field(_table, object_type(crawl_models.CrawlTableOut, name="CrawlTable"), "CrawlDetail.table"),
        "views": guarded_field(_views, list_type(object_type(SavedView)), "CrawlDetail.views"),
        "segments": guarded_field(_segments, list_type(object_type(crawl_models.CrawlSegmentOut)), "CrawlDetail.segments"),
        "priorities": guarded_field(_priorities, list_type(object_type(RankedCheck)), "CrawlDetail.priorities"),
        "ignored": guarded_field(_ignored, list_type(object_type(IgnoredFinding)), "CrawlDetail.ignored"),
        "shares": guarded_field(_shares, list_type(object_type(SharedReport)), "CrawlDetail.shares"),
        "findings": guarded_field(_findings, list_type(object_type(CheckSummary)), "CrawlDetail.findings"),
        "pages": guarded_field(_pages, page_type(object_type(PageSummary), "CrawledPages"), "CrawlDetail.pages"),
    },
    name="CrawlDetail",
)


# ---- One documentation site -------------------------------------------------------------------------------------------------
def _contents(info: FieldInfo, root: strawberry.Parent[Any], first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """Its pages in reading order."""
    cursor = parse_number(after or 0, "after", least=0)
    return page_document(contents_page(info.context.service, root["id"], limit=_size(first), cursor=cursor))


DocsSite = object_type(DocsSiteOut)
DocsSiteDetail = object_type(
    DocsSiteOut,
    {"contents": guarded_field(_contents, page_type(object_type(DocsEntryOut)), "DocsSiteDetail.contents")},
    name="DocsSiteDetail",
)


# ---- Root fields ------------------------------------------------------------------------------------------------------------
def crawls(info: FieldInfo, job: str | None = None, first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """The crawls of the service, newest first."""
    limit, chosen = _size(first), None if job is None else parse_choice(job, "job", _JOBS)
    return page_document(crawls_page(info.context.service, job=chosen, limit=limit, cursor=_after(after)))


def crawl(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002 - the usual argument name
    """One crawl, its last progress and its results."""
    return crawl_json(get_crawl(info.context.service, parse_number(id, "id")))


def docs_sites(info: FieldInfo, first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """The documentation sites, newest first."""
    return page_document(sites_page(info.context.service, limit=_size(first), cursor=_after(after)))


def docs_site(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002
    """One documentation site and its pages."""
    return site_json(get_docs_site(info.context.service, parse_number(id, "id")))


CRAWL_FIELDS = {
    "crawls": guarded_field(crawls, page_type(Crawl), "crawls"),
    "crawl": guarded_field(crawl, CrawlDetail, "crawl"),
    "docs_sites": guarded_field(docs_sites, page_type(DocsSite), "docsSites"),
    "docs_site": guarded_field(docs_site, DocsSiteDetail, "docsSite"),
}
"""The root fields of crawls and documentation sites."""


# ---- Fields between types ---------------------------------------------------------------------------------------------------
def _source_of(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """Its source."""
    return info.context.sources.take(root["source_id"])


def _events_of(info: FieldInfo, root: strawberry.Parent[Any]) -> Any:
    """The events of the review, in any state."""
    found = [info.context.events.take(number) for number in root["candidate_ids"]]
    return _with_sources(info, [one for one in found if one is not None])


def _matches_of(root: strawberry.Parent[Any]) -> Any:
    """The matches in a search result; a single event has none."""
    return root.get("matches", [])


Source = object_type(source_models.SourceOut)
Match = object_type(models.EventMatchOut)
MATCHES = strawberry.field(resolver=_matches_of, graphql_type=list_type(Match), description="The matches of the search words.")
Event = object_type(models.EventOut, {"source": guarded_field(_source_of, Source, "Event.source"), "matches": MATCHES})
Run = object_type(source_models.RunOut, {"source": guarded_field(_source_of, Source, "Run.source")})
Review = object_type(models.ReviewOut, {"events": guarded_field(_events_of, list_type(Event), "Review.events")})
Status = object_type(source_models.StatusOut)
EventPage, SourcePage, RunPage, ReviewPage = (page_type(one) for one in (Event, Source, Run, Review))


def _with_sources(info: FieldInfo, items: list[Document]) -> list[Document]:
    info.context.sources.want(one["source_id"] for one in items)
    return items


# ---- Events -----------------------------------------------------------------------------------------------------------------
def events(  # noqa: PLR0913, PLR0917 - the filters of a list, each an argument
    info: FieldInfo,
    city: str | None = None,
    since: Annotated[date | None, strawberry.argument(name="from")] = None,
    until: Annotated[date | None, strawberry.argument(name="to")] = None,
    category: str | None = None,
    q: str | None = None,
    near: str | None = None,
    free: bool = False,
    source: strawberry.ID | None = None,
    updated_since: str | None = None,
    status: str | None = None,
    every: Annotated[bool, strawberry.argument(name="all")] = False,
    sort: str = "starts",
    first: int = DEFAULT_PAGE_SIZE,
    after: str | None = None,
) -> Any:
    """Events by date (starts), by update (updated) or by relevance (with q); a minus reverses the order. Each event is listed
    once, at its first matching date."""
    given = {
        "city": city, "from": since, "to": until, "category": category, "q": q, "near": near, "free": free,
        "source": source, "sort": sort,
        "updated_since": updated_since, "status": status, "all": every, "limit": first, "cursor": after,
    }  # fmt: skip
    query = StrictQuery.model_validate({name: value for name, value in given.items() if value is not None})
    found = read_event_page(query, info.context.caller, info.context.service)
    _with_sources(info, found.items)
    return page_document(found)


def event(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002 - the usual argument name
    """One event with all of its dates, including archived ones; for a merged event, the event it was merged into."""
    return event_json(visible_event(parse_number(id, "id"), info.context.caller, info.context.service))


def cities(info: FieldInfo) -> list[str]:
    """The cities of all events."""
    return list(info.context.service.store.events.cities())


def categories(info: FieldInfo) -> list[str]:
    """The categories of all events."""
    return list(info.context.service.store.events.categories())


# ---- Administration ---------------------------------------------------------------------------------------------------------
def sources(info: FieldInfo, enabled: bool | None = None, first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """The sources by ID."""
    limit, cursor = _size(first), parse_number(after or 0, "after", least=0)
    service, caller = info.context.service, info.context.caller
    return page_document(source_routes.sources_page(service, caller, enabled=enabled, limit=limit, cursor=cursor))


def source(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002
    """One source."""
    found = get_source(info.context.service, parse_number(id, "id"))
    return info.context.sources.take(found.id)


def runs(info: FieldInfo, source: strawberry.ID | None = None, first: int = DEFAULT_PAGE_SIZE, after: str | None = None) -> Any:
    """Runs, newest first."""
    source_id = None if source is None else parse_number(source, "source")
    found = source_routes.runs_page(info.context.service, source_id=source_id, limit=_size(first), cursor=_after(after))
    _with_sources(info, found.items)
    return page_document(found)


def run(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002
    """One run of a source."""
    return run_json(get_run(info.context.service, parse_number(id, "id")))


def reviews(
    info: FieldInfo, state: str = "open", reason: str | None = None, first: int = DEFAULT_PAGE_SIZE, after: str | None = None
) -> Any:  # fmt: skip
    """The review queue, oldest first."""
    wanted = None if reason is None else ReviewReason(parse_choice(reason, "reason", tuple(ReviewReason)))
    which = parse_choice(state, "state", get_args(review_routes.ReviewState))
    limit, cursor = _size(first), parse_number(after or 0, "after", least=0)
    found = review_routes.reviews_page(info.context.service, state=which, reason=wanted, limit=limit, cursor=cursor)
    info.context.events.want(number for one in found.items for number in one["candidate_ids"])
    _with_sources(info, found.items)
    return page_document(found)


def review(info: FieldInfo, id: strawberry.ID) -> Any:  # noqa: A002
    """One review."""
    found = review_json(review_routes.find_review(info.context.service, parse_number(id, "id")))
    info.context.events.want(found["candidate_ids"])
    return found


def status(info: FieldInfo, days: int = 30) -> Any:
    """The health of the sources: rows, failure rate, duplicate rate, delay."""
    return source_routes.status_document(info.context.service, parse_number(days, "days", most=90))


EVENT_FIELDS = {
    "events": guarded_field(events, EventPage, "events"),
    "event": guarded_field(event, Event, "event"),
    "cities": guarded_field(cities, list_type(str), "cities"),
    "categories": guarded_field(categories, list_type(str), "categories"),
    "sources": guarded_field(sources, SourcePage, "sources"),
    "source": guarded_field(source, Source, "source"),
    "runs": guarded_field(runs, RunPage, "runs"),
    "run": guarded_field(run, Run, "run"),
    "reviews": guarded_field(reviews, ReviewPage, "reviews"),
    "review": guarded_field(review, Review, "review"),
    "status": guarded_field(status, Status, "status"),
}
Query = strawberry.type(
    type("Query", (), EVENT_FIELDS | CRAWL_FIELDS), description="Read-only queries. Changes are made over REST."
)
