"""A question for a person, as it is shown: both sides field by field, what spoke for and against, and the ways to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from tadoru.cli.events_reading import event_when
from tadoru.cli.events_story import reason_text, source_name
from tadoru.cli.forms import stamp_text
from tadoru.cli.table import Column, clean, write_pairs, write_table
from tadoru.parse.normal_text import plain_text
from tadoru.store.events.walking import told_all

if TYPE_CHECKING:
    from tadoru.model.event import EventDraft
    from tadoru.store.events.open import EventsStore
    from tadoru.store.events.values import Event, Review

_SHOWN = (
    "title",
    "when",
    "timezone",
    "venue",
    "address",
    "city",
    "category",
    "price",
    "organizer",
    "url",
    "description",
    "source",
)
_PLAIN = ("title", "timezone", "venue", "address", "city", "category", "price", "organizer", "url")
_LONGEST = 200


def write_review(out: TextIO, store: EventsStore, found: Review, zone: str) -> None:
    """The question for a person."""
    names = {source.id: source.name for source in store.sources()}
    out.write(f"Review {found.id}: {found.reason.value}, asked {stamp_text(found.created_at, zone)}\n")
    if found.resolved_at is not None:
        out.write(f"Answered {stamp_text(found.resolved_at, zone)} by {clean(found.by)}: {clean(found.resolution)}\n")
    if found.detail.get("why"):
        out.write(f"{clean(str(found.detail['why']))}\n")
    out.write("\n")
    raw = found.detail.get("raw")
    if raw:
        out.write(f"What {source_name(found.source_id, names)} says in {clean(str(found.detail.get('position', 'a row')))}\n")
        write_pairs(out, ((str(name), _raw_text(value)) for name, value in raw.items() if name != "position"), "  ")
    else:
        _write_sides(out, _sides(store, found, names))
        _write_reasons(out, found)
    if found.resolved_at is None:
        out.write("\n")
        for words, command in _answers(found, is_row=bool(raw)):
            out.write(f"  {words}: {command}\n")  # whole, so that it can be copied


def _answers(found: Review, *, is_row: bool) -> list[tuple[str, str]]:
    command = "tadoru events review"
    if is_row:
        return [
            ("Say what is missing", f"{command} fix {found.id} --set 'starts=2026-08-01 10:00'"),
            ("Read it again", f"{command} retry {found.id}"),
            ("Leave it out", f"{command} dismiss {found.id}"),
        ]
    return [
        ("One event", f"{command} merge {found.id}"),
        ("Different events", f"{command} keep-apart {found.id}"),
        ("Leave it as it is", f"{command} dismiss {found.id}"),
    ]


def _write_sides(out: TextIO, sides: list[tuple[str, dict[str, str]]]) -> None:
    columns = [Column(""), *(Column(heading, may_shrink=True) for heading, _ in sides), Column("")]
    rows = []
    for name in _SHOWN:
        values = [side.get(name, "") for _, side in sides]
        if any(values):
            rows.append([name, *values, "" if len(set(values)) == 1 else "differs"])
    write_table(out, columns, rows)


def _write_reasons(out: TextIO, found: Review) -> None:
    score = found.detail.get("score")
    if isinstance(score, int | float):
        out.write(f"\nScore {score:.2f}\n")
    for reason in found.detail.get("reasons", ()):
        out.write(f"  {clean(reason_text(reason))}\n")


def _sides(store: EventsStore, found: Review, names: Mapping[int, str]) -> list[tuple[str, dict[str, str]]]:
    """The events in question; or one event, and the row that may not be about it."""
    events = told_all(store, found.candidate_ids)
    sides = [(f"Event {number}", _of_event(events[number].event, names)) for number in found.candidate_ids if number in events]
    wanted = {number for name in ("sighting", "other") if isinstance(number := found.detail.get(name), int)}
    if wanted and found.candidate_ids:
        said = [one for one in store.story(found.candidate_ids[0]).said if one.id in wanted and one.draft is not None]
        rows = [
            (f"Row of source {one.source_id}", _of_draft(one.draft, source_name(one.source_id, names)))
            for one in said
            if one.draft is not None
        ]
        sides = rows if len(rows) > 1 else [*sides, *rows]
    return sides


def _of_event(event: Event, names: Mapping[int, str]) -> dict[str, str]:
    values: dict[str, str] = {name: getattr(event, name) for name in _PLAIN}
    source = source_name(event.source_id, names)
    return values | {"when": event_when(event), "description": _short(event.description), "source": source}


def _of_draft(draft: EventDraft, source: str) -> dict[str, str]:
    start, end = draft.occurrence.starts_at, draft.occurrence.ends_at
    form = "%Y-%m-%d %H:%M" if draft.occurrence.has_time else "%Y-%m-%d"
    when = start.strftime(form) + (f" – {end.strftime(form)}" if end and draft.occurrence.has_time else "")
    values: dict[str, str] = {name: getattr(draft, name) for name in _PLAIN}
    return values | {"when": when, "description": _short(draft.description), "source": source}


def _short(text: str) -> str:
    plain = " ".join(plain_text(text).split())
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST].rstrip() + "…"


def _raw_text(value: Any) -> str:
    """A field of a row as it came; dates are marked as such in the database."""
    if isinstance(value, Mapping):
        if "datetime" in value or "date" in value:
            return str(value.get("datetime") or value.get("date"))
        return "\n".join(f"{name}: {part}" for name, part in value.items())
    return str(value)
