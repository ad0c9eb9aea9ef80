"""The records that the calendar database takes and returns, and how rows become records.

`Matcher` is the interface to `jobs.events.dedupe`, which decides whether two descriptions are one event and which values win. The
database does not decide that itself: callers pass a matcher in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from itertools import islice
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, insert, select

from tadoru.errors import Message, restore_message
from tadoru.model.event import EventDraft, EventStatus, ReviewReason, RunStatus, SourceType
from tadoru.store.calendar.drafts import draft_from_json
from tadoru.store.calendar.schema import events, run_logs, sightings, source_state, sources


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """A source that events are collected from. Its settings are checked by its reader."""

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
    """Sources with a higher number are collected first."""
    depends_on: int | None
    licence: str
    terms_url: str
    allow_private: bool
    named_host: str
    """A private `host:port` that the user entered, which permits it."""
    low_hours: int
    secret: str
    """The name of the environment variable that holds the secret, never the secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFieldChange:
    """One change of one field of a source. Adding or removing a source is a change of the field `source`."""

    at: datetime
    by: str
    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionState:
    """The state of collecting a source."""

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
    """Other data that the job stores for the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """One run of one source; while it is running, `status` is None."""

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
    """Where a response body was saved."""

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
    """A stored event."""

    id: int
    uid: str
    """The UID in calendars; it never changes."""
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
    """The page of the event, or else the URL of the source."""
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
    """The midnight after its last day, local time."""
    cancelled_at: datetime | None
    vanished_at: datetime | None
    archived_at: datetime | None
    merged_into: int | None
    sequence: int
    """Incremented at each visible change."""
    times: int
    """Number of occurrences."""

    @property
    def is_postponed(self) -> bool:
        """Whether it does not take place on this date because it was put off."""
        return self.cancelled_at is not None and self.extra.get("postponed") == "yes"

    @property
    def is_sold_out(self) -> bool:
        """Whether a notice says so, and it takes place."""
        return self.cancelled_at is None and self.extra.get("sold_out") == "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """One occurrence of a stored event; in a list, the first one that matches the filter."""

    starts_at: datetime
    ends_at: datetime | None
    has_time: bool
    local_date: date
    last_date: date
    """The last day, included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEvent:
    """An entry of a list: an event and the occurrence it is listed for."""

    event: CalendarEvent
    time: EventTime | None
    """None in quarantine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """One page of a list."""

    items: tuple[ListedEvent, ...]
    next_cursor: str | None
    """The cursor of the next page; None on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """An event with its occurrences."""

    event: CalendarEvent
    time: EventTime | None
    """The first occurrence that matches the filter; None in quarantine."""
    times: tuple[EventTime, ...] = ()
    """All occurrences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneUse:
    """A time zone, and the period in which events take place in it."""

    name: str
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOwner:
    """Which source or person a field comes from."""

    owner: str
    """source or person."""
    source_id: int | None
    who: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A row of a source about an event."""

    id: int
    event_id: int
    source_id: int | None
    priority: int
    row_key: str
    draft: EventDraft | None
    """None for a row in quarantine."""
    raw: Mapping[str, Any] | None
    first_seen: datetime
    last_seen: datetime
    gone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedDraft:
    """The event that several sightings describe, and which sighting each field comes from."""

    draft: EventDraft
    owners: Mapping[str, int] = field(default_factory=dict)
    """Field of the draft → the id of the sighting it was taken from; fields that are not listed come from the first sighting."""
    conflicts: Sequence[Any] = ()
    """Contradictions: named tuples with a `field`, a `why` and the `number` (sighting id) of the other side."""


class MatchOutcome(Protocol):
    """The result of comparing two drafts."""

    @property
    def verdict(self) -> str:
        """same, review or different."""
        ...

    @property
    def score(self) -> float: ...

    @property
    def reasons(self) -> Sequence[Any]:
        """Texts, or named tuples with a `why`."""
        ...


class Matcher(Protocol):
    """Decides whether two drafts are one event; implemented by `jobs.events.dedupe.matcher.EventMatcher`."""

    @property
    def has_reached_limit(self) -> bool:
        """Whether a run has compared so many pairs that it compares fewer events, and only those with equal titles."""
        ...

    @property
    def block_format(self) -> int:
        """The format of the blocking keys: another number makes the next run of each source write the keys of its events anew."""
        ...

    def key(self, draft: EventDraft) -> str:
        """The dedupe key: title_clean + date + venue."""
        ...

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        """The blocking keys: drafts are only compared if they share one."""
        ...

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> MatchOutcome:
        """Whether two drafts are one event. `known` comes without `description`, `extra` and `uid`."""
        ...

    def is_same_row(self, known: EventDraft, read: EventDraft) -> bool:
        """Whether a row with a known uid still describes the same event."""
        ...

    def merge(self, sightings: Sequence[Sighting]) -> MergedDraft:
        """Merge sightings with drafts, the most trusted first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    """A merge that was done, with what is needed to undo it."""

    id: int
    kept_id: int
    absorbed_id: int | None
    """None if the other side never was an event: a new row that was matched at once."""
    sighting_ids: tuple[int, ...]
    score: float | None
    reasons: tuple[Any, ...]
    at: datetime
    by: str
    undone_at: datetime | None
    undone_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """An item of the review queue."""

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
    """An event with its sightings, field owners, merges, reviews and history."""

    event: CalendarEvent
    occurrences: tuple[EventTime, ...]
    owners: Mapping[str, FieldOwner]
    """Fields edited by a person, and for an event with several sources which field comes from which."""
    sightings: tuple[Sighting, ...]
    merges: tuple[MergeRecord, ...]
    reviews: tuple[ReviewItem, ...]
    history: tuple[Mapping[str, Any], ...]


@dataclass(slots=True, kw_only=True)
class ApplyResult:
    """What a run changed."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    merged: int = 0
    absorbed: int = 0
    """Events that were merged into another because a row changed; their rows are counted above."""
    review: int = 0
    quarantined: int = 0

    @property
    def upserted(self) -> int:
        """Rows that are in the database now."""
        return self.inserted + self.updated + self.unchanged + self.merged


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingEventsResult:
    """The events that are missing from a source."""

    known: int
    missing: int
    vanished: int
    """Events marked as vanished; 0 if `is_drop`."""
    is_drop: bool
    """So many events are missing that the source is doubted rather than the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A problem of a source; one notice is sent when it starts and one when it ends."""

    id: int
    source_id: int
    kind: str
    detail: Mapping[str, Any]
    opened_at: datetime
    notified_at: datetime | None
    closed_at: datetime | None
    recovered_notified_at: datetime | None


BATCH_SIZE = 400
"""Values in one IN list and rows in one INSERT: both databases limit the number of parameters."""
T = TypeVar("T")


def in_batches(items: Iterable[T], size: int = BATCH_SIZE) -> Iterator[list[T]]:
    """Split items into lists of at most `size`."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def select_in(sql: Connection, query: Select[Any], column: ColumnElement[Any], values: Iterable[Any]) -> list[RowMapping]:
    """The rows of a query whose column has one of the values."""
    found: list[RowMapping] = []
    for part in in_batches(dict.fromkeys(values)):
        found += sql.execute(query.where(column.in_(part))).mappings()
    return found


def insert_all(sql: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows whose generated ids are not needed."""
    if rows:
        sql.execute(insert(table), [dict(row) for row in rows])


def source_from_row(row: RowMapping) -> EventSource:
    return EventSource(**{**row, "type": SourceType(row["type"])})


def event_from_row(row: Mapping[Any, Any]) -> CalendarEvent:
    values = {one.name: row[one.name] for one in fields(CalendarEvent)}
    return CalendarEvent(**{**values, "status": EventStatus(row["status"])})


_TIME_NAMES = tuple(one.name for one in fields(EventTime))


def event_time_from_row(row: Any) -> EventTime:
    return EventTime(**{name: row[name] for name in _TIME_NAMES})


ERROR_MESSAGE = "error"
"""The key in the counts of a run under which its error is stored as a message, to be shown in other languages."""


def run_counts(counts: Mapping[str, int], error: str) -> dict[str, Any]:
    """The counts of a run as they are stored, with its error."""
    return {**counts, ERROR_MESSAGE: error.to_json()} if isinstance(error, Message) else dict(counts)


def counts_from_row(counts: Mapping[str, Any]) -> dict[str, int]:
    """The stored counts of a run without its error."""
    return {name: count for name, count in counts.items() if name != ERROR_MESSAGE}


def run_error(text: str, counts: Mapping[str, Any] | None) -> str:
    """The stored error of a run as a message if it is one."""
    return restore_message(text, (counts or {}).get(ERROR_MESSAGE))


def run_from_row(row: RowMapping) -> RunLog:
    stored = {
        "status": RunStatus(row["status"]) if row["status"] else None,
        "counts": counts_from_row(row["counts"]),
        "error_summary": run_error(row["error_summary"], row["counts"]),
        "snapshot_paths": tuple(row["snapshot_paths"]),
    }
    return RunLog(**{**row, **stored})


def last_error_counts() -> ColumnElement[Any]:
    """A column for queries of `source_state`: the counts of the run that had the last error, which have it as a message."""
    is_it = run_logs.c.source_id == source_state.c.source_id, run_logs.c.error_summary == source_state.c.last_error
    query = select(run_logs.c.counts).where(source_state.c.last_error != "", *is_it).order_by(run_logs.c.started_at.desc())
    return query.limit(1).correlate(source_state).scalar_subquery().label("last_error_counts")


def state_from_row(row: RowMapping) -> CollectionState:
    """The state of a row with `last_error_counts`."""
    stored = {name: value for name, value in row.items() if name != "last_error_counts"}
    return CollectionState(**stored | {"last_error": run_error(row["last_error"], row["last_error_counts"])})


def review_from_row(row: RowMapping) -> ReviewItem:
    return ReviewItem(**{**row, "reason": ReviewReason(row["reason"]), "candidate_ids": tuple(row["candidate_ids"])})


def incident_from_row(row: RowMapping) -> Incident:
    return Incident(**{name: value for name, value in row.items() if name != "claimed_until"})


def merge_from_row(row: RowMapping) -> MergeRecord:
    kept = {name: value for name, value in row.items() if name != "before"}
    return MergeRecord(**{**kept, "sighting_ids": tuple(row["sighting_ids"]), "reasons": tuple(row["reasons"])})


def sightings_of(sql: Connection, event_ids: Iterable[int]) -> dict[int, list[Sighting]]:
    """All sightings of these events by event: higher source priority first, then the older one."""
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
