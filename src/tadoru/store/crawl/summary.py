"""The figures of an audit report: counts, distributions, and the first rows of every list.

Reports are written synchronously, so these methods are synchronous. Each is one pass over a table or uses an index, and
returns a bounded result. Findings and inlinks are in `findings`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tadoru.store.crawl.browse import PublishedRecord
from tadoru.store.crawl.connection import CrawlPart, listed
from tadoru.store.crawl.records import UNLINKED

_OF_THE_SITE = "p.internal AND p.purpose = 'page'"
_ANSWERED = f"{_OF_THE_SITE} AND p.status = 'completed'"
_TIME = "p.ttfb_ms + coalesce(p.download_time_ms, 0)"
_PAGE = f"""SELECT p.id, p.url, p.title, p.status_code, {_TIME}, p.ttfb_ms, p.response_size_bytes, s.inlinks
    FROM pages p LEFT JOIN page_scores s ON s.page_id = p.id"""
_NODE = """SELECT p.id, p.url, p.title, p.depth, p.parent_id, p.status, p.status_code, coalesce(s.link_score, 0), s.inlinks
    FROM pages p LEFT JOIN page_scores s ON s.page_id = p.id"""
_MOST_HOPS = 20


class StateCount(NamedTuple):
    """The number of URLs in one state."""

    internal: bool
    status: str
    status_code: int | None
    urls: int


class PageFigures(NamedTuple):
    """A page in a list of slow or large pages."""

    page_id: int
    url: str
    title: str | None
    status_code: int | None
    response_ms: float | None
    ttfb_ms: float | None
    size: int | None
    inlinks: int | None


class RedirectHop(NamedTuple):
    """A step of a redirect."""

    url: str
    status_code: int | None


class RedirectRow(NamedTuple):
    """A redirect with all its steps; the last is the final URL, if known."""

    hops: tuple[RedirectHop, ...]
    inlinks: int | None


class SitemapSummary(NamedTuple):
    """A sitemap as it was read."""

    url: str
    named_by: str
    status: str
    kind: str | None
    status_code: int | None
    urls: int | None
    problems: tuple[str, ...]


class SitemapFigures(NamedTuple):
    """Sitemaps compared with the crawl."""

    sitemaps: int
    pages: int
    """Different pages of the site that they name."""
    not_indexable: int
    """Of these, those that a search engine may not show."""
    unlinked: int
    """Of these, those that no link leads to."""
    missing: int
    """Indexable pages that no sitemap names."""


class DuplicateCluster(NamedTuple):
    """Near duplicates, with the first of them by URL."""

    pages: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphPage(PublishedRecord, published="CrawlNode"):
    """A page in the graph of a site."""

    id: int
    url: str
    title: str | None
    depth: int
    parent_id: int | None
    status: str
    status_code: int | None
    link_score: float
    inlinks: int | None


class SummaryReader(CrawlPart):
    """Reads the figures of a crawl."""

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return self._db.rows(statement, values)

    def _one(self, statement: str, *values: Any) -> int:
        number: int = self._all(statement, *values)[0][0]
        return number

    def span(self) -> tuple[str | None, str | None]:
        """When the first URL became known and the last answer arrived: for a crawl that kept no run."""
        first, last = self._all("SELECT min(added_at), max(crawled_at) FROM pages")[0]
        return first, last

    def states(self) -> list[StateCount]:
        """How many URLs stand where, those of the site and the others."""
        rows = self._all(
            "SELECT internal, status, status_code, count(*) FROM pages WHERE purpose = 'page' OR NOT internal GROUP BY 1, 2, 3"
        )
        return [StateCount(bool(internal), *rest) for internal, *rest in rows]

    def skip_reasons(self, most: int) -> list[tuple[str, int]]:
        """Why URLs of the site were not requested, the commonest reason first."""
        return self._all(
            f"""SELECT coalesce(p.skip_reason, ''), count(*) FROM pages p WHERE {_OF_THE_SITE} AND p.status = 'skipped'
            GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?""",
            most,
        )

    def link_count(self) -> int:
        return self._one("SELECT count(*) FROM link_relations")

    def indexabilities(self) -> list[tuple[str, bool, int]]:
        """Why pages may or may not be shown by a search engine, and how many."""
        rows = self._all(
            f"""SELECT d.indexability, d.indexable, count(*) FROM page_details d
            {self._db.dialect.join_in_order} pages p ON p.id = d.page_id WHERE {_OF_THE_SITE}
            GROUP BY 1, 2 ORDER BY 2 DESC, 3 DESC, 1"""
        )
        return [(reason, bool(indexable), count) for reason, indexable, count in rows]

    def depth_counts(self) -> list[tuple[int, int]]:
        """Depth and how many pages that answered lie there."""
        return self._all(f"SELECT p.depth, count(*) FROM pages p WHERE {_ANSWERED} GROUP BY 1 ORDER BY 1")

    def response_count(self) -> int:
        """How many answers were timed."""
        return self._one(f"SELECT count(*) FROM pages p WHERE {_ANSWERED} AND p.ttfb_ms IS NOT NULL")

    def response_times(self) -> Iterator[float]:
        """How long each answer took in milliseconds, the fastest first."""
        times = f"SELECT {_TIME} FROM pages p WHERE {_ANSWERED} AND p.ttfb_ms IS NOT NULL ORDER BY 1"
        return (time for (time,) in self._db.stream(times))

    def slowest(self, most: int) -> list[PageFigures]:
        rows = self._all(f"{_PAGE} WHERE {_ANSWERED} AND p.ttfb_ms IS NOT NULL ORDER BY {_TIME} DESC, p.url LIMIT ?", most)
        return [PageFigures(*row) for row in rows]

    def largest(self, most: int) -> list[PageFigures]:
        rows = self._all(
            f"{_PAGE} WHERE {_ANSWERED} AND p.response_size_bytes > 0 ORDER BY p.response_size_bytes DESC, p.url LIMIT ?", most
        )
        return [PageFigures(*row) for row in rows]

    def redirect_count(self) -> int:
        return self._one(f"SELECT count(*) FROM pages p WHERE {_OF_THE_SITE} AND p.redirect_id IS NOT NULL")

    def redirect_chains(self, most: int) -> list[RedirectRow]:
        """Redirects, those that most links lead to first."""
        rows = self._all(
            f"""SELECT p.url, p.status_code, p.redirect_id, s.inlinks FROM pages p LEFT JOIN page_scores s ON s.page_id = p.id
            WHERE {_OF_THE_SITE} AND p.redirect_id IS NOT NULL ORDER BY coalesce(s.inlinks, 0) DESC, p.depth, p.url LIMIT ?""",
            most,
        )
        return [RedirectRow((RedirectHop(url, code), *self._onward(url, onward)), inlinks) for url, code, onward, inlinks in rows]

    def _onward(self, start: str, page: int | None) -> Iterator[RedirectHop]:
        seen = {start}
        for _ in range(_MOST_HOPS):
            if page is None:
                return
            ((url, code, page),) = self._all("SELECT url, status_code, redirect_id FROM pages WHERE id = ?", page)
            yield RedirectHop(url, code)
            if url in seen:
                return
            seen.add(url)

    def sitemap_rows(self, most: int) -> list[SitemapSummary]:
        """Sitemaps in the order in which they lead to each other. One that was guessed and is not there is none."""
        rows = self._all(
            """SELECT url, named_by, status, kind, status_code, urls, problems FROM sitemaps WHERE status <> 'absent'
            ORDER BY level, url LIMIT ?""",
            most,
        )
        return [SitemapSummary._make((*row[:6], _texts(row[6]))) for row in rows]

    def sitemap_figures(self) -> SitemapFigures:
        sitemaps = self._one("SELECT count(*) FROM sitemaps WHERE status <> 'absent'")
        pages, closed, unlinked = self._all(
            f"""SELECT count(*), count(*) FILTER (WHERE NOT coalesce(d.indexable, false)), count(*) FILTER (WHERE p.depth >= ?)
            FROM (SELECT DISTINCT page_id FROM sitemap_entries) e {self._db.dialect.join_in_order} pages p ON p.id = e.page_id
            LEFT JOIN page_details d ON d.page_id = p.id WHERE {_OF_THE_SITE}""",
            UNLINKED,
        )[0]
        missing = self._one(
            """SELECT count(*) FROM page_details d WHERE d.indexable
            AND d.page_id NOT IN (SELECT page_id FROM sitemap_entries)"""
        )
        return SitemapFigures(sitemaps, pages, closed, unlinked, missing)

    def cluster_count(self) -> int:
        """Clusters of near duplicates."""
        return self._one("SELECT count(DISTINCT cluster_id) FROM page_scores WHERE cluster_id IS NOT NULL")

    def clusters(self, most: int, most_urls: int) -> list[DuplicateCluster]:
        """The largest clusters of near duplicates."""
        sizes: dict[int, int] = dict(
            self._all(
                """SELECT cluster_id, count(*) FROM page_scores WHERE cluster_id IS NOT NULL GROUP BY 1
                ORDER BY 2 DESC, 1 LIMIT ?""",
                most,
            )
        )
        urls: dict[int, list[str]] = {cluster: [] for cluster in sizes}
        for cluster, url in self._db.stream(
            f"""SELECT s.cluster_id, p.url FROM page_scores s {self._db.dialect.join_in_order} pages p ON p.id = s.page_id
            WHERE s.cluster_id IN ({listed(sizes)}) ORDER BY p.depth, p.url"""
        ):
            if len(urls[cluster]) < most_urls:
                urls[cluster].append(url)
        return sorted(
            (DuplicateCluster(size, tuple(urls[cluster])) for cluster, size in sizes.items()),
            key=lambda row: (-row.pages, row.urls),
        )

    def nodes(self, most: int, most_broken: int) -> list[GraphPage]:
        """Pages for a picture, by depth and URL: those with the highest link score, some that are broken, and the way to each."""
        answered = f"{_OF_THE_SITE} AND (p.status = 'completed' OR p.status = 'error') AND p.depth < {UNLINKED}"
        first = self._all(f"{_NODE} WHERE {answered} AND p.is_seed ORDER BY p.id LIMIT 1")
        broken = self._all(
            f"{_NODE} WHERE {answered} AND (p.status = 'error' OR p.status_code >= 400) ORDER BY p.depth, p.url LIMIT ?",
            most_broken,
        )
        best = self._all(f"{_NODE} WHERE {answered} ORDER BY coalesce(s.link_score, 0) DESC, p.depth, p.url LIMIT ?", most)
        chosen: dict[int, GraphPage] = {}
        for row in (*first, *broken, *best):
            path = self._path(GraphPage(*row), chosen)
            if len(chosen) + len(path) <= most:
                chosen |= {node.id: node for node in reversed(path)}
        return sorted(chosen.values(), key=lambda node: (node.depth, node.url))

    def _path(self, node: GraphPage, known: dict[int, GraphPage]) -> list[GraphPage]:
        """A page and those above it that are not known yet."""
        path: dict[int, GraphPage] = {}
        above: GraphPage | None = node
        while above is not None and above.id not in known and above.id not in path:
            path[above.id] = above
            rows = self._all(f"{_NODE} WHERE p.id = ?", above.parent_id)
            above = GraphPage(*rows[0]) if rows else None
        return list(path.values())

    def links_between(self, pages: Iterable[int]) -> list[tuple[int, int]]:
        """Which of some pages link to which."""
        among = listed(pages)
        return self._all(
            f"""SELECT DISTINCT source_id, target_id FROM link_relations
            WHERE source_id IN ({among}) AND +target_id IN ({among}) ORDER BY 1, 2"""
        )


def _texts(problems: str | None) -> tuple[str, ...]:
    return tuple(str(each) for each in json.loads(problems)) if problems else ()
