"""Models of crawls in the API: the crawls themselves, and their results (overview, findings, pages, links, graph, comparison).

The fields of the results are those of `jobs.audit.crawl_results`; a test checks the responses against these models.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.serve.api.models import Json, RequestModel, ResponseModel, ShortText, WholeNumber
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MAX_LISTED_URLS, MIN_INTERVAL

Job = Literal["audit", "links", "docs"]
State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
Every = Annotated[WholeNumber, Field(ge=MIN_INTERVAL, le=MAX_INTERVAL, description="Seconds between runs.")]
Webhook = Annotated[str, Field(max_length=2000, description="URL notified of regressions and recoveries; empty for none.")]
_CRAWL_EXAMPLE: Json = {
    "id": 12, "name": "Garden Society", "job": "audit", "starts": ["https://garden.example/"], "options": {"limit": 10_000},
    "state": "running", "wanted": "", "error": "", "every": 604_800, "next_at": None, "has_webhook": False, "has_own_files": True,
    "created_at": "2026-08-01T09:00:00Z", "created_by": "mia", "started_at": "2026-08-01T09:00:02Z", "ended_at": None,
    "progress": {"pages": 412, "errors": 1, "queued": 230, "known": 980, "rate": 8.4, "seconds": 49.0},
}  # fmt: skip


class CrawlOut(ResponseModel):
    """A crawl of the service."""

    id: int
    name: str
    job: Job
    starts: list[str]
    options: Json = Field(description="Chosen options by name.")
    state: State
    wanted: Literal["", "pause", "stop"] = Field(description="Requested action of a running crawl.")
    error: str = Field(description="Reason of the failure.")
    every: int | None = Field(description="Seconds between runs of a repeating crawl.")
    next_at: datetime | None
    has_webhook: bool
    has_own_files: bool = Field(description="False for a crawl that an operator added by path: its files are never removed.")
    created_at: datetime
    created_by: str
    started_at: datetime | None
    ended_at: datetime | None
    progress: Json = Field(description="Last progress: pages, errors, queued, known, rate, seconds.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CRAWL_EXAMPLE]})


class CrawlPageOut(ResponseModel):
    """A page of crawls, newest first."""

    items: list[CrawlOut]
    next: str | None


class NewCrawl(RequestModel):
    """A new crawl."""

    job: Job
    starts: Annotated[list[ShortText], Field(min_length=1, max_length=MAX_LISTED_URLS)] = Field(description="Start URLs.")
    name: Annotated[str, Field(max_length=200)] | None = Field(None, description="Name; default: the start URL.")
    options: Json = Field(default_factory=dict, description="Options by name; see /api/v1/crawl-options.")
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [
        {"job": "audit", "starts": ["https://garden.example/"], "name": "Garden Society", "options": {"limit": 500},
         "every": 604_800},
    ]})  # fmt: skip


class CrawlEdit(RequestModel):
    """Changes of a crawl; `every: null` ends the repetition, `webhook: null` removes the webhook."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Garden Society", "every": 86_400}]})


class CrawlRunOut(ResponseModel):
    """One run of a crawl, for trends."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal["", "finished", "paused", "stopped", "failed"] = Field(description="Empty while it runs.")
    figures: Json = Field(description="Figures to compare runs by.")
    changes: Json = Field(description="Differences from the previous run, and whether they are a regression.")


class CrawlRunPageOut(ResponseModel):
    """A page of runs, newest first."""

    items: list[CrawlRunOut]
    next: str | None


class CrawlNoticeOut(ResponseModel):
    """A notice of a crawl."""

    at: datetime
    level: str = Field(description="info, warning or error.", examples=["info"])
    text: str = Field(examples=["Slowing down for garden.example."])


class CrawlNoticesOut(ResponseModel):
    """The last notices of a crawl."""

    items: list[CrawlNoticeOut]


class CrawlOptionOut(ResponseModel):
    """One option of a crawl."""

    name: str
    kind: Literal["whole", "seconds", "flag", "one", "text", "texts"]
    default: Any
    least: float | None
    most: float | None
    values: list[str] = Field(description="Allowed values, if they are fixed.")
    admin: bool = Field(description="Only an administrator may set it.")
    what: str


class CrawlOptionsOut(ResponseModel):
    """The options of crawls by job."""

    audit: list[CrawlOptionOut]
    links: list[CrawlOptionOut]
    docs: list[CrawlOptionOut]


Severity = Literal["error", "warning", "notice", "info"]
Counts = dict[str, int]


class CrawlTimesOut(ResponseModel):
    """Response times of the site in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: list[int] = Field(description="Upper bounds of the classes; the last class is open.")
    classes: list[int]


class CrawlChartsOut(ResponseModel):
    """Data of charts."""

    classes: Counts = Field(description="URLs of the site by status class.", examples=[{"2xx": 412, "4xx": 3}])
    times: CrawlTimesOut
    depths: list[tuple[int, int]] = Field(description="Depth and number of pages.", examples=[[[0, 1], [1, 12]]])


class CrawlReasonOut(ResponseModel):
    """A reason why pages are indexable or not."""

    reason: str
    indexable: bool
    pages: int


class CrawlSkippedOut(ResponseModel):
    """A reason why URLs of the site were skipped."""

    reason: str
    urls: int


class CrawlSeverityOut(ResponseModel):
    """Findings of one severity."""

    severity: Severity
    checks: int
    findings: int
    pages: int


class CrawlHistoryOut(ResponseModel):
    """A run in the crawl's database."""

    number: int
    kind: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    score: float | None
    kept: bool = Field(description="Whether it can still be compared.")


class CrawlOverviewOut(ResponseModel):
    """The overview of a crawl."""

    start_url: str
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    outcome: str | None = Field(description="complete, limit, time or interrupted; null while it runs.")
    score: float | None
    states: Counts = Field(description="URLs of the site by status.", examples=[{"completed": 412, "queued": 230}])
    codes: Counts = Field(description="Responses of the site by status code.", examples=[{"200": 409, "404": 3}])
    pages: int = Field(description="Finished URLs of the site.")
    waiting: int
    external: int = Field(description="Known external URLs.")
    unlinked: int = Field(description="Pages without inlinks.")
    indexable: int
    indexability: list[CrawlReasonOut]
    skipped: list[CrawlSkippedOut]
    severities: list[CrawlSeverityOut] = Field(description="Findings by severity; empty if the crawl is no audit.")
    charts: CrawlChartsOut
    runs: list[CrawlHistoryOut]


class CrawlCheckOut(ResponseModel):
    """A check and its number of findings."""

    id: str
    group: str
    severity: Severity
    title: str
    why: str
    fix: str
    threshold: float | None
    unit: str
    count: int


class CrawlFindingsOut(ResponseModel):
    """The findings of an audit, most severe first."""

    items: list[CrawlCheckOut]


class CrawlAffectedOut(ResponseModel):
    """A subject of a finding."""

    page_id: int | None = Field(description="Null if the subject is not a page.")
    url: str
    subject: str
    detail: str
    data: Json
    title: str | None
    status_code: int | None
    depth: int | None
    inlinks: int | None


class CrawlAffectedPageOut(ResponseModel):
    """A check and a page of its findings."""

    check: CrawlCheckOut
    items: list[CrawlAffectedOut]
    next: str | None


class CrawledPageOut(ResponseModel):
    """A page of a crawl."""

    id: int
    url: str
    internal: bool
    status: Literal["discovered", "queued", "processing", "skipped", "completed", "error"]
    status_code: int | None
    title: str | None
    depth: int | None = Field(description="Null if it has no inlinks.")
    content_type: str | None
    indexable: bool | None
    indexability: str | None
    response_ms: float | None
    size: int | None
    inlinks: int | None = Field(description="Null if not counted yet.")
    link_score: float | None
    findings: int
    redirect_url: str | None
    skip_reason: str | None
    error_type: str | None
    error_message: str | None
    crawled_at: datetime | None


class CrawledPagesOut(ResponseModel):
    """A page of the list of pages."""

    items: list[CrawledPageOut]
    next: str | None


class CrawledLinkOut(ResponseModel):
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


class CrawledLinksOut(ResponseModel):
    """A page of links."""

    items: list[CrawledLinkOut]
    next: str | None


class LinksOfPageOut(CrawledLinksOut):
    """The first links of a page; `next` continues the list."""

    total: int | None


class CrawledHeadingOut(ResponseModel):
    """A heading."""

    level: int
    text: str


class CrawledImageOut(ResponseModel):
    """An image of the page."""

    src: str
    alt: str | None


class CrawledAlternateOut(ResponseModel):
    """An hreflang alternate of the page."""

    language: str
    url: str
    source: str


class CrawledItemOut(ResponseModel):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Any


class CrawledHeaderOut(ResponseModel):
    """A header of the response."""

    name: str
    value: str


class CrawledHopOut(ResponseModel):
    """A step of a redirect chain."""

    url: str
    status_code: int | None


class CrawledFindingOut(ResponseModel):
    """A finding of the page."""

    check: CrawlCheckOut
    subject: str
    detail: str
    data: Json


class CrawledPageDetailOut(ResponseModel):
    """All data of one page."""

    summary: CrawledPageOut
    facts: Json = Field(
        description="Single values by name: texts, directives, timings in milliseconds, the response.",
        examples=[{"meta_description": "All about us.", "h1": "About us", "ttfb_ms": 41.5, "server": "nginx", "word_count": 380}],
    )
    headings: list[CrawledHeadingOut]
    images: list[CrawledImageOut]
    hreflang: list[CrawledAlternateOut]
    structured_data: list[CrawledItemOut]
    headers: list[CrawledHeaderOut]
    redirects: list[CrawledHopOut] = Field(description="The redirect chain from this page.")
    extracted: Json
    findings: list[CrawledFindingOut]
    inlinks: LinksOfPageOut
    outlinks: LinksOfPageOut


class CrawlNodeOut(ResponseModel):
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


class CrawlGraphOut(ResponseModel):
    """The graph of a site."""

    start_url: str
    nodes: list[CrawlNodeOut]
    edges: list[tuple[int, int]] = Field(description="Links as pairs of page IDs.", examples=[[[1, 2], [2, 3]]])


class ComparedSideOut(ResponseModel):
    """One side of a comparison."""

    run: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    partial: bool = Field(description="It may not have reached all pages.")
    score: float | None
    pages: int


class ComparedPageOut(ResponseModel):
    """One change of one URL."""

    kind: str
    url: str
    before: str | int | float | None
    after: str | int | float | None
    check: str | None


class ComparedCheckOut(ResponseModel):
    """Changes of the findings of one check."""

    check: str
    group: str
    severity: Severity
    title: str
    before: int
    after: int
    new: int
    fixed: int
    gone: int
    examples: list[ComparedPageOut]


class CrawlComparisonOut(ResponseModel):
    """A comparison of two crawls or two runs."""

    before: ComparedSideOut
    after: ComparedSideOut
    compared: int = Field(description="Pages in both.")
    unseen: int = Field(description="Pages that only one of them reached, because the other was stopped.")
    totals: Counts = Field(description="Number of changes by kind.", examples=[{"broken": 2, "title": 14}])
    regressions: int
    changes: dict[str, list[ComparedPageOut]] = Field(description="First changes of each kind.")
    checks: list[ComparedCheckOut]
