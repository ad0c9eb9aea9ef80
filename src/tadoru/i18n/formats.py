"""Dates, times, numbers and lists as a language writes them. Babel knows how; it is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel import Locale

REGIONS = {"en": "en_GB", "ja": "ja_JP", "de": "de_DE"}
"""The region whose formats a language uses: days before months in English, as ISO dates and the calendar's times have it."""
_COMMA_SEPARATED = ("en", "ja")


@cache
def locale_of(lang: str) -> Locale:
    """Babel's locale of a language."""
    from babel import Locale

    return Locale.parse(REGIONS.get(lang, lang))


def format_number(value: float, lang: str) -> str:
    """A number with the language's separators."""
    if isinstance(value, int) and lang in _COMMA_SEPARATED:
        return f"{value:,}"  # Reports format many counts, and Babel is twenty times slower.
    from babel.numbers import format_decimal

    return format_decimal(value, locale=locale_of(lang))


def format_date(day: date, lang: str, *, pattern: str = "medium") -> str:
    """A day; `pattern` is `short`, `medium`, `long`, `full`, or a pattern of CLDR."""
    from babel.dates import format_date as babel_format

    return babel_format(day, pattern, locale=locale_of(lang))


def format_utc(moment: datetime, lang: str) -> str:
    """A moment in UTC with its date in full: `5 January 2026, 09:03 UTC`."""
    day, time = format_date(moment.astimezone(UTC), lang, pattern="long"), f"{moment.astimezone(UTC):%H:%M} UTC"
    return f"{day} {time}" if lang == "ja" else f"{day}, {time}"


def format_skeleton(moment: date | datetime, lang: str, skeleton: str) -> str:
    """A moment by a CLDR skeleton such as `yMMMEd`, in the order of the language."""
    from babel.dates import format_skeleton as babel_format

    return babel_format(skeleton, moment, locale=locale_of(lang))


def format_list(items: Sequence[str], lang: str) -> str:
    """Items joined as the language joins them: `a, b and c`."""
    from babel.lists import format_list as babel_format

    return babel_format(items, locale=locale_of(lang))


@lru_cache(4096)
def format_day(day: date, lang: str, *, with_year: bool = True) -> str:
    """A day with its weekday: `Sat, 1 Aug 2026`."""
    return format_skeleton(day, lang, "yMMMEd" if with_year else "MMMEd")


@lru_cache(1024)
def format_month(day: date, lang: str) -> str:
    """The month of a day: `August 2026`."""
    return format_skeleton(day, lang, "yMMMM")


@cache
def weekday_names(lang: str) -> tuple[str, ...]:
    """The short names of the days from Monday on."""
    names = locale_of(lang).days["stand-alone"]["abbreviated"]
    return tuple(names[number] for number in range(7))


def format_duration(seconds: float, lang: str) -> str:
    """A length of time in its largest unit, rounded: `3 days`, `2 hrs`, `1.5 secs`."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size or (seconds >= size and unit != "day"):
            return _format_unit(round(seconds / size), unit, lang)
    return _format_unit(round(seconds, 1) if seconds < 10 else round(seconds), "second", lang)


@lru_cache(4096)
def _format_unit(value: float, unit: str, lang: str) -> str:
    from babel.units import format_unit

    return format_unit(value, f"duration-{unit}", length="short", locale=locale_of(lang))
