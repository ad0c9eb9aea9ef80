"""The side tables of a crawl: resources, sitemaps, fragments, robots.txt answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from tadoru.store.crawl.connection import SqlConnection
from tadoru.store.crawl.site.arrays import Ids, Numbers, PairCollector, runs
from tadoru.store.crawl.site.pages import SitePages

AT_A_TIME = 500_000


class SiteResource(NamedTuple):
    """A resource of pages, and the result of checking it."""

    number: int
    url: str
    kind: str
    status: str
    status_code: int | None
    content_type: str | None
    content_length: int | None
    final_url: str | None
    error_type: str | None


class SiteRobots(NamedTuple):
    """An origin's answer for robots.txt."""

    origin: str
    status: int | None
    failure: str | None
    body: bytes


def uses(sql: SqlConnection, resources: Collection[int], pages: SitePages) -> PairCollector:
    """The pages that use each of these resources (by number)."""
    last: int = sql.execute("SELECT coalesce(max(id), 0) FROM resources").fetchone()[0]
    place = np.zeros(max(len(pages), last + 1), np.int32)
    place[: len(pages)] = pages.place
    found = PairCollector(place, pages.by_place)
    if not resources:
        return found
    wanted = np.zeros(last + 1, np.bool_)
    wanted[np.fromiter(resources, np.int64)] = True
    cursor = sql.execute("SELECT page_id << 32 | resource_id FROM resource_uses")
    while len(rows := np.fromiter(chain.from_iterable(islice(cursor, AT_A_TIME)), np.int64)):
        page, resource = rows >> 32, rows & 0xFFFFFFFF
        hit = wanted[resource]
        found.add(resource[hit], page[hit])
    return found


def count_findings(sql: SqlConnection, pages: SitePages) -> dict[int, tuple[int, int]]:
    """For each check (by number) that found something: on how many HTML pages of the site, and on how many other URLs."""
    size: int = sql.execute("SELECT coalesce(max(number), 0) + 1 FROM checks").fetchone()[0]
    on_pages, on_others = np.zeros(size, np.int64), np.zeros(size, np.int64)
    cursor = sql.execute("SELECT page_id << 32 | check_number FROM page_findings WHERE page_id > 0")
    while len(rows := np.fromiter(chain.from_iterable(islice(cursor, AT_A_TIME)), np.int64)):
        rows = rows[rows >> 32 < len(pages)]  # Those of pages that were added since are counted by the next analysis.
        page, check = rows >> 32, rows & 0xFFFFFFFF
        is_page, is_internal = pages.documents[page], pages.internal[page]
        on_pages += np.bincount(check[is_page], minlength=size)
        on_others += np.bincount(check[is_internal & ~is_page], minlength=size)
    found = np.flatnonzero(on_pages + on_others).tolist()
    return {number: (int(on_pages[number]), int(on_others[number])) for number in found}


def named_by_sitemaps(sql: SqlConnection, size: int, *, feeds: bool) -> Ids:
    """How many sitemaps name each page. `feeds`: those among them that are feeds, which name only what is new, count too."""
    counts = np.zeros(size, np.int32)
    fully = "" if feeds else " WHERE sitemap_id NOT IN (SELECT id FROM sitemaps WHERE kind = 'feed')"
    cursor = sql.execute(f"SELECT page_id FROM sitemap_entries{fully}")
    while len(ids := np.fromiter(chain.from_iterable(islice(cursor, AT_A_TIME)), np.int64)):
        counts += np.bincount(ids, minlength=size).astype(np.int32)
    return counts


class SiteFragments:
    """Links to fragments of pages whose ids are known."""

    def __init__(self, sql: SqlConnection, pages: SitePages) -> None:
        self._sql = sql
        self._pages = pages

    def asked_for(self) -> Iterator[tuple[int, frozenset[str], list[tuple[int, str]]]]:
        """(page, its anchors, the fragments that other pages ask for with their numbers), page by page."""
        pairs = self._distinct()
        pages = pairs >> 32
        for start, stop in runs(pages):
            page = int(pages[start])
            row = self._sql.execute("SELECT anchors FROM page_anchors WHERE page_id = ?", (page,)).fetchone()
            if row is not None:
                numbers = (pairs[start:stop] & 0xFFFFFFFF).tolist()
                texts = [(one, self._sql.execute("SELECT text FROM texts WHERE id = ?", (one,)).fetchone()[0]) for one in numbers]
                yield page, frozenset(row[0].split("\n")), texts

    def linked_by(self, missing: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        """(source, target, number of the fragment) of every link to one of these (target, number), by source."""
        lost = np.array(sorted(target << 32 | number for target, number in missing), np.int64)
        if not len(lost):
            return
        for source, key in self._portions():
            hit = np.isin(key, lost)
            pairs = zip(source[hit].tolist(), key[hit].tolist(), strict=True)
            yield from ((page, one >> 32, one & 0xFFFFFFFF) for page, one in pairs)

    def _distinct(self) -> Numbers:
        found = np.zeros(0, np.int64)
        if self._sql.execute("SELECT 1 FROM page_anchors LIMIT 1").fetchone() is None:
            return found
        for _, key in self._portions():
            found = np.union1d(found, key)
        return found

    def _portions(self) -> Iterator[tuple[Numbers, Numbers]]:
        cursor = self._sql.execute(
            """SELECT source_id, target_id << 32 | fragment_id FROM link_relations
            WHERE fragment_id <> 0 AND source_id <> target_id ORDER BY source_id"""
        )
        while len(rows := np.fromiter(chain.from_iterable(islice(cursor, AT_A_TIME)), np.int64)):
            source, key = rows[::2], rows[1::2]
            # Where a redirect leads, the fragment goes along; what was not read has no known places.
            read = (self._pages.documents | self._pages.tried)[key >> 32]
            yield source[read], key[read]
