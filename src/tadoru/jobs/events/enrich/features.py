"""Texts as numbers: runs of letters, hashed into a fixed number of places.

Runs of letters need no words, so that Japanese, which writes none apart, is read as well as Western text. One or two signs of
Japanese mean something, and longer runs only repeat one municipality's phrases (measured in `bench/EVENTS.md`); Western letters
mean something from three on. Hashing keeps a model small and needs no vocabulary; the hash is our own arithmetic, and the same on
every machine.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tadoru.parse.normal_text import plain_text

BITS = 15
PLACES = 1 << BITS
"""Into which letter runs are hashed."""
LONGEST_RUN, LONGEST_NARROW_RUN = 2, 4
MOST_LETTERS = 2_000
"""Of a description: what an event is about is said at its beginning."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
_STEP, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_WIDE = np.uint64(0x2E80)
"""From here on come the scripts of East Asia, whose signs are more than sounds."""


class Texts(NamedTuple):
    """What is read of an event."""

    title: str
    venue: str = ""
    description: str = ""
    """Plain text or HTML."""


class Matrix(NamedTuple):
    """The features of many events, row after row."""

    starts: Ints
    """Where each row begins, and at last where the last one ends."""
    places: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, number: int) -> tuple[Ints, Floats]:
        part = slice(self.starts[number], self.starts[number + 1])
        return self.places[part], self.values[part]

    def rows(self, numbers: Ints) -> Matrix:
        """Only these."""
        every = [self.row(int(number)) for number in numbers]
        return stack([places for places, _ in every], [values for _, values in every])


def stack(places: Sequence[Ints], values: Sequence[Floats]) -> Matrix:
    """A matrix of rows."""
    starts = np.zeros(len(places) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in places], out=starts[1:])
    none: Any = np.zeros(0)
    return Matrix(starts, np.concatenate([*places, none.astype(np.int64)]), np.concatenate([*values, none.astype(np.float32)]))


def read(texts: Sequence[Texts]) -> Matrix:
    """Count the letter runs of each event; a run that comes again counts less each time."""
    places, values = [], []
    for one in texts:
        found, counts = np.unique(_places(one), return_counts=True)
        places.append(found)
        values.append((1 + np.log(counts)).astype(np.float32))
    return stack(places, values)


def _places(texts: Texts) -> Ints:
    """The places of all its letter runs; those of the title twice, which says most."""
    title = _runs(_letters(texts.title))
    rest = (texts.venue, plain_text(texts.description)[:MOST_LETTERS])
    return np.concatenate([title, title, *(_runs(_letters(part)) for part in rest)])


def _letters(text: str) -> NDArray[np.uint64]:
    """The code points of a text in one width and case, with a space at both ends."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if not folded:
        return np.zeros(0, dtype=np.uint64)
    return np.frombuffer(f" {folded} ".encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _runs(letters: NDArray[np.uint64]) -> Ints:
    """The places of every run of letters."""
    found = [np.zeros(0, dtype=np.int64)]
    hashed, is_narrow = np.ones(len(letters), dtype=np.uint64), letters < _WIDE
    narrow = is_narrow
    for length in range(1, min(LONGEST_NARROW_RUN, len(letters)) + 1):
        count = len(letters) - length + 1
        # Numbers of 64 bits that overflow: that is the mixing.
        hashed = (hashed[:count] + letters[length - 1 :]) * _STEP
        hashed ^= hashed >> np.uint64(32)
        narrow = narrow[:count] & is_narrow[length - 1 :]
        places = ((hashed * _MIX) >> np.uint64(64 - BITS)).astype(np.int64)
        found.append(places if length <= LONGEST_RUN else places[narrow])
    return np.concatenate(found)
