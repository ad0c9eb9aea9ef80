"""One item of a feed (RSS of every version, Atom) as a raw event: which element says what, and where the event's time may be.

The date of publication is not the event's time. It is taken from the namespaces made for it, else from the words, else from what
the settings say.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from tadoru.model.event import RawEvent
from tadoru.parse.linear_regex import LinearRegex
from tadoru.parse.sources.feed_when import picked, written_date
from tadoru.parse.sources.feed_xml import Element
from tadoru.parse.sources.fields import absolute
from tadoru.parse.sources.markup import read_markup

PLAIN = ("", "atom", "rss")
"""The spaces of a feed's own elements."""
DATE_FROM = ("title", "description", "published", "none")

_START = "startdate dtstart starttime startdatetime start eventstart eventstartdate begin begindate".split()
_END = "enddate dtend endtime enddatetime end eventend eventenddate finish".split()
_DAY = "date eventdate".split()
_VENUE = "location venue place eventlocation venuename".split()
_ADDRESS = "address streetaddress venueaddress eventaddress".split()
_ORGANIZER = "organizer organiser eventorganizer host".split()
_PRICE = "cost price eventcost fee".split()
_STATUS = "status eventstatus".split()
_AMBIGUOUS = frozenset("start end date begin finish status host place address when where".split())
"""Names that say something about an event only in a space made for events."""
_NOT_EVENTS = frozenset(
    {*PLAIN, "dc", "dcterms", "media", "content", "sy", "itunes", "geo", "georss", "wfw", "slash", "feedburner", "thr"}
)
"""Spaces that were made for something else."""
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\s*[ap]m)?", re.IGNORECASE)
_MARKUP = re.compile(r"<[A-Za-z/!][^>]{0,2000}>|&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z]{2,31});")
_POINT = re.compile(r"([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)[\s,]+([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)")
_SCHEMA = re.compile(r"schema\.org", re.IGNORECASE)
_MARKED_UP = "start end start_time end_time timezone venue address city latitude longitude price organizer is_cancelled".split()
_KIND = "http://schemas.google.com/g/2005#kind"


@dataclass(frozen=True, slots=True)
class WhereDates:
    """Where an item's date is looked for when no namespace gives it."""

    places: tuple[str, ...] = ("title", "description")
    pattern: LinearRegex | None = None

    def find(self, title: str | None, description: str | None, published: str | None) -> str | None:
        """The text of the date."""
        for place in self.places:
            if place == "published" and published:
                return published
            text = {"title": title, "description": description}.get(place)
            if text and (found := picked(text, self.pattern) if self.pattern else written_date(text)):
                return found
        return None


def read_item(number: int, item: Element, dates: WhereDates) -> RawEvent:
    """What an item says."""
    found: dict[str, Any] = {
        "uid": _first(item, "guid", "id") or item.attributes.get("about"),
        "title": _title(item),
        "description": _description(item),
        "url": _url(item),
        "image": _image(item),
        "category": ", ".join(dict.fromkeys(_categories(item))) or None,
        "updated": _first(item, "updated", "modified", spaces=(*PLAIN, "dcterms")),
    }
    found |= _event_fields(item)
    found["latitude"], found["longitude"] = _coordinates(item)
    published = _published(item)
    if not found.get("start"):
        found |= {name: value for name, value in _marked_up(found["description"] or "", item.base).items() if not found.get(name)}
    if not found.get("start"):
        found["start"] = dates.find(found["title"], found["description"], published)
    extra = {"published": published, "author": _author(item), "enclosure": _enclosure(item)}
    return RawEvent(position=f"item {number}", extra={name: value for name, value in extra.items() if value}, **found)


def _all(item: Element, *names: str, spaces: tuple[str, ...] = PLAIN) -> Iterator[Element]:
    return (element for name in names for element in item.elements if element.name == name and element.space in spaces)


def _first(item: Element, *names: str, spaces: tuple[str, ...] = PLAIN) -> str | None:
    return next((text for element in _all(item, *names, spaces=spaces) if (text := element.text.strip())), None)


def _title(item: Element) -> str | None:
    for element in _all(item, "title", spaces=(*PLAIN, "dc")):
        if text := element.text.strip():
            return text if element.attributes.get("type") in ("text", "xhtml") else plain(text)
    return None


def plain(text: str) -> str:
    """A title without markup: in RSS a title is HTML or is not, and only a look at it tells."""
    if not _MARKUP.search(text):
        return text
    return html.unescape(_MARKUP.sub(lambda found: "" if found[0][0] == "<" else found[0], text)).strip()


def _description(item: Element) -> str | None:
    wanted = [
        *_all(item, "encoded", spaces=("content",)),
        *_all(item, "content"),
        *_all(item, "description", "summary"),
        *_all(item, "description", spaces=("dc", "media")),
    ]
    for element in wanted:
        text = element.markup() if element.attributes.get("type") == "xhtml" or any(element.elements) else element.text
        if text.strip():
            return text.strip()
    return None


def _url(item: Element) -> str | None:
    if text := _first(item, "origlink", spaces=("feedburner",)):
        return absolute(text, item.base)
    for link in _all(item, "link"):
        address = link.attributes.get("href") or link.text
        if link.attributes.get("rel", "alternate") == "alternate" and address.strip() and (found := absolute(address, link.base)):
            return found
    for guid in _all(item, "guid"):
        if guid.attributes.get("ispermalink", "true").lower() == "true" and guid.text.strip().lower().startswith("http"):
            return absolute(guid.text, guid.base)
    about = item.attributes.get("about", "")
    return absolute(about, item.base) if about.startswith("http") else None


def _image(item: Element) -> str | None:
    for element in _below(item):
        is_media = element.space == "media" and element.name in ("content", "thumbnail")
        kind = element.attributes.get("type", "") or element.attributes.get("medium", "")
        address = element.attributes.get("url") or element.attributes.get("href") or ""
        is_link = element.name == "enclosure" or (element.name == "link" and element.attributes.get("rel") == "enclosure")
        if (is_media and (kind.startswith("image") or not kind)) or (is_link and kind.startswith("image")):
            if found := absolute(address, element.base):
                return found
        elif element.name == "image" and element.space in (*PLAIN, "itunes"):
            nested = next((child.text for child in element.elements if child.name == "url"), None)
            if (found := absolute(address or nested or element.text, element.base)) and found != element.base:
                return found
    return None


def _below(item: Element) -> Iterator[Element]:
    """Its elements, and those in groups of them."""
    for element in item.elements:
        yield element
        if element.space == "media" or element.name in ("group", "tribe_event_meta"):
            yield from element.elements


def _enclosure(item: Element) -> str | None:
    for element in _below(item):
        is_link = element.name == "link" and element.attributes.get("rel") == "enclosure"
        if element.name == "enclosure" or is_link:
            return absolute(element.attributes.get("url") or element.attributes.get("href") or "", element.base)
    return None


def _categories(item: Element) -> Iterator[str]:
    for element in _all(item, "category", "subject", spaces=(*PLAIN, "dc")):
        if element.attributes.get("scheme") == _KIND:
            continue
        text = element.attributes.get("label") or element.attributes.get("term") or element.text
        if text.strip():
            yield plain(text.strip())


def _author(item: Element) -> str | None:
    for element in _all(item, "creator", "author", spaces=(*PLAIN, "dc", "itunes")):
        name = next((child.text for child in element.elements if child.name == "name"), element.text)
        if name.strip():
            return name.strip()
    return None


def _published(item: Element) -> str | None:
    return _first(item, "pubdate", "published", "issued", "date", "created", spaces=(*PLAIN, "dc", "dcterms")) or _first(
        item, "updated"
    )


def _coordinates(item: Element) -> tuple[str | None, str | None]:
    for element in _deep(item):
        if element.name in ("point", "pos") and (match := _POINT.search(element.text)):
            return match[1], match[2]
    latitude = next((one.text.strip() for one in _deep(item) if one.name in ("lat", "latitude")), None)
    longitude = next((one.text.strip() for one in _deep(item) if one.name in ("long", "lon", "lng", "longitude")), None)
    return (latitude, longitude) if latitude and longitude else (None, None)


def _deep(item: Element, depth: int = 3) -> Iterator[Element]:
    for element in item.elements:
        if element.name not in ("content", "description", "summary", "encoded"):
            yield element
            if depth:
                yield from _deep(element, depth - 1)


def _event_fields(item: Element) -> dict[str, Any]:
    """What the elements made for events say: ev:startdate, xcal:dtstart, gd:when, and the like of names in any other space."""
    said: dict[str, str] = {}
    found: dict[str, Any] = {}
    is_end_excluded = False
    for element in _deep(item):
        name = re.sub("[_-]", "", element.name)
        if element.space in _NOT_EVENTS and (element.space not in PLAIN or name in _AMBIGUOUS):
            continue
        if name == "when":
            said.setdefault("startdate", element.attributes.get("starttime", ""))
            said.setdefault("enddate", element.attributes.get("endtime", ""))
            is_end_excluded = True
        elif name == "where":
            said.setdefault("location", element.attributes.get("valuestring", ""))
        elif value := (element.attributes.get("value") or element.text).strip():
            said.setdefault(name, value)
            is_end_excluded = is_end_excluded or (name == "dtend" and element.space == "xcal")
    names = {"start": _START, "end": _END, "venue": _VENUE, "address": _ADDRESS, "organizer": _ORGANIZER, "price": _PRICE}
    for field, spellings in names.items():
        if values := [said[one] for one in spellings if said.get(one)]:
            found[field] = values[0]
    if is_end_excluded and (last := _day_before(found.get("end", ""))):
        found["end"] = last
    return _parted(found, next((said[one] for one in _DAY if said.get(one)), None)) | _cancelled(said)


def _day_before(text: str) -> date | None:
    """The last day of an event whose end is the day after it, as calendars write it; None when the end has a time."""
    match = re.fullmatch(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})", text.strip())
    try:
        return date(*map(int, match.groups())) - timedelta(days=1) if match else None
    except (ValueError, OverflowError):
        return None


def _marked_up(description: str, base: str) -> dict[str, Any]:
    """What the HTML of a description says in schema.org's words, when it describes one event."""
    if not _SCHEMA.search(description):
        return {}
    events = read_markup(description.encode("utf-8", "replace"), "text/html; charset=utf-8", base).events
    return {name: getattr(events[0], name) for name in _MARKED_UP} if len(events) == 1 else {}


def _parted(found: dict[str, Any], day: str | None) -> dict[str, Any]:
    """Where the day is said apart, start and end are times of the clock."""
    if "start" not in found and day:
        found["start"] = day
    elif day and _CLOCK.fullmatch(found["start"]):
        found |= {"start_time": found["start"], "start": day}
        if _CLOCK.fullmatch(str(found.get("end", ""))):
            found["end_time"] = found.pop("end")
    return found


def _cancelled(said: dict[str, str]) -> dict[str, Any]:
    status = next((said[one].lower() for one in _STATUS if one in said), "")
    return {"is_cancelled": True} if "cancel" in status or "中止" in status else {}
