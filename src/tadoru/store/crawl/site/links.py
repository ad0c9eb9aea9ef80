"""Every link of a crawl as arrays: each pair of source and target once, and queries over inlinks in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tadoru.store.crawl.connection import SqlConnection, SqlDialect
from tadoru.store.crawl.site.arrays import Bytes, Flags, Ids, Numbers, PairCollector, UrlState

if TYPE_CHECKING:
    from tadoru.store.crawl.site.pages import SitePages


@dataclass(frozen=True)
class InlinkExamples:
    """By page id. A page's links to itself do not count."""

    unique: Ids
    """How many pages of the site link to it."""
    single: Ids
    """The page that does, where it is one."""
    from_indexable: Flags
    """Some page that search engines may show links to it."""


def look_through(
    pages: SitePages, links: SiteLinks, wanted: Mapping[str, Flags]
) -> tuple[InlinkExamples, dict[str, PairCollector]]:
    """The in-links of every page, and for each name the pages that link to pages of which this is so."""
    size = len(pages)
    unique, single = np.zeros(size, np.int32), np.zeros(size, np.int32)
    indexable = np.zeros(size, np.bool_)
    found = {name: PairCollector(pages.place, pages.by_place) for name in wanted}
    for portion in links.portions():
        plain = portion[2] != OTHER
        sources, targets = portion[0][plain], portion[1][plain]
        unique += np.bincount(targets, minlength=size).astype(np.int32)
        single[targets] = sources
        indexable[targets[pages.indexable[sources]]] = True
        for name, flags in wanted.items():
            hit = flags[targets]
            found[name].add(sources[hit], targets[hit])
    single[unique != 1] = 0
    return InlinkExamples(unique, single, indexable), found


AT_A_TIME = 400_000
FOLLOWED, UNFOLLOWED, OTHER = 0, 1, 2
"""An ordinary link; one that asks not to be followed; something else that leads on, such as a refresh."""

_UNFOLLOWED = ("nofollow", "ugc", "sponsored")
"""Search engines take the others for `nofollow`. A rel value is stored in lower case, with single spaces."""
# Most texts are no rel values: they are sorted out by a look that is cheaper than the exact one.
_MAYBE = " OR ".join(f"text {{like}} '%{word}%'" for word in _UNFOLLOWED)
_EXACTLY = " OR ".join(f"' ' || text || ' ' {{like}} '% {word} %'" for word in _UNFOLLOWED)
# One number a link: reading twenty million rows of several values would take three times as long.
_LINKS = f"""SELECT (source_id << 33) | (target_id << 2) | CASE WHEN kind = 'a' OR kind = 'area'
    THEN CASE WHEN rel_id <> 0 AND rel_id IN (SELECT id FROM texts WHERE ({_MAYBE}) AND ({_EXACTLY}))
        THEN {UNFOLLOWED} ELSE {FOLLOWED} END
    ELSE {OTHER} END
    FROM link_relations ORDER BY source_id"""


@dataclass(frozen=True)
class SiteLinks:
    """Links between known URLs, without those of a page to itself; of several from one page to another the best counts."""

    starts: Numbers
    """The links of page `p` are those from `starts[p]` up to `starts[p + 1]`."""
    targets: Ids
    kinds: Bytes
    inlinks: Ids
    """Ordinary links to a page, all of them counted."""
    outlinks: Ids
    """To pages of the site."""
    external_outlinks: Ids
    has_followed: Flags
    """Some page of the site leads there by a link that is followed."""
    has_unfollowed: Flags

    def __len__(self) -> int:
        return len(self.targets)

    def portions(self, most: int = AT_A_TIME) -> Iterator[tuple[Ids, Ids, Bytes]]:
        """(sources, targets, kinds) of all pairs, a portion at a time."""
        pages = len(self.starts) - 1
        first = 0
        while first < pages:
            last = int(np.searchsorted(self.starts, self.starts[first] + most, "right")) - 1
            last = min(max(last, first + 1), pages)
            here = slice(int(self.starts[first]), int(self.starts[last]))
            counts = np.diff(self.starts[first : last + 1])
            if here.stop > here.start:
                yield np.repeat(np.arange(first, last, dtype=np.int32), counts), self.targets[here], self.kinds[here]
            first = last


def read_links(sql: SqlConnection, dialect: SqlDialect, pages: SitePages) -> SiteLinks:
    """All that lead from pages that answered: what a page said before it broke no longer counts."""
    reader = _Reader(pages)
    cursor = sql.execute(_LINKS.format(like=dialect.like))
    rest = np.zeros(0, np.int64)
    while True:
        fresh = np.fromiter(chain.from_iterable(islice(cursor, AT_A_TIME)), np.int64)
        if not len(fresh):
            break
        rows = np.concatenate([rest, fresh])
        # The last page may go on in the next portion.
        whole = int(np.searchsorted(rows, (rows[-1] >> 33) << 33)) if len(rows) < 8 * AT_A_TIME else len(rows)
        reader.add(rows[:whole])
        rest = rows[whole:]
    reader.add(rest)
    return reader.links()


class _Reader:
    """Links while they are read."""

    def __init__(self, pages: SitePages) -> None:
        size = len(pages)
        self._pages = pages
        self._degrees = np.zeros(size, np.int64)
        self._counts = {name: np.zeros(size, np.int32) for name in ("inlinks", "outlinks", "external_outlinks")}
        self._has = {name: np.zeros(size, np.bool_) for name in ("has_followed", "has_unfollowed")}
        self._targets: list[Ids] = []
        self._kinds: list[Bytes] = []

    def add(self, rows: Numbers) -> None:
        """Links of whole pages, one number each."""
        source, target = rows >> 33, rows >> 2 & 0x7FFFFFFF
        rows = rows[(self._pages.state[source] == UrlState.COMPLETED) & (source != target)]
        self._count(rows)
        rows.sort()
        pairs = rows >> 2
        first = np.ones(len(rows), np.bool_)
        first[1:] = pairs[1:] != pairs[:-1]
        rows = rows[first]
        self._degrees += np.bincount(rows >> 33, minlength=len(self._degrees))
        self._targets.append((rows >> 2 & 0x7FFFFFFF).astype(np.int32))
        self._kinds.append((rows & 3).astype(np.uint8))

    def _count(self, rows: Numbers) -> None:
        rows = rows[(rows & 3) != OTHER]
        source, target = rows >> 33, rows >> 2 & 0x7FFFFFFF
        internal = self._pages.internal[target]
        unfollowed = ((rows & 3) == UNFOLLOWED) | self._pages.nofollow[source]
        size = len(self._degrees)
        for name, ids in (("inlinks", target), ("outlinks", source[internal]), ("external_outlinks", source[~internal])):
            self._counts[name] += np.bincount(ids, minlength=size).astype(np.int32)
        self._has["has_followed"][target[~unfollowed]] = True
        self._has["has_unfollowed"][target[unfollowed]] = True

    def links(self) -> SiteLinks:
        starts = np.zeros(len(self._degrees) + 1, np.int64)
        np.cumsum(self._degrees, out=starts[1:])
        counted: dict[str, Any] = {**self._counts, **self._has}
        return SiteLinks(starts=starts, targets=_joined(self._targets, np.int32), kinds=_joined(self._kinds, np.uint8), **counted)


def _joined(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    """Parts as one array; each is dropped as soon as it is copied."""
    whole: NDArray[Any] = np.empty(sum(map(len, parts)), kind)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + len(part)] = part
        at += len(part)
    return whole
