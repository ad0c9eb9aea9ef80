"""Paths through a site: the ends of redirect and canonical chains, the click depth of every page, and its link score.

The link score says how much weight the links of a site give to each of its pages: PageRank with a damping of 0.85 over the pages
of the site. What counts is who links to whom, each pair once, and only within the site. As with search engines: a link that is
not to be followed takes its share of the weight and gives it to nobody; a link to a page that redirects, or names another page as
its canonical, is a link to that one, and such a page gives all it has to it. What is given to nobody, or by pages without links,
is spread over all pages. It ends when a round moves less than 1e-9 of the weight, or after 60 rounds. Weights differ by orders of
magnitude, so the score is their logarithm: 0 for a page that nobody links to, 100 for the strongest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tadoru.store.crawl.records import UNLINKED
from tadoru.store.crawl.site.arrays import Bytes, Flags, Floats, Ids, Numbers, UrlState, UrlVerdict
from tadoru.store.crawl.site.links import AT_A_TIME, FOLLOWED, OTHER, SiteLinks

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


DAMPING = 0.85
CLOSE_ENOUGH = 1e-9
MOST_ROUNDS = 60


def link_scores(pages: SitePages, links: SiteLinks) -> Floats:
    """0 to 100 by page id; NaN for what is no page of the site by itself."""
    final = representatives(pages)
    nodes = pages.internal & (final == np.arange(len(pages)))
    scores = np.full(len(pages), np.nan)
    if nodes.any():
        weights, least = _Ranking(pages, links, final, nodes).weights()
        scores[nodes] = _scaled(weights[nodes], least)
    return scores


def representatives(pages: SitePages) -> Ids:
    """For each page the one that gets its weight: where redirects and canonicals end. A loop of them has none but itself."""
    onward = np.where(pages.redirect > 0, pages.redirect, np.where(pages.why == UrlVerdict.CANONICALISED, pages.canonical, 0))
    onward = np.where(pages.internal, onward, 0).astype(np.int32)
    # What leads away from the site stays with the page.
    onward = np.where((onward > 0) & pages.internal[np.maximum(onward, 0)], onward, 0).astype(np.int32)
    found = ends(onward)
    return np.where(found.looping, np.arange(len(pages)), found.end).astype(np.int32)


class _Ranking:
    """The links that carry weight, and the rounds over them."""

    def __init__(self, pages: SitePages, links: SiteLinks, final: Ids, nodes: Flags) -> None:
        self._nodes = nodes
        self._count = int(nodes.sum())
        size = len(pages)
        shares = np.zeros(size, np.int64)
        """Among how many pages each page divides its weight, those included that get none."""
        degrees = np.zeros(size, np.int64)
        parts = []
        for sources, targets, kinds in links.portions():
            onward = final[targets]
            counts = nodes[sources] & nodes[onward] & (onward != sources) & (kinds != OTHER)
            if (onward != targets).any():
                counts &= _first_of_each(sources, onward, kinds)
            shares += np.bincount(sources[counts], minlength=size)
            carries = counts & (kinds == FOLLOWED) & ~pages.nofollow[sources]
            degrees += np.bincount(sources[carries], minlength=size)
            parts.append(onward[carries])
        self._targets = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        self._starts = np.concatenate([[0], np.cumsum(degrees)])
        self._degrees = degrees
        self._given = np.divide(1.0, shares, out=np.zeros(size), where=shares > 0)

    def weights(self) -> tuple[Floats, float]:
        """The weight of each page, together 1; and that of a page which nobody links to."""
        nodes, count = self._nodes, self._count
        weight = nodes / count
        least = 1.0 / count
        for _ in range(MOST_ROUNDS):
            received = self._received(weight * self._given)
            least = (1.0 - DAMPING * float(received.sum())) / count
            fresh = nodes * least + DAMPING * received
            moved = float(np.abs(fresh - weight).sum())
            weight = fresh
            if moved < CLOSE_ENOUGH:
                break
        return weight, least

    def _received(self, given: Floats) -> Floats:
        total = np.zeros(len(given))
        first, pages = 0, len(given)
        while first < pages:
            last = int(np.searchsorted(self._starts, self._starts[first] + AT_A_TIME, "right")) - 1
            last = min(max(last, first + 1), pages)
            here = slice(int(self._starts[first]), int(self._starts[last]))
            if here.stop > here.start:
                carried = np.repeat(given[first:last], self._degrees[first:last])
                total += np.bincount(self._targets[here], weights=carried, minlength=pages)
            first = last
        return total


def _first_of_each(sources: Ids, targets: Ids, kinds: Bytes) -> Flags:
    """One link of each pair, the one that is followed if there is one: two links may come to the same page by a redirect."""
    order = np.lexsort((kinds, targets, sources))
    first = np.ones(len(order), np.bool_)
    first[1:] = (sources[order][1:] != sources[order][:-1]) | (targets[order][1:] != targets[order][:-1])
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[first]] = True
    return chosen


def _scaled(weights: Floats, least: float) -> Floats:
    """Logarithms, 0 to 100."""
    most = float(weights.max())
    if most <= least * (1 + 1e-9):
        return np.zeros(len(weights))
    return np.asarray(np.round(100 * np.log(np.maximum(weights / least, 1.0)) / np.log(most / least), 2))
