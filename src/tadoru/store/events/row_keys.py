"""What makes a row of a source the same row in the next run: the source's own name for it, or else what it says.

A source's name (UID) is a hint. One that a run uses twice names nothing by itself, so what the row says is added to it; one that
changes with every export makes the row look new, and comparing finds the event again (`apply`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tadoru.model.event import EventDraft, Quarantined, RawEvent
from tadoru.store.events.column_types import storable
from tadoru.store.events.drafts import draft_hash, draft_out, raw_hash, raw_out
from tadoru.store.events.values import Judge


class Row(NamedTuple):
    """One row of a run, ready to be stored."""

    key: str
    draft: EventDraft
    said: Mapping[str, Any]
    hash: str
    raw: Mapping[str, Any] | None


class BadRow(NamedTuple):
    """One row of a run that lacks something."""

    key: str
    row: Quarantined
    raw: Mapping[str, Any]
    hash: str


def rows_of(drafts: Sequence[EventDraft], raws: Sequence[RawEvent | None], judge: Judge) -> tuple[list[Row], int]:
    """The rows of a run, each with a key of its own, and how many said nothing new."""
    names = Counter(draft.uid for draft in drafts if draft.uid)
    taken: dict[str, set[str]] = {}
    found: list[Row] = []
    for number, draft in enumerate(drafts):
        said = draft_out(draft)
        content = draft_hash(said)
        key = _key(draft, judge, unique=names[draft.uid] == 1)
        if content in taken.setdefault(key, set()):
            continue
        taken[key].add(content)
        nth = len(taken[key])
        raw = raws[number] if number < len(raws) else None
        found.append(Row(key if nth == 1 else f"{key}#{nth}", draft, said, content, raw_out(raw) if raw else None))
    return found, len(drafts) - len(found)


def _key(draft: EventDraft, judge: Judge, *, unique: bool) -> str:
    if draft.uid and unique:
        return storable(f"uid:{draft.uid}")
    start = draft.occurrence.starts_at
    when = start.isoformat(timespec="minutes") if draft.occurrence.has_time else start.date().isoformat()
    name = f"uid:{draft.uid}|" if draft.uid else "key:"
    return storable(f"{name}{judge.key(draft)}|{when}")


def bad_rows_of(quarantined: Sequence[Quarantined]) -> list[BadRow]:
    """Rows that lack something, each once."""
    names = Counter(row.raw.uid for row in quarantined if row.raw.uid)
    found: dict[str, BadRow] = {}
    for row in quarantined:
        raw = raw_out(row.raw)
        content = raw_hash(raw)
        own = row.raw.uid and names[row.raw.uid] == 1
        key = storable(f"uid:{row.raw.uid}") if own else f"raw:{content}"
        found.setdefault(key, BadRow(key, row, raw, content))
    return list(found.values())
