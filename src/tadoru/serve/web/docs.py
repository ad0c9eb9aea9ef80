"""Pages of docs sites: the list, the contents of a site, a page, search results, and changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urldefrag

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup, escape

from tadoru.i18n.translation import N_, Formatter
from tadoru.serve.api.docs_sites import markdown_response
from tadoru.serve.docs_sites import sites
from tadoru.serve.docs_sites.markdown_html import CALLOUTS, local_fragment, render_markdown
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import service_of
from tadoru.serve.web.calendar.view_models import is_web_url
from tadoru.serve.web.rendering import Problem, caller_of, formatter_of, redirect_after
from tadoru.serve.web.rendering import render as rendered
from tadoru.serve.web.request_input import MAX_ID

router = APIRouter(include_in_schema=False)
DOCS_URL = "/manage/docs"
MAX_CONTENTS = 400
"""Pages up to which the contents are shown at once; beyond, section by section."""
SECTION_SIZE = 200
"""Pages of one section that are shown at a time."""
MAX_SITES = 100
MAX_RESULTS = 30
MAX_CHANGED_RUNS = 10
MAX_CHANGES = 200
_CALLOUT_LABELS = {
    "note": N_("Note"), "tip": N_("Tip"), "important": N_("Important"), "warning": N_("Warning"), "caution": N_("Caution"),
}  # fmt: skip
_DEEPEST = 3
_LONGEST_QUERY = 400
_KINDS = {"running": "mine", "queued": "mine", "finished": "good", "failed": "bad", "paused": "warn", "stopped": ""}


@dataclass(frozen=True, slots=True)
class DocsHitRow:
    """A section in a list of search results."""

    url: str
    title: str
    path: str
    snippet: Markup
    site: sites.DocsSite


@router.get("/manage/docs")
def docs_page(request: Request) -> Response:
    """All docs sites, or the search results in all of them."""
    service, before = service_of(request), _number(request.query_params.get("before", ""))
    found = sites.list_docs_sites(service, limit=MAX_SITES + 1, before=before)
    next_url = f"{DOCS_URL}?before={found[MAX_SITES - 1].id}" if len(found) > MAX_SITES else ""
    query = _query(request)
    hits = _found(sites.list_docs_sites(service, limit=sites.MAX_SEARCHED_SITES), query) if query else {}
    return rendered(
        request, "docs/sites.html", place=DOCS_URL, sites=[_row(one) for one in found[:MAX_SITES]], next_url=next_url,
        query=query, action=DOCS_URL, **_no_hits() | hits,
    )  # fmt: skip


@router.get("/manage/docs/{site_id}")
def docs_site_page(request: Request, site_id: int) -> Response:
    """One docs site: its contents, or search results."""
    return _site_page(request, _site(request, site_id))


def _site_page(request: Request, site: sites.DocsSite, problem: Problem = "", status: int = 200) -> Response:
    query = _query(request)
    hits = _found([site], query) if query else {}
    part = _number(request.query_params.get("part", ""))
    after = _number(request.query_params.get("after", "")) or 0
    parts = sites.build_contents(sites.list_pages(site), site.url) if not query else []
    shown = contents_view(parts, part, after)
    return rendered(
        request, "docs/site.html", status=status, place=DOCS_URL, problem=problem, site=_row(site), files=sites.list_files(site),
        query=query, action=f"{DOCS_URL}/{site.id}", **_no_hits() | hits, **shown,
    )  # fmt: skip


def contents_view(parts: Sequence[sites.ContentsSection], chosen: int | None, after: int) -> dict[str, Any]:
    """The whole contents, or the names of the sections and the pages of the chosen one."""
    counted = [(at, part.name, len(part.lines)) for at, part in enumerate(parts, 1)]
    if sum(count for _, _, count in counted) <= MAX_CONTENTS:
        return {"parts": parts, "names": [], "part": None, "next_after": 0, "chosen": 0}
    if len(parts) == 1:
        chosen = 1
    part = parts[chosen - 1] if chosen is not None and 1 <= chosen <= len(parts) else None
    if part is None:
        return {"parts": [], "names": counted, "part": None, "next_after": 0, "chosen": 0}
    lines = part.lines[after : after + SECTION_SIZE]
    more = after + SECTION_SIZE if after + SECTION_SIZE < len(part.lines) else 0
    return {"parts": [], "names": counted, "part": sites.ContentsSection(part.name, lines), "next_after": more, "chosen": chosen}


@router.get("/manage/docs/{site_id}/pages/{number}")
def docs_text_page(request: Request, site_id: int, number: int) -> Response:
    """One page of a site, rendered from Markdown."""
    site = _site(request, site_id)
    found = sites.get_page(site, _checked(number))
    _ = formatter_of(request).gettext
    with sites.open_site_index(site) as index:
        assert index is not None
        lead = sites.link_resolver(index, site, found.row.url, f"{DOCS_URL}/{site.id}/pages")
        text = render_markdown(found.markdown, lead, anchors=found.anchors, words=_callouts(formatter_of(request)))
    return rendered(
        request, "docs/page.html", place=DOCS_URL, site=_row(site), page=found.row, text=Markup(text.html), is_cut=text.is_cut,  # noqa: S704 - sanitised
        headings=[one for one in text.headings if one.level <= _DEEPEST], before=found.before, after=found.after,
        versions=found.versions, web_url=found.row.url if is_web_url(found.row.url) else "",
        changed_at=_moment(found.row.crawled_at),
    )  # fmt: skip


@router.get("/manage/docs/{site_id}/pages/{number}/markdown")
def docs_markdown_page(request: Request, site_id: int, number: int) -> Response:
    """The page as Markdown."""
    return markdown_response(request, caller_of(request), sites.get_page(_site(request, site_id), _checked(number)).markdown)


@router.get("/manage/docs/{site_id}/pages/{number}/diff")
def docs_diff_page(request: Request, site_id: int, number: int) -> Response:
    """The changes of a page since a version."""
    site = _site(request, site_id)
    found = sites.compare_page(site, _checked(number), _number(request.query_params.get("version", "")))
    return rendered(request, "docs/diff.html", place=DOCS_URL, site=_row(site), found=found)


@router.get("/manage/docs/{site_id}/changes")
def docs_changes_page(request: Request, site_id: int) -> Response:
    """The pages that the last runs added, changed and removed."""
    site = _site(request, site_id)
    before = _number(request.query_params.get("before", ""))
    with sites.open_site_history(site) as history:
        runs = history.changes(runs=MAX_CHANGED_RUNS + 1, pages=MAX_CHANGES, before=before)
    next_url = f"{DOCS_URL}/{site.id}/changes?before={runs[MAX_CHANGED_RUNS - 1].run}" if len(runs) > MAX_CHANGED_RUNS else ""
    with sites.open_site_index(site) as index:
        numbers = {one.number for run in runs for one in run.pages if one.number}
        there = {number for number in numbers if index is not None and index.numbered(number) is not None}
    return rendered(
        request,
        "docs/changes.html",
        place=DOCS_URL,
        site=_row(site),
        runs=runs[:MAX_CHANGED_RUNS],
        next_url=next_url,
        there=there,
    )


@router.post("/manage/docs/{site_id}/refresh")
def refresh_docs_page(request: Request, site_id: int) -> Response:
    """Start a new crawl of the site in the background."""
    site = _site(request, site_id)
    try:
        sites.start_refresh(request, site)
    except HttpProblem as error:
        return _site_page(request, site, problem=error, status=error.status_code)
    return redirect_after(f"{DOCS_URL}/{site.id}", "docs_refresh")


def _site(request: Request, number: int) -> sites.DocsSite:
    return sites.get_docs_site(service_of(request), _checked(number))


def _checked(number: int) -> int:
    if not 0 < number < MAX_ID:
        raise HttpProblem(404)
    return number


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _query(request: Request) -> str:
    return request.query_params.get("q", "").replace("\0", "").strip()[:_LONGEST_QUERY]


def _row(site: sites.DocsSite) -> dict[str, Any]:
    """A site as the templates show it."""
    state = site.crawl.state.value
    return {
        "id": site.id, "name": site.name, "url": site.url, "web_url": site.url if is_web_url(site.url) else "",
        "title": site.title, "pages": site.pages, "tokens": site.tokens, "state": state, "kind": _KINDS.get(state, ""),
        "is_busy": site.crawl.is_busy, "error": site.crawl.error, "changed_at": _moment(site.crawled_at),
        "checked_at": _moment(site.last_checked),
    }  # fmt: skip


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _callouts(formatter: Formatter) -> dict[str, str]:
    _ = formatter.gettext
    names = {kind: _(_CALLOUT_LABELS[kind]) for kind in CALLOUTS}
    return names | {"image": _("Image"), "table": _("Table")}


def _no_hits() -> dict[str, Any]:
    return {"hits": [], "how": "all"}


def _found(found_in: Sequence[sites.DocsSite], query: str) -> dict[str, Any]:
    answer = sites.search_sites(found_in, query, MAX_RESULTS)
    return {"how": answer.how, "hits": [_hit(one) for one in answer.hits]}


def _hit(one: sites.DocsSiteHit) -> DocsHitRow:
    hit = one.hit
    anchor = local_fragment(urldefrag(hit.url).fragment)
    url = f"{DOCS_URL}/{one.site.id}/pages/{hit.number}" + (f"#{anchor}" if anchor else "")
    path = " › ".join(step for step in hit.path if step != hit.title)
    return DocsHitRow(url, hit.title, path, highlight(hit.snippet, hit.words), one.site)


def highlight(text: str, words: Sequence[str]) -> Markup:
    """An escaped text with the search words marked."""
    known = sorted({word for word in words if word.strip()}, key=len, reverse=True)
    if not known:
        return escape(text)
    pieces = re.split(f"({'|'.join(map(re.escape, known))})", text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
    )
