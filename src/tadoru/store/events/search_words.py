"""What a search of events looks in, and what a query asks for. Pure, and the same for every database.

The searched text of an event is a line of words with a space on either side of each: folded (width, case, accents, and katakana
as hiragana), and a run of a script without spaces as its overlapping pairs (`search_terms`). A query is words in the same form
that must stand side by side. So to search is to find one short line in another, whichever index finds the candidates; `is_found`
says it in Python, and is what the databases are tested against.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from tadoru.store.events.column_types import storable
from tadoru.store.search_terms import indexed, is_single, parts_of

BETWEEN = "¦"
"""Stands between two fields, so that nothing is found across them. No query has it: it is neither letter nor digit."""
_LONGEST_TEXT = 60_000
"""Characters of one event that are searched: a page of forty thousand words is no event, and PostgreSQL has a limit."""
_LONGEST_WORD = 64
_TAG = re.compile(r"<[a-zA-Z/!][^>]*+(>?)")
_SIGNS = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_KATAKANA = re.compile("[\u30a1-\u30f6\u30fd\u30fe]+")
_HIRAGANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}


def folded(text: str) -> str:
    """A text in which width, case, accents and the kind of kana do not matter."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    apart = unicodedata.normalize("NFD", text)
    if _ACCENTS.search(apart):
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", apart))
    return _KATAKANA.sub(lambda run: run[0].translate(_HIRAGANA), text)


def without_tags(text: str) -> str:
    """A text with a space in the place of each tag; what is not closed is no tag."""
    return _TAG.sub(lambda found: " " if found[1] else found[0], text)


def words_of(text: str) -> list[str]:
    """The words of a text without tags, pairs in the place of what has no spaces."""
    words = indexed(_SIGNS.sub(" ", folded(text))).split()
    return [word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] for word in words]


def search_line(fields: Iterable[str]) -> str:
    """The searched text of an event with these fields; empty when they say nothing."""
    words: list[str] = []
    room = _LONGEST_TEXT
    for field in fields:
        found = words_of(without_tags(storable(field[:room]))) if field and room > 0 else []
        room -= len(field)
        if found:
            words += [BETWEEN, *found] if words else found
    return f" {' '.join(words)} " if words else ""


class Phrase(NamedTuple):
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


class Query(NamedTuple):
    """All of the wanted, and none of the unwanted."""

    wanted: tuple[Phrase, ...]
    unwanted: tuple[Phrase, ...]

    def is_found(self, line: str) -> bool:
        """Whether the searched text of an event has what is asked for."""
        has = all(phrase.line in line for phrase in self.wanted)
        return has and not any(phrase.line in line for phrase in self.unwanted)


def query_of(asked: str) -> Query | None:
    """What a person asks for: words, "phrases", and -words that must not be there. None when nothing is asked.

    Nothing but exclusions asks for them. A query of signs alone has nothing to look for, and finds nothing.
    """
    wanted: list[Phrase] = []
    unwanted: list[Phrase] = []
    for part in parts_of(storable(asked)):
        phrase = _phrase(part.said, is_whole=part.is_phrase or part.is_excluded)
        if phrase is not None:
            (unwanted if part.is_excluded else wanted).append(phrase)
    if not wanted and not unwanted:
        return Query((), ()) if asked.strip() else None
    return Query(tuple(wanted), tuple(unwanted)) if wanted else Query(tuple(unwanted), ())


def _phrase(said: str, *, is_whole: bool) -> Phrase | None:
    words = words_of(said)
    if not words:
        return None
    last = words[-1]
    ends_in_pairs = (
        len(words) > 1 and is_single(last) and len(words[-2]) == 2 and words[-2][1] == last and _is_unspaced(words[-2])
    )
    if ends_in_pairs:
        # In a text the run may go on; its last character stands alone only where it ends.
        return Phrase(tuple(words[:-1]), is_open=False)
    if is_single(last):
        return Phrase(tuple(words), is_open=True)
    # A sign behind a word ends it: `100%` is not the beginning of 1000.
    return Phrase(tuple(words), is_open=not is_whole and len(last) > 1 and said[-1:].isalnum())


def _is_unspaced(pair: str) -> bool:
    return all(is_single(char) for char in pair)
