"""The job: which bodies to load, and what to extract from a page. `handle` is pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from tadoru.engine.job import FetchedPage, HtmlJob, PageResult
from tadoru.jobs.links.malformed import malformed_records
from tadoru.model.web import Answer
from tadoru.parse import links as link_parser
from tadoru.parse.decode import as_utf8, decode
from tadoru.parse.html import HtmlDocument, is_html
from tadoru.parse.scan import LinkScanner
from tadoru.rules.static_site import MARKDOWN_TYPE


@dataclass(frozen=True)
class LinksJob(HtmlJob):
    """Maps the links of a site."""

    every_link: bool = False
    """Keep every link with its text, not each target once: a report of broken links needs all pages that link."""
    fragments: bool = False
    """Keep the fragments of links and the anchors of pages; needs `every_link`."""
    only_starts: bool = False
    """Read the links of the start URLs only; the others need to exist, and to have the anchors that fragments name."""

    @cached_property
    def _scanner(self) -> LinkScanner:
        return LinkScanner(self.resolver)

    def handle(self, page: FetchedPage) -> PageResult:
        """The links and title of an HTML page; nothing of other content."""
        response = page.response
        if not response.body or (self.only_starts and page.depth > 0 and not self.fragments):
            return PageResult()
        if response.media_type == MARKDOWN_TYPE:
            page = _markdown_page(page)
        elif not is_html(response):
            return PageResult()
        found = self._read(page)
        if self.only_starts and page.depth > 0:
            return PageResult(title=found.title, anchors=found.anchors, left_out=found.left_out)
        # The links of an error page are not part of the site.
        return found if response.status < 300 else PageResult(title=found.title, left_out=found.left_out)

    def handle_non_page(self, url: str, answer: Answer | None, refusal: str | None) -> None:
        """Nothing: the columns of the store are enough."""

    def _read(self, page: FetchedPage) -> PageResult:
        response = page.response
        content_type = response.header("content-type")
        if not self.every_link:
            scanned = self._scanner.scan(as_utf8(response.body, content_type)[0], page.url)
            if scanned is not None:
                records = malformed_records(page.url, scanned.malformed)
                return PageResult(links=scanned.links, title=scanned.title, records=records, left_out=scanned.left_out)
        document = HtmlDocument.parse(response.body, content_type)
        extract = link_parser.extract if self.every_link else link_parser.extract_targets
        links, malformed = extract(document, page.url, self.resolver)
        records = malformed_records(page.url, malformed)
        if not self.fragments:
            return PageResult(links=links, title=document.title(), records=records, left_out=tuple(document.left_out))
        links = [link._replace(fragment=_anchor(link.fragment)) if link.fragment else link for link in links]
        anchors = document.stored_anchors(document.anchors())
        return PageResult(
            links=links,
            title=document.title(),
            anchors=None if anchors is None else _named(anchors),
            records=records,
            left_out=tuple(document.left_out),
        )


def _markdown_page(page: FetchedPage) -> FetchedPage:
    """A Markdown file as an HTML page."""
    from tadoru.parse.markdown import markdown_to_html  # Late: sites have no Markdown.

    html = markdown_to_html(decode(page.response.body, MARKDOWN_TYPE).text)
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return replace(page, response=replace(page.response, body=html.encode("utf-8", "replace"), headers=headers))


def _named(anchors: frozenset[str]) -> list[str]:
    """The names that a fragment may have: some IDs are percent-encoded, and fragments are decoded."""
    return sorted(anchors | {unquote(name) for name in anchors if "%" in name})


def _anchor(fragment: str) -> str:
    """The anchor of a fragment, without text directives. `#top` always exists, and scripts handle `#/x`."""
    name = fragment.partition(":~:")[0]
    return "" if name.lower() == "top" or name.startswith(("/", "!")) else name
