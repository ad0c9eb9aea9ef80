"""The lines of a calendar as values: properties with parameters, texts, dates and times, durations, offsets.

A value that is not what its property needs is None; what follows from that is decided where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from tadoru.parse.sources.ics_lines import Component

_NAME = re.compile(r"([A-Za-z0-9-]++)[ \t]*+")
_PARAMETER = re.compile(r';[ \t]*+([A-Za-z0-9-]*+)[ \t]*+(?:=[ \t]*+((?:"[^"]*+"|[^";:]++)*+))?')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_STAMP = re.compile(
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]([0-9]{2}):?([0-9]{2})(?::?([0-9]{2}))?(?:\.[0-9]{1,9})?(Z)?)?", re.IGNORECASE
)
_DURATION = re.compile(
    r"([+-])?P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?", re.IGNORECASE
)
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2}):?([0-9]{2})?")
_CARETS = {"^n": "\n", "^^": "^", "^'": '"'}
_YEARS = range(1583, 9000)
"""Outside of them dates can not be moved by a zone or a duration with safety, and no event is there."""


@dataclass(slots=True)
class Property:
    """One content line."""

    name: str
    value: str
    parameters: dict[str, str] = field(default_factory=dict)
    """By name in upper case; quotes are taken off."""

    @property
    def text(self) -> str:
        """The value as a text."""
        return unescaped(self.value).strip()


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date, or a time of day as a clock on the wall shows it."""

    wall: datetime
    """Naive; midnight of a date."""
    is_date: bool = False
    is_utc: bool = False
    tzid: str | None = None

    @property
    def day(self) -> date:
        """Without the time."""
        return self.wall.date()


class Length(NamedTuple):
    """How long something lasts: days on the wall, whatever is done to the clocks meanwhile, and then time that passes."""

    days: int = 0
    passing: timedelta = timedelta(0)

    @property
    def total(self) -> timedelta:
        """All of it, taking a day for 24 hours."""
        return timedelta(days=self.days) + self.passing


def properties(component: Component, *names: str) -> Iterator[Property]:
    """The component's lines of these names, those of the first name first."""
    return (read_property(line) for name in names for line in component.lines.get(name, ()))


def first(component: Component, *names: str) -> Property | None:
    """The first such line that has a value."""
    return next((found for found in properties(component, *names) if found.value.strip()), None)


def read_property(line: str) -> Property:
    """A line of the form NAME;PARAMETER=VALUE:VALUE. What can not be parsed of the parameters is passed over."""
    name = _NAME.match(line)
    assert name is not None
    at = name.end()
    parameters: dict[str, str] = {}
    while match := _PARAMETER.match(line, at):
        if match[1] and match[2] is not None:
            parameters[match[1].upper()] = re.sub(r"\^[n^']", lambda found: _CARETS[found[0]], match[2].replace('"', "")).strip()
        at = match.end()
    _, _, value = line[at:].partition(":")
    return Property(name[1].upper(), value, parameters)


def unescaped(value: str) -> str:
    """A text without its backslashes."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value) if "\\" in value else value


def values_of(text: str) -> list[str]:
    """The texts of a list: a comma after a backslash does not part them."""
    return [unescaped(part).strip() for part in re.findall(r"(?:\\.|[^,\\])+", text, re.DOTALL)]


def read_stamp(value: str, parameters: dict[str, str] | None = None) -> Stamp | None:
    """A DATE or DATE-TIME."""
    match = _STAMP.fullmatch(value.strip())
    if match is None or int(match[1]) not in _YEARS:
        return None
    parameters = parameters or {}
    tzid = parameters.get("TZID") or None
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3]))  # noqa: DTZ001 -- the clock on the wall
        if match[4] is None or parameters.get("VALUE", "").upper() == "DATE":
            return Stamp(day, is_date=True)
        hour, minute, second = int(match[4]), int(match[5]), min(int(match[6] or 0), 59)
        if (hour, minute, second) == (24, 0, 0):
            return Stamp(day + timedelta(days=1), is_utc=bool(match[7]), tzid=tzid)
        return Stamp(day.replace(hour=hour, minute=minute, second=second), is_utc=bool(match[7]), tzid=tzid)
    except ValueError:
        return None


def read_duration(value: str) -> Length | None:
    """A DURATION."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or not any(match.groups()[1:]):
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    sign = -1 if match[1] == "-" else 1
    return Length(sign * (7 * weeks + days), sign * timedelta(hours=hours, minutes=minutes, seconds=seconds))


def read_offset(value: str) -> timedelta | None:
    """A UTC-OFFSET; nothing is further than a day from UTC."""
    match = _OFFSET.fullmatch(value.strip())
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:
        return None
    found = timedelta(hours=int(match[2]), minutes=int(match[3]), seconds=int(match[4] or 0))
    return -found if match[1] == "-" else found
