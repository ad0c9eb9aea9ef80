"""The kinds of arrays that a site is made of, and gathering pairs of pages into a count and a few examples for each page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
"""Page ids; 0 is no page."""
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

EXAMPLES = 5
"""How many of the others a finding names."""


class Gathered(NamedTuple):
    """A page, how many others belong to it, and the first of them by URL."""

    page: int
    total: int
    examples: tuple[int, ...]


class Gather:
    """Pairs (page, other), given in any number of portions. What is kept does not grow with the pairs, only with the pages.

    The examples are the first by URL, because ids depend on the order in which a crawl happened to go.
    """

    def __init__(self, place: Ids, by_place: Ids) -> None:
        """`place`: the place of each other in the order of URLs; `by_place`: who has it."""
        self._place = place
        self._by_place = by_place
        self._counts = np.zeros(len(place), np.int32)
        self._best: Numbers = np.zeros(0, np.int64)

    def add(self, pages: NDArray[Any], others: NDArray[Any]) -> None:
        """Each pair once: pairs are counted, not compared."""
        if not len(pages):
            return
        self._counts += np.bincount(pages, minlength=len(self._counts)).astype(np.int32)
        keys = pages.astype(np.int64) << 32 | self._place[others]
        keys = np.sort(np.concatenate([self._best, keys]))
        self._best = keys[_rank_in_run(keys >> 32) < EXAMPLES]

    def rows(self) -> Iterator[Gathered]:
        """By page id."""
        pages = self._best >> 32
        others = self._by_place[self._best & 0xFFFFFFFF].tolist()
        for start, stop in runs(pages):
            page = int(pages[start])
            yield Gathered(page, int(self._counts[page]), tuple(others[start:stop]))


def starts_of_runs(keys: NDArray[Any]) -> Numbers:
    """Where, in a sorted array, each value begins."""
    new = np.ones(len(keys), np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(new)


def runs(keys: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """(start, stop) of each value of a sorted array."""
    starts: list[int] = starts_of_runs(keys).tolist()
    return zip(starts, [*starts[1:], len(keys)][: len(starts)], strict=True)


def _rank_in_run(keys: NDArray[Any]) -> Numbers:
    """0, 1, 2, ... within each run of equal keys."""
    starts = starts_of_runs(keys)
    return np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
