"""A time zone as a calendar carries it (VTIMEZONE), written from what this machine knows about the zone.

Only the years that are in use are described, and at least a dozen, so that "the last Sunday of March" can be told from "the
fourth". Where the changes follow such a rule it is written as one, which calendars understand best; else the dates are listed.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tadoru.jobs.events.publish.ics_text import text

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_STEP = timedelta(days=10)
"""Nowhere are clocks set twice within it."""
_ENOUGH_YEARS = 12
_LEAST_FOR_A_RULE = 3


@dataclass(frozen=True, slots=True)
class _Clock:
    """What the clocks of a zone do for a while."""

    offset: timedelta
    is_summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class _Change:
    """A moment at which they are set."""

    at: datetime
    before: _Clock
    after: _Clock

    @property
    def wall(self) -> datetime:
        """What they show then, before they are set."""
        return self.at.replace(tzinfo=None) + self.before.offset


def zone_lines(zone: ZoneInfo, first: datetime, last: datetime) -> Iterator[str]:
    """The component, for events from the first to the last of two times."""
    begin, end = _years(first, last)
    yield "BEGIN:VTIMEZONE"
    yield f"TZID:{zone.key}"
    changes = list(_changes(zone, begin, end))
    initial = _clock(zone, begin)
    wall = begin.replace(tzinfo=None) if changes else datetime(1970, 1, 1)  # noqa: DTZ001 - what a clock shows
    yield from _observance(initial, initial, [wall], None)
    groups: dict[tuple[_Clock, _Clock], list[_Change]] = {}
    for change in changes:
        groups.setdefault((change.before, change.after), []).append(change)
    for (before, after), group in groups.items():
        is_over = group[-1].at < end - timedelta(days=400)
        yield from _observance(before, after, [one.wall for one in group], group[-1].at if is_over else None)
    yield "END:VTIMEZONE"


def _years(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    begin = min(max(first.year - 1, _FIRST_YEAR), _LAST_YEAR - _ENOUGH_YEARS)
    end = min(max(last.year + 2, begin + _ENOUGH_YEARS), _LAST_YEAR)
    return datetime(begin, 1, 1, tzinfo=UTC), datetime(end, 1, 1, tzinfo=UTC)


def _clock(zone: ZoneInfo, at: datetime) -> _Clock:
    here = at.astimezone(zone)
    return _Clock(here.utcoffset() or timedelta(0), (here.dst() or timedelta(0)) > timedelta(0), here.tzname() or "")


def _changes(zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[_Change]:
    at, clock = begin, _clock(zone, begin)
    while at < end:
        then = at + _STEP
        if (after := _clock(zone, then)) != clock:
            yield _Change(_moment(zone, at, then, clock), clock, after)
            clock = after
        at = then


def _moment(zone: ZoneInfo, low: datetime, high: datetime, clock: _Clock) -> datetime:
    """The second at which the clocks are set, between two times."""
    while (high - low).total_seconds() > 1:
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (middle, high) if _clock(zone, middle) == clock else (low, middle)
    return high


def _observance(before: _Clock, after: _Clock, walls: Sequence[datetime], until: datetime | None) -> Iterator[str]:
    kind = "DAYLIGHT" if after.is_summer else "STANDARD"
    yield f"BEGIN:{kind}"
    yield f"DTSTART:{walls[0]:%Y%m%dT%H%M%S}"
    yield f"TZOFFSETFROM:{_offset(before.offset)}"
    yield f"TZOFFSETTO:{_offset(after.offset)}"
    if after.name:
        yield f"TZNAME:{text(after.name)}"
    if len(walls) > 1:
        yield _rule(walls, until) or "RDATE:" + ",".join(f"{wall:%Y%m%dT%H%M%S}" for wall in walls[1:])
    yield f"END:{kind}"


def _rule(walls: Sequence[datetime], until: datetime | None) -> str:
    """ "The last Sunday of March", when that is what the dates are; empty otherwise."""
    first = walls[0]
    is_yearly = [wall.year for wall in walls] == list(range(first.year, first.year + len(walls)))
    is_alike = len({(wall.month, wall.weekday(), wall.time()) for wall in walls}) == 1
    if not (is_yearly and is_alike and len(walls) >= _LEAST_FOR_A_RULE):
        return ""
    if all(wall.day + 7 > monthrange(wall.year, wall.month)[1] for wall in walls):
        place = -1
    elif len(places := {(wall.day - 1) // 7 + 1 for wall in walls}) == 1:
        place = places.pop()
    else:
        return ""
    end = f";UNTIL={until:%Y%m%dT%H%M%SZ}" if until else ""
    return f"RRULE:FREQ=YEARLY;BYMONTH={first.month};BYDAY={place}{_DAYS[first.weekday()]}{end}"


def _offset(offset: timedelta) -> str:
    seconds = int(offset.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    rest = f"{seconds % 60:02}" if seconds % 60 else ""
    return f"{sign}{seconds // 3600:02}{seconds // 60 % 60:02}{rest}"
