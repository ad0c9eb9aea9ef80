"""An event as a search engine has it: flat, times as seconds since 1970 so that they can be filtered and sorted. Pure.

Nothing is a null: what an event does not say is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tadoru.model.event import EventStatus
from tadoru.store.events.search_words import without_tags
from tadoru.store.events.values import Event

FORM = "1"
"""The form of documents and of an index's settings: another one, and an index is made anew."""
SEARCHABLE = ("title", "venue", "organizer", "category", "city", "address", "description")
"""Fields that are searched, the most telling first."""
FILTERABLE = ("id", "city", "category", "starts_at", "ends_at", "local_date", "cancelled", "archived", "updated_at")
SORTABLE = ("starts_at", "updated_at")
TEXTS = (
    "uid",
    "title",
    "description",
    "venue",
    "address",
    "city",
    "category",
    "organizer",
    "price",
    "url",
    "source_url",
    "licence",
)
_SPACE = re.compile(r"\s+")


def is_public(event: Event, *, archived: bool) -> bool:
    """Whether an engine is told of it: not what is hidden, in quarantine or a part of another, nor archived unless wanted."""
    shown = event.status is EventStatus.ACTIVE and event.merged_into is None and event.starts_at is not None
    return shown and (archived or event.archived_at is None)


def search_document(event: Event) -> dict[str, Any]:
    """What an engine is told of an event that `is_public`. A place is `lat` and `lon`: each engine has its own form of it."""
    assert event.starts_at is not None
    found: dict[str, Any] = {name: text for name in TEXTS if (text := getattr(event, name))}
    if event.description:
        found["description"] = _SPACE.sub(" ", without_tags(event.description)).strip()
    found |= {
        "id": str(event.id), "starts_at": int(event.starts_at.timestamp()), "all_day": event.all_day,
        "timezone": event.timezone, "cancelled": event.cancelled_at is not None, "archived": event.archived_at is not None,
        "updated_at": int(event.updated_at.timestamp()),
    }  # fmt: skip
    if event.ends_at is not None:
        found["ends_at"] = int(event.ends_at.timestamp())
    if event.local_date is not None:
        found["local_date"] = event.local_date.isoformat()
    if event.lat is not None and event.lon is not None:
        found |= {"lat": event.lat, "lon": event.lon}
    return found


def placed(document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[float, float] | None]:
    """A document without its place, and the place."""
    rest = {name: value for name, value in document.items() if name not in ("lat", "lon")}
    return rest, (document["lat"], document["lon"]) if "lat" in document else None
