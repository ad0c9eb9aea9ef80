"""One pass over the elements of a page, each handed to the readers that need it (`head`, `links`).

Headings, images, forms, scripts and oddities are collected here, for `page`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from tadoru.model.web import LinkKind
from tadoru.parse.content import PARTS
from tadoru.parse.head import HeadReader, relations_of
from tadoru.parse.html import Attributes, Element, HtmlDocument, Picked, collapsed, inside, tag_ids, text_of
from tadoru.parse.links import EMPTY, LINKING, LONGEST_SCHEME, LinkReader, reference_problem
from tadoru.parse.page_limits import MAX_STATEMENTS, too_many
from tadoru.parse.page_structure import landmarks_of
from tadoru.rules.url import LONGEST_URL, UrlResolver

MAX_TEXT = 500
_MAX_NUMBER = 50
"""Characters kept of a width, a height or another short value."""

_DEPRECATED = frozenset(
    "acronym applet basefont bgsound big blink center dir font frame frameset isindex keygen marquee nobr noembed noframes "
    "plaintext spacer strike tt xmp".split()
)
_PERMALINK_SIGNS = " \xa0¶#§🔗"
_SCRIPT_TYPES = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script|")
_ANCHORS = frozenset({LinkKind.A, LinkKind.AREA})
_NAMED = frozenset({"keywords", "referrer"})
_LABELS = ("aria-label", "aria-labelledby", "title")
_NAMED_BY_VALUE = frozenset({"img", "svg", "input", "object"})
_PICTURES = frozenset({"img", "svg", "picture"})
_TOO_MANY_IMAGES = too_many("images")
_T = TypeVar("_T")


class HeadingElement(NamedTuple):
    """A heading."""

    level: int
    text: str
    is_image: bool
    """Whether its only words are the alternative text of an image."""
    is_aside: bool = False
    """Whether it belongs to a menu or another part of the site, not to the text."""


class ImageElement(NamedTuple):
    """An `<img>`."""

    src: str
    """As written, or the first of its other sources; empty when it has none. Data URIs are cut short."""
    alt: str | None
    """None when there is no such attribute."""
    width: str
    height: str
    loading: str
    is_hidden: bool
    """Whether assistive technology is told to pass it over, or told its name otherwise."""


class FormElement(NamedTuple):
    """A form and its target."""

    action: str
    method: str


class UnnamedControl(NamedTuple):
    """A link without text."""

    href: str
    has_image: bool


class ElementWalk:
    """The elements of a page, by kind."""

    def __init__(self, document: HtmlDocument, page_url: str, resolver: UrlResolver, marked: Sequence[Picked]) -> None:
        """`marked`: the elements with a role."""
        self._document = document
        found, self.elements = document.pick(_TAGS)
        self.base = document.base_url(page_url) if any(tag == "base" for tag, _ in found) else page_url
        self.head = HeadReader(document, self.base, resolver)
        self.links = LinkReader(document, self.base, resolver)
        self.titles_in_head = 0
        self.descriptions: list[str] = []
        self.named: dict[str, str] = {}
        self.csp: str | None = None
        self.has_charset = False
        self.outside_head: set[str] = set()
        self.canonicals: list[str] = []
        self.hreflangs: list[str] = []
        self.headings: list[tuple[HeadingElement, Element]] = []
        self.images: list[ImageElement] = []
        self.empty_pictures = 0
        self.nameless: list[UnnamedControl] = []
        self.script_references: list[str] = []
        self.malformed: list[str] = []
        self.protocol_relative: list[str] = []
        self.forms: list[FormElement] = []
        self.has_password = False
        self.blocking_scripts: list[str] = []
        self.scripts: list[Element] = []
        self._sheets: list[str] = []
        self.script_bytes = self.style_bytes = self.data_uri_bytes = 0
        self.deprecated: dict[str, None] = {}
        self.parts: list[Picked] = []
        """What `content` leaves out, and the main part."""
        self._in_body = False
        self._resolve = resolver.uncleaned.resolve
        for tag, element in found:
            if (take := _TAKERS.get(tag)) is not None:
                take(self, tag, element, element.attributes)
        self.links.read(found, landmarks=landmarks_of(found, marked))
        self.links.read_styles(document.style_texts(self._sheets))
        self._look_at_anchors()

    def _keep(self, found: list[_T], one: _T, what: str) -> None:
        """Keep one more of a kind, unless there are too many."""
        if len(found) < MAX_STATEMENTS:
            found.append(one)
        else:
            self._document.leave_out(too_many(what))

    def _look_at_anchors(self) -> None:
        """Note the links that say nothing, and those that only seem to lead to a page."""
        for link in self.links.malformed:
            if link.problem != EMPTY and link.kind in _ANCHORS:
                self._keep(self.malformed, link.href[:MAX_TEXT], "malformed links")
        for element, href, leads, is_blank in self.links.unusual:
            is_web = self._is_web(href, leads) if ":" in href[:LONGEST_SCHEME] else href[:1] not in ("", "#")
            if is_web and is_blank and not _is_labelled(element):
                has_image = any(inner.tag in _PICTURES for inner in inside(element))
                self._keep(self.nameless, UnnamedControl(href[:MAX_TEXT], has_image), "links without text")

    def _is_web(self, href: str, leads: bool) -> bool:
        """Whether a reference with a scheme leads to a page; those that run a script are noted."""
        start = href[:200].lstrip().lower()
        if start.startswith("javascript:"):
            self._keep(self.script_references, href[:MAX_TEXT], "links that run a script")
            return False
        return reference_problem(href, leads=leads) is None and not start.startswith(("#", "mailto:", "tel:"))

    def _body(self, tag: str, element: Element, attributes: Attributes) -> None:
        self._in_body = True
        if tag == "frameset":
            self.deprecated[tag] = None

    def _head(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.head.take(tag, element, attributes)

    def _title(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.head.take(tag, element, attributes)
        self.titles_in_head += not self._in_body

    def _meta(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.head.take(tag, element, attributes)
        name = collapsed(attributes.get("name") or "").lower()
        pragma = (attributes.get("http-equiv") or "").strip().lower()
        content = collapsed(attributes.get("content") or "")
        if "charset" in attributes or (pragma == "content-type" and "charset" in content.lower()):
            self.has_charset = True
        if pragma == "content-security-policy":
            self.csp = self.csp or content
        if name == "description":
            self._keep(self.descriptions, content, "descriptions")
        elif name in _NAMED:
            self.named.setdefault(name, content)
        if self._in_body and name in ("description", "robots"):
            self.outside_head.add(name)

    def _link(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.head.take(tag, element, attributes)
        href = (attributes.get("href") or "").strip()
        tokens = relations_of(attributes)
        if "canonical" in tokens:
            self._place("canonical", self.canonicals, href)
        if "alternate" in tokens and attributes.get("hreflang"):
            self._place("hreflang", self.hreflangs, href)
        if "stylesheet" in tokens or "icon" in tokens or "preload" in tokens:
            self._look_at_reference(href)

    def _place(self, what: str, where: list[str], href: str) -> None:
        self._keep(where, href[:LONGEST_URL], f"{what} annotations")
        if self._in_body:
            self.outside_head.add(what)

    def _image(self, tag: str, element: Element, attributes: Attributes) -> None:
        self._resource(tag, element, attributes)
        if len(self.images) >= MAX_STATEMENTS:
            self._document.leave_out(_TOO_MANY_IMAGES)
            return
        alt = collapsed(attributes["alt"] or "", MAX_TEXT) if "alt" in attributes else None
        role = (attributes.get("role") or "").strip().lower()
        is_hidden = attributes.get("aria-hidden") == "true" or role in ("presentation", "none") or _has_label(attributes)
        width, height, loading = (attributes.get(name) or "" for name in ("width", "height", "loading"))
        short = (width[:_MAX_NUMBER], height[:_MAX_NUMBER], loading[:_MAX_NUMBER].lower())
        self.images.append(ImageElement(_source(attributes)[:MAX_TEXT], alt, *short, is_hidden))

    def _picture(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.empty_pictures += all(inner.tag != "img" for inner in inside(element))

    def _form(self, tag: str, element: Element, attributes: Attributes) -> None:
        action = self._resolve(attributes.get("action") or "", self.base)
        if action is not None:
            method = (attributes.get("method") or "get").strip().lower()[:_MAX_NUMBER]
            self._keep(self.forms, FormElement(action[0], method), "forms")

    def _input(self, tag: str, element: Element, attributes: Attributes) -> None:
        if (attributes.get("type") or "").strip().lower() == "password":
            self.has_password = True

    def _script(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.parts.append((tag, element))
        self.scripts.append(element)
        self._resource(tag, element, attributes)
        kind = (attributes.get("type") or "").strip().lower()
        if src := attributes.get("src"):
            if not self._in_body and not attributes.keys() & {"async", "defer"} and _SCRIPT_TYPES.fullmatch(kind):
                self._keep(self.blocking_scripts, src[:MAX_TEXT], "blocking scripts")
        else:
            self.script_bytes += len(element.text())

    def _frame(self, tag: str, element: Element, attributes: Attributes) -> None:
        if tag == "frame":
            self.deprecated[tag] = None
        else:
            self.parts.append((tag, element))
        self._resource(tag, element, attributes)

    def _style(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.parts.append((tag, element))
        self._sheets.append(text := element.text())
        self.style_bytes += len(text)

    def _resource(self, tag: str, element: Element, attributes: Attributes) -> None:
        if src := attributes.get("src"):
            self._look_at_reference(src)

    def _look_at_reference(self, reference: str) -> None:
        if reference[:5].lower() == "data:":
            self.data_uri_bytes += len(reference)
        elif reference.lstrip().startswith("//"):
            self._keep(self.protocol_relative, reference.strip()[:MAX_TEXT], "protocol-relative URLs")

    def _heading(self, tag: str, element: Element, attributes: Attributes) -> None:
        if tag == "h1":
            self.head.take(tag, element, attributes)
        if len(self.headings) >= MAX_STATEMENTS:
            self._document.leave_out(too_many("headings"))
            return
        text = text_of(element, MAX_TEXT).rstrip(_PERMALINK_SIGNS)
        instead = "" if text else _words_of_image(element)
        self.headings.append((HeadingElement(int(tag[1]), text or instead, bool(instead)), element))

    def _part(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.parts.append((tag, element))

    def _deprecated(self, tag: str, element: Element, attributes: Attributes) -> None:
        self.deprecated[tag] = None


_TAKERS: dict[str, Callable[[ElementWalk, str, Element, Attributes], None]] = {
    **dict.fromkeys(_DEPRECATED, ElementWalk._deprecated),
    **dict.fromkeys(PARTS, ElementWalk._part),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ElementWalk._heading),
    **dict.fromkeys(("source", "video", "audio", "embed", "track", "object"), ElementWalk._resource),
    **dict.fromkeys(("html", "base"), ElementWalk._head),
    **dict.fromkeys(("body", "frameset"), ElementWalk._body),
    **dict.fromkeys(("frame", "iframe"), ElementWalk._frame),
    "form": ElementWalk._form,
    "img": ElementWalk._image,
    "input": ElementWalk._input,
    "link": ElementWalk._link,
    "meta": ElementWalk._meta,
    "picture": ElementWalk._picture,
    "script": ElementWalk._script,
    "style": ElementWalk._style,
    "title": ElementWalk._title,
}
_TAGS = tag_ids({*_TAKERS, *LINKING})


def _source(attributes: Attributes) -> str:
    """Where an image comes from; the names lazy-loading scripts read count too."""
    for name in ("src", "srcset", "data-src", "data-srcset", "data-original", "data-lazy-src"):
        if value := (attributes.get(name) or "").strip():
            return value
    return ""


def _words_of_image(heading: Element) -> str:
    """What a heading without text says by its first image or label."""
    for inner in inside(heading):
        attributes = inner.attributes
        if "aria-label" in attributes or (inner.tag == "img" and "alt" in attributes):
            return collapsed(attributes.get("alt") or attributes.get("aria-label") or "", MAX_TEXT)
    return ""


def _has_label(attributes: Attributes) -> bool:
    return any(attributes.get(name) for name in _LABELS)


def _is_labelled(element: Element) -> bool:
    """Whether a link without text has words of another kind, or is kept from everybody."""
    attributes = element.attributes
    if _has_label(attributes) or attributes.get("aria-hidden") == "true" or "hidden" in attributes:
        return True
    for inner in inside(element):
        attributes = inner.attributes
        if _has_label(attributes) or (inner.tag in _NAMED_BY_VALUE and (attributes.get("alt") or attributes.get("value"))):
            return True
    return False
