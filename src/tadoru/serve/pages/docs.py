"""Documentation sites for people: the list, the contents of one, a page of it, what is found, and what changed."""

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

from tadoru.serve.docs_sites import reading
from tadoru.serve.docs_sites.comparing import compare
from tadoru.serve.docs_sites.contents import Part, contents
from tadoru.serve.docs_sites.downloads import available
from tadoru.serve.docs_sites.markup import CALLOUTS, fragment, render
from tadoru.serve.docs_sites.refreshing import refresh
from tadoru.serve.docs_sites.sites import DocsSite, history_of, index_of, site_of, sites
from tadoru.serve.pages.desk import LARGEST
from tadoru.serve.pages.rendering import caller_of, seen, telling_of
from tadoru.serve.pages.rendering import render as rendered
from tadoru.serve.pages.showing import is_web
from tadoru.serve.pages.words import Say
from tadoru.serve.problems import Refused
from tadoru.serve.rest.docs_sites import markdown_answer
from tadoru.serve.service import service_of

router = APIRouter(include_in_schema=False)
PLACE = "/manage/docs"
MOST_LINES = 400
"""Pages up to which the contents are shown at once; beyond, part by part."""
AT_ONCE = 200
"""Pages of one part that are shown at a time."""
MOST_SITES = 100
MOST_HITS = 30
MOST_RUNS = 10
MOST_CHANGES = 200
_DEEPEST = 3
_LONGEST_QUERY = 400
_KINDS = {"running": "mine", "queued": "mine", "finished": "good", "failed": "bad", "paused": "warn", "stopped": ""}


@dataclass(frozen=True, slots=True)
class Found:
    """A section in the list of what was found."""

    url: str
    title: str
    path: str
    snippet: Markup
    site: DocsSite


@router.get("/manage/docs")
def docs_page(request: Request) -> Response:
    """Every documentation site, or what all of them say about something."""
    service, before = service_of(request), _number(request.query_params.get("before", ""))
    found = sites(service, limit=MOST_SITES + 1, before=before)
    next_url = f"{PLACE}?before={found[MOST_SITES - 1].id}" if len(found) > MOST_SITES else ""
    query = _query(request)
    hits = _found(sites(service, limit=reading.MOST_SITES), query) if query else {}
    return rendered(
        request, "docs_sites.html", place=PLACE, sites=[_row(one) for one in found[:MOST_SITES]], next_url=next_url,
        query=query, action=PLACE, **_no_hits() | hits,
    )  # fmt: skip


@router.get("/manage/docs/{site_id}")
def docs_site_page(request: Request, site_id: int) -> Response:
    """One site: its contents, or what it says about something."""
    return _site_page(request, _site(request, site_id))


def _site_page(request: Request, site: DocsSite, problem: str = "", status: int = 200) -> Response:
    query = _query(request)
    hits = _found([site], query) if query else {}
    part = _number(request.query_params.get("part", ""))
    after = _number(request.query_params.get("after", "")) or 0
    parts = contents(reading.pages(site), site.url) if not query else []
    shown = _shown(parts, part, after)
    return rendered(
        request, "docs_site.html", status=status, place=PLACE, problem=problem, site=_row(site), files=available(site),
        query=query, action=f"{PLACE}/{site.id}", **_no_hits() | hits, **shown,
    )  # fmt: skip


def _shown(parts: Sequence[Part], chosen: int | None, after: int) -> dict[str, Any]:
    """The contents whole, or the names of the parts and the pages of the one that was chosen."""
    counted = [(at, part.name, len(part.lines)) for at, part in enumerate(parts, 1)]
    if sum(count for _, _, count in counted) <= MOST_LINES:
        return {"parts": parts, "names": [], "part": None, "next_after": 0, "chosen": 0}
    if len(parts) == 1:
        chosen = 1
    part = parts[chosen - 1] if chosen is not None and 1 <= chosen <= len(parts) else None
    if part is None:
        return {"parts": [], "names": counted, "part": None, "next_after": 0, "chosen": 0}
    lines = part.lines[after : after + AT_ONCE]
    more = after + AT_ONCE if after + AT_ONCE < len(part.lines) else 0
    return {"parts": [], "names": counted, "part": Part(part.name, lines), "next_after": more, "chosen": chosen}


@router.get("/manage/docs/{site_id}/pages/{number}")
def docs_text_page(request: Request, site_id: int, number: int) -> Response:
    """One page of a site, as its own site would show it but for its looks."""
    site = _site(request, site_id)
    found = reading.page(site, _checked(number))
    say = telling_of(request).say
    with index_of(site) as index:
        assert index is not None
        lead = reading.lead_from(index, site, found.row.url, f"{PLACE}/{site.id}/pages")
        text = render(found.markdown, lead, anchors=found.anchors, words=_callouts(say))
    return rendered(
        request, "docs_page.html", place=PLACE, site=_row(site), page=found.row, text=Markup(text.html), is_cut=text.is_cut,  # noqa: S704 - sanitised
        headings=[one for one in text.headings if one.level <= _DEEPEST], before=found.before, after=found.after,
        versions=found.versions, web_url=found.row.url if is_web(found.row.url) else "", changed_at=_moment(found.row.crawled_at),
    )  # fmt: skip


@router.get("/manage/docs/{site_id}/pages/{number}/markdown")
def docs_markdown_page(request: Request, site_id: int, number: int) -> Response:
    """The same page as Markdown, to be copied."""
    return markdown_answer(request, caller_of(request), reading.page(_site(request, site_id), _checked(number)).markdown)


@router.get("/manage/docs/{site_id}/pages/{number}/diff")
def docs_diff_page(request: Request, site_id: int, number: int) -> Response:
    """What became of a page since a version of it."""
    site = _site(request, site_id)
    found = compare(site, _checked(number), _number(request.query_params.get("version", "")))
    return rendered(request, "docs_diff.html", place=PLACE, site=_row(site), found=found)


@router.get("/manage/docs/{site_id}/changes")
def docs_changes_page(request: Request, site_id: int) -> Response:
    """What the last runs added, changed and removed."""
    site = _site(request, site_id)
    before = _number(request.query_params.get("before", ""))
    with history_of(site) as history:
        runs = history.changes(runs=MOST_RUNS + 1, pages=MOST_CHANGES, before=before)
    next_url = f"{PLACE}/{site.id}/changes?before={runs[MOST_RUNS - 1].run}" if len(runs) > MOST_RUNS else ""
    with index_of(site) as index:
        numbers = {one.number for run in runs for one in run.pages if one.number}
        there = {number for number in numbers if index is not None and index.numbered(number) is not None}
    return rendered(
        request, "docs_changes.html", place=PLACE, site=_row(site), runs=runs[:MOST_RUNS], next_url=next_url, there=there
    )


@router.post("/manage/docs/{site_id}/refresh")
def refresh_docs_page(request: Request, site_id: int) -> Response:
    """Crawl it again; the page does not wait for it."""
    site = _site(request, site_id)
    try:
        refresh(request, site)
    except Refused as error:
        return _site_page(request, site, problem=error.detail, status=error.status_code)
    return seen(f"{PLACE}/{site.id}", "docs_refresh")


def _site(request: Request, number: int) -> DocsSite:
    return site_of(service_of(request), _checked(number))


def _checked(number: int) -> int:
    if not 0 < number < LARGEST:
        raise Refused(404, "")
    return number


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _query(request: Request) -> str:
    return request.query_params.get("q", "").replace("\0", "").strip()[:_LONGEST_QUERY]


def _row(site: DocsSite) -> dict[str, Any]:
    """A site as templates know it."""
    state = site.crawl.state.value
    return {
        "id": site.id, "name": site.name, "url": site.url, "web_url": site.url if is_web(site.url) else "", "title": site.title,
        "pages": site.pages, "tokens": site.tokens, "state": state, "kind": _KINDS.get(state, ""), "is_busy": site.crawl.is_busy,
        "error": site.crawl.error, "changed_at": _moment(site.crawled_at), "checked_at": _moment(site.last_checked),
    }  # fmt: skip


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _callouts(say: Say) -> dict[str, str]:
    names = {kind: say(f"docs.callout.{kind}") for kind in CALLOUTS}
    return names | {"image": say("docs.image"), "table": say("docs.table")}


def _no_hits() -> dict[str, Any]:
    return {"hits": [], "how": "all"}


def _found(found_in: Sequence[DocsSite], query: str) -> dict[str, Any]:
    answer = reading.search(found_in, query, MOST_HITS)
    return {"how": answer.how, "hits": [_hit(one) for one in answer.hits]}


def _hit(one: reading.SiteHit) -> Found:
    hit = one.hit
    anchor = fragment(urldefrag(hit.url).fragment)
    url = f"{PLACE}/{one.site.id}/pages/{hit.number}" + (f"#{anchor}" if anchor else "")
    path = " › ".join(step for step in hit.path if step != hit.title)
    return Found(url, hit.title, path, marked(one.snippet, one.words), one.site)


def marked(text: str, words: Sequence[str]) -> Markup:
    """A text with the words that were looked for marked; everything in it is escaped."""
    known = sorted({word for word in words if word.strip()}, key=len, reverse=True)
    if not known:
        return escape(text)
    pieces = re.split(f"({'|'.join(map(re.escape, known))})", text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
    )
