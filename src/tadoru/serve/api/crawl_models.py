"""Models of crawls in the API: the crawls themselves, and lists of their results. The results are the records of
`jobs.audit.crawl_results`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.jobs.audit.crawl_results.models import CheckSummary
from tadoru.serve.api.models import Json, RequestModel, ResponseModel, ShortText, WholeNumber, list_model, page_model
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MAX_LISTED_URLS, MIN_INTERVAL
from tadoru.serve.crawl_runner.crawl_tables import RankedCheck
from tadoru.store.crawl.browse import AffectedPage, LinkSummary, PageSummary
from tadoru.store.served_crawls.schema import IgnoredFinding, SavedView, SharedReport

Job = Literal["audit", "links", "docs"]
State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
Every = Annotated[WholeNumber, Field(ge=MIN_INTERVAL, le=MAX_INTERVAL, description="Seconds between runs.")]
Webhook = Annotated[str, Field(max_length=2000, description="URL notified of regressions and recoveries; empty for none.")]
Schedule = Annotated[
    str,
    Field(
        max_length=100,
        description="A day (mon to sun, or daily), time and time zone, instead of an interval; empty for none.",
        examples=["mon 03:00 Asia/Tokyo"],
    ),
]
Recipients = Annotated[
    str, Field(max_length=1500, description="E-mail addresses that get the report after a scheduled run; empty for none.")
]
_CRAWL_EXAMPLE: Json = {
    "id": 12, "name": "Garden Society", "job": "audit", "starts": ["https://garden.example/"], "options": {"limit": 10_000},
    "state": "running", "wanted": "", "error": "", "every": 604_800, "schedule": "mon 03:00 Asia/Tokyo", "next_at": None,
    "has_webhook": False, "has_recipients": False, "has_own_files": True,
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
    schedule: str = Field(description="When it repeats: a day, time and time zone; empty for an interval.")
    next_at: datetime | None
    has_webhook: bool
    has_recipients: bool = Field(description="Whether somebody gets its report by e-mail.")
    has_own_files: bool = Field(description="False for a crawl that an operator added by path: its files are never removed.")
    created_at: datetime
    created_by: str
    started_at: datetime | None
    ended_at: datetime | None
    progress: Json = Field(description="Last progress: pages, errors, queued, known, rate, seconds.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CRAWL_EXAMPLE]})


CrawlPageOut = page_model("CrawlPage", CrawlOut, "A page of crawls, newest first.")


class NewCrawl(RequestModel):
    """A new crawl."""

    job: Job
    starts: Annotated[list[ShortText], Field(min_length=1, max_length=MAX_LISTED_URLS)] = Field(description="Start URLs.")
    name: Annotated[str, Field(max_length=200)] | None = Field(None, description="Name; default: the start URL.")
    options: Json = Field(default_factory=dict, description="Options by name; see /api/v1/crawl-options.")
    every: Every | None = None
    schedule: Schedule | None = None
    webhook: Webhook | None = None
    report_to: Recipients | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [
        {"job": "audit", "starts": ["https://garden.example/"], "name": "Garden Society", "options": {"limit": 500},
         "every": 604_800},
    ]})  # fmt: skip


class CrawlEdit(RequestModel):
    """Changes of a crawl; `every: null` ends the repetition, `webhook: null` removes the webhook."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    every: Every | None = None
    schedule: Schedule | None = None
    webhook: Webhook | None = None
    report_to: Recipients | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Garden Society", "every": 86_400}]})


class CrawlRunOut(ResponseModel):
    """One run of a crawl, for trends."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal["", "finished", "paused", "stopped", "failed"] = Field(description="Empty while it runs.")
    figures: Json = Field(description="Figures to compare runs by.")
    changes: Json = Field(description="Differences from the previous run, and whether they are a regression.")


CrawlRunPageOut = page_model("CrawlRunPage", CrawlRunOut, "A page of runs, newest first.")


class CrawlNoticeOut(ResponseModel):
    """A notice of a crawl."""

    at: datetime
    level: str = Field(description="info, warning or error.", examples=["info"])
    text: str = Field(examples=["Slowing down for garden.example."])


CrawlNoticesOut = list_model("CrawlNotices", CrawlNoticeOut, "The last notices of a crawl.")


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


class CrawlTableOut(ResponseModel):
    """A page of a table of a crawl."""

    columns: list[str]
    rows: list[list[Any]] = Field(description="The values of the columns.")
    total: int = Field(description="Matching rows, up to 50,000.")
    is_capped: bool = Field(description="There are more rows than `total`, and they are not sorted.")
    next: str | None


CrawlViewsOut = list_model("CrawlViews", SavedView, "The named views and segments of a crawl.")


CrawlViewOut = SavedView


class NewCrawlView(RequestModel):
    """A view to name, or a segment to define."""

    tab: Literal["pages", "links", "redirects", "resources", "occurrences", "segments"]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    query: Annotated[str, Field(max_length=2000)] = Field(
        "", description="The query string of a page; for a segment, paths such as /blog/ or /*/products/*."
    )

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [
        {"tab": "pages", "name": "Slow pages", "query": "response_ms=>1000&sort=response_ms"},
        {"tab": "segments", "name": "Blog", "query": "/blog/"},
    ]})  # fmt: skip


class CrawlSegmentOut(ResponseModel):
    """A segment of a site."""

    name: str
    pages: int
    broken: int
    findings: int


CrawlSegmentsOut = list_model("CrawlSegments", CrawlSegmentOut, "The segments of a site.")


CrawlPrioritiesOut = list_model("CrawlPriorities", RankedCheck, "The checks with findings, by what to fix first.")


CrawlIgnoredListOut = list_model("CrawlIgnoredList", IgnoredFinding, "The ignored findings of a crawl.")


class NewIgnoredFinding(RequestModel):
    """A finding to ignore."""

    check: Annotated[str, Field(min_length=1, max_length=100)] = Field(examples=["title-too-long"])
    url: Annotated[str, Field(max_length=2000)] = Field("", description="Only this page or target; empty for all.")
    reason: Annotated[str, Field(min_length=1, max_length=300)] = Field(examples=["The archive is no longer edited."])


CrawlSharesOut = list_model("CrawlShares", SharedReport, "The links to the report of a crawl.")


class NewCrawlShare(RequestModel):
    """A link to the report of a crawl."""

    label: Annotated[str, Field(max_length=80)] = Field("", examples=["Garden Society"])
    days: Literal[7, 30, 90, 365] = Field(30, description="How long it works.")


class NewCrawlShareOut(ResponseModel):
    """A new link, which is returned once."""

    url: str


CrawlFindingsOut = list_model("CrawlFindings", CheckSummary, "The findings of an audit, most severe first.")


class CrawlAffectedPageOut(ResponseModel):
    """A check and a page of its findings."""

    check: CheckSummary
    items: list[AffectedPage]
    next: str | None


CrawledPagesOut = page_model("CrawledPages", PageSummary, "A page of the list of pages.")


CrawledLinksOut = page_model("CrawledLinks", LinkSummary, "A page of links.")
