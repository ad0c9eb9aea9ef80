"""Compares when two events take place: days, series, start times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from enum import Enum
from typing import NamedTuple

from tadoru.model.event import EventDraft, Occurrence

MAX_DATES = 12
"""Maximum number of dates of a series that are compared."""
_TELLS_DOORS = re.compile(
    r"(?:開場|受付|集合)\s?[:：]?\s?\d{1,2}[:：時]|\d(?:[:：]\d\d|時)\s?(?:開場|受付|集合)|\b(?:doors|einlass)\b", re.IGNORECASE
)
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
DOORS = timedelta(hours=1)
"""The longest time between the doors, the reception or the meeting and the start."""
MAX_DAYS = 4
"""Maximum number of days of a longer event: all of a festival, the first ones of an exhibition."""


class DayRelation(Enum):
    """How the days of two events relate."""

    SAME = "same"
    INSTANT = "instant"
    """Different dates, but the same instant."""
    SHARED = "shared"
    """Two series that share dates."""
    PART = "part"
    """One takes place on a day of the other."""
    SLIP = "slip"
    """One day apart, in different zones, without a time."""
    APART = "apart"


class TimeRelation(Enum):
    """How the start times of two events relate."""

    SAME = "same"
    ONE = "one"
    """Only one is known."""
    NONE = "none"
    DOORS = "doors"
    """One may be when the doors open: up to an hour before the other, with the same end."""
    DIFFERENT = "different"


def last_day(occurrence: Occurrence) -> date | None:
    """The last day of an occurrence; an end at midnight belongs to the day before."""
    if occurrence.ends_at is None:
        return None
    end = occurrence.ends_at.astimezone(occurrence.starts_at.tzinfo)
    return max(occurrence.starts_at.date(), (end - timedelta(microseconds=1)).date())


def event_days(draft: EventDraft) -> tuple[date, ...]:
    """The days of an event; if there are many, the next ones."""
    if draft.occurrences:
        days = list(dict.fromkeys(each.starts_at.date() for each in draft.occurrences))
        to_come = [day for day in days if day >= draft.local_date]
        return tuple((to_come if len(to_come) >= MAX_DATES else days[-MAX_DATES:])[:MAX_DATES])
    first = draft.local_date
    last = last_day(draft.occurrence)
    if last is None or last <= first:
        return (first,)
    return tuple(first + timedelta(days=n) for n in range(min(MAX_DAYS, (last - first).days + 1)))


class DayComparison(NamedTuple):
    """How the days of two events relate, and the occurrences on a common day."""

    days: DayRelation
    one: Occurrence
    other: Occurrence
    shared: int = 0
    """For two series: the number of days both have."""


def compare_days(one: EventDraft, other: EventDraft) -> DayComparison:
    """Compare the days of two events."""
    mine, theirs = one.occurrence, other.occurrence
    if one.occurrences or other.occurrences:
        return _series(one, other)
    start, begin = mine.starts_at, theirs.starts_at
    if start.date() == begin.date():
        return DayComparison(DayRelation.SAME, mine, theirs)
    if start == begin:
        return DayComparison(DayRelation.INSTANT, mine, theirs)
    timeless = not (mine.has_time and theirs.has_time)
    if timeless and abs((start.date() - begin.date()).days) == 1 and start.utcoffset() != begin.utcoffset():
        return DayComparison(DayRelation.SLIP, mine, theirs)
    return DayComparison(DayRelation.PART if _covers(one, other) or _covers(other, one) else DayRelation.APART, mine, theirs)


def _series(one: EventDraft, other: EventDraft) -> DayComparison:
    """Compare two series, or a series and a single event, by the days that both have."""
    if _is_daily_form(one, other) or _is_daily_form(other, one):
        return DayComparison(DayRelation.SAME, one.occurrence, other.occurrence)
    mine = {each.starts_at.date(): each for each in reversed(one.occurrences or (one.occurrence,))}
    theirs = {each.starts_at.date(): each for each in reversed(other.occurrences or (other.occurrence,))}
    shared = mine.keys() & theirs.keys()
    if not shared:
        return DayComparison(DayRelation.APART, one.occurrence, other.occurrence)
    day = max(shared)
    both = one.occurrences and other.occurrences
    return DayComparison(DayRelation.SHARED if both else DayRelation.PART, mine[day], theirs[day], len(shared))


def _is_daily_form(series: EventDraft, period: EventDraft) -> bool:
    """Whether one has the hours of each day of a period, and the other the period as a whole."""
    if not series.occurrences or period.occurrences or (last := last_day(period.occurrence)) is None:
        return False
    days = {each.starts_at.date() for each in series.occurrences}
    return min(days) == period.local_date and max(days) == last and len(days) > (last - min(days)).days / 2


def _covers(long: EventDraft, short: EventDraft) -> bool:
    last = last_day(long.occurrence)
    return (
        last is not None and long.local_date < short.local_date <= last and last_day(short.occurrence) in {None, short.local_date}
    )


def compare_times(mine: Occurrence, theirs: Occurrence, are_doors_told: Callable[[], bool] = bool) -> TimeRelation:
    """Compare the start times, to the minute; `are_doors_told` returns whether one of them is when the doors open."""
    if not (mine.has_time and theirs.has_time):
        return TimeRelation.ONE if mine.has_time or theirs.has_time else TimeRelation.NONE
    apart = abs(mine.starts_at - theirs.starts_at)
    if apart < _MINUTE:
        return TimeRelation.SAME
    if apart > DOORS:
        return TimeRelation.DIFFERENT
    has_same_end = mine.ends_at is not None and mine.ends_at == theirs.ends_at
    return TimeRelation.DOORS if has_same_end or are_doors_told() else TimeRelation.DIFFERENT


def tells_doors(title: str) -> bool:
    """Whether a title gives the time when the doors open."""
    return _TELLS_DOORS.search(title) is not None


def have_same_span(a: EventDraft, b: EventDraft) -> bool:
    """Whether both are over the same days."""
    one, other = ((draft.occurrences or (draft.occurrence,))[-1] for draft in (a, b))
    if one.ends_at is None or other.ends_at is None or one.ends_at - a.occurrence.starts_at <= _DAY:
        return False
    return a.local_date == b.local_date and last_day(one) == last_day(other) != a.local_date


def end_days_differ(one: EventDraft, other: EventDraft) -> bool:
    """Whether both have an end day, and these differ."""
    if one.occurrences or other.occurrences:
        return False
    mine, theirs = last_day(one.occurrence), last_day(other.occurrence)
    return mine is not None and theirs is not None and mine != theirs
