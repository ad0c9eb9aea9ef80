"""How alike two texts are: a sketch of each in 128 bytes, and keys by which likely pairs are found in linear time.

A text is the set of its shingles: three words that follow each other, as one hash. The sketch is a one-permutation MinHash: the
hash of a shingle chooses one of 128 bins, and each bin keeps one byte of its smallest hash. The share of bins that agree
estimates the Jaccard similarity of the sets of shingles: at 90 % within three points. Two texts of that likeness share a band key
with a probability of over 99.9 %, two of 50 % with 6 %.

Every page of a crawl passes through `shingles` and `sketch`, so they work on arrays. What the words of a page are is said in
`parse.content`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

BINS = 128
ROWS = 8
"""Bins in a band: eight bytes make a key."""
FEWEST = 20
"""Texts of fewer shingles have no sketch: a handful of words is alike by chance."""
MOST_WORDS = 20_000
"""Words of a text that are looked at."""

_SHORT = 3
_UNSPACED = 0xE3
"""Words that begin with this byte or a higher one are in a script whose words are short, as Chinese and Japanese."""
_FIRST_BIN_KEYS = np.arange(BINS, dtype=np.uint32) << 25
_WIDE = 8
"""Bytes that fit into one number."""
_BEGINNING = np.array([(1 << 8 * min(length, _WIDE)) - 1 for length in range(_WIDE + 2)], np.uint64)
_END = np.array([0] * (_WIDE + 1) + [2**64 - 1], np.uint64)
"""For each length up to nine bytes: what belongs to a word of the eight bytes from its start, and of those before its end when it
has more than eight."""
# Odd, with as many ones as zeros, in no order: what multipliers of a hash have to be.
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xFF51AFD7ED558CCD)


def shingles(text: bytes) -> NDArray[np.uint32]:
    """32-bit hashes of each three words that follow each other; short ones, half of a text, say little and are left out.

    The words are separated by one space. Of a word longer than 16 bytes its beginning, its end and its length count.
    """
    data = bytes(_WIDE) + text + b" " + bytes(_WIDE)
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == ord(" "))[:MOST_WORDS]
    starts = np.append(_WIDE, ends[:-1] + 1)
    telling = (ends - starts > _SHORT) | (letters[starts] >= _UNSPACED)
    starts, ends = starts.compress(telling), ends.compress(telling)
    lengths = ends - starts
    short = np.minimum(lengths, _WIDE + 1)
    # Every eight bytes that follow each other, as numbers.
    windows = np.ndarray(len(data) - _WIDE + 1, "<u8", data, strides=(1,))
    words = (windows[starts] & _BEGINNING[short]) * _MIX[0]
    words += (windows[ends - _WIDE] & _END[short]) * _MIX[1] + lengths.astype(np.uint64) * _MIX[2]
    words ^= words >> 32
    found = words[:-2] * _MIX[1] + words[1:-1] * _MIX[2] + words[2:] * _MIX[3]
    found ^= found >> 29
    hashes: NDArray[np.uint32] = (found * _MIX[0] >> 32).astype(np.uint32)
    return hashes


def sketch(shingles: Iterable[int] | NDArray[np.uint32]) -> bytes:
    """The sketch of a text, given 32-bit hashes of its shingles; empty when there are too few."""
    values = shingles if isinstance(shingles, np.ndarray) else np.fromiter(shingles, np.uint32)
    # The lowest bits choose the bin. In front of the others they sort the values by bin, and within each by size.
    keys = np.sort(values << 25 | values >> 7)
    if len(keys) < FEWEST or np.count_nonzero(keys[1:] != keys[:-1]) < FEWEST - 1:
        return b""
    smallest = keys[np.minimum(np.searchsorted(keys, _FIRST_BIN_KEYS), len(keys) - 1)]
    filled = frozenset(np.flatnonzero(smallest >> 25 == np.arange(BINS)).tolist())
    made = smallest.astype(np.uint8).tobytes()
    return made if len(filled) == BINS else bytes([made[_filled(at, filled)] for at in range(BINS)])


def _filled(at: int, filled: frozenset[int]) -> int:
    """The bin an empty one borrows from: the same for all texts in which that one is filled and those before it are not."""
    probe = at
    while probe not in filled:
        # A full cycle over the bins (5 - 1 is divisible by 4), other than stepping to the neighbour for every start alike.
        probe = (5 * probe + 2 * at + 1) % BINS
    return probe


def similarity(one: bytes, other: bytes) -> float:
    """The estimated share of shingles that two texts have in common, from 0 to 1."""
    if not one or not other:
        return 0.0
    agreeing = sum(map(int.__eq__, one, other)) / BINS
    # One byte agrees by chance in one of 256 cases.
    return max(0.0, (agreeing - 1 / 256) / (1 - 1 / 256))
