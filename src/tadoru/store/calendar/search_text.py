"""What a search of events looks in, and what a query asks for. Pure, and the same for every database.

The searched text of an event is a line of words with a space on either side of each: folded (width, case, accents, and katakana
as hiragana), and a run of a script without spaces as its overlapping pairs (`search_terms`). A query is words in the same form
that must stand side by side. So to search is to find one short line in another, whichever index finds the candidates; `is_found`
says it in Python, and is what the databases are tested against.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from tadoru.store.calendar.schema import storable_text
from tadoru.store.search_terms import UNSPACED, indexed, is_single, parts_of

FIELD_SEPARATOR = "¦"
"""Stands between two fields, so that nothing is found across them. No query has it: it is neither letter nor digit."""
_LONGEST_TEXT = 60_000
"""Characters of one event that are searched: a page of forty thousand words is no event, and PostgreSQL has a limit."""
_LONGEST_WORD = 64
_TAG = re.compile(r"<[a-zA-Z/!][^>]*+(>?)")
_SIGNS = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_KATAKANA = re.compile("[\u30a1-\u30f6\u30fd\u30fe]+")
_HIRAGANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}


def fold_text(text: str) -> str:
    """A text in which width, case, accents and the kind of kana do not matter."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    apart = unicodedata.normalize("NFD", text)
    if _ACCENTS.search(apart):
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", apart))
    return _KATAKANA.sub(lambda run: run[0].translate(_HIRAGANA), text)


def strip_tags(text: str) -> str:
    """A text with a space in the place of each tag; what is not closed is no tag."""
    return _TAG.sub(lambda found: " " if found[1] else found[0], text)


def split_words(text: str) -> list[str]:
    """The words of a text without tags, pairs in the place of what has no spaces."""
    words = indexed(_SIGNS.sub(" ", fold_text(text))).split()
    return [word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] for word in words]


def search_line(fields: Iterable[str]) -> str:
    """The searched text of an event with these fields; empty when they say nothing."""
    words: list[str] = []
    room = _LONGEST_TEXT
    for field in fields:
        found = split_words(strip_tags(storable_text(field[:room]))) if field and room > 0 else []
        room -= len(field)
        if found:
            words += [FIELD_SEPARATOR, *found] if words else found
    return f" {' '.join(words)} " if words else ""


class SearchPhrase(NamedTuple):
    """Words side by side; the last of an open one may be the beginning of a longer word."""

    words: tuple[str, ...]
    is_open: bool

    @property
    def is_run(self) -> bool:
        """Whether it ends with a pair of a run without spaces."""
        last = self.words[-1]
        return len(last) == 2 and _is_unspaced(last)

    @property
    def line(self) -> str:
        """What is to be found in the searched text."""
        return f" {' '.join(self.words)}{'' if self.is_open else ' '}"


class SearchQuery(NamedTuple):
    """All of the wanted, and none of the unwanted."""

    wanted: tuple[SearchPhrase, ...]
    unwanted: tuple[SearchPhrase, ...]

    def is_found(self, line: str) -> bool:
        """Whether the searched text of an event has what is asked for."""
        has = all(phrase.line in line for phrase in self.wanted)
        return has and not any(phrase.line in line for phrase in self.unwanted)


def parse_query(asked: str) -> SearchQuery | None:
    """What a person asks for: words, "phrases", and -words that must not be there. None when nothing is asked.

    Nothing but exclusions asks for them. A query of signs alone has nothing to look for, and finds nothing.
    """
    wanted: list[SearchPhrase] = []
    unwanted: list[SearchPhrase] = []
    for part in parts_of(storable_text(asked)):
        phrase = _phrase(part.said, is_whole=part.is_phrase or part.is_excluded)
        if phrase is not None:
            (unwanted if part.is_excluded else wanted).append(phrase)
    if not wanted and not unwanted:
        return SearchQuery((), ()) if asked.strip() else None
    return SearchQuery(tuple(wanted), tuple(unwanted)) if wanted else SearchQuery(tuple(unwanted), ())


def _phrase(said: str, *, is_whole: bool) -> SearchPhrase | None:
    words = split_words(said)
    if not words:
        return None
    last = words[-1]
    ends_in_pairs = (
        len(words) > 1 and is_single(last) and len(words[-2]) == 2 and words[-2][1] == last and _is_unspaced(words[-2])
    )
    if ends_in_pairs:
        # In a text the run may go on; its last character stands alone only where it ends.
        return SearchPhrase(tuple(words[:-1]), is_open=False)
    if is_single(last):
        return SearchPhrase(tuple(words), is_open=True)
    # A sign behind a word ends it: `100%` is not the beginning of 1000.
    return SearchPhrase(tuple(words), is_open=not is_whole and len(last) > 1 and said[-1:].isalnum())


def _is_unspaced(pair: str) -> bool:
    return all(is_single(char) for char in pair)


MAX_EXCERPT = 160
"""Characters of an excerpt, without what stands for the rest."""
_BEFORE = 40
"""Characters before the first mark."""
_MAX_SEARCHED = 10_000
"""Characters of a text that are looked at: somebody who searches reads the beginning."""
_MOST_MARKS = 20
_REST = "…"
_HALF_SOUNDS = "\uff9e\uff9f"
"""The half-width signs of voiced kana: they belong to the character before."""
_SPACED = rf"(?:(?!{UNSPACED})[^\W_])"
_PIECE = re.compile(rf"{UNSPACED}+|{_SPACED}+")


class SearchHighlight(NamedTuple):
    """A field of an event in which words of a query stand."""

    field: str
    text: str
    """The field, or a part of it."""
    marks: tuple[tuple[int, int], ...]
    """Where they stand in it: first character, and the one behind the last."""


def find_highlights(texts: Mapping[str, str], asked: str) -> tuple[SearchHighlight, ...]:
    """The fields in which the words stand. The texts are plain."""
    wanted = _query_patterns(asked)
    if not wanted:
        return ()
    found = []
    for name, text in texts.items():
        if marks := _marks(text[:_MAX_SEARCHED], wanted):
            found.append(SearchHighlight(name, *_excerpt(text, marks)))
    return tuple(found)


def split_highlight(match: SearchHighlight) -> Iterator[tuple[str, bool]]:
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
def _query_patterns(asked: str) -> tuple[re.Pattern[str], ...]:
    """The words of a query as patterns for folded texts. What must not be there is not marked, unless nothing else is asked."""
    parts = parts_of(storable_text(asked))
    chosen = [one for one in parts if not one.is_excluded and _PIECE.search(fold_text(one.said))] or parts
    found = (_pattern(one.said, is_whole=one.is_phrase or one.is_excluded) for one in chosen)
    return tuple(one for one in found if one is not None)


def _pattern(said: str, *, is_whole: bool) -> re.Pattern[str] | None:
    """The words of a phrase side by side, signs between them or not; the last may be the beginning of a longer word."""
    words = _PIECE.findall(fold_text(said))
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
    line, places = _fold_with_positions(text)
    found = sorted((one.start(), one.end()) for pattern in wanted for one in pattern.finditer(line) if one.end() > one.start())
    marks: list[tuple[int, int]] = []
    for first, behind in found:
        start, end = places[first][0], places[behind - 1][1]
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return marks[:_MOST_MARKS]


def _fold_with_positions(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text folded, and for each character of that where it comes from."""
    if text.isascii():
        return text.lower(), [(at, at + 1) for at in range(len(text))]
    line: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _continues_character(text[end]):
            continue
        piece = _fold_piece(text[start:end])
        line.append(piece)
        places += [(start, end)] * len(piece)
        start = end
    return "".join(line), places


@lru_cache(maxsize=8192)
def _continues_character(char: str) -> bool:
    """Does a character belong to the one before?"""
    return not char.isascii() and (char in _HALF_SOUNDS or unicodedata.combining(char) > 0)


@lru_cache(maxsize=8192)
def _fold_piece(piece: str) -> str:
    return fold_text(piece)


def _excerpt(text: str, marks: list[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text around the first mark, and the marks in it."""
    if len(text) <= MAX_EXCERPT:
        return text, tuple(marks)
    first = max(0, min(marks[0][0] - _BEFORE, len(text) - MAX_EXCERPT))
    # Not within a word, where there is a space near.
    space = text.find(" ", first, marks[0][0]) if first else -1
    first = space + 1 if space >= 0 else first
    last = min(len(text), first + MAX_EXCERPT)
    before, after = _REST if first else "", _REST if last < len(text) else ""
    shift = len(before) - first
    kept = tuple((start + shift, min(end, last) + shift) for start, end in marks if start < last)
    return f"{before}{text[first:last]}{after}", kept
