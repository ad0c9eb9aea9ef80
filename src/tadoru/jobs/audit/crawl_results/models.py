"""The values that are read from a crawl, as the service returns them.

Times have a time zone; durations are in milliseconds unless their name differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.model.finding import SeverityName
from tadoru.store.crawl.browse import LinkSummary, PageSummary, PublishedRecord
from tadoru.store.crawl.runs import RunFigures
from tadoru.store.crawl.summary import GraphPage


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFigures(PublishedRecord, published="CrawlTimes"):
    """Response times of the site in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: tuple[int, ...]
    """Upper bounds of the classes; the last class is open."""
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexabilityCount(PublishedRecord, published="CrawlReason"):
    """A reason why pages are indexable or not, and their number."""

    reason: str
    indexable: bool
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityFigures(PublishedRecord, published="CrawlSeverity"):
    """Findings of one severity."""

    severity: SeverityName
    checks: int
    findings: int
    pages: int
    """Pages with such a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCount(PublishedRecord, published="CrawlSkipped"):
    """A reason why URLs of the site were not requested, and their number."""

    reason: str
    urls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCharts(PublishedRecord):
    """The data of the charts of a crawl."""

    classes: Mapping[str, int]
    """URLs of the site by response: `2xx` to `5xx`, `no answer`, `not requested`, `waiting`."""
    times: TimeFigures
    depths: tuple[tuple[int, int], ...]
    """Depth, and number of pages that responded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOverview(PublishedRecord):
    """A crawl in figures."""

    start_url: str
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    """Duration of the last run; null while it runs."""
    outcome: str | None
    """complete, limit, time or interrupted; null while it runs."""
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
class CheckSummary(PublishedRecord, published="CrawlCheck"):
    """A check in one language, and the number of its findings."""

    id: str
    group: str
    severity: SeverityName
    title: str
    why: str
    fix: str
    threshold: float | None
    unit: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectStep(PublishedRecord, published="CrawledHop"):
    """A step of a redirect."""

    url: str
    status_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHeading(PublishedRecord, published="CrawledHeading"):
    """A heading of a page."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage(PublishedRecord, published="CrawledImage"):
    """An image of a page."""

    src: str
    alt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResource(PublishedRecord, published="CrawledResource"):
    """A resource that a page uses: an image, a script, a style sheet, a frame."""

    url: str
    kind: str
    status: str
    status_code: int | None
    content_type: str | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAlternate(PublishedRecord, published="CrawledAlternate"):
    """An alternate of a page in another language."""

    language: str
    url: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredDataItem(PublishedRecord, published="CrawledItem"):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHeader(PublishedRecord, published="CrawledHeader"):
    """A header field of the response."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding(PublishedRecord, published="CrawledFinding"):
    """A check that applies to a page."""

    check: CheckSummary
    subject: str
    detail: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkList(PublishedRecord, published="LinksOfPage"):
    """Some links, and the cursor of the rest."""

    items: tuple[LinkSummary, ...]
    next: str | None
    total: int | None
    """Null if they were not counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetail(PublishedRecord, published="CrawledPageDetail"):
    """All data of one page."""

    summary: PageSummary
    facts: Mapping[str, Any]
    """Single values by name: texts, directives, timings in milliseconds, the response."""
    headings: tuple[PageHeading, ...]
    images: tuple[PageImage, ...]
    resources: tuple[PageResource, ...]
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
class SiteGraph(PublishedRecord, published="CrawlGraph"):
    """The pages of the site graph by depth and URL, and the links between them."""

    start_url: str
    nodes: tuple[GraphPage, ...]
    edges: tuple[tuple[int, int], ...]
    """Links as pairs of page IDs."""
