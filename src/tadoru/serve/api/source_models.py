"""Models of sources, runs, the resolution of reviews, and source health."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tadoru.serve.api.models import (
    EventChange,
    Flag,
    IdNumber,
    Json,
    LongText,
    RequestModel,
    ResponseModel,
    ShortText,
    WholeNumber,
    list_model,
    page_model,
)


class SourceStateOut(ResponseModel):
    """The state of a source."""

    last_attempt: datetime | None
    last_success: datetime | None
    next_run_at: datetime | None
    failures: int
    last_error: str
    last_count: int | None
    etag: str | None
    last_modified: str | None


class SourceOut(ResponseModel):
    """A source of events."""

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
    settings: Json = Field(description="The values of `headers` are `***` without permission to change sources.")
    timezone: str
    priority: int
    depends_on: int | None
    licence: str
    terms_url: str
    allow_private: bool
    low_hours: int
    secret: str = Field(description="Name of the variable with its secret, never the secret.")
    state: SourceStateOut


SourcePageOut = page_model("SourcePage", SourceOut, "A page of sources.")


class SourceFields(RequestModel):
    """The editable fields of a source."""

    city: ShortText | None = None
    frequency: Literal["high", "normal", "low"] | None = None
    enabled: Flag | None = None
    notes: LongText | None = None
    settings: Json | None = Field(
        None, description="Parser settings: mapping, selectors and so on. A header with the value `***` stays unchanged."
    )
    timezone: ShortText | None = None
    priority: WholeNumber | None = Field(None, ge=-1000, le=1000)
    depends_on: IdNumber | None = None
    licence: ShortText | None = None
    terms_url: ShortText | None = None
    low_hours: WholeNumber | None = Field(None, ge=24, le=72)


class NewSource(SourceFields):
    """A new source."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    type: Literal["rss", "ics", "api", "html", "csv"]
    url: ShortText

    model_config = ConfigDict(json_schema_extra={"examples": [
        {"name": "Town", "type": "ics", "url": "https://town.example/events.ics", "city": "盛岡市", "licence": "CC BY 4.0"},
    ]})  # fmt: skip


class SourceEdit(SourceFields):
    """Changes of a source; `depends_on: null` removes the dependency."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    type: Literal["rss", "ics", "api", "html", "csv"] | None = None
    url: ShortText | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [{"frequency": "high"}]})


class SourceChangeOut(ResponseModel):
    """A change of one field of a source."""

    at: datetime
    by: str
    field: str
    old: Any
    new: Any


SourceHistoryOut = list_model("SourceHistory", SourceChangeOut, "The changes of a source, oldest first.")


class TrialEventOut(ResponseModel):
    """An event that would be parsed."""

    position: str
    title: str
    starts_at: datetime
    ends_at: datetime | None
    all_day: bool
    venue: str
    city: str
    url: str
    occurrences: int


class TrialRowOut(ResponseModel):
    """An incomplete item."""

    position: str
    title: str | None
    reason: str
    why: str


class TrialOut(ResponseModel):
    """The result of a test of a source. Nothing is stored."""

    source_id: int
    error: str | None
    documents: int
    counts: dict[str, int]
    events: list[TrialEventOut]
    quarantined: list[TrialRowOut]
    missing: list[str]


class RunOut(ResponseModel):
    """A run of a source; without `status` it is in progress."""

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


RunPageOut = page_model("RunPage", RunOut, "A page of runs, newest first.")


class AcceptedOut(ResponseModel):
    """A started run."""

    source_id: int
    runs: str = Field(description="URL of its runs.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"source_id": 3, "runs": "/api/v1/admin/runs?source=3"}]})


class MergeIn(RequestModel, published="Keep"):
    """Options of a merge."""

    keep: IdNumber | None = Field(None, description="ID of the event to keep; default: the oldest.")


class EventIdsOut(ResponseModel, published="Kept"):
    """Events after a review was resolved."""

    event_ids: list[int] = Field(description="After a merge the kept event; after keep-apart and undo all events.")


class RowFixIn(EventChange, published="Fix"):
    """Missing fields of an item."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"starts_at": "2026-08-01 10:00"}]})


class RowAnswerOut(ResponseModel, published="Answered"):
    """The result of resolving an item."""

    event_id: int
    is_event: bool = Field(description="False if it is still incomplete and the review stays open.")


class SourceHealthOut(ResponseModel):
    """The health of a source."""

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


class TotalsOut(ResponseModel):
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


class StatusOut(ResponseModel):
    """Totals and source health."""

    totals: TotalsOut
    sources: list[SourceHealthOut]
