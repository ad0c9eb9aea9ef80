"""What is asked of a documentation site before it is crawled: whether it has Markdown of its own, which version and language it
is about, and whether there is an llms.txt. Pure: a flow of questions and answers that the engine drives.

Decided once for the whole site, from its start page, so that two crawls of it read every page the same way.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import asdict
from typing import TypeGuard
from urllib.parse import urljoin

from tadoru.engine.job import Ask
from tadoru.jobs.docs import own
from tadoru.jobs.docs.content.variants import Wanted, wanted_from
from tadoru.jobs.docs.page import alternate_of
from tadoru.model.web import Answer, LinkKind, Response
from tadoru.parse import links as link_parser
from tadoru.parse.bounds import PageTooComplex
from tadoru.parse.decode import decode
from tadoru.parse.html import Document
from tadoru.rules.scope import Scope
from tadoru.rules.url import Resolver, origin

ACCEPT = "text/markdown, text/html;q=0.5, */*;q=0.1"
FILES = ("llms.txt", "llms-full.txt")
MOST_TWINS = 3
"""Pages that are asked for their Markdown, until one has it."""
Questions = Generator[Ask, Answer, dict[str, object]]


def survey(start: str, scope: Scope, resolver: Resolver, *, own_markdown: bool) -> Questions:
    """Ask. Answers `own` ("accept", "alternate", "twin" or ""), `version`, `language`, `files`, whether the start `answered`."""
    kind = ""
    answer = yield Ask(start, ACCEPT if own_markdown else None)
    if own_markdown and _is_own(answer, own.TYPES):
        kind = "accept"
        answer = yield Ask(start)
    if not isinstance(answer, Response) or answer.status >= 400:
        return {"own": kind, **asdict(wanted_from(start, ())), "files": [], "answered": False}  # Nothing else is asked of it.
    page = _Start(answer, resolver) if _is_html(answer) else None
    if own_markdown and not kind:
        kind = "alternate" if page is not None and page.alternate else (yield from _twin(start, scope, page))
    files: list[str] = []
    if page is not None:
        files = yield from _files(page.url)
    wanted = wanted_from(start, page.links, page.language) if page is not None else wanted_from(start, ())
    return {"own": kind, **asdict(wanted), "files": files, "answered": True}


def wanted_of(found: dict[str, object]) -> Wanted:
    """What a survey says the crawl is about."""
    version, language = found.get("version"), found.get("language")
    return Wanted(version if isinstance(version, str) else None, language if isinstance(language, str) else None)


class _Start:
    """The start page, as far as it matters here."""

    def __init__(self, response: Response, resolver: Resolver) -> None:
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
        self.alternate = alternate_of(document, response.url, resolver)


def _twin(start: str, scope: Scope, page: _Start | None) -> Generator[Ask, Answer, str]:
    """Whether pages have a `.md` beside them: asked of the start, and of the first pages it leads to."""
    inside = [start, *(url for url in (page.links if page else ()) if scope.is_internal(url))]
    twins = dict.fromkeys(twin for url in inside if (twin := own.twin_of(url)) is not None)
    for twin in list(twins)[:MOST_TWINS]:
        if _is_own((yield Ask(twin)), (*own.TYPES, "text/plain")):
            return "twin"
    return ""


def _files(start: str) -> Generator[Ask, Answer, list[str]]:
    """The llms.txt and llms-full.txt that are there, beside the start or at the top of the host."""
    found: list[str] = []
    for name in FILES:
        for url in dict.fromkeys((urljoin(start, name), f"{origin(start)}/{name}")):
            answer = yield Ask(url, None, "HEAD")
            if isinstance(answer, Response) and answer.status == 200 and answer.media_type in (*own.TYPES, "text/plain"):
                found.append(answer.url)
                break
    return list(dict.fromkeys(found))


def _is_own(answer: Answer, types: Sequence[str]) -> bool:
    if not isinstance(answer, Response) or answer.status != 200 or answer.media_type not in types:
        return False
    return own.is_markdown(answer.media_type, decode(answer.body, answer.header("content-type")).text)


def _is_html(answer: Answer) -> TypeGuard[Response]:
    return isinstance(answer, Response) and answer.status == 200 and "html" in answer.media_type
