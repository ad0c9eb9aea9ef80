"""Series of schema.org (`eventSchedule`): a Schedule as a recurrence rule, and the times it names within a window.

The rules are followed by the reader of calendars (`ics_rule`), so that they are bounded in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tadoru.model.event import Occurrence
from tadoru.parse.sources.ics_rule import OutOfSteps, RuleRefused, Steps, read_rule, times_of
from tadoru.parse.sources.ics_values import read_duration
from tadoru.parse.sources.things import Things
from tadoru.parse.structured import Item

MOST_STEPS = 100_000
_BEFORE = timedelta(days=1)
_AFTER = timedelta(days=366)
_FREQUENCY = re.compile(r"P([1-9][0-9]{0,2})([DWMY])")
_NAMES = {"D": "DAILY", "W": "WEEKLY", "M": "MONTHLY", "Y": "YEARLY"}
_WORDS = {"daily": "P1D", "weekly": "P1W", "monthly": "P1M", "yearly": "P1Y", "annually": "P1Y"}
_DAY = re.compile(r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(?:NDAY|ESDAY|DNESDAY|URSDAY|IDAY|TURDAY)?")
_NUMBERS = (("byMonth", "BYMONTH"), ("byMonthDay", "BYMONTHDAY"), ("byMonthWeek", "BYSETPOS"), ("repeatCount", "COUNT"))


@dataclass(frozen=True, slots=True)
class Window:
    """When it is, and the zone of those who do not say theirs."""

    now: datetime | None = None
    """None: series are not unrolled."""
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Series:
    """What a schedule says."""

    rule: str
    start: str
    zone: str = ""
    occurrences: tuple[Occurrence, ...] = ()


def series(things: Things, item: Item, window: Window) -> Series:
    """A Schedule. Raises RuleRefused with a sentence when it can not be followed."""
    rule, begin = _rule(things, item), things.text(item, "startDate")
    zone = things.text(item, "scheduleTimezone")
    opens, closes = things.text(item, "startTime"), things.text(item, "endTime")
    start = f"{begin[:10]}T{opens}" if begin and opens and "T" not in begin else begin
    found = Series(rule, start, zone)
    if window.now is None or not rule or not begin:
        return found
    try:
        local = ZoneInfo(zone or window.zone)
        first = datetime.fromisoformat(start).replace(tzinfo=None)
        last = date.fromisoformat(things.text(item, "endDate")[:10] or "9999-12-01")
        duration = _duration(things, item, first, closes)
        # A date among the exceptions leaves out its day, a time only itself.
        skipped = {value.strip()[:16] for value in item.texts("exceptDate")}
    except (ValueError, KeyError, OSError, OverflowError):
        raise RuleRefused("The schedule has a date, a time or a time zone that can not be read.") from None
    now = window.now.astimezone(local).replace(tzinfo=None)
    high = min(now + _AFTER, datetime.combine(last, time.max))
    try:
        occurrences = tuple(
            Occurrence(
                starts_at=moment.replace(tzinfo=local),
                ends_at=(moment + duration).replace(tzinfo=local) if duration else None,
                has_time="T" in start,
            )
            for moment in times_of(read_rule(rule), first, now - _BEFORE, high, Steps(MOST_STEPS))
            if moment.isoformat()[:10] not in skipped and moment.isoformat()[:16] not in skipped
        )
    except (OutOfSteps, OverflowError):
        raise RuleRefused("The schedule names more times than are followed.") from None
    return Series(rule, start, zone, occurrences)


def _rule(things: Things, item: Item) -> str:
    """The schedule as an RRULE without an end; empty when it does not repeat."""
    frequency = things.text(item, "repeatFrequency")
    match = _FREQUENCY.fullmatch(_WORDS.get(frequency.lower(), frequency).upper())
    if match is None:
        return ""
    parts = [f"FREQ={_NAMES[match[2]]}"]
    if match[1] != "1":
        parts.append(f"INTERVAL={match[1]}")
    days = [found for value in _texts(things, item, "byDay") if (found := _day(value))]
    if days:
        parts.append(f"BYDAY={','.join(days)}")
    for name, part in _NUMBERS:
        numbers = [value for value in _texts(things, item, name) if re.fullmatch(r"-?[0-9]{1,3}", value)]
        if numbers:
            parts.append(f"{part}={','.join(numbers)}")
    return ";".join(parts)


def _texts(things: Things, item: Item, name: str) -> list[str]:
    return [part.strip() for value in things.of(item, name) if isinstance(value, str) for part in value.split(",")]


def _day(text: str) -> str:
    """`MO` of `https://schema.org/Monday`, `Monday`, `MO` or `2MO`."""
    match = _DAY.fullmatch(text.rpartition("/")[2].upper())
    return f"{match[1] or ''}{match[2]}" if match else ""


def _duration(things: Things, item: Item, first: datetime, closes: str) -> timedelta | None:
    if length := read_duration(things.text(item, "duration")):
        return length.total if length.total > timedelta(0) else None
    if not closes:
        return None
    end = datetime.combine(first.date(), time.fromisoformat(closes).replace(tzinfo=None))
    return end - first if end > first else end + timedelta(days=1) - first


def end_of(start: str, duration: str) -> str:
    """When something ends that begins at a written time and lasts so long; empty when that can not be said."""
    length = read_duration(duration) if duration else None
    try:
        return (datetime.fromisoformat(start) + length.total).isoformat() if length and "T" in start else ""
    except (ValueError, OverflowError):
        return ""
