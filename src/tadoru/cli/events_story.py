"""An event with its story: every field with who says so, what each source says, merges and their undoing, questions, changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from tadoru.cli.events_reading import event_when, when_text
from tadoru.cli.forms import stamp_text
from tadoru.cli.table import clean, write_pairs
from tadoru.parse.normal_text import plain_text

if TYPE_CHECKING:
    from tadoru.store.events.values import Event, EventStory, MergeRecord, Review, Said

_LONGEST = 400
"""Characters of a description that are shown; JSON has all of it."""
_FIELDS = {
    "title": "title", "occurrence": "when", "timezone": "timezone", "venue": "venue", "address": "address", "city": "city",
    "latitude": "position", "category": "category", "price": "price", "organizer": "organizer", "url": "url", "image": "image",
    "recurrence": "recurrence", "when_note": "note on time", "description": "description", "is_cancelled": "cancelled",
}  # fmt: skip
"""Fields of a draft, as they are shown."""


def write_story(out: TextIO, story: EventStory, names: Mapping[int, str], zone: str) -> None:
    """The story for a person."""
    event = story.event
    out.write(f"Event {event.id}: {clean(event.title) or 'without a title'}\n")
    for sentence in _state(event, zone):
        out.write(f"{sentence}\n")
    out.write("\n")
    write_pairs(out, _fields(story), "  ")
    if len(story.occurrences) > 1:
        _heading(out, f"Dates ({len(story.occurrences)})")
        for time in story.occurrences[:20]:
            out.write(f"  {when_text(time, event.timezone)}\n")
        if len(story.occurrences) > 20:
            out.write(f"  … and {len(story.occurrences) - 20} more\n")
    _heading(out, "What is said about it")
    for one in story.said:
        _write_said(out, one, names, zone)
    if story.merges:
        _heading(out, "Merges")
        for merge in story.merges:
            write_merge(out, merge, zone)
    if story.reviews:
        _heading(out, "Reviews")
        for review in story.reviews:
            out.write(f"  {review_line(review, zone)}\n")
    if story.history:
        _heading(out, "Changes")
        for entry in story.history:
            out.write(f"  {stamp_text(entry['at'], zone)}  {clean(str(entry['by']))}\n")
            write_pairs(out, ((name, _change(values)) for name, values in entry["changes"].items()), "    ")


def _heading(out: TextIO, text: str) -> None:
    out.write(f"\n{text}\n")


def _state(event: Event, zone: str) -> Iterator[str]:
    if event.merged_into is not None:
        yield f"It was merged into event {event.merged_into}."
    if event.status.value != "active":
        yield f"It is {'hidden' if event.status.value == 'hidden' else 'in quarantine'}, and not in the calendar."
    for at, words in (
        (event.cancelled_at, "It was cancelled; that was seen on"), (event.vanished_at, "No source lists it since"),
        (event.archived_at, "It was archived on"),
    ):  # fmt: skip
        if at is not None:
            yield f"{words} {stamp_text(at, zone)}."


def _fields(story: EventStory) -> Iterator[tuple[str, str]]:
    event = story.event
    for field, shown in _FIELDS.items():
        value = _value(event, field)
        owner = story.owners.get(field)
        is_emptied = not value and owner is not None and owner.owner == "person" and _is_news(story, field)
        if value or is_emptied:
            yield shown, f"{value or 'nothing'}  [{_owner(field, story)}]"
    yield "read more", event.source_url
    yield "licence", " ".join(part for part in (event.licence, event.terms_url) if part)
    yield "dedupe key", event.dedupe_key


def _value(event: Event, field: str) -> str:
    match field:
        case "occurrence":
            return event_when(event)
        case "latitude":
            return f"{event.lat:.6f}, {event.lon:.6f}" if event.lat is not None and event.lon is not None else ""
        case "is_cancelled":
            return "yes" if event.cancelled_at else ""
        case "description":
            text = " ".join(plain_text(event.description).split())
            return text if len(text) <= _LONGEST else text[:_LONGEST].rstrip() + "…"
    value: str = getattr(event, field)
    return value


def _is_news(story: EventStory, field: str) -> bool:
    """Whether a source says something where a person wants nothing."""
    return any(one.draft is not None and getattr(one.draft, field) for one in story.said)


def _owner(field: str, story: EventStory) -> str:
    """Who says so; the names of the sources stand below."""
    owner = story.owners.get(field)
    if owner is not None and owner.owner == "person":
        return f"{owner.who or 'a person'}, by hand"
    source_id = owner.source_id if owner is not None else story.event.source_id
    return f"source {source_id}" if source_id is not None else "a source that was removed"


def source_name(source_id: int | None, names: Mapping[int, str]) -> str:
    """A source as messages name it."""
    if source_id is None:
        return "a person, or a source that was removed"
    return f"source {source_id}, {clean(names.get(source_id, 'removed'))}"


def _write_said(out: TextIO, one: Said, names: Mapping[int, str], zone: str) -> None:
    who = "by hand" if one.source_id is None and one.row_key.startswith("person:") else source_name(one.source_id, names)
    seen = f"seen {stamp_text(one.first_seen, zone)} to {stamp_text(one.last_seen, zone)}"
    gone = f", gone since {stamp_text(one.gone_at, zone)}" if one.gone_at else ""
    out.write(f"  {who}: {seen}{gone}\n")
    if one.draft is not None:
        place = ", ".join(part for part in (one.draft.venue, one.draft.city) if part)
        start = one.draft.occurrence.starts_at
        when = f"{start:%Y-%m-%d %H:%M}" if one.draft.occurrence.has_time else f"{start:%Y-%m-%d}"
        out.write(f"    {clean(one.draft.title)} · {when}{' · ' + clean(place) if place else ''}\n")
    else:
        out.write("    A row that lacks something; see its review.\n")


def write_merge(out: TextIO, merge: MergeRecord, zone: str) -> None:
    """One merge, why it was done, and how to take it back."""
    other = f"event {merge.absorbed_id}" if merge.absorbed_id is not None else "a new row"
    score = f", score {merge.score:.2f}" if merge.score is not None else ""
    head = f"  Merge {merge.id}: {other} into event {merge.kept_id}, {stamp_text(merge.at, zone)}, by {clean(merge.by)}{score}\n"
    out.write(head)
    for reason in merge.reasons:
        out.write(f"    {clean(reason_text(reason))}\n")
    if merge.undone_at is not None:
        out.write(f"    Undone {stamp_text(merge.undone_at, zone)} by {clean(merge.undone_by)}.\n")
    else:
        out.write(f"    Take it back: tadoru events merges undo {merge.id}\n")


def reason_text(reason: Any) -> str:
    """A reason as the database keeps it: a sentence, or an object that has one."""
    if isinstance(reason, Mapping):
        return str(reason.get("why") or ", ".join(f"{name} {value}" for name, value in reason.items()))
    return str(reason)


def review_line(review: Review, zone: str) -> str:
    """One review on one line."""
    asked = f"Review {review.id}: {review.reason.value}, asked {stamp_text(review.created_at, zone)}"
    if review.resolved_at is None:
        return f"{asked}; open: tadoru events review show {review.id}"
    return f"{asked}; answered {stamp_text(review.resolved_at, zone)}: {clean(review.resolution)}"


def _change(values: Any) -> str:
    if isinstance(values, list | tuple) and len(values) == 2:
        old, new = (str(value)[:200] if value not in (None, "") else "nothing" for value in values)
        return f"{old} → {new}"
    return str(values)
