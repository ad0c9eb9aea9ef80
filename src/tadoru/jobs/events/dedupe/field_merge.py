"""Merges the descriptions of one event by several sources, field by field, and reports contradictions.

Nothing is lost: the store keeps all sightings, and a merge can be undone. A contradiction in a fact that visitors rely on (time,
place, price, cancellation) is reported for review; until then the most trusted source wins. Only a cancellation counts whichever
source reports it: sources that do not mention it usually have not been updated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from tadoru.errors import Message
from tadoru.jobs.events.dedupe.reasons import conflict_message
from tadoru.jobs.events.dedupe.similarity import event_page_key, fold_spelling, normalise_text
from tadoru.jobs.events.dedupe.times import DayRelation, TimeRelation, compare_days, compare_times
from tadoru.jobs.events.dedupe.venues import VenueRelation, bare_city_name, compare_venues, distance_km, split_venue
from tadoru.model.event import EventDraft, Occurrence
from tadoru.parse.sources.cancellation import NoticeKind

_FAR_APART = 1.0
"""Kilometres: two geocoders may differ by less for the same entrance."""
_FREE = re.compile(r"無料|free|不要|なし")
_AMOUNT = re.compile(r"\d[\d,]*")
FIELD_GROUPS: dict[str, tuple[str, ...]] = {
    "title": ("title", "title_clean"),
    "when": ("occurrence", "timezone", "occurrences", "recurrence"),
    "venue": ("venue", "venue_clean"),
    "coordinates": ("latitude", "longitude"),
}
"""Fields that are taken from one source together: half a date from each of two sources is no date at all."""


class MergeInput(NamedTuple):
    """The description by one source."""

    draft: EventDraft
    number: int
    """The id of the sighting."""
    trust: int = 0
    """Between inputs of the same trust the longer description wins; all other fields go by order."""


class FieldConflict(NamedTuple):
    """Two sources contradict each other about one fact."""

    field: str
    kept: str
    """The value that is shown."""
    other: str
    number: int
    """The sighting with the other value."""

    @property
    def why(self) -> Message:
        """The contradiction as a message."""
        return conflict_message(self.field, self.kept, self.other)

    @property
    def identity(self) -> str:
        """Identifies the contradiction in the subject of its review: it must never change, or decided reviews open again."""
        return f"The sources disagree about {_IDENTITIES[self.field]}: “{self.kept}” is shown, “{self.other}” is draft elsewhere."


_IDENTITIES = {
    "starts_at": "the beginning",
    "ends_at": "the end",
    "venue": "the venue",
    "city": "the city",
    "coordinates": "the place on the map",
    "price": "the price",
    "is_cancelled": "whether it is cancelled",
}


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged event."""

    draft: EventDraft
    owners: Mapping[str, int]
    """For each non-empty field the sighting it was taken from; for `extra` the first one that has any."""
    conflicts: tuple[FieldConflict, ...]


def merge_fields(inputs: Sequence[MergeInput]) -> MergeResult:
    """Merge inputs, the most trusted first. Field names are those of `EventDraft`."""
    values: dict[str, object] = {}
    owners: dict[str, int] = {}
    for names in _groups():
        source = _best_input(names[0], inputs)
        for name in names:
            values[name] = getattr(source.draft, name)
            owners[name] = source.number
    values["extra"] = _extra(inputs, owners["category"])
    draft = replace(inputs[0].draft, **values)  # type: ignore[arg-type]  # the names are those of its own fields
    provided = {name: number for name, number in owners.items() if getattr(draft, name) not in (None, "", (), {}, False)}
    conflicts = [conflict for source in inputs for conflict in _conflicts(draft, source)]
    once = {(conflict.field, conflict.other): conflict for conflict in reversed(conflicts)}
    return MergeResult(draft, provided, tuple(reversed(once.values())))


def _extra(inputs: Sequence[MergeInput], category_side: int) -> dict[str, str]:
    """All extra fields. `…_from` marks of the enricher stay with its values, and are dropped if a source provided the value."""
    extra: dict[str, str] = {}
    for source in reversed(inputs):
        own = source.draft.extra
        if "summary" in own:
            extra.pop("summary_from", None)
        extra |= {name: value for name, value in own.items() if name != "category_from" or source.number == category_side}
    return extra


def _groups() -> Iterator[tuple[str, ...]]:
    grouped = {name for names in FIELD_GROUPS.values() for name in names}
    yield from FIELD_GROUPS.values()
    yield from ((each.name,) for each in fields(EventDraft) if each.name not in grouped)


def _best_input(name: str, inputs: Sequence[MergeInput]) -> MergeInput:
    """The input that provides a field: the first, or a later one that is more detailed and does not contradict it."""
    if name == "venue" and (moved := next(filter(_has_new_venue, inputs), None)):
        return moved
    # A notice says what has changed, and little else.
    best = next((source for source in inputs if "notice" not in source.draft.extra), inputs[0])
    if name in {"uid", "position"}:
        return best
    for source in inputs:
        if source is not best and _is_better(name, source, best):
            best = source
    return best


def _has_new_venue(source: MergeInput) -> bool:
    return bool(source.draft.venue) and source.draft.extra.get("notice") == NoticeKind.VENUE


def _is_better(name: str, source: MergeInput, best: MergeInput) -> bool:
    new, old = source.draft, best.draft
    match name:
        case "occurrence":
            return _precision(new) > _precision(old) and _one_beginning(new, old)
        case "venue":
            more = _venue_detail(new) > _venue_detail(old)
            return more and compare_venues(new.venue, old.venue, bare_city_name(old.city)) is not VenueRelation.DIFFERENT
        case "url":
            return _page_detail(new) > _page_detail(old)
        case "category":
            return _weight(new) > _weight(old)
        case "description" if source.trust == best.trust:
            return len(new.description) > len(old.description)
        case "is_cancelled":
            return new.is_cancelled and not old.is_cancelled
        case _:
            return _has_value(new, name) and not _has_value(old, name)


def _weight(draft: EventDraft) -> int:
    """Values of a source before values of the enricher, before none."""
    return (2 - ("category_from" in draft.extra)) if draft.category else 0


def _has_value(draft: EventDraft, name: str) -> bool:
    return getattr(draft, name) not in (None, "", {})


def _precision(draft: EventDraft) -> int:
    """A series before a single date, a time before a day, an end before none."""
    return 4 * bool(draft.occurrences) + 2 * draft.occurrence.has_time + (draft.occurrence.ends_at is not None)


def _one_beginning(one: EventDraft, other: EventDraft) -> bool:
    """Whether the more precise of two drafts only adds to the other."""
    found = compare_days(one, other)
    return (
        found.days not in {DayRelation.APART, DayRelation.SLIP}
        and compare_times(found.one, found.other) is not TimeRelation.DIFFERENT
    )


def _venue_detail(draft: EventDraft) -> int:
    return bool(draft.venue) + bool(draft.venue and split_venue(draft.venue).room)


def _page_detail(draft: EventDraft) -> int:
    return bool(draft.url) + bool(event_page_key(draft.url))


def _conflicts(shown: EventDraft, source: MergeInput) -> Iterator[FieldConflict]:
    draft, number = source.draft, source.number
    yield from _conflicts_of_time(shown, source)
    is_moved = shown.extra.get("notice") == NoticeKind.VENUE
    if not is_moved and compare_venues(shown.venue, draft.venue, bare_city_name(shown.city)) in {
        VenueRelation.ROOM,
        VenueRelation.WEAK,
        VenueRelation.DIFFERENT,
    }:
        yield FieldConflict("venue", shown.venue, draft.venue, number)
    if shown.city and draft.city and bare_city_name(shown.city) != bare_city_name(draft.city):
        yield FieldConflict("city", shown.city, draft.city, number)
    if (apart := distance_km(shown, draft)) is not None and apart > _FAR_APART:
        yield FieldConflict("coordinates", _point(shown), _point(draft), number)
    if shown.price and draft.price and _amounts(shown.price) != _amounts(draft.price):
        yield FieldConflict("price", shown.price, draft.price, number)
    if shown.is_cancelled != draft.is_cancelled and shown.extra.get("notice") not in (NoticeKind.CANCELLED, NoticeKind.POSTPONED):
        yield FieldConflict("is_cancelled", "cancelled", "not cancelled", number)


def _conflicts_of_time(shown: EventDraft, source: MergeInput) -> Iterator[FieldConflict]:
    found = compare_days(shown, source.draft)
    mine, theirs = found.one, found.other
    if found.days in {DayRelation.APART, DayRelation.SLIP} or compare_times(mine, theirs) is TimeRelation.DIFFERENT:
        yield FieldConflict("starts_at", _moment(mine), _moment(theirs), source.number)
    elif mine.ends_at and theirs.ends_at and mine.has_time == theirs.has_time and mine.ends_at != theirs.ends_at:
        yield FieldConflict("ends_at", mine.ends_at.isoformat(), theirs.ends_at.isoformat(), source.number)


def _moment(occurrence: Occurrence) -> str:
    start = occurrence.starts_at
    return start.isoformat() if occurrence.has_time else start.date().isoformat()


def _point(draft: EventDraft) -> str:
    return f"{draft.latitude}, {draft.longitude}"


def _amounts(price: str) -> frozenset[str]:
    """The amounts of a price: 無料, 0円 and free are 0; a text without amounts stands for itself."""
    plain = normalise_text(price)
    found = {amount.replace(",", "").lstrip("0") or "0" for amount in _AMOUNT.findall(plain)}
    if _FREE.search(plain) and not found:
        found = {"0"}
    return frozenset(found or {fold_spelling(plain)})
