"""Paths through a site: the ends of redirect and canonical chains, and the click depth of every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tadoru.store.crawl.records import UNLINKED
from tadoru.store.crawl.site.arrays import Flags, Ids, Numbers, UrlState
from tadoru.store.crawl.site.links import AT_A_TIME, SiteLinks

if TYPE_CHECKING:
    from tadoru.store.crawl.site.pages import SitePages


@dataclass(frozen=True, slots=True)
class ChainEnds:
    """Where steps lead, by page id."""

    end: Ids
    """The last page of the chain; the page itself when it leads nowhere; some page of the loop when it leads into one."""
    steps: Ids
    """How many steps it takes; meaningless for a loop."""
    looping: Flags
    """It leads into a loop, or is on one."""


def ends(step: Ids) -> ChainEnds:
    """`step` is the next page for each page, 0 or less for none."""
    everyone = np.arange(len(step), dtype=np.int32)
    leads_on: Flags = step > 0
    to = np.where(leads_on, step, everyone)
    steps = leads_on.astype(np.int32)
    # No chain without a loop is longer than there are pages that lead on.
    longest, stride = int(steps.sum()), 1
    while stride <= longest:
        onward = to[to]
        if (onward == to).all():
            break
        steps = steps + steps[to]
        to = onward
        stride *= 2
    # Who is still at a page that leads on, after more steps than any chain has, is in a loop.
    return ChainEnds(to, steps, leads_on[to])


def path(step: Ids, start: int, most: int) -> list[int]:
    """The pages from one on, without itself, up to so many; a loop is left when it closes."""
    found: list[int] = []
    seen = {start}
    at = int(step[start])
    while at > 0 and len(found) < most:
        found.append(at)
        if at in seen:
            break
        seen.add(at)
        at = int(step[at])
    return found


def on_loop(step: Ids) -> Flags:
    """Pages that steps lead back to. Where everybody in a loop is after very many steps, are the pages of the loop."""
    found = ends(step)
    there = np.zeros(len(step), np.bool_)
    there[found.end[found.looping]] = True
    there &= step != np.arange(len(step))
    return there


def depths(pages: SitePages, links: SiteLinks, named: Flags) -> Ids:
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

    def __init__(self, pages: SitePages, links: SiteLinks, found: Ids) -> None:
        self._links = links
        self._found = found
        self._redirect = np.where(pages.state == UrlState.COMPLETED, pages.redirect, 0).astype(np.int32)

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
