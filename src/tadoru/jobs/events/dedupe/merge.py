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

from tadoru.jobs.events.dedupe.days import Days, Times, compare_times, meet
from tadoru.jobs.events.dedupe.fold import fold, normal
from tadoru.jobs.events.dedupe.links import specific
from tadoru.jobs.events.dedupe.places import Place, city_name, compare_venues, distance, venue_view
from tadoru.model.event import EventDraft, Occurrence

_FAR_APART = 1.0
"""Kilometres: closer than this two geocoders may differ about one door."""
_FREE = re.compile(r"無料|free|不要|なし")
_AMOUNT = re.compile(r"\d[\d,]*")
TOGETHER: dict[str, tuple[str, ...]] = {
    "title": ("title", "title_clean"),
    "when": ("occurrence", "timezone", "occurrences", "recurrence"),
    "venue": ("venue", "venue_clean"),
    "coordinates": ("latitude", "longitude"),
}
"""What is taken from one side as a whole: half a date of one source and half of another is a date of neither."""


class Side(NamedTuple):
    """What one source says."""

    draft: EventDraft
    number: int
    """The id of the sighting."""
    trust: int = 0
    """Of two sides with the same trust the fuller description is taken; everything else goes by their order."""


class Conflict(NamedTuple):
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
        return f"The sources disagree about {_WORDS[self.field]}: “{self.kept}” is shown, “{self.other}” is said elsewhere."


_WORDS = {
    "starts_at": "the beginning",
    "ends_at": "the end",
    "venue": "the venue",
    "city": "the city",
    "coordinates": "the place on the map",
    "price": "the price",
    "is_cancelled": "whether it is cancelled",
}


@dataclass(frozen=True, slots=True)
class Together:
    """One event out of what several sources say."""

    draft: EventDraft
    owners: Mapping[str, int]
    """For every field that says something, the side it was taken from. Of `extra` the first side that has any."""
    conflicts: tuple[Conflict, ...]


def merge(sides: Sequence[Side]) -> Together:
    """Put sides together, the most trusted first. Names of fields are those of `EventDraft`."""
    values: dict[str, object] = {}
    owners: dict[str, int] = {}
    for names in _groups():
        side = _believed(names[0], sides)
        for name in names:
            values[name] = getattr(side.draft, name)
            owners[name] = side.number
    values["extra"] = _extra(sides, owners["category"])
    draft = replace(sides[0].draft, **values)  # type: ignore[arg-type]  # the names are those of its own fields
    said = {name: number for name, number in owners.items() if getattr(draft, name) not in (None, "", (), {}, False)}
    conflicts = [conflict for side in sides for conflict in _conflicts(draft, side)]
    once = {(conflict.field, conflict.other): conflict for conflict in reversed(conflicts)}
    return Together(draft, said, tuple(reversed(once.values())))


def _extra(sides: Sequence[Side], category_side: int) -> dict[str, str]:
    """What each side says besides. Who filled something in stays with what was filled in, and goes when a source said it."""
    extra: dict[str, str] = {}
    for side in reversed(sides):
        said = side.draft.extra
        if "summary" in said:
            extra.pop("summary_from", None)
        extra |= {name: value for name, value in said.items() if name != "category_from" or side.number == category_side}
    return extra


def _groups() -> Iterator[tuple[str, ...]]:
    grouped = {name for names in TOGETHER.values() for name in names}
    yield from TOGETHER.values()
    yield from ((each.name,) for each in fields(EventDraft) if each.name not in grouped)


def _believed(name: str, sides: Sequence[Side]) -> Side:
    """Which side gives a field: the first, or one after it that says more and does not contradict what is believed."""
    best = sides[0]
    if name in {"uid", "position"}:
        return best
    for side in sides[1:]:
        if _says_more(name, side, best):
            best = side
    return best


def _says_more(name: str, side: Side, best: Side) -> bool:
    new, old = side.draft, best.draft
    match name:
        case "occurrence":
            return _precision(new) > _precision(old) and _one_beginning(new, old)
        case "venue":
            more = _venue_detail(new) > _venue_detail(old)
            return more and compare_venues(new.venue, old.venue, city_name(old.city)) is not Place.DIFFERENT
        case "url":
            return _page_detail(new) > _page_detail(old)
        case "category":
            return _weight(new) > _weight(old)
        case "description" if side.trust == best.trust:
            return len(new.description) > len(old.description)
        case "is_cancelled":
            return new.is_cancelled and not old.is_cancelled
        case _:
            return _says(new, name) and not _says(old, name)


def _weight(draft: EventDraft) -> int:
    """What a source says, before what was filled in, before nothing."""
    return (2 - ("category_from" in draft.extra)) if draft.category else 0


def _says(draft: EventDraft, name: str) -> bool:
    return getattr(draft, name) not in (None, "", {})


def _precision(draft: EventDraft) -> int:
    """A series before a single date, a time before a day, an end before none."""
    return 4 * bool(draft.occurrences) + 2 * draft.occurrence.has_time + (draft.occurrence.ends_at is not None)


def _one_beginning(one: EventDraft, other: EventDraft) -> bool:
    """Whether the more precise of two only adds to what the other says."""
    found = meet(one, other)
    return found.days not in {Days.APART, Days.SLIP} and compare_times(found.one, found.other) is not Times.DIFFERENT


def _venue_detail(draft: EventDraft) -> int:
    return bool(draft.venue) + bool(draft.venue and venue_view(draft.venue).room)


def _page_detail(draft: EventDraft) -> int:
    return bool(draft.url) + bool(specific(draft.url))


def _conflicts(believed: EventDraft, side: Side) -> Iterator[Conflict]:
    said, number = side.draft, side.number
    yield from _conflicts_of_time(believed, side)
    if compare_venues(believed.venue, said.venue, city_name(believed.city)) in {Place.ROOM, Place.WEAK, Place.DIFFERENT}:
        yield Conflict("venue", believed.venue, said.venue, number)
    if believed.city and said.city and city_name(believed.city) != city_name(said.city):
        yield Conflict("city", believed.city, said.city, number)
    if (apart := distance(believed, said)) is not None and apart > _FAR_APART:
        yield Conflict("coordinates", _point(believed), _point(said), number)
    if believed.price and said.price and _amounts(believed.price) != _amounts(said.price):
        yield Conflict("price", believed.price, said.price, number)
    if believed.is_cancelled != said.is_cancelled:
        yield Conflict("is_cancelled", "cancelled", "not cancelled", number)


def _conflicts_of_time(believed: EventDraft, side: Side) -> Iterator[Conflict]:
    found = meet(believed, side.draft)
    mine, theirs = found.one, found.other
    if found.days in {Days.APART, Days.SLIP} or compare_times(mine, theirs) is Times.DIFFERENT:
        yield Conflict("starts_at", _moment(mine), _moment(theirs), side.number)
    elif mine.ends_at and theirs.ends_at and mine.has_time == theirs.has_time and mine.ends_at != theirs.ends_at:
        yield Conflict("ends_at", mine.ends_at.isoformat(), theirs.ends_at.isoformat(), side.number)


def _moment(occurrence: Occurrence) -> str:
    start = occurrence.starts_at
    return start.isoformat() if occurrence.has_time else start.date().isoformat()


def _point(draft: EventDraft) -> str:
    return f"{draft.latitude}, {draft.longitude}"


def _amounts(price: str) -> frozenset[str]:
    """What a price asks for: 無料, 0円 and free are nothing; a text without amounts is itself."""
    plain = normal(price)
    found = {amount.replace(",", "").lstrip("0") or "0" for amount in _AMOUNT.findall(plain)}
    if _FREE.search(plain) and not found:
        found = {"0"}
    return frozenset(found or {fold(plain)})
