"""Public holidays in Japan, computed from the law of 2007."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

_FIRST_YEAR, _LAST_YEAR = 2007, 2099
"""The law of 2007 decides about substitutes, and the formula of the equinoxes holds until 2099."""
_FIXED = ((1, 1), (2, 11), (4, 29), (5, 3), (5, 4), (5, 5), (11, 3), (11, 23))
_MONDAYS = ((1, 2), (9, 3))
_SEA, _MOUNTAIN, _SPORT = (7, 3), (8, 11), (10, 2)
_MOVED = {2020: ((7, 23), (8, 10), (7, 24)), 2021: ((7, 22), (8, 8), (7, 23))}
"""The three days that were moved for the Olympic Games."""


def is_holiday(day: date) -> bool:
    """Is this a public holiday in Japan?"""
    return day in _holidays(day.year)


def has_holidays(day: date) -> bool:
    """Are the holidays of this year known?"""
    return _FIRST_YEAR <= day.year <= _LAST_YEAR


@lru_cache(maxsize=16)
def _holidays(year: int) -> frozenset[date]:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return frozenset()
    named = _named_holidays(year)
    between = {
        day + timedelta(days=1)
        for day in named
        if day + timedelta(days=2) in named and day + timedelta(days=1) not in named and (day + timedelta(days=1)).weekday() != 6
    }
    substitutes = set()
    for day in sorted(named):
        if day.weekday() == 6:
            following = day + timedelta(days=1)
            while following in named:
                following += timedelta(days=1)
            substitutes.add(following)
    return frozenset(named | between | substitutes)


def _named_holidays(year: int) -> set[date]:
    """The days that have a name."""
    days = {date(year, month, day) for month, day in _FIXED}
    days |= {_monday(year, month, nth) for month, nth in _MONDAYS}
    if year in _MOVED:
        days |= {date(year, month, day) for month, day in _MOVED[year]}
    else:
        days |= {_monday(year, *_SEA), _monday(year, *_SPORT)}
        if year >= 2016:
            days.add(date(year, *_MOUNTAIN))
    days |= {date(year, 3, _equinox(year, 20.8431)), date(year, 9, _equinox(year, 23.2488))}
    if year != 2019:
        days.add(date(year, 12, 23) if year < 2019 else date(year, 2, 23))
    else:
        days |= {date(2019, 5, 1), date(2019, 10, 22)}
    return days


def _monday(year: int, month: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=-first.weekday() % 7 + 7 * (nth - 1))


def _equinox(year: int, base: float) -> int:
    passed = year - 1980
    return int(base + 0.242194 * passed) - passed // 4
