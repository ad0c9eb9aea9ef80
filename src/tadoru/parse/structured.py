"""Structured data of a page: JSON-LD, microdata and RDFa Lite, as items with a type and properties.

Nothing raises: broken JSON is reported as a problem. Properties are names without their vocabulary (`name`, not
`https://schema.org/name`); names of other vocabularies keep their prefix. A table lists the properties that each type needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tadoru.parse import lenient_json
from tadoru.parse.html import Element, HtmlDocument, text_of
from tadoru.rules.url import LONGEST_URL

_BUSINESS = "name address"
_NEEDS: dict[str, str] = {
    "AggregateOffer": "lowPrice priceCurrency",
    "AggregateRating": "ratingValue ratingCount|reviewCount",
    "Answer": "text",
    "BreadcrumbList": "itemListElement",
    "Course": "name description",
    "Dataset": "name description",
    "Dentist": _BUSINESS,
    "Event": "name startDate location",
    "FAQPage": "mainEntity",
    "Hotel": _BUSINESS,
    "HowTo": "name step",
    "JobPosting": "title description datePosted hiringOrganization jobLocation|jobLocationType|applicantLocationRequirements",
    "LocalBusiness": _BUSINESS,
    "MusicEvent": "name startDate location",
    "Offer": "price|priceSpecification priceCurrency|priceSpecification",
    "Organization": "name|url|logo",
    "Person": "name|givenName|familyName|alternateName",
    "Product": "name offers|review|aggregateRating",
    "Question": "name|text acceptedAnswer|suggestedAnswer",
    "Recipe": "name image",
    "Restaurant": _BUSINESS,
    "Review": "author reviewRating",
    "SoftwareApplication": "name",
    "Store": _BUSINESS,
    "VideoObject": "name thumbnailUrl|thumbnail uploadDate",
    "WebSite": "name|url",
}
NEEDS = {kind: tuple(tuple(need.split("|")) for need in needs.split()) for kind, needs in _NEEDS.items()}

_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_CURRENCY = re.compile(r"[A-Z]{3}")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text.strip()) is not None


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _is_currency(text: str) -> bool:
    return _CURRENCY.fullmatch(text.strip()) is not None


_FORMS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(
        "startDate endDate datePublished dateModified datePosted uploadDate validThrough priceValidUntil dateCreated".split(),
        _is_date,
    ),
    **dict.fromkeys("price lowPrice highPrice ratingCount reviewCount".split(), _is_number),
    "priceCurrency": _is_currency,
}


def missing_properties(items: Iterable[StructuredThing]) -> Iterator[str]:
    """`Type.property` for each need that an item does not meet; alternatives are joined by a bar."""
    known = list(items)
    # The properties of one thing may be spread over several objects with the same id.
    elsewhere: dict[str, set[str]] = {}
    for item in known:
        if item.id:
            elsewhere.setdefault(item.id, set()).update(name for name, values in item.properties.items() if values)
    for item in known:
        if item.is_partial or not item.properties:
            continue
        said = {name for name, values in item.properties.items() if values} | elsewhere.get(item.id, set())
        for kind in item.types:
            for need in NEEDS.get(kind, ()):
                if said.isdisjoint(need) and not _is_said_by_place(item, kind, need):
                    yield f"{kind}.{'|'.join(need)}"


def _is_said_by_place(item: StructuredThing, kind: str, need: tuple[str, ...]) -> bool:
    """Whether a need does not hold here: an offer that stands for itself may describe more than a price."""
    return kind == "Offer" and not item.is_nested


def malformed_properties(items: Iterable[StructuredThing]) -> Iterator[str]:
    """`property=value` for each date, number or currency that cannot be read as one."""
    for item in items:
        for name, is_right in _FORMS.items():
            for text in item.texts(name):
                if not is_right(text):
                    yield f"{name}={text[:80]}"


DEEPEST = 20
"""Items within each other; `…` stands for what is deeper, or for the item itself where `itemref` puts it within itself."""
MAX_JSON = 2_000_000
"""Characters of JSON-LD that are read of one page: parsed they take twenty times as much."""
_MOST_NAMES = 20
"""Types of one item, or properties that one element gives: each has the value for itself."""
_MOST_PROBLEMS = 100
_LONGEST_NAME = 300

Syntax = Literal["json-ld", "microdata", "rdfa"]
_SCHEMA = re.compile(r"(?:https?:)?(?://)?(?:www\.)?schema\.org/?(?:#)?", re.IGNORECASE)
_JSON_TYPE = "application/ld+json"
_WRAPPING = re.compile(
    r"\A\s*(?://\s*)?(?:<!--|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?://\s*)?(?:-->|\]\]>|/\*\s*\]\]>\s*\*/)\s*\Z"
)
_REFERENCES = {
    "a": "href", "area": "href", "link": "href", "img": "src", "iframe": "src", "video": "src", "audio": "src", "source": "src",
    "embed": "src", "track": "src", "object": "data", "data": "value", "meter": "value", "time": "datetime", "meta": "content",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How much is read, and how strictly: the audit reads data as it is, the events job repairs it."""

    most_items: int = 500
    most_properties: int = 10_000
    max_text: int = 1_000
    is_lenient: bool = False
    """Whether broken JSON is repaired, and objects without a type are items too."""


STRICT = ReadingRules()


@dataclass(slots=True)
class StructuredThing:
    """An item that a page describes."""

    syntax: Syntax
    types: tuple[str, ...]
    """Without their vocabulary: `Product`."""
    id: str = ""
    properties: dict[str, list[str | StructuredThing]] = field(default_factory=dict)
    is_partial: bool = False
    """Whether some of its properties stand elsewhere (`itemref`)."""
    is_nested: bool = False

    def texts(self, name: str) -> Iterator[str]:
        """The values of a property that are text."""
        return (value for value in self.properties.get(name, ()) if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class StructuredData:
    """All items of a page, nested ones too, in order; and what could not be read."""

    items: tuple[StructuredThing, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with blocks of JSON-LD, as the JSON parser says it."""
    without_context: int = 0
    """Blocks of JSON-LD that do not say they speak schema.org."""


def read_structured(document: HtmlDocument, manner: ReadingRules = STRICT) -> StructuredData:
    """The structured data of a page."""
    return structured(document, document.select("script"), document.select("[itemscope],[typeof]"), manner)


def structured(
    document: HtmlDocument, scripts: Iterable[Element], marked: Iterable[Element], manner: ReadingRules = STRICT
) -> StructuredData:
    """The structured data in these scripts, and in those of the `marked` elements that are items."""
    reading = _Reading(manner)
    for element in scripts:
        if (element.attributes.get("type") or "").partition(";")[0].strip().lower() == _JSON_TYPE:
            reading.json_block(element.text())
    microdata: dict[int, Element] = {}
    rdfa: dict[int, Element] = {}
    for element in marked:
        attributes = element.attributes
        if "itemscope" in attributes:
            microdata[element.mem_id] = element
        elif "typeof" in attributes:
            rdfa[element.mem_id] = element
    if scopes := [*microdata.values(), *rdfa.values()][: manner.most_items]:
        reading.items.extend(_from_markup(document, scopes, manner))
    return StructuredData(tuple(reading.items), tuple(reading.problems), reading.without_context)


class _Reading:
    """Reads blocks of JSON-LD."""

    def __init__(self, manner: ReadingRules) -> None:
        self.manner = manner
        self.items: list[StructuredThing] = []
        self.problems: list[str] = []
        self.without_context = 0
        self._characters = MAX_JSON
        self._values_left = manner.most_properties

    def json_block(self, text: str) -> None:
        self._characters -= len(text)
        if len(self.problems) >= _MOST_PROBLEMS:
            return
        if self._characters < 0:
            self.problems.append(f"the JSON-LD of the page has more than {MAX_JSON:,} characters")
            self._characters = 0
            return
        text = _WRAPPING.sub("", text)
        if not text.strip():
            self.problems.append("empty")
            return
        try:
            data = lenient_json.loads(text) if self.manner.is_lenient else json.loads(text)
        except (ValueError, RecursionError) as error:
            self.problems.append(str(error)[:200])
            return
        blocks = data if isinstance(data, list) else [data]
        for block in blocks:
            if len(self.problems) >= _MOST_PROBLEMS:
                return
            if not isinstance(block, dict):
                self.problems.append(f"{type(block).__name__} instead of an object")
                continue
            if "@context" not in block and any(kind != "" for kind in _list(block.get("@type"))):
                self.without_context += 1
            try:
                self._node(block, 0)
            except RecursionError:  # A list that is almost too deep to be read is too deep to be shown.
                self.problems.append("it is nested too deep")

    def _node(self, node: dict[str, object], depth: int) -> StructuredThing | None:
        """Take an object, and those within it."""
        for inner in _list(node.get("@graph")):
            if isinstance(inner, dict) and depth < DEEPEST:
                self._node(inner, depth + 1)
        types = tuple(_name(kind) for kind in _list(node.get("@type"))[:_MOST_NAMES] if isinstance(kind, str))
        is_item = bool(types) or (self.manner.is_lenient and any(not key.startswith("@") for key in node))
        if not is_item or len(self.items) >= self.manner.most_items or depth >= DEEPEST:
            return None
        item = StructuredThing("json-ld", types, str(node.get("@id") or "")[: self.manner.max_text], is_nested=depth > 0)
        self.items.append(item)
        for key, value in node.items():
            if not key.startswith("@") and self._values_left > 0:
                item.properties[_name(key)] = list(self._values(value, depth))
        return item

    def _values(self, value: object, depth: int) -> Iterator[str | StructuredThing]:
        longest = self.manner.max_text
        for one in _list(value):
            self._values_left -= 1
            if self._values_left < 0:
                return
            if isinstance(one, dict):
                if "@value" in one:
                    yield str(one["@value"])[:longest]
                elif (nested := self._node(one, depth + 1)) is not None:
                    yield nested
                elif one:
                    yield str(one.get("@id", "…"))[:longest]
            elif one is not None and not (isinstance(one, str) and not one.strip()):
                yield str(one)[:longest]


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _words(value: str | None) -> list[str]:
    """The names in an attribute, as many as go together."""
    return (value or "")[: _MOST_NAMES * _LONGEST_NAME].split()[:_MOST_NAMES]


def _name(term: str) -> str:
    """A type or property without the vocabulary everybody means."""
    term = term[:_LONGEST_NAME].strip()
    if term.startswith("schema:"):
        return term[7:]
    return _SCHEMA.sub("", term, count=1) if "schema.org" in term.lower() else term


def _from_markup(document: HtmlDocument, scopes: list[Element], manner: ReadingRules) -> Iterator[StructuredThing]:
    """Items of microdata and RDFa: each property belongs to the nearest element around it that is an item."""
    items = {element.mem_id: _item(element) for element in scopes}
    referred = _referred(document, scopes, items) if any(item.is_partial for item in items.values()) else {}
    nesting = _Nesting()
    for element in document.select("[itemprop],[property]")[: manner.most_properties]:
        attributes = element.attributes
        for key, syntax in (("itemprop", "microdata"), ("property", "rdfa")):
            names = _words(attributes.get(key))
            owner = _owner(element, items, referred, syntax) if names else None
            if owner is None:
                continue
            own = items.get(element.mem_id)
            value = own if own is not None and own.syntax == syntax else _value(element, syntax, manner.max_text)
            if isinstance(value, StructuredThing):
                value.is_nested = nesting.put(value, owner)
                value = value if value.is_nested else value.id[: manner.max_text] or "…"
            for name in names if value else ():
                owner.properties.setdefault(_name(name), []).append(value)
    for item in items.values():
        if item.types:
            yield item


class _Nesting:
    """Which item is within which other: trees of bounded depth, whatever the page says."""

    def __init__(self) -> None:
        self._around: dict[int, StructuredThing] = {}
        self._height: dict[int, int] = {}

    def put(self, inner: StructuredThing, outer: StructuredThing) -> bool:
        """Whether an item can stand there: not when that is within itself, or too deep."""
        above = [outer]
        while (around := self._around.get(id(above[-1]))) is not None:
            above.append(around)
        height = self._height.get(id(inner), 0)
        if any(one is inner for one in above) or len(above) + height >= DEEPEST:
            return False
        self._around[id(inner)] = outer
        for distance, one in enumerate(above, height + 1):
            self._height[id(one)] = max(self._height.get(id(one), 0), distance)
        return True


def _item(element: Element) -> StructuredThing:
    attributes = element.attributes
    is_microdata = "itemscope" in attributes
    types = _words(attributes.get("itemtype" if is_microdata else "typeof"))
    name = (attributes.get("itemid" if is_microdata else "resource") or "")[:LONGEST_URL]
    return StructuredThing(
        "microdata" if is_microdata else "rdfa", tuple(map(_name, types)), name, is_partial="itemref" in attributes
    )


def _referred(document: HtmlDocument, scopes: list[Element], items: dict[int, StructuredThing]) -> dict[int, StructuredThing]:
    """The elements that items name as theirs (`itemref`) though they stand elsewhere."""
    places = {element.attributes.get("id"): element.mem_id for element in reversed(document.select("[id]"))}
    return {
        places[name]: items[element.mem_id]
        for element in scopes
        for name in _words(element.attributes.get("itemref"))
        if name in places
    }


def _owner(
    element: Element, items: dict[int, StructuredThing], referred: dict[int, StructuredThing], syntax: str
) -> StructuredThing | None:
    if syntax == "microdata" and (item := referred.get(element.mem_id)) is not None:
        return item
    ancestor = element.parent
    for _ in range(10 * DEEPEST):
        if ancestor is None:
            return None
        if (item := items.get(ancestor.mem_id)) is not None and item.syntax == syntax:
            return item
        if syntax == "microdata" and (item := referred.get(ancestor.mem_id)) is not None:
            return item
        ancestor = ancestor.parent
    return None


def _value(element: Element, syntax: str, longest: int) -> str:
    attributes = element.attributes
    if content := attributes.get("content"):
        return content.strip()[:longest]
    if syntax == "rdfa" and (resource := attributes.get("resource") or attributes.get("href") or attributes.get("src")):
        return resource[:longest]
    if (name := _REFERENCES.get(element.tag or "")) and (reference := attributes.get(name)):
        return reference.strip()[:longest]
    return text_of(element, longest)
