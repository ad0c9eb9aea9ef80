"""Completes dates that are written without year or month: taken from their neighbours, or inferred.

A year is inferred from the fiscal year that is named; else from the weekday, in the years around now; else it is the next time
the day occurs.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tadoru.parse.dates.tokens import DayToken, NotADate, YearSource

LOOKING_BACK = timedelta(days=90)
"""A day without a year that was less than this ago is meant, not the one of next year."""
_NEAR = 2
"""Years around now in which a weekday decides: at most one of five years in a row has it on that day."""
_SOON = 45
"""Days in which a day without a month is looked for."""
_LATE, _EARLY = 21, 15
"""A day without a month after a later one is of the next month only from the end of one to the beginning of another."""
FIRST_YEAR, LAST_YEAR = 1868, 2199


@dataclass(frozen=True, slots=True)
class ResolvedDates:
    """The dates in the order they were given; None for an end that does not exist."""

    dates: tuple[date | None, ...]
    year: YearSource
    notes: tuple[str, ...]


def resolve(days: list[tuple[DayToken, bool]], *, today: date, fiscal: int | None) -> ResolvedDates:
    """A date for each day; raises `NotADate` with the reason when there is none."""
    if all(day.month is None for day, _ in days) and (near := _near(days[0][0], today)) is not None:
        return ResolvedDates(tuple(_chain(_with_months([(near, False), *days[1:]]), today.year)), YearSource.WEEKDAY, ())
    days = _with_months(days)
    known = [day.year for day, _ in days if day.year is not None]
    if days[0][0].year is not None:
        dates, source = _chain(days, days[0][0].year), YearSource.RELATIVE if days[0][0].relative else YearSource.WRITTEN
    elif known:
        dates, source = _before_known(days, known[0]), YearSource.WRITTEN
    elif fiscal is not None:
        dates, source = _chain(days, fiscal if (days[0][0].month or 0) >= 4 else fiscal + 1), YearSource.FISCAL
    else:
        dates, source = _infer(days, today)
    return ResolvedDates(tuple(dates), source, tuple(_remarks(days, dates)))


def _near(day: DayToken, today: date) -> DayToken | None:
    """A day without a month that has a weekday: the next time they fit, if that is soon."""
    if not day.weekdays or day.day is None:
        return None
    ahead = (today + timedelta(days=number) for number in range(_SOON))
    found = next((one for one in ahead if one.day == day.day and one.weekday() in day.weekdays), None)
    return replace(day, year=found.year, month=found.month) if found else None


def _with_months(days: list[tuple[DayToken, bool]]) -> list[tuple[DayToken, bool]]:
    """A month for the days before the first that has one: "1-3 August"."""
    named = next((index for index, (day, _) in enumerate(days) if day.month is not None), None)
    if named is None:
        raise NotADate("{day} has no month.", day=days[0][0].text.strip())
    if named == 0:
        return days
    follower = days[named][0]
    month = follower.month or 1
    filled = [
        (replace(day, month=(month - 2) % 12 + 1 if (day.day or 0) > (follower.day or 31) else month, year=follower.year), is_end)
        for day, is_end in days[:named]
    ]
    return filled + days[named:]


def _chain(days: list[tuple[DayToken, bool]], year: int) -> list[date | None]:
    """Every date, each carried on from the one before it."""
    found: list[date | None] = []
    last: date | None = None
    for day, is_end in days:
        try:
            current = _date(day, *_year_and_month(day, is_end, last, year, found))
        except NotADate:
            if not (is_end and last):
                raise
            found.append(None)
            continue
        found.append(current)
        last = current
    return found


def _year_and_month(day: DayToken, is_end: bool, last: date | None, year: int, found: list[date | None]) -> tuple[int, int]:
    if last is None:
        return day.year or year, day.month or 0
    if day.month is None:
        if not is_end and (named := next((one for one in found if one and one.day == day.day), None)):
            return named.year, named.month  # "8月1日・2日、1日は10時から"
        carries = day.day is not None and day.day < last.day
        if carries and not is_end and not (last.day >= _LATE and (day.day or 0) <= _EARLY):
            raise NotADate("{day} after {before} may be of the same month or of the next.", day=day.text.strip(), before=last.day)
        months = last.year * 12 + last.month - 1 + carries
        return day.year or months // 12, months % 12 + 1
    if day.year is not None:
        return day.year, day.month
    # A range runs over the new year; a list that goes back a little is only out of order.
    turns = day.month < last.month if is_end else last.month - day.month >= 6
    return last.year + turns, day.month


def _date(day: DayToken, year: int, month: int) -> date:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise NotADate("{day} is not in a year that can be meant.", day=day.text.strip())
    try:
        return date(year, month, day.day if day.day is not None else _nth(day, year, month))
    except ValueError:
        raise NotADate("{day} is not a date of {year}.", day=day.text.strip(), year=year) from None


def _nth(day: DayToken, year: int, month: int) -> int:
    """The day of the month of its how-manieth weekday; one that does not exist when the month has fewer."""
    weekday = min(day.weekdays)
    first, length = monthrange(year, month)
    days = range(1 + (weekday - first) % 7, length + 1, 7)
    nth = day.nth or 0
    return days[-1] if nth < 0 else days[nth - 1] if 0 < nth <= len(days) else 0


def _before_known(days: list[tuple[DayToken, bool]], year: int) -> list[date | None]:
    """The year stands with a later day: the first is in the same year, or in the one before."""
    dates = _chain(days, year)
    first, later = dates[0], next(found for found, (day, _) in zip(dates, days, strict=True) if day.year is not None)
    return _chain(days, year - 1) if first and later and first > later else dates


def _infer(days: list[tuple[DayToken, bool]], today: date) -> tuple[list[date | None], YearSource]:
    candidates = []
    problem = NotADate("{day} is not a date.", day=days[0][0].text.strip())
    for year in range(today.year - _NEAR, today.year + _NEAR + 1):
        try:
            candidates.append(_chain(days, year))
        except NotADate as error:
            problem = problem if "year" in error.values else error
    if not candidates and _is_leap_day(days[0][0]):
        candidates = [_chain(days, year) for year in range(today.year, today.year + 9) if monthrange(year, 2)[1] == 29]
    if not candidates:
        raise problem
    if days[0][0].nth is not None and candidates[0][0] and today.year not in {dates[0].year for dates in candidates if dates[0]}:
        raise problem  # June of this year has no fifth Saturday
    if any(day.weekdays and day.nth is None for day, _ in days):
        fitting = [dates for dates in candidates if not _misfits(days, dates)]
        if not fitting:
            text = next(iter(_misfits(days, candidates[len(candidates) // 2])), days[0][0].text.strip())
            raise NotADate("The weekday beside {day} fits no year near now.", day=text)
        return fitting[0], YearSource.WEEKDAY
    current = [dates for dates in candidates if max(found for found in dates if found) >= today - LOOKING_BACK]
    return (current or candidates[-1:])[0], YearSource.NEAREST


def _is_leap_day(day: DayToken) -> bool:
    return (day.month, day.day) == (2, 29)


def _misfits(days: list[tuple[DayToken, bool]], dates: list[date | None]) -> list[str]:
    pairs = zip(days, dates, strict=True)
    return [day.text.strip() for (day, _), found in pairs if found and day.weekdays and found.weekday() not in day.weekdays]


def _remarks(days: list[tuple[DayToken, bool]], dates: list[date | None]) -> list[str]:
    gone = [day.text.strip() for (day, _), found in zip(days, dates, strict=True) if found is None]
    notes = [f"The end {text} is not a date, and was left out." for text in gone]
    return notes + [f"The weekday beside {text} does not fit." for text in _misfits(days, dates)]
