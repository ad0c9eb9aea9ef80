"""The searched text of events, queries, and highlights of matches. Pure, and the same for every database.

The searched text of an event is a line of words with a space around each: folded (width, case, accents, katakana to hiragana),
with runs of a script without spaces split into overlapping pairs (`store.search_terms`). A query is words in the same form that
must be adjacent. So a search looks for a short line within another, whichever index finds the candidates; `SearchQuery.is_found`
is the reference that the databases are tested against.

Folding changes the length of a text. For highlights a text is folded piece by piece with the position of each piece, and matches
are marked in the original text. Highlights are positions, never markup: whoever shows them escapes the text.
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
"""Separates two fields, so that no match spans them. Queries cannot contain it: it is neither letter nor digit."""
_LONGEST_TEXT = 60_000
"""Maximum length of the searched text of an event; PostgreSQL has a limit too."""
_LONGEST_WORD = 64
_TAG = re.compile(r"<[a-zA-Z/!][^>]*+(>?)")
_SIGNS = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_KATAKANA = re.compile("[\u30a1-\u30f6\u30fd\u30fe]+")
_HIRAGANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}


def fold_text(text: str) -> str:
    """The text with width, case, accents and the kind of kana folded."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    apart = unicodedata.normalize("NFD", text)
    if _ACCENTS.search(apart):
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", apart))
    return _KATAKANA.sub(lambda run: run[0].translate(_HIRAGANA), text)


def strip_tags(text: str) -> str:
    """The text with each tag replaced by a space; an unclosed tag is text."""
    return _TAG.sub(lambda found: " " if found[1] else found[0], text)


def split_words(text: str) -> list[str]:
    """The words of a text without tags, with unspaced runs as pairs."""
    words = indexed(_SIGNS.sub(" ", fold_text(text))).split()
    return [word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] for word in words]


def search_line(fields: Iterable[str]) -> str:
    """The searched text of an event with these fields; empty if they have no words."""
    words: list[str] = []
    room = _LONGEST_TEXT
    for field in fields:
        found = split_words(strip_tags(storable_text(field[:room]))) if field and room > 0 else []
        room -= len(field)
        if found:
            words += [FIELD_SEPARATOR, *found] if words else found
    return f" {' '.join(words)} " if words else ""


class SearchPhrase(NamedTuple):
    """Adjacent words; if it is open, the last one may be a prefix."""

    words: tuple[str, ...]
    is_open: bool

    @property
    def is_run(self) -> bool:
        """Whether it ends with a pair of an unspaced run."""
        last = self.words[-1]
        return len(last) == 2 and _is_unspaced(last)

    @property
    def line(self) -> str:
        """The text to look for in the searched text."""
        return f" {' '.join(self.words)}{'' if self.is_open else ' '}"


class SearchQuery(NamedTuple):
    """Phrases that must all occur, and phrases that must not."""

    wanted: tuple[SearchPhrase, ...]
    unwanted: tuple[SearchPhrase, ...]

    def is_found(self, line: str) -> bool:
        """Whether the searched text of an event matches."""
        has = all(phrase.line in line for phrase in self.wanted)
        return has and not any(phrase.line in line for phrase in self.unwanted)


def parse_query(query: str) -> SearchQuery | None:
    """Parse a query: words, "phrases", and -words that must not occur. None if it is empty.

    A query of exclusions alone searches for them. A query without letters and digits matches nothing.
    """
    wanted: list[SearchPhrase] = []
    unwanted: list[SearchPhrase] = []
    for part in parts_of(storable_text(query)):
        phrase = _phrase(part.said, is_whole=part.is_phrase or part.is_excluded)
        if phrase is not None:
            (unwanted if part.is_excluded else wanted).append(phrase)
    if not wanted and not unwanted:
        return SearchQuery((), ()) if query.strip() else None
    return SearchQuery(tuple(wanted), tuple(unwanted)) if wanted else SearchQuery(tuple(unwanted), ())


def _phrase(text: str, *, is_whole: bool) -> SearchPhrase | None:
    words = split_words(text)
    if not words:
        return None
    last = words[-1]
    ends_in_pairs = (
        len(words) > 1 and is_single(last) and len(words[-2]) == 2 and words[-2][1] == last and _is_unspaced(words[-2])
    )
    if ends_in_pairs:
        # In a text the run may continue; its last character is a word of its own only at its end.
        return SearchPhrase(tuple(words[:-1]), is_open=False)
    if is_single(last):
        return SearchPhrase(tuple(words), is_open=True)
    # A sign after a word ends it: `100%` is not a prefix of 1000.
    return SearchPhrase(tuple(words), is_open=not is_whole and len(last) > 1 and text[-1:].isalnum())


def _is_unspaced(pair: str) -> bool:
    return all(is_single(char) for char in pair)


MAX_EXCERPT = 160
"""Maximum length of an excerpt, without the ellipses."""
_BEFORE = 40
"""Characters before the first highlight."""
_MAX_SEARCHED = 10_000
"""Characters of a text that are searched for highlights."""
_MOST_MARKS = 20
_REST = "…"
_HALF_SOUNDS = "\uff9e\uff9f"
"""Half-width voicing marks, which belong to the character before."""
_SPACED = rf"(?:(?!{UNSPACED})[^\W_])"
_PIECE = re.compile(rf"(?:(?![\W_]){UNSPACED})+|{_SPACED}+")


class SearchHighlight(NamedTuple):
    """A field of an event that matches a query."""

    field: str
    text: str
    """The field, or an excerpt of it."""
    marks: tuple[tuple[int, int], ...]
    """The positions of the matches: first character, and the one after the last."""


def find_highlights(texts: Mapping[str, str], query: str) -> tuple[SearchHighlight, ...]:
    """The fields that match a query. The texts are plain text."""
    wanted = _query_patterns(query)
    if not wanted:
        return ()
    found = []
    for name, text in texts.items():
        if marks := _marks(text[:_MAX_SEARCHED], wanted):
            found.append(SearchHighlight(name, *_excerpt(text, marks)))
    return tuple(found)


def split_highlight(match: SearchHighlight) -> Iterator[tuple[str, bool]]:
    """The text of a highlight in pieces, each with whether it is marked."""
    at = 0
    for start, end in match.marks:
        if start > at:
            yield match.text[at:start], False
        yield match.text[start:end], True
        at = end
    if at < len(match.text):
        yield match.text[at:], False


@lru_cache(maxsize=64)
def _query_patterns(query: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a query for folded texts. Exclusions are not marked, unless the query has nothing else."""
    parts = parts_of(storable_text(query))
    chosen = [one for one in parts if not one.is_excluded and _PIECE.search(fold_text(one.said))] or parts
    found = (_pattern(one.said, is_whole=one.is_phrase or one.is_excluded) for one in chosen)
    return tuple(one for one in found if one is not None)


def _pattern(text: str, *, is_whole: bool) -> re.Pattern[str] | None:
    """The words of a phrase, with or without signs between them; the last may be a prefix."""
    words = _PIECE.findall(fold_text(text))
    if not words:
        return None
    is_open = not is_whole and len(words[-1]) > 1 and text[-1:].isalnum()
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
    """The positions of all matches in a text, without overlaps."""
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
    """The folded text, and for each of its characters its position in the original."""
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
    """Whether a character belongs to the one before."""
    return not char.isascii() and (char in _HALF_SOUNDS or unicodedata.combining(char) > 0)


@lru_cache(maxsize=8192)
def _fold_piece(piece: str) -> str:
    return fold_text(piece)


def _excerpt(text: str, marks: list[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text around the first match, and the matches in it."""
    if len(text) <= MAX_EXCERPT:
        return text, tuple(marks)
    first = max(0, min(marks[0][0] - _BEFORE, len(text) - MAX_EXCERPT))
    # Start after a space if there is one nearby.
    space = text.find(" ", first, marks[0][0]) if first else -1
    first = space + 1 if space >= 0 else first
    last = min(len(text), first + MAX_EXCERPT)
    before, after = _REST if first else "", _REST if last < len(text) else ""
    shift = len(before) - first
    kept = tuple((start + shift, min(end, last) + shift) for start, end in marks if start < last)
    return f"{before}{text[first:last]}{after}", kept
