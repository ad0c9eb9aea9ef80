"""The results of a crawl over REST, also while it runs: overview, findings, pages, links, comparison, graph, exports, backup.

`jobs.audit.crawl_results` reads them from the crawl's own file, which no parameter of a request names. Names of downloads consist
of the crawl's ID and fixed words, never of user input. Unknown parameters are errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, field_validator

from tadoru.clock import to_datetime
from tadoru.errors import Message, UsageError
from tadoru.jobs.audit.crawl_results import downloads, queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import CrawlOverview, PageDetail, SiteGraph
from tadoru.jobs.audit.crawl_results.queries import DEFAULT_NODES, MAX_NODES
from tadoru.jobs.audit.crawl_results.run_comparison import ComparisonResult
from tadoru.jobs.audit.export.exporter import parse_statuses
from tadoru.model.finding import SeverityName
from tadoru.serve.api import crawl_models as models
from tadoru.serve.api.crawls import CRAWL_PATH, CrawlId, Limit, get_crawl
from tadoru.serve.api.models import MAX_NUMBER
from tadoru.serve.api.responses import ApiRouter, Call, ListPart, Responses, StreamResponse, next_page_url, problem_responses
from tadoru.serve.crawl_runner.crawl_files import run_database, shown_run
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service
from tadoru.store.crawl.browse import LinkFilter, PageFilter
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.sqlite.store import CrawlNotReadable
from tadoru.store.cursors import LONGEST
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

ExportFormat = Literal["csv", "jsonl", "parquet", "xlsx", "sitemap", "dot"]
CrawlPageSort = Literal["url", "depth", "found", "title", "status_code", "response_ms", "size", "inlinks", "link_score"]
PageParam = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
CheckName = Annotated[str, Field(max_length=100)]
_STATUS = Field(None, max_length=200, description="Status codes or states: 404, 4xx, 300..399, skipped.", examples=["4xx,error"])
_TABLES: dict[str, Any] = {"items": {"type": "string", "enum": list(TABLES)}}
_WHOSE: dict[str, bool | None] = {"site": True, "others": False, "all": None}


class _StrictQuery(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class _StatusQuery(_StrictQuery):
    status: str | None = _STATUS

    @field_validator("status")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        try:
            parse_statuses([value or ""])
        except UsageError as error:
            raise ValueError(str(error).removeprefix("--")) from None
        return value

    def standing(self) -> dict[str, Any]:
        """The status filter: code ranges and states."""
        codes, states = parse_statuses([self.status or ""])
        return {"codes": codes, "statuses": states}


class _ListQuery(BaseModel):
    limit: int = Field(50, ge=1, le=200, description="Maximum number of results.")
    cursor: str | None = Field(None, max_length=LONGEST, description="Position in the list, from `next`.")


class CrawlPagesQuery(_StatusQuery, _ListQuery):
    """Filters, order and size of a list of pages."""

    of: Literal["site", "others", "all"] = Field("site", description="URLs of the site, external URLs, or all.")
    q: str | None = Field(None, max_length=200, description="Text in the URL or title.", examples=["about"])
    depth: int | None = Field(None, ge=0, le=1000, description="Link depth; 1000 for pages without inlinks.")
    indexable: bool | None = Field(None, description="Indexable pages, or others.")
    content_type: str | None = Field(None, max_length=100, description="Prefix of the content type.", examples=["text/html"])
    check: CheckName | None = Field(None, description="Pages with a finding of this check.", examples=["title-missing"])
    sort: CrawlPageSort = Field("url", description="Sort key.")
    order: Literal["up", "down"] | None = Field(None, description="Ascending or descending.")

    def filter(self) -> PageFilter:
        """The filter of the reader."""
        return PageFilter(
            internal=_WHOSE[self.of], q=self.q or "", depth=self.depth, indexable=self.indexable, check=self.check or "",
            content_type=self.content_type or "", **self.standing(),
        )  # fmt: skip


class CrawlLinksQuery(_ListQuery, _StrictQuery):
    """Filters and size of a list of links."""

    source: PageParam | None = Field(None, description="ID of the source page.")
    target: PageParam | None = Field(None, description="ID of the target page.")
    internal: bool | None = Field(None, description="Internal links, or external ones.")
    broken: bool = Field(False, description="Broken links only.")
    nofollow: bool | None = Field(None, description="Links with nofollow, or without.")
    q: str | None = Field(None, max_length=200, description="Text in the target URL or anchor text.")

    def filter(self) -> LinkFilter:
        """The filter of the reader."""
        return LinkFilter(
            source=self.source, target=self.target, internal=self.internal, broken=self.broken, nofollow=self.nofollow,
            q=self.q or "",
        )  # fmt: skip


class CrawlExportQuery(_StatusQuery):
    """Format and filters of an export."""

    form: ExportFormat = Field(alias="format", description="File format.")
    table: list[str] = Field(
        ["pages"], min_length=1, max_length=len(TABLES), description="Table; several for xlsx.", json_schema_extra=_TABLES
    )
    severity: SeverityName | None = Field(None, description="Findings of this severity, or pages with one.")
    check: CheckName | None = Field(None, description="Findings of this check, or pages with one.")
    internal: bool | None = Field(None, description="Internal URLs, or external ones.")
    run: PageParam | None = Field(None, description="ID of a run; by default the last finished one.")

    def selection(self) -> ExportSelection:
        """The filter of the reader."""
        return ExportSelection(
            checks=(self.check,) if self.check else (), severities=(self.severity,) if self.severity else (),
            internal=self.internal, **self.standing(),
        )  # fmt: skip


router = ApiRouter(tags=["crawls"])
Lang = Annotated[Literal["en", "ja"], Query(description="The language of titles and explanations.")]
Cursor = Annotated[str | None, Query(max_length=LONGEST, description="Position in the list, from `next`.")]
CheckId = Annotated[str, Path(max_length=100, description="The id of a check.", examples=["title-missing"])]
PageId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of a page within its crawl.")]


@router.read(CRAWL_PATH + "/overview", CrawlOverview, "Read the overview", 404, 409)
def read_overview(call: Call, crawl_id: CrawlId) -> Response:
    """States, status codes, response times, indexability, findings by severity, and runs."""
    with open_crawl(call.service, crawl_id) as path:
        return call.json(queries.read_overview(path))


@router.read(CRAWL_PATH + "/findings", models.CrawlFindingsOut, "List findings", 404, 409)
def list_findings(
    call: Call,
    crawl_id: CrawlId,
    severity: Annotated[SeverityName | None, Query(description="Findings of this severity.")] = None,
    every: Annotated[bool, Query(alias="all", description="Include checks without findings.")] = False,
    lang: Lang = "en",
) -> Response:
    """The checks with findings, most severe first, with reasons and fixes."""
    with open_crawl(call.service, crawl_id) as path:
        return call.json({"items": queries.list_findings(path, severity=severity, every=every, lang=lang)})


@router.read(CRAWL_PATH + "/findings/{check}", models.CrawlAffectedPageOut, "List the pages of a finding", 404, 409)
def list_affected(
    call: Call, crawl_id: CrawlId, check: CheckId, limit: Limit = 50, cursor: Cursor = None, lang: Lang = "en"
) -> Response:
    """The affected pages of a check, with evidence."""
    with open_crawl(call.service, crawl_id) as path:
        known = queries.list_findings(path, check=check, every=True, lang=lang)
        found = queries.list_affected(path, check, limit=limit, cursor=cursor) if known else None
        if found is None:
            raise HttpProblem(
                404, "Crawl {id} has no check {check}. List its checks with /findings?all=true.", id=crawl_id, check=check
            )
        next_url = next_page_url(call.request, found[1])
        return call.json({"check": known[0], "items": found[0], "next": next_url}, next_url=next_url)


@router.read(CRAWL_PATH + "/pages", models.CrawledPagesOut, "List the pages of a crawl", 404, 409)
def list_pages(call: Call, crawl_id: CrawlId, query: Annotated[CrawlPagesQuery, Query()]) -> Response:
    """The pages of a crawl, filtered and sorted."""
    falls = None if query.order is None else query.order == "down"
    with open_crawl(call.service, crawl_id) as path:
        found, more = queries.list_pages(
            path, query.filter(), sort=query.sort, falls=falls, limit=query.limit, cursor=query.cursor
        )
    return call.list(ListPart(found, more))


@router.read(CRAWL_PATH + "/pages/{page_id}", PageDetail, "Read a page of a crawl", 404, 409)
def read_page(
    call: Call,
    crawl_id: CrawlId,
    page_id: PageId,
    lang: Lang = "en",
    links: Annotated[int, Query(ge=0, le=200, description="Maximum inlinks and outlinks.")] = 25,
) -> Response:
    """All data of a page: facts, headings, structured data, headers, redirects, findings, links."""
    with open_crawl(call.service, crawl_id) as path:
        found = queries.read_page(path, page_id, lang=lang, links=links)
    if found is None:
        raise HttpProblem(404, "Crawl {id} has no page {page}.", id=crawl_id, page=page_id)
    return call.json(found)


@router.read(CRAWL_PATH + "/links", models.CrawledLinksOut, "List the links of a crawl", 404, 409)
def list_links(call: Call, crawl_id: CrawlId, query: Annotated[CrawlLinksQuery, Query()]) -> Response:
    """The links of a crawl with source, target and anchor text."""
    with open_crawl(call.service, crawl_id) as path:
        found, more = queries.list_links(path, query.filter(), limit=query.limit, cursor=query.cursor)
    return call.list(ListPart(found, more))


@router.read(CRAWL_PATH + "/compare", ComparisonResult, "Compare a crawl", 404, 409)
def compare_crawl(
    call: Call,
    crawl_id: CrawlId,
    other: Annotated[int | None, Query(alias="with", ge=1, le=MAX_NUMBER, description="ID of an earlier crawl.")] = None,
    run: Annotated[Literal["previous"] | None, Query(description="Compare with the previous run.")] = None,
    lang: Lang = "en",
    shown: Annotated[int, Query(ge=0, le=100, description="Maximum changes of each kind.")] = 20,
) -> Response:
    """What broke, was fixed, added, removed or changed since another crawl or since the previous run (default)."""
    if other is not None and run is not None:
        raise HttpProblem(422, "Use either “with” or “run”, not both.")
    with open_crawl(call.service, crawl_id) as path:
        if other is None:
            return call.json(run_comparison.compare_with_previous(path, lang=lang, shown=shown))
        with open_crawl(call.service, other) as before:
            return call.json(run_comparison.compare_crawls(before, path, lang=lang, shown=shown))


@contextmanager
def open_crawl(service: Service, crawl_id: int, run_id: int | None = None) -> Iterator[FilePath]:
    """The results of the last finished run of a crawl, or of its first; errors of the reader become HttpProblem."""
    crawl = get_crawl(service, crawl_id)
    path = shown_run(service, crawl).path if run_id is None else run_database(service, crawl, run_id)
    if path is None:
        raise HttpProblem(404, "The results of run {run} of crawl {id} are not available.", run=run_id, id=crawl_id)
    try:
        yield path
    except CrawlNotReadable as error:
        raise HttpProblem(409, _nothing_yet(crawl) or error) from None
    except run_comparison.NothingToCompare as error:
        raise HttpProblem(409, error) from None
    except UsageError as error:
        raise HttpProblem(422, error) from None


def _nothing_yet(crawl: ServedCrawl) -> Message | None:
    if crawl.state is CrawlState.QUEUED:
        return Message("Crawl {id} is queued and has no results yet.", id=crawl.id)
    if crawl.state is CrawlState.RUNNING:
        return Message("Crawl {id} is starting and has no results yet. Try again in a moment.", id=crawl.id)
    return None


SVG = "image/svg+xml"
_ALONE = "default-src 'none'; sandbox"
"""The policy of a drawing that is opened by itself: nothing is allowed."""


@router.read(
    CRAWL_PATH + "/graph",
    SiteGraph,
    "Read or draw the graph of a site",
    404,
    409,
    other={200: {"content": {SVG: {"schema": {"type": "string"}}}}},
)
def read_graph(
    call: Call,
    crawl_id: CrawlId,
    most: Annotated[int, Query(ge=1, le=MAX_NODES, description="Maximum number of pages.")] = DEFAULT_NODES,
    lang: Lang = "en",
) -> Response:
    """The pages with the highest link score and the links between them; with `Accept: image/svg+xml` as a drawing."""
    with open_crawl(call.service, crawl_id) as path:
        if not _prefers_svg(call.request):
            return call.json(queries.read_graph(path, most=most))
        drawing = queries.draw_site_graph(path, most=most, lang=lang)
    if drawing is None:
        raise HttpProblem(409, "Crawl {id} has no pages to draw yet. Try again in a moment.", id=crawl_id)
    data = queries.standalone_svg(drawing.svg).encode(errors="replace")
    return call.content(data, SVG, {"Content-Security-Policy": _ALONE})


def file_responses(*types: str) -> Responses:
    """The media types of a file for OpenAPI."""
    return {
        200: {"description": "The file.", "content": {one.partition(";")[0]: {"schema": {"type": "string"}} for one in types}}
    }


@router.get(
    CRAWL_PATH + "/export",
    response_class=StreamingResponse,
    responses=problem_responses(404, 409)
    | file_responses(*(form.media_type for form in downloads.DOWNLOAD_FORMATS.values()), "application/zip"),
    summary="Export a crawl",
)
def export_crawl(call: Call, crawl_id: CrawlId, query: Annotated[CrawlExportQuery, Query()]) -> Response:
    """The crawl as a file, streamed. A large sitemap is an archive of several."""
    with open_crawl(call.service, crawl_id, query.run) as path:
        made = downloads.export_crawl(path, query.form, query.table, query.selection(), now=to_datetime(call.service.clock.now()))
    tables = query.table[0] if len(query.table) == 1 else "tables"
    what = tables if downloads.DOWNLOAD_FORMATS[query.form].of_tables else query.form
    return download(made, f"crawl-{crawl_id}-{what}{made.suffix}")


@router.get(
    CRAWL_PATH + "/backup",
    response_class=StreamingResponse,
    responses=problem_responses(404, 409) | file_responses("application/vnd.sqlite3"),
    summary="Back up a crawl",
)
def back_up_crawl(call: Call, crawl_id: CrawlId) -> Response:
    """A consistent copy of the crawl's database, also while it runs: a SQLite file that every command can read."""
    with open_crawl(call.service, crawl_id) as path:
        made = downloads.back_up_crawl(path)
    return download(made, f"crawl-{crawl_id}{made.suffix}")


def download(made: downloads.Download, name: str) -> Response:
    """A file, streamed."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    if made.size is not None:
        headers["Content-Length"] = str(made.size)
    return StreamResponse(made.chunks, headers=headers, media_type=made.media_type)


def _prefers_svg(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return SVG in accepted and "application/json" not in accepted
