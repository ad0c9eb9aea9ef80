"""The job itself: which bodies to read and what to take from a page. Pure, like every job's `handle`."""

from __future__ import annotations

from dataclasses import dataclass, field

from tadoru.engine.job import Found, Page
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
    every_link: bool = False
    """Keep every link with its text, not each target once: a report of broken links wants all places."""
    fragments: bool = False
    """Keep where each fragment points, and what each page offers; wants `every_link`."""
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
        extract = link_parser.extract if self.every_link else link_parser.extract_targets
        links = extract(document, page.url, self._resolver[0])
        if not self.fragments:
            return Found(links=links, title=document.title())
        links = [link._replace(fragment=_anchor(link.fragment)) if link.fragment else link for link in links]
        return Found(links=links, title=document.title(), anchors=sorted(document.anchors()))


def _anchor(fragment: str) -> str:
    """The anchor a fragment names: text directives away; `#top` is always there, and `#/x` is a script's business."""
    name = fragment.partition(":~:")[0]
    return "" if name.lower() == "top" or name.startswith(("/", "!")) else name
