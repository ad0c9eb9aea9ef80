"""Reads the responses of JSON APIs by a mapping: JMESPath expressions say where the events are and what each field is.

Settings: `items` (the list of events), `each` (a list within an item, every element of which is an event), `fields` (field:
expression, or a mapping with `path`, `default`, `join`, `map`), `constants`, `epoch` (times are numbers), `pagination`
(`ApiPaging`), `most_pages`, and `embedded` and `after` for JSON in a page. This is the only module that imports jmespath.
Credentials are handled by the fetcher, and HTML
stays HTML. JSON is repaired only where nothing can be misread: control characters in texts, and the prefix that some APIs add
against script inclusion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

import jmespath

from tadoru.errors import ConfigError, Message, quoted
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.decode import decode
from tadoru.parse.extract import split_selector
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.header_fields import links
from tadoru.parse.html import HtmlDocument, PageTooComplex, is_selector
from tadoru.parse.lenient_json import first_value
from tadoru.parse.sources.raw_fields import EPOCHS, ReadProblems, Value, absolute, by_field, constants, epoch_time, raw_event
from tadoru.parse.sources.source_settings import SettingsReader
from tadoru.rules.url import with_parameter

KINDS = ("none", "page", "offset", "cursor", "link")
Next = tuple[str | None, str]
"""The address of the next page, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ApiPaging:
    """How the pages of an API follow each other."""

    kind: str = "none"
    most: int = 50
    parameter: str = ""
    """`page`, `cursor`: the name in the query."""
    start: int = 1
    step: int = 1
    """`page`: the value on the first page, and how far it is to the next; an offset is a page whose number steps by its size."""
    size: int = 0
    """`page`: events on a page, asked for as `size_parameter` when it is named."""
    size_parameter: str = ""
    total: str = ""
    """`page`: an expression for how many events there are."""
    pages: str = ""
    """`page`: an expression for how many pages there are."""
    path: str = ""
    """`cursor`: the expression of the cursor; `link`: of the address, or the Link header when it is empty."""

    @classmethod
    def given(cls, mapping: Mapping[str, object], most: int) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = SettingsReader(mapping, "pagination.")
        kind = given.choice("kind", KINDS, "none")
        if kind == "offset":
            size = given.number("size", 0, least=0, most=10**6)
            if not size:
                raise ConfigError("The setting pagination.size is missing; it must be how many events a page has.")
            parameter, total = given.text("parameter", "offset"), given.text("total")
            start, size_parameter = given.number("start", 0, least=0, most=10**6), given.text("size_parameter")
            found = cls("page", most, parameter, start, size, size, size_parameter, total)
        elif kind == "page":
            start, step = given.number("start", 1, least=0, most=10**6), given.number("step", 1, least=1, most=10**6)
            size, size_parameter = given.number("size", 0, least=0, most=10**6), given.text("size_parameter")
            parameter, total, pages = given.text("parameter", "page"), given.text("total"), given.text("pages")
            found = cls(kind, most, parameter, start, step, size, size_parameter, total, pages)
        elif kind == "cursor":
            found = cls(kind, most, given.text("parameter", "cursor"), path=given.text("path"))
        else:
            found = cls(kind, most, path=given.text("path") if kind == "link" else "")
        given.done()
        if kind == "cursor" and not found.path:
            raise ConfigError("The setting pagination.path is missing; it must be the expression that gives the next cursor.")
        if found.size_parameter and not found.size:
            raise ConfigError("The setting pagination.size is missing; it must be the number to send as size_parameter.")
        return found

    def paths(self) -> Iterator[tuple[str, str]]:
        """The expressions whose values `next` wants, by name."""
        for name in ("total", "pages", "path"):
            if path := getattr(self, name):
                yield name, path

    def first(self, url: str) -> str:
        """The address of the first page: with the size, where it is sent."""
        return with_parameter(url, self.size_parameter, str(self.size)) if self.size_parameter else url

    def next(self, url: str, page: int, count: int, values: Mapping[str, object], headers: Iterable[tuple[str, str]]) -> Next:
        """The page after this one, which is the `page`th, is at `url` and has `count` events."""
        if self.kind == "none" or page >= self.most:
            return None, ""
        if self.kind == "page":
            return self._by_number(url, page, count, values), ""
        if self.kind == "cursor":
            cursor = values.get("path")
            # False and "" are how interfaces say that there are no more; 0 is a cursor only where a person would say so.
            if not isinstance(cursor, str | int) or not cursor or isinstance(cursor, bool):
                return None, ""
            return _other(with_parameter(url, self.parameter, str(cursor)), url)
        return self._by_link(url, values, headers)

    def _by_number(self, url: str, page: int, count: int, values: Mapping[str, object]) -> str | None:
        pages, total = _number(values.get("pages")), _number(values.get("total"))
        if count == 0 or (pages is not None and page >= pages):
            return None
        if total is not None and page * (self.size or count) >= total:
            return None
        following = with_parameter(url, self.parameter, str(self.start + page * self.step))
        return self.first(following)

    def _by_link(self, url: str, values: Mapping[str, object], headers: Iterable[tuple[str, str]]) -> Next:
        if self.path:
            target = values.get("path")
            if not isinstance(target, str) or not target.strip():
                return None, ""
            address = absolute(target, url)
            return (
                _other(address, url)
                if address
                else (None, Message("The next page is {target}, which is not a web URL.", target=quoted(target[:200])))
            )
        fields = [value for name, value in headers if name.lower() == "link"]
        found = next((link.url for link in links(fields, url) if "next" in link.rel), None)
        return _other(found, url) if found else (None, "")


NO_PAGING = ApiPaging()


def _other(address: str, url: str) -> Next:
    if address.partition("#")[0] == (absolute(url, url) or url).partition("#")[0]:
        return None, Message("The next page is this page again, so no more pages are read.")
    return address, ""


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


MOST_EVENTS = 30_000
"""Of one answer."""
_LONG_NUMBER = 30
_GUARD = ")]}'"
"""Makes an answer useless as a script on another site; some add a comma or a line end."""
_TIMES = ("start", "end", "updated")
# What an expression may end in on data that nobody foresaw; jmespath's own errors are ValueErrors.
_FAILURES = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The expression for one field of an event, and what is done to its value."""

    path: str
    default: str = ""
    join: str = ", "
    """Between the values of a list."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Other words for some values: `{"music": "音楽"}`."""

    @classmethod
    def given(cls, name: str, value: object) -> Self:
        if isinstance(value, Mapping):
            given = SettingsReader(value, f"fields.{name}.")
            found = cls(given.text("path"), given.text("default"), given.text("join", ", "), given.table("map"))
            given.done()
        else:
            found = cls(str(value) if isinstance(value, str) else "")
        _check(found.path, f"fields.{name}")
        return found


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How an API is read."""

    items: str = "@"
    """Gives the list of events; an answer that is a list needs nothing."""
    each: str = ""
    """Gives a list within an item; every element is an event, and the fields see it as `each` beside what the item says."""
    fields: Mapping[str, FieldPath] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    epoch: str = ""
    """`seconds` or `milliseconds` when times are numbers; `local_…` if they count local time."""
    paging: ApiPaging = NO_PAGING
    embedded: str = ""
    """The answer is a page: a CSS selector of the element, or its attribute, that holds the JSON."""
    after: str = ""
    """What stands before the JSON in a script."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = SettingsReader(mapping)
        items = given.text("items", "@")
        _check(items, "items")
        if each := given.text("each"):
            _check(each, "each")
        fields = {name: FieldPath.given(name, value) for name, value in by_field(given, "fields").items()}
        if "title" not in fields:
            raise ConfigError("The setting fields.title is missing; it must be the JMESPath expression of an event's name.")
        same = constants(given)
        epoch = given.choice("epoch", EPOCHS, "")
        paging = ApiPaging.given(given.mapping("pagination"), given.number("most_pages", 50, least=1, most=10_000))
        for name, path in paging.paths():
            _check(path, f"pagination.{name}")
        after = given.text("after")
        embedded = given.text("embedded", "script" if after else "")
        if embedded and not is_selector(split_selector(embedded)[0]):
            raise given.error("embedded", embedded, "a CSS selector, such as script#events")
        given.done()
        return cls(items, each, fields, same, epoch, paging, embedded, after)


@paused_gc()
def read_api(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: ApiSettings,
    *,
    page: int = 1,
    headers: Iterable[tuple[str, str]] = (),
) -> ParsedSource:
    """The events of one answer, and the address of the next page: `url` and `page` are this one's, counted from 1."""
    problems = ReadProblems()
    try:
        data = _embedded(body, content_type, settings) if settings.embedded else _data(decode(body, content_type).text)
        items = _search(settings.items, data)
    except _FAILURES as error:
        problems.add(
            "answer", Message("The response cannot be read: {error}", error=_reason(error)), body[:300].decode("utf-8", "replace")
        )
        return ParsedSource(problems=problems.all())
    if items is None and page == 1:
        problems.add(
            "answer",
            Message(
                "The expression {expression} (setting items) finds nothing in the response.", expression=quoted(settings.items)
            ),
        )
    found = items if isinstance(items, list) else [] if items is None else [items]
    if len(found) > MOST_EVENTS:
        problems.add("answer", Message("Only the first {limit} of {count} items were read.", limit=MOST_EVENTS, count=len(found)))
    events = tuple(_events(found[:MOST_EVENTS], url, settings, problems))
    values: dict[str, object] = {}
    for name, path in settings.paging.paths():
        try:
            values[name] = _search(path, data)
        except _FAILURES as error:
            problems.add("answer", Message("pagination.{name}: {error}", name=name, error=_reason(error)))
    next_url, trouble = settings.paging.next(url, page, len(found), values, headers)
    if trouble:
        problems.add("answer", trouble)
    return ParsedSource(events=events, problems=problems.all(), next_url=next_url)


def _events(items: list[object], url: str, settings: ApiSettings, problems: ReadProblems) -> Iterator[RawEvent]:
    for position, item in _positions(items, settings.each, problems):
        if not isinstance(item, dict):
            problems.add(position, Message("This item is {type} instead of an object.", type=_kind(item)), str(item)[:300])
            continue
        values: dict[str, Value] = dict(settings.constants)
        for name, wanted in settings.fields.items():
            try:
                value = _value(name, _search(wanted.path, item), wanted, settings)
            except _FAILURES as error:
                problems.add(f"{position}, {name}", _reason(error))
                continue
            if value:
                values[name] = value
        yield raw_event(position, values, url)


def _positions(items: list[object], each: str, problems: ReadProblems) -> Iterator[tuple[str, object]]:
    """The items with their places; where every element of a list within them is an event, an item for each."""
    left = MOST_EVENTS
    for number, item in enumerate(items, 1):
        if not each or not isinstance(item, dict):
            yield f"item {number}", item
            continue
        try:
            found = _search(each, item)
        except _FAILURES as error:
            problems.add(f"item {number}, each", _reason(error))
            continue
        inner = found if isinstance(found, list) else [] if found is None else [found]
        if not inner:
            problems.add(
                f"item {number}",
                Message("The expression {expression} (setting each) finds nothing in the item.", expression=quoted(each)),
            )
        for at, one in enumerate(inner[:left], 1):
            yield f"item {number}.{at}", {**item, "each": one}
        left -= min(left, len(inner))
        if left == 0:
            problems.add("answer", Message("Only the first {limit} events were read.", limit=MOST_EVENTS))
            return


def _value(name: str, found: object, wanted: FieldPath, settings: ApiSettings) -> Value | None:
    """What an expression found, as the value of a field."""
    if settings.epoch and name in _TIMES and (moment := epoch_time(found, settings.epoch)) is not None:
        return moment.isoformat() if name == "updated" else moment
    texts = [_text(one) for one in (found if isinstance(found, list) else [found])]
    words = [wanted.names.get(text, text) for text in texts if text.strip()]
    return wanted.join.join(words) or wanted.default or None


def _data(text: str) -> object:
    text = text.lstrip()
    if text.startswith(_GUARD):
        text = text.removeprefix(_GUARD).lstrip(", \r\n")
    data: object = json.loads(text, strict=False, parse_int=_whole, parse_float=_real, parse_constant=_nothing)
    return data


def _embedded(body: bytes, content_type: str | None, settings: ApiSettings) -> object:
    """The JSON in a page. Raises ValueError."""
    selector, attribute = split_selector(settings.embedded)
    try:
        elements = HtmlDocument.parse(body, content_type).select(selector)
    except PageTooComplex as error:
        raise ValueError(str(error)) from None
    for element in elements:
        text = (element.attributes.get(attribute) or "") if attribute else element.text()
        if settings.after in text and text.strip():
            return first_value(text.partition(settings.after)[2] if settings.after else text)
    raise ValueError(
        f"The page has no {settings.embedded}" + (f" with “{settings.after}”" if settings.after else "") + " (setting embedded)."
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dict):
        names = ", ".join(list(value)[:8]) or "none"
        raise ValueError(f"The expression gives an object; let it choose one of its members ({names[:200]}).")
    if isinstance(value, list):
        return ", ".join(text for one in value if (text := _text(one)))
    return str(value)


def _whole(text: str) -> int | str:
    """A number as it is written when it is too long for one: a million digits must not cost a minute, nor the whole answer."""
    return int(text) if len(text) < _LONG_NUMBER else text


def _real(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text[:_LONG_NUMBER]


def _nothing(_name: str) -> None:
    """NaN and Infinity, which JSON does not have, say nothing."""


def _kind(value: object) -> str:
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "nothing")


def _check(expression: str, where: str) -> None:
    if not expression.strip():
        raise ConfigError("The setting {setting} is empty; it must be a JMESPath expression, such as venue.name.", setting=where)
    try:
        _compiled(expression)
    except _FAILURES as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(
            "The setting {setting} is {value}, which is not a JMESPath expression ({reason}).",
            setting=where,
            value=quoted(expression[:100]),
            reason=reason,
        ) from None


@lru_cache(maxsize=512)
def _compiled(expression: str) -> Any:
    return jmespath.compile(expression)


def _search(expression: str, data: object) -> object:
    found: object = _compiled(expression).search(data)
    return found


def _reason(error: Exception) -> str:
    """One sentence."""
    text = "it is nested too deep" if isinstance(error, RecursionError) else str(error).strip().partition("\n")[0][:300]
    return text if text.endswith(".") else f"{text}."
