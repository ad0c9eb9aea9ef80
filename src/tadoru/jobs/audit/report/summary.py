"""Everything that a report shows of an audit, as one value; every form is made from it, and from the findings as they stream by.

Its size does not grow with the site: what is a list here is the first of something, with how many there are in all. Who fills it
is in `reading`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tadoru.jobs.audit.suppress import Entry
from tadoru.model.finding import Check, Severity
from tadoru.store.base import TrapRecord
from tadoru.store.found import FoundRow, Inlink
from tadoru.store.summary import ClusterRow, NodeRow, PageFigures, RedirectRow, SitemapFigures, SitemapRow, StateCount

TIME_BOUNDS = (50, 100, 200, 500, 1000, 2000, 5000)
"""Milliseconds: the upper ends of the classes of response times, the last of which is open."""


@dataclass(frozen=True, slots=True)
class Example:
    """A finding that is shown, with the links that lead there."""

    row: FoundRow
    inlinks: tuple[Inlink, ...]
    inlink_count: int


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check and what it found."""

    number: int
    scope: str
    check: Check
    count: int
    suppressed: int
    reasons: tuple[str, ...]
    """Why some were suppressed."""
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """How long answers took, in milliseconds."""

    count: int = 0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    classes: tuple[int, ...] = (0,) * (len(TIME_BOUNDS) + 1)
    """How many answers are in each class of `TIME_BOUNDS`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The part of the site that is drawn."""

    nodes: tuple[NodeRow, ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Crawl:
    """The crawl itself."""

    start_url: str
    version: str
    started: datetime | None
    ended: datetime | None
    outcome: str | None
    """`complete`, `limit`, `time`, `interrupted`; None while it runs, and when it was killed."""
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """An audit in figures."""

    crawl: Crawl
    score: float | None
    states: tuple[StateCount, ...]
    links: int
    indexability: tuple[tuple[str, bool, int], ...]
    """Reason, whether it is one for or against, and pages."""
    skipped: tuple[tuple[str, int], ...]
    depths: tuple[tuple[int, int], ...]
    unlinked: int
    """Pages that answered and to which no link leads."""
    times: Times
    results: tuple[CheckResult, ...]
    """One for each chosen check, those of one severity together and the gravest first."""
    pages_with: dict[Severity, int]
    unused: tuple[Entry, ...]
    traps: tuple[TrapRecord, ...]
    slowest: tuple[PageFigures, ...] = ()
    largest: tuple[PageFigures, ...] = ()
    redirect_count: int = 0
    redirects: tuple[RedirectRow, ...] = ()
    sitemap_figures: SitemapFigures = SitemapFigures(0, 0, 0, 0, 0)
    sitemaps: tuple[SitemapRow, ...] = ()
    cluster_count: int = 0
    clusters: tuple[ClusterRow, ...] = ()
    graph: Graph | None = None

    @property
    def found(self) -> tuple[CheckResult, ...]:
        """The checks that found something."""
        return tuple(result for result in self.results if result.count)

    @property
    def suppressed(self) -> int:
        return sum(result.suppressed for result in self.results)

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(result.count for result in self.results if result.check.severity is severity)

    def urls(self, *statuses: str) -> int:
        """URLs of the site that stand so."""
        return sum(state.urls for state in self.states if state.internal and state.status in statuses)

    @property
    def pages(self) -> int:
        """URLs of the site that were requested to the end."""
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
        """The site's URLs by how they answered: `2xx` to `5xx`, `no answer`, `not requested`, `waiting`."""
        found = dict.fromkeys(("2xx", "3xx", "4xx", "5xx", "no answer", "not requested", "waiting"), 0)
        for state in self.states:
            if state.internal:
                name = _class_of(state)
                found[name] = found.get(name, 0) + state.urls
        return found


def _class_of(state: StateCount) -> str:
    match state.status:
        case "completed":
            return f"{(state.status_code or 0) // 100}xx"
        case "error":
            return "no answer"
        case "queued" | "processing":
            return "waiting"
    return "not requested"
