"""Numbers and durations as English words, and how wide a text is where every letter has the same width."""

from __future__ import annotations

import unicodedata


def format_count(count: int, one: str, many: str | None = None) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_duration(seconds: float) -> str:
    """`0.42 s`, `12.3 s`, `4 min 10 s`, `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes: a letter of Japanese takes two, a combining mark none."""
    return sum(_character_width(letter) for letter in text)


def _character_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def pad_text(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to a number of columns, after it or (`right`) before it."""
    space = " " * max(0, width - display_width(text))
    return space + text if right else text + space
