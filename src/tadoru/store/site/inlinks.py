"""Who leads to each page, and which pages hold links of a kind: one pass over all links answers every question about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tadoru.store.site.arrays import Flags, Gather, Ids
from tadoru.store.site.links import OTHER, Links
from tadoru.store.site.pages import Pages


@dataclass(frozen=True)
class Inlinks:
    """By page id. A page's links to itself do not count."""

    unique: Ids
    """How many pages of the site link to it."""
    single: Ids
    """The page that does, where it is one."""
    from_indexable: Flags
    """Some page that search engines may show links to it."""


@dataclass(frozen=True)
class Wanted:
    """Links to ask for: those that lead to certain pages."""

    targets: Flags
    by_target: bool = False
    """Gather the sources of each target; otherwise the targets of each source."""


def look_through(pages: Pages, links: Links, wanted: Mapping[str, Wanted]) -> tuple[Inlinks, dict[str, Gather]]:
    """The in-links of every page, and what was asked for, under the same names."""
    size = len(pages)
    unique, single = np.zeros(size, np.int32), np.zeros(size, np.int32)
    indexable = np.zeros(size, np.bool_)
    found = {name: Gather(pages.place, pages.by_place) for name in wanted}
    for portion in links.portions():
        plain = portion[2] != OTHER
        sources, targets = portion[0][plain], portion[1][plain]
        unique += np.bincount(targets, minlength=size).astype(np.int32)
        single[targets] = sources
        indexable[targets[pages.indexable[sources]]] = True
        for name, ask in wanted.items():
            hit = ask.targets[targets]
            pair = (targets[hit], sources[hit]) if ask.by_target else (sources[hit], targets[hit])
            found[name].add(*pair)
    single[unique != 1] = 0
    return Inlinks(unique, single, indexable), found
