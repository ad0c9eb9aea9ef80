"""A parsed page: the only module that imports the HTML parser (Lexbor, through selectolax).

The tree is that of a browser without scripts: the content of `<noscript>` is part of the page, that of `<template>`, comments
and scripts is not. Links and metadata are read from it in `links` and `head`.

Selectors for `HtmlDocument.select` must be lists of simple ones (`a[href],area[href]`): those take one pass over the tree, in
document order, while a combinator takes a pass for each element, which is too slow on hostile pages.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from tadoru.model.web import Response
from tadoru.parse.complexity import PageTooComplex, check
from tadoru.parse.decode import as_utf8
from tadoru.parse.page_limits import MAX_ANCHOR_CHARACTERS, MAX_TAGS, TOO_LONG_ANCHORS
from tadoru.rules.url import LONGEST_BASE, canonical, canonical_base

__all__ = [
    "HTML_TYPES",
    "Element",
    "HtmlDocument",
    "PageTooComplex",
    "collapsed",
    "has_words",
    "is_html",
    "is_selector",
    "looks_like_html",
    "tag_ids",
    "text_of",
]

Element = LexborNode
"""What `select` returns: `tag`, `attributes`, `parent`, `text_of`."""
Attributes = dict[str, str | None]
Picked = tuple[str, Element]
"""An element with its tag."""

_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)
_UNSEEN = frozenset({"script", "style", "template"})
_COMMENT = 4
"""The parser's number for comments."""
_MOST_NODES = 500
_MOST_INSIDE = 100
_START_TAG = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)|(script|style|textarea|title|xmp|iframe)(?=[\s/>]).*?(?:</\1|\Z)|(a[\s>])|[a-z])",
    re.DOTALL | re.IGNORECASE,
)
"""A start tag, with the text of elements that contain no others; or a comment. The second group is that of a link."""
_HTML_START = re.compile(
    rb"[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|body|script|style|title|iframe|h1|div|font|table|a|b|br|p)[ >])",
    re.IGNORECASE,
)


class HtmlDocument:
    """A page as a tree; it holds the parser's memory, so read what you need and drop it."""

    __slots__ = ("_bases", "encoding", "left_out", "size", "tree")

    def __init__(self, tree: LexborHTMLParser, encoding: str, size: int) -> None:
        self.tree = tree
        self.encoding = encoding
        self.size = size
        """Bytes of the page as UTF-8."""
        self._bases: dict[str, str] = {}
        self.left_out: dict[str, None] = {}
        """What of the page is over a limit and therefore not read: each a sentence without its full stop, once, in order."""

    @classmethod
    def parse(
        cls, body: bytes, content_type: str | None = None, max_tags: int = MAX_TAGS, max_links: int | None = None
    ) -> HtmlDocument:
        """Decode and parse a page. Raises `PageTooComplex` for markup made to exhaust the parser, and for nothing else.

        Of a page with more than `max_tags` start tags, the rest is left out; links beyond `max_links` count as two.
        """
        data, encoding = as_utf8(body, content_type)
        size = len(data)
        most = max_tags if max_links is None else max_tags // 2
        # A start tag has at least two bytes: most pages need not be counted.
        is_large = size > 2 * most and data.count(b"<") - data.count(b"</") > most
        is_cut = is_large and (end := _end_of_tags(data, max_tags, max_links)) < size
        if is_cut:
            data = data[:end]
        check(data)
        try:
            document = cls(LexborHTMLParser(data, options=_OPTIONS), encoding, size)
        except (SelectolaxError, ValueError) as error:
            raise PageTooComplex(f"the parser gave up: {error}") from None
        if is_cut:
            document.leave_out(f"it has more than {max_tags:,} elements")
        return document

    def select(self, selectors: str) -> list[Element]:
        """The elements that match a list of simple selectors, in document order."""
        return self.tree.css(selectors)

    def find(self, selectors: str) -> list[Picked]:
        """As `select`, with the tags of the elements."""
        return [(element.tag or "", element) for element in self.tree.css(selectors)]

    def pick(self, tags: Mapping[int, str]) -> tuple[list[Picked], int]:
        """The elements with one of these tags (`tag_ids`), in document order; and how many elements there are in all.

        For more than a dozen tags: a selector compares each element with each of them in turn.
        """
        found: list[Picked] = []
        number = 0
        for element in self.tree.root.traverse() if self.tree.root is not None else ():
            if (tag := element.tag_id) in tags:
                found.append((tags[tag], element))
            number += tag != _COMMENT
        return found, number

    def base_url(self, page_url: str) -> str:
        """What the page's references are relative to: the first `<base href>`, when it is usable, else the page."""
        if page_url not in self._bases:
            self._bases[page_url] = self._read_base(page_url)
        return self._bases[page_url]

    def _read_base(self, page_url: str) -> str:
        for base in self.tree.css("base[href]"):
            href = base.attributes.get("href") or ""
            if (found := canonical_base(href, page_url)) is not None:
                return found
            if len(href) > LONGEST_BASE or canonical(href, page_url) is not None:
                self.leave_out(f"the base URL is longer than {LONGEST_BASE:,} characters")
            break
        return page_url

    def leave_out(self, *reasons: str) -> None:
        """Note what is over a limit and is not read."""
        self.left_out.update(dict.fromkeys(reasons))

    def title(self) -> str | None:
        """The first title that is not a drawing's; None when there is none."""
        head = self.tree.head
        for element in (head.css("title") if head is not None else None) or self.tree.css("title"):
            if element.parent is None or element.parent.tag != "svg":
                return text_of(element, 2_000)
        return None

    def anchors(self) -> frozenset[str]:
        """Everything a fragment can point at: every id, and the name of every `<a>`."""
        found: set[str | None] = set()
        for element in self.tree.css("[id],a[name]"):
            attributes = element.attributes
            found.add(attributes.get("id"))
            if element.tag == "a":
                found.add(attributes.get("name"))
        return frozenset(name for name in found if name)

    def style_texts(self, sheets: Iterable[str] | None = None) -> list[str]:
        """The style sheets in the page, then those in attributes, that name a URL. `sheets`: the texts of `<style>`."""
        if sheets is None:
            sheets = [element.text() for element in self.tree.css("style")]
        found = [text for text in sheets if "url(" in text or "import" in text]
        return found + [each.attributes.get("style") or "" for each in self.tree.css('[style*="url("]')]

    def stored_anchors(self, anchors: frozenset[str]) -> frozenset[str] | None:
        """What is stored of what fragments can point at: all of it, or None (not known) when it is too much."""
        if sum(map(len, anchors)) <= MAX_ANCHOR_CHARACTERS:
            return anchors
        self.leave_out(TOO_LONG_ANCHORS)
        return None


def tag_ids(names: Iterable[str]) -> dict[int, str]:
    """The parser's numbers for tags of HTML, for `Document.pick`."""
    parser = LexborHTMLParser("")
    return {parser.create_node(name).tag_id: name for name in names}


def _end_of_tags(data: bytes, most: int, most_links: int | None) -> int:
    """The position of the start tag after so many others, or the end of the page if it has no more."""
    links_left = most if most_links is None else most_links
    for found in _START_TAG.finditer(data):
        if found.lastindex == 2:
            links_left -= 1
            most -= 1 if links_left >= 0 else 2
        elif not data.startswith(b"<!", found.start()):
            most -= 1
        if most < 0:
            return found.start()
    return len(data)


def looks_like_html(body: bytes) -> bool:
    """Whether browsers take a body for HTML that came without a word about what it is."""
    return _HTML_START.match(body) is not None


def is_leaf(element: Element) -> bool:
    """Whether an element contains no other elements: it is empty or has one text. A selector on it costs far more than this."""
    first = element.first_child
    return first is None or (first.is_text_node and first.next is None)


def has_words(node: Element | None) -> bool:
    """Whether a node is text with a letter or a digit in it, and not only white space and signs."""
    return node is not None and node.is_text_node and any(map(str.isalnum, node.text_content or ""))


def collapsed(text: str, limit: int = 100_000) -> str:
    """Runs of white space as one space, none at the ends, cut at `limit` characters."""
    if len(text) > 8 * limit:  # Splitting takes fifty bytes for each word.
        text = text.lstrip()[: 8 * limit]
    return " ".join(text.split())[:limit].rstrip()


def text_of(element: Element, limit: int, raw: str | None = None) -> str:
    """The text a reader sees in an element, white space collapsed, cut at `limit` characters; `raw` when it is at hand."""
    text = element.text() if raw is None else raw
    if "{" in text or ");" in text:
        # The look of code: leave out what an inline style or script brought in.
        text = _visible_text(element)
    return collapsed(text, limit)


def inside(
    element: Element, limit: int = _MOST_INSIDE, *, text: bool = False, closed: Container[str] | None = None
) -> Iterator[Element]:
    """The elements (or text nodes) below an element, without those of `closed` elements, in document order, for `limit` steps.

    As many as a link or a picture is made of. A selector would look at all of them: for each of a thousand links that stand in
    each other, that is too long.
    """
    unread = [element.first_child]
    for _ in range(limit):
        if not unread:
            break
        node = unread.pop()
        if node is None:
            continue
        unread.append(node.next)
        if node.is_element_node:
            if not text:
                yield node
            if closed is None or node.tag not in closed:
                unread.append(node.first_child)
        elif text and node.is_text_node:
            yield node


def _visible_text(element: Element) -> str:
    """The text nodes below an element, without those of elements that show none. Enough of them for any name or heading."""
    return "".join([node.text_content or "" for node in inside(element, _MOST_NODES, text=True, closed=_UNSEEN)])


HTML_TYPES = ("text/html", "application/xhtml+xml")


def is_html(response: Response) -> bool:
    """Whether a response is an HTML page: by its media type, else by its body."""
    return response.media_type.startswith(HTML_TYPES) if response.media_type else looks_like_html(response.body)


def is_selector(text: str) -> bool:
    """Whether it can be given to `select`, combinators allowed: what a person asks for is theirs."""
    try:
        LexborHTMLParser("<p>").css(text)
    except SelectolaxError:
        return False
    return True
