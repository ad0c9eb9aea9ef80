"""The values that cross the border of the events database, and what it asks of whoever judges events (`Matcher`).

A judge knows when two drafts are one event and which words win; the database knows neither. It is handed in by the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from itertools import islice
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, insert, select

from tadoru.model.event import EventDraft, EventStatus, ReviewReason, RunStatus, SourceType
from tadoru.store.calendar.drafts import draft_from_json
from tadoru.store.calendar.schema import events, sightings, sources


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """A place that events are collected from. What is checked about its settings is the readers' affair."""

    id: int
    name: str
    type: SourceType
    url: str
    city: str
    frequency: str
    """high, normal or low."""
    enabled: bool
    notes: str
    created_at: datetime
    updated_at: datetime
    settings: Mapping[str, Any]
    timezone: str
    priority: int
    """The greater one is collected first."""
    depends_on: int | None
    licence: str
    terms_url: str
    allow_private: bool
    named_host: str
    """A private `host:port` that the person typed, and that is therefore permitted."""
    low_hours: int
    secret: str
    """Where the secret is (the name of a variable), never the secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEdit:
    """One field of a source, changed once. A source that is added or removed is the field `source`."""

    at: datetime
    by: str
    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionState:
    """What collecting a source has taught."""

    source_id: int
    etag: bytes | None
    last_modified: bytes | None
    body_hash: str
    last_attempt: datetime | None
    last_success: datetime | None
    failures: int
    last_error: str
    last_count: int | None
    next_run_at: datetime
    backoff: float
    lease_worker: int | None
    kept: Mapping[str, Any] | None
    """Whatever else the job wants to remember about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """One collection of one source; without `status` it is under way."""

    id: int
    source_id: int
    started_at: datetime
    finished_at: datetime | None
    status: RunStatus | None
    fetched_count: int
    parsed_count: int
    upserted_count: int
    error_summary: str
    counts: Mapping[str, int]
    snapshot_paths: tuple[str, ...]
    worker_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where a body was kept."""

    id: int
    source_id: int
    event_candidate_id: int | None
    url: str
    content_path: str
    fetched_at: datetime
    etag: bytes | None
    last_modified: bytes | None
    run_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """An event as it is kept."""

    id: int
    uid: str
    """Ours, for calendars; it stays when everything else changes."""
    title: str
    title_clean: str
    description: str
    starts_at: datetime | None
    """None only in quarantine."""
    ends_at: datetime | None
    all_day: bool
    has_time: bool
    local_date: date | None
    timezone: str
    venue: str
    venue_clean: str
    address: str
    city: str
    lat: float | None
    lon: float | None
    category: str
    price: str
    organizer: str
    url: str
    image: str
    recurrence: str
    when_note: str
    source_url: str
    """Where it can be read: its own page, or else the source."""
    source_id: int | None
    licence: str
    terms_url: str
    dedupe_key: str
    extra: Mapping[str, Any]
    status: EventStatus
    created_at: datetime
    updated_at: datetime
    last_seen: datetime
    last_day_over: datetime | None
    """The midnight after its last day, where it takes place."""
    cancelled_at: datetime | None
    vanished_at: datetime | None
    archived_at: datetime | None
    merged_into: int | None
    sequence: int
    """Raised at each change a reader can see."""
    times: int
    """How many occurrences it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """One occurrence of a kept event; of a list, the first that fits what was asked for."""

    starts_at: datetime
    ends_at: datetime | None
    has_time: bool
    local_date: date
    last_date: date
    """Its last day, included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEvent:
    """A line of a list: an event and the time it is listed for."""

    event: CalendarEvent
    time: EventTime | None
    """None in quarantine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """A part of a list."""

    items: tuple[ListedEvent, ...]
    next_cursor: str | None
    """Ask with it for what comes after; None at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOwner:
    """Who says what a field holds."""

    owner: str
    """source or person."""
    source_id: int | None
    who: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one source says about an event: a sighting."""

    id: int
    event_id: int
    source_id: int | None
    priority: int
    row_key: str
    draft: EventDraft | None
    """None of a row in quarantine."""
    raw: Mapping[str, Any] | None
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedDraft:
    """What several sightings say together, and which source each field is from."""

    draft: EventDraft
    owners: Mapping[str, int] = field(default_factory=dict)
    """Field of the draft → the `Said.id` it was taken from; what is not named is from the first."""
    conflicts: Sequence[Any] = ()
    """Where they contradict each other: named tuples with a `field`, a `why` and the `number` (`Said.id`) of the other side."""


class MatchOutcome(Protocol):
    """The outcome of comparing two drafts."""

    @property
    def verdict(self) -> str:
        """same, review or different."""
        ...

    @property
    def score(self) -> float: ...

    @property
    def reasons(self) -> Sequence[Any]:
        """Sentences, or named tuples with a `why`."""
        ...


class Matcher(Protocol):
    """Pure judgement about drafts, from the job above."""

    def key(self, draft: EventDraft) -> str:
        """What two descriptions of one event share: title_clean + date + venue."""
        ...

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        """Names of the groups it is compared within."""
        ...

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> MatchOutcome:
        """Whether two are one. `known` comes without `description`, `extra` and `uid`."""
        ...

    def same_row(self, known: EventDraft, read: EventDraft) -> bool:
        """Whether a row with a known uid is still about the event it was about."""
        ...

    def merge(self, said: Sequence[Sighting]) -> MergedDraft:
        """Several sightings with drafts, the most trusted first, as one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    """A merge that was done, and how to think about undoing it."""

    id: int
    kept_id: int
    absorbed_id: int | None
    """None when the other side never was an event of its own: a new row that was recognised at once."""
    sighting_ids: tuple[int, ...]
    score: float | None
    reasons: tuple[Any, ...]
    at: datetime
    by: str
    undone_at: datetime | None
    undone_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """A question for a person."""

    id: int
    subject: str
    candidate_ids: tuple[int, ...]
    reason: ReviewReason
    source_id: int | None
    detail: Mapping[str, Any]
    created_at: datetime
    resolved_at: datetime | None
    resolution: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventProvenance:
    """An event with where everything about it comes from."""

    event: CalendarEvent
    occurrences: tuple[EventTime, ...]
    owners: Mapping[str, FieldOwner]
    """Fields of a person, and of an event with several sources which field is from which."""
    said: tuple[Sighting, ...]
    merges: tuple[MergeRecord, ...]
    reviews: tuple[ReviewItem, ...]
    history: tuple[Mapping[str, Any], ...]


@dataclass(slots=True, kw_only=True)
class ApplyResult:
    """What a run did to the events."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    merged: int = 0
    absorbed: int = 0
    """Events that turned out to be a part of another, because a row changed; their rows are counted above."""
    review: int = 0
    quarantined: int = 0

    @property
    def upserted(self) -> int:
        """Rows that are in the database now."""
        return self.inserted + self.updated + self.unchanged + self.merged


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEventsResult:
    """What a source no longer says."""

    known: int
    missing: int
    vanished: int
    """Events marked; none when `is_drop`."""
    is_drop: bool
    """So many are missing that the source is doubted, not the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A trouble of a source, told once when it begins and once when it is over."""

    id: int
    source_id: int
    kind: str
    detail: Mapping[str, Any]
    opened_at: datetime
    notified_at: datetime | None
    closed_at: datetime | None
    recovered_notified_at: datetime | None


BATCH_SIZE = 400
"""How many values one IN list holds, and how many rows one INSERT: both databases have a limit on parameters."""
T = TypeVar("T")


def in_batches(items: Iterable[T], size: int = BATCH_SIZE) -> Iterator[list[T]]:
    """So many at a time."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def select_in(sql: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]) -> list[RowMapping]:
    """The rows of a query whose column is one of the values."""
    found: list[RowMapping] = []
    for part in in_batches(dict.fromkeys(values)):
        found += sql.execute(query.where(column.in_(part))).mappings()
    return found


def insert_all(sql: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that nobody needs the numbers of."""
    if rows:
        sql.execute(insert(table), [dict(row) for row in rows])


def source_from_row(row: RowMapping) -> EventSource:
    return EventSource(**{**row, "type": SourceType(row["type"])})


def event_from_row(row: Mapping[Any, Any]) -> CalendarEvent:
    values = {one.name: row[one.name] for one in fields(CalendarEvent)}
    return CalendarEvent(**{**values, "status": EventStatus(row["status"])})


def run_from_row(row: RowMapping) -> RunLog:
    status = RunStatus(row["status"]) if row["status"] else None
    return RunLog(**{**row, "status": status, "snapshot_paths": tuple(row["snapshot_paths"])})


def review_from_row(row: RowMapping) -> ReviewItem:
    return ReviewItem(**{**row, "reason": ReviewReason(row["reason"]), "candidate_ids": tuple(row["candidate_ids"])})


def incident_from_row(row: RowMapping) -> Incident:
    return Incident(**{name: value for name, value in row.items() if name != "claimed_until"})


def merge_from_row(row: RowMapping) -> MergeRecord:
    kept = {name: value for name, value in row.items() if name != "before"}
    return MergeRecord(**{**kept, "sighting_ids": tuple(row["sighting_ids"]), "reasons": tuple(row["reasons"])})


def sightings_of(sql: Connection, event_ids: Iterable[int]) -> dict[int, list[Sighting]]:
    """Every sighting of these events: the source of higher priority first, then the older one."""
    query = select(sightings, sources.c.priority).join_from(sightings, sources, isouter=True)
    found: dict[int, list[Sighting]] = {}
    rows = select_in(sql, query, sightings.c.event_id, event_ids)
    for row in sorted(rows, key=lambda row: (-(row["priority"] or 0), row["id"])):
        found.setdefault(row["event_id"], []).append(_sighting_from_row(row))
    return found


def _sighting_from_row(row: RowMapping) -> Sighting:
    names = ("id", "event_id", "source_id", "row_key", "raw", "first_seen", "last_seen", "gone_at")
    draft = draft_from_json(row["draft"]) if row["draft"] else None
    return Sighting(**{name: row[name] for name in names}, priority=row["priority"] or 0, draft=draft)


def event_rows(sql: Connection, event_ids: Iterable[int]) -> dict[int, RowMapping]:
    return {row["id"]: row for row in select_in(sql, select(events), events.c.id, event_ids)}
