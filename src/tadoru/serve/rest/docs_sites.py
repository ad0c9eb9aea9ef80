"""Documentation sites over REST: which there are, their pages as JSON or Markdown, search, changes, files, and a new crawl."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import FileResponse

from tadoru.serve.access.who import Caller
from tadoru.serve.docs_sites import reading
from tadoru.serve.docs_sites.comparing import Compared, compare
from tadoru.serve.docs_sites.downloads import FILES, Download, available, chunk, download
from tadoru.serve.docs_sites.refreshing import refresh
from tadoru.serve.docs_sites.sites import DocsSite, history_of, site_of, sites
from tadoru.serve.rest import models_docs as models
from tadoru.serve.rest.answers import UNCHANGED, caching, done, entity_tag, is_known, json_answer, next_page, problems
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.rest.models import LARGEST
from tadoru.store.docs_search import PageRow
from tadoru.store.document_history import RunChanges, Version

router = APIRouter(tags=["docs-sites"])
SITES = "/api/v1/docs-sites"
MARKDOWN = "text/markdown"
MOST_CHANGES = 1_000
SiteId = Annotated[int, Path(ge=1, le=LARGEST, description="The site's number.")]
PageNumber = Annotated[int, Path(ge=1, le=LARGEST, description="The page's number.")]
Limit = Annotated[int, Query(ge=1, le=500, description="At most so many.")]
Asked = Annotated[str, Query(min_length=1, max_length=400, description='Words, "exact phrases", -without.', examples=["install"])]
Place = Annotated[int, Query(ge=0, le=LARGEST, description="Where the list goes on, as `next` says.")]
Before = Annotated[int | None, Query(ge=1, le=LARGEST, description="Where the list goes on, as `next` says.")]
Hits = Annotated[int, Query(ge=1, le=100, description="At most so many.")]


@router.get(SITES, response_model=models.DocsSitePage, responses=UNCHANGED | problems(), summary="List documentation sites")
def list_sites(request: Request, who: Asker, service: The, limit: Limit = 50, cursor: Before = None) -> Response:
    """The documentation sites, the newest first."""
    found = sites(service, limit=limit + 1, before=cursor)
    next_url = next_page(request, found[limit - 1].id if len(found) > limit else None)
    return json_answer(request, who, {"items": [site_json(one) for one in found[:limit]], "next": next_url}, next_url=next_url)


@router.get(SITES + "/search", response_model=models.DocsHits, responses=UNCHANGED | problems(), summary="Search all sites")
def search_all(request: Request, q: Asked, who: Asker, service: The, limit: Hits = 20) -> Response:
    """The sections of all sites that answer a query; the best of each site come first."""
    return json_answer(request, who, _hits(reading.search(sites(service, limit=reading.MOST_SITES), q, limit)))


@router.get(
    SITES + "/{site_id}", response_model=models.DocsSiteDetail, responses=UNCHANGED | problems(404), summary="Read a site"
)
def one_site(request: Request, site_id: SiteId, who: Asker, service: The) -> Response:
    """One documentation site, and its files."""
    site = site_of(service, site_id)
    files = [{"name": name, "bytes": size, "url": f"{SITES}/{site.id}/download/{name}"} for name, size in available(site)]
    return json_answer(request, who, site_json(site) | {"files": files})


@router.get(
    SITES + "/{site_id}/pages", response_model=models.DocsEntries, responses=UNCHANGED | problems(404), summary="List its pages"
)
def list_pages(request: Request, site_id: SiteId, who: Asker, service: The, limit: Limit = 100, cursor: Place = 0) -> Response:
    """The pages of a site in reading order."""
    found = reading.pages(site_of(service, site_id), after=cursor, limit=limit + 1)
    next_url = next_page(request, found[limit - 1].place if len(found) > limit else None)
    return json_answer(request, who, {"items": [entry_json(one) for one in found[:limit]], "next": next_url}, next_url=next_url)


@router.get(
    SITES + "/{site_id}/pages/{number}",
    response_model=models.DocsPage,
    responses=UNCHANGED | problems(404) | {200: {"content": {MARKDOWN: {"schema": {"type": "string"}}}}},
    summary="Read a page",
)
def one_page(request: Request, site_id: SiteId, number: PageNumber, who: Asker, service: The) -> Response:
    """One page as JSON with its Markdown; with `Accept: text/markdown` the Markdown itself."""
    found = reading.page(site_of(service, site_id), number)
    if prefers_markdown(request):
        return markdown_answer(request, who, found.markdown)
    headings = [{"level": one.level, "path": list(one.path), "anchor": one.anchor} for one in found.sections if one.level]
    body = entry_json(found.row) | {
        "markdown": found.markdown, "headings": headings, "previous": found.before.number if found.before else None,
        "next": found.after.number if found.after else None, "versions": [_version(one) for one in found.versions],
    }  # fmt: skip
    return json_answer(request, who, body)


@router.get(
    SITES + "/{site_id}/pages/{number}/diff",
    response_model=models.DocsDifference,
    responses=UNCHANGED | problems(404),
    summary="Compare a page with what it was",
)
def page_diff(
    request: Request, site_id: SiteId, number: PageNumber, who: Asker, service: The, version: Before = None
) -> Response:
    """What became of a page since an earlier version of it; without `version`, since the newest. A page that is gone lost all."""
    return json_answer(request, who, _compared(compare(site_of(service, site_id), number, version)))


@router.get(
    SITES + "/{site_id}/search", response_model=models.DocsHits, responses=UNCHANGED | problems(404), summary="Search a site"
)
def search_one(request: Request, site_id: SiteId, q: Asked, who: Asker, service: The, limit: Hits = 20) -> Response:
    """The sections of a site that answer a query, the best first."""
    return json_answer(request, who, _hits(reading.search([site_of(service, site_id)], q, limit)))


@router.get(
    SITES + "/{site_id}/changes", response_model=models.DocsRuns, responses=UNCHANGED | problems(404), summary="Read what changed"
)
def site_changes(
    request: Request,
    site_id: SiteId,
    who: Asker,
    service: The,
    limit: Annotated[int, Query(ge=1, le=50, description="At most so many runs.")] = 10,
    cursor: Before = None,
) -> Response:
    """What the last runs added, changed and removed, the newest first. The first crawl of a site changes nothing."""
    site = site_of(service, site_id)
    with history_of(site) as history:
        found = history.changes(runs=limit + 1, pages=MOST_CHANGES, before=cursor)
    next_url = next_page(request, found[limit - 1].run if len(found) > limit else None)
    body = {"items": [_run(site, one) for one in found[:limit]], "next": next_url}
    return json_answer(request, who, body, next_url=next_url)


_FILE: dict[int | str, dict[str, Any]] = {200: {"description": "The file.", "content": {
    kind: {"schema": {"type": "string"} if kind != "application/json" else {"type": "object"}}
    for kind in ("text/markdown", "text/plain", "application/json")
}}}  # fmt: skip


@router.get(
    SITES + "/{site_id}/download/{file}",
    response_class=Response,
    responses=UNCHANGED | problems(404) | _FILE,
    summary="Download a file",
)
def download_file(
    request: Request,
    site_id: SiteId,
    file: Annotated[str, Path(max_length=40, description="One of " + ", ".join(FILES) + ".", examples=["full.md"])],
    who: Asker,
    service: The,
) -> Response:
    """A file of the site as the crawl wrote it."""
    return file_answer(request, who, download(site_of(service, site_id), file))


@router.get(
    SITES + "/{site_id}/download/chunks/{number}",
    response_class=Response,
    responses=UNCHANGED
    | problems(404)
    | {200: {"description": "The piece.", "content": {MARKDOWN: {"schema": {"type": "string"}}}}},
    summary="Download a chunk",
)
def download_chunk(
    request: Request,
    site_id: SiteId,
    number: Annotated[int, Path(ge=1, le=LARGEST, description="The chunk's number.")],
    who: Asker,
    service: The,
) -> Response:
    """A piece of the site, in the size that the crawl was asked for."""
    return file_answer(request, who, chunk(site_of(service, site_id), number))


@router.post(
    SITES + "/{site_id}/refresh",
    status_code=202,
    response_model=models.DocsSite,
    responses=problems(404, 409),
    summary="Refresh it",
)
def refresh_site(request: Request, site_id: SiteId, service: The) -> Response:
    """Crawl a site again, only for what changed, and do not wait for it."""
    site = refresh(request, site_of(service, site_id))
    return done(site_json(site), status=202, headers={"Location": f"{SITES}/{site.id}"})


# ---- what is told ------------------------------------------------------------------------------------------------------


def site_json(site: DocsSite) -> dict[str, Any]:
    """A site as programs are told of it."""
    return {
        "id": site.id, "name": site.name, "url": site.url, "title": site.title, "pages": site.pages, "tokens": site.tokens,
        "crawledAt": site.crawled_at or None, "lastChecked": site.last_checked or None, "state": site.crawl.state.value,
        "error": site.crawl.error,
    }  # fmt: skip


def entry_json(row: PageRow) -> dict[str, Any]:
    """A page in a list."""
    return {
        "number": row.number, "url": row.url, "title": row.title, "tokens": row.tokens, "crawledAt": row.crawled_at or None,
        "hash": row.hash, "breadcrumbs": list(row.crumbs),
    }  # fmt: skip


def _version(one: Version) -> dict[str, Any]:
    return {"id": one.id, "title": one.title, "hash": one.hash, "since": one.since, "until": one.until}


def _hits(found: reading.Answered) -> dict[str, Any]:
    items = [
        {
            "site": one.site.id, "number": one.hit.number, "url": one.hit.url, "title": one.hit.title, "path": list(one.hit.path),
            "snippet": one.snippet,
        }
        for one in found.hits
    ]  # fmt: skip
    return {"how": found.how, "items": items}


def _run(site: DocsSite, found: RunChanges) -> dict[str, Any]:
    pages = [
        {
            "kind": one.kind, "number": one.number, "url": one.url, "title": one.title,
            "diff": f"{SITES}/{site.id}/pages/{one.number}/diff" if one.has_earlier and one.number else None,
        }
        for one in found.pages
    ]  # fmt: skip
    counts = {kind: found.counts.get(kind, 0) for kind in ("added", "changed", "removed")}
    return {"run": found.run, "at": found.at, "counts": counts, "pages": pages}


def _compared(found: Compared) -> dict[str, Any]:
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
    """Does the caller name Markdown, and not JSON before it?"""
    kinds = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return MARKDOWN in kinds and ("application/json" not in kinds or kinds.index(MARKDOWN) < kinds.index("application/json"))


def markdown_answer(request: Request, who: Caller, markdown: str) -> Response:
    """The Markdown of a page, or 304."""
    data = markdown.encode("utf-8", "replace")
    headers = caching(who, entity_tag(data), None)
    if is_known(request, headers["ETag"], None):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=f"{MARKDOWN}; charset=utf-8")


def file_answer(request: Request, who: Caller, found: Download) -> Response:
    """A file to keep, or 304."""
    stat = found.path.stat()
    headers = caching(who, entity_tag(f"{stat.st_mtime_ns} {stat.st_size}".encode()), None)
    if is_known(request, headers["ETag"], None):
        return Response(status_code=304, headers=headers)
    return FileResponse(found.path, media_type=found.media_type, filename=found.name, headers=headers, stat_result=stat)
