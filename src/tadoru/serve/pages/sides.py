"""A question as people see it: both sides field by field, what spoke for and against, and what a source's row says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tadoru.model.event import EventDraft
from tadoru.parse.normal_text import plain_text
from tadoru.serve.pages.telling import Telling
from tadoru.store.events.open import EventsStore
from tadoru.store.events.values import Event, Review
from tadoru.store.events.walking import told_all

_PLAIN = ("title", "venue", "address", "city", "category", "price", "organizer", "url", "timezone")
_SHOWN = {
    "title": "event.title", "when": "event.when", "timezone": "source.timezone", "venue": "event.venue",
    "address": "event.address", "city": "source.city", "category": "filter.category", "price": "event.price",
    "organizer": "event.organizer", "url": "event.page", "description": "event.about", "source": "run.source",
}  # fmt: skip
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    event_id: int | None
    """None when it is a row that may not be about the event."""
    source: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One field of both."""

    key: str
    parts: tuple[str, ...]
    differs: bool


def sides_of(store: EventsStore, found: Review, names: Mapping[int, str], telling: Telling) -> list[Side]:
    """The events in question; or one event, and the rows that may not be about it."""
    events = told_all(store, found.candidate_ids)
    sides = [_of_event(events[number].event, names, telling) for number in found.candidate_ids if number in events]
    wanted = {number for name in ("sighting", "other") if isinstance(number := found.detail.get(name), int)}
    if not wanted or not sides:
        return sides
    said = store.story(found.candidate_ids[0]).said
    rows = [
        _of_draft(one.draft, names.get(one.source_id or 0, "–"), telling)
        for one in said
        if one.id in wanted and one.draft is not None
    ]
    return rows if len(rows) > 1 else [*sides, *rows]


def rows_of(sides: Sequence[Side]) -> list[Row]:
    """Field by field; what neither says is left out."""
    found = []
    for name, key in _SHOWN.items():
        parts = tuple(side.values.get(name, "") for side in sides)
        if any(parts):
            found.append(Row(key, parts, len(set(parts)) > 1 and name != "source"))
    return found


def reason_text(reason: Any) -> str:
    """A reason as the database keeps it: a sentence, or an object that has one."""
    if isinstance(reason, Mapping):
        return str(reason.get("why") or ", ".join(f"{name} {value}" for name, value in reason.items()))
    return str(reason)


def raw_fields(raw: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a source's row says, by the names it came under."""
    return [(str(name), _raw(value)) for name, value in raw.items() if name != "position" and value not in (None, "", [], {})]


def _of_event(event: Event, names: Mapping[int, str], telling: Telling) -> Side:
    source = names.get(event.source_id or 0, "–")
    values: dict[str, str] = {name: getattr(event, name) for name in _PLAIN}
    more = {"when": telling.event_when(event), "description": short(event.description), "source": source}
    return Side(event.id, source, values | more)


def _of_draft(draft: EventDraft, source: str, telling: Telling) -> Side:
    values: dict[str, str] = {name: getattr(draft, name) for name in _PLAIN}
    more = {"when": telling.draft_when(draft), "description": short(draft.description), "source": source}
    return Side(None, source, values | more)


def short(text: str) -> str:
    plain = " ".join(plain_text(text).split())
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST].rstrip() + "…"


def _raw(value: Any) -> str:
    """A field as it came; dates are marked as such in the database."""
    if isinstance(value, Mapping):
        if "datetime" in value or "date" in value:
            return str(value.get("datetime") or value.get("date"))
        return "\n".join(f"{name}: {part}" for name, part in value.items())
    return str(value)
