"""What a review of the calendar is about, for every entry point: events to compare, items of sources, and rows in quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tadoru.errors import UsageError
from tadoru.jobs.events.event_input import source_rules
from tadoru.jobs.events.normalise.normaliser import SourceRules
from tadoru.model.event import EventDraft, RawEvent
from tadoru.parse.text_cleaning import plain_text
from tadoru.store.calendar.records import CalendarEvent, EventRecord, ReviewItem, Sighting
from tadoru.store.calendar.store import CalendarStore

_COMPARED_TEXTS = ("title", "timezone", "venue", "address", "city", "category", "price", "organizer", "url")


def review_subjects(store: CalendarStore, found: ReviewItem) -> tuple[list[EventRecord], list[tuple[Sighting, EventDraft]]]:
    """The events of a review, and the items of sources that may not belong to the first of them."""
    events = store.events.records(found.candidate_ids)
    wanted = {number for name in ("sighting", "other") if isinstance(number := found.detail.get(name), int)}
    sightings = store.events.provenance(found.candidate_ids[0]).sightings if wanted and found.candidate_ids else ()
    rows = [(one, one.draft) for one in sightings if one.id in wanted and one.draft is not None]
    return [events[number] for number in found.candidate_ids if number in events], rows


def compared_texts(subject: CalendarEvent | EventDraft, limit: int) -> dict[str, str]:
    """The fields of a side of a comparison, but for its date and its source; the description has at most so many characters."""
    texts: dict[str, str] = {name: getattr(subject, name) for name in _COMPARED_TEXTS}
    return texts | {"description": shorten(subject.description, limit)}


def shorten(text: str, limit: int) -> str:
    """The beginning of a text, without markup."""
    plain = " ".join(plain_text(text).split())
    return plain if len(plain) <= limit else plain[:limit].rstrip() + "…"


def raw_fields(raw: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields of a row as the source names them."""
    return [
        (str(name), _format_raw(value)) for name, value in raw.items() if name != "position" and value not in (None, "", [], {})
    ]


def _format_raw(value: Any) -> str:
    """A field as the source wrote it; the database marks dates as such."""
    if isinstance(value, Mapping):
        if "datetime" in value or "date" in value:
            return str(value.get("datetime") or value.get("date"))
        return "\n".join(f"{name}: {part}" for name, part in value.items())
    return str(value)


def incomplete_row(store: CalendarStore, review_id: int, zone: str) -> tuple[RawEvent, SourceRules]:
    """The row that a review is about, and the rules to parse it. Raises UsageError if the review is about events."""
    raw = store.reviews.raw(review_id)
    if raw is None:
        raise UsageError("Review {id} is not about an incomplete item. Use merge or keep-apart.", id=review_id)
    source_id = store.reviews.get(review_id).source_id
    return raw, source_rules(store.sources.get(source_id) if source_id is not None else None, zone, store.db.now())
