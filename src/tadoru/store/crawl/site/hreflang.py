"""hreflang across pages: which page names which in which language, and whether it is returned."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from tadoru.store.crawl.connection import SqlConnection
from tadoru.store.crawl.site.arrays import Flags, Ids, Numbers, PairCollector, UrlVerdict
from tadoru.store.crawl.site.pages import SitePages

AT_A_TIME = 50_000
DEFAULT = "x-default"
_MOST_CODES = 0xFFFF

_ALTERNATES = """SELECT h.page_id, coalesce(t.id, 0), lower(h.language) FROM page_hreflang h
    LEFT JOIN pages t ON t.url = h.url"""
UNKNOWN_ALTERNATES = """SELECT h.page_id, h.url FROM page_hreflang h
    WHERE NOT EXISTS (SELECT 1 FROM pages t WHERE t.url = h.url) ORDER BY h.page_id, h.url"""


@dataclass(frozen=True)
class HreflangLinks:
    """Statements "that page is this one in language `codes[code]`", of pages that are themselves to be shown."""

    pages: SitePages
    source: Ids
    target: Ids
    """0 where the crawl does not know the URL."""
    code: Ids
    codes: list[str]

    @cached_property
    def kin(self) -> Ids:
        """For each page the first, by URL, of its set of translations; a page without any is kin to itself only."""
        place = self.pages.place.copy()
        known = self.target > 0
        np.minimum.at(place, self.source[known], self.pages.place[self.target[known]])
        return self.pages.by_place[place] if len(self.pages.by_place) else place

    @cached_property
    def _named(self) -> Flags:
        """Statements about another page in a language of its own: `x-default` is a choice, and owes nobody a link."""
        default = self.codes.index(DEFAULT) if DEFAULT in self.codes else -1
        found: Flags = (self.target > 0) & (self.target != self.source) & (self.code != default)
        return found

    @cached_property
    def _pairs(self) -> Numbers:
        return np.unique(self.source.astype(np.int64) << 32 | self.target)

    def towards(self, verdicts: Collection[UrlVerdict]) -> PairCollector:
        """Pages with alternates of which one of these is so."""
        chosen = (self.target > 0) & (self.target != self.source) & np.isin(self.pages.verdict[self.target], list(verdicts))
        return self._gathered(chosen)

    def without_return(self) -> PairCollector:
        """Pages with alternates that do not name them, though these may be shown too: what others say is not heard."""
        back = self.target.astype(np.int64) << 32 | self.source
        at = np.minimum(np.searchsorted(self._pairs, back), max(0, len(self._pairs) - 1))
        returned = self._pairs[at] == back if len(self._pairs) else np.zeros(0, np.bool_)
        return self._gathered(self._named & ~returned & self.pages.candidates[self.target])

    def inconsistent(self) -> PairCollector:
        """Pages that name another one in a language which that page does not call its own, though it calls itself one."""
        own = self.target == self.source
        mine = np.unique(self.source[own].astype(np.int64) << 16 | self.code[own])
        default = self.codes.index(DEFAULT) if DEFAULT in self.codes else -1
        speaks = np.zeros(len(self.pages), np.bool_)
        speaks[self.source[own & (self.code != default)]] = True
        said = self.target.astype(np.int64) << 16 | self.code
        return self._gathered(self._named & speaks[self.target] & ~np.isin(said, mine))

    def unlinked(self, linked: Flags) -> PairCollector:
        """Pages with alternates of this site that no link leads to."""
        chosen = (self.target > 0) & (self.target != self.source) & self.pages.internal[self.target]
        return self._gathered(chosen & ~linked[self.target])

    def _gathered(self, chosen: Flags) -> PairCollector:
        found = PairCollector(self.pages.place, self.pages.by_place)
        pairs = np.unique(self.source[chosen].astype(np.int64) << 32 | self.target[chosen])
        found.add(pairs >> 32, pairs & 0xFFFFFFFF)
        return found


def read_languages(sql: SqlConnection, pages: SitePages) -> HreflangLinks:
    """All statements of pages that are not canonicalised or kept out: theirs are not heard."""
    codes: dict[str, int] = {}
    parts: list[Ids] = []
    cursor = sql.execute(_ALTERNATES)
    while rows := list(islice(cursor, AT_A_TIME)):
        found = np.array(
            [(source, target, codes.setdefault(language, min(len(codes), _MOST_CODES))) for source, target, language in rows],
            np.int32,
        )
        parts.append(found[pages.candidates[found[:, 0]]])
    whole = np.concatenate(parts) if parts else np.zeros((0, 3), np.int32)
    source, target, code = (np.ascontiguousarray(whole[:, at]) for at in range(3))
    return HreflangLinks(pages, source, target, code, list(codes))
