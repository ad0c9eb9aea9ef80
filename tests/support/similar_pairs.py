"""Which texts are alike, pair by pair: the plain way that the quick one over arrays is held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tadoru.rules.minhash import BINS, ROWS, similarity


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
