"""Similarity of texts: a MinHash sketch of 128 bytes for each text, and keys that find likely pairs in linear time.

A text is the set of its shingles: three words that follow each other, as one hash. The sketch is a one-permutation MinHash: the
hash of a shingle chooses one of 128 bins, and each bin keeps one byte of its smallest hash. The share of equal bins estimates the
Jaccard similarity of the sets of shingles: at 90 % within three points. Two texts of that similarity share a band key with a
probability of over 99.9 %, two of 50 % with 6 %.

Every page of a crawl passes through `shingles` and `sketch`, so they work on arrays. `parse.content` extracts the words of a
page.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

BINS = 128
ROWS = 8
"""Bins in a band: eight bytes are a key."""
MIN_SHINGLES = 20
"""Texts with fewer shingles have no sketch: they would be similar by chance."""
MAX_WORDS = 20_000
"""Maximum words of a text that are used."""

_SHORT = 3
_UNSPACED = 0xE3
"""Words that start with this byte or a higher one are in a script with short words, such as Chinese and Japanese."""
_FIRST_BIN_KEYS = np.arange(BINS, dtype=np.uint32) << 25
_WIDE = 8
"""Bytes that fit into one number."""
_BEGINNING = np.array([(1 << 8 * min(length, _WIDE)) - 1 for length in range(_WIDE + 2)], np.uint64)
_END = np.array([0] * (_WIDE + 1) + [2**64 - 1], np.uint64)
"""For each length up to nine bytes: masks for the first eight bytes of a word, and for its last eight when it is longer."""
# Odd numbers with as many ones as zeros in no order, as multipliers of a hash need.
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xFF51AFD7ED558CCD)


def shingles(text: bytes) -> NDArray[np.uint32]:
    """32-bit hashes of each three consecutive words, without short words, which carry little meaning.

    The words are separated by one space. Of a word longer than 16 bytes the start, the end and the length count.
    """
    data = bytes(_WIDE) + text + b" " + bytes(_WIDE)
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == ord(" "))[:MAX_WORDS]
    starts = np.append(_WIDE, ends[:-1] + 1)
    significant = (ends - starts > _SHORT) | (letters[starts] >= _UNSPACED)
    starts, ends = starts.compress(significant), ends.compress(significant)
    lengths = ends - starts
    short = np.minimum(lengths, _WIDE + 1)
    # All sequences of eight bytes, as numbers.
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
    # The lowest bits choose the bin. Moved to the front they sort the values by bin, and within each bin by size.
    keys = np.sort(values << 25 | values >> 7)
    if len(keys) < MIN_SHINGLES or np.count_nonzero(keys[1:] != keys[:-1]) < MIN_SHINGLES - 1:
        return b""
    smallest = keys[np.minimum(np.searchsorted(keys, _FIRST_BIN_KEYS), len(keys) - 1)]
    filled = frozenset(np.flatnonzero(smallest >> 25 == np.arange(BINS)).tolist())
    made = smallest.astype(np.uint8).tobytes()
    return made if len(filled) == BINS else bytes([made[_filled_bin(at, filled)] for at in range(BINS)])


def _filled_bin(at: int, filled: frozenset[int]) -> int:
    """The bin that an empty one is filled from: the same for all texts with the same filled bins up to it."""
    probe = at
    while probe not in filled:
        # A full cycle over the bins (5 - 1 is divisible by 4), with a different order for each start.
        probe = (5 * probe + 2 * at + 1) % BINS
    return probe


def similarity(one: bytes, other: bytes) -> float:
    """The estimated share of common shingles of two texts, from 0 to 1."""
    if not one or not other:
        return 0.0
    equal_share = sum(map(int.__eq__, one, other)) / BINS
    # One byte is equal by chance in one of 256 cases.
    return max(0.0, (equal_share - 1 / 256) / (1 - 1 / 256))
