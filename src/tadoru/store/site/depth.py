"""How many clicks away from the start each page is, over everything that a crawl follows. A redirect costs no click."""

from __future__ import annotations

import numpy as np

from tadoru.store.base import UNLINKED
from tadoru.store.site.arrays import Flags, Ids, Numbers
from tadoru.store.site.links import AT_A_TIME, Links
from tadoru.store.site.pages import Pages
from tadoru.store.site.verdicts import State


def depths(pages: Pages, links: Links, named: Flags) -> Ids:
    """The depth of every known URL. `named`: by a sitemap.

    What no link leads to is UNLINKED; behind a page that only a sitemap names, it goes on from there.
    """
    found = np.full(len(pages), -1, np.int32)
    walk = _Walk(pages, links, found)
    walk.spread(np.flatnonzero(pages.root).astype(np.int32), 0, UNLINKED - 1)
    walk.spread(np.flatnonzero(named & (found < 0)).astype(np.int32), UNLINKED, 2**31 - 2)
    found[found < 0] = UNLINKED
    return found


class _Walk:
    """Breadth first, a whole level at a time."""

    def __init__(self, pages: Pages, links: Links, found: Ids) -> None:
        self._links = links
        self._found = found
        self._redirect = np.where(pages.state == State.COMPLETED, pages.redirect, 0).astype(np.int32)

    def spread(self, level: Ids, depth: int, deepest: int) -> None:
        """From these pages on; nothing is said to be deeper than `deepest`."""
        while len(level):
            level = self._with_redirects(level, depth)
            depth = min(depth + 1, deepest)
            level = self._beyond(level)

    def _with_redirects(self, level: Ids, depth: int) -> Ids:
        """The pages of a level, those they redirect to among them."""
        parts = []
        while len(level):
            self._found[level] = depth
            parts.append(level)
            onward = self._redirect[level]
            onward = np.unique(onward[onward > 0])
            level = onward[self._found[onward] < 0]
        return np.concatenate(parts)

    def _beyond(self, level: Ids) -> Ids:
        """Where the links of a level lead that was not found yet."""
        starts = self._links.starts
        counts = starts[level + 1] - starts[level]
        found: list[Ids] = []
        for some in np.split(np.arange(len(level)), np.flatnonzero(np.diff(np.cumsum(counts) // AT_A_TIME)) + 1):
            targets = self._targets(level[some], counts[some])
            found.append(np.unique(targets[self._found[targets] < 0]))
        return np.unique(np.concatenate(found)) if len(found) > 1 else found[0]

    def _targets(self, level: Ids, counts: Numbers) -> Ids:
        # The positions of all links of the level: each run counts on from its own start.
        ends = np.cumsum(counts)
        if not ends[-1]:
            return np.zeros(0, np.int32)
        positions = np.arange(ends[-1]) + np.repeat(self._links.starts[level] - (ends - counts), counts)
        found: Ids = self._links.targets[positions]
        return found
