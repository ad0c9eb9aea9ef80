"""Counts and durations as text, and the width of a text in columns of a terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tadoru.i18n.translation import Translator


def format_count(count: int, one: str, many: str | None = None) -> str:
    """A count in English: `1 page`, `2,000 pages`. Text for readers uses `Translator.ngettext` instead."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_duration(seconds: float, _: Translator) -> str:
    """`0.42 s`, `12.3 s`, `4 min 10 s`, `2 h 5 min`."""
    if seconds < 60:
        return _("{seconds} s", seconds=f"{seconds:.{2 if seconds < 1 else 1}f}")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return _("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def display_width(text: str) -> int:
    """Columns of a terminal that a text takes: two for a Japanese character, none for a combining mark."""
    return sum(_character_width(letter) for letter in text)


def _character_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def pad_text(text: str, width: int, *, align_right: bool = False) -> str:
    """The text padded with spaces to a number of columns, on the right or (`align_right`) on the left."""
    space = " " * max(0, width - display_width(text))
    return space + text if align_right else text + space


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours text with ANSI escapes, unless colours are off."""

    on: bool

    def red(self, text: str) -> str:
        return self._paint("31", text)

    def yellow(self, text: str) -> str:
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        return self._paint("36", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def faint(self, text: str) -> str:
        return self._paint("2", text)

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text
