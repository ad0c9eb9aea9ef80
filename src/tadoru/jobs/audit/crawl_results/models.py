"""What is read of a crawl, as plain values. Times are aware; a length is in milliseconds unless its name says else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tadoru.store.crawl.browse_links import LinkListRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """One run that the crawl's own database knows."""

    number: int
    kind: str
    """`crawl` or `recrawl`."""
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    """`complete`, `limit`, `time`, `interrupted`; None while it runs, and when it was killed."""
    score: float | None
    kept: bool
    """Whether it can still be compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFigures:
    """How long the answers of the site took, in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: tuple[int, ...]
    """Upper ends of the classes, of which the last is open."""
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexabilityCount:
    """Why pages may, or may not, be shown by a search engine."""

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
    """Pages with one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCount:
    """Why URLs of the site were not requested."""

    reason: str
    urls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCharts:
    """What the charts of a crawl are drawn from."""

    classes: Mapping[str, int]
    """The site's URLs by how they answered: `2xx` to `5xx`, `no answer`, `not requested`, `waiting`."""
    times: TimeFigures
    depths: tuple[tuple[int, int], ...]
    """Depth, and pages that answered there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOverview:
    """A crawl in figures."""

    start_url: str
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    """How long its last run took; None while it runs."""
    outcome: str | None
    score: float | None
    states: Mapping[str, int]
    """URLs of the site by status."""
    codes: Mapping[int, int]
    """Answers of the site by status code."""
    pages: int
    """URLs of the site that were requested to the end."""
    waiting: int
    external: int
    """Known URLs of other sites."""
    unlinked: int
    """Pages that answered and to which no link leads."""
    indexable: int
    indexability: tuple[IndexabilityCount, ...]
    skipped: tuple[SkippedCount, ...]
    severities: tuple[SeverityFigures, ...]
    """Of an audit, the gravest first; else empty."""
    charts: CrawlCharts
    runs: tuple[RunFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummary:
    """A check of the catalogue, in one language, and how often it applies."""

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
    """A page that a check applies to, or something that is no page."""

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
    """None: no link leads to it."""
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
    """A link with both its ends."""

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
    """An image of a page, as the page names it."""

    src: str
    alt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAlternate:
    """A page in another language, as a page names it."""

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
    """A header field of the answer."""

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
    """Some links, and where the list goes on."""

    items: tuple[LinkSummary, ...]
    next: str | None
    total: int | None
    """None while nobody has counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetail:
    """Everything that is known of one page."""

    summary: PageSummary
    facts: Mapping[str, Any]
    """What is one value: texts, directives, timings, the answer, by the names of `FACTS`."""
    headings: tuple[PageHeading, ...]
    images: tuple[PageImage, ...]
    hreflang: tuple[PageAlternate, ...]
    structured_data: tuple[StructuredDataItem, ...]
    headers: tuple[ResponseHeader, ...]
    redirects: tuple[RedirectStep, ...]
    """The steps from this page on, when it redirects."""
    extracted: Mapping[str, Any]
    findings: tuple[PageFinding, ...]
    inlinks: LinkList
    outlinks: LinkList


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPage:
    """A page in the picture of a site."""

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
    """The part of a site that is drawn: pages by depth and URL, and which of them link to which."""

    start_url: str
    nodes: tuple[GraphPage, ...]
    edges: tuple[tuple[int, int], ...]
