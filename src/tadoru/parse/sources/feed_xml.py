"""The XML of feeds, one item at a time, by expat: attacks end it, and common faults are repaired.

Repaired before parsing: charsets that expat does not know, characters that XML forbids, a bare `&`, HTML's named entities,
anything before the document. Of an item that is still not well-formed, the elements that feeds have are closed where the next
one begins; what cannot be read so is skipped, and reading continues at the next item. A document type is removed, so that no
entity is ever declared, and nothing outside of the document is read. `feed_item` interprets the elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from html.entities import html5
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from tadoru.errors import Message
from tadoru.parse.decode import feed_text
from tadoru.parse.sources.raw_fields import ReadProblems
from tadoru.rules.url import LONGEST_BASE, canonical, canonical_base

MAX_BYTES = 10 * 1024 * 1024
DEEPEST = 64
MOST_ELEMENTS = 200_000
"""Of one feed: about half a second."""
MOST_TEXT = 1_000_000
"""Of one item."""
MOST_TAG_BYTES = 1024 * 1024
"""Of one tag with its attributes, which the parser holds all at once."""
_CHUNK = 64 * 1024
_MOST_RESTARTS = 50
_SLICE = 100_000
"""Characters that are repaired at a time: an expression holds an object for each match, of which a text may have millions."""
_ROOTS = frozenset({"rss", "rdf", "feed"})
_ITEMS = frozenset({"item", "entry"})
_DOCTYPE = re.compile(r"\s*+<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(rb"""<(?:[A-Za-z]\w*:)?(?:rss|rdf|feed)\b(?:[^<>"']|"[^"<]*"|'[^'<]*')*+>""", re.IGNORECASE)
_NEXT_ITEM = re.compile(rb"<(?:[A-Za-z]\w*:)?(?:item|entry)[\s>]")
_ITEM_END = re.compile(rb"</(?:[A-Za-z]\w*:)?(?:item|entry)\s*+>")
_PART = re.compile(
    r"<((?:[A-Za-z]\w*:)?(?:title|link|description|summary|content|encoded|guid|id|pubdate|published|updated|date|category|subject"
    r"|author|creator|enclosure|startdate|enddate|dtstart|dtend|location|organizer))\b([^<>]{0,2000})>",
    re.IGNORECASE,
)
_END_TAG = re.compile(r"</([A-Za-z][\w:]{0,40})\s{0,9}>")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BARE = re.compile(r"&(?!#x?[0-9A-Fa-f]{1,7};|[A-Za-z][A-Za-z0-9]{1,31};)")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(#x?[0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPACES = {
    "purl.org/rss/1.0/modules/event": "ev",
    "event": "ev",  # The Events Calendar
    "urn:ietf:params:xml:ns:xcal": "xcal",
    "urn:ietf:params:xml:ns:icalendar-2.0": "xcal",
    "schemas.google.com/g/2005": "gd",
    "schemas.google.com/gcal/2005": "gcal",
    "purl.org/rss/1.0/modules/content": "content",
    "purl.org/rss/1.0/modules/syndication": "sy",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/terms": "dcterms",
    "search.yahoo.com/mrss": "media",
    "www.w3.org/2003/01/geo/wgs84_pos#": "geo",
    "www.georss.org/georss": "georss",
    "www.w3.org/2005/atom": "atom",
    "purl.org/atom/ns#": "atom",
    "www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "rssnamespace.org/feedburner/ext/1.0": "feedburner",
}


@dataclass(slots=True)
class XmlElement:
    """One element, with its children and the text between them."""

    space: str
    """A short name of its namespace: that of `_SPACES`, else the prefix that was written."""
    name: str
    """Without its prefix, in lower case."""
    attributes: dict[str, str]
    """By name without prefix, in lower case."""
    base: str
    """What relative addresses in it are relative to."""
    children: list[XmlElement | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def elements(self) -> Iterator[XmlElement]:
        """Its children without the text."""
        return (child for child in self.children if isinstance(child, XmlElement))

    def markup(self) -> str:
        """What is in it, as HTML."""
        return "".join(escape(child) if isinstance(child, str) else child._written() for child in self.children)

    def _written(self) -> str:
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        return f"<{self.name}{attributes}>{self.markup()}</{self.name}>"


class _Stop(Exception):
    """Reading ends here; the argument, if there is one, is the reason."""


def read_xml(
    body: bytes, content_type: str | None, url: str, problems: ReadProblems, take: Callable[[int, XmlElement], bool]
) -> XmlElement | None:
    """Give each item with its number to `take` until it returns False. Returns the feed itself, or None when it is none."""
    if len(body) > MAX_BYTES:
        problems.cut("end", Message("The feed is larger than {limit} MB: the rest is not read.", limit=MAX_BYTES // 1024 // 1024))
    data = repair_xml(feed_text(body[:MAX_BYTES], content_type)).encode("utf-8", "replace")
    listener = _Listener(url, problems, take)
    try:
        _parse(data, listener, problems)
    except _Stop as stop:
        if stop.args:
            problems.add("end", stop.args[0])
    return listener.feed


def repair_xml(text: str) -> str:
    """A document without the faults that feeds have most, without its declaration (it is text already) and document type."""
    declaration = text.find("<?xml", 0, 5_000)
    if declaration >= 0:
        text = text[text.find("?>", declaration, declaration + 500) + 2 :]
    text = text.lstrip()
    text = "".join(_FORBIDDEN.sub("", text[start : start + _SLICE]) for start in range(0, len(text), _SLICE))
    if doctype := _DOCTYPE.match(text, 0, 200_000):
        text = text[doctype.end() :]
    return "".join(_mended_parts(text)) if "&" in text else text


def _mended_parts(text: str) -> Iterator[str]:
    """The text with every `&` made good, except in CDATA, where it is only a sign."""
    at = 0
    while (start := text.find("<![CDATA[", at)) >= 0 and (end := text.find("]]>", start)) >= 0:
        yield from _mended_slices(text, at, start)
        yield text[start : end + 3]
        at = end + 3
    yield from _mended_slices(text, at, len(text))


def _mended_slices(text: str, start: int, end: int) -> Iterator[str]:
    """A part of the text with every `&` made good, in slices that end before one."""
    while start < end:
        cut = text.find("&", start + _SLICE, end)
        cut = cut if cut >= 0 else end
        yield _ENTITY.sub(_sign, _BARE.sub("&amp;", text[start:cut]))
        start = cut


def _sign(match: re.Match[str]) -> str:
    if match[1][0] == "#":
        return escape(_FORBIDDEN.sub("", unescape(match[0])))
    sign = html5.get(f"{match[1]};")
    return escape(sign) if sign else f"&amp;{match[1]};"


def _parse(data: bytes, listener: _Listener, problems: ReadProblems) -> None:
    """Parse, and after a fault go on at the next item as if the feed had just been opened."""
    found = _OPENING.search(data, 0, 200_000)
    opening = found[0] if found else b""
    if opening.lower().startswith(b"<rss"):
        opening += b"<channel>"
    at = 0
    for _ in range(_MOST_RESTARTS):
        parser = listener.parser()
        try:
            _feed(parser, data)
            return
        except expat.ExpatError as error:
            at = max(parser.ErrorByteIndex, at)
            if expat.ErrorString(error.code) == expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION:  # found out at the end
                at = max(data.rfind(b"<![CDATA[", 0, at), 0)
            sample = data[max(0, at - 80) : at + 80].decode("utf-8", "ignore")
            reason = Message("Broken XML ({error}); the rest is read as far as possible.", error=expat.ErrorString(error.code))
            is_item, position = listener.is_in_item, listener.broken()
            problems.add(position, reason, sample)
        if not opening or listener.feed is None:
            return
        begin = max((found.start() for found in _NEXT_ITEM.finditer(data, 0, at)), default=-1) if is_item else -1
        if begin >= 0 and (end := _item_end(data, begin)) is not None:
            listener.read_repaired(opening, repaired_item(data[begin:end].decode("utf-8", "replace")))
            at = max(at, end)
        following = _NEXT_ITEM.search(data, at)
        if following is None:
            return
        data = opening + data[following.start() :]
        at = len(opening) + 1
    problems.cut("end", Message("Too much of the XML is broken: the rest is not read."))


def _feed(parser: expat.XMLParserType, data: bytes) -> None:
    """Parse a document, unless one tag or comment is too long."""
    for end in range(_CHUNK, len(data) + _CHUNK, _CHUNK):
        parser.Parse(data[end - _CHUNK : end], False)
        if end - parser.CurrentByteIndex > MOST_TAG_BYTES + _CHUNK:
            raise _Stop(Message("A tag has more than {limit} bytes: the rest is not read.", limit=f"{MOST_TAG_BYTES:,}"))
    parser.Parse(b"", True)


def _item_end(data: bytes, begin: int) -> int | None:
    """Where a broken item ends: at its end tag, or where the next one begins. None: the feed is cut off in it."""
    closing, following = _ITEM_END.search(data, begin), _NEXT_ITEM.search(data, begin + 1)
    return min((found.start() for found in (closing, following) if found is not None), default=None)


def repaired_item(text: str) -> str:
    """An item in which each element that feeds have ends at its end tag, or where the next one begins; markup in it is text."""
    head = re.match(r"<([A-Za-z][\w:]{0,40})", text)
    name = head[1] if head else "item"
    parts = []
    found = _PART.search(text)
    while found:
        following = _PART.search(text, found.end())
        if found[2].endswith("/"):
            parts.append(found[0])
        else:
            inner = text[found.end() : following.start() if following else len(text)]
            ends = (end.start() for end in _END_TAG.finditer(inner) if end[1].lower() == found[1].lower())
            inner = inner[: next(ends, None)]
            inner = _CDATA.sub(lambda cdata: cdata[1].replace("&", "&amp;"), inner)
            parts.append(f"<{found[1]}{found[2]}>{inner.replace('<', '&lt;').replace('>', '&gt;').strip()}</{found[1]}>")
        found = following
    return f"<{name}>{''.join(parts)}</{name}>"


class _Listener:
    """Receives the events of expat: keeps one item at a time, and the properties of the feed."""

    def __init__(self, url: str, problems: ReadProblems, take: Callable[[int, XmlElement], bool]) -> None:
        self.feed: XmlElement | None = None
        self._url = url
        self._problems = problems
        self._has_long_base = False
        self._take = take
        self._open: list[XmlElement] = []
        """From an item, or a part of the feed itself, down to where reading is."""
        self._spaces: list[dict[str, str]] = []
        """For each open element the prefixes it knows."""
        self._elements = self._items = self._text_left = 0

    def parser(self) -> expat.XMLParserType:
        """A parser that speaks to this listener, at the start of a document."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        self._open.clear()
        self._spaces.clear()
        return parser

    @property
    def is_in_item(self) -> bool:
        """Is reading within an item?"""
        return bool(self._open) and self._open[0].name in _ITEMS

    def broken(self) -> str:
        """Where reading was when it broke; a broken item is counted."""
        if self.is_in_item:
            self._items += 1
            return f"item {self._items}"
        return f"after item {self._items}" if self._items else "start"

    def read_repaired(self, opening: bytes, item: str) -> None:
        """Read a broken item once more; it was counted already."""
        before = self._items
        self._items -= 1
        try:
            self.parser().Parse(opening + item.encode("utf-8", "replace"), False)
        except expat.ExpatError:
            self._items = before

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if len(self._spaces) >= DEEPEST:
            raise _Stop(Message("Elements are nested more than {limit} deep: the rest is not read.", limit=DEEPEST))
        if self._elements > MOST_ELEMENTS:
            raise _Stop(Message("There are more than {limit} elements: the rest is not read.", limit=MOST_ELEMENTS))
        known = self._spaces[-1] if self._spaces else {}
        declared = {name[6:]: uri for name, uri in attributes.items() if name.startswith("xmlns")}
        self._spaces.append(known | declared if declared else known)
        element = self._element(tag, attributes)
        depth = len(self._spaces)
        if len(self._open) == 1 and element.name in _ITEMS and (element.space, element.name) == self._item_name():
            # An item in an item: the end of the first was forgotten.
            self._hand_over(self._open.pop())
        if self._open:
            self._open[-1].children.append(element)
            self._open.append(element)
        elif depth == 1:
            if element.name not in _ROOTS:
                raise _Stop(Message("This is not a feed: its first element is <{name}>.", name=element.name[:40]))
            self.feed = self.feed or element
        elif element.name in _ITEMS:
            self._open.append(element)
            self._text_left = MOST_TEXT
        elif element.name != "channel" and self.feed is not None:
            self.feed.children.append(element)
            self._open.append(element)
            self._text_left = MOST_TEXT

    def _element(self, tag: str, attributes: dict[str, str]) -> XmlElement:
        prefix, _, name = tag.rpartition(":")
        uri = self._spaces[-1].get(prefix, "").lower().removeprefix("http://").removeprefix("https://").rstrip("/")
        space = _SPACES.get(uri, prefix.lower())
        base = self._open[-1].base if self._open else self.feed.base if self.feed else self._url
        if "xml:base" in attributes:
            base = self._base(attributes["xml:base"].strip(), base)
        plain = {key.rpartition(":")[2].lower(): value for key, value in attributes.items() if not key.startswith("xml")}
        return XmlElement("" if space == "atom" and not prefix else space, name.lower(), plain, base)

    def _base(self, text: str, base: str) -> str:
        found = canonical_base(text, base)
        if found is None and not self._has_long_base and (len(text) > LONGEST_BASE or canonical(text, base) is not None):
            self._has_long_base = True
            reason = Message("An xml:base is longer than {limit} characters: it is ignored.", limit=f"{LONGEST_BASE:,}")
            self._problems.add(f"after item {self._items}" if self._items else "start", reason, text)
        return found or base

    def _end(self, tag: str) -> None:
        self._spaces.pop()
        if not self._open:
            return
        element = self._open.pop()
        if not self._open and element.name in _ITEMS:
            self._hand_over(element)

    def _item_name(self) -> tuple[str, str]:
        return self._open[0].space, self._open[0].name

    def _hand_over(self, item: XmlElement) -> None:
        self._items += 1
        if not self._take(self._items, item):
            raise _Stop

    def _text(self, data: str) -> None:
        if self._open and self._text_left > 0:
            self._text_left -= len(data)
            self._open[-1].children.append(data)

    def _entity(self, *_declaration: object) -> None:
        raise _Stop(Message("The XML declares entities, which a feed has no use for: the rest is not read."))
