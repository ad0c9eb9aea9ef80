"""One VEVENT: when it is, and the words about it. How several of one UID make a series is in `ics_series`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tadoru.parse.sources.fields import absolute
from tadoru.parse.sources.ics_lines import Component
from tadoru.parse.sources.ics_values import (
    Length,
    Property,
    Stamp,
    first,
    properties,
    read_duration,
    read_stamp,
    values_of,
)
from tadoru.parse.sources.ics_zones import UTC_ZONE, Zone, Zones
from tadoru.parse.sources.problems import Problems

MAX_LENGTH = timedelta(days=3660)
_IMAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:[?#]|$)", re.IGNORECASE)
_GEO = re.compile(r"(?:geo:)?\s*([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)\s*[;,]\s*([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)")
_BESIDES = frozenset({"CLASS", "CONTACT", "COMMENT", "RESOURCES", "CONFERENCE", "STATUS"})
_NOT_BESIDES = frozenset({"X-ALT-DESC", "X-LIC-ERROR"})
_MOST_BESIDES = 20
_LONGEST_BESIDE = 1_000


class Unreadable(Exception):
    """A component that can not be read at all; the arguments are the reason and a sample."""


@dataclass(frozen=True, slots=True)
class Place:
    """What all events of one calendar share."""

    zones: Zones
    zone: Zone
    """Where a clock without a zone hangs: the calendar's own zone, else the source's."""
    own_zone: Zone | None
    """What the calendar says its zone is."""
    url: str
    problems: Problems


@dataclass(frozen=True, slots=True)
class Span:
    """When an event is, on the wall of `zone`."""

    start: datetime
    length: Length | None
    is_date: bool
    zone: Zone | None
    """None of a date, and of a clock that hangs everywhere."""


def zone_of(stamp: Stamp, place: Place, position: str) -> Zone | None:
    """The zone a stamp is in; None of a date, and of local time wherever it is read."""
    if stamp.is_date:
        return None
    if stamp.is_utc:
        return UTC_ZONE
    if stamp.tzid is None:
        return None
    zone = place.zones.find(stamp.tzid)
    if zone is None:
        place.problems.add(position, "The time zone is not known; the times are read as local time.", stamp.tzid)
    return zone


def span_of(component: Component, place: Place) -> Span | None:
    """When an event is; None when it does not say. Raises Unreadable."""
    line = first(component, "DTSTART")
    if line is None:
        return None
    start = read_stamp(line.value, line.parameters)
    if start is None:
        raise Unreadable("The start (DTSTART) is no date that can be read; the event is left out.", line.value)
    zone = zone_of(start, place, component.position)
    length = _length(component, start, zone, place)
    if length is not None and not timedelta(0) <= length.total <= MAX_LENGTH:
        place.problems.add(component.position, "The end is before the start, or years after it; it is left out.")
        length = None
    return Span(start.wall, length, start.is_date, zone)


def _length(component: Component, start: Stamp, zone: Zone | None, place: Place) -> Length | None:
    if line := first(component, "DTEND"):
        end = read_stamp(line.value, line.parameters)
        if end is None or end.is_date != start.is_date:
            place.problems.add(component.position, "The end (DTEND) does not fit the start; it is left out.", line.value)
            return None
        if start.is_date:
            # A day that ends on the day it begins is one day all the same.
            return Length((end.wall - start.wall).days or 1)
        is_same = (end.is_utc, end.tzid) == (start.is_utc, start.tzid)
        end_zone = zone if is_same else zone_of(end, place, component.position)
        if zone is None and end_zone is None:
            return Length(0, end.wall - start.wall)
        passed = (end_zone or place.zone).moment(end.wall).astimezone(UTC) - (zone or place.zone).moment(start.wall).astimezone(
            UTC
        )
        return Length(0, passed)
    if line := first(component, "DURATION"):
        length = read_duration(line.value)
        if length is None:
            place.problems.add(component.position, "The duration can not be read; it is left out.", line.value)
        elif start.is_date and length.total >= timedelta(0):
            # "One hour" of a whole day is that day.
            return Length(length.total.days or 1)
        return length
    return None


def end_of(wall: datetime, length: Length, zone: Zone) -> datetime:
    """The aware time at which something ends that begins when the clock of a zone shows `wall`."""
    begin = zone.moment(wall + timedelta(days=length.days))
    return zone.show(begin.astimezone(UTC) + length.passing)


def times(span: Span, place: Place) -> tuple[datetime | date, datetime | date | None, str | None]:
    """Start, end and name of the zone, as a raw event has them: the end of whole days is the last day, included."""
    own = place.own_zone.name if place.own_zone else None
    length = span.length
    if span.is_date:
        return span.start.date(), (span.start + timedelta(days=length.days - 1)).date() if length else None, own
    if span.zone is None:
        return span.start, span.start + length.total if length else None, own
    shown = place.own_zone if span.zone is UTC_ZONE and place.own_zone else span.zone
    end = shown.show(end_of(span.start, length, span.zone)) if length else None
    return shown.show(span.zone.moment(span.start)), end, shown.name


def words(component: Component, place: Place) -> dict[str, Any]:
    """The fields of a raw event that have nothing to do with time."""
    found: dict[str, Any] = {}
    simple = {"title": "SUMMARY", "venue": "LOCATION", "uid": "UID", "updated": "LAST-MODIFIED"}
    for field, name in simple.items():
        if line := first(component, name):
            found[field] = line.text or None
    if line := first(component, "DESCRIPTION") or first(component, "X-ALT-DESC"):
        found["description"] = line.text or None
    if line := first(component, "URL"):
        found["url"] = absolute(line.text, place.url)
    if line := first(component, "ORGANIZER"):
        found["organizer"] = line.parameters.get("CN") or re.sub(r"^mailto:", "", line.value.strip(), flags=re.IGNORECASE) or None
    categories = [value for line in properties(component, "CATEGORIES") for value in values_of(line.value) if value]
    found["category"] = ", ".join(dict.fromkeys(categories)) or None
    found["image"] = _image(component, place)
    found["latitude"], found["longitude"] = _coordinates(component)
    found["is_cancelled"] = is_cancelled(component)
    found["extra"] = _besides(component)
    return found


def is_cancelled(component: Component) -> bool:
    """Whether it says that it does not take place."""
    status = first(component, "STATUS")
    return status is not None and status.value.strip().upper() in ("CANCELLED", "CANCELED")


def _image(component: Component, place: Place) -> str | None:
    for line in properties(component, "IMAGE", "ATTACH"):
        is_inline = line.parameters.get("ENCODING", "").upper() == "BASE64"
        is_image = line.name == "IMAGE" or line.parameters.get("FMTTYPE", "").lower().startswith("image/")
        if not is_inline and (is_image or _IMAGE.search(line.value[:2_000])) and (found := absolute(line.text, place.url)):
            return found
    return None


def _coordinates(component: Component) -> tuple[str | None, str | None]:
    line: Property | None = first(component, "GEO", "X-APPLE-STRUCTURED-LOCATION")
    match = _GEO.match(line.text) if line else None
    return (match[1], match[2]) if match else (None, None)


def _besides(component: Component) -> dict[str, str]:
    wanted = [name for name in component.lines if name in _BESIDES or (name.startswith("X-") and name not in _NOT_BESIDES)]
    said = ((name, first(component, name)) for name in wanted[:_MOST_BESIDES])
    return {name: line.text[:_LONGEST_BESIDE] for name, line in said if line and line.text}
