"""The job: which bodies to load, and what to extract from a page. `handle` is pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from tadoru.engine.job import FetchedPage, HtmlJob, PageResult
from tadoru.jobs.links.broken import malformed_records
from tadoru.model.web import FOLLOWED, Answer, Link, LinkKind
from tadoru.parse import links as link_parser
from tadoru.parse.decode import as_utf8, decode
from tadoru.parse.html import HtmlDocument, is_html
from tadoru.parse.links import css_references
from tadoru.parse.page_limits import MAX_LINKS
from tadoru.parse.scan import LinkScanner, ScannedLinks
from tadoru.rules.static_site import HTML_SUFFIXES, MARKDOWN_TYPE
from tadoru.rules.url import UrlResolver, split_url
from tadoru.store.crawl.records import PageRecords

STYLE_TYPE = "text/css"
_PAGE_KINDS = frozenset({LinkKind.FRAME, LinkKind.FORM, LinkKind.STYLE, LinkKind.CANONICAL, LinkKind.ALTERNATE})
"""What is requested as a page is, besides links: it may be one, or names more references."""
_RECORDS = PageRecords(indexable=True, indexability="")
"""Nothing but that the page has resources."""


@dataclass(frozen=True)
class LinksJob(HtmlJob):
    """Maps the links of a site."""

    fragments: bool = False
    """Keep every link with its fragment, not each target of a page once; and the anchors of pages."""
    kinds: frozenset[LinkKind] = FOLLOWED
    """The kinds of references that are read."""
    only_starts: bool = False
    """Read the links of the start URLs only; the others need to exist, and to have the anchors that fragments name."""

    @cached_property
    def _scanner(self) -> LinkScanner:
        return LinkScanner(self.resolver)

    def handle(self, page: FetchedPage) -> PageResult:
        """The links and title of an HTML page; nothing of other content."""
        response = page.response
        if response.media_type == STYLE_TYPE:
            return self._read_style_sheet(page) if response.status < 300 else PageResult()
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
        if not self.fragments:
            scanned = self._scanner.scan(as_utf8(response.body, content_type)[0], page.url, elements=self._reads_elements)
            if scanned is not None:
                return self._page_result(page.url, scanned)
        document = HtmlDocument.parse(response.body, content_type)
        found = scan_tree(document, page.url, self.resolver, self._element_kinds, every_link=self.fragments)
        if not self.fragments:
            return self._page_result(page.url, found)
        found = found._replace(links=[_with_anchor(link) for link in found.links])
        anchors = document.stored_anchors(document.anchors())
        return replace(self._page_result(page.url, found), anchors=None if anchors is None else _named(anchors))

    @cached_property
    def _element_kinds(self) -> frozenset[LinkKind]:
        """The kinds of elements that name what is checked."""
        return self.kinds | {LinkKind.LINK} if self._reads_elements else FOLLOWED

    @property
    def _reads_elements(self) -> bool:
        return len(self.kinds) > len(FOLLOWED)

    def _page_result(self, page_url: str, found: ScannedLinks) -> PageResult:
        """The links of a page, and what else it needs."""
        links, resources = found.links, dict[str, Link]()
        if self._reads_elements:
            links, resources = self._sort_references(page_url, found)
        malformed = [link for link in found.malformed if link.kind in self.kinds]
        records = malformed_records(page_url, malformed) or (_RECORDS if resources else None)
        return PageResult(
            links=links, resources=tuple(resources.values()), title=found.title, records=records, left_out=found.left_out
        )

    def _sort_references(self, page_url: str, found: ScannedLinks) -> tuple[list[Link], dict[str, Link]]:
        """What is requested as a page, and the resources, each once, which are checked when the pages are done."""
        split = len(found.links)
        while split and found.links[split - 1].kind not in FOLLOWED:
            split -= 1
        links, resources = found.links[:split], dict[str, Link]()
        others = found.links[split:] + [link for style in found.styles for link in self._style_links(style, page_url)]
        for link in others:
            kind = _checked_kind(link)
            if kind not in self.kinds:
                continue
            if kind in _PAGE_KINDS or (kind is LinkKind.LINK and "preload" not in link.rel):
                links.append(link._replace(kind=kind, position=len(links)))
            else:
                resources.setdefault(link.url, link._replace(kind=kind))
        return links, resources

    def _read_style_sheet(self, page: FetchedPage) -> PageResult:
        text = decode(page.response.body, page.response.header("content-type")).text
        return self._page_result(page.url, ScannedLinks([], None, styles=[text]))

    def _style_links(self, text: str, base: str) -> Iterator[Link]:
        for at, (kind, reference, _) in enumerate(css_references(text)):
            if at >= MAX_LINKS:
                break
            if (target := self.resolver.resolve(reference, base)) is not None:
                yield Link(target[0], kind, "", "", 0, target[1])


def scan_tree(
    document: HtmlDocument, page_url: str, resolver: UrlResolver, kinds: frozenset[LinkKind], *, every_link: bool = False
) -> ScannedLinks:
    """What `LinkScanner.scan` makes of a page, from its tree; with `every_link` each of them instead of each target once."""
    others, styles = kinds - FOLLOWED, document.style_texts() if LinkKind.CSS in kinds else ()
    if every_link:
        found, malformed = link_parser.extract(document, page_url, resolver, kinds)
        links = sorted(found, key=lambda link: link.kind not in FOLLOWED)
    else:
        links, malformed = link_parser.extract_targets(document, page_url, resolver)
        if others:
            elements = link_parser.extract(document, page_url, resolver, others)
            links, malformed = links + elements.links, [*malformed, *elements.malformed]
    links = [link._replace(position=at) for at, link in enumerate(links)] if others else links
    return ScannedLinks(links, document.title(), malformed, tuple(document.left_out), styles)


def _checked_kind(link: Link) -> LinkKind | None:
    """What a reference is for: `<link>` by its relation, and an embedded page like a frame."""
    if link.kind is LinkKind.LINK:
        return link_parser.relation_kind(link.rel)
    return LinkKind.FRAME if link.kind is LinkKind.MEDIA and _is_page_name(link.url) else link.kind


def _is_page_name(url: str) -> bool:
    name = split_url(url).path.rpartition("/")[2]
    return "." not in name or name.lower().endswith(HTML_SUFFIXES)


def _with_anchor(link: Link) -> Link:
    return link._replace(fragment=_anchor(link.fragment)) if link.fragment else link


def html_of(text: str, media_type: str) -> str:
    """A document as HTML."""
    if media_type != MARKDOWN_TYPE:
        return text
    from tadoru.parse.markdown import markdown_to_html  # Late: sites have no Markdown.

    return markdown_to_html(text)


def _markdown_page(page: FetchedPage) -> FetchedPage:
    """A Markdown file as an HTML page."""
    html = html_of(decode(page.response.body, MARKDOWN_TYPE).text, MARKDOWN_TYPE)
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return replace(page, response=replace(page.response, body=html.encode("utf-8", "replace"), headers=headers))


def _named(anchors: frozenset[str]) -> list[str]:
    """The names that a fragment may have: some IDs are percent-encoded, and fragments are decoded."""
    return sorted(anchors | {unquote(name) for name in anchors if "%" in name})


def _anchor(fragment: str) -> str:
    """The anchor of a fragment, without text directives. `#top` always exists, and scripts handle `#/x`."""
    name = fragment.partition(":~:")[0]
    return "" if name.lower() == "top" or name.startswith(("/", "!")) else name
