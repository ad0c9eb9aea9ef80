"""A calendar event on its way: as a source wrote it (`RawEvent`), and as the product keeps it (`EventDraft`).

Readers (`parse`) make raw events and decide nothing; the normaliser makes drafts, or says why it can not. What the database adds
to a draft (id, owner of each field, when it was seen) lives in `store.calendar`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum


class SourceType(StrEnum):
    """What a source is written in."""

    RSS = "rss"
    """RSS, Atom or JSON Feed."""
    ICS = "ics"
    API = "api"
    HTML = "html"
    CSV = "csv"


class EventStatus(StrEnum):
    """Who may see an event."""

    ACTIVE = "active"
    HIDDEN = "hidden"
    QUARANTINE = "quarantine"


class ReviewReason(StrEnum):
    """Why a person is asked."""

    DEDUPE_CONFLICT = "dedupe_conflict"
    MISSING_REQUIRED = "missing_required"
    PARSE_ERROR = "parse_error"


class RunStatus(StrEnum):
    """How a collection run ended."""

    SUCCESS = "success"
    FAIL = "fail"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One time at which something takes place."""

    starts_at: datetime
    """Aware, in the zone of the place. Midnight when `has_time` is false."""
    ends_at: datetime | None = None
    """Aware; of an event of whole days the midnight after its last day."""
    has_time: bool = True
    """False: only the day is known, or the event is of whole days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """What a reader found, as it was written. Texts are decoded, and nothing else was done to them."""

    position: str
    """Where in the source: "row 12", "VEVENT 3", "item 4"."""
    uid: str | None = None
    """The source's own name for it: a hint, never the only key."""
    title: str | None = None
    description: str | None = None
    """Plain text or HTML."""
    start: str | datetime | date | None = None
    """As written, or already read; a naive datetime is local time of `timezone`."""
    end: str | datetime | date | None = None
    """A `date` here is the last day, included (readers of formats with exclusive ends take a day off)."""
    start_time: str | None = None
    """When the source writes it apart from the date."""
    end_time: str | None = None
    when_note: str | None = None
    """Prose about the time: "every second Wednesday of the month"."""
    timezone: str | None = None
    """IANA name, when the source says it."""
    occurrences: tuple[Occurrence, ...] = ()
    """Of a series, within the reader's window; empty for a single event."""
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
    """What the source says besides, by its own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseProblem:
    """Something in a source that could not be read; the rest of the source is read all the same."""

    position: str
    reason: str
    """One sentence."""
    sample: str = ""
    """The text in question, cut to a few hundred characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSource:
    """What a reader made of one body."""

    events: tuple[RawEvent, ...] = ()
    problems: tuple[ParseProblem, ...] = ()
    next_url: str | None = None
    """The next page of a paginated source."""
    details: tuple[str, ...] = ()
    """URLs of pages that describe one event each, to be read as well (a list page)."""
    ttl: float | None = None
    """Seconds after which the source asks to be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event in the product's terms, before it is compared with others and kept."""

    title: str
    title_clean: str
    """For comparison only."""
    occurrence: Occurrence
    """The only one, or the first of the series that is not over when it is read."""
    timezone: str
    """IANA name: the zone in which its dates are meant."""
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
        """The day it begins, where it takes place."""
        return self.occurrence.starts_at.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedEvent:
    """A raw event that lacks what every event must have, with the reason; nothing downstream runs on it."""

    raw: RawEvent
    reason: ReviewReason
    why: str
    """One sentence."""
