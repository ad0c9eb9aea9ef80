"""What a team keeps about a crawl over REST: its tables and named views, segments, priorities, ignored findings, and links to
its report.

A view is the query string of its page, so that one that was found in the browser is read by a program as it is.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote

from fastapi import Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from tadoru.clock import to_datetime
from tadoru.jobs.audit.crawl_results import downloads, queries
from tadoru.serve.api import crawl_models as models
from tadoru.serve.api.crawl_results import Cursor, Lang, download, file_responses, open_crawl
from tadoru.serve.api.crawls import CRAWL_PATH, CrawlId, Limit, get_crawl
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ApiRouter, Call, next_page_url, problem_responses, uncached_response, usage_errors_as
from tadoru.serve.crawl_runner.crawl_tables import (
    MAX_QUERY_LENGTH,
    SORTS,
    TABS,
    RankedCheck,
    TableView,
    find_segment,
    list_finding_rows,
    named_segments,
    parse_view,
    save_view,
)
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, request_origin
from tadoru.store.crawl.tables import MAX_FILTER_LENGTH
from tadoru.store.served_crawls.schema import ServedCrawl

router = ApiRouter(tags=["crawls"])
SHARED_URL = "/shared"
TableName = Literal["pages", "links", "redirects", "resources", "occurrences"]
Table = Annotated[TableName, Path(description="The table; `occurrences` are the findings, a row each.")]
View = Annotated[
    str, Query(max_length=MAX_QUERY_LENGTH, description="The query string of its page.", examples=["answer=4xx&sort=inlinks"])
]
Segment = Annotated[
    str, Query(max_length=MAX_FILTER_LENGTH, description="The name of a segment, a folder, or a pattern of paths.")
]
Id = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID in the list.")]
TABLE_PATH = CRAWL_PATH + "/tables/{table}"


def table_view(service: Service, crawl: ServedCrawl, path: FilePath, table: str, query: str) -> TableView:
    """The view of a table that a query string asks for."""
    given = parse_qsl(query.removeprefix("?"))
    return parse_view(TABS[table], given, lambda text: find_segment(service, crawl, path, text))


def read_table_page(service: Service, crawl_id: int, table: str, query: str, *, limit: int, cursor: str | None) -> dict[str, Any]:
    """A page of a table with the columns of a view."""
    crawl = get_crawl(service, crawl_id)
    with open_crawl(service, crawl_id) as path:
        view = table_view(service, crawl, path, table, query)
        found = queries.browse_table(path, TABS[table], view.asked, limit=limit, cursor=cursor)
    places = [place for place, one in enumerate(TABS[table].columns) if one in view.columns]
    return {
        "columns": [one.name for one in view.columns], "rows": [[row[place] for place in places] for row in found.rows],
        "total": found.total, "is_capped": found.is_capped, "next": found.next,
    }  # fmt: skip


@router.read(TABLE_PATH, models.CrawlTableOut, "Read a table of a crawl", 404, 409)
def read_table(
    call: Call, crawl_id: CrawlId, table: Table, view: View = "", limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """A page of a table as the pages of the service show it: filtered, sorted, with the chosen columns."""
    found = read_table_page(call.service, crawl_id, table, view, limit=limit, cursor=cursor)
    next_url = next_page_url(call.request, found["next"])
    return call.json(found | {"next": next_url}, next_url=next_url)


@router.get(
    TABLE_PATH + "/export",
    response_class=StreamingResponse,
    responses=problem_responses(404, 409)
    | file_responses(*(form.media_type for form in downloads.DOWNLOAD_FORMATS.values() if form.of_tables)),
    summary="Export a table of a crawl",
)
def export_table(
    call: Call,
    crawl_id: CrawlId,
    table: Table,
    form: Annotated[Literal["csv", "jsonl", "parquet", "xlsx"], Query(alias="format", description="File format.")],
    view: View = "",
) -> Response:
    """All rows of a view as a file, streamed."""
    crawl, now = get_crawl(call.service, crawl_id), to_datetime(call.service.clock.now())
    with open_crawl(call.service, crawl_id) as path:
        asked = table_view(call.service, crawl, path, table, view)
        columns = [one.name for one in asked.columns]
        made = downloads.export_view(path, form, asked.table, asked.asked, columns, now=now)
    return download(made, f"crawl-{crawl_id}-{table}{made.suffix}")


@router.read(CRAWL_PATH + "/views", models.CrawlViewsOut, "List the views of a crawl", 404)
def list_views(call: Call, crawl_id: CrawlId) -> Response:
    """The named views of its tables, and its segments (`tab` is `segments`, `query` their paths)."""
    crawl = get_crawl(call.service, crawl_id)
    return call.json({"items": call.store.annotations.views(crawl.id)})


@router.change("POST", CRAWL_PATH + "/views", models.CrawlViewOut, "Name a view of a crawl", 404, status=201)
def add_view(call: Call, crawl_id: CrawlId, given: models.NewCrawlView) -> Response:
    """Name a view of a table, or define a segment; one of the same name is replaced."""
    crawl = get_crawl(call.service, crawl_id)
    with usage_errors_as(422):
        saved = save_view(call.service, crawl, call.actor, tab=given.tab, name=given.name, query=given.query)
    return uncached_response(saved, status=201)


@router.delete(CRAWL_PATH + "/views/{view_id}", status_code=204, responses=problem_responses(404), summary="Remove a view")
def remove_view(call: Call, crawl_id: CrawlId, view_id: Id) -> Response:
    """Remove a named view or a segment."""
    call.store.annotations.remove_view(get_crawl(call.service, crawl_id).id, view_id, call.actor)
    return Response(status_code=204)


def read_segments(service: Service, crawl_id: int) -> list[dict[str, Any]]:
    """The segments of a crawl with their figures: those that were defined, or else its first folders."""
    crawl = get_crawl(service, crawl_id)
    with open_crawl(service, crawl_id) as path:
        found = queries.list_segments(path, named=named_segments(service, crawl, path))
    return [{"name": name, "pages": pages, "broken": broken, "findings": findings} for name, pages, broken, findings in found]


@router.read(CRAWL_PATH + "/segments", models.CrawlSegmentsOut, "List the segments of a crawl", 404, 409)
def list_segments(call: Call, crawl_id: CrawlId) -> Response:
    """The segments that were defined for a crawl, or else its first folders, with pages, broken pages and findings."""
    return call.json({"items": read_segments(call.service, crawl_id)})


def read_priorities(
    service: Service, crawl_id: int, *, sort: str = "priority", segment: str = "", template: str = "", lang: str = "en"
) -> list[RankedCheck]:
    """The checks with findings by what to fix first, or in another order."""
    crawl, counts = get_crawl(service, crawl_id), None
    with open_crawl(service, crawl_id) as path:
        if segment or template:
            part = find_segment(service, crawl, path, segment) if segment else None
            counts = queries.count_in_segment(path, segment=part, template=template)
        return sorted(list_finding_rows(service, crawl, path, lang=lang, counts=counts), key=SORTS[sort])


@router.read(CRAWL_PATH + "/priorities", models.CrawlPrioritiesOut, "List findings by priority", 404, 409)
def list_priorities(
    call: Call,
    crawl_id: CrawlId,
    sort: Annotated[
        Literal["priority", "finding", "severity", "count", "state", "effect", "effort"], Query(description="Sort key.")
    ] = "priority",
    segment: Segment = "",
    template: Annotated[str, Query(max_length=100, description="The findings on pages of this template.")] = "",
    lang: Lang = "en",
) -> Response:
    """The checks with findings: state since the previous run, effect, effort and priority."""
    found = read_priorities(call.service, crawl_id, sort=sort, segment=segment, template=template, lang=lang)
    return call.json({"items": found})


@router.read(CRAWL_PATH + "/ignored", models.CrawlIgnoredListOut, "List ignored findings", 404)
def list_ignored(call: Call, crawl_id: CrawlId) -> Response:
    """The checks and URLs that are ignored, with the reasons."""
    return call.json({"items": call.store.annotations.ignored(get_crawl(call.service, crawl_id).id)})


@router.change("POST", CRAWL_PATH + "/ignored", models.CrawlIgnoredListOut, "Ignore a finding", 404, status=201)
def ignore_finding(call: Call, crawl_id: CrawlId, given: models.NewIgnoredFinding) -> Response:
    """Ignore a check, or one URL of it, for a reason. The score of the run still counts it."""
    crawl = get_crawl(call.service, crawl_id)
    with usage_errors_as(422):
        call.store.annotations.ignore(crawl.id, call.actor, check_id=given.check, subject=given.url, reason=given.reason)
    return uncached_response({"items": call.store.annotations.ignored(crawl.id)}, status=201)


@router.delete(
    CRAWL_PATH + "/ignored/{ignored_id}", status_code=204, responses=problem_responses(404), summary="Reopen a finding"
)
def reopen_finding(call: Call, crawl_id: CrawlId, ignored_id: Id) -> Response:
    """No longer ignore a finding."""
    call.store.annotations.unignore(get_crawl(call.service, crawl_id).id, ignored_id, call.actor)
    return Response(status_code=204)


@router.read(CRAWL_PATH + "/shares", models.CrawlSharesOut, "List the links to a report", 404)
def list_shares(call: Call, crawl_id: CrawlId) -> Response:
    """The links to the report of a crawl, without their keys."""
    return call.json({"items": call.store.annotations.shares(get_crawl(call.service, crawl_id).id)})


@router.change("POST", CRAWL_PATH + "/shares", models.NewCrawlShareOut, "Share a report", 404, 409, status=201)
def share_report(call: Call, crawl_id: CrawlId, given: models.NewCrawlShare) -> Response:
    """Create a link to the report of an audit for somebody without an account. It is returned once."""
    crawl = get_crawl(call.service, crawl_id)
    if crawl.job != "audit":
        raise HttpProblem(409, "Only an audit has a report.")
    with usage_errors_as(422):
        token = call.store.annotations.share(crawl.id, call.actor, label=given.label, days=given.days)
    return uncached_response({"url": shared_url(call.request, token)}, status=201)


@router.delete(CRAWL_PATH + "/shares/{share_id}", status_code=204, responses=problem_responses(404), summary="Revoke a link")
def revoke_share(call: Call, crawl_id: CrawlId, share_id: Id) -> Response:
    """Revoke a link to a report."""
    call.store.annotations.revoke_share(get_crawl(call.service, crawl_id).id, share_id, call.actor)
    return Response(status_code=204)


def shared_url(request: Request, token: str) -> str:
    """The URL of a shared report."""
    return f"{request_origin(request)}{SHARED_URL}?key={quote(token)}"
