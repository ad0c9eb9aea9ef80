"""A crawled site for site checks: arrays of pages and links, hreflang, duplicates, side tables, and URLs by page id."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import eq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tadoru.model.web import EVERY_BOT
from tadoru.rules.minhash import BINS, ROWS
from tadoru.rules.url import host_key, origin
from tadoru.store.crawl.caches import BoundedCache
from tadoru.store.crawl.connection import SqlConnection, SqlDialect
from tadoru.store.crawl.records import UNLINKED, SiteFacts, SitemapRecord
from tadoru.store.crawl.resources import DECLARED
from tadoru.store.crawl.site import side_tables
from tadoru.store.crawl.site.arrays import (
    EXAMPLES,
    PERMANENT,
    Flags,
    Floats,
    Ids,
    Numbers,
    PairCollector,
    PairGroups,
    UrlVerdict,
    runs,
    starts_of_runs,
)
from tadoru.store.crawl.site.links import InlinkExamples, SiteLinks, look_through, read_links
from tadoru.store.crawl.site.pages import FEWEST_WORDS, ContentSketches, SitePages, read_pages
from tadoru.store.crawl.site.paths import ChainEnds, depths, ends, link_scores, on_loop, path

_PAIRS_AT_A_TIME = 50_000
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
    for at in range(0, len(some), _PAIRS_AT_A_TIME):
        here = slice(at, at + _PAIRS_AT_A_TIME)
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


_AT_A_TIME = 500
_MOST_REMEMBERED = 100_000


_SHORT_BODIES = """SELECT d.page_id, d.body_hash FROM page_details d WHERE d.word_count > 0 AND d.word_count < ?
    AND d.body_hash IS NOT NULL AND d.indexable AND NOT EXISTS (SELECT 1 FROM page_findings f JOIN checks c
        ON c.number = f.check_number WHERE f.page_id = d.page_id AND c.id = 'content-needs-javascript')"""


class NamedUrls(NamedTuple):
    """A page, or a resource, with the number of others in its group, some of them by URL."""

    page: int
    total: int
    examples: tuple[str, ...]


@dataclass
class SiteView:
    """One crawl, read-only."""

    sql: SqlConnection
    dialect: SqlDialect
    now: float
    """Seconds since the epoch."""
    likeness: float
    """From which similarity on, 0 to 1, two pages are near duplicates."""
    _sketches: ContentSketches | None = None
    _urls: BoundedCache[int, str] = field(default_factory=lambda: BoundedCache(_MOST_REMEMBERED))

    @cached_property
    def pages(self) -> SitePages:
        pages, self._sketches = read_pages(self.sql, self.dialect, self._bots())
        return pages

    def _bots(self) -> list[str]:
        row = self.sql.execute("SELECT value FROM crawl_meta WHERE key = 'search_bots'").fetchone()
        return list(json.loads(row[0])) if row else [EVERY_BOT]

    @cached_property
    def links(self) -> SiteLinks:
        return read_links(self.sql, self.dialect, self.pages)

    @cached_property
    def in_sitemaps(self) -> Ids:
        """How many sitemaps name each page, feeds among them."""
        return side_tables.named_by_sitemaps(self.sql, len(self.pages), feeds=True)

    @cached_property
    def in_full_sitemaps(self) -> Ids:
        """How many sitemaps name each page that are meant to name them all: no feeds."""
        return side_tables.named_by_sitemaps(self.sql, len(self.pages), feeds=False)

    @cached_property
    def depth(self) -> Ids:
        return depths(self.pages, self.links, self.in_sitemaps > 0)

    @cached_property
    def reached(self) -> Flags:
        """Links lead there from the start."""
        return self.depth < UNLINKED

    @cached_property
    def scores(self) -> Floats:
        return link_scores(self.pages, self.links)

    @cached_property
    def languages(self) -> HreflangLinks:
        return read_languages(self.sql, self.pages)

    @cached_property
    def clusters(self) -> Ids:
        pages, sketches = self.pages, self._sketches
        assert sketches is not None
        self._sketches = None  # Nobody else looks at them, and they are large.
        return near_clusters(pages, sketches, self.likeness)

    def compute_figures(self) -> None:
        """Read everything that is stored with the findings."""
        _ = self.links, self.inlinks, self.scores, self.clusters, self.depth

    @cached_property
    def wordy(self) -> Flags:
        """Pages with enough text to be compared by it."""
        return self.pages.words >= FEWEST_WORDS

    def equals(self, values: Numbers, among: Flags) -> Iterator[list[int]]:
        """Groups of pages with the same value, those of a group by URL."""
        return equals(values, among, self.pages.place)

    def near_groups(self) -> Iterator[list[int]]:
        """The clusters of near duplicates."""
        return equals(self.clusters.astype(np.int64), self.clusters > 0, self.pages.place)

    def short_bodies(self) -> Numbers:
        """A number for each page of too few words to be compared by them: the same for pages with exactly the same bytes.

        An empty shell that a script fills is the same on every page, and is none of them.
        """
        found = np.zeros(len(self.pages), np.int64)
        rows = self.sql.execute(_SHORT_BODIES, (FEWEST_WORDS,))
        for page, body in rows:
            found[page] = hash(body)
        return found

    def copies_among(self, group: list[int]) -> list[int]:
        """The same number for pages of exactly the same text."""
        found: list[int] = self.pages.content[group].tolist()
        return found

    def others(self, group: list[int], kin: list[int] | None = None) -> Iterator[PairGroups]:
        """Each page of a group with the others, apart from its translations, and from those with the same number in `kin`."""
        translations: list[int] = self.languages.kin[group].tolist()
        return others(group, translations) if kin is None else others(group, translations, kin)

    @cached_property
    def _looked(self) -> tuple[InlinkExamples, dict[str, PairCollector]]:
        pages = self.pages
        broken = pages.final_verdict == UrlVerdict.BROKEN
        moved = self.moved_for_good & ~broken
        wanted = {
            "broken": pages.internal & broken,
            "moved": pages.internal & moved,
            "external broken": pages.tried & broken,
            "external moved": pages.tried & moved,
        }
        return look_through(pages, self.links, wanted)

    def link_causes(self) -> dict[str, int]:
        """For checks about links that are better changed at their target: how many targets there are."""
        pages, moved = self.pages, self.moved_for_good & (self.pages.final_verdict != UrlVerdict.BROKEN)
        linked = self.inlinks.unique > 0
        broken = pages.tried & (pages.final_verdict == UrlVerdict.BROKEN)
        return {
            "link-to-redirect": int((pages.internal & moved & linked).sum()),
            "link-external-broken": int((broken & linked).sum()),
        }

    @cached_property
    def moved_for_good(self) -> Flags:
        return (self.pages.redirect > 0) & np.isin(self.pages.status, PERMANENT)

    @cached_property
    def linked(self) -> Flags:
        """Some page of the site links there, or the start leads there by a redirect."""
        return (self.inlinks.unique > 0) | self.reached

    @cached_property
    def canonical_steps(self) -> Ids:
        """The canonical of each page that is not to be shown itself."""
        return np.where(self.pages.why == UrlVerdict.CANONICALISED, np.maximum(self.pages.canonical, 0), 0).astype(np.int32)

    @cached_property
    def canonical_ends(self) -> ChainEnds:
        return ends(self.canonical_steps)

    @staticmethod
    def on_loop(steps: Ids) -> Flags:
        """Pages from which steps lead back to themselves."""
        onward = np.maximum(steps, 0).astype(np.int32)
        return on_loop(onward)

    def points_at(self, steps: Ids, verdicts: Collection[UrlVerdict]) -> Flags:
        """Pages whose step leads to a page of which one of these is so."""
        target = np.maximum(steps, 0)
        return (steps > 0) & np.isin(self.pages.verdict[target], list(verdicts))

    def hops(self, steps: Ids, page: int, most: int) -> tuple[str, ...]:
        """The URLs that steps lead to, one after the other."""
        ids = path(steps, page, most)
        urls = self.urls(ids)
        return tuple(urls[one] for one in ids)

    def percentile(self, values: Floats | Numbers, percent: float) -> float:
        """Of the HTML pages that answered."""
        known = np.asarray(values[self.pages.documents], np.float64)
        known = known[~np.isnan(known)]
        return float(np.percentile(known, percent)) if len(known) else 0.0

    @property
    def inlinks(self) -> InlinkExamples:
        return self._looked[0]

    def linking(self, name: str) -> Iterator[NamedUrls]:
        """What the one pass over the links found: `broken`, `moved`, `external broken`, ..."""
        return self.named(self._looked[1][name].rows())

    @cached_property
    def _starts(self) -> list[str]:
        return [url for (url,) in self.sql.execute("SELECT url FROM pages WHERE is_seed")]

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts where the crawl began."""
        return frozenset(host_key(url) for url in self._starts)

    @cached_property
    def start(self) -> str:
        """The URL that stands for the whole site: where the crawl began, behind its redirects."""
        ids = self.ids(self.pages.root)
        ids.sort(key=lambda page: int(self.pages.place[page]))
        return self.url(int(self.pages.redirects.end[ids[0]])) if ids else ""

    def is_ours(self, url: str) -> bool:
        return host_key(url) in self.hosts

    @staticmethod
    def ids(mask: Flags) -> list[int]:
        """The pages of which something is so."""
        found: list[int] = np.flatnonzero(mask).tolist()
        return found

    def url(self, page: int) -> str:
        return self.urls([page])[page]

    def urls(self, pages: Iterable[int]) -> dict[int, str]:
        """The URLs of some pages."""
        return _looked_up(self.sql, "SELECT url FROM pages WHERE id = ?", pages, self._urls)

    def named(self, rows: Iterable[PairGroups]) -> Iterator[NamedUrls]:
        """With URLs for the examples."""
        rest = iter(rows)
        while some := list(islice(rest, _AT_A_TIME)):
            urls = self.urls({page for row in some for page in row.examples})
            for page, count, examples in some:
                yield NamedUrls(page, count, tuple(urls[one] for one in examples))

    @cached_property
    def fragments(self) -> side_tables.SiteFragments:
        return side_tables.SiteFragments(self.sql, self.pages)

    def sitemaps(self) -> dict[int, SitemapRecord]:
        """Every one that was asked for, in the order of their URLs, by id."""
        rows = self.sql.execute(
            """SELECT id, url, level, named_by, status, kind, status_code, coalesce(bytes, 0), coalesce(urls, 0), problems
            FROM sitemaps ORDER BY url"""
        )
        return {number: SitemapRecord._make((*facts, tuple(json.loads(problems or "[]")))) for number, *facts, problems in rows}

    def sitemap_entries(self) -> Iterator[tuple[int, int, str | None]]:
        """(sitemap, page, lastmod) of everything that sitemaps name."""
        return iter(self.sql.execute("SELECT sitemap_id, page_id, lastmod FROM sitemap_entries"))

    def resources(self) -> Iterator[side_tables.SiteResource]:
        """Those that were asked for."""
        rows = self.sql.execute(
            """SELECT id, url, kind, status, status_code, content_type, content_length, final_url, last_error_type
            FROM resources WHERE status = 'completed' OR status = 'error' ORDER BY id"""
        )
        return map(side_tables.SiteResource._make, rows)

    def declared_targets(self) -> dict[str, side_tables.SiteResource]:
        """URLs that pages declare, that no link leads to, and that were asked for."""
        return {one.url: one for one in self.resources() if one.kind == DECLARED}

    def finding_counts(self) -> dict[int, tuple[int, int]]:
        """On how many HTML pages of the site, and on how many other URLs, each check (by number) found something."""
        return side_tables.count_findings(self.sql, self.pages)

    def untried_resources(self) -> int:
        """How many were meant to be asked for, and were not: there were more than the limit."""
        count: int = self.sql.execute("SELECT count(*) FROM resources WHERE status = 'queued'").fetchone()[0]
        return count

    def untried_external_urls(self) -> int:
        """How many URLs of other sites are known and were not asked for."""
        count: int = self.sql.execute("SELECT count(*) FROM pages WHERE NOT internal AND status = 'discovered'").fetchone()[0]
        return count

    @cached_property
    def has_anchors(self) -> bool:
        """Whether the ids of elements were stored."""
        return self.sql.execute("SELECT 1 FROM page_anchors LIMIT 1").fetchone() is not None

    def robots(self) -> list[side_tables.SiteRobots]:
        """The answers of the origins where the crawl began, as far as they were asked."""
        query = "SELECT status, failure, body FROM robots WHERE origin = ? AND fetched_at IS NOT NULL"
        return [
            side_tables.SiteRobots(one, status, failure, body or b"")
            for one in sorted({origin(url) for url in self._starts})
            for status, failure, body in self.sql.execute(query, (one,))
        ]

    def unknown_alternates(self) -> Iterator[tuple[int, str]]:
        """(page, URL) of alternates that the crawl never met, by page."""
        return iter(self.sql.execute(UNKNOWN_ALTERNATES))

    def using(self, resources: Collection[int]) -> Iterator[NamedUrls]:
        """Each of these resources that pages use, with the number of these pages and some of them."""
        return self.named(side_tables.uses(self.sql, resources, self.pages).rows())

    def site_facts(self) -> Iterator[tuple[int, SiteFacts]]:
        """The facts of each page that has some."""
        rows = self.sql.execute("SELECT page_id, site_facts FROM page_details WHERE site_facts IS NOT NULL ORDER BY page_id")
        return ((page, json.loads(facts)) for page, facts in rows)

    def value(self, page: int, column: str) -> str:
        """One column of a page or its details, as text."""
        row = self.sql.execute(
            f"SELECT {column} FROM pages LEFT JOIN page_details ON page_id = id WHERE id = ?", (page,)
        ).fetchone()
        return str(row[0]) if row and row[0] is not None else ""


def _looked_up(sql: SqlConnection, query: str, numbers: Iterable[int], known: BoundedCache[int, str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for number in numbers:
        text = known.get(number)
        if text is None:
            row = sql.execute(query, (number,)).fetchone()
            text = known[number] = row[0] if row else ""
        found[number] = text
    return found
