"""What goes in and out of the part of the REST interface that is about crawls themselves. What they found is in
`models_crawled`; `models` has the rules that hold for all of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.serve.crawling.allowed import LONGEST_EVERY, MOST_LISTED, SHORTEST_EVERY
from tadoru.serve.rest.models import In, Json, Line, Out, Whole

Job = Literal["audit", "links", "docs"]
State = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
Every = Annotated[Whole, Field(ge=SHORTEST_EVERY, le=LONGEST_EVERY, description="Seconds from one run to the next.")]
Webhook = Annotated[
    str, Field(max_length=2000, description="Told when a run finds the site worse, or well again; empty for none.")
]
_CRAWL_EXAMPLE: Json = {
    "id": 12, "name": "Garden Society", "job": "audit", "starts": ["https://garden.example/"], "options": {"limit": 10_000},
    "state": "running", "wanted": "", "error": "", "every": 604_800, "next_at": None, "has_webhook": False, "has_own_files": True,
    "created_at": "2026-08-01T09:00:00Z", "created_by": "mia", "started_at": "2026-08-01T09:00:02Z", "ended_at": None,
    "progress": {"pages": 412, "errors": 1, "queued": 230, "known": 980, "rate": 8.4, "seconds": 49.0},
}  # fmt: skip


class Crawl(Out):
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


class CrawlPage(Out):
    """A part of the register, the newest first."""

    items: list[Crawl]
    next: str | None


class NewCrawl(In):
    """A crawl to be run as soon as there is room."""

    job: Job
    starts: Annotated[list[Line], Field(min_length=1, max_length=MOST_LISTED)] = Field(description="Where it starts.")
    name: Annotated[str, Field(max_length=200)] | None = Field(None, description="Without one it is called as its start.")
    options: Json = Field(default_factory=dict, description="What was chosen; see /api/v1/crawl-options.")
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [
        {"job": "audit", "starts": ["https://garden.example/"], "name": "Garden Society", "options": {"limit": 500},
         "every": 604_800},
    ]})  # fmt: skip


class CrawlEdit(In):
    """What is to be changed of a crawl; `every: null` ends its rhythm, `webhook: null` takes that away."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    every: Every | None = None
    webhook: Webhook | None = None

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Garden Society", "every": 86_400}]})


class CrawlRun(Out):
    """One run of a crawl, as trends know it."""

    id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Literal["", "finished", "paused", "stopped", "failed"] = Field(description="Empty while it runs.")
    figures: Json = Field(description="Numbers to compare runs by.")
    changes: Json = Field(description="What is different from the run before, and whether that is a regression.")


class CrawlRunPage(Out):
    """The runs of a crawl, the newest first."""

    items: list[CrawlRun]
    next: str | None


class CrawlNotice(Out):
    """Something that a crawl said about itself."""

    at: datetime
    level: str = Field(description="info, warning or error.", examples=["info"])
    text: str = Field(examples=["Slowing down for garden.example."])


class CrawlNotices(Out):
    """The last notices of a crawl."""

    items: list[CrawlNotice]


class CrawlOption(Out):
    """One thing to choose for a crawl."""

    name: str
    kind: Literal["whole", "seconds", "flag", "one", "text", "texts"]
    default: Any
    least: float | None
    most: float | None
    values: list[str] = Field(description="What can be chosen, when it is one of these.")
    admin: bool = Field(description="Only an admin may choose it.")
    what: str


class CrawlOptions(Out):
    """What may be chosen for a crawl, by job."""

    audit: list[CrawlOption]
    links: list[CrawlOption]
    docs: list[CrawlOption]
