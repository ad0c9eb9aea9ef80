"""A matcher with predictable results, and drafts to compare. The product's own matcher has its own tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from tadoru.model.event import EventDraft, Occurrence, QuarantinedEvent, RawEvent, ReviewReason
from tadoru.store.calendar.records import MergedDraft, Sighting

TOKYO = ZoneInfo("Asia/Tokyo")
FIRST = datetime(2023, 12, 1, 10, 0, tzinfo=TOKYO)
"""Some time after the tests' clock begins."""


class Result(NamedTuple):
    verdict: str
    score: float
    reasons: tuple[str, ...]


class PlainMatcher:
    """Same title, day, venue and time: one event. Titles that begin alike: a question. Anything else: two events."""

    has_reached_limit = False
    block_format = 1

    def __init__(self) -> None:
        self.compared = 0

    def key(self, draft: EventDraft) -> str:
        return f"{draft.title_clean}|{draft.local_date}|{draft.venue_clean}"

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        return (f"{draft.local_date}|{draft.city}",)

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> Result:
        self.compared += 1
        if new.local_date != known.local_date:
            return Result("different", 0.0, ("other day",))
        times = (new.occurrence, known.occurrence)
        agree = new.occurrence.starts_at == known.occurrence.starts_at or not all(one.has_time for one in times)
        if new.title_clean == known.title_clean and new.venue_clean == known.venue_clean:
            if agree:
                return Result("same", 1.0, ("same title, day and venue",))
            return Result("different", 0.1, ("times differ",)) if same_source else Result("review", 0.7, ("times differ",))
        if new.title_clean[:4] == known.title_clean[:4] and not same_source:
            return Result("review", 0.6, ("titles begin alike",))
        return Result("different", 0.0, ("other title",))

    def is_same_row(self, known: EventDraft, read: EventDraft) -> bool:
        return known.title_clean == read.title_clean or known.occurrence.starts_at == read.occurrence.starts_at

    def merge(self, said: Sequence[Sighting]) -> MergedDraft:
        """The first that has something to say wins."""
        drafts = [(one.id, one.draft) for one in said if one.draft is not None]
        values: dict[str, Any] = {}
        owners: dict[str, int] = {}
        for one in fields(EventDraft):
            number, draft = next(((n, d) for n, d in drafts if getattr(d, one.name)), drafts[0])
            values[one.name], owners[one.name] = getattr(draft, one.name), number
        return MergedDraft(draft=EventDraft(**values), owners=owners)


def draft(title: str = "星まつり", at: datetime = FIRST, **given: Any) -> EventDraft:
    """An event of an hour."""
    venue = given.pop("venue", "市民会館")
    occurrence = given.pop("occurrence", Occurrence(starts_at=at, ends_at=at + timedelta(hours=1)))
    given = {"timezone": "Asia/Tokyo", "city": "盛岡"} | given
    return EventDraft(
        title=title, title_clean=title.lower(), venue=venue, venue_clean=venue.lower(), occurrence=occurrence, **given
    )


def many(count: int, *, since: datetime = FIRST, city: str = "盛岡") -> list[EventDraft]:
    """Different events, one a day."""
    return [draft(f"催し {n}", since + timedelta(days=n), uid=f"u{n}", city=city) for n in range(count)]


def whole_days(first: datetime, days: int) -> Occurrence:
    start = first.replace(hour=0, minute=0)
    return Occurrence(starts_at=start, ends_at=start + timedelta(days=days), has_time=False)


def series(title: str = "体操教室", *, since: datetime = FIRST, weeks: int = 4, **given: Any) -> EventDraft:
    times = tuple(
        Occurrence(starts_at=since + timedelta(weeks=n), ends_at=since + timedelta(weeks=n, hours=1)) for n in range(weeks)
    )
    return replace(draft(title, since, **given), occurrence=times[0], occurrences=times, recurrence="FREQ=WEEKLY")


def bad(title: str | None = "日時未定の会", *, uid: str | None = None, why: str = "It has no date.") -> QuarantinedEvent:
    return QuarantinedEvent(raw=RawEvent(position="row 1", title=title, uid=uid), reason=ReviewReason.MISSING_REQUIRED, why=why)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]
