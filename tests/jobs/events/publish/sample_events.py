"""Events to give out, made of values: no database is needed to write a calendar."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tadoru.model.event import EventStatus
from tadoru.store.calendar.records import CalendarEvent, EventRecord, EventTime, ZoneUse

TOKYO = ZoneInfo("Asia/Tokyo")
STAMP = datetime(2026, 7, 1, 3, 4, 5, tzinfo=UTC)
FIRST = datetime(2026, 8, 1, 10, 0, tzinfo=TOKYO)


def time(start: datetime = FIRST, end: datetime | None = None, *, has_time: bool = True, last: date | None = None) -> EventTime:
    """One occurrence; its days are those of the start's zone."""
    return EventTime(
        starts_at=start.astimezone(UTC), ends_at=end.astimezone(UTC) if end else None, has_time=has_time,
        local_date=start.date(), last_date=last or start.date(),
    )  # fmt: skip


def whole_days(first: date, days: int, zone: str = "Asia/Tokyo") -> EventTime:
    """Days without times."""
    start = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone))
    return time(start, start + timedelta(days=days), has_time=False, last=first + timedelta(days=days - 1))


def told(*times: EventTime, **given: Any) -> EventRecord:
    """An event as a walk gives it."""
    every = times or (time(FIRST, FIRST + timedelta(hours=2)),)
    texts = dict.fromkeys(
        "description venue venue_clean address city category price organizer url image recurrence when_note source_url licence "
        "terms_url".split(),
        "",
    )
    event = CalendarEvent(
        id=1, uid="0123abcd", title="星まつり", title_clean="星まつり", starts_at=every[0].starts_at, ends_at=every[0].ends_at,
        all_day=not every[0].has_time, has_time=every[0].has_time, local_date=every[0].local_date, timezone="Asia/Tokyo",
        lat=None, lon=None, source_id=1, dedupe_key="k", extra={}, status=EventStatus.ACTIVE, created_at=STAMP, updated_at=STAMP,
        last_seen=STAMP, last_day_over=STAMP, cancelled_at=None, vanished_at=None, archived_at=None, merged_into=None, sequence=0,
        times=len(every), **texts,
    )  # fmt: skip
    return EventRecord(event=replace(event, **given), time=every[0], times=every)


def zone_use(name: str, first: int = 2026, last: int = 2027) -> ZoneUse:
    """A zone that events of these years take place in."""
    return ZoneUse(name=name, first=datetime(first, 1, 1, tzinfo=UTC), last=datetime(last, 1, 1, tzinfo=UTC))
