"""Where the words of a query stand in a text, for those who show it: an excerpt in plain text, and which of it to mark. Pure.

A search folds texts (`search_words`), and a folded text has other lengths. So a text is folded piece by piece, each piece knowing
where it comes from, and what is found in the folded text is marked in the text as it was written. Marks are places, never markup:
whoever shows them escapes the text by their own rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from tadoru.store.events.column_types import storable
from tadoru.store.events.search_words import folded
from tadoru.store.search_terms import UNSPACED, parts_of

LONGEST = 160
"""Characters of an excerpt, without what stands for the rest."""
_BEFORE = 40
"""Characters before the first mark."""
_LOOKED_AT = 10_000
"""Characters of a text that are looked at: somebody who searches reads the beginning."""
_MOST_MARKS = 20
_REST = "…"
_HALF_SOUNDS = "\uff9e\uff9f"
"""The half-width signs of voiced kana: they belong to the character before."""
_SPACED = rf"(?:(?!{UNSPACED})[^\W_])"
_PIECE = re.compile(rf"{UNSPACED}+|{_SPACED}+")


class Match(NamedTuple):
    """A field of an event in which words of a query stand."""

    field: str
    text: str
    """The field, or a part of it."""
    marks: tuple[tuple[int, int], ...]
    """Where they stand in it: first character, and the one behind the last."""


def matches(texts: Mapping[str, str], asked: str) -> tuple[Match, ...]:
    """The fields in which the words stand. The texts are plain."""
    wanted = _wanted(asked)
    if not wanted:
        return ()
    found = []
    for name, text in texts.items():
        if marks := _marks(text[:_LOOKED_AT], wanted):
            found.append(Match(name, *_excerpt(text, marks)))
    return tuple(found)


def pieces(match: Match) -> Iterator[tuple[str, bool]]:
    """The text of a match in pieces, each with whether it is marked."""
    at = 0
    for start, end in match.marks:
        if start > at:
            yield match.text[at:start], False
        yield match.text[start:end], True
        at = end
    if at < len(match.text):
        yield match.text[at:], False


@lru_cache(maxsize=64)
def _wanted(asked: str) -> tuple[re.Pattern[str], ...]:
    """The words of a query as patterns for folded texts. What must not be there is not marked, unless nothing else is asked."""
    parts = parts_of(storable(asked))
    chosen = [one for one in parts if not one.is_excluded and _PIECE.search(folded(one.said))] or parts
    found = (_pattern(one.said, is_whole=one.is_phrase or one.is_excluded) for one in chosen)
    return tuple(one for one in found if one is not None)


def _pattern(said: str, *, is_whole: bool) -> re.Pattern[str] | None:
    """The words of a phrase side by side, signs between them or not; the last may be the beginning of a longer word."""
    words = _PIECE.findall(folded(said))
    if not words:
        return None
    is_open = not is_whole and len(words[-1]) > 1 and said[-1:].isalnum()
    parts: list[str] = []
    for place, word in enumerate(words):
        if re.match(UNSPACED, word):
            parts.append(re.escape(word))
        else:
            end = "" if is_open and place == len(words) - 1 else f"(?!{_SPACED})"
            parts.append(f"(?<!{_SPACED}){re.escape(word)}{end}")
        if place < len(words) - 1:
            both = bool(re.match(UNSPACED, word)) and bool(re.match(UNSPACED, words[place + 1]))
            parts.append(r"[\W_]+" if both else r"[\W_]*")
    return re.compile("".join(parts))


def _marks(text: str, wanted: Iterable[re.Pattern[str]]) -> list[tuple[int, int]]:
    """Where the words stand in a text, without overlaps."""
    line, places = _folded(text)
    found = sorted((one.start(), one.end()) for pattern in wanted for one in pattern.finditer(line) if one.end() > one.start())
    marks: list[tuple[int, int]] = []
    for first, behind in found:
        start, end = places[first][0], places[behind - 1][1]
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return marks[:_MOST_MARKS]


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text folded, and for each character of that where it comes from."""
    if text.isascii():
        return text.lower(), [(at, at + 1) for at in range(len(text))]
    line: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _goes_on(text[end]):
            continue
        piece = _folded_piece(text[start:end])
        line.append(piece)
        places += [(start, end)] * len(piece)
        start = end
    return "".join(line), places


@lru_cache(maxsize=8192)
def _goes_on(char: str) -> bool:
    """Does a character belong to the one before?"""
    return not char.isascii() and (char in _HALF_SOUNDS or unicodedata.combining(char) > 0)


@lru_cache(maxsize=8192)
def _folded_piece(piece: str) -> str:
    return folded(piece)


def _excerpt(text: str, marks: list[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text around the first mark, and the marks in it."""
    if len(text) <= LONGEST:
        return text, tuple(marks)
    first = max(0, min(marks[0][0] - _BEFORE, len(text) - LONGEST))
    # Not within a word, where there is a space near.
    space = text.find(" ", first, marks[0][0]) if first else -1
    first = space + 1 if space >= 0 else first
    last = min(len(text), first + LONGEST)
    before, after = _REST if first else "", _REST if last < len(text) else ""
    shift = len(before) - first
    kept = tuple((start + shift, min(end, last) + shift) for start, end in marks if start < last)
    return f"{before}{text[first:last]}{after}", kept
