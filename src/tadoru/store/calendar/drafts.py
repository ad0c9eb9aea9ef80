"""Converts drafts and raw events to JSON and back, and drafts to the columns of an event.

The hash of a draft excludes its position in the source and the UID of the source: changes of these are no change of the event.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from tadoru.model.event import EventDraft, Occurrence, RawEvent
from tadoru.store.calendar.schema import storable_text
from tadoru.store.calendar.search_text import search_line, strip_tags

TEXT_COLUMNS = tuple(
    "title title_clean description timezone venue venue_clean address city category price organizer url image "
    "recurrence when_note".split()
)
"""Columns of an event with the same name as in a draft."""


@cache
def zone_or_utc(name: str) -> ZoneInfo:
    """The time zone with this name; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def _time_to_json(at: datetime | None, of: str) -> str | None:
    if at is None:
        return None
    return at.astimezone(zone_or_utc(of)).isoformat()


def _occurrence_to_json(one: Occurrence, of: str) -> list[Any]:
    return [_time_to_json(one.starts_at, of), _time_to_json(one.ends_at, of), one.has_time]


def _occurrence_from_json(parts: Sequence[Any], of: str) -> Occurrence:
    starts, ends, has_time = parts
    return Occurrence(
        starts_at=datetime.fromisoformat(starts).astimezone(zone_or_utc(of)),
        ends_at=datetime.fromisoformat(ends).astimezone(zone_or_utc(of)) if ends else None,
        has_time=has_time,
    )


_DRAFT_FIELDS = tuple(one.name for one in fields(EventDraft))
_RAW_FIELDS = tuple(one.name for one in fields(RawEvent))


def draft_to_json(draft: EventDraft) -> dict[str, Any]:
    """A draft as JSON, without empty fields."""
    data: dict[str, Any] = {}
    for name in _DRAFT_FIELDS:
        value = getattr(draft, name)
        match value:
            case "" | None | ():
                continue
            case str():
                data[name] = storable_text(value)
            case Occurrence():
                data[name] = _occurrence_to_json(value, draft.timezone)
            case tuple():
                data[name] = [_occurrence_to_json(part, draft.timezone) for part in value]
            case bool() | float() | int():
                data[name] = value
            case Mapping() if value:
                data[name] = {str(key): str(part) for key, part in value.items()}
    if not draft.is_cancelled:
        del data["is_cancelled"]
    return data


def draft_from_json(data: Mapping[str, Any]) -> EventDraft:
    """A draft from JSON. Unknown fields, which a later version may have added, are ignored."""
    values = {name: data[name] for name in _DRAFT_FIELDS if name in data}
    of = values.get("timezone", "UTC")
    values.setdefault("title", "")
    values.setdefault("title_clean", "")
    values["timezone"] = of
    values["occurrence"] = _occurrence_from_json(values["occurrence"], of)
    values["occurrences"] = tuple(_occurrence_from_json(one, of) for one in values.get("occurrences", ()))
    return EventDraft(**values)


def draft_hash(data: Mapping[str, Any]) -> str:
    """A hash that is equal for drafts, or raw events, with the same content."""
    kept = {name: value for name, value in data.items() if name not in ("position", "uid")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:32]


def raw_to_json(raw: RawEvent) -> dict[str, Any]:
    """A raw event as JSON, with dates and times marked as such."""
    data: dict[str, Any] = {}
    for name in _RAW_FIELDS:
        value = getattr(raw, name)
        match value:
            case None | () | "" | False:
                continue
            case datetime():
                data[name] = {"datetime": value.isoformat(), "zone": getattr(value.tzinfo, "key", "")}
            case date():
                data[name] = {"date": value.isoformat()}
            case tuple():
                of = raw.timezone or "UTC"
                data[name] = [_occurrence_to_json(part, of) for part in value]
            case Mapping():
                data[name] = {str(key): str(part) for key, part in value.items()}
            case _:
                data[name] = value
    return data


def raw_from_json(data: Mapping[str, Any]) -> RawEvent:
    """A raw event from JSON."""
    values = {name: data[name] for name in _RAW_FIELDS if name in data}
    for name in ("start", "end"):
        match values.get(name):
            case {"datetime": text, "zone": of}:
                at = datetime.fromisoformat(text)
                values[name] = at.astimezone(zone_or_utc(of)) if of else at
            case {"date": text}:
                values[name] = date.fromisoformat(text)
    of = values.get("timezone") or "UTC"
    values["occurrences"] = tuple(_occurrence_from_json(one, of) for one in values.get("occurrences", ()))
    values.setdefault("position", "")
    return RawEvent(**values)


def all_occurrences(draft: EventDraft) -> tuple[Occurrence, ...]:
    """All occurrences of a draft in order, without duplicates."""
    every = {(one.starts_at, one.ends_at): one for one in (*draft.occurrences, draft.occurrence)}
    return tuple(sorted(every.values(), key=lambda one: (one.starts_at, one.ends_at or one.starts_at)))


def last_day(one: Occurrence) -> date:
    """The last day of an occurrence, included: an end at midnight belongs to the day before."""
    start, end = one.starts_at, one.ends_at
    if end is None or end <= start:
        return start.date()
    local = end.astimezone(start.tzinfo)
    return max(start.date(), (local - timedelta(microseconds=1)).date())


def event_columns(draft: EventDraft, now: datetime, known: Mapping[Any, Any] | None = None) -> dict[str, Any]:
    """The columns of an event that a draft sets; `known` is the existing row, if any."""
    times, first = all_occurrences(draft), draft.occurrence
    over = max(last_day(one) for one in times) + timedelta(days=1)
    return {
        **{name: storable_text(getattr(draft, name)) for name in TEXT_COLUMNS},
        "starts_at": first.starts_at.astimezone(UTC),
        "ends_at": first.ends_at.astimezone(UTC) if first.ends_at else None,
        "all_day": not first.has_time and first.ends_at is not None,
        "has_time": first.has_time,
        "local_date": draft.local_date,
        "lat": draft.latitude,
        "lon": draft.longitude,
        "extra": {storable_text(str(name)): storable_text(str(value)) for name, value in draft.extra.items()},
        "last_day_over": datetime.combine(over, time(), zone_or_utc(draft.timezone)).astimezone(UTC),
        "search_text": search_text(draft, known),
        "cancelled_at": now if draft.is_cancelled else None,
        "times": len(times),
    }


def comparable_text(text: str) -> str:
    """A text for comparisons: without tags, width and case folded."""
    return unicodedata.normalize("NFKC", strip_tags(storable_text(text))).casefold()


_SEARCHED = ("title", "venue", "address", "city", "category", "organizer", "description")


def search_text(draft: EventDraft, known: Mapping[Any, Any] | None = None) -> str:
    """The searched text of an event. If the searched fields of the known row are the same, its text is reused."""
    texts = [getattr(draft, name) for name in _SEARCHED]
    if known is not None and known["search_text"] and [known[name] for name in _SEARCHED] == texts:
        return str(known["search_text"])
    return search_line(texts)


def occurrence_rows(event_id: int, draft: EventDraft) -> list[dict[str, Any]]:
    """The rows of the occurrences of a draft."""
    return [
        {
            "event_id": event_id,
            "number": number,
            "starts_at": one.starts_at.astimezone(UTC),
            "ends_at": one.ends_at.astimezone(UTC) if one.ends_at else None,
            "has_time": one.has_time,
            "local_date": one.starts_at.date(),
            "last_date": last_day(one),
            "city": storable_text(draft.city),
        }
        for number, one in enumerate(all_occurrences(draft))
    ]


def draft_from_row(row: Mapping[Any, Any], times: Sequence[Mapping[Any, Any]] = ()) -> EventDraft:
    """A stored event as a draft, for comparisons: without its long texts. `times` are its occurrences if there are several."""
    here = zone_or_utc(row["timezone"])

    def occurrence(one: Mapping[Any, Any]) -> Occurrence:
        ends = one["ends_at"]
        return Occurrence(
            starts_at=one["starts_at"].astimezone(here),
            ends_at=ends.astimezone(here) if ends else None,
            has_time=one["has_time"],
        )

    return EventDraft(
        **{name: row[name] for name in TEXT_COLUMNS if name != "description"},
        occurrence=occurrence(row),
        occurrences=tuple(occurrence(one) for one in times),
        latitude=row["lat"],
        longitude=row["lon"],
        is_cancelled=row["cancelled_at"] is not None,
    )
