"""Translates messages, and formats values for a reader. A message is its English text; `{name}` stands for a value."""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any

from tadoru.errors import Message, TadoruError
from tadoru.i18n import formats
from tadoru.i18n.formats import format_number
from tadoru.model.finding import Check, CheckText

CATALOGS = Path(__file__).parent / "catalogs"
DOMAIN = "tadoru"
SOURCE_LANGUAGE = "en"
LANGUAGES = ("en", "ja")
"""Languages in which everything is translated."""
CALENDAR_LANGUAGES = (*LANGUAGES, "de")
"""Languages of the public calendar pages. A catalogue of such a language may hold nothing else."""


def N_(message: str) -> str:  # noqa: N802 (the name that gettext's tools know)
    """Mark a message for extraction where it is defined; whoever shows it translates it."""
    return message


class _Count(int):
    """A count that a message shows with the separators of its language."""

    lang: str

    def __new__(cls, value: int, lang: str) -> _Count:
        count = super().__new__(cls, value)
        count.lang = lang
        return count

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else format_number(int(self), self.lang)


class Translator:
    """The messages of Tadoru in one language."""

    __slots__ = ("_catalog", "lang")

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._catalog = (
            gettext.NullTranslations()
            if lang == SOURCE_LANGUAGE
            else gettext.translation(DOMAIN, CATALOGS, languages=[lang], fallback=False)
        )

    def gettext(self, message: str, /, **values: Any) -> str:
        """The message with its values."""
        text = self._catalog.gettext(message) if message else ""
        return text.format_map(self._translated(values)) if values else text

    __call__ = gettext

    def ngettext(self, one: str, many: str, count: int, /, **values: Any) -> str:
        """The form of a message that fits a count. `{count}` is the count with separators, unless it is given as text."""
        shown = {"count": _Count(count, self.lang), **self._translated(values)}
        return self._catalog.ngettext(one, many, count).format_map(shown)

    def number(self, value: float) -> str:
        """A number with the separators of the language."""
        return format_number(value, self.lang)

    def pgettext(self, context: str, message: str, /, **values: Any) -> str:
        """A message whose English text has several meanings, told apart by a context."""
        text = self._catalog.pgettext(context, message)
        return text.format_map(self._translated(values)) if values else text

    def error(self, error: TadoruError) -> str:
        """The message of an error."""
        return self.gettext(error.message, **error.values) if error.message else str(error)

    def text(self, text: str) -> str:
        """A text in this language if it is a `Message`; any other text as it is."""
        return self.gettext(text.template, **text.values) if isinstance(text, Message) else text

    def _translated(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with the messages and errors among them in this language."""
        return {
            name: self.text(value)
            if isinstance(value, Message)
            else self.error(value)
            if isinstance(value, TadoruError)
            else value
            for name, value in values.items()
        }

    def check(self, check: Check) -> CheckText:
        """The texts of a check: its own translation if it has one, else the one of the catalogue."""
        own = check.japanese if check.japanese is not None and self.lang == "ja" else ("", "", "")
        english = (check.title, check.why, check.fix)
        return CheckText(*(mine or self.gettext(text) for mine, text in zip(own, english, strict=True)))


@cache
def translator(lang: str) -> Translator:
    """The translator of a language, loaded once."""
    return Translator(lang)


def best_language(wanted: str, known: tuple[str, ...] = LANGUAGES) -> str:
    """The known language for a locale name such as `ja_JP.UTF-8`, `de-AT` or `en`; English for any other."""
    code = wanted.replace("-", "_").split(".")[0].split("_")[0].lower()
    return code if code in known else SOURCE_LANGUAGE


def environment_language() -> str:
    """The language of the environment: the first of LC_ALL, LC_MESSAGES and LANG that is set."""
    return best_language(next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), ""))


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
