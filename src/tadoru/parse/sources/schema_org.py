"""Events that a page describes with schema.org types in JSON-LD, microdata or RDFa, with their places, people and offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from tadoru.errors import Message
from tadoru.model.event import Occurrence, ParsedSource, RawEvent
from tadoru.parse.html import HtmlDocument, PageTooComplex, collapsed
from tadoru.parse.sources.ics_lines import read_duration
from tadoru.parse.sources.ics_rule import OutOfSteps, RuleRefused, StepBudget, read_rule, times_of
from tadoru.parse.sources.raw_fields import ReadProblems, Value, filled, joined, raw_event
from tadoru.parse.structured import ReadingRules, StructuredData, StructuredThing, read_structured

MOST_STEPS = 100_000
_BEFORE = timedelta(days=1)
_AFTER = timedelta(days=366)
_FREQUENCY = re.compile(r"P([1-9][0-9]{0,2})([DWMY])")
_NAMES = {"D": "DAILY", "W": "WEEKLY", "M": "MONTHLY", "Y": "YEARLY"}
_WORDS = {"daily": "P1D", "weekly": "P1W", "monthly": "P1M", "yearly": "P1Y", "annually": "P1Y"}
_DAY = re.compile(r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(?:NDAY|ESDAY|DNESDAY|URSDAY|IDAY|TURDAY)?")
_NUMBERS = (("byMonth", "BYMONTH"), ("byMonthDay", "BYMONTHDAY"), ("byMonthWeek", "BYSETPOS"), ("repeatCount", "COUNT"))


@dataclass(frozen=True, slots=True)
class ScheduleWindow:
    """The current time, and the zone for items that name none."""

    now: datetime | None = None
    """None: series are not unrolled."""
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ScheduleSeries:
    """A parsed schedule."""

    rule: str
    start: str
    zone: str = ""
    occurrences: tuple[Occurrence, ...] = ()


def schedule_series(things: SchemaOrgItems, item: StructuredThing, window: ScheduleWindow) -> ScheduleSeries:
    """A Schedule. Raises RuleRefused with a sentence when it cannot be followed."""
    rule, begin = _rule(things, item), things.text(item, "startDate")
    zone = things.text(item, "scheduleTimezone")
    opens, closes = things.text(item, "startTime"), things.text(item, "endTime")
    start = f"{begin[:10]}T{opens}" if begin and opens and "T" not in begin else begin
    found = ScheduleSeries(rule, start, zone)
    if window.now is None or not rule or not begin:
        return found
    try:
        local = ZoneInfo(zone or window.zone)
        first = datetime.fromisoformat(start).replace(tzinfo=None)
        last = date.fromisoformat(things.text(item, "endDate")[:10] or "9999-12-01")
        duration = _duration(things, item, first, closes)
        # A date among the exceptions leaves out its day, a time only itself.
        skipped = {value.strip()[:16] for value in item.texts("exceptDate")}
    except (ValueError, KeyError, OSError, OverflowError):
        raise RuleRefused(Message("The schedule has a date, a time or a time zone that cannot be read.")) from None
    now = window.now.astimezone(local).replace(tzinfo=None)
    high = min(now + _AFTER, datetime.combine(last, time.max))
    try:
        occurrences = tuple(
            Occurrence(
                starts_at=moment.replace(tzinfo=local),
                ends_at=(moment + duration).replace(tzinfo=local) if duration else None,
                has_time="T" in start,
            )
            for moment in times_of(read_rule(rule), first, now - _BEFORE, high, StepBudget(MOST_STEPS))
            if moment.isoformat()[:10] not in skipped and moment.isoformat()[:16] not in skipped
        )
    except (OutOfSteps, OverflowError):
        raise RuleRefused(Message("The schedule names more times than are followed.")) from None
    return ScheduleSeries(rule, start, zone, occurrences)


def _rule(things: SchemaOrgItems, item: StructuredThing) -> str:
    """The schedule as an RRULE without an end; empty when it does not repeat."""
    frequency = things.text(item, "repeatFrequency")
    match = _FREQUENCY.fullmatch(_WORDS.get(frequency.lower(), frequency).upper())
    if match is None:
        return ""
    parts = [f"FREQ={_NAMES[match[2]]}"]
    if match[1] != "1":
        parts.append(f"INTERVAL={match[1]}")
    days = [found for value in _texts(things, item, "byDay") if (found := _day(value))]
    if days:
        parts.append(f"BYDAY={','.join(days)}")
    for name, part in _NUMBERS:
        numbers = [value for value in _texts(things, item, name) if re.fullmatch(r"-?[0-9]{1,3}", value)]
        if numbers:
            parts.append(f"{part}={','.join(numbers)}")
    return ";".join(parts)


def _texts(things: SchemaOrgItems, item: StructuredThing, name: str) -> list[str]:
    return [part.strip() for value in things.of(item, name) if isinstance(value, str) for part in value.split(",")]


def _day(text: str) -> str:
    """`MO` of `https://schema.org/Monday`, `Monday`, `MO` or `2MO`."""
    match = _DAY.fullmatch(text.rpartition("/")[2].upper())
    return f"{match[1] or ''}{match[2]}" if match else ""


def _duration(things: SchemaOrgItems, item: StructuredThing, first: datetime, closes: str) -> timedelta | None:
    if length := read_duration(things.text(item, "duration")):
        return length.total if length.total > timedelta(0) else None
    if not closes:
        return None
    end = datetime.combine(first.date(), time.fromisoformat(closes).replace(tzinfo=None))
    return end - first if end > first else end + timedelta(days=1) - first


def end_of(start: str, duration: str) -> str:
    """When something ends that begins at a written time and lasts so long; empty when that cannot be said."""
    length = read_duration(duration) if duration else None
    try:
        return (datetime.fromisoformat(start) + length.total).isoformat() if length and "T" in start else ""
    except (ValueError, OverflowError):
        return ""


_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_STREET = ("streetAddress", "addressLocality", "addressRegion", "postalCode", "addressCountry")
_SPOKEN = ("name", "value", "url")
_MOST_PRICES = 10
_LINK = re.compile(r"(?:https?:|/|\.|#|\?)\S*|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-z]{2,5}(?:[/?#]\S*)?")
"""Where tickets are to be had, which says nothing about what they cost."""
_FREE = frozenset({"true", "yes", "1", "http://schema.org/true", "https://schema.org/true"})


class SchemaOrgItems:
    """The items of a page; descriptions of one thing in several places are joined by id."""

    def __init__(self, items: Iterable[StructuredThing]) -> None:
        self._by_id: dict[str, StructuredThing] = {}
        for item in items:
            if not item.id:
                continue
            known = self._by_id.setdefault(item.id, item)
            if known is not item:
                for name, values in item.properties.items():
                    known.properties.setdefault(name, values)
                known.types = known.types or item.types

    def whole(self, item: StructuredThing) -> StructuredThing:
        """The item that stands for the same thing and says the most."""
        return self._by_id.get(item.id, item) if item.id else item

    def of(self, item: StructuredThing, *names: str) -> Iterator[StructuredThing | str]:
        """The values of the first of these properties that has any; references are followed."""
        values = next((item.properties[name] for name in names if item.properties.get(name)), [])
        for value in values:
            if isinstance(value, StructuredThing):
                yield self.whole(value)
            else:
                yield self._by_id.get(value, value)

    def items(self, item: StructuredThing, *names: str) -> list[StructuredThing]:
        return [value for value in self.of(item, *names) if isinstance(value, StructuredThing)]

    def text(self, item: StructuredThing, *names: str) -> str:
        """The first text of a property; the name, value or address of the thing that stands there instead."""
        for value in self.of(item, *names):
            if isinstance(value, str):
                if value.strip() and value != "…":
                    return value.strip()
            elif text := next((text.strip() for name in _SPOKEN for text in value.texts(name)), ""):
                return text
        return ""

    def names(self, item: StructuredThing, name: str) -> str:
        """The names of several things: performers, organisers."""
        return joined((self._name(value) for value in self.of(item, name)), ", ")

    def _name(self, value: StructuredThing | str) -> str:
        return value if isinstance(value, str) else next(value.texts("name"), "") or next(value.texts("alternateName"), "")

    def image(self, item: StructuredThing) -> str:
        for value in self.of(item, "image", "photo", "thumbnailUrl"):
            found = value if isinstance(value, str) else self.text(value, "contentUrl", "url") or value.id
            if found.strip():
                return found.strip()
        return ""


@dataclass(frozen=True, slots=True)
class SchemaOrgPlace:
    """A venue with its address."""

    venue: str = ""
    address: str = ""
    city: str = ""
    latitude: str = ""
    longitude: str = ""
    online: str = ""
    """The address on the web where it can be attended."""

    @property
    def is_known(self) -> bool:
        return bool(self.venue or self.address or self.city)


def place(things: SchemaOrgItems, item: StructuredThing, *names: str) -> SchemaOrgPlace:
    """The first real place of a property, and the online one."""
    online, found = "", SchemaOrgPlace()
    for value in things.of(item, *names):
        if isinstance(value, str):
            read = SchemaOrgPlace(venue=value.strip())
        elif "VirtualLocation" in value.types:
            online = online or things.text(value, "url", "name") or "yes"
            continue
        else:
            read = place_of(things, value)
        if not found.is_known and (read.is_known or not found.latitude):
            found = read
    return SchemaOrgPlace(found.venue, found.address, found.city, found.latitude, found.longitude, online)


def place_of(things: SchemaOrgItems, item: StructuredThing) -> SchemaOrgPlace:
    """What a Place says; a postal address may stand in its stead."""
    if "PostalAddress" in item.types or any(name in item.properties for name in _STREET):
        address, city = _address(things, item)
        return SchemaOrgPlace(next(item.texts("name"), "").strip(), address, city)
    address, city = "", ""
    for value in things.of(item, "address"):
        address, city = (value.strip(), "") if isinstance(value, str) else _address(things, value)
        break
    coordinates = next(iter(things.items(item, "geo")), item)
    outer = things.items(item, "containedInPlace", "containedIn") if not address else []
    if outer and outer[0] is not item:
        around = next(iter(things.items(outer[0], "address")), None)
        address, city = _address(things, around) if around else (things.text(outer[0], "address"), "")
    return SchemaOrgPlace(
        things.names(item, "name"),
        address,
        city,
        things.text(coordinates, "latitude"),
        things.text(coordinates, "longitude"),
    )


def _address(things: SchemaOrgItems, item: StructuredThing) -> tuple[str, str]:
    """A postal address in one line, in the order of its language, and the city."""
    street, city, region, code, country = (things.text(item, name) for name in _STREET)
    if _JAPANESE.search(street + city + region):
        # Many write the city into the street as well.
        rest = street if street.startswith((city, region)) and street else city + street
        return (rest if region and rest.startswith(region) else region + rest) or country, city
    return joined((street, city, joined((region, code), " "), country), ", ") or things.text(item, "name", "description"), city


def price(things: SchemaOrgItems, event: StructuredThing) -> str:
    """What it costs: one price, several, or from and to."""
    prices: list[str] = []
    for offer in things.items(event, "offers"):
        currency = things.text(offer, "priceCurrency")
        low, high = things.text(offer, "lowPrice"), things.text(offer, "highPrice")
        inner = [offer, *things.items(offer, "priceSpecification"), *things.items(offer, "offers")]
        if low:
            prices.append(_money(low if high in ("", low) else f"{low}–{high}", currency))
            continue
        amounts = ((things.text(one, "price"), things.text(one, "priceCurrency") or currency) for one in inner[:_MOST_PRICES])
        prices.extend(_money(amount, money) for amount, money in amounts if amount)
    said = (value for value in things.of(event, "offers") if isinstance(value, str) and not _LINK.fullmatch(value.strip()))
    texts = joined(said, ", ")
    is_free = things.text(event, "isAccessibleForFree", "free").lower() in _FREE
    return joined(prices[:_MOST_PRICES], ", ") or texts or ("0" if is_free else "")


def _money(amount: str, currency: str) -> str:
    return f"{amount} {currency}".strip() if re.fullmatch(r"[0-9.,–\s]+", amount) else amount


EVENT_TYPES = frozenset(
    "Event BroadcastEvent BusinessEvent ChildrensEvent ComedyEvent ConferenceEvent CourseInstance DanceEvent EducationEvent "
    "EventSeries ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent PerformingArtsEvent SaleEvent "
    "ScreeningEvent SocialEvent SportsEvent TheaterEvent VisualArtsEvent".split()
)
"""Event and its subtypes, but for those that nobody goes to: deliveries, publications, clicks of users."""

_MANNER = ReadingRules(most_items=20_000, most_properties=100_000, max_text=20_000, is_lenient=True)
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
MAX_EVENTS = 10_000
"""Of one page."""


def read_schema_org(
    body: bytes, content_type: str | None, url: str, *, now: datetime | None = None, zone: str = "UTC"
) -> ParsedSource:
    """The events of a page that says them in schema.org's words. Series are unrolled when it is said what time it is."""
    problems = ReadProblems()
    try:
        events = events_in(HtmlDocument.parse(body, content_type), url, ScheduleWindow(now, zone), problems)
    except PageTooComplex as error:
        problems.add("page", Message("The page cannot be read: {error}.", error=error))
        events = []
    return ParsedSource(events=tuple(events), problems=problems.all())


def events_in(document: HtmlDocument, url: str, window: ScheduleWindow, problems: ReadProblems) -> list[RawEvent]:
    """The events of a parsed page."""
    data = read_structured(document, _MANNER)
    for number, reason in enumerate(data.problems, 1):
        if reason != "empty" and not reason.endswith("instead of an object"):
            problems.add(
                f"JSON-LD block {number} that is broken", Message("It cannot be read, not even in part: {reason}.", reason=reason)
            )
    things = SchemaOrgItems(data.items)
    base = document.base_url(url)
    found: list[tuple[str, RawEvent]] = []
    counts = dict.fromkeys(_SYNTAXES, 0)
    for item, outer in _event_items(data, things):
        counts[item.syntax] += 1
        position = f"{_SYNTAXES[item.syntax]} event {counts[item.syntax]}"
        if len(found) >= MAX_EVENTS:
            problems.cut(position, Message("There are more than {limit} events; the rest is not read.", limit=f"{MAX_EVENTS:,}"))
            break
        found.extend((item.syntax, event) for event in _events(things, item, outer, window, position, problems, base))
    return _united(found)


def _event_items(data: StructuredData, things: SchemaOrgItems) -> Iterator[tuple[StructuredThing, StructuredThing | None]]:
    """The items that are events, in document order, each with the item around it."""
    inner = {
        id(value)
        for item in data.items
        for values in item.properties.values()
        for value in values
        if isinstance(value, StructuredThing)
    }
    waiting: list[tuple[StructuredThing, StructuredThing | None, str]] = [
        (item, None, "") for item in reversed(data.items) if id(item) not in inner
    ]
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
        waiting.extend((child, around, name) for child, around, name in reversed(children) if isinstance(child, StructuredThing))


def is_event(item: StructuredThing) -> bool:
    return not EVENT_TYPES.isdisjoint(item.types) and bool(item.properties)


def _is_told_by_its_parts(things: SchemaOrgItems, item: StructuredThing) -> bool:
    """Whether an event is only the roof over others: a series, or without a date of its own."""
    parts = things.items(item, "subEvent", "subEvents")
    is_roof = "EventSeries" in item.types or not things.text(item, "startDate")
    return is_roof and any(things.text(part, "startDate") for part in parts)


def _events(
    things: SchemaOrgItems,
    item: StructuredThing,
    outer: StructuredThing | None,
    window: ScheduleWindow,
    position: str,
    problems: ReadProblems,
    base: str,
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


def _where(things: SchemaOrgItems, item: StructuredThing, outer: StructuredThing | None) -> SchemaOrgPlace:
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


def _series(
    things: SchemaOrgItems, item: StructuredThing, window: ScheduleWindow, position: str, problems: ReadProblems
) -> ScheduleSeries:
    for schedule in things.items(item, "eventSchedule"):
        try:
            return schedule_series(things, schedule, window)
        except RuleRefused as refused:
            problems.add(f"{position}, eventSchedule", refused.message)
    return ScheduleSeries("", "")


def _others(things: SchemaOrgItems, item: StructuredThing, status: str) -> Iterator[tuple[str, str]]:
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
