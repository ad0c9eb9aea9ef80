"""The values that are read from a crawl. Times have a time zone; durations are in milliseconds unless their name differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.store.crawl.browse import LinkListRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """A run in the database of the crawl."""

    number: int
    kind: str
    """`crawl` or `recrawl`."""
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    """`complete`, `limit`, `time`, `interrupted`; None while it runs, or if it was killed."""
    score: float | None
    kept: bool
    """Whether it can still be compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFigures:
    """The response times of the site, in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: tuple[int, ...]
    """Upper bounds of the classes; the last class has none."""
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexabilityCount:
    """A reason why pages are indexable or not, and their number."""

    reason: str
    indexable: bool
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityFigures:
    """Findings of one severity."""

    severity: str
    checks: int
    findings: int
    pages: int
    """Pages with such a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCount:
    """A reason why URLs of the site were not requested, and their number."""

    reason: str
    urls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCharts:
    """The data of the charts of a crawl."""

    classes: Mapping[str, int]
    """URLs of the site by response: `2xx` to `5xx`, `no answer`, `not requested`, `waiting`."""
    times: TimeFigures
    depths: tuple[tuple[int, int], ...]
    """Depth, and number of pages that responded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOverview:
    """A crawl in figures."""

    start_url: str
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    """Duration of the last run; None while it runs."""
    outcome: str | None
    score: float | None
    states: Mapping[str, int]
    """URLs of the site by status."""
    codes: Mapping[int, int]
    """Responses of the site by status code."""
    pages: int
    """URLs of the site whose request is complete."""
    waiting: int
    external: int
    """Known URLs of other sites."""
    unlinked: int
    """Pages that responded and have no inlinks."""
    indexable: int
    indexability: tuple[IndexabilityCount, ...]
    skipped: tuple[SkippedCount, ...]
    severities: tuple[SeverityFigures, ...]
    """Of an audit, most severe first; else empty."""
    charts: CrawlCharts
    runs: tuple[RunFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummary:
    """A check in one language, and the number of its findings."""

    id: str
    group: str
    severity: str
    title: str
    why: str
    fix: str
    threshold: float | None
    unit: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedPage:
    """A page, or something else, that a check applies to."""

    page_id: int | None
    url: str
    subject: str
    detail: str
    data: Mapping[str, Any]
    title: str | None
    status_code: int | None
    depth: int | None
    inlinks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """A page in a list."""

    id: int
    url: str
    internal: bool
    status: str
    status_code: int | None
    title: str | None
    depth: int | None
    """None if it has no inlinks."""
    content_type: str | None
    indexable: bool | None
    indexability: str | None
    response_ms: float | None
    size: int | None
    inlinks: int | None
    link_score: float | None
    findings: int
    redirect_url: str | None
    skip_reason: str | None
    error_type: str | None
    error_message: str | None
    crawled_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSummary:
    """A link with its source and target."""

    source_id: int
    source_url: str
    target_id: int
    target_url: str
    anchor: str
    rel: str
    fragment: str
    kind: str
    position: int
    internal: bool
    target_status: str
    target_code: int | None

    @classmethod
    def of(cls, line: LinkListRow) -> LinkSummary:
        return cls(**line._asdict())


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectStep:
    """A step of a redirect."""

    url: str
    status_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHeading:
    """A heading of a page."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """An image of a page."""

    src: str
    alt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAlternate:
    """An alternate of a page in another language."""

    language: str
    url: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredDataItem:
    """An item of structured data."""

    syntax: str
    type: str
    properties: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHeader:
    """A header field of the response."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding:
    """A check that applies to a page."""

    check: CheckSummary
    subject: str
    detail: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkList:
    """Some links, and the cursor of the rest."""

    items: tuple[LinkSummary, ...]
    next: str | None
    total: int | None
    """None if they were not counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetail:
    """All data of one page."""

    summary: PageSummary
    facts: Mapping[str, Any]
    """Single values: texts, directives, timings and the response, by the names of `FACTS`."""
    headings: tuple[PageHeading, ...]
    images: tuple[PageImage, ...]
    hreflang: tuple[PageAlternate, ...]
    structured_data: tuple[StructuredDataItem, ...]
    headers: tuple[ResponseHeader, ...]
    redirects: tuple[RedirectStep, ...]
    """The redirects that start at this page."""
    extracted: Mapping[str, Any]
    findings: tuple[PageFinding, ...]
    inlinks: LinkList
    outlinks: LinkList


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPage:
    """A page of the site graph."""

    id: int
    url: str
    title: str | None
    depth: int
    parent_id: int | None
    status: str
    status_code: int | None
    link_score: float
    inlinks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteGraph:
    """The pages of the site graph by depth and URL, and the links between them."""

    start_url: str
    nodes: tuple[GraphPage, ...]
    edges: tuple[tuple[int, int], ...]
