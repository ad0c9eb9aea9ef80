"""What goes in and out of the part of the REST interface that is about crawls themselves. What they found is in
`models_crawled`; `models` has the rules that hold for all of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.serve.api.models import Json, RequestModel, ResponseModel, ShortText, WholeNumber
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MAX_LISTED_URLS, MIN_INTERVAL

Job = Literal["audit", "links", "docs"]
State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
Every = Annotated[WholeNumber, Field(ge=MIN_INTERVAL, le=MAX_INTERVAL, description="Seconds from one run to the next.")]
Webhook = Annotated[
    str, Field(max_length=2000, description="Told when a run finds the site worse, or well again; empty for none.")
]
_CRAWL_EXAMPLE: Json = {
    "id": 12, "name": "Garden Society", "job": "audit", "starts": ["https://garden.example/"], "options": {"limit": 10_000},
    "state": "running", "wanted": "", "error": "", "every": 604_800, "next_at": None, "has_webhook": False, "has_own_files": True,
    "created_at": "2026-08-01T09:00:00Z", "created_by": "mia", "started_at": "2026-08-01T09:00:02Z", "ended_at": None,
    "progress": {"pages": 412, "errors": 1, "queued": 230, "known": 980, "rate": 8.4, "seconds": 49.0},
}  # fmt: skip


class CrawlOut(ResponseModel):
    """A crawl that the service knows."""

    id: int
    name: str
    job: Job
    starts: list[str]
    options: Json = Field(description="What was chosen, by the names of the job's options.")
    state: State
    wanted: Literal["", "pause", "stop"] = Field(description="What a running crawl was asked for, until it has done so.")
    error: str = Field(description="Why it failed.")
    every: int | None = Field(description="Seconds from one run to the next, of a crawl that repeats itself.")
    next_at: datetime | None
    has_webhook: bool
    has_own_files: bool = Field(description="False for a crawl that an operator added by its path: its files are never removed.")
    created_at: datetime
    created_by: str
    started_at: datetime | None
    ended_at: datetime | None
    progress: Json = Field(description="The last that was heard of its run: pages, errors, queued, known, rate, seconds.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CRAWL_EXAMPLE]})


class CrawlPageOut(ResponseModel):
    """A part of the register, the newest first."""

    items: list[CrawlOut]
    next: str | None


class NewCrawl(RequestModel):
    """A crawl to be run as soon as there is room."""

    job: Job
    starts: Annotated[list[ShortText], Field(min_length=1, max_length=MAX_LISTED_URLS)] = Field(description="Where it starts.")
    name: Annotated[str, Field(max_length=200)] | None = Field(None, description="Without one it is called as its start.")
    options: Json = Field(default_factory=dict, description="What was chosen; see /api/v1/crawl-options.")
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [
        {"job": "audit", "starts": ["https://garden.example/"], "name": "Garden Society", "options": {"limit": 500},
         "every": 604_800},
    ]})  # fmt: skip


class CrawlEdit(RequestModel):
    """What is to be changed of a crawl; `every: null` ends its rhythm, `webhook: null` takes that away."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Garden Society", "every": 86_400}]})


class CrawlRunOut(ResponseModel):
    """One run of a crawl, as trends know it."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal["", "finished", "paused", "stopped", "failed"] = Field(description="Empty while it runs.")
    figures: Json = Field(description="Numbers to compare runs by.")
    changes: Json = Field(description="What is different from the run before, and whether that is a regression.")


class CrawlRunPageOut(ResponseModel):
    """The runs of a crawl, the newest first."""

    items: list[CrawlRunOut]
    next: str | None


class CrawlNoticeOut(ResponseModel):
    """Something that a crawl said about itself."""

    at: datetime
    level: str = Field(description="info, warning or error.", examples=["info"])
    text: str = Field(examples=["Slowing down for garden.example."])


class CrawlNoticesOut(ResponseModel):
    """The last notices of a crawl."""

    items: list[CrawlNoticeOut]


class CrawlOptionOut(ResponseModel):
    """One thing to choose for a crawl."""

    name: str
    kind: Literal["whole", "seconds", "flag", "one", "text", "texts"]
    default: Any
    least: float | None
    most: float | None
    values: list[str] = Field(description="What can be chosen, when it is one of these.")
    admin: bool = Field(description="Only an admin may choose it.")
    what: str


class CrawlOptionsOut(ResponseModel):
    """What may be chosen for a crawl, by job."""

    audit: list[CrawlOptionOut]
    links: list[CrawlOptionOut]
    docs: list[CrawlOptionOut]


Severity = Literal["error", "warning", "notice", "info"]
Counts = dict[str, int]


class CrawlTimesOut(ResponseModel):
    """How long the answers of the site took, in milliseconds."""

    count: int
    p50: int | None
    p90: int | None
    p99: int | None
    bounds: list[int] = Field(description="Upper ends of the classes, of which the last is open.")
    classes: list[int]


class CrawlChartsOut(ResponseModel):
    """What charts are drawn from."""

    classes: Counts = Field(description="The site's URLs by how they answered.", examples=[{"2xx": 412, "4xx": 3}])
    times: CrawlTimesOut
    depths: list[tuple[int, int]] = Field(description="Depth, and pages that answered there.", examples=[[[0, 1], [1, 12]]])


class CrawlReasonOut(ResponseModel):
    """Why pages may, or may not, be shown by a search engine."""

    reason: str
    indexable: bool
    pages: int


class CrawlSkippedOut(ResponseModel):
    """Why URLs of the site were not requested."""

    reason: str
    urls: int


class CrawlSeverityOut(ResponseModel):
    """Findings of one severity."""

    severity: Severity
    checks: int
    findings: int
    pages: int


class CrawlHistoryOut(ResponseModel):
    """A run that the crawl's own database knows."""

    number: int
    kind: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    score: float | None
    kept: bool = Field(description="Whether it can still be compared with.")


class CrawlOverviewOut(ResponseModel):
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
    indexability: list[CrawlReasonOut]
    skipped: list[CrawlSkippedOut]
    severities: list[CrawlSeverityOut] = Field(description="Of an audit; else empty.")
    charts: CrawlChartsOut
    runs: list[CrawlHistoryOut]


class CrawlCheckOut(ResponseModel):
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


class CrawlFindingsOut(ResponseModel):
    """What an audit found, the gravest first."""

    items: list[CrawlCheckOut]


class CrawlAffectedOut(ResponseModel):
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


class CrawlAffectedPageOut(ResponseModel):
    """A check, and a part of what it applies to."""

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


class CrawledPagesOut(ResponseModel):
    """A part of the pages."""

    items: list[CrawledPageOut]
    next: str | None


class CrawledLinkOut(ResponseModel):
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


class CrawledLinksOut(ResponseModel):
    """A part of the links."""

    items: list[CrawledLinkOut]
    next: str | None


class LinksOfPageOut(CrawledLinksOut):
    """The first links of a page; `next` is where the list of links goes on."""

    total: int | None


class CrawledHeadingOut(ResponseModel):
    """A heading."""

    level: int
    text: str


class CrawledImageOut(ResponseModel):
    """An image, as the page names it."""

    src: str
    alt: str | None


class CrawledAlternateOut(ResponseModel):
    """The page in another language, as it names it."""

    language: str
    url: str
    source: str


class CrawledItemOut(ResponseModel):
    """An item of structured data."""

    syntax: str
    type: str
    properties: Any


class CrawledHeaderOut(ResponseModel):
    """A header field of the answer."""

    name: str
    value: str


class CrawledHopOut(ResponseModel):
    """A step of a redirect."""

    url: str
    status_code: int | None


class CrawledFindingOut(ResponseModel):
    """A check that applies to the page."""

    check: CrawlCheckOut
    subject: str
    detail: str
    data: Json


class CrawledPageDetailOut(ResponseModel):
    """Everything that is known of one page."""

    summary: CrawledPageOut
    facts: Json = Field(
        description="What is one value, by name: texts, directives, timings in milliseconds, the answer.",
        examples=[{"meta_description": "All about us.", "h1": "About us", "ttfb_ms": 41.5, "server": "nginx", "word_count": 380}],
    )
    headings: list[CrawledHeadingOut]
    images: list[CrawledImageOut]
    hreflang: list[CrawledAlternateOut]
    structured_data: list[CrawledItemOut]
    headers: list[CrawledHeaderOut]
    redirects: list[CrawledHopOut] = Field(description="The steps from this page on, when it redirects.")
    extracted: Json
    findings: list[CrawledFindingOut]
    inlinks: LinksOfPageOut
    outlinks: LinksOfPageOut


class CrawlNodeOut(ResponseModel):
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


class CrawlGraphOut(ResponseModel):
    """The part of a site that is drawn."""

    start_url: str
    nodes: list[CrawlNodeOut]
    edges: list[tuple[int, int]] = Field(description="Which page links to which.", examples=[[[1, 2], [2, 3]]])


class ComparedSideOut(ResponseModel):
    """One side of a comparison."""

    run: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    partial: bool = Field(description="It may not have come to all pages.")
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
    examples: list[ComparedPageOut]


class CrawlComparisonOut(ResponseModel):
    """Two crawls, or two runs of one, side by side."""

    before: ComparedSideOut
    after: ComparedSideOut
    compared: int = Field(description="Pages that both have.")
    unseen: int = Field(description="Pages that only one of them came to, because the other was stopped.")
    totals: Counts = Field(description="How many changes there are of each kind.", examples=[{"broken": 2, "title": 14}])
    regressions: int
    changes: dict[str, list[ComparedPageOut]] = Field(description="The first changes of each kind.")
    checks: list[ComparedCheckOut]
