"""One day or one period: on which of its days it takes place, by the rule, the note or the closed days, and at which hours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tadoru.parse.dates.assemble import AssembledDates, DaySession
from tadoru.parse.dates.exclusions import ExcludedDates
from tadoru.parse.dates.note import DateNote, NoteHours, every_day, runs_of
from tadoru.parse.dates.opening_hours import LONG_PERIOD, open_days
from tadoru.parse.dates.recurrence import RecurrencePhrase, counted, expand
from tadoru.parse.dates.tokens import NotADate

AHEAD = timedelta(days=91)
"""How far a rule without an end is followed."""
_MOST_COUNTED = 60
_MOST_NAMED = 3
LONGEST_SEASON = 31
"""Days of a period that takes place every day at hours of less than half a day."""


@dataclass(frozen=True, slots=True)
class PeriodDays:
    """On which days of a period it takes place, as its text says."""

    rule: RecurrencePhrase | None
    begins: bool
    """The day is the first of the rule, which goes on without an end."""
    excluded: ExcludedDates
    is_by_day: bool
    """Hours beside the period are those of each day."""
    is_season: bool = False
    """It is written as one period with hours, and is no course."""

    def dates(self, first: date, last: date | None, sessions: list[DaySession], noted: list[DaySession]) -> tuple[date, ...]:
        """The days of the period without those that are excluded; none if it goes on without a break."""
        if last is None or last <= first or self.rule is not None:
            return ()
        if self.excluded:
            days = every_day(first, last)
            if not days or self.excluded.are_doubtful(days):
                raise NotADate("It has an exception near one of its dates.")
            return tuple(day for day in days if day not in self.excluded)
        hours = noted if not sessions else sessions if self.is_by_day else []
        is_short = (last - first).days < (LONGEST_SEASON if self.is_season else LONG_PERIOD)
        return every_day(first, last) if hours and is_short and all(one.is_of_one_day for one in hours) else ()


def add_period(
    assembly: AssembledDates,
    first: date,
    last: date | None,
    sessions: list[DaySession],
    within: PeriodDays,
    said: DateNote | None,
    is_all_day: bool,
    text: str | None,
) -> None:
    """One day or one period: its dates by the rule or the note beside it, and the hours of the columns or of the note."""
    hours = said.hours(first, last) if said else NoteHours([], {})
    dates = _series(first, last, within, said, assembly) or within.dates(first, last, sessions, hours.general)
    is_period = last is not None and last > first
    if len(sessions) == 1 and not is_period and said and not said.has_reception and hours.refine(sessions[0]):
        sessions = hours.general
    if is_period and last is not None and (hours.is_by_weekday or hours.are_complete(dates or every_day(first, last))):
        by_day = hours.in_place_of(sessions)
        if by_day:
            dates, sessions, hours = tuple(sorted(by_day)), [], NoteHours([], by_day)
        else:
            assembly.doubt("The note has other hours than the columns.")
    if said:
        assembly.doubt(*_unplaced(said, first, last, hours, sessions, has_dates=bool(dates)))
    if is_all_day:
        hours = NoteHours([], {})
    is_plain = within.rule is None and not sessions and not said
    for begin, finish in runs_of(dates) if is_plain else [(day, None) for day in dates]:
        assembly.add(begin, finish, _on_day(begin, sessions, hours))
    if dates:
        return
    is_open_daily = text is not None and last is not None and not (said and said.other_days(first, last))
    if is_open_daily and (days := open_days(first, last or first, sessions or hours.general, text or "")):
        for day in days:
            assembly.add(day, None, _on_day(day, sessions, hours))
    elif is_period and last is not None:
        if (last - first).days >= LONG_PERIOD:
            _note_unknown_days(assembly, sessions, hours, within)
        assembly.add(first, last, _over_period(sessions or hours.general, hours, first, last, assembly))
    else:
        assembly.add(first, (last or first) if is_all_day else last, sessions or hours.by_day.get(first) or hours.general)


def _note_unknown_days(assembly: AssembledDates, sessions: list[DaySession], hours: NoteHours, within: PeriodDays) -> None:
    """A long period has hours of one day, and nobody says on which of its days."""
    if sessions and within.rule is None and all(one.is_of_one_day for one in sessions):
        assembly.note("It is not said on which of these days it takes place.")
    if hours.general and not sessions:
        assembly.doubt("The note has hours, but not on which of these days they hold.")


def _unplaced(
    said: DateNote, first: date, last: date | None, hours: NoteHours, sessions: list[DaySession], *, has_dates: bool
) -> Iterator[str]:
    """What the note says and the reading does not."""
    if not has_dates and (others := said.outside(first, last)):
        yield f"The note names other days, which were not read: {', '.join(others)}."
    if said.has_hours and not hours.general and not hours.by_day and all(one.end is None for one in sessions):
        yield "The note has hours that could not be placed."


def _series(
    first: date, last: date | None, within: PeriodDays, said: DateNote | None, assembly: AssembledDates
) -> tuple[date, ...]:
    """The dates that the note lists or the rule gives within the period; none when it is one day or one period."""
    rule = within.rule
    listed = said.dates(first, last) if said else ()
    if not listed and rule is not None and last is None and not said:
        dates = (
            counted(rule, first)
            if rule.count
            else expand(rule, first, first + AHEAD)[0]
            if rule.is_open and within.begins
            else ()
        )
        if dates and dates[0] == first and len(dates) <= _MOST_COUNTED:
            if not rule.count:
                assembly.note("No last date is written: these are the dates of three months.")
            return dates
    if listed or rule is None or last is None or last <= first:
        return listed
    begin, finish = said.period(first, last) if said else (first, last)
    dates, reason = expand(rule, begin, finish)
    if reason:
        assembly.doubt(reason)
    return dates


def _on_day(day: date, sessions: list[DaySession], hours: NoteHours) -> list[DaySession]:
    """The hours of one date of a series: those of its own, where the note has some."""
    base, own = sessions or hours.general, hours.by_day.get(day, [])
    if not own or (sessions and day not in hours.exceptions):
        return base
    if len(own) == len(base) == 1:
        start, end = own[0].start, own[0].end
        return [replace(base[0], start=base[0].start if start is None else start, end=base[0].end if end is None else end)]
    return own


def _over_period(
    sessions: list[DaySession], hours: NoteHours, first: date, last: date, assembly: AssembledDates
) -> list[DaySession]:
    """The hours of a period: it starts and ends as the note says of its first and of its last day."""
    sessions = list(sessions)
    others = sorted(hours.exceptions - {first, last})
    for day in others[:_MOST_NAMED]:
        assembly.note(f"On {day.day} {day:%B} the hours are others.")
    if len(others) > _MOST_NAMED:
        assembly.note(f"On {len(others) - _MOST_NAMED} more days the hours are others.")
    if sessions and first in hours.exceptions and (start := hours.by_day[first][0].start) is not None:
        sessions[0] = replace(sessions[0], start=start)
    if sessions and last in hours.exceptions and (end := hours.by_day[last][-1].end) is not None:
        sessions[-1] = replace(sessions[-1], end=end)
    return sessions
