"""An event as a plain object for programs: the seed's names, and what was added to them.

`starts_at` and `ends_at` are local times where the event takes place, with their offset; of whole days they are midnights, and
the end is the midnight after the last day. Stamps of ours (`created_at`, `last_seen` and so on) are UTC, written with a `Z`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from tadoru.clock import iso
from tadoru.store.events.drafts import zone
from tadoru.store.events.values import Event, EventTime
from tadoru.store.events.walking import Told

FIELDS = tuple(
    "id title description starts_at ends_at all_day has_time timezone venue address city lat lon category price organizer url "
    "image source_url source_id licence terms_url dedupe_key status created_at updated_at last_seen cancelled_at vanished_at "
    "archived_at recurrence when_note occurrences uid sequence extra".split()
)
"""The names of a document, in their order."""
_STAMPS = ("created_at", "updated_at", "last_seen", "cancelled_at", "vanished_at", "archived_at")
_AS_THEY_ARE = tuple(
    "id title description timezone venue address city lat lon category price organizer url image source_url source_id licence "
    "terms_url dedupe_key recurrence when_note uid sequence".split()
)


def stamp(at: datetime | None) -> str | None:
    """A time of ours: UTC."""
    return iso(at, "seconds") if at else None


def local(at: datetime | None, of: str) -> str | None:
    """A time of an event: where it takes place, with the offset it has there."""
    return at.astimezone(zone(of)).isoformat(timespec="seconds") if at else None


def document(told: Told) -> dict[str, Any]:
    """An event as JSON has it. Its times are those of the occurrence it is listed for."""
    event = told.event
    listed = told.time or _own_time(event)
    values: dict[str, Any] = {name: getattr(event, name) for name in _AS_THEY_ARE}
    values |= {name: stamp(getattr(event, name)) for name in _STAMPS}
    values |= time_of(listed, event.timezone)
    values["status"] = event.status.value
    values["occurrences"] = [time_of(one, event.timezone) for one in told.times] if len(told.times) > 1 else []
    values["extra"] = dict(event.extra)
    return {name: values[name] for name in FIELDS}


def time_of(time: EventTime | None, of: str) -> dict[str, Any]:
    """When something takes place."""
    if time is None:
        return {"starts_at": None, "ends_at": None, "all_day": False, "has_time": False}
    return {
        "starts_at": local(time.starts_at, of),
        "ends_at": local(time.ends_at, of),
        "all_day": not time.has_time and time.ends_at is not None,
        "has_time": time.has_time,
    }


def _own_time(event: Event) -> EventTime | None:
    """The time of an event that stands in no list: one that was merged into another."""
    if event.starts_at is None or event.local_date is None:
        return None
    days = (event.local_date, event.local_date)
    return EventTime(
        starts_at=event.starts_at, ends_at=event.ends_at, has_time=event.has_time, local_date=days[0], last_date=days[1]
    )


def json_array(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One JSON array, an object a line, in pieces."""
    before = "[\n"
    for item in items:
        yield before + json.dumps(item, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"
