"""Calendar events before they are stored: as a source wrote them (`RawEvent`), and normalized (`EventDraft`).

Parsers (`parse`) make raw events and decide nothing; the normalizer makes drafts, or returns why it cannot. What the database
adds to a draft (id, owner of each field, when it was seen) is in `store.calendar`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum


class SourceType(StrEnum):
    """The format of a source."""

    RSS = "rss"
    """RSS, Atom or JSON Feed."""
    ICS = "ics"
    API = "api"
    HTML = "html"
    CSV = "csv"


class EventStatus(StrEnum):
    """The visibility of an event."""

    ACTIVE = "active"
    HIDDEN = "hidden"
    QUARANTINE = "quarantine"


class ReviewReason(StrEnum):
    """Why an item needs a review."""

    DEDUPE_CONFLICT = "dedupe_conflict"
    MISSING_REQUIRED = "missing_required"
    PARSE_ERROR = "parse_error"


class RunStatus(StrEnum):
    """The result of a collection run."""

    SUCCESS = "success"
    FAIL = "fail"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One date and time of an event."""

    starts_at: datetime
    """Aware, in the time zone of the venue. Midnight when `has_time` is false."""
    ends_at: datetime | None = None
    """Aware; for an all-day event the midnight after its last day."""
    has_time: bool = True
    """False: only the day is known, or it is an all-day event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """An event as the source wrote it. Texts are decoded but not normalized."""

    position: str
    """The position in the source: "row 12", "VEVENT 3", "item 4"."""
    uid: str | None = None
    """The id of the event in the source: a hint, never the only key."""
    title: str | None = None
    description: str | None = None
    """Plain text or HTML."""
    start: str | datetime | date | None = None
    """As written or already parsed; a naive datetime is local time of `timezone`."""
    end: str | datetime | date | None = None
    """A `date` is the last day, inclusive (parsers of formats with exclusive ends subtract a day)."""
    start_time: str | None = None
    """If the source writes it separately from the date."""
    end_time: str | None = None
    when_note: str | None = None
    """Text about the time: "every second Wednesday of the month"."""
    timezone: str | None = None
    """The IANA name, if the source has it."""
    occurrences: tuple[Occurrence, ...] = ()
    """The dates of a series within the window of the parser; empty for a single event."""
    recurrence: str | None = None
    """The rule of the series, as written."""
    venue: str | None = None
    address: str | None = None
    city: str | None = None
    latitude: str | float | None = None
    longitude: str | float | None = None
    category: str | None = None
    price: str | None = None
    organizer: str | None = None
    url: str | None = None
    """Absolute."""
    image: str | None = None
    is_cancelled: bool = False
    updated: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    """Other fields of the source, by their own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseProblem:
    """A part of a source that could not be parsed; the rest is parsed."""

    position: str
    reason: str
    """One sentence."""
    sample: str = ""
    """The text in question, cut to a few hundred characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSource:
    """The result of parsing one response body."""

    events: tuple[RawEvent, ...] = ()
    problems: tuple[ParseProblem, ...] = ()
    next_url: str | None = None
    """The next page of a paginated source."""
    details: tuple[str, ...] = ()
    """URLs of detail pages with one event each, which are fetched too (of a list page)."""
    ttl: float | None = None
    """Seconds after which the source asks to be fetched again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A normalized event, before it is compared with others and stored."""

    title: str
    title_clean: str
    """For comparison only."""
    occurrence: Occurrence
    """The only one, or the first of the series that has not ended."""
    timezone: str
    """The IANA name of the time zone of its dates."""
    occurrences: tuple[Occurrence, ...] = ()
    """All of a series; empty for a single event."""
    description: str = ""
    """Sanitised HTML, or plain text."""
    venue: str = ""
    venue_clean: str = ""
    address: str = ""
    city: str = ""
    latitude: float | None = None
    longitude: float | None = None
    category: str = ""
    price: str = ""
    organizer: str = ""
    url: str = ""
    image: str = ""
    uid: str = ""
    recurrence: str = ""
    when_note: str = ""
    is_cancelled: bool = False
    position: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def local_date(self) -> date:
        """The local start date."""
        return self.occurrence.starts_at.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedEvent:
    """A raw event without a required field, with the reason; it is not processed further."""

    raw: RawEvent
    reason: ReviewReason
    why: str
    """One sentence."""
