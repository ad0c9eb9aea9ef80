"""Duplicate pages: exact, by equal values, and near, by their sketches (`rules.minhash`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import eq

import numpy as np
from numpy.typing import NDArray

from tadoru.rules.minhash import BINS, ROWS
from tadoru.store.crawl.site.arrays import EXAMPLES, Flags, Ids, Numbers, PairGroups, runs, starts_of_runs
from tadoru.store.crawl.site.pages import FEWEST_WORDS, ContentSketches, SitePages

_AT_A_TIME = 50_000
_BY_CHANCE = 1 / 256
"""How often one byte of two sketches agrees without a reason."""


def equals(values: Numbers, among: Flags, place: Ids) -> Iterator[list[int]]:
    """The groups of pages that have the same value other than 0, each in the order of their URLs."""
    ids = np.flatnonzero(among & (values != 0))
    order = np.lexsort((place[ids], values[ids]))
    ids, kept = ids[order], values[ids][order]
    for start, stop in runs(kept):
        if stop - start > 1:
            group: list[int] = ids[start:stop].tolist()
            yield group


def others(group: list[int], *relations: list[int]) -> Iterator[PairGroups]:
    """Each page of a group with those it is not related to: translations of a page, say, or its exact copies.

    A relation is a value for each page of the group; those with equal values are related.
    """
    kin = list(zip(*relations, strict=True))
    alone = [Counter(relation) for relation in relations]
    both = Counter(kin)
    strangers = _strangers(group, kin)
    for page, mine in zip(group, kin, strict=True):
        related = sum(counts[value] for counts, value in zip(alone, mine, strict=True))
        if len(mine) > 1:
            related -= both[mine]
        if related < len(group):
            shown = [other for other, theirs in strangers if not any(map(eq, mine, theirs))]
            # Those that stand for all may each be related to this page in a way of their own.
            shown = shown or [next(other for other, theirs in zip(group, kin, strict=True) if not any(map(eq, mine, theirs)))]
            yield PairGroups(page, len(group) - related, tuple(shown[:EXAMPLES]))


def _strangers(group: list[int], kin: list[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """The first pages of a group of which no two are related: enough to show each page some others."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for page, mine in zip(group, kin, strict=True):
        if not any(any(map(eq, mine, theirs)) for _, theirs in found):
            found.append((page, mine))
            if len(found) == EXAMPLES + len(mine):
                break
    return found


def near_clusters(pages: SitePages, sketches: ContentSketches, at_least: float) -> Ids:
    """For each page the smallest id in its cluster of near duplicates; 0 when it is in none.

    Of exact copies one stands for all. A page is compared with the first of each bucket it falls into, so that a hundred thousand
    pages of one kind cost a hundred thousand comparisons and hang together as one cluster.
    """
    found = np.zeros(len(pages), np.int32)
    wanted = pages.candidates[sketches.pages] & (pages.words[sketches.pages] >= FEWEST_WORDS)
    rows = np.flatnonzero(wanted)
    if len(rows) < 2:
        return found
    rows = rows[np.argsort(pages.place[sketches.pages[rows]], kind="stable")]
    ids = sketches.pages[rows]
    _, first, copy_of = np.unique(pages.content[ids], return_index=True, return_inverse=True)
    # In the order of their URLs again: `unique` sorts by the value.
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    labels = group_labels(sketches.rows, rows[first[order]], at_least)[rank[copy_of]]
    smallest = np.full(len(rows), np.iinfo(np.int32).max, np.int32)
    np.minimum.at(smallest, labels, ids)
    sizes = np.bincount(labels, minlength=len(rows))
    together = sizes[labels] > 1
    found[ids[together]] = smallest[labels[together]]
    return found


def group_labels(sketches: NDArray[np.uint8], rows: Numbers, at_least: float) -> Numbers:
    """For each of these rows the first one of its cluster, by position."""
    bands = sketches.view(np.uint64)
    parent = np.arange(len(rows))
    for band in range(BINS // ROWS):
        keys = bands[rows, band]
        order = np.argsort(keys, kind="stable")
        starts = starts_of_runs(keys[order])
        leaders = np.repeat(order[starts], np.diff(np.append(starts, len(order))))
        parent = _compressed(parent)
        apart = parent[leaders] != parent[order]
        leaders, members = leaders[apart], order[apart]
        close = _alike(sketches, rows[leaders], rows[members]) >= at_least
        _join(parent, leaders[close].tolist(), members[close].tolist())
    return _compressed(parent)


def _alike(sketches: NDArray[np.uint8], some: Numbers, others: Numbers) -> NDArray[np.float64]:
    """The estimated similarity of each pair: what `rules.minhash.similarity` says of one."""
    found = np.empty(len(some))
    for at in range(0, len(some), _AT_A_TIME):
        here = slice(at, at + _AT_A_TIME)
        found[here] = (sketches[some[here]] == sketches[others[here]]).mean(axis=1)
    return np.maximum(0.0, (found - _BY_CHANCE) / (1 - _BY_CHANCE))


def _compressed(parent: Numbers) -> Numbers:
    while True:
        higher = parent[parent]
        if (higher == parent).all():
            return parent
        parent = higher


def _join(parent: Numbers, some: list[int], others: list[int]) -> None:
    for one, other in zip(some, others, strict=True):
        first, second = _root(parent, one), _root(parent, other)
        if first != second:
            parent[max(first, second)] = min(first, second)


def _root(parent: Numbers, at: int) -> int:
    while (higher := int(parent[at])) != at:
        parent[at] = parent[higher]
        at = higher
    return at
