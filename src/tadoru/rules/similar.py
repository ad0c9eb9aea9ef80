"""How alike two texts are: a sketch of each in 128 bytes, and keys by which likely pairs are found in linear time.

The sketch is a one-permutation MinHash: every shingle is hashed once, its hash chooses one of 128 bins, and each bin keeps one
byte of its smallest hash. The share of bins that agree estimates the Jaccard similarity of the sets of shingles: at 90 % within
three points. Two texts of that likeness share a band key with a probability of over 99.9 %, two of 50 % with 6 %.

What the shingles of a page are is said in `parse.content`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

BINS = 128
ROWS = 8
"""Bins in a band: eight bytes make a key."""
FEWEST = 20
"""Texts of fewer shingles have no sketch: a handful of words is alike by chance."""
_ENOUGH = 12
"""How many values a bin is left with, on average, so that hardly ever one is left with none."""


def sketch(shingles: Iterable[int]) -> bytes:
    """The sketch of a text, given 32-bit hashes of its shingles; empty when there are too few."""
    distinct = set(shingles)
    if len(distinct) < FEWEST:
        return b""
    # Of a long text only the small ones matter: the others would be sorted for nothing.
    cut = 2**32 * _ENOUGH * BINS // len(distinct)
    smallest = _by_bin([value for value in distinct if value < cut] if cut < 2**31 else distinct)
    if len(smallest) < BINS and cut < 2**31:
        smallest = _by_bin(distinct)
    if len(smallest) < BINS:
        smallest = {at: smallest[_filled(at, smallest)] for at in range(BINS)}
    return bytes([smallest[at] >> 7 & 0xFF for at in range(BINS)])


def _by_bin(values: Iterable[int]) -> dict[int, int]:
    """The smallest of each bin. The lowest bits choose the bin; in falling order the last one written to it is the smallest."""
    return {value & 127: value for value in sorted(values, reverse=True)}


def _filled(at: int, smallest: dict[int, int]) -> int:
    """The bin an empty one borrows from: the same for all texts in which that one is filled and those before it are not."""
    probe = at
    while probe not in smallest:
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


def band_keys(one: bytes) -> tuple[int, ...]:
    """Signed 64-bit keys, one for each band: texts that share a key in the same band are worth comparing."""
    return tuple(int.from_bytes(one[at : at + ROWS], "big", signed=True) for at in range(0, len(one), ROWS))


def similar_pairs(sketches: Sequence[bytes], at_least: float = 0.9) -> Iterator[tuple[int, int, float]]:
    """(index, index, similarity) of likely pairs, each once. A text is compared with the first of each bucket it falls into,
    so that a thousand copies of one page cost a thousand comparisons, and still hang together as one cluster."""
    seen: set[tuple[int, int]] = set()
    for band in range(BINS // ROWS):
        first: dict[bytes, int] = {}
        for index, one in enumerate(sketches):
            if not one:
                continue
            leader = first.setdefault(one[band * ROWS : (band + 1) * ROWS], index)
            if leader == index or (leader, index) in seen:
                continue
            seen.add((leader, index))
            alike = similarity(sketches[leader], one)
            if alike >= at_least:
                yield leader, index, alike
