"""Reads web pages as event sources: schema.org's words first (`markup`), then what the source's settings select (`pick`).

A page is a list of events (`item` and `fields`), or a list of pages with one event each (`details`; `fields` are then of those
pages). A page is read as it came: whether a browser rendered it before is the fetcher's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from tadoru.errors import ConfigError, quoted
from tadoru.model.event import RawEvent, Reading
from tadoru.parse.html import PageTooComplex
from tadoru.parse.sources.fields import Value, by_field, constants, filled, raw_event
from tadoru.parse.sources.given import Given
from tadoru.parse.sources.markup import events_in
from tadoru.parse.sources.pick import Expression, Node, Page, Pick
from tadoru.parse.sources.problems import Problems
from tadoru.parse.sources.schedule import Window
from tadoru.rules.url import canonical

MOST_ITEMS = 5_000
MOST_LINKS = 20_000
"""That an expression finds on a page; twice as many as are ever followed."""


@dataclass(frozen=True, slots=True)
class HtmlSettings:
    """How pages are read. Without settings: by schema.org's words only."""

    markup: bool = True
    """Whether schema.org's words are looked for."""
    item: Expression | None = None
    fields: Mapping[str, Pick] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    details: Expression | None = None
    most_details: int = 200
    next: Expression | None = None
    most_pages: int = 20

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = Given(mapping)
        item, details, following = (_expression(given, name) for name in ("item", "details", "next"))
        fields = {
            name: Pick.given(value, f"fields.{name}", may_have_parts=name in ("start", "end"))
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
        )
        given.done()
        found._check()
        return found

    def _check(self) -> None:
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
            if self.item and any(expression.language != self.item.language for expression in pick.expressions()):
                raise ConfigError(f"The setting fields.{name} must be {self.item.language}, as item is.")


NO_SETTINGS = HtmlSettings()


def read_html(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: HtmlSettings = NO_SETTINGS,
    *,
    page: int = 1,
    now: datetime | None = None,
    zone: str = "UTC",
) -> Reading:
    """The events of a page, or the pages to read for them, and the next page; this is the `page`th."""
    problems = Problems()
    parsed = _parsed(body, content_type, problems)
    if parsed is None:
        return Reading(problems=problems.all())
    base = _base(parsed, url, problems)
    next_url = _next(parsed, base, url, settings) if page < settings.most_pages else None
    if settings.details:
        details = _addresses(parsed, settings.details, base, url)
        if not details and page == 1:
            problems.add("page", f"The selector {quoted(settings.details.text)} (setting details) finds no link on the page.")
        if len(details) > settings.most_details:
            problems.add("page", f"Only the first {settings.most_details} of {len(details)} links are followed.")
        return Reading(details=tuple(details[: settings.most_details]), problems=problems.all(), next_url=next_url)
    events = events_in(parsed.document, url, Window(now, zone), problems) if settings.markup else []
    if not events and settings.item:
        events = _selected(parsed, settings.item, settings, base, problems, page)
    elif not events and page == 1:
        problems.add(
            "page", "The page names no event in schema.org's words; say with the settings item and fields where they are."
        )
    events = [_with_constants(event, settings.constants, base) for event in events]
    return Reading(events=tuple(events), problems=problems.all(), next_url=next_url)


def read_detail(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: HtmlSettings = NO_SETTINGS,
    *,
    now: datetime | None = None,
    zone: str = "UTC",
) -> Reading:
    """The one event of a page: as schema.org's words say, and the selected fields where they are silent."""
    problems = Problems()
    parsed = _parsed(body, content_type, problems)
    if parsed is None:
        return Reading(problems=problems.all())
    base = _base(parsed, url, problems)
    described = events_in(parsed.document, url, Window(now, zone), problems) if settings.markup else []
    own = [event for event in described if event.url and canonical(event.url) == canonical(url)]
    event = next(iter(own or described), None)
    if settings.fields:
        selected = raw_event("page", _values(parsed, None, settings), base)
        event = filled(event, selected) if event else selected
    if event is None or not (event.title or event.start):
        problems.add("page", "The page names no event in schema.org's words, and the selected fields find no title and no date.")
        return Reading(problems=problems.all())
    event = _with_constants(event, settings.constants, base)
    return Reading(events=(replace(event, url=event.url or url),), problems=problems.all())


def _expression(given: Given, name: str) -> Expression | None:
    text = given.text(name)
    return Expression.given(text, name) if text else None


def _parsed(body: bytes, content_type: str | None, problems: Problems) -> Page | None:
    try:
        return Page(body, content_type)
    except PageTooComplex as error:
        problems.add("page", f"The page can not be read: {error}.")
        return None


def _base(page: Page, url: str, problems: Problems) -> str:
    base = page.document.base_url(url)
    for reason in page.document.left_out:
        problems.add("page", f"A part of the page is left out: {reason}.")
    return base


def _selected(page: Page, item: Expression, settings: HtmlSettings, base: str, problems: Problems, number: int) -> list[RawEvent]:
    nodes = item.find(page.node(item.language))
    if not nodes and number == 1:
        problems.add("page", f"The selector {quoted(item.text)} (setting item) finds nothing on the page; it may have changed.")
    if len(nodes) > MOST_ITEMS:
        problems.add("page", f"Only the first {MOST_ITEMS} of {len(nodes)} items were read.")
    found = [raw_event(f"item {at}", _values(page, node, settings), base) for at, node in enumerate(nodes[:MOST_ITEMS], 1)]
    for name in ("title", "start"):
        if name in settings.fields and found and not any(getattr(event, name) for event in found):
            problems.add(
                "page", f"The setting fields.{name} finds nothing in any of {len(found)} items; the page may have changed."
            )
    return found


def _values(page: Page, node: Node | None, settings: HtmlSettings) -> dict[str, Value]:
    return {name: pick.value(page, node) for name, pick in settings.fields.items()}


def _with_constants(event: RawEvent, constants: Mapping[str, str], base: str) -> RawEvent:
    return filled(event, raw_event("constants", dict(constants), base)) if constants else event


def _addresses(page: Page, expression: Expression, base: str, url: str) -> list[str]:
    """The web addresses that an expression finds, each once, without the page itself."""
    pick = Pick(expression, attribute=expression.attribute or "href")
    found = (canonical(text, base) for text in pick.values(page, None, MOST_LINKS))
    return [address for address in dict.fromkeys(found) if address and address != canonical(url)]


def _next(page: Page, base: str, url: str, settings: HtmlSettings) -> str | None:
    if settings.next is None:
        return None
    return next(iter(_addresses(page, settings.next, base, url)), None)
