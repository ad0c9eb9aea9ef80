"""One walk over a page's elements, collecting what no other reader of the page takes: headings, images, forms, scripts, oddities.

Works for `page`, which puts the results into a value. One pass over all elements with a table of tags is quicker than selectors:
each selector costs a look at every element.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tadoru.model.web import LinkKind
from tadoru.parse.content import PARTS
from tadoru.parse.html import Document, Element, collapsed, text_of
from tadoru.parse.links import Attributes
from tadoru.rules.url import canonical

MAX_TEXT = 500
MOST = 2_000
"""Headings, images or links kept of one page."""

_DEPRECATED = frozenset(
    "acronym applet basefont bgsound big blink center dir font frame frameset isindex keygen marquee nobr noembed noframes "
    "plaintext spacer strike tt xmp".split()
)
_PERMALINK_SIGNS = " \xa0¶#§🔗"
_SCRIPT_TYPES = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script|")
_WEB = re.compile(r"\s*https?:", re.IGNORECASE)
_OWN_FILE = re.compile(r"\s*(?:file:|[a-z]:\\)", re.IGNORECASE)
_DOUBLED = re.compile(r"\s*https?:/*(?:https?:|[^/?#]*@?https?(?::|//))", re.IGNORECASE)
_LABELS = ("aria-label", "aria-labelledby", "title")


class Heading(NamedTuple):
    """A heading."""

    level: int
    text: str
    is_image: bool
    """Whether its only words are the alternative text of an image."""
    is_aside: bool = False
    """Whether it belongs to a menu or another part of the site, not to the text."""


class Image(NamedTuple):
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


class Form(NamedTuple):
    """A form and where it is sent."""

    action: str
    method: str


class Nameless(NamedTuple):
    """A link without words."""

    href: str
    has_image: bool


class Walk:
    """What has been met so far."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.elements = 0
        self.kinds = {LinkKind.A, LinkKind.LINK, LinkKind.IMAGE, LinkKind.SCRIPT, LinkKind.FORM}
        """The kinds of links there may be: looking for the others would find none."""
        self.in_body = False
        self.titles_in_head = 0
        self.descriptions: list[str] = []
        self.named: dict[str, str] = {}
        self.csp: str | None = None
        self.has_charset = False
        self.outside_head: set[str] = set()
        self.canonicals: list[str] = []
        self.hreflangs: list[str] = []
        self.relations: list[tuple[str, str]] = []
        self.headings: list[tuple[Heading, Element]] = []
        self.images: list[Image] = []
        self.empty_pictures = 0
        self.nameless: list[Nameless] = []
        self.script_references: list[str] = []
        self.malformed: list[str] = []
        self.protocol_relative: list[str] = []
        self.forms: list[Form] = []
        self.has_password = False
        self.blocking_scripts: list[str] = []
        self.scripts: list[Element] = []
        self.script_bytes = self.style_bytes = self.data_uri_bytes = 0
        self.names: set[str] = set()
        self.deprecated: dict[str, None] = {}
        self.parts: list[Element] = []
        """What `content` leaves out, and the main part."""
        self._web_anchors: list[tuple[Element, str]] = []

    def over(self, document: Document) -> None:
        """Walk over all elements, in document order."""
        takers: dict[str, Callable[[Element], None]] = {
            **dict.fromkeys(_DEPRECATED, self._deprecated),
            **dict.fromkeys(PARTS, self.parts.append),
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
            **dict.fromkeys(("source", "video", "audio", "embed", "track", "object"), self._media),
            "body": self._body,
            "frameset": self._body,
            "title": self._title,
            "meta": self._meta,
            "link": self._link,
            "a": self._anchor,
            "img": self._image,
            "picture": self._picture,
            "form": self._form,
            "input": self._input,
            "script": self._script,
            "style": self._style,
            "area": self._area,
            "iframe": self._frame,
            "frame": self._frame,
        }
        elements = document.select("*")
        self.elements = len(elements)
        for element in elements:
            if (taker := takers.get(element.tag or "")) is not None:
                taker(element)

    def linked(self, rel: str) -> tuple[str, ...]:
        """The URLs of the `<link>` elements with this relation."""
        return tuple(url for token, url in self.relations if token == rel)

    def look_at_nameless(self, are_there_any: bool) -> None:
        """Find the links without words, when it is known that some lack a text."""
        for element, href in self._web_anchors if are_there_any else ():
            if len(self.nameless) < MOST and not element.text().strip() and not _is_labelled(element):
                self.nameless.append(Nameless(href, element.css_first("img,svg,picture") is not None))

    def _body(self, element: Element) -> None:
        self.in_body = True
        if element.tag == "frameset":
            self._deprecated(element)

    def _title(self, element: Element) -> None:
        self.titles_in_head += not self.in_body

    def _meta(self, element: Element) -> None:
        attributes = element.attributes
        name = collapsed(attributes.get("name") or "").lower()
        pragma = (attributes.get("http-equiv") or "").strip().lower()
        content = collapsed(attributes.get("content") or "")
        if "charset" in attributes or (pragma == "content-type" and "charset" in content.lower()):
            self.has_charset = True
        if pragma == "refresh":
            self.kinds.add(LinkKind.REFRESH)
        if pragma == "content-security-policy":
            self.csp = self.csp or content
        if name == "description":
            self.descriptions.append(content)
        elif name:
            self.named.setdefault(name, content)
        if self.in_body and name in ("description", "robots"):
            self.outside_head.add(name)

    def _link(self, element: Element) -> None:
        attributes = element.attributes
        href = (attributes.get("href") or "").strip()
        tokens = (attributes.get("rel") or "").lower().split()
        if "canonical" in tokens:
            self._place("canonical", self.canonicals, href)
        if "alternate" in tokens and attributes.get("hreflang"):
            self._place("hreflang", self.hreflangs, href)
        url = canonical(href, self.base) if href and tokens else None
        if url is not None:
            self.relations.extend((token, url) for token in tokens)
        if "stylesheet" in tokens or "icon" in tokens or "preload" in tokens:
            self._relative_to_protocol(href)

    def _place(self, what: str, where: list[str], href: str) -> None:
        where.append(href)
        if self.in_body:
            self.outside_head.add(what)

    def _anchor(self, element: Element) -> None:
        attributes = element.attributes
        if name := attributes.get("name"):
            self.names.add(name)
        href = attributes.get("href")
        if not href:
            return
        if ":" not in href[:20]:
            if href[0] != "#":
                self._web_anchors.append((element, href))
            return
        start = href[:200].lstrip().lower()
        if start.startswith("javascript:"):
            self.script_references.append(href[:MAX_TEXT])
        elif _OWN_FILE.match(start) or _DOUBLED.match(start) or (_WEB.match(start) and canonical(href, self.base) is None):
            self.malformed.append(href[:MAX_TEXT])
        elif not start.startswith(("#", "mailto:", "tel:")):
            self._web_anchors.append((element, href))

    def _image(self, element: Element) -> None:
        attributes = element.attributes
        src = _source(attributes)
        self._resource(element)
        if len(self.images) < MOST:
            alt = collapsed(attributes["alt"] or "")[:MAX_TEXT] if "alt" in attributes else None
            role = (attributes.get("role") or "").strip().lower()
            is_hidden = attributes.get("aria-hidden") == "true" or role in ("presentation", "none") or _has_label(attributes)
            size = (attributes.get("width") or "", attributes.get("height") or "")
            self.images.append(Image(src[:MAX_TEXT], alt, *size, (attributes.get("loading") or "").lower(), is_hidden))

    def _picture(self, element: Element) -> None:
        self.empty_pictures += element.css_first("img") is None

    def _form(self, element: Element) -> None:
        attributes = element.attributes
        action = canonical(attributes.get("action") or "", self.base)
        if action is not None and len(self.forms) < MOST:
            self.forms.append(Form(action, (attributes.get("method") or "get").strip().lower()))

    def _input(self, element: Element) -> None:
        if (element.attributes.get("type") or "").strip().lower() == "password":
            self.has_password = True

    def _script(self, element: Element) -> None:
        self.parts.append(element)
        self.scripts.append(element)
        attributes = element.attributes
        kind = (attributes.get("type") or "").strip().lower()
        if src := attributes.get("src"):
            self._relative_to_protocol(src)
            if not self.in_body and not attributes.keys() & {"async", "defer"} and _SCRIPT_TYPES.fullmatch(kind):
                self.blocking_scripts.append(src[:MAX_TEXT])
        else:
            self.script_bytes += len(element.text())

    def _frame(self, element: Element) -> None:
        self.kinds.add(LinkKind.FRAME)
        if element.tag == "frame":
            self._deprecated(element)
        else:
            self.parts.append(element)
        self._resource(element)

    def _media(self, element: Element) -> None:
        self.kinds.add(LinkKind.MEDIA)
        self._resource(element)

    def _area(self, element: Element) -> None:
        self.kinds.add(LinkKind.AREA)

    def _style(self, element: Element) -> None:
        self.parts.append(element)
        self.style_bytes += len(element.text())

    def _resource(self, element: Element) -> None:
        src = element.attributes.get("src")
        if src:
            self._relative_to_protocol(src)

    def _relative_to_protocol(self, reference: str) -> None:
        if reference[:5].lower() == "data:":
            self.data_uri_bytes += len(reference)
        elif reference.lstrip().startswith("//"):
            self.protocol_relative.append(reference.strip()[:MAX_TEXT])

    def _heading(self, element: Element) -> None:
        if len(self.headings) >= MOST:
            return
        text = text_of(element, MAX_TEXT).rstrip(_PERMALINK_SIGNS)
        is_image = False
        if not text and (image := element.css_first("img[alt],[aria-label]")) is not None:
            attributes = image.attributes
            text = collapsed(attributes.get("alt") or attributes.get("aria-label") or "")[:MAX_TEXT]
            is_image = bool(text)
        self.headings.append((Heading(int((element.tag or "h6")[1]), text, is_image), element))

    def _deprecated(self, element: Element) -> None:
        self.deprecated[element.tag or ""] = None


def _source(attributes: Attributes) -> str:
    """Where an image comes from; the names lazy-loading scripts read count too."""
    for name in ("src", "srcset", "data-src", "data-srcset", "data-original", "data-lazy-src"):
        if value := (attributes.get(name) or "").strip():
            return value
    return ""


def _has_label(attributes: Attributes) -> bool:
    return any(attributes.get(name) for name in _LABELS)


def _is_labelled(element: Element) -> bool:
    """Whether a link without text has words of another kind, or is kept from everybody."""
    attributes = element.attributes
    if _has_label(attributes) or attributes.get("aria-hidden") == "true" or "hidden" in attributes:
        return True
    for inner in element.css("img,svg,[aria-label],[title],input,object"):
        if _has_label(inner.attributes) or inner.attributes.get("alt") or inner.attributes.get("value"):
            return True
    return False
