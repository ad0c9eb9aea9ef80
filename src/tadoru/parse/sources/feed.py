"""Feeds (RSS 0.9x, 1.0, 2.0, Atom, JSON Feed): bytes in, one raw event per item out.

`feed_xml` reads XML, `feed_item` one item of it and the dates in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tadoru.errors import Message
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.decode import feed_text
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.feed_item import DATE_FROM, PLAIN, DateLocation, labelled_fields, plain, read_item
from tadoru.parse.sources.feed_xml import XmlElement, read_xml
from tadoru.parse.sources.raw_fields import ReadProblems, absolute
from tadoru.parse.sources.source_settings import SettingsReader

MAX_BYTES = 10 * 1024 * 1024


def read_json(
    body: bytes, content_type: str | None, url: str, dates: DateLocation, limit: int, problems: ReadProblems
) -> tuple[list[RawEvent], str | None]:
    """The items, and the address of the next page."""
    try:
        feed = json.loads(feed_text(body, content_type)) if len(body) <= MAX_BYTES else None
    except (ValueError, RecursionError) as error:
        problems.add(
            "start",
            Message("This is not valid JSON ({error}).", error=type(error).__name__),
            body[:300].decode("utf-8", "replace"),
        )
        return [], None
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(feed, dict) or not isinstance(items, list):
        problems.add(
            "start",
            Message("This is not a JSON Feed: it has no list of items, or is too large."),
            body[:300].decode("utf-8", "replace"),
        )
        return [], None
    if len(items) > limit:
        problems.cut(f"item {limit + 1}", Message("There are more than {limit} items; the rest is not read.", limit=limit))
    events = []
    for number, item in enumerate(items[:limit], 1):
        if isinstance(item, dict):
            events.append(_event(number, item, url, dates))
        else:
            problems.add(f"item {number}", Message("The item is not an object and is skipped."), str(item)[:300])
    return events, _address(feed, url, "next_url")


def _event(number: int, item: dict[str, Any], base: str, dates: DateLocation) -> RawEvent:
    title = _text(item, "title")
    description = _text(item, "content_html", "content_text", "summary")
    published = _text(item, "date_published", "date_modified")
    tags = item.get("tags")
    extra = {"published": published, "author": _author(item), "enclosure": _attachment(item, base, "")}
    start = dates.find(title, description, published)
    said: dict[str, Any] = labelled_fields(description or "", start)
    return RawEvent(
        position=f"item {number}",
        uid=_text(item, "id"),
        title=plain(title) if title else None,
        description=description,
        start=start,
        url=_address(item, base, "url", "external_url"),
        image=_address(item, base, "image", "banner_image") or _attachment(item, base, "image/"),
        category=", ".join(tag for tag in tags if isinstance(tag, str)) or None if isinstance(tags, list) else None,
        updated=_text(item, "date_modified"),
        extra={name: value for name, value in extra.items() if value},
        **said,
    )


def _text(item: dict[str, Any], *names: str) -> str | None:
    """The first of these that says something; numbers are texts, too: ids are often written so."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return None


def _address(item: dict[str, Any], base: str, *names: str) -> str | None:
    return next((found for name in names if (text := _text(item, name)) and (found := absolute(text, base))), None)


def _author(item: dict[str, Any]) -> str | None:
    authors = item.get("authors")
    author = authors[0] if isinstance(authors, list) and authors else item.get("author")
    return _text(author, "name") if isinstance(author, dict) else None


def _attachment(item: dict[str, Any], base: str, kind: str) -> str | None:
    attachments = item.get("attachments")
    fitting = (
        one
        for one in (attachments if isinstance(attachments, list) else ())
        if isinstance(one, dict) and (_text(one, "mime_type") or "").startswith(kind)
    )
    return next((found for one in fitting if (found := _address(one, base, "url"))), None)


_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}
_LONGEST_TTL = 31 * 86_400.0
MAX_URL_CHARACTERS = 20_000_000
"""Of the URLs of all items of a feed: each may carry a copy of the feed's base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSettings:
    """The settings of a feed."""

    date_from: tuple[str, ...] = ("title", "description")
    """Where the date is looked for, in this order, when no event namespace gives it: title, description, published; or none."""
    date_pattern: str = ""
    """A regular expression for the date in title or description: its first group, or all of it. Empty: any written date."""
    limit: int = 5_000
    """Items of one feed, at most."""
    most_pages: int = 10_000
    """Pages that a feed may link to, one from the other."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> FeedSettings:
        """From the settings of a source. Raises ConfigError."""
        given = SettingsReader(mapping)
        value = given.take("date_from") or cls().date_from
        places = tuple(value) if isinstance(value, list | tuple) else tuple(place.strip() for place in str(value).split(","))
        if any(place not in DATE_FROM for place in places):
            raise given.error("date_from", value, f"one or several of {', '.join(DATE_FROM)}")
        pattern = given.text("date_pattern")
        try:
            linear_regex(pattern)
        except ValueError as error:
            raise given.error("date_pattern", pattern, f"a regular expression that can be used ({error})") from None
        limit = given.number("limit", 5_000, least=1, most=50_000)
        most_pages = given.number("most_pages", 10_000, least=1, most=10_000)
        given.done()
        return cls(date_from=places, date_pattern=pattern, limit=limit, most_pages=most_pages)


@paused_gc()
def read_feed(
    body: bytes, content_type: str | None, url: str, settings: FeedSettings | None = None, *, page: int = 1
) -> ParsedSource:
    """What a feed says; this is its `page`th page."""
    settings = settings or FeedSettings()
    is_last = page >= settings.most_pages
    problems = ReadProblems()
    dates = DateLocation(settings.date_from, linear_regex(settings.date_pattern) if settings.date_pattern else None)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        events, next_url = read_json(body, content_type, url, dates, settings.limit, problems)
        return ParsedSource(events=tuple(events), problems=problems.all(), next_url=None if is_last else next_url)
    if not body.strip():
        problems.add("start", Message("The feed is empty."))
        return ParsedSource(problems=problems.all())
    events = []
    room = MAX_URL_CHARACTERS

    def take(number: int, item: XmlElement) -> bool:
        nonlocal room
        if len(events) == settings.limit:
            problems.cut(
                f"item {number}", Message("There are more than {limit} items; the rest is not read.", limit=settings.limit)
            )
            return False
        event = read_item(number, item, dates)
        room -= sum(map(len, filter(None, (event.url, event.image, event.extra.get("enclosure")))))
        if room < 0:
            reason = Message(
                "The URLs of the items have more than {limit} characters; the rest is not read.", limit=f"{MAX_URL_CHARACTERS:,}"
            )
            problems.cut(f"item {number}", reason)
            return False
        events.append(event)
        return True

    feed = read_xml(body, content_type, url, problems, take)
    if feed is None and not problems.all():
        problems.add("start", Message("This is not a feed."), body[:300].decode("utf-8", "replace"))
    next_url = None if is_last else _next(feed)
    return ParsedSource(events=tuple(events), problems=problems.all(), next_url=next_url, ttl=_ttl(feed))


def _next(feed: XmlElement | None) -> str | None:
    for link in feed.elements if feed else ():
        if link.name == "link" and link.space in PLAIN and link.attributes.get("rel") == "next":
            return absolute(link.attributes.get("href", ""), link.base)
    return None


def _ttl(feed: XmlElement | None) -> float | None:
    """After how many seconds the feed wants to be read again: the longer of what it says in its two ways."""
    said = {(element.space, element.name): element.text.strip() for element in feed.elements} if feed else {}
    minutes = _number(said.get(("", "ttl"), "")) * 60
    period = _PERIODS.get(said.get(("sy", "updateperiod"), "").lower(), 0) / (
        _number(said.get(("sy", "updatefrequency"), "")) or 1
    )
    return min(max(minutes, period), _LONGEST_TTL) or None


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0.0
