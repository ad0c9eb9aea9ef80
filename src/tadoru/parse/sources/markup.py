"""Events that a page describes in schema.org's words: JSON-LD, microdata and RDFa, read by `parse.structured`.

An event within an event (`subEvent`) is one of its own and takes from the outer one what it does not say; the event around one
(`superEvent`) is its context only. What two syntaxes say of one event is brought together. Selectors are in `selected`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from tadoru.model.event import RawEvent, Reading
from tadoru.parse.html import Document, PageTooComplex, collapsed
from tadoru.parse.sources.fields import Value, filled, raw_event
from tadoru.parse.sources.ics_rule import RuleRefused
from tadoru.parse.sources.problems import Problems
from tadoru.parse.sources.schedule import Series, Window, end_of, series
from tadoru.parse.sources.things import Place, Things, place, place_of, price
from tadoru.parse.structured import Item, Manner, StructuredData, read_structured

EVENT_TYPES = frozenset(
    "Event BroadcastEvent BusinessEvent ChildrensEvent ComedyEvent ConferenceEvent CourseInstance DanceEvent EducationEvent "
    "EventSeries ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent PerformingArtsEvent SaleEvent "
    "ScreeningEvent SocialEvent SportsEvent TheaterEvent VisualArtsEvent".split()
)
"""Event and its subtypes, but for those that nobody goes to: deliveries, publications, clicks of users."""

_MANNER = Manner(most_items=20_000, most_properties=100_000, max_text=20_000, is_lenient=True)
_SYNTAXES = {"json-ld": "JSON-LD", "microdata": "microdata", "rdfa": "RDFa"}
_MOST_DATES = 50
_CONTEXT = frozenset({"superEvent", "partOf", "partOfSeries"})
_TEXTS = {
    "uid": ("identifier",),
    "title": ("name", "headline", "summary", "alternateName"),
    "description": ("description", "disambiguatingDescription"),
    "url": ("url", "mainEntityOfPage", "sameAs"),
    "updated": ("dateModified",),
}
_READ = frozenset(
    "name headline summary description url dateModified identifier startDate endDate duration location organizer performer "
    "performers actor offers image photo thumbnailUrl eventStatus eventSchedule superEvent subEvent subEvents "
    "mainEntityOfPage".split()
)
_MAX_EXTRA = 1_000


def read_markup(body: bytes, content_type: str | None, url: str, *, now: datetime | None = None, zone: str = "UTC") -> Reading:
    """The events of a page that says them in schema.org's words. Series are unrolled when it is said what time it is."""
    problems = Problems()
    try:
        events = events_in(Document.parse(body, content_type), url, Window(now, zone), problems)
    except PageTooComplex as error:
        problems.add("page", f"The page can not be read: {error}.")
        events = []
    return Reading(events=tuple(events), problems=problems.all())


def events_in(document: Document, url: str, window: Window, problems: Problems) -> list[RawEvent]:
    """The events of a parsed page."""
    data = read_structured(document, _MANNER)
    for number, reason in enumerate(data.problems, 1):
        if reason != "empty" and not reason.endswith("instead of an object"):
            problems.add(f"JSON-LD block {number} that is broken", f"It can not be read, not even in part: {reason}.")
    things = Things(data.items)
    base = document.base_url(url)
    found: list[tuple[str, RawEvent]] = []
    counts = dict.fromkeys(_SYNTAXES, 0)
    for item, outer in _event_items(data, things):
        counts[item.syntax] += 1
        position = f"{_SYNTAXES[item.syntax]} event {counts[item.syntax]}"
        found.extend((item.syntax, event) for event in _events(things, item, outer, window, position, problems, base))
    return _united(found)


def _event_items(data: StructuredData, things: Things) -> Iterator[tuple[Item, Item | None]]:
    """The items that are events, in document order, each with the item around it."""
    inner = {
        id(value) for item in data.items for values in item.properties.values() for value in values if isinstance(value, Item)
    }
    waiting: list[tuple[Item, Item | None, str]] = [(item, None, "") for item in reversed(data.items) if id(item) not in inner]
    seen: set[int] = set()
    while waiting:
        item, outer, relation = waiting.pop()
        whole = things.whole(item)
        if id(item) in seen or (whole is not item and id(whole) in seen):
            continue
        seen |= {id(item), id(whole)}
        if is_event(whole) and relation not in _CONTEXT and not _is_told_by_its_parts(things, whole):
            yield whole, outer
        children = [(child, whole, name) for name, values in whole.properties.items() for child in values]
        waiting.extend((child, around, name) for child, around, name in reversed(children) if isinstance(child, Item))


def is_event(item: Item) -> bool:
    return not EVENT_TYPES.isdisjoint(item.types) and bool(item.properties)


def _is_told_by_its_parts(things: Things, item: Item) -> bool:
    """Whether an event is only the roof over others: a series, or without a date of its own."""
    parts = things.items(item, "subEvent", "subEvents")
    is_roof = "EventSeries" in item.types or not things.text(item, "startDate")
    return is_roof and any(things.text(part, "startDate") for part in parts)


def _events(
    things: Things, item: Item, outer: Item | None, window: Window, position: str, problems: Problems, base: str
) -> Iterator[RawEvent]:
    """The event of an item; several when it names several days."""
    values: dict[str, Value] = {name: things.text(item, *names) for name, names in _TEXTS.items()}
    values["uid"] = values["uid"] or item.id
    if not values["url"] and item.id.startswith(("http://", "https://")):
        values["url"] = item.id
    values["image"], values["price"] = things.image(item), price(things, item)
    values["organizer"] = things.names(item, "organizer")
    status = things.text(item, "eventStatus")
    values["cancelled"] = "true" if "cancelled" in status.lower().replace("canceled", "cancelled") else ""
    values["category"] = next((kind for kind in item.types if kind in EVENT_TYPES and kind != "Event"), "")
    extra = dict(_others(things, item, status))
    where = _where(things, item, outer)
    values |= {"venue": where.venue, "address": where.address, "city": where.city}
    values |= {"latitude": where.latitude, "longitude": where.longitude}
    if where.online:
        extra["online"] = where.online
    if outer is not None and is_event(outer):
        values["organizer"] = values["organizer"] or things.names(outer, "organizer")
        extra.setdefault("superEvent", things.text(outer, "name"))
    repeats = _series(things, item, window, position, problems)
    values |= {"recurrence": repeats.rule, "timezone": repeats.zone}
    starts = list(dict.fromkeys(value.strip() for value in item.texts("startDate")))[:_MOST_DATES] or [repeats.start]
    ends = [value.strip() for value in item.texts("endDate")]
    for number, start in enumerate(starts):
        end = ends[number] if len(ends) == len(starts) else ends[0] if ends and len(starts) == 1 else ""
        values |= {"start": start, "end": end or end_of(start, things.text(item, "duration"))}
        at = position if number == 0 else f"{position}, date {number + 1}"
        event = raw_event(at, values, base, extra)
        yield replace(event, occurrences=repeats.occurrences) if repeats.occurrences else event


def _where(things: Things, item: Item, outer: Item | None) -> Place:
    """Where it takes place: as it says, else as the event around it says, or the place that lists it."""
    found = place(things, item, "location")
    if found.is_known or found.online:
        return found
    around = [outer] if outer is not None and is_event(outer) else things.items(item, *_CONTEXT)
    for event in around:
        if (inherited := place(things, event, "location")).is_known:
            return inherited
    if outer is not None and not is_event(outer) and {"address", "geo"} & set(outer.properties):
        return place_of(things, outer)
    return found


def _series(things: Things, item: Item, window: Window, position: str, problems: Problems) -> Series:
    for schedule in things.items(item, "eventSchedule"):
        try:
            return series(things, schedule, window)
        except RuleRefused as refused:
            problems.add(f"{position}, eventSchedule", str(refused))
    return Series("", "")


def _others(things: Things, item: Item, status: str) -> Iterator[tuple[str, str]]:
    """What an event says besides, by schema.org's names."""
    for name in ("performer", "performers", "actor", "superEvent"):
        if text := things.names(item, name):
            yield name, text[:_MAX_EXTRA]
    if status and not status.endswith("EventScheduled"):
        yield "eventStatus", status.rpartition("/")[2][:_MAX_EXTRA]
    for name, values in islice(item.properties.items(), 100):
        texts = ", ".join(value for value in values if isinstance(value, str) and value != "…")
        if name not in _READ and texts:
            yield name, texts[:_MAX_EXTRA]


def _united(found: list[tuple[str, RawEvent]]) -> list[RawEvent]:
    """Each event once: what a second syntax says of it fills the gaps of the first, mere repetitions go."""
    kept: list[tuple[str, RawEvent]] = []
    by_day: dict[tuple[str, str], list[int]] = {}
    for syntax, event in found:
        alike = by_day.setdefault((collapsed(event.title or "").casefold(), str(event.start)[:10]), [])
        for index in alike[:_MOST_DATES]:
            known_syntax, known = kept[index]
            is_repeated = event.start == known.start and replace(event, position=known.position) == known
            if is_repeated or (known_syntax != syntax and _is_same_time(known, event)):
                kept[index] = (known_syntax, filled(known, event))
                break
        else:
            alike.append(len(kept))
            kept.append((syntax, event))
    return [event for _, event in kept]


def _is_same_time(one: RawEvent, other: RawEvent) -> bool:
    """Whether two written starts are one as far as both say it: a day, or a day and a time."""
    first, second = (str(event.start or "").replace(" ", "T")[:16] for event in (one, other))
    shared = min(len(first), len(second))
    return shared >= 10 and first[:shared] == second[:shared]
