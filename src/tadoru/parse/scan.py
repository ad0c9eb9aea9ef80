"""Reads the links of a page from its bytes, without building a tree: faster, and it tells where in a file a link stands.

This is only for *plain* pages, where every `<a …>` is known to be a start tag: see `read_plain_markup`. All others are read
from a tree (`links`). `tests/parse/test_scan.py` compares both.
"""

from __future__ import annotations

import html
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html.entities import html5
from typing import NamedTuple

from tadoru.model.web import Link, LinkKind
from tadoru.parse.html import Attributes
from tadoru.parse.links import (
    EMPTY,
    LINKING,
    REFERENCE_ATTRIBUTES,
    MalformedLink,
    css_references,
    describe_element,
    element_references,
    note_problem,
    reference_problem,
    refresh_target,
    srcset_urls,
)
from tadoru.parse.page_limits import MAX_LINK_CHARACTERS, MAX_LINKS, link_limits
from tadoru.rules.url import UrlResolver

_SPECIAL = re.compile(
    rb"<([!?A-Z]|s(?:cript|tyle|elect)|t(?:itle|extarea|emplate)|base|frameset|iframe|meta|no(?:embed|frames)|plaintext|xmp)"
)
"""Where the bytes may stop being plain. Tried at every `<` of a page: one alternative for each first letter is fastest."""
_SPECIAL_OR_ELEMENT = re.compile(
    rb"<(?=[!?A-Zabefilmnopstvx])([!?A-Z]|s(?:cript|tyle|elect|ource)|t(?:itle|extarea|emplate|rack)|base|f(?:rameset|orm)"
    rb"|i(?:frame|m(?:g|age)|nput)|link|meta|no(?:embed|frames)|plaintext|xmp|video|audio|embed|object)"
)
"""The same, and the elements other than anchors that may name a URL."""
_ELEMENTS = frozenset(b"img image input iframe link meta script source video audio track embed object form".split())
_SPECIAL_ELEMENTS = frozenset({b"iframe", b"meta", b"script"})
_AFTER_NAME = b" \t\n\f\r/>"
_RAW_END = {
    name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE)
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
}
_RAW_START = re.compile(rb"""<[a-z]++(?:[^<>"'=]++|=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s<>"'=`]++))*+>""")
_UNCLOSED = re.compile(rb"<[a-z/][^<>]*+<")
"""A tag that holds a `<`."""
_ODD_VALUE = re.compile(rb"""=\s*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
"""A value that holds a `<` or `>`; also text that only looks like one."""
_BUT_MARKS = bytes(sorted(set(range(256)) - set(b"<>='\"")))
_ODD_MARKS = re.compile(rb"""="[^"]|='[^']""")
"""How an odd value begins when only marks are left; so does one that holds another mark."""


class PlainMarkup(NamedTuple):
    """The markup of a plain page."""

    markup: bytes
    """Text and tags only."""
    title: bytes | None
    styles: tuple[bytes, ...] = ()
    """The style sheets in the page that name a URL."""
    elements: tuple[tuple[bytes, bytes], ...] = ()
    """The elements other than anchors that may name a URL: their names, and what follows it in their start tags."""


def read_plain_markup(body: bytes, *, elements: bool = False) -> PlainMarkup | None:
    """A page in UTF-8 without comments and raw text; None when it is not plain. With `elements`, these and style sheets too."""
    if b"\0" in body or b"\v" in body:  # Parsers replace NUL; \v is white space to `\\s`, but not to them.
        return None
    pieces, styles, found = list[bytes](), list[bytes](), list[tuple[bytes, bytes]]()
    title: bytes | None = None
    pattern = _SPECIAL_OR_ELEMENT if elements else _SPECIAL
    foreign = _Foreign(body)
    start = position = 0
    while (special := pattern.search(body, position)) is not None:
        begin, position = special.span()
        name = special[1]
        if name.islower() and body[position : position + 1] not in _AFTER_NAME:
            continue  # `<metadata>`, say.
        if elements and name in _ELEMENTS:
            found.append((name, body[position : body.find(b">", position)]))
            if name not in _SPECIAL_ELEMENTS:
                continue
        if body.rfind(b"<", start, begin) > body.rfind(b">", start, begin):
            return None  # Within a tag; or after a stray `<`, which must not come to stand before what follows.
        if name in _RAW_END:
            content, end = _raw_text(body, begin, name)
            if b"<" in content and foreign.holds(begin):
                return None  # There, it is not raw text.
            if name == b"title" and title is None and not foreign.holds(begin):
                title = content
            elif name == b"style" and elements and (b"url(" in content or b"import" in content):
                styles.append(content)
        else:
            end = _end(body, begin, name)
        if not end:
            return None
        pieces.append(body[start:begin])
        start = position = end
    pieces.append(body[start:])
    markup = b"".join(pieces)
    return PlainMarkup(markup, title, tuple(styles), tuple(found)) if _is_regular(markup) else None


def _end(body: bytes, begin: int, name: bytes) -> int:
    """Where a comment, a declaration or a `<meta>` ends; 0 when that is not simple to say, or the page not plain."""
    if body.startswith(b"<!--", begin):
        end = body.find(b"-->", begin + 4) + 3
        is_odd = end < 3 or body.startswith((b">", b"->"), begin + 4) or body.find(b"--!>", begin, end) >= 0
        return 0 if is_odd else end
    end = body.find(b">", begin) + 1
    if name == b"meta":
        tag = body[begin:end].lower()
        is_refresh = b"http-equiv" in tag and (b"refresh" in tag or b"&" in tag)
        return 0 if is_refresh or _ODD_VALUE.search(tag) else end
    # What a section of characters is depends on where it stands.
    return end if name in b"!?" and not body.startswith(b"<![CDATA[", begin) else 0


def _raw_text(body: bytes, begin: int, name: bytes) -> tuple[bytes, int]:
    """The content of a raw text element, and where its end tag ends; 0 when that is not simple to say."""
    opened = _RAW_START.match(body, begin)
    closed = _RAW_END[name].search(body, opened.end()) if opened else None
    if opened is None or closed is None:
        return b"", 0
    content = body[opened.end() : closed.start()]
    end = body.find(b">", closed.start()) + 1
    # A script may hold a comment that holds a script.
    is_odd = b"<!--" in content if name == b"script" else b"<" in content
    return (b"", 0) if is_odd or _ODD_VALUE.search(body, closed.start(), end) else (content, end)


class _Foreign:
    """Which positions of a page are within an `<svg>` or `<math>`; read from front to back, so that no byte is read twice."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._asked = 0
        self._opened = self._closed = -1

    def holds(self, position: int) -> bool:
        find, asked = self._body.rfind, self._asked
        self._opened = max(self._opened, find(b"<svg", asked, position), find(b"<math", asked, position))
        self._closed = max(self._closed, find(b"</svg", asked, position), find(b"</math", asked, position))
        self._asked = position
        return self._opened > self._closed


def _is_regular(markup: bytes) -> bool:
    """Whether each tag ends at its first `>` and holds no `<`.

    Whatever the two patterns match leaves a trace in the brackets, quotes and `=` alone. To see that there is none takes a
    fraction of their time; and where there is one, they tell whether it means anything.
    """
    marks = markup.translate(None, _BUT_MARKS)
    if b"<<" in marks.translate(None, b"='\"") and _UNCLOSED.search(markup):
        return False
    return not (_ODD_MARKS.search(marks) and _ODD_VALUE.search(markup))


MAX_TEXT = 200
MAX_TITLE = 2_000
_LONGEST_KEPT = 400
_MOST_KEPT = 100_000
_LONG_PAGE = 1_000_000
_LONGEST_TAG = 64 * 1024

# Before Python 3.11.5 a possessive group keeps what its last, failed round has read; `*` gives the same a fifth slower.
_ANY = rb"*+" if sys.version_info >= (3, 11, 5) else rb"*"
_ANCHOR = re.compile(
    rb"""<a(?:(\s++(?:[a-gi-z][a-z-]*+="[^"<>]*+"\s++)%shref="([^"<>#&]*+(?:&[^"<>]*+)?)""" % _ANY
    + rb"""[^<>]*+)|((?:rea)?(?=[\s/>])[^<>]*+))>([^<]*+(?:<(?!/?a(?:rea)?[\s/>])[^<]*+)%s)""" % _ANY
)
"""An anchor: in the usual spelling its attributes and its reference, in any other all that follows `<a`; and what it holds.

The reference ends at its fragment, but one with an `&` comes whole, because that may be the beginning of a hash. What the anchor
holds ends where it is closed or the next one begins.
"""
_ATTRIBUTE = re.compile(rb"""(=?[^\s/=<>]++)(?:\s*+=\s*+(?:"([^"<>]*+)"|'([^'<>]*+)'|([^\s<>]*+)))?""")
_TAG = re.compile(rb"<[a-z/][^<>]*+>?")
_STYLE = re.compile(rb"""<[a-z][^<>]*?\sstyle\s*+=\s*+(?:"([^"<>]*+)"|'([^'<>]*+)')""")
_IMAGE = re.compile(rb"<img(?=[\s/])[^<>]*+>")
_PATH_START = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./_~-")
_WHOLE = (b"http://", b"https://")
_REFERENCE = re.compile(r"&(?:#[xX]?[0-9a-fA-F]+;?|([A-Za-z][A-Za-z0-9]*)(;?)(=?))")


class ScannedLinks(NamedTuple):
    """The links and metadata of a plain page."""

    links: list[Link]
    """Each target once, with the first text that leads there."""
    title: str | None
    malformed: Sequence[MalformedLink] = ()
    """The anchors whose references are wrong, each reference once."""
    left_out: tuple[str, ...] = ()
    """As `Document.left_out`."""
    styles: Sequence[str] = ()
    """The style sheets in the page that name a URL, if elements are read."""


class ElementReference(NamedTuple):
    """A reference on an element other than an anchor."""

    kind: LinkKind
    reference: str
    text: str
    rel: str


class LinkScanner:
    """Scans pages with a cache across them: the menus of a site are the same bytes on most of its pages."""

    def __init__(self, resolver: UrlResolver) -> None:
        self._resolver = resolver
        self._folders: dict[str, dict[bytes, str]] = {}
        """For each folder, what references on its pages lead to: a URL, or nothing."""
        self._texts: dict[bytes, str] = {}
        self._elements: dict[tuple[bytes, bytes], tuple[ElementReference, ...]] = {}
        self._kept = 0

    def scan(self, body: bytes, page_url: str, *, elements: bool = False) -> ScannedLinks | None:
        """Links and title of a page in UTF-8, with `elements` also its other references; None when it takes a tree."""
        page = read_plain_markup(body, elements=elements)
        if page is None:
            return None
        title = None if page.title is None else _text(page.title[: 8 * MAX_TITLE])[:MAX_TITLE].rstrip()
        too_long = self._resolver.too_long
        malformed: list[MalformedLink] = []
        links, characters = self._links(page.markup, page_url, malformed)
        if elements:
            characters = self._read_elements(page.elements, page_url, links, malformed, characters)
        left_out = tuple(link_limits(len(links), characters, self._resolver.too_long - too_long))
        return ScannedLinks(links, title, malformed, left_out, _styles(page) if elements else ())

    def _read_elements(
        self,
        elements: Iterable[tuple[bytes, bytes]],
        page_url: str,
        links: list[Link],
        malformed: list[MalformedLink],
        characters: int,
    ) -> int:
        """Add what other elements than anchors name; how many characters links might still have."""
        known, resolve = self._elements, self._resolver.resolve
        for key in elements:
            references = known.get(key)
            if references is None:
                references = self._read_element(*key)
            for kind, reference, text, rel in references:
                if characters < 0 or len(links) >= MAX_LINKS:
                    return characters
                target = resolve(reference, page_url)
                problem = reference_problem(reference, leads=target is not None)
                if problem is not None:
                    note_problem(malformed, MalformedLink(reference, text, len(links), problem, kind))
                if target is not None and problem in (None, EMPTY):
                    links.append(Link(target[0], kind, text, rel, len(links), target[1]))
                    characters -= len(target[0]) + len(text) + len(rel) + len(target[1])
        return characters

    def _read_element(self, name: bytes, tag: bytes) -> tuple[ElementReference, ...]:
        attributes: Attributes = {key.decode("utf-8", "replace"): _decoded(value) for key, value in _attributes(tag).items()}
        references = tuple(
            ElementReference(kind, reference, *describe_element(kind, attributes))
            for kind, reference in element_references(name.decode(), attributes)
        )
        if len(tag) <= _LONGEST_KEPT:
            self._elements[name, tag] = references
            self._kept += 1
        return references

    def _links(self, markup: bytes, page_url: str, malformed: list[MalformedLink]) -> tuple[list[Link], int]:
        """The links, and how many characters they might still have; what is wrong is added to `malformed`."""
        links: list[Link] = []
        characters, has_empty = MAX_LINK_CHARACTERS, False
        fronts, urls = {b""}, {""}
        known, texts, anchor = self._folder(page_url), self._texts, LinkKind.A
        for attributes, reference, unusual, inner in _groups(_ANCHOR, markup):
            front = reference
            if unusual:
                front = _reference(unusual)
            elif b"&" in reference:
                front = _front(reference)
            elif reference.endswith(b" "):
                front = _reference(attributes)
            if front in fronts:
                if not front and not has_empty and not _is_jump(attributes) and _is_empty(attributes or unusual):
                    has_empty = self._note_problem(front, attributes or unusual, inner, malformed, len(links))
                continue
            fronts.add(front)
            url = known.get(front)
            if url is None:
                url = self._resolved(front, page_url, known)
            if url in urls:
                if not url:
                    self._note_problem(front, attributes or unusual, inner, malformed, len(links))
                continue
            urls.add(url)
            tag, text, kind, rel = attributes or unusual, texts.get(inner), anchor, ""
            if text is None:
                text = self._text(inner)
            if tag.startswith(b"rea"):
                text, kind = "", LinkKind.AREA
            if not text:
                text = _alternative(tag, inner if kind is anchor else b"")
            if b"rel" in tag.lower():
                rel = _value(_attributes(tag).get(b"rel")).lower()
            links.append(Link(url, kind, text, rel, len(links), ""))
            characters -= len(url) + len(text) + len(rel)
            if characters < 0 or len(links) >= MAX_LINKS:
                break
        return links, characters

    def _resolved(self, front: bytes, page_url: str, known: dict[bytes, str]) -> str:
        reference = front.decode("utf-8", "replace")
        target = self._resolver.resolve(reference, page_url)
        url = "" if target is None or reference_problem(reference, leads=True) else target[0]
        # Paths and whole URLs mean the same on every page of a folder; `?a=b` and `http:?a=b` do not.
        is_short = len(front) <= _LONGEST_KEPT >= len(url)
        if is_short and front[0] in _PATH_START and (b":" not in front or front.startswith(_WHOLE)):
            known[front] = url
            self._kept += 1
        return url

    def _note_problem(self, front: bytes, tag: bytes, inner: bytes, found: list[MalformedLink], position: int) -> bool:
        """Keep an anchor whose reference is wrong; whether it is."""
        reference, is_area = front.decode("utf-8", "replace"), tag.startswith(b"rea")
        problem = reference_problem(reference, leads=False)
        if problem is None:
            return False
        text = ("" if is_area else self._text(inner)) or _alternative(tag, b"" if is_area else inner)
        known = len(found)
        note_problem(found, MalformedLink(reference, text, position, problem, LinkKind.AREA if is_area else LinkKind.A))
        return len(found) > known

    def _text(self, inner: bytes) -> str:
        text = _anchor_text(inner)
        if len(inner) <= _LONGEST_KEPT:
            self._texts[inner] = text
            self._kept += 1
        return text

    def _folder(self, page_url: str) -> dict[bytes, str]:
        if self._kept > _MOST_KEPT:
            self._folders.clear()
            self._texts.clear()
            self._elements.clear()
            self._kept = 0
        query = page_url.find("?")
        folder = page_url[: page_url.rindex("/", 0, query if query > 0 else None)]
        table = self._folders.get(folder)
        if table is None:
            table = self._folders[folder] = {}
            self._kept += 1
        return table


def _groups(pattern: re.Pattern[bytes], markup: bytes) -> Iterable[Sequence[bytes]]:
    """The groups of each match. All at once is faster, and takes memory for as many as there are."""
    if len(markup) <= _LONG_PAGE:
        return pattern.findall(markup)
    return (found.groups(b"") for found in pattern.finditer(markup))


def _front(reference: bytes) -> bytes:
    """A reference without its fragment, as it is with its character references resolved.

    With its fragment after a space, which is a part of the path then and not stripped.
    """
    whole = _decoded(reference)
    front = whole.partition("#")[0]
    return (whole if front.endswith(" ") else front).encode("utf-8", "replace")


def _reference(tag: bytes) -> bytes:
    attributes = _attributes(tag)
    return _front(attributes.get(b"href", attributes.get(b"xlink:href", b"")))


def _is_jump(attributes: bytes) -> bool:
    """Whether an anchor in the usual spelling leads to a fragment of its page, as most without a path do. May miss some."""
    return b'href="#' in attributes and attributes.count(b'href="') == 1


def _is_empty(tag: bytes) -> bool:
    """Whether an anchor without a path in its reference has no fragment either, and is a link."""
    return b'href=""' in tag or not _attributes(tag).get(b"href", b"#")


def _styles(page: PlainMarkup) -> list[str]:
    """The style sheets of a page, those in attributes too, that name a URL."""
    found = [style.decode("utf-8", "replace") for style in page.styles]
    if b"url(" in page.markup:
        found += [_decoded(double or single) for double, single in _STYLE.findall(page.markup) if b"url(" in double + single]
    return found


def _anchor_text(inner: bytes) -> str:
    """The text within an anchor."""
    inner = inner[: 8 * MAX_TEXT]
    return _text(_TAG.sub(b"", inner) if b"<" in inner else inner)[:MAX_TEXT].rstrip()


def _alternative(tag: bytes, inner: bytes) -> str:
    """What an anchor without text says: its own alternative text, else that of the first image in it that has one."""
    alternatives = (_value(_attributes(element).get(b"alt")) for element in (tag, *_IMAGE.findall(inner[: 8 * MAX_TEXT])))
    return next(filter(None, alternatives), "")


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return " ".join((html.unescape(text) if "&" in text else text).split())


def _attributes(tag: bytes) -> dict[bytes, bytes]:
    """The attributes in a start tag; of those with one name the first. The tag's own name is one too, and does not matter."""
    found: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag[:_LONGEST_TAG]):
        found.setdefault(name.lower(), double or single or bare)
    return found


def _value(raw: bytes | None) -> str:
    return " ".join(_decoded(raw[: 8 * MAX_TEXT]).split())[:MAX_TEXT].rstrip() if raw else ""


def _decoded(raw: bytes) -> str:
    """An attribute's value as text, its character references resolved as in attributes: `&copy=1` stays as it is."""
    text = raw.decode("utf-8", "replace")
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    name, closed, equals = found[1], found[2], found[3]
    if name is None:
        return html.unescape(found[0])
    if closed:
        return html.unescape(f"&{name};") + equals
    return found[0] if equals or name not in html5 else html5[name]


class ReferencePlace(NamedTuple):
    """A reference to a URL in a file."""

    reference: str
    """As it is written, character references resolved."""
    line: int
    """From 1."""
    column: int
    """In characters, from 1."""


def line_starts(text: str) -> list[int]:
    """Where each line of a text begins."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def place_at(reference: str, position: int, starts: list[int]) -> ReferencePlace:
    """The place of a reference that begins at a position of a text."""
    line = bisect_right(starts, position)
    return ReferencePlace(reference, line, position - starts[line - 1] + 1)


_SOURCE_TAG = re.compile(
    r"""<(?:!--.*?(?:-->|\Z)|([a-zA-Z][^\s/>]*+)((?:[^<>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+'|[^\s<>"']*+)|["'])*+))""", re.DOTALL
)
"""A start tag of any page, its name and its attributes; or a comment."""
_SOURCE_ATTRIBUTE = re.compile(r"""([^\s/=<>"']++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s<>"']++)))?""")
_SOURCE_RAW = {name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE) for name in ("script", "style", "textarea", "title", "xmp")}


def html_references(text: str) -> Iterator[str]:
    """The references in a piece of HTML, in order."""
    return (reference for reference, _ in _source_references(text))


def html_places(text: str) -> Iterator[ReferencePlace]:
    """Where each reference of an HTML file stands, in order. For any page: what is not plain is read as well as can be."""
    starts = line_starts(text)
    return (place_at(reference, position, starts) for reference, position in _source_references(text))


def _source_references(text: str) -> Iterator[tuple[str, int]]:
    """The references of a page and their positions."""
    position = 0
    while (tag := _SOURCE_TAG.search(text, position)) is not None:
        position = tag.end()
        name = (tag[1] or "").lower()
        for found in _SOURCE_ATTRIBUTE.finditer(text, tag.start(2), tag.end(2)) if name in LINKING else ():
            group = found.lastindex or 1
            if group > 1 and found[1].lower() in REFERENCE_ATTRIBUTES:
                value = _REFERENCE.sub(_character, found[group]) if "&" in found[group] else found[group]
                for reference in _written_urls(found[1].lower(), value):
                    yield reference, found.start(group) + max(0, found[group].find(reference))
        if "url(" in tag[0]:
            yield from _css_positions(text, tag.start(), tag.end())
        if name in _SOURCE_RAW:
            end = _SOURCE_RAW[name].search(text, position)
            begin, position = position, len(text) if end is None else end.start()
            if name == "style":
                yield from _css_positions(text, begin, position)


def _css_positions(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    return ((reference, start + position) for _, reference, position in css_references(text[start:end]))


def css_places(text: str) -> Iterator[ReferencePlace]:
    """Where each reference of a style sheet stands, in order."""
    starts = line_starts(text)
    return (place_at(reference, position, starts) for _, reference, position in css_references(text))


def _written_urls(attribute: str, value: str) -> Iterator[str]:
    """The URLs in the value of an attribute."""
    if attribute == "srcset":
        return srcset_urls(value)
    return iter([(refresh_target(value) if attribute == "content" else None) or value])
