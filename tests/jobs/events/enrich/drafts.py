"""Events of these tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tadoru.model.event import EventDraft, Occurrence

LONG = (
    "We meet in the old town hall and sing together. Everybody is welcome, young and old. Bring a cushion, and a friend too. " * 2
)


def draft(**fields: Any) -> EventDraft:
    """An event with these fields."""
    at = datetime(2031, 5, 1, 10, tzinfo=UTC)
    values: dict[str, Any] = {"title": "Choir", "title_clean": "choir", "timezone": "UTC", "occurrence": Occurrence(starts_at=at)}
    return EventDraft(**values | fields)
