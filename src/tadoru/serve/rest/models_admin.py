"""What goes in and out of the part of the REST interface that is about collecting: sources, runs, answers to questions, the state
of things. `models` has the rest, and the rules that hold for all of them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.serve.rest.models import EventChange, In, Json, Line, Number, Out, Text, Whole, YesNo


class SourceState(Out):
    """What collecting a source has taught."""

    last_attempt: datetime | None
    last_success: datetime | None
    next_run_at: datetime | None
    failures: int
    last_error: str
    last_count: int | None
    etag: str | None
    last_modified: str | None


class Source(Out):
    """A place that events are collected from."""

    id: int
    name: str
    type: Literal["rss", "ics", "api", "html", "csv"]
    url: str
    city: str
    frequency: Literal["high", "normal", "low"]
    enabled: bool
    notes: str
    created_at: datetime
    updated_at: datetime
    settings: Json = Field(description="The values of `headers` are `***` for who may not change sources.")
    timezone: str
    priority: int
    depends_on: int | None
    licence: str
    terms_url: str
    allow_private: bool
    low_hours: int
    secret: str = Field(description="The name of the variable that holds its secret, never the secret.")
    state: SourceState


class SourcePage(Out):
    """A part of the register."""

    items: list[Source]
    next: str | None


class SourceFields(In):
    """What can be said about a source."""

    city: Line | None = None
    frequency: Literal["high", "normal", "low"] | None = None
    enabled: YesNo | None = None
    notes: Text | None = None
    settings: Json | None = Field(
        None, description="For its reader: a mapping, selectors and so on. A header whose value is `***` stays as it is."
    )
    timezone: Line | None = None
    priority: Whole | None = Field(None, ge=-1000, le=1000)
    depends_on: Number | None = None
    licence: Line | None = None
    terms_url: Line | None = None
    low_hours: Whole | None = Field(None, ge=24, le=72)


class NewSource(SourceFields):
    """A new source."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    type: Literal["rss", "ics", "api", "html", "csv"]
    url: Line

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"name": "Town", "type": "ics", "url": "https://town.example/events.ics", "city": "盛岡市", "licence": "CC BY 4.0"},
    ]})  # fmt: skip


class SourceEdit(SourceFields):
    """What is to be changed of a source; `depends_on: null` takes the dependency away."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    type: Literal["rss", "ics", "api", "html", "csv"] | None = None
    url: Line | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [{"frequency": "high"}]})


class SourceChange(Out):
    """One field of a source, changed once."""

    at: datetime
    by: str
    field: str
    old: Any
    new: Any


class SourceHistory(Out):
    """Every change of a source, the oldest first."""

    items: list[SourceChange]


class TrialEvent(Out):
    """An event that would be read."""

    position: str
    title: str
    starts_at: datetime
    ends_at: datetime | None
    all_day: bool
    venue: str
    city: str
    url: str
    occurrences: int


class TrialRow(Out):
    """A row that lacks something."""

    position: str
    title: str | None
    reason: str
    why: str


class Trial(Out):
    """What a source would give. Nothing of it is stored."""

    source_id: int
    error: str | None
    documents: int
    counts: dict[str, int]
    events: list[TrialEvent]
    quarantined: list[TrialRow]
    missing: list[str]


class Run(Out):
    """One collection of one source; without `status` it is under way."""

    id: int
    source_id: int
    started_at: datetime
    finished_at: datetime | None
    status: Literal["success", "fail", "partial"] | None
    fetched_count: int
    parsed_count: int
    upserted_count: int
    error_summary: str
    counts: dict[str, int]
    snapshot_paths: list[str]


class RunPage(Out):
    """A part of the log, the newest run first."""

    items: list[Run]
    next: str | None


class Accepted(Out):
    """A collection that was begun."""

    source_id: int
    runs: str = Field(description="Where its run appears.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"source_id": 3, "runs": "/api/v1/admin/runs?source=3"}]})


class Keep(In):
    """How to merge."""

    keep: Number | None = Field(None, description="The event that stays; without it the oldest.")


class Kept(Out):
    """Events, as they are after an answer."""

    event_ids: list[int] = Field(description="After a merge the one that is kept; after keep-apart and undo all of them.")


class Fix(EventChange):
    """What a row should have said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"starts_at": "2026-08-01 10:00"}]})


class Answered(Out):
    """What became of a row."""

    event_id: int
    is_event: bool = Field(description="False: it still lacks something, and the question stays open.")


class SourceHealth(Out):
    """How one source does."""

    source_id: int
    name: str
    enabled: bool
    state: Literal["disabled", "failing", "ok", "new"]
    rows: int
    runs: int
    failed_runs: int
    failure_rate: float | None
    duplicate_rate: float | None
    failures_in_a_row: int
    last_success: datetime | None
    next_run_at: datetime | None
    lag_seconds: int
    open_incidents: list[str]
    last_error: str


class Totals(Out):
    """The database in numbers."""

    events: dict[str, int]
    archived: int
    vanished: int
    rows: int
    duplicate_rows: int
    duplicate_rate: float | None
    merges: int
    open_reviews: int
    sources: int


class Status(Out):
    """How things are."""

    totals: Totals
    sources: list[SourceHealth]
