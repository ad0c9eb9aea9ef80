"""Merges what several sources say about one event, field by field: who gave what, and where they contradict each other.

Nothing is lost: the store keeps every side, and a merge can be undone. A contradiction in a fact that visitors rely on (time,
place, price, whether it takes place) is reported for a person to look at; until then the most trusted source is believed. Only
that it is cancelled is believed whoever says it: a source that does not say so has most often only not heard of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from tadoru.jobs.events.dedupe.similarity import event_page_key, fold_spelling, normalise_text
from tadoru.jobs.events.dedupe.times import DayRelation, TimeRelation, compare_days, compare_times
from tadoru.jobs.events.dedupe.venues import VenueRelation, bare_city_name, compare_venues, distance_km, split_venue
from tadoru.model.event import EventDraft, Occurrence

_FAR_APART = 1.0
"""Kilometres: closer than this two geocoders may differ about one door."""
_FREE = re.compile(r"無料|free|不要|なし")
_AMOUNT = re.compile(r"\d[\d,]*")
FIELD_GROUPS: dict[str, tuple[str, ...]] = {
    "title": ("title", "title_clean"),
    "when": ("occurrence", "timezone", "occurrences", "recurrence"),
    "venue": ("venue", "venue_clean"),
    "coordinates": ("latitude", "longitude"),
}
"""What is taken from one side as a whole: half a date of one source and half of another is a date of neither."""


class MergeInput(NamedTuple):
    """What one source says."""

    draft: EventDraft
    number: int
    """The id of the sighting."""
    trust: int = 0
    """Of two sides with the same trust the fuller description is taken; everything else goes by their order."""


class FieldConflict(NamedTuple):
    """Two sources say different things about one fact."""

    field: str
    kept: str
    """What is believed."""
    other: str
    number: int
    """The side that says otherwise."""

    @property
    def why(self) -> str:
        """One English sentence."""
        return f"The sources disagree about {_CONFLICT_MESSAGES[self.field]}: “{self.kept}” is shown, “{self.other}” is said elsewhere."


_CONFLICT_MESSAGES = {
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
    """One event out of what several sources say."""

    draft: EventDraft
    owners: Mapping[str, int]
    """For every field that says something, the side it was taken from. Of `extra` the first side that has any."""
    conflicts: tuple[FieldConflict, ...]


def merge_fields(sides: Sequence[MergeInput]) -> MergeResult:
    """Put sides together, the most trusted first. Names of fields are those of `EventDraft`."""
    values: dict[str, object] = {}
    owners: dict[str, int] = {}
    for names in _groups():
        side = _best_input(names[0], sides)
        for name in names:
            values[name] = getattr(side.draft, name)
            owners[name] = side.number
    values["extra"] = _extra(sides, owners["category"])
    draft = replace(sides[0].draft, **values)  # type: ignore[arg-type]  # the names are those of its own fields
    said = {name: number for name, number in owners.items() if getattr(draft, name) not in (None, "", (), {}, False)}
    conflicts = [conflict for side in sides for conflict in _conflicts(draft, side)]
    once = {(conflict.field, conflict.other): conflict for conflict in reversed(conflicts)}
    return MergeResult(draft, said, tuple(reversed(once.values())))


def _extra(sides: Sequence[MergeInput], category_side: int) -> dict[str, str]:
    """What each side says besides. Who filled something in stays with what was filled in, and goes when a source said it."""
    extra: dict[str, str] = {}
    for side in reversed(sides):
        said = side.draft.extra
        if "summary" in said:
            extra.pop("summary_from", None)
        extra |= {name: value for name, value in said.items() if name != "category_from" or side.number == category_side}
    return extra


def _groups() -> Iterator[tuple[str, ...]]:
    grouped = {name for names in FIELD_GROUPS.values() for name in names}
    yield from FIELD_GROUPS.values()
    yield from ((each.name,) for each in fields(EventDraft) if each.name not in grouped)


def _best_input(name: str, sides: Sequence[MergeInput]) -> MergeInput:
    """Which side gives a field: the first, or one after it that says more and does not contradict what is believed."""
    best = sides[0]
    if name in {"uid", "position"}:
        return best
    for side in sides[1:]:
        if _is_better(name, side, best):
            best = side
    return best


def _is_better(name: str, side: MergeInput, best: MergeInput) -> bool:
    new, old = side.draft, best.draft
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
        case "description" if side.trust == best.trust:
            return len(new.description) > len(old.description)
        case "is_cancelled":
            return new.is_cancelled and not old.is_cancelled
        case _:
            return _has_value(new, name) and not _has_value(old, name)


def _weight(draft: EventDraft) -> int:
    """What a source says, before what was filled in, before nothing."""
    return (2 - ("category_from" in draft.extra)) if draft.category else 0


def _has_value(draft: EventDraft, name: str) -> bool:
    return getattr(draft, name) not in (None, "", {})


def _precision(draft: EventDraft) -> int:
    """A series before a single date, a time before a day, an end before none."""
    return 4 * bool(draft.occurrences) + 2 * draft.occurrence.has_time + (draft.occurrence.ends_at is not None)


def _one_beginning(one: EventDraft, other: EventDraft) -> bool:
    """Whether the more precise of two only adds to what the other says."""
    found = compare_days(one, other)
    return (
        found.days not in {DayRelation.APART, DayRelation.SLIP}
        and compare_times(found.one, found.other) is not TimeRelation.DIFFERENT
    )


def _venue_detail(draft: EventDraft) -> int:
    return bool(draft.venue) + bool(draft.venue and split_venue(draft.venue).room)


def _page_detail(draft: EventDraft) -> int:
    return bool(draft.url) + bool(event_page_key(draft.url))


def _conflicts(believed: EventDraft, side: MergeInput) -> Iterator[FieldConflict]:
    said, number = side.draft, side.number
    yield from _conflicts_of_time(believed, side)
    if compare_venues(believed.venue, said.venue, bare_city_name(believed.city)) in {
        VenueRelation.ROOM,
        VenueRelation.WEAK,
        VenueRelation.DIFFERENT,
    }:
        yield FieldConflict("venue", believed.venue, said.venue, number)
    if believed.city and said.city and bare_city_name(believed.city) != bare_city_name(said.city):
        yield FieldConflict("city", believed.city, said.city, number)
    if (apart := distance_km(believed, said)) is not None and apart > _FAR_APART:
        yield FieldConflict("coordinates", _point(believed), _point(said), number)
    if believed.price and said.price and _amounts(believed.price) != _amounts(said.price):
        yield FieldConflict("price", believed.price, said.price, number)
    if believed.is_cancelled != said.is_cancelled:
        yield FieldConflict("is_cancelled", "cancelled", "not cancelled", number)


def _conflicts_of_time(believed: EventDraft, side: MergeInput) -> Iterator[FieldConflict]:
    found = compare_days(believed, side.draft)
    mine, theirs = found.one, found.other
    if found.days in {DayRelation.APART, DayRelation.SLIP} or compare_times(mine, theirs) is TimeRelation.DIFFERENT:
        yield FieldConflict("starts_at", _moment(mine), _moment(theirs), side.number)
    elif mine.ends_at and theirs.ends_at and mine.has_time == theirs.has_time and mine.ends_at != theirs.ends_at:
        yield FieldConflict("ends_at", mine.ends_at.isoformat(), theirs.ends_at.isoformat(), side.number)


def _moment(occurrence: Occurrence) -> str:
    start = occurrence.starts_at
    return start.isoformat() if occurrence.has_time else start.date().isoformat()


def _point(draft: EventDraft) -> str:
    return f"{draft.latitude}, {draft.longitude}"


def _amounts(price: str) -> frozenset[str]:
    """What a price asks for: 無料, 0円 and free are nothing; a text without amounts is itself."""
    plain = normalise_text(price)
    found = {amount.replace(",", "").lstrip("0") or "0" for amount in _AMOUNT.findall(plain)}
    if _FREE.search(plain) and not found:
        found = {"0"}
    return frozenset(found or {fold_spelling(plain)})
