"""What is asked of a documentation site before it is crawled: whether it has Markdown of its own, which version and language it
is about, and whether there is an llms.txt. Pure: a flow of questions and answers that the engine drives.

Decided once for the whole site, from its start page, so that two crawls of it read every page the same way.
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
from tadoru.parse.bounds import PageTooComplex
from tadoru.parse.decode import decode
from tadoru.parse.html import Document
from tadoru.rules.scope import Scope
from tadoru.rules.url import UrlResolver, origin

ACCEPT_MARKDOWN = "text/markdown, text/html;q=0.5, */*;q=0.1"
LLMS_FILES = ("llms.txt", "llms-full.txt")
MAX_MARKDOWN_REQUESTS = 3
"""Pages that are asked for their Markdown, until one has it."""
ProbeFlow = Generator[ExtraRequest, Answer, dict[str, object]]


def probe_site(start: str, scope: Scope, resolver: UrlResolver, *, own_markdown: bool) -> ProbeFlow:
    """Ask. Answers `own` ("accept", "alternate", "twin" or ""), `version`, `language`, `files`, whether the start `answered`."""
    kind = ""
    answer = yield ExtraRequest(start, ACCEPT_MARKDOWN if own_markdown else None)
    if own_markdown and _is_markdown_response(answer, site_markdown.MARKDOWN_TYPES):
        kind = "accept"
        answer = yield ExtraRequest(start)
    if not isinstance(answer, Response) or answer.status >= 400:
        return {"own": kind, **asdict(detect_edition(start, ())), "files": [], "answered": False}  # Nothing else is asked of it.
    page = _StartPage(answer, resolver) if _is_html(answer) else None
    if own_markdown and not kind:
        kind = "alternate" if page is not None and page.alternate else (yield from _probe_markdown_urls(start, scope, page))
    files: list[str] = []
    if page is not None:
        files = yield from _probe_llms_files(page.url)
    wanted = detect_edition(start, page.links, page.language) if page is not None else detect_edition(start, ())
    return {"own": kind, **asdict(wanted), "files": files, "answered": True}


def edition_from_probe(found: dict[str, object]) -> DocsEdition:
    """What a survey says the crawl is about."""
    version, language = found.get("version"), found.get("language")
    return DocsEdition(version if isinstance(version, str) else None, language if isinstance(language, str) else None)


class _StartPage:
    """The start page, as far as it matters here."""

    def __init__(self, response: Response, resolver: UrlResolver) -> None:
        self.url = response.url
        self.links: Sequence[str] = ()
        self.language: str | None = None
        self.alternate: str | None = None
        try:
            document = Document.parse(response.body, response.header("content-type"))
        except PageTooComplex:
            return  # The crawl itself will say so.
        found = link_parser.extract(document, response.url, resolver)
        self.links = [link.url for link in found if link.kind is LinkKind.A and origin(link.url) == origin(response.url)]
        for element in document.select("html[lang]"):
            self.language = (element.attributes.get("lang") or "").strip() or None
        self.alternate = alternate_url(document, response.url, resolver)


def _probe_markdown_urls(start: str, scope: Scope, page: _StartPage | None) -> Generator[ExtraRequest, Answer, str]:
    """Whether pages have a `.md` beside them: asked of the start, and of the first pages it leads to."""
    inside = [start, *(url for url in (page.links if page else ()) if scope.is_internal(url))]
    twins = dict.fromkeys(twin for url in inside if (twin := site_markdown.markdown_url(url)) is not None)
    for twin in list(twins)[:MAX_MARKDOWN_REQUESTS]:
        if _is_markdown_response((yield ExtraRequest(twin)), (*site_markdown.MARKDOWN_TYPES, "text/plain")):
            return "twin"
    return ""


def _probe_llms_files(start: str) -> Generator[ExtraRequest, Answer, list[str]]:
    """The llms.txt and llms-full.txt that are there, beside the start or at the top of the host."""
    found: list[str] = []
    for name in LLMS_FILES:
        for url in dict.fromkeys((urljoin(start, name), f"{origin(start)}/{name}")):
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
