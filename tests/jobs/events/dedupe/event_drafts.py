"""Makes events for the tests of duplicates: a whole one by default, each test says only what it is about."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tadoru.model.event import EventDraft, Occurrence

TOKYO = ZoneInfo("Asia/Tokyo")


def at(when: str, *, end: str | None = None, zone: ZoneInfo = TOKYO) -> Occurrence:
    """`2026-08-01T10:00`, or `2026-08-01` for a day without a time."""
    ends = datetime.fromisoformat(end).replace(tzinfo=zone) if end else None
    return Occurrence(starts_at=datetime.fromisoformat(when).replace(tzinfo=zone), ends_at=ends, has_time="T" in when)


def draft(title: str = "春の星空観察会", when: str | Occurrence = "2026-08-01T10:00", **fields: Any) -> EventDraft:
    """An event in a hall of a town."""
    known: dict[str, Any] = {"venue": "みどり市民会館", "city": "みどり市", "timezone": "Asia/Tokyo"} | fields
    known.setdefault("title_clean", title)
    known.setdefault("venue_clean", known["venue"])
    return EventDraft(title=title, occurrence=at(when) if isinstance(when, str) else when, **known)
