"""Reads web pages as event sources: schema.org types first, then the selectors of the source's settings."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, quote

from tadoru.errors import ConfigError, Message, quoted
from tadoru.extras import not_installed
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.decode import decode
from tadoru.parse.extract import compiled_xpath, found_by_xpath, split_selector, xpath_markup, xpath_text, xpath_tree
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.html import Element, HtmlDocument, PageTooComplex, collapsed, is_selector, text_of
from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.raw_fields import EPOCHS, ReadProblems, Value, by_field, constants, epoch_time, filled, raw_event
from tadoru.parse.sources.schema_org import ScheduleWindow, events_in
from tadoru.parse.sources.source_settings import SettingsReader, check_pattern
from tadoru.rules.url import canonical

MAX_TEXT = 20_000
MAX_MATCHED = 5_000
"""How much of a text is looked at by a person's pattern: some patterns take very long on texts that somebody made for that."""
MOST_VALUES = 50
PARTS = ("year", "month", "day", "weekday")
_XPATH_START = ("/", "./", "(/", "(./")
_DIGITS = re.compile(r"[0-9]{1,4}")
_SEAM = "\x00"
"""Between two text nodes; no page has it in its text."""
_GLUED = re.compile(rf"(?<=\d){_SEAM}+(?=\d)")

Node = Any
"""A `HtmlDocument`, an `Element`, or an element of XPath's tree."""


class SelectablePage:
    """A page as trees for CSS and XPath, built when needed."""

    def __init__(self, body: bytes, content_type: str | None) -> None:
        """Raises PageTooComplex."""
        self.document = HtmlDocument.parse(body, content_type)
        self._source = (body, content_type)
        self._found: dict[str, tuple[list[int], list[Element]]] = {}
        self.carried: dict[int, list[str]] = {}
        """The last values of fields that hold for later items as well."""

    def node(self, language: str) -> Node:
        """The whole page, for an expression in this language."""
        return self.document if language == "css" else self._xpath_tree

    def above(self, selector: str, item: Element) -> Iterator[Element]:
        """The elements that a CSS selector finds and that begin before an item, the nearest first."""
        if selector not in self._found:
            found = sorted({self._order[one.mem_id]: one for one in self.document.select(selector)}.items())
            self._found[selector] = ([at for at, _ in found], [one for _, one in found])
        places, elements = self._found[selector]
        return iter(elements[: bisect_left(places, self._order[item.mem_id])][: -MOST_VALUES - 1 : -1])

    @cached_property
    def _order(self) -> dict[int, int]:
        return {element.mem_id: at for at, element in enumerate(self.document.select("*"))}

    @cached_property
    def _xpath_tree(self) -> Node:
        return xpath_tree(decode(*self._source).text)


@dataclass(frozen=True, slots=True)
class SelectorExpression:
    """A CSS selector, or an XPath."""

    language: str
    text: str
    attribute: str | None = None

    @classmethod
    def given(cls, text: str, where: str) -> Self:
        """From a person's words: `css:…`, `xpath:…`, or one of them without a name. Raises ConfigError."""
        language, _, rest = text.partition(":")
        if language not in ("css", "xpath"):
            language, rest = ("xpath" if text.lstrip().startswith(_XPATH_START) else "css"), text
        selector, attribute = split_selector(rest.strip()) if language == "css" else (rest.strip(), None)
        if language == "css":  # as jQuery and cssselect have it; Lexbor has a name of its own
            selector = selector.replace(":contains(", ":lexbor-contains(")
        try:
            if language == "xpath":
                compiled_xpath(selector)
            elif selector != "." and not (selector and is_selector(selector)):
                raise ValueError("it cannot be parsed")
        except ImportError:
            raise ConfigError(
                "The setting {setting} is an XPath. {problem}", setting=where, problem=not_installed("XPath", "xpath")
            ) from None
        except ValueError as error:
            raise ConfigError(
                "The setting {setting} is {value}, which is no {language} selector ({reason}).",
                setting=where,
                value=quoted(text[:100]),
                language=language,
                reason=error,
            ) from None
        return cls(language, selector, attribute)

    def find(self, node: Node) -> list[Node]:
        """What it finds from a node on, in document order; `.` is the node itself."""
        if node is None:
            return []
        if self.text == ".":
            return [node]
        if self.language == "xpath":
            return found_by_xpath(self.text, node)
        found: list[Node] = node.select(self.text) if isinstance(node, HtmlDocument) else node.css(self.text)
        return found


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """How the value of one field is selected."""

    expression: SelectorExpression | None = None
    attribute: str = ""
    pattern: str = ""
    join: str | None = None
    """Between all values; None takes the first."""
    default: str = ""
    html: bool = False
    """Whether the markup within is wanted and not the text."""
    line: int = 0
    """Of the lines between `<br>`, paragraphs and list items: the first is 1, the last -1; 0 takes all."""
    above: bool = False
    """Whether an item without a value has that of the last such element above it: a heading, or the cell of an earlier row."""
    parts: Mapping[str, FieldSelector] = field(default_factory=dict)
    """Of a date that is written in pieces."""

    @classmethod
    def given(cls, value: object, where: str, *, may_have_parts: bool = False) -> Self:
        """From a person's words: a selector, or a mapping. Raises ConfigError."""
        if isinstance(value, str):
            return cls(SelectorExpression.given(value, where))
        if not isinstance(value, Mapping):
            raise ConfigError(
                "The setting {setting} is {value}; it must be a selector or a mapping with one.",
                setting=where,
                value=quoted(str(value)[:100]),
            )
        given = SettingsReader(value, f"{where}.")
        if may_have_parts and not set(PARTS).isdisjoint(value):
            parts = {name: cls.given(piece, f"{where}.{name}") for name in PARTS if (piece := given.take(name)) is not None}
            given.done()
            return cls(parts=parts)
        selector = given.text("selector", ".")
        attribute, pattern = given.text("attribute"), given.text("pattern")
        join = given.take("join")
        found = cls(
            SelectorExpression.given(selector, f"{where}.selector"),
            attribute,
            pattern,
            None if join is None else str(join),
            given.text("default"),
            given.flag("html", default=False),
            given.number("line", 0, least=-100, most=100),
            given.flag("above", default=False),
        )
        given.done()
        check_pattern(pattern, where)
        return found

    def expressions(self) -> list[SelectorExpression]:
        return [self.expression] if self.expression else [one for part in self.parts.values() for one in part.expressions()]

    def is_above(self) -> bool:
        """Whether it, or a part of it, looks above the item."""
        return self.above or any(part.above for part in self.parts.values())

    def value(self, page: SelectablePage, node: Node | None, item: Node | None = None) -> str:
        """The value within a node, or within the page when there is none; `item` is what the node is, or was split off from."""
        if self.expression is None:
            return date_of_pattern({name: part.value(page, node, item) for name, part in self.parts.items()})
        values = self.values(page, node, MOST_VALUES)
        if self.above and item is not None:
            if self.expression.text == ".":  # what an earlier item, or line of it, says of itself
                values = page.carried[id(self)] = values or page.carried.get(id(self), [])
            elif not values:
                values = list(islice(filter(None, map(self._read, page.above(self.expression.text, item))), 1))
        return (values[0] if self.join is None else self.join.join(values)) if values else self.default

    def values(self, page: SelectablePage, node: Node | None, most: int | None = None) -> list[str]:
        """All values, those that are empty left out."""
        if self.expression is None:
            return []
        found = self.expression.find(node if node is not None else page.node(self.expression.language))
        return [text for one in found[:most] if (text := self._read(one))]

    def _read(self, found: Node) -> str:
        attribute = self.attribute or (self.expression.attribute if self.expression else None)
        is_line = self.line and not attribute
        text = _text(found, attribute, html=bool(is_line) or self.html)
        text = self._part(self._line(text) if is_line else text)
        return "" if self.above and text in _DITTO else text

    def _line(self, markup: str) -> str:
        lines = text_lines(markup)
        place = self.line - 1 if self.line > 0 else self.line
        return lines[place] if -len(lines) <= place < len(lines) else ""

    def _part(self, text: str) -> str:
        if not self.pattern:
            return text.strip()
        found = linear_regex(self.pattern).search(text[:MAX_MATCHED])
        return (found[-1] or "").strip() if found else ""


_DITTO = frozenset('〃 々 ″ " ” 同上 同日 同'.split())
_BREAK = re.compile(r"<(?:br|hr)\b[^<>]{0,200}>|</(?:p|div|li|tr|dd|dt|h[1-6])>", re.IGNORECASE)


def text_lines(markup: str) -> list[str]:
    """The lines of a piece of a page: what stands between line breaks, paragraphs and list items."""
    pieces = (HtmlDocument.parse(piece.encode(), "text/html; charset=utf-8") for piece in _BREAK.split(markup)[:MOST_VALUES])
    lines = (collapsed(_spaced(_SEAM.join(one.text() for one in piece.select("body"))), MAX_TEXT) for piece in pieces)
    return [line for line in lines if line]


def _text(found: Node, attribute: str | None, html: bool) -> str:
    if isinstance(found, HtmlDocument):
        return ""
    if isinstance(found, Element):
        if attribute:
            return (found.attributes.get(attribute) or "")[:MAX_TEXT]
        return (found.inner_html or "")[:MAX_TEXT] if html else text_of(found, MAX_TEXT, _spaced(found.text(separator=_SEAM)))
    if attribute:
        return (str(found.get(attribute) or "") if hasattr(found, "get") else str(found))[:MAX_TEXT]
    if not html and hasattr(found, "xpath"):
        return collapsed(_spaced(_SEAM.join(found.xpath(".//text()"))), MAX_TEXT)
    return (xpath_markup(found) if html else xpath_text(found))[:MAX_TEXT]


def _spaced(text: str) -> str:
    """Texts of several elements as one: a space where two numbers would become one ("2023<span>11:30")."""
    return _GLUED.sub(" ", text).replace(_SEAM, "")


def date_of_pattern(parts: Mapping[str, str]) -> str:
    """A date of its pieces, as somebody would write it; empty without a month and a day, and without a year that is selected."""
    if "year" in parts and not parts["year"].strip():
        return ""
    year, month, day, weekday = (unicodedata.normalize("NFKC", parts.get(name, "")).strip() for name in PARTS)
    if not month or not day:
        return ""
    number = _DIGITS.search(day)
    month_number = _DIGITS.search(month)
    if number is None:
        return ""
    if month_number is None:  # "Aug"
        return " ".join(filter(None, (number[0], month, year)))
    year = year.removesuffix("年").strip()
    if re.fullmatch(r"[0-9]{4}", year):
        return f"{year}-{int(month_number[0]):02}-{int(number[0]):02}"
    era = f"{year}年" if year else ""
    return f"{era}{month_number[0]}月{number[0]}日" + (f"({weekday.strip('()')[:3]})" if weekday else "")


MOST_ITEMS = 5_000
MOST_LINKS = 20_000
"""That an expression finds on a page; twice as many as are ever followed."""


@dataclass(frozen=True, slots=True)
class HtmlSettings:
    """How pages are read; without settings only schema.org types are read."""

    markup: bool = True
    """Whether schema.org's words are looked for."""
    item: SelectorExpression | None = None
    fields: Mapping[str, FieldSelector] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    details: SelectorExpression | None = None
    most_details: int = 200
    next: SelectorExpression | None = None
    most_pages: int = 20
    split: str = ""
    """`br`: each line of an item is an event. `css:…`: one starts at each such element; a pattern: at each line that it finds."""
    epoch: str = ""
    """The unit of times that are numbers."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = SettingsReader(mapping)
        item, details, following = (_expression(given, name) for name in ("item", "details", "next"))
        fields = {
            name: FieldSelector.given(value, f"fields.{name}", may_have_parts=name in ("start", "end"))
            for name, value in by_field(given, "fields").items()
        }
        found = cls(
            given.flag("markup", default=True),
            item,
            fields,
            constants(given),
            details,
            given.number("most_details", 200, least=1, most=10_000),
            following,
            given.number("most_pages", 20, least=1, most=10_000),
            given.text("split"),
            given.choice("epoch", EPOCHS, ""),
        )
        given.done()
        found._check()
        return found

    def _check(self) -> None:
        if self.split and (self.item is None or self.item.language != "css"):
            raise ConfigError("The setting split needs the setting item as a CSS selector.")
        if self.split.startswith(_SPLIT_AT):
            SelectorExpression.given(self.split, "split")
        else:
            check_pattern(self.split, "split")
        if self.item and self.details:
            raise ConfigError(
                "The settings item and details exclude each other: either the page lists events, or pages with one each."
            )
        if self.item and "title" not in self.fields:
            raise ConfigError("The setting fields.title is missing; it must be the selector of an event's name within its item.")
        if self.fields and not (self.item or self.details):
            raise ConfigError(
                "The setting item is missing; it must be the selector of one event (or details, of links to events)."
            )
        if not self.markup and not self.fields:
            raise ConfigError("The setting markup is false, and there are no fields: nothing would be read.")
        for name, pick in self.fields.items():
            if pick.is_above() and (self.item is None or self.item.language != "css"):
                raise ConfigError("The setting fields.{name}.above needs the setting item as a CSS selector.", name=name)
            named = [expression for expression in pick.expressions() if expression.text != "."]
            if self.item and any(expression.language != self.item.language for expression in named):
                raise ConfigError(
                    "The setting fields.{name} must be {language}, as item is.", name=name, language=self.item.language
                )


NO_SETTINGS = HtmlSettings()


@paused_gc()
def read_html(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: HtmlSettings = NO_SETTINGS,
    *,
    page: int = 1,
    detail: bool = False,
    now: datetime | None = None,
    zone: str = "UTC",
) -> ParsedSource:
    """The events of a page, or the pages to read for them, and the next page; this is the `page`th. A `detail` has one event."""
    problems = ReadProblems()
    try:
        parsed = SelectablePage(body, content_type)
    except PageTooComplex as error:
        problems.add("page", Message("The page cannot be read: {error}.", error=error))
        return ParsedSource(problems=problems.all())
    base = parsed.document.base_url(url)
    for reason in parsed.document.left_out:
        problems.add("page", Message("A part of the page is skipped: {reason}.", reason=reason))
    window = ScheduleWindow(now, zone)
    if detail:
        event = _detail_event(parsed, url, settings, base, window, problems)
        return ParsedSource(events=(event,) if event else (), problems=problems.all())
    next_url = _next(parsed, base, url, settings) if page < settings.most_pages else None
    if settings.details:
        details = _addresses(parsed, settings.details, base, url)
        if not details and page == 1:
            problems.add(
                "page",
                Message(
                    "The selector {selector} (setting details) finds no link on the page.", selector=quoted(settings.details.text)
                ),
            )
        if len(details) > settings.most_details:
            problems.add(
                "page",
                Message("Only the first {limit} of {count} links are followed.", limit=settings.most_details, count=len(details)),
            )
        return ParsedSource(details=tuple(details[: settings.most_details]), problems=problems.all(), next_url=next_url)
    events = events_in(parsed.document, url, window, problems) if settings.markup else []
    if not events and settings.item:
        events = _selected(parsed, settings.item, settings, base, problems, page)
    elif not events and page == 1:
        problems.add(
            "page",
            _nothing_described(parsed, base),
        )
    events = [_with_constants(event, settings.constants, base) for event in events]
    return ParsedSource(events=tuple(events), problems=problems.all(), next_url=next_url)


_CALENDAR_TYPES = {
    "application/rss+xml": "rss",
    "application/atom+xml": "rss",
    "application/feed+json": "rss",
    "text/calendar": "ics",
}
_CALENDAR_FILE = re.compile(
    r"\.(?:(ics|ical)|(rss|rdf|atom)|(csv))(?:\?[^#]{0,500})?(?:#.{0,500})?$|[?&][^=&#]{1,60}=(ical|ics|rss2?|atom)(?![^&#])",
    re.IGNORECASE,
)
_GOOGLE_EMBED = re.compile(r"https://calendar\.google\.com/calendar/(?:u/[0-9]/)?embed\?(.{1,2000})")
MOST_DISCOVERED = 10


class DiscoveredSource(NamedTuple):
    """A feed, calendar or table that a page links to."""

    type: str
    url: str


def discover_sources(document: HtmlDocument, base: str) -> tuple[DiscoveredSource, ...]:
    """The feeds, calendars and tables that a page names: its alternates first, then links to such files."""
    found: dict[str, str] = {}
    for link in document.select("link[rel~=alternate][href], a[href][type]")[:MOST_LINKS]:
        kind = _CALENDAR_TYPES.get((link.attributes.get("type") or "").partition(";")[0].strip().lower())
        if kind and (url := canonical(link.attributes.get("href") or "", base)):
            found.setdefault(url, kind)
    for link in document.select("a[href]")[:MOST_LINKS]:
        href = (link.attributes.get("href") or "").strip()
        if href.lower().startswith(("webcal://", "webcals://")):
            href = f"https://{href.partition('://')[2]}"
            found |= {url: "ics"} if (url := canonical(href, base)) else {}
        elif (file := _CALENDAR_FILE.search(href[-1_000:])) and (url := canonical(href, base)):
            is_ics = file[1] or (file[4] or "").lower() in ("ical", "ics")
            found.setdefault(url, "ics" if is_ics else "csv" if file[3] else "rss")
    for frame in document.select("iframe[src]")[:MOST_LINKS]:
        if embed := _GOOGLE_EMBED.match(frame.attributes.get("src") or ""):
            for name in parse_qs(embed[1], max_num_fields=50).get("src", ()):
                found[f"https://calendar.google.com/calendar/ical/{quote(name, safe='')}/public/basic.ics"] = "ics"
    return tuple(DiscoveredSource(kind, url) for url, kind in list(found.items())[:MOST_DISCOVERED])


def _nothing_described(page: SelectablePage, base: str) -> Message:
    others = discover_sources(page.document, base)
    if not others and (papers := len(page.document.select("a[href$='.pdf' i]"))):
        return Message(
            "The page has no schema.org events. It links to PDF files ({count}), which are not read: ask the publisher for a "
            "feed or a calendar. If the page itself lists events, select them with the settings item and fields.",
            count=papers,
        )
    if not others:
        return Message("The page has no schema.org events. Select them with the settings item and fields.")
    return Message(
        "The page has no schema.org events. Select them with the settings item and fields, or add a source that the page links "
        "to: {sources}.",
        sources=", ".join(f"{one.url} ({one.type})" for one in others),
    )


def _detail_event(
    page: SelectablePage, url: str, settings: HtmlSettings, base: str, window: ScheduleWindow, problems: ReadProblems
) -> RawEvent | None:
    """The one event of a page: as schema.org's words say, and the selected fields where they are silent."""
    described = events_in(page.document, url, window, problems) if settings.markup else []
    own = [event for event in described if event.url and canonical(event.url) == canonical(url)]
    event = next(iter(own or described), None)
    if settings.fields:
        selected = raw_event("page", _values(page, None, settings), base)
        event = filled(event, selected) if event else selected
    if event is None or not (event.title or event.start):
        problems.add("page", Message("The page has no schema.org events, and the selected fields find no title and no date."))
        return None
    event = _with_constants(event, settings.constants, base)
    return replace(event, url=event.url or url)


def _expression(given: SettingsReader, name: str) -> SelectorExpression | None:
    text = given.text(name)
    return SelectorExpression.given(text, name) if text else None


def _selected(
    page: SelectablePage, item: SelectorExpression, settings: HtmlSettings, base: str, problems: ReadProblems, number: int
) -> list[RawEvent]:
    nodes = item.find(page.node(item.language))
    if not nodes and number == 1:
        problems.add(
            "page",
            Message(
                "The selector {selector} (setting item) finds nothing on the page; it may have changed.",
                selector=quoted(item.text),
            ),
        )
    if len(nodes) > MOST_ITEMS:
        problems.add("page", Message("Only the first {limit} of {count} items were read.", limit=MOST_ITEMS, count=len(nodes)))
    numbered = [(f"item {at}", node, node) for at, node in enumerate(nodes[:MOST_ITEMS], 1)]
    if settings.split:
        numbered = [
            (f"{name}.{at}", piece, node)
            for name, node, _ in numbered
            for at, piece in enumerate(_split_item(node, settings.split), 1)
        ][:MOST_ITEMS]
    found = [raw_event(name, _values(page, piece, settings, node), base) for name, piece, node in numbered]
    if settings.split and page.carried:  # a line with only the date of the lines below it
        found = [event for event in found if event.title]
    for name in ("title", "start"):
        if name in settings.fields and found and not any(getattr(event, name) for event in found):
            problems.add(
                "page",
                Message(
                    "The setting fields.{name} finds nothing in any of {count} items; the page may have changed.",
                    name=name,
                    count=len(found),
                ),
            )
    return found


_SPLIT_AT = "css:"
_AROUND = {"tr": "<table>", "tbody": "<table>", "td": "<table><tr>", "th": "<table><tr>"}
"""Without what they stand in, cells and rows are no elements."""


def _split_item(node: Node, split: str) -> list[Node]:
    """The pieces of an item, each as an element of its own."""
    groups = _groups_at(node, split.removeprefix(_SPLIT_AT).strip()) if split.startswith(_SPLIT_AT) else _groups_of(node, split)
    parsed = (HtmlDocument.parse(group.encode(), "text/html; charset=utf-8").select("body") for group in groups[:MOST_ITEMS])
    return [body[0] for body in parsed if body]


def _groups_at(node: Node, selector: str) -> list[str]:
    """The markup from each element that a selector finds to the next one beside it."""
    starts = {one.mem_id for one in node.css(selector)}
    first = next(iter(node.css(selector)), None)
    groups: list[str] = []
    room = 10 * MAX_TEXT
    around = _AROUND.get(first.tag or "", "") if first is not None else ""
    for child in first.parent.iter(include_text=True) if first is not None and first.parent is not None else ():
        if child.mem_id in starts:
            groups.append(around)
        markup = (child.html or "")[: max(room, 0)]
        room -= len(markup)
        if groups:
            groups[-1] += markup
    return groups


def _groups_of(node: Node, split: str) -> list[str]:
    """The markup of the lines from each one in which a pattern is found to the next."""
    groups: list[str] = []
    for piece in _BREAK.split((node.inner_html or "")[: 10 * MAX_TEXT]):
        fragment = HtmlDocument.parse(piece.encode(), "text/html; charset=utf-8").select("body")
        text = collapsed(_spaced(fragment[0].text(separator=_SEAM)), MAX_MATCHED) if fragment else ""
        if not text:
            continue
        is_start = split == "br" or linear_regex(split).search(text) is not None
        if is_start:
            groups.append(piece)
        elif groups:
            groups[-1] += f"<br>{piece}"
    return groups


def _values(page: SelectablePage, node: Node | None, settings: HtmlSettings, item: Node | None = None) -> dict[str, Value]:
    texts = {name: pick.value(page, node, item) for name, pick in settings.fields.items()}
    return {name: _moment(text, settings.epoch) if name in ("start", "end") else text for name, text in texts.items()}


def _moment(text: str, epoch: str) -> Value:
    try:
        return (epoch_time(text, epoch) if epoch else None) or text
    except ValueError:  # no time that can be: it is refused with its text
        return text


def _with_constants(event: RawEvent, constants: Mapping[str, str], base: str) -> RawEvent:
    return filled(event, raw_event("constants", dict(constants), base)) if constants else event


def _addresses(page: SelectablePage, expression: SelectorExpression, base: str, url: str) -> list[str]:
    """The web addresses that an expression finds, each once, without the page itself."""
    pick = FieldSelector(expression, attribute=expression.attribute or "href")
    found = (canonical(text, base) for text in pick.values(page, None, MOST_LINKS))
    return [address for address in dict.fromkeys(found) if address and address != canonical(url)]


def _next(page: SelectablePage, base: str, url: str, settings: HtmlSettings) -> str | None:
    if settings.next is None:
        return None
    return next(iter(_addresses(page, settings.next, base, url)), None)
