"""Feeds (RSS 0.9x, 1.0, 2.0, Atom, JSON Feed): bytes in, one raw event for each item out.

XML is read in `feed_xml`, an item of it in `feed_item`, JSON in `feed_json`; dates in an item's words are found in `feed_when`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tadoru.model.event import Reading
from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.feed_item import DATE_FROM, PLAIN, WhereDates, read_item
from tadoru.parse.sources.feed_json import read_json
from tadoru.parse.sources.feed_xml import Element, read_xml
from tadoru.parse.sources.fields import absolute
from tadoru.parse.sources.given import Given
from tadoru.parse.sources.problems import Problems

_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}
_LONGEST_TTL = 31 * 86_400.0
MAX_URL_CHARACTERS = 20_000_000
"""Of the URLs of all items of a feed: each may carry a copy of the feed's base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSettings:
    """What a person may say about a feed."""

    date_from: tuple[str, ...] = ("title", "description")
    """Where the date is looked for, in this order, when no event namespace gives it: title, description, published; or none."""
    date_pattern: str = ""
    """A regular expression for the date in title or description: its first group, or all of it. Empty: any written date."""
    limit: int = 5_000
    """Items of one feed, at most."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> FeedSettings:
        """From the settings of a source. Raises ConfigError."""
        given = Given(mapping)
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
        given.done()
        return cls(date_from=places, date_pattern=pattern, limit=limit)


def read_feed(body: bytes, content_type: str | None, url: str, settings: FeedSettings | None = None) -> Reading:
    """What a feed says."""
    settings = settings or FeedSettings()
    problems = Problems()
    dates = WhereDates(settings.date_from, linear_regex(settings.date_pattern) if settings.date_pattern else None)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        events, next_url = read_json(body, content_type, url, dates, settings.limit, problems)
        return Reading(events=tuple(events), problems=problems.all(), next_url=next_url)
    if not body.strip():
        problems.add("start", "The feed is empty.")
        return Reading(problems=problems.all())
    events = []
    room = MAX_URL_CHARACTERS

    def take(number: int, item: Element) -> bool:
        nonlocal room
        if len(events) == settings.limit:
            problems.add(f"item {number}", f"There are more than {settings.limit} items; the rest is not read.")
            return False
        event = read_item(number, item, dates)
        room -= sum(map(len, filter(None, (event.url, event.image, event.extra.get("enclosure")))))
        if room < 0:
            reason = f"The URLs of the items have more than {MAX_URL_CHARACTERS:,} characters; the rest is not read."
            problems.add(f"item {number}", reason)
            return False
        events.append(event)
        return True

    feed = read_xml(body, content_type, url, problems, take)
    if feed is None and not problems.all():
        problems.add("start", "This is no feed.", body[:300].decode("utf-8", "replace"))
    return Reading(events=tuple(events), problems=problems.all(), next_url=_next(feed), ttl=_ttl(feed))


def _next(feed: Element | None) -> str | None:
    for link in feed.elements if feed else ():
        if link.name == "link" and link.space in PLAIN and link.attributes.get("rel") == "next":
            return absolute(link.attributes.get("href", ""), link.base)
    return None


def _ttl(feed: Element | None) -> float | None:
    """After how many seconds the feed wants to be read again: the longer of what it says in its two ways."""
    said = {(element.space, element.name): element.text.strip() for element in feed.elements} if feed else {}
    minutes = _number(said.get(("", "ttl"), "")) * 60
    period = _PERIODS.get(said.get(("sy", "updateperiod"), "").lower(), 0) / (
        _number(said.get(("sy", "updatefrequency"), "")) or 1
    )
    return min(max(minutes, period), _LONGEST_TTL) or None


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0.0
