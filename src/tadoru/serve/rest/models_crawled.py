"""What a crawl found, as the REST interface gives it out: figures, findings, pages, links, the graph, comparisons.

The values are those of `jobs.audit.reading`, field by field; a test holds the answers to these.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from tadoru.serve.rest.models import Json, Out

Severity = Literal["error", "warning", "notice", "info"]
Counts = dict[str, int]


class CrawlTimes(Out):
    """How long the answers of the site took, in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: list[int] = Field(description="Upper ends of the classes, of which the last is open.")
    classes: list[int]


class CrawlCharts(Out):
    """What charts are drawn from."""

    classes: Counts = Field(description="The site's URLs by how they answered.", examples=[{"2xx": 412, "4xx": 3}])
    times: CrawlTimes
    depths: list[tuple[int, int]] = Field(description="Depth, and pages that answered there.", examples=[[[0, 1], [1, 12]]])


class CrawlReason(Out):
    """Why pages may, or may not, be shown by a search engine."""

    reason: str
    indexable: bool
    pages: int


class CrawlSkipped(Out):
    """Why URLs of the site were not requested."""

    reason: str
    urls: int


class CrawlSeverity(Out):
    """Findings of one severity."""

    severity: Severity
    checks: int
    findings: int
    pages: int


class CrawlHistory(Out):
    """A run that the crawl's own database knows."""

    number: int
    kind: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    score: float | None
    kept: bool = Field(description="Whether it can still be compared with.")


class CrawlOverview(Out):
    """A crawl in figures."""

    start_url: str
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    outcome: str | None = Field(description="complete, limit, time or interrupted; null while it runs.")
    score: float | None
    states: Counts = Field(description="URLs of the site by status.", examples=[{"completed": 412, "queued": 230}])
    codes: Counts = Field(description="Answers of the site by status code.", examples=[{"200": 409, "404": 3}])
    pages: int = Field(description="URLs of the site that were requested to the end.")
    waiting: int
    external: int = Field(description="Known URLs of other sites.")
    unlinked: int = Field(description="Pages that answered and to which no link leads.")
    indexable: int
    indexability: list[CrawlReason]
    skipped: list[CrawlSkipped]
    severities: list[CrawlSeverity] = Field(description="Of an audit; else empty.")
    charts: CrawlCharts
    runs: list[CrawlHistory]


class CrawlCheck(Out):
    """A check, and how often it applies."""

    id: str
    group: str
    severity: Severity
    title: str
    why: str
    fix: str
    threshold: float | None
    unit: str
    count: int


class CrawlFindings(Out):
    """What an audit found, the gravest first."""

    items: list[CrawlCheck]


class CrawlAffected(Out):
    """What a check applies to."""

    page_id: int | None = Field(description="Null when it is no page.")
    url: str
    subject: str
    detail: str
    data: Json
    title: str | None
    status_code: int | None
    depth: int | None
    inlinks: int | None


class CrawlAffectedPage(Out):
    """A check, and a part of what it applies to."""

    check: CrawlCheck
    items: list[CrawlAffected]
    next: str | None


class CrawledPage(Out):
    """A page of a crawl."""

    id: int
    url: str
    internal: bool
    status: Literal["discovered", "queued", "processing", "skipped", "completed", "error"]
    status_code: int | None
    title: str | None
    depth: int | None = Field(description="Null: no link leads to it.")
    content_type: str | None
    indexable: bool | None
    indexability: str | None
    response_ms: float | None
    size: int | None
    inlinks: int | None = Field(description="Null: not counted yet.")
    link_score: float | None
    findings: int
    redirect_url: str | None
    skip_reason: str | None
    error_type: str | None
    error_message: str | None
    crawled_at: datetime | None


class CrawledPages(Out):
    """A part of the pages."""

    items: list[CrawledPage]
    next: str | None


class CrawledLink(Out):
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


class CrawledLinks(Out):
    """A part of the links."""

    items: list[CrawledLink]
    next: str | None


class LinksOfPage(CrawledLinks):
    """The first links of a page; `next` is where the list of links goes on."""

    total: int | None


class CrawledHeading(Out):
    """A heading."""

    level: int
    text: str


class CrawledImage(Out):
    """An image, as the page names it."""

    src: str
    alt: str | None


class CrawledAlternate(Out):
    """The page in another language, as it names it."""

    language: str
    url: str
    source: str


class CrawledItem(Out):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Any


class CrawledHeader(Out):
    """A header field of the answer."""

    name: str
    value: str


class CrawledHop(Out):
    """A step of a redirect."""

    url: str
    status_code: int | None


class CrawledFinding(Out):
    """A check that applies to the page."""

    check: CrawlCheck
    subject: str
    detail: str
    data: Json


class CrawledPageDetail(Out):
    """Everything that is known of one page."""

    summary: CrawledPage
    facts: Json = Field(
        description="What is one value, by name: texts, directives, timings in milliseconds, the answer.",
        examples=[{"meta_description": "All about us.", "h1": "About us", "ttfb_ms": 41.5, "server": "nginx", "word_count": 380}],
    )
    headings: list[CrawledHeading]
    images: list[CrawledImage]
    hreflang: list[CrawledAlternate]
    structured_data: list[CrawledItem]
    headers: list[CrawledHeader]
    redirects: list[CrawledHop] = Field(description="The steps from this page on, when it redirects.")
    extracted: Json
    findings: list[CrawledFinding]
    inlinks: LinksOfPage
    outlinks: LinksOfPage


class CrawlNode(Out):
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


class CrawlGraph(Out):
    """The part of a site that is drawn."""

    start_url: str
    nodes: list[CrawlNode]
    edges: list[tuple[int, int]] = Field(description="Which page links to which.", examples=[[[1, 2], [2, 3]]])


class ComparedSide(Out):
    """One side of a comparison."""

    run: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    partial: bool = Field(description="It may not have come to all pages.")
    score: float | None
    pages: int


class ComparedPage(Out):
    """One change of one URL."""

    kind: str
    url: str
    before: str | int | float | None
    after: str | int | float | None
    check: str | None


class ComparedCheck(Out):
    """What became of the findings of one check."""

    check: str
    group: str
    severity: Severity
    title: str
    before: int
    after: int
    new: int
    fixed: int
    gone: int
    examples: list[ComparedPage]


class CrawlComparison(Out):
    """Two crawls, or two runs of one, side by side."""

    before: ComparedSide
    after: ComparedSide
    compared: int = Field(description="Pages that both have.")
    unseen: int = Field(description="Pages that only one of them came to, because the other was stopped.")
    totals: Counts = Field(description="How many changes there are of each kind.", examples=[{"broken": 2, "title": 14}])
    regressions: int
    changes: dict[str, list[ComparedPage]] = Field(description="The first changes of each kind.")
    checks: list[ComparedCheck]
