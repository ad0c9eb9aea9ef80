"""The summary of an audit that every format is made from, and how it is read.

Its size does not grow with the site: a list contains the first items, and a count of all. Findings are counted in one pass.
Those that are shown as examples are the least deep ones, then by URL, in whatever order they were found; suppressed findings are
counted separately.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from math import ceil
from typing import NamedTuple

from tadoru.jobs.audit.coverage import META_KEY, SkippedChecks, decode
from tadoru.jobs.audit.report.check_filter import SEVERITIES
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.model.finding import Check, Severity
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.findings import FindingPlace, FindingRow, Inlink, StoredCheck
from tadoru.store.crawl.records import UNLINKED, TrapRecord, parse_utc, response_class
from tadoru.store.crawl.runs import StoredRun
from tadoru.store.crawl.summary import (
    DuplicateCluster,
    GraphPage,
    PageFigures,
    RedirectRow,
    SitemapFigures,
    SitemapSummary,
    StateCount,
)

TIME_BOUNDS = (50, 100, 200, 500, 1000, 2000, 5000)
"""Upper bounds of the classes of response times in milliseconds; the last class has none."""


@dataclass(frozen=True, slots=True)
class FindingExample:
    """A finding that is shown, with the first inlinks of its page."""

    row: FindingRow
    inlinks: tuple[Inlink, ...]
    inlink_count: int


class AffectedGroup(NamedTuple):
    """A template or a segment of the site, and the findings of a check in it."""

    name: str
    findings: int
    example: str
    """The URL of one of its pages."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check and its findings."""

    number: int
    scope: str
    check: Check
    count: int
    suppressed: int
    reasons: tuple[str, ...]
    """Why findings were suppressed."""
    examples: tuple[FindingExample, ...]
    templates: tuple[AffectedGroup, ...] = ()
    """The page templates with the most findings."""
    segments: tuple[AffectedGroup, ...] = ()
    """The segments of the site with the most findings."""


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """Response times in milliseconds."""

    count: int = 0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    classes: tuple[int, ...] = (0,) * (len(TIME_BOUNDS) + 1)
    """The number of responses in each class of `TIME_BOUNDS`."""


@dataclass(frozen=True, slots=True)
class PageGraph:
    """The pages and links of the site graph."""

    nodes: tuple[GraphPage, ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CrawlInfo:
    """When and how the site was crawled."""

    start_url: str
    version: str
    started: datetime | None
    ended: datetime | None
    outcome: str | None
    """`complete`, `limit`, `time`, `interrupted`; None while it runs, or if it was killed."""
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """An audit in figures."""

    crawl: CrawlInfo
    score: float | None
    score_version: int
    """The version of the model that the score was calculated by."""
    states: tuple[StateCount, ...]
    links: int
    indexability: tuple[tuple[str, bool, int], ...]
    """Reason, whether it makes pages indexable, and number of pages."""
    skipped: tuple[tuple[str, int], ...]
    depths: tuple[tuple[int, int], ...]
    unlinked: int
    """Pages that responded and have no inlinks."""
    times: ResponseTimes
    results: tuple[CheckResult, ...]
    """One for each chosen check, most severe first."""
    pages_with: dict[Severity, int]
    unused: tuple[FindingSuppression, ...]
    traps: tuple[TrapRecord, ...]
    not_judged: tuple[SkippedChecks, ...] = ()
    """Checks that could not be applied."""
    slowest: tuple[PageFigures, ...] = ()
    largest: tuple[PageFigures, ...] = ()
    redirect_count: int = 0
    redirects: tuple[RedirectRow, ...] = ()
    sitemap_figures: SitemapFigures = SitemapFigures(0, 0, 0, 0, 0)
    sitemaps: tuple[SitemapSummary, ...] = ()
    cluster_count: int = 0
    clusters: tuple[DuplicateCluster, ...] = ()
    graph: PageGraph | None = None

    @property
    def found(self) -> tuple[CheckResult, ...]:
        """The checks with findings."""
        return tuple(result for result in self.results if result.count)

    @property
    def suppressed(self) -> int:
        return sum(result.suppressed for result in self.results)

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(result.count for result in self.results if result.check.severity is severity)

    def urls(self, *statuses: str) -> int:
        """The number of URLs of the site with one of these states."""
        return sum(state.urls for state in self.states if state.internal and state.status in statuses)

    @property
    def pages(self) -> int:
        """URLs of the site whose request is complete."""
        return self.urls("completed", "error")

    @property
    def waiting(self) -> int:
        return self.urls("queued", "processing")

    @property
    def external(self) -> int:
        """Known URLs of other sites."""
        return sum(state.urls for state in self.states if not state.internal)

    @property
    def indexable(self) -> int:
        return sum(count for _, indexable, count in self.indexability if indexable)

    @property
    def classes(self) -> dict[str, int]:
        """URLs of the site by response: `2xx` to `5xx`, `no answer`, `not requested`, `waiting`."""
        found = dict.fromkeys(("2xx", "3xx", "4xx", "5xx", "no answer", "not requested", "waiting"), 0)
        for state in self.states:
            if state.internal:
                name = response_class(state.status, state.status_code)
                found[name] = found.get(name, 0) + state.urls
        return found


@dataclass(slots=True)
class CheckTally:
    """The findings of one check, counted."""

    entries: tuple[FindingSuppression, ...] = ()
    """The suppressions of this check."""
    count: int = 0
    suppressed: dict[FindingSuppression, int] = field(default_factory=dict)
    first: list[tuple[int, str, FindingPlace]] = field(default_factory=list)
    """Depth, URL and location of the examples, in that order."""
    templates: dict[str, AffectedGroup] = field(default_factory=dict)
    segments: dict[str, AffectedGroup] = field(default_factory=dict)

    def add(self, place: FindingPlace, most: int) -> bool:
        """Counts a finding; returns whether it is not suppressed."""
        if self.entries and (entry := find_suppression(self.entries, place.url)) is not None:
            self.suppressed[entry] = self.suppressed.get(entry, 0) + 1
            return False
        self.count += 1
        _count_group(self.templates, place.template, place.url)
        _count_group(self.segments, place.segment, place.url)
        first = self.first
        if most and (len(first) < most or (place.depth, place.url) < first[-1][:2]):
            insort(first, (place.depth, place.url, place))
            del first[most:]
        return True


_MOST_GROUPS = 1_000
"""Templates or segments of one check that are counted; a site without any order has more."""
_SHOWN_GROUPS = 5


def _count_group(groups: dict[str, AffectedGroup], name: str | None, url: str) -> None:
    if name and (found := groups.get(name)) is not None:
        groups[name] = AffectedGroup(name, found.findings + 1, found.example)
    elif name and len(groups) < _MOST_GROUPS:
        groups[name] = AffectedGroup(name, 1, url)


def _largest_groups(groups: dict[str, AffectedGroup]) -> tuple[AffectedGroup, ...]:
    return tuple(sorted(groups.values(), key=lambda group: (-group.findings, group.name))[:_SHOWN_GROUPS])


@dataclass(frozen=True, slots=True)
class FindingTally:
    """The findings of a crawl, counted."""

    checks: Mapping[int, CheckTally]
    pages: Mapping[Severity, int]
    """The number of pages with a finding of each severity."""
    unused: tuple[FindingSuppression, ...]
    """Suppressions that match nothing."""


def count_findings(
    catalogue: Sequence[StoredCheck], places: Iterable[FindingPlace], suppressions: FindingSuppressions, most: int = 0
) -> FindingTally:
    """Counts findings and keeps the first ones of each check. Findings of one page must be consecutive."""
    checks = {each.number: CheckTally(suppressions.about(each.check.id)) for each in catalogue}
    severities = {each.number: each.check.severity for each in catalogue}
    pages = dict.fromkeys(Severity, 0)
    for page, together in groupby(places, key=lambda place: place.page_id):
        found = {severities[place.check_number] for place in together if checks[place.check_number].add(place, most)}
        if page:
            for severity in found:
                pages[severity] += 1
    used = (entry for each in checks.values() for entry in each.suppressed)
    return FindingTally(checks, pages, suppressions.unused(used))


MAX_NODES = 300
_MAX_BROKEN_NODES = 60
_MAX_ROWS = 50
_MAX_REASONS = 12
_MAX_CLUSTERS = 20
_MAX_CLUSTER_URLS = 10
_MAX_PAGES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportExtent:
    """How much a format shows."""

    examples: int = 0
    """Pages of each check."""
    inlinks: int = 0
    """Inlinks of each of those pages."""
    lists: bool = True
    """Redirects, sitemaps, near duplicates, slow and large pages."""
    graph: bool = False


async def read_summary(
    store: CrawlDatabase, chosen: tuple[StoredCheck, ...], suppressions: FindingSuppressions, extent: ReportExtent
) -> AuditSummary:
    """Reads the summary of a crawl."""
    counted = count_findings(chosen, store.findings.places([each.number for each in chosen]), suppressions, extent.examples)
    depths = store.summary.depth_counts()
    runs = await store.runs.all()
    results = [_result(store, each, counted.checks[each.number], extent) for each in chosen]
    figures = AuditSummary(
        crawl=_crawl(store, runs),
        score=runs[-1].score if runs else None,
        score_version=runs[-1].score_version if runs else 1,
        states=tuple(store.summary.states()),
        links=store.summary.link_count(),
        indexability=tuple(store.summary.indexabilities()),
        skipped=tuple(store.summary.skip_reasons(_MAX_REASONS)),
        depths=tuple((depth, count) for depth, count in depths if depth < UNLINKED),
        unlinked=sum(count for depth, count in depths if depth >= UNLINKED),
        times=summarize_times(store.summary.response_times(), store.summary.response_count()),
        results=tuple(sorted(results, key=_by_severity)),
        pages_with=dict(counted.pages),
        unused=counted.unused,
        traps=tuple(await store.graph.traps()),
        not_judged=decode(await store.meta.get(META_KEY)),
    )
    return _with_lists(figures, store, extent)


def _crawl(store: CrawlDatabase, runs: list[StoredRun]) -> CrawlInfo:
    start = store.export.start_url() or ""
    if runs:
        last = runs[-1]
        return CrawlInfo(start, last.version, last.started_at, last.ended_at, last.outcome, len(runs))
    began, ended = store.summary.span()  # The database is older than the table of runs.
    return CrawlInfo(start, "", parse_utc(began), parse_utc(ended), None, 0)


def _with_lists(summary: AuditSummary, store: CrawlDatabase, extent: ReportExtent) -> AuditSummary:
    if extent.lists:
        summary = replace(
            summary,
            slowest=tuple(store.summary.slowest(_MAX_PAGES)),
            largest=tuple(store.summary.largest(_MAX_PAGES)),
            redirect_count=store.summary.redirect_count(),
            redirects=tuple(store.summary.redirect_chains(_MAX_ROWS)),
            sitemap_figures=store.summary.sitemap_figures(),
            sitemaps=tuple(store.summary.sitemap_rows(_MAX_ROWS)),
            cluster_count=store.summary.cluster_count(),
            clusters=tuple(store.summary.clusters(_MAX_CLUSTERS, _MAX_CLUSTER_URLS)),
        )
    if extent.graph:
        nodes = store.summary.nodes(MAX_NODES, _MAX_BROKEN_NODES)
        summary = replace(summary, graph=PageGraph(tuple(nodes), tuple(store.summary.links_between(node.id for node in nodes))))
    return summary


def _result(store: CrawlDatabase, stored: StoredCheck, counted: CheckTally, extent: ReportExtent) -> CheckResult:
    examples = []
    for _, _, place in counted.first:
        links = store.findings.inlinks(place.page_id, extent.inlinks) if extent.inlinks and place.page_id else []
        count = store.findings.inlink_count(place.page_id) if place.page_id else 0
        examples.append(FindingExample(store.findings.found_at(place), tuple(links), count))
    return CheckResult(
        number=stored.number,
        scope=stored.scope,
        check=stored.check,
        count=counted.count,
        suppressed=sum(counted.suppressed.values()),
        reasons=tuple(entry.reason for entry in counted.suppressed),
        examples=tuple(examples),
        templates=_largest_groups(counted.templates),
        segments=_largest_groups(counted.segments),
    )


def _by_severity(result: CheckResult) -> tuple[int, int, int]:
    return SEVERITIES.index(result.check.severity), -result.count, result.number


def summarize_times(times: Iterable[float], count: int) -> ResponseTimes:
    """The distribution of `count` sorted times."""
    wanted = [max(0, ceil(share * count) - 1) for share in (0.5, 0.9, 0.99)]
    found = [0.0, 0.0, 0.0]
    classes = [0] * (len(TIME_BOUNDS) + 1)
    for number, time in enumerate(times):
        classes[bisect_left(TIME_BOUNDS, time)] += 1
        for place, rank in enumerate(wanted):
            if number == rank:
                found[place] = time
    return ResponseTimes(count, found[0], found[1], found[2], tuple(classes))
