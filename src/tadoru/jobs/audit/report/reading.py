"""Reading a crawl into a `Summary`: the findings in one pass, and every list as far as the form wants it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil

from tadoru.jobs.audit.report.choice import SEVERITIES
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, CheckResult, Crawl, Example, Graph, Summary, Times
from tadoru.jobs.audit.report.tally import CheckTally, tally
from tadoru.jobs.audit.suppress import Suppressions
from tadoru.store.base import UNLINKED
from tadoru.store.found import StoredCheck
from tadoru.store.runs import Run
from tadoru.store.sqlite import SqliteStore

MOST_NODES = 300
_MOST_BROKEN_NODES = 60
_MOST_ROWS = 50
_MOST_REASONS = 12
_MOST_CLUSTERS = 20
_MOST_CLUSTER_URLS = 10
_MOST_PAGES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of everything a form wants."""

    examples: int = 0
    """Pages of each check."""
    inlinks: int = 0
    """Links that lead to each of those pages."""
    lists: bool = True
    """Redirects, sitemaps, near duplicates, slow and large pages."""
    graph: bool = False


async def summarise(store: SqliteStore, chosen: tuple[StoredCheck, ...], suppressions: Suppressions, extent: Extent) -> Summary:
    """Reads a crawl."""
    counted = tally(chosen, store.places([each.number for each in chosen]), suppressions, extent.examples)
    depths = store.depth_counts()
    runs = await store.runs()
    results = [_result(store, each, counted.checks[each.number], extent) for each in chosen]
    figures = Summary(
        crawl=_crawl(store, runs),
        score=runs[-1].score if runs else None,
        states=tuple(store.states()),
        links=store.link_count(),
        indexability=tuple(store.indexabilities()),
        skipped=tuple(store.skip_reasons(_MOST_REASONS)),
        depths=tuple((depth, count) for depth, count in depths if depth < UNLINKED),
        unlinked=sum(count for depth, count in depths if depth >= UNLINKED),
        times=measured(store.response_times(), store.response_count()),
        results=tuple(sorted(results, key=_by_gravity)),
        pages_with=dict(counted.pages),
        unused=counted.unused,
        traps=tuple(await store.traps()),
    )
    return _with_lists(figures, store, extent)


def _crawl(store: SqliteStore, runs: list[Run]) -> Crawl:
    start = store.start_url() or ""
    if runs:
        last = runs[-1]
        return Crawl(start, last.version, last.started_at, last.ended_at, last.outcome, len(runs))
    began, ended = store.span()  # Made before there were runs.
    return Crawl(start, "", _moment(began), _moment(ended), None, 0)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def _with_lists(summary: Summary, store: SqliteStore, extent: Extent) -> Summary:
    if extent.lists:
        summary = replace(
            summary,
            slowest=tuple(store.slowest(_MOST_PAGES)),
            largest=tuple(store.largest(_MOST_PAGES)),
            redirect_count=store.redirect_count(),
            redirects=tuple(store.redirect_chains(_MOST_ROWS)),
            sitemap_figures=store.sitemap_figures(),
            sitemaps=tuple(store.sitemap_rows(_MOST_ROWS)),
            cluster_count=store.cluster_count(),
            clusters=tuple(store.clusters(_MOST_CLUSTERS, _MOST_CLUSTER_URLS)),
        )
    if extent.graph:
        nodes = store.nodes(MOST_NODES, _MOST_BROKEN_NODES)
        summary = replace(summary, graph=Graph(tuple(nodes), tuple(store.links_between(node.page_id for node in nodes))))
    return summary


def _result(store: SqliteStore, stored: StoredCheck, counted: CheckTally, extent: Extent) -> CheckResult:
    examples = []
    for _, _, place in counted.first:
        links = store.inlinks(place.page_id, extent.inlinks) if extent.inlinks and place.page_id else []
        count = store.inlink_count(place.page_id) if place.page_id else 0
        examples.append(Example(store.found_at(place), tuple(links), count))
    return CheckResult(
        number=stored.number,
        scope=stored.scope,
        check=stored.check,
        count=counted.count,
        suppressed=sum(counted.suppressed.values()),
        reasons=tuple(entry.reason for entry in counted.suppressed),
        examples=tuple(examples),
    )


def _by_gravity(result: CheckResult) -> tuple[int, int, int]:
    return SEVERITIES.index(result.check.severity), -result.count, result.number


def measured(times: Iterable[float], count: int) -> Times:
    """The distribution of so many times, which come in order."""
    wanted = [max(0, ceil(share * count) - 1) for share in (0.5, 0.9, 0.99)]
    found = [0.0, 0.0, 0.0]
    classes = [0] * (len(TIME_BOUNDS) + 1)
    for number, time in enumerate(times):
        classes[bisect_left(TIME_BOUNDS, time)] += 1
        for place, rank in enumerate(wanted):
            if number == rank:
                found[place] = time
    return Times(count, found[0], found[1], found[2], tuple(classes))
