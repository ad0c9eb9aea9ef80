"""Messages, dates and numbers for one reader: a language, and the time zone that moments are shown in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from tadoru.i18n import formats
from tadoru.i18n.translation import Translator, translator


@dataclass(frozen=True, slots=True)
class Formatter:
    """Formats values in a language and a time zone."""

    lang: str
    zone: tzinfo

    @property
    def translator(self) -> Translator:
        """The messages of the language."""
        return translator(self.lang)

    @property
    def gettext(self) -> Callable[..., str]:
        """Translates a message."""
        return self.translator.gettext

    @property
    def ngettext(self) -> Callable[..., str]:
        """Translates a message with a count."""
        return self.translator.ngettext

    def weekdays(self) -> tuple[str, ...]:
        """The short names of the days from Monday on."""
        return formats.weekday_names(self.lang)

    def day(self, day: date, *, after: date | None = None) -> str:
        """A day; without its year if it is in the year of `after`, a day that is shown before it."""
        return formats.format_day(day, self.lang, with_year=after is None or after.year != day.year)

    def month(self, day: date) -> str:
        """The month of a day."""
        return formats.format_month(day, self.lang)

    def timestamp(self, at: datetime | None) -> str:
        """A moment as `2026-08-01 10:00` in the time zone; empty for None."""
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M}" if at else ""

    def duration(self, seconds: float) -> str:
        """A length of time, rounded."""
        return formats.format_duration(seconds, self.lang)

    def number(self, value: float) -> str:
        """A number with the separators of the language."""
        return formats.format_number(value, self.lang)

    def percent(self, share: float) -> str:
        """A share of 1 in whole percent."""
        return formats.format_percent(share, self.lang)
