"""Probes a documentation site before it is crawled: whether it publishes Markdown, which version and language the crawl is
about, and whether there is an llms.txt. Pure: a generator that yields requests and receives responses from the engine.

Decided once for the whole site, from its start page, so that two crawls read every page the same way.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import asdict
from typing import TypeGuard
from urllib.parse import urljoin

from tadoru.engine.job import ExtraRequest
from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.content.variants import DocsEdition, detect_edition
from tadoru.jobs.docs.page import alternate_url
from tadoru.model.web import Answer, LinkKind, Response
from tadoru.parse import links as link_parser
from tadoru.parse.complexity import PageTooComplex
from tadoru.parse.decode import decode
from tadoru.parse.html import HtmlDocument
from tadoru.rules.scope import Admission, Scope
from tadoru.rules.url import UrlResolver, origin

ACCEPT_MARKDOWN = "text/markdown, text/html;q=0.5, */*;q=0.1"
LLMS_FILES = ("llms.txt", "llms-full.txt")
MAX_MARKDOWN_REQUESTS = 3
"""Pages whose Markdown is requested until one has it."""
ProbeFlow = Generator[ExtraRequest, Answer, dict[str, object]]


def probe_site(start: str, scope: Scope, resolver: UrlResolver, *, own_markdown: bool) -> ProbeFlow:
    """Probe a site. Returns `own` ("accept", "alternate", "twin" or ""), `version`, `language`, `files` and `answered`."""
    kind = ""
    answer = yield ExtraRequest(start, ACCEPT_MARKDOWN if own_markdown else None)
    if own_markdown and _is_markdown_response(answer, site_markdown.MARKDOWN_TYPES):
        kind = "accept"
        answer = yield ExtraRequest(start)
    if not isinstance(answer, Response) or answer.status >= 400:
        return {"own": kind, **asdict(detect_edition(start, ())), "files": [], "answered": False}
    page = _StartPage(answer, resolver) if _is_html(answer) else None
    if own_markdown and not kind:
        kind = "alternate" if page is not None and page.alternate else (yield from _probe_markdown_urls(start, scope, page))
    files: list[str] = []
    if page is not None:
        files = yield from _probe_llms_files(page.url, scope)
    edition = detect_edition(start, page.links, page.language) if page is not None else detect_edition(start, ())
    return {"own": kind, **asdict(edition), "files": files, "answered": True}


def edition_from_probe(found: dict[str, object]) -> DocsEdition:
    """The version and language in the result of a probe."""
    version, language = found.get("version"), found.get("language")
    return DocsEdition(version if isinstance(version, str) else None, language if isinstance(language, str) else None)


class _StartPage:
    """Links, language and Markdown version of the start page."""

    def __init__(self, response: Response, resolver: UrlResolver) -> None:
        self.url = response.url
        self.links: Sequence[str] = ()
        self.language: str | None = None
        self.alternate: str | None = None
        try:
            document = HtmlDocument.parse(response.body, response.header("content-type"))
        except PageTooComplex:
            return  # The crawl reports it.
        found = link_parser.extract(document, response.url, resolver).links
        self.links = [link.url for link in found if link.kind is LinkKind.A and origin(link.url) == origin(response.url)]
        for element in document.select("html[lang]"):
            self.language = (element.attributes.get("lang") or "").strip() or None
        self.alternate = alternate_url(document, response.url, resolver)


def _probe_markdown_urls(start: str, scope: Scope, page: _StartPage | None) -> Generator[ExtraRequest, Answer, str]:
    """Whether pages have a `.md` version: requested for the start page and the first pages that it links to."""
    inside = [start, *(url for url in (page.links if page else ()) if scope.decide(url).admission is Admission.FOLLOW)]
    candidates = dict.fromkeys(candidate for url in inside if (candidate := site_markdown.markdown_url(url)) is not None)
    for candidate in list(candidates)[:MAX_MARKDOWN_REQUESTS]:
        if _is_markdown_response((yield ExtraRequest(candidate)), (*site_markdown.MARKDOWN_TYPES, "text/plain")):
            return "twin"
    return ""


def _probe_llms_files(start: str, scope: Scope) -> Generator[ExtraRequest, Answer, list[str]]:
    """The llms.txt and llms-full.txt that exist beside the start page or at the root of the host, unless they are excluded."""
    found: list[str] = []
    for name in LLMS_FILES:
        for url in dict.fromkeys((urljoin(start, name), f"{origin(start)}/{name}")):
            if scope.decide(url).admission is Admission.REFUSED:
                continue
            answer = yield ExtraRequest(url, None, "HEAD")
            if (
                isinstance(answer, Response)
                and answer.status == 200
                and answer.media_type in (*site_markdown.MARKDOWN_TYPES, "text/plain")
            ):
                found.append(answer.url)
                break
    return list(dict.fromkeys(found))


def _is_markdown_response(answer: Answer, types: Sequence[str]) -> bool:
    if not isinstance(answer, Response) or answer.status != 200 or answer.media_type not in types:
        return False
    return site_markdown.is_markdown(answer.media_type, decode(answer.body, answer.header("content-type")).text)


def _is_html(answer: Answer) -> TypeGuard[Response]:
    return isinstance(answer, Response) and answer.status == 200 and "html" in answer.media_type
