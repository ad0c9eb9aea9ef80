"""Events as pages show them: a card in a list, groups by day, the weeks of a month. Pure, but for the store's own values."""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from tadoru.jobs.events.publish.matches import FIELDS, matches_of
from tadoru.serve.pages.telling import Telling
from tadoru.store.events.search_marks import pieces
from tadoru.store.events.values import Event, EventTime, Listed
from tadoru.store.events.walking import Told


@dataclass(frozen=True, slots=True)
class Card:
    """An event in a list."""

    id: int
    title: str
    at: str
    short_at: str
    place: str
    category: str
    price: str
    is_cancelled: bool
    is_gone: bool
    excerpt: tuple[tuple[str, bool], ...] = ()
    """Of a search: a text in pieces, each with whether it is what was looked for."""


@dataclass(slots=True)
class Group:
    """The events of a day; without a day, those that had begun before, or all of a list that is not in the order of time."""

    day: date | None
    items: list[Card] = field(default_factory=list)


@dataclass(slots=True)
class Cell:
    """A day of a month's table."""

    day: date
    is_inside: bool
    items: list[Card] = field(default_factory=list)


def card(event: Event, time: EventTime, telling: Telling) -> Card:
    at = telling.clock(time, event.timezone)
    return Card(
        id=event.id,
        title=event.title,
        at=at,
        short_at=at.partition("–")[0] if time.has_time and time.last_date == time.local_date else "",
        place=place_of(event),
        category=event.category,
        price=event.price if len(event.price) <= 40 else "",
        is_cancelled=event.cancelled_at is not None,
        is_gone=event.vanished_at is not None,
    )


def place_of(event: Event) -> str:
    """Venue and city, without what the other says already."""
    return " · ".join(part for part in (event.venue, event.city if event.city not in event.venue else "") if part)


def with_excerpt(shown: Card, event: Event, q: str) -> Card:
    """What was looked for, where the title does not say it already."""
    found = [one for one in matches_of(texts_of(event), q) if one.field not in ("title", "city", "category")]
    return replace(shown, excerpt=tuple(pieces(found[-1]))) if found else shown


def texts_of(event: Event) -> dict[str, str]:
    """The texts of an event that are searched."""
    return {name: getattr(event, name) for name in FIELDS}


def best_first(items: Iterable[Listed], q: str, telling: Telling) -> list[Group]:
    """A list that is not in the order of time: each event says its day."""
    cards = []
    for one in items:
        if one.time is not None:
            shown = replace(card(one.event, one.time, telling), at=telling.when(one.time, one.event.timezone))
            cards.append(with_excerpt(shown, one.event, q))
    return [Group(None, cards)] if cards else []


def grouped(
    items: Iterable[Listed], since: date | None, telling: Telling, *, q: str = "", backwards: bool = False
) -> list[Group]:
    """A list by days. What had begun before the list does stands at its beginning in time, without a day."""
    groups: list[Group] = []
    before = Group(None)
    for one in items:
        if one.time is None:
            continue
        shown = card(one.event, one.time, telling)
        if q:
            shown = with_excerpt(shown, one.event, q)
        if since is not None and one.time.local_date < since:
            before.items.append(shown)
        elif groups and groups[-1].day == one.time.local_date:
            groups[-1].items.append(shown)
        else:
            groups.append(Group(one.time.local_date, [shown]))
    if not before.items:
        return groups
    return [*groups, before] if backwards else [before, *groups]


def weeks_of(year: int, month: int) -> list[list[Cell]]:
    """The weeks of a month, from Monday on, filled up with the days around it."""
    days = calendar.Calendar().monthdatescalendar(year, month)
    return [[Cell(day, day.month == month) for day in week] for week in days]


def fill(weeks: list[list[Cell]], told: Iterable[Told], telling: Telling) -> list[Card]:
    """Put every time of the events on the day it begins. Returns those that had begun before the month did."""
    cells = {cell.day: cell for week in weeks for cell in week if cell.is_inside}
    first = min(cells)
    under_way: list[Card] = []
    for one in told:
        for time in one.times:
            if time.local_date in cells:
                cells[time.local_date].items.append(card(one.event, time, telling))
            elif time.local_date < first <= time.last_date:
                under_way.append(card(one.event, time, telling))
    for cell in cells.values():
        cell.items.sort(key=lambda one: (one.short_at, one.title))
    return under_way


def on_day(told: Iterable[Told], day: date, telling: Telling) -> tuple[list[Card], list[Card]]:
    """What begins on a day, and what is under way on it."""
    beginning: list[Card] = []
    under_way: list[Card] = []
    for one in told:
        for time in one.times:
            if time.local_date == day:
                beginning.append(card(one.event, time, telling))
            elif time.local_date < day <= time.last_date:
                under_way.append(card(one.event, time, telling))
    beginning.sort(key=lambda one: (one.short_at, one.title))
    return beginning, under_way


def is_web(url: str) -> bool:
    """May this be a link on a page? Nothing but the web is, whatever a source wrote."""
    return url.lower().startswith(("https://", "http://"))


def next_month(first: date, step: int) -> date:
    """The first day of the month after, or before."""
    return (first + timedelta(days=31)).replace(day=1) if step > 0 else (first - timedelta(days=1)).replace(day=1)


def next_time(times: tuple[EventTime, ...], today: date) -> EventTime | None:
    """The first of its times that is not over; the last one when all are."""
    coming = [one for one in times if one.last_date >= today]
    return coming[0] if coming else times[-1] if times else None
