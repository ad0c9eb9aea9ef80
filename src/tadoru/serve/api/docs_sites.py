"""Documentation sites over REST: list, pages as JSON or Markdown, search, changes, downloads, refresh.

Field names are those of a site's index.json.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import Field

from tadoru.serve.api.models import MAX_NUMBER, ResponseModel, page_model
from tadoru.serve.api.responses import (
    ApiRouter,
    Call,
    ListPart,
    Responses,
    cache_headers,
    content_response,
    entity_tag,
    is_not_modified,
    list_part,
    problem_responses,
    uncached_response,
)
from tadoru.serve.auth.principal import Principal
from tadoru.serve.docs_sites import sites
from tadoru.serve.service import Service
from tadoru.store.crawl.documents import DocumentRunChanges, DocumentVersion
from tadoru.store.docs_search import IndexedPage

STATES = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
KINDS = Literal["added", "changed", "removed"]


class DocsFileOut(ResponseModel):
    """A file for download."""

    name: str = Field(examples=["full.md"])
    bytes: int
    url: str = Field(examples=["/api/v1/docs-sites/3/download/full.md"])


class DocsSiteOut(ResponseModel):
    """A documentation site as Markdown."""

    id: int
    name: str = Field(examples=["Kettle handbook"])
    url: str = Field(description="Start URL of its crawl.", examples=["https://docs.example/kettle/"])
    title: str = Field(examples=["The Kettle Handbook"])
    pages: int
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="Time of the last change.")
    last_checked: datetime | None = Field(alias="lastChecked", description="Time of the last crawl.")
    state: STATES
    error: str = Field(description="Reason of the last failure.", examples=[""])


class DocsSiteDetailOut(DocsSiteOut):
    """The same, with its files."""

    files: list[DocsFileOut]


DocsSitePageOut = page_model("DocsSitePage", DocsSiteOut, "A page of sites.", examples=["/api/v1/docs-sites?cursor=3"])


class DocsEntryOut(ResponseModel):
    """A page of a site, without its text."""

    number: int = Field(description="Permanent number of the page.")
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="Time of its last change.")
    hash: str = Field(
        description="SHA-256 of its Markdown.", examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    )
    breadcrumbs: list[str] = Field(examples=[["Guide"]])


DocsEntriesOut = page_model(
    "DocsEntries",
    DocsEntryOut,
    "A page of the table of contents, in reading order.",
    examples=["/api/v1/docs-sites/3/pages?cursor=100"],
)


class DocsHeadingOut(ResponseModel):
    """A heading of a page."""

    level: int
    path: list[str] = Field(description="The parent headings and its own.", examples=[["Install", "Windows"]])
    anchor: str | None = Field(description="Fragment of the heading on the site.", examples=["windows"])


class DocsVersionOut(ResponseModel):
    """An earlier version of a page."""

    id: int
    title: str = Field(examples=["Install"])
    hash: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    since: datetime
    until: datetime | None = Field(description="Null for the current version.")


class DocsPageOut(DocsEntryOut):
    """A page with its Markdown."""

    markdown: str = Field(examples=["# Install\n\nFill the kettle.\n"])
    headings: list[DocsHeadingOut]
    previous: int | None = Field(description="Previous page in reading order.")
    next: int | None = Field(description="Next page in reading order.")
    versions: list[DocsVersionOut] = Field(description="Earlier versions, newest first.")


class DocsHitOut(ResponseModel):
    """A section that matches a query."""

    site: int
    number: int = Field(description="Number of its page.")
    url: str = Field(
        description="URL with the fragment of the heading.", examples=["https://docs.example/kettle/install#windows"]
    )
    title: str = Field(examples=["Install"])
    path: list[str] = Field(examples=[["Install", "Windows"]])
    snippet: str = Field(description="Plain text around the match.", examples=["… fill the kettle with cold water …"])


class DocsHitsOut(ResponseModel):
    """Search results, best first."""

    how: Literal["all", "any", "text", "meaning"] = Field(
        description="Match with all words, with any word, as exact text, or by meaning only."
    )
    items: list[DocsHitOut]


class DocsChangeOut(ResponseModel):
    """A page that was added, changed or removed."""

    kind: KINDS
    number: int | None
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    diff: str | None = Field(
        description="URL of the difference, if there is one.", examples=["/api/v1/docs-sites/3/pages/2/diff"]
    )


class DocsCountsOut(ResponseModel):
    """Numbers of pages."""

    added: int
    changed: int
    removed: int


class DocsRunOut(ResponseModel):
    """The changes of one run."""

    run: int
    at: datetime
    counts: DocsCountsOut
    pages: list[DocsChangeOut] = Field(description="At most 1,000; `counts` has all.")


DocsRunsOut = page_model(
    "DocsRuns", DocsRunOut, "Runs with changes, newest first.", examples=["/api/v1/docs-sites/3/changes?cursor=4"]
)


class DocsLineOut(ResponseModel):
    """A line of a difference."""

    kind: Literal[" ", "-", "+"] = Field(description="In both versions, only before, only after.")
    old: int | None = Field(description="Line number before.")
    new: int | None = Field(description="Line number after.")
    text: str = Field(examples=["Fill the kettle with cold water."])


class DocsHunkOut(ResponseModel):
    """A hunk of a difference."""

    old_start: int = Field(alias="oldStart")
    new_start: int = Field(alias="newStart")
    lines: list[DocsLineOut]


class DocsDifferenceOut(ResponseModel):
    """The difference between a page and an earlier version."""

    number: int
    title: str = Field(examples=["Install"])
    before: DocsVersionOut
    after: DocsVersionOut | None = Field(description="Null if the page was removed.")
    added: int = Field(description="Added lines.")
    removed: int = Field(description="Removed lines.")
    is_cut: bool = Field(alias="isCut", description="Only the first lines were compared.")
    hunks: list[DocsHunkOut]


router = ApiRouter(tags=["docs-sites"])
SITES_PATH = "/api/v1/docs-sites"
MARKDOWN = "text/markdown"
MAX_CHANGES = 1_000
SiteId = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="ID of the site.")]
PageNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER, description="Number of the page.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results.")]
SearchParam = Annotated[
    str, Query(min_length=1, max_length=400, description='Words, "exact phrases", -without.', examples=["install"])
]
PositionParam = Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Position in the list, from `next`.")]
BeforeParam = Annotated[int | None, Query(ge=1, le=MAX_NUMBER, description="Position in the list, from `next`.")]
HitLimit = Annotated[int, Query(ge=1, le=100, description="Maximum number of results.")]


@router.read(SITES_PATH, DocsSitePageOut, "List documentation sites")
def list_sites(call: Call, limit: Limit = 50, cursor: BeforeParam = None) -> Response:
    """The documentation sites, newest first."""
    return call.list(sites_page(call.service, limit=limit, cursor=cursor))


@router.read(SITES_PATH + "/search", DocsHitsOut, "Search all sites")
def search_all(call: Call, q: SearchParam, limit: HitLimit = 20) -> Response:
    """The sections of all sites that match a query, best first per site."""
    return call.json(_hits(sites.search_sites(sites.list_docs_sites(call.service, limit=sites.MAX_SEARCHED_SITES), q, limit)))


@router.read(SITES_PATH + "/{site_id}", DocsSiteDetailOut, "Read a site", 404)
def one_site(call: Call, site_id: SiteId) -> Response:
    """One documentation site and its files."""
    site = sites.get_docs_site(call.service, site_id)
    files = [
        {"name": name, "bytes": size, "url": f"{SITES_PATH}/{site.id}/download/{name}"} for name, size in sites.list_files(site)
    ]
    return call.json(site_json(site) | {"files": files})


@router.read(SITES_PATH + "/{site_id}/pages", DocsEntriesOut, "List the pages of a site", 404)
def list_pages(call: Call, site_id: SiteId, limit: Limit = 100, cursor: PositionParam = 0) -> Response:
    """The pages of a site in reading order."""
    return call.list(contents_page(call.service, site_id, limit=limit, cursor=cursor))


@router.read(
    SITES_PATH + "/{site_id}/pages/{number}",
    DocsPageOut,
    "Read a page",
    404,
    other={200: {"content": {MARKDOWN: {"schema": {"type": "string"}}}}},
)
def one_page(call: Call, site_id: SiteId, number: PageNumber) -> Response:
    """One page as JSON with its Markdown; with `Accept: text/markdown` the Markdown itself."""
    found = sites.get_page(sites.get_docs_site(call.service, site_id), number)
    if prefers_markdown(call.request):
        return markdown_response(call.request, call.caller, found.markdown)
    headings = [{"level": one.level, "path": list(one.path), "anchor": one.anchor} for one in found.headings]
    body = page_json(found.row) | {
        "markdown": found.markdown, "headings": headings, "previous": found.before.number if found.before else None,
        "next": found.after.number if found.after else None, "versions": [_version(one) for one in found.versions],
    }  # fmt: skip
    return call.json(body)


@router.read(SITES_PATH + "/{site_id}/pages/{number}/diff", DocsDifferenceOut, "Compare a page with an earlier version", 404)
def page_diff(call: Call, site_id: SiteId, number: PageNumber, version: BeforeParam = None) -> Response:
    """The difference between a page and an earlier version; default: the latest earlier one. A removed page lost all lines."""
    return call.json(_compared(sites.compare_page(sites.get_docs_site(call.service, site_id), number, version)))


@router.read(SITES_PATH + "/{site_id}/search", DocsHitsOut, "Search a site", 404)
def search_one(call: Call, site_id: SiteId, q: SearchParam, limit: HitLimit = 20) -> Response:
    """The sections of a site that match a query, best first."""
    return call.json(_hits(sites.search_sites([sites.get_docs_site(call.service, site_id)], q, limit)))


@router.read(SITES_PATH + "/{site_id}/changes", DocsRunsOut, "Read the changes", 404)
def site_changes(
    call: Call,
    site_id: SiteId,
    limit: Annotated[int, Query(ge=1, le=50, description="Maximum number of runs.")] = 10,
    cursor: BeforeParam = None,
) -> Response:
    """Pages that the last runs added, changed and removed, newest first. The first crawl has no changes."""
    site = sites.get_docs_site(call.service, site_id)
    with sites.open_site_history(site) as history:
        found = history.changes(runs=limit + 1, pages=MAX_CHANGES, before=cursor)
    return call.list(list_part(found, limit, partial(_run, site), attrgetter("run")))


_FILE: Responses = {200: {"description": "The file.", "content": {
    kind: {"schema": {"type": "string"} if kind != "application/json" else {"type": "object"}}
    for kind in ("text/markdown", "text/plain", "application/json")
}}}  # fmt: skip


@router.get(
    SITES_PATH + "/{site_id}/download/{file}",
    response_class=Response,
    responses=problem_responses(304, 404) | _FILE,
    summary="Download a file",
)
def download_file(
    call: Call,
    site_id: SiteId,
    file: Annotated[str, Path(max_length=40, description="One of " + ", ".join(sites.SITE_FILES) + ".", examples=["full.md"])],
) -> Response:
    """A file of the site as the crawl wrote it."""
    return file_response(call.request, call.caller, sites.find_file(sites.get_docs_site(call.service, site_id), file))


@router.get(
    SITES_PATH + "/{site_id}/download/chunks/{number}",
    response_class=Response,
    responses=problem_responses(304, 404)
    | {200: {"description": "The chunk.", "content": {MARKDOWN: {"schema": {"type": "string"}}}}},
    summary="Download a chunk",
)
def download_chunk(
    call: Call, site_id: SiteId, number: Annotated[int, Path(ge=1, le=MAX_NUMBER, description="Number of the chunk.")]
) -> Response:
    """A chunk of the site, in the chunk size of its crawl."""
    return file_response(call.request, call.caller, sites.find_chunk(sites.get_docs_site(call.service, site_id), number))


@router.change("POST", SITES_PATH + "/{site_id}/refresh", DocsSiteOut, "Refresh a site", 404, 409, status=202)
def refresh_site(call: Call, site_id: SiteId) -> Response:
    """Crawl a site again for changes, without waiting for it."""
    site = sites.start_refresh(call.request, sites.get_docs_site(call.service, site_id))
    return uncached_response(site_json(site), status=202, headers={"Location": f"{SITES_PATH}/{site.id}"})


# ---- JSON --------------------------------------------------------------------------------------------------------------


def sites_page(service: Service, *, limit: int, cursor: int | None) -> ListPart:
    """The documentation sites, newest first."""
    return list_part(sites.list_docs_sites(service, limit=limit + 1, before=cursor), limit, site_json)


def contents_page(service: Service, site_id: int, *, limit: int, cursor: int) -> ListPart:
    """The pages of a site in reading order."""
    found = sites.list_pages(sites.get_docs_site(service, site_id), after=cursor, limit=limit + 1)
    return list_part(found, limit, page_json, attrgetter("place"))


def site_json(site: sites.DocsSite) -> dict[str, Any]:
    """A site as JSON."""
    return {
        "id": site.id, "name": site.name, "url": site.url, "title": site.title, "pages": site.pages, "tokens": site.tokens,
        "crawledAt": site.crawled_at or None, "lastChecked": site.last_checked or None, "state": site.crawl.state.value,
        "error": site.crawl.error,
    }  # fmt: skip


def page_json(row: IndexedPage) -> dict[str, Any]:
    """A page of a list as JSON."""
    return {
        "number": row.number, "url": row.url, "title": row.title, "tokens": row.tokens, "crawledAt": row.crawled_at or None,
        "hash": row.hash, "breadcrumbs": list(row.crumbs),
    }  # fmt: skip


def _version(one: DocumentVersion) -> dict[str, Any]:
    return {"id": one.id, "title": one.title, "hash": one.hash, "since": one.since, "until": one.until}


def _hits(found: sites.DocsSearchResult) -> dict[str, Any]:
    items = [
        {
            "site": one.site.id, "number": one.hit.number, "url": one.hit.url, "title": one.hit.title, "path": list(one.hit.path),
            "snippet": one.hit.snippet,
        }
        for one in found.hits
    ]  # fmt: skip
    return {"how": found.how, "items": items}


def _run(site: sites.DocsSite, found: DocumentRunChanges) -> dict[str, Any]:
    pages = [
        {
            "kind": one.kind, "number": one.number, "url": one.url, "title": one.title,
            "diff": f"{SITES_PATH}/{site.id}/pages/{one.number}/diff" if one.has_earlier and one.number else None,
        }
        for one in found.pages
    ]  # fmt: skip
    counts = {kind: found.counts.get(kind, 0) for kind in ("added", "changed", "removed")}
    return {"run": found.run, "at": found.at, "counts": counts, "pages": pages}


def _compared(found: sites.PageComparison) -> dict[str, Any]:
    told = found.difference
    hunks = [
        {
            "oldStart": hunk.old_start, "newStart": hunk.new_start,
            "lines": [{"kind": one.kind, "old": one.old, "new": one.new, "text": one.text} for one in hunk.lines],
        }
        for hunk in told.hunks
    ]  # fmt: skip
    return {
        "number": found.number, "title": found.title, "before": _version(found.before),
        "after": _version(found.after) if found.after else None, "added": told.added, "removed": told.removed,
        "isCut": told.is_cut, "hunks": hunks,
    }  # fmt: skip


def prefers_markdown(request: Request) -> bool:
    """Whether the request accepts Markdown before JSON."""
    kinds = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return MARKDOWN in kinds and ("application/json" not in kinds or kinds.index(MARKDOWN) < kinds.index("application/json"))


def markdown_response(request: Request, who: Principal, markdown: str) -> Response:
    """The Markdown of a page, or 304."""
    return content_response(request, who, markdown.encode("utf-8", "replace"), f"{MARKDOWN}; charset=utf-8")


def file_response(request: Request, who: Principal, found: sites.SiteFile) -> Response:
    """A download, or 304."""
    stat = found.path.stat()
    headers = cache_headers(who, entity_tag(f"{stat.st_mtime_ns} {stat.st_size}".encode()), None)
    if is_not_modified(request, headers["ETag"], None):
        return Response(status_code=304, headers=headers)
    return FileResponse(found.path, media_type=found.media_type, filename=found.name, headers=headers, stat_result=stat)
