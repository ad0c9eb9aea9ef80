"""The job itself: which bodies to read and what to take from a page. Pure, like every job's `handle`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote

from tadoru.engine.job import Found, Page
from tadoru.model.web import Link
from tadoru.parse import links as link_parser
from tadoru.parse.html import Document
from tadoru.rules.scope import Scope
from tadoru.rules.url import Cleaning, Resolver

HTML_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class LinksJob:
    """Map the links of a site."""

    scope: Scope
    check_external: bool = False
    follow: bool = True
    fragments: bool = False
    cleaning: Cleaning = Cleaning()
    body_types: tuple[str, ...] = HTML_TYPES
    _resolver: list[Resolver] = field(default_factory=list, compare=False, repr=False)

    def handle(self, page: Page) -> Found:
        """Links and title of an HTML page; of anything else, nothing."""
        response = page.response
        if not response.body or not response.media_type.startswith(HTML_TYPES):
            return Found()
        if not self._resolver:
            self._resolver.append(Resolver(self.cleaning))
        document = Document.parse(response.body, response.header("content-type"))
        found = link_parser.extract(document, page.url, self._resolver[0])
        return Found(
            links=self._worth_keeping(found, page.url),
            title=document.title(),
            anchors=sorted(document.anchors()) if self.fragments else None,
        )

    def _worth_keeping(self, links: list[Link], page_url: str) -> list[Link]:
        """Each (target, text) once; jumps within the page only when fragments are checked."""
        if self.fragments:
            return [link._replace(fragment=_anchor(link.fragment)) if link.fragment else link for link in links]
        kept: dict[tuple[str, str], Link] = {}
        for link in links:
            if link.url != page_url or not link.fragment:
                kept.setdefault((link.url, link.text), link)
        return list(kept.values())


def _anchor(fragment: str) -> str:
    """The anchor a fragment names: text directives and percent-escapes away; `#top` is always there."""
    name = unquote(fragment.partition(":~:")[0])
    return "" if name.lower() == "top" else name
