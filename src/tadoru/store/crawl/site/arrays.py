"""Array types of a site, codes for the state of a URL, and grouping of page pairs into counts and examples."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
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


class PairGroups(NamedTuple):
    """A page, the number of others in its group, and the first of them by URL."""

    page: int
    total: int
    examples: tuple[int, ...]


class PairCollector:
    """Collects pairs (page, other) in any number of portions; memory grows with pages, not with pairs.

    Examples are the first by URL, because ids depend on the order of the crawl.
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

    def rows(self) -> Iterator[PairGroups]:
        """By page id."""
        pages = self._best >> 32
        others = self._by_place[self._best & 0xFFFFFFFF].tolist()
        for start, stop in runs(pages):
            page = int(pages[start])
            yield PairGroups(page, int(self._counts[page]), tuple(others[start:stop]))


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


REFUSED_CODES = (401, 403, 407, 429, 451, 999)
"""A refusal of us: the page itself may be fine for a visitor."""
PERMANENT = (301, 308)


class UrlState(IntEnum):
    """The state of a URL, as far as checks need it."""

    UNASKED = 0
    """Known, and not to be requested."""
    COMPLETED = 1
    ERROR = 2
    FORBIDDEN = 3
    """By robots.txt."""
    SKIPPED = 4
    """For a reason of this crawl: depth, patterns, a trap."""
    WAITING = 5


class UrlVerdict(IntEnum):
    """Whether a URL is a valid target of a link or an annotation."""

    UNKNOWN = 0
    """It was not requested, or too large to be read."""
    GOOD = 1
    NOINDEX = 2
    CANONICALISED = 3
    REDIRECT = 4
    BROKEN = 5
    REFUSED = 6
    FORBIDDEN = 7
