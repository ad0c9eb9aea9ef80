"""Events as the calendar pages show them: times in the language of the page, cards, days, the weeks of a month, JSON-LD."""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from markupsafe import Markup

from tadoru.i18n.translation import Formatter
from tadoru.jobs.events.publish.json_documents import CONTEXT, draft_time, schema_org_event
from tadoru.jobs.events.publish.list_pages import SEARCHED_FIELDS, event_highlights
from tadoru.model.event import EventDraft
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.records import CalendarEvent, EventRecord, EventTime, ListedEvent
from tadoru.store.calendar.search_text import split_highlight

_MAX_PRICE_LENGTH = 40


def format_time_of_day(time: EventTime, zone: str, formatter: Formatter) -> str:
    """The hours of an event, where its first day is shown already."""
    _ = formatter.gettext
    if time.last_date > time.local_date:
        return _("until {day}", day=formatter.day(time.last_date, after=time.local_date))
    if not time.has_time:
        return _("All day") if time.ends_at is not None else _("Time to be confirmed")
    start = time.starts_at.astimezone(zone_or_utc(zone))
    if time.ends_at is None or time.ends_at <= time.starts_at:
        return f"{start:%H:%M}"
    end = time.ends_at.astimezone(zone_or_utc(zone))
    return f"{start:%H:%M}–{end:%H:%M}" if end.date() == time.local_date else f"{start:%H:%M}–24:00"


def format_event_time(time: EventTime | None, zone: str, formatter: Formatter) -> str:
    """The days and hours of an event."""
    if time is None:
        _ = formatter.gettext
        return _("No date")
    first, last = time.local_date, time.last_date
    if last == first:
        has_hours = time.has_time or time.ends_at
        return f"{formatter.day(first)} {format_time_of_day(time, zone, formatter)}" if has_hours else formatter.day(first)
    if not time.has_time or time.ends_at is None:
        return f"{formatter.day(first)} – {formatter.day(last, after=first)}"
    start, end = time.starts_at.astimezone(zone_or_utc(zone)), time.ends_at.astimezone(zone_or_utc(zone))
    return f"{formatter.day(first)} {start:%H:%M} – {formatter.day(end.date(), after=first)} {end:%H:%M}"


def format_draft_time(draft: EventDraft, formatter: Formatter) -> str:
    """The days and hours of an event that is not stored."""
    return format_event_time(draft_time(draft), draft.timezone, formatter)


@dataclass(frozen=True, slots=True)
class EventCard:
    """An event in a list."""

    id: int
    title: str
    at: str
    short_at: str
    until: str
    """Its last day, if it has dates after this one."""
    place: str
    category: str
    price: str
    is_cancelled: bool
    is_postponed: bool
    is_sold_out: bool
    is_gone: bool
    excerpt: tuple[tuple[str, bool], ...] = ()
    """Of a search: pieces of a text, each with whether it matches."""


@dataclass(slots=True)
class EventGroup:
    """The events of a day; without a day, ongoing events, or a list by relevance."""

    day: date | None
    items: list[EventCard] = field(default_factory=list)


@dataclass(slots=True)
class CalendarCell:
    """A day in the table of a month."""

    day: date
    is_inside: bool
    items: list[EventCard] = field(default_factory=list)
    """The events that begin on this day."""
    singles: list[EventCard] = field(default_factory=list)
    """Those of them that end on this day too."""
    spans: list[MonthSpan | None] = field(default_factory=list)
    """By lane, the events of several days that are drawn from this day on; None where one passes, or for a gap."""
    passing: int = 0
    """Events of several days that began earlier."""
    hidden: int = 0
    """Events of several days for which there is no lane."""


@dataclass(frozen=True, slots=True)
class MonthSpan:
    """An event of several days in one week of a month."""

    card: EventCard
    days: int
    is_start: bool
    is_end: bool


MAX_LANES = 3
"""Events of several days that are drawn one below the other."""


def event_card(event: CalendarEvent, time: EventTime, formatter: Formatter) -> EventCard:
    """The card of an event at one of its times."""
    at = format_time_of_day(time, event.timezone, formatter)
    return EventCard(
        id=event.id,
        title=event.title,
        at=at,
        short_at=at.partition("–")[0] if time.has_time and time.last_date == time.local_date else "",
        until=format_last_day(event, time, formatter),
        place=format_place(event),
        category=event.category,
        price=event.price if len(event.price) <= _MAX_PRICE_LENGTH else "",
        is_cancelled=event.cancelled_at is not None,
        is_postponed=event.is_postponed,
        is_sold_out=event.is_sold_out,
        is_gone=event.vanished_at is not None,
    )


def format_last_day(event: CalendarEvent, time: EventTime, formatter: Formatter) -> str:
    """Until when an event with several dates goes on; empty if this is its last date."""
    if event.times <= 1 or event.last_day_over is None:
        return ""
    last = (event.last_day_over.astimezone(zone_or_utc(event.timezone)) - timedelta(seconds=1)).date()
    _ = formatter.gettext
    return _("until {day}", day=formatter.day(last, after=time.local_date)) if last > time.last_date else ""


def format_place(event: CalendarEvent) -> str:
    """Venue and city; the city only if the venue does not name it."""
    return " · ".join(part for part in (event.venue, event.city if event.city not in event.venue else "") if part)


def with_excerpt(shown: EventCard, event: CalendarEvent, q: str) -> EventCard:
    """The card with an excerpt around the match, unless the match is in the title."""
    found = [one for one in event_highlights(searchable_texts(event), q) if one.field not in ("title", "city", "category")]
    return replace(shown, excerpt=tuple(split_highlight(found[-1]))) if found else shown


def searchable_texts(event: CalendarEvent) -> dict[str, str]:
    """The texts of an event that a search looks at."""
    return {name: getattr(event, name) for name in SEARCHED_FIELDS}


def group_by_relevance(items: Iterable[ListedEvent], q: str, formatter: Formatter) -> list[EventGroup]:
    """One group by relevance, each card with its day."""
    cards = []
    for one in items:
        if one.time is not None:
            shown = replace(
                event_card(one.event, one.time, formatter), at=format_event_time(one.time, one.event.timezone, formatter)
            )
            cards.append(with_excerpt(shown, one.event, q))
    return [EventGroup(None, cards)] if cards else []


def group_by_day(
    items: Iterable[ListedEvent], since: date | None, formatter: Formatter, *, q: str = "", backwards: bool = False
) -> list[EventGroup]:
    """Groups by day. Ongoing events, which began before the list, form a group without a day at its earlier end."""
    groups: list[EventGroup] = []
    before = EventGroup(None)
    for one in items:
        if one.time is None:
            continue
        shown = event_card(one.event, one.time, formatter)
        if q:
            shown = with_excerpt(shown, one.event, q)
        if since is not None and one.time.local_date < since:
            before.items.append(shown)
        elif groups and groups[-1].day == one.time.local_date:
            groups[-1].items.append(shown)
        else:
            groups.append(EventGroup(one.time.local_date, [shown]))
    if not before.items:
        return groups
    return [*groups, before] if backwards else [before, *groups]


def calendar_weeks(year: int, month: int) -> list[list[CalendarCell]]:
    """The weeks of a month from Monday on, completed with the days around it."""
    days = calendar.Calendar().monthdatescalendar(year, month)
    return [[CalendarCell(day, day.month == month) for day in week] for week in days]


def fill_weeks(weeks: list[list[CalendarCell]], records: Iterable[EventRecord], formatter: Formatter) -> list[EventCard]:
    """Put each time of the events on its first day, and draw those of several days across their days; return the cards of those
    that began before the month."""
    cells = {cell.day: cell for week in weeks for cell in week if cell.is_inside}
    first = min(cells)
    ongoing: list[EventCard] = []
    long: list[tuple[date, date, EventCard]] = []
    for one in records:
        for time in one.times:
            card = event_card(one.event, time, formatter)
            if time.local_date in cells:
                cells[time.local_date].items.append(card)
                if time.last_date == time.local_date:
                    cells[time.local_date].singles.append(card)
            elif time.local_date < first <= time.last_date:
                ongoing.append(card)
            if time.last_date > time.local_date:
                long.append((time.local_date, time.last_date, card))
    long.sort(key=lambda one: (one[0], one[0] - one[1], one[2].title))
    for cell in cells.values():
        cell.items.sort(key=lambda one: (one.short_at, one.title))
        cell.singles.sort(key=lambda one: (one.short_at, one.title))
        cell.passing = sum(begins < cell.day <= ends for begins, ends, _ in long)
    for week in weeks:
        _draw_spans([cell for cell in week if cell.is_inside], long)
    return ongoing


def _draw_spans(week: list[CalendarCell], long: Iterable[tuple[date, date, EventCard]]) -> None:
    """Give each event of several days the first lane of the week that is free on its days."""
    for begins, ends, card in long:
        cells = [cell for cell in week if begins <= cell.day <= ends]
        if not cells:
            continue
        lane = next((n for n in range(MAX_LANES) if all(len(cell.spans) <= n for cell in cells)), None)
        if lane is None:
            for cell in cells:
                cell.hidden += 1
            continue
        for cell in cells:
            cell.spans += [None] * (lane + 1 - len(cell.spans))
        cells[0].spans[lane] = MonthSpan(card, len(cells), cells[0].day == begins, cells[-1].day == ends)


def split_by_day(records: Iterable[EventRecord], day: date, formatter: Formatter) -> tuple[list[EventCard], list[EventCard]]:
    """The events that begin on a day, and those that are ongoing."""
    starting: list[EventCard] = []
    ongoing: list[EventCard] = []
    for one in records:
        for time in one.times:
            if time.local_date == day:
                starting.append(event_card(one.event, time, formatter))
            elif time.local_date < day <= time.last_date:
                ongoing.append(event_card(one.event, time, formatter))
    starting.sort(key=lambda one: (one.short_at, one.title))
    return starting, ongoing


def is_web_url(url: str) -> bool:
    """Whether a URL may be a link on a page: only HTTP and HTTPS are."""
    return url.lower().startswith(("https://", "http://"))


def shift_month(first: date, step: int) -> date:
    """The first day of the next month, or with a negative step of the previous one."""
    return (first + timedelta(days=31)).replace(day=1) if step > 0 else (first - timedelta(days=1)).replace(day=1)


def next_time(times: tuple[EventTime, ...], today: date) -> EventTime | None:
    """The first time that is not over; the last one if all are."""
    coming = [one for one in times if one.last_date >= today]
    return coming[0] if coming else times[-1] if times else None


_SAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def event_json_ld(records: EventRecord, time: EventTime | None, url: str) -> Markup:
    """An event as schema.org JSON-LD for a script element; characters that could end the element are escaped."""
    text = json.dumps({"@context": CONTEXT} | schema_org_event(replace(records, time=time), url), ensure_ascii=False)
    for sign, escape in _SAFE.items():
        text = text.replace(sign, escape)
    return Markup(text)  # noqa: S704 - it contains no character that HTML interprets
