"""Days, times and lengths of time for people, in the language of the page. Pure."""

from __future__ import annotations

import calendar
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from markupsafe import Markup

from tadoru.jobs.events.publish.json_documents import CONTEXT, schema_org_event
from tadoru.jobs.events.publish.list_pages import SEARCHED_FIELDS, event_highlights
from tadoru.model.event import EventDraft
from tadoru.serve.web.words import Say, teller
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.event_records import EventRecord
from tadoru.store.calendar.records import CalendarEvent, EventTime, ListedEvent
from tadoru.store.calendar.search_text import split_highlight

_WEEKDAYS = {"en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "ja": ("月", "火", "水", "木", "金", "土", "日")}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Formatter:
    """How one language says it."""

    lang: str
    here: str
    """The zone of the site, for times of ours."""

    @property
    def say(self) -> Say:
        return teller(self.lang)

    def weekdays(self) -> tuple[str, ...]:
        return _WEEKDAYS[self.lang]

    def day(self, day: date, *, after: date | None = None) -> str:
        """A day; without the year when the day before it said it."""
        has_year = after is None or after.year != day.year
        name = _WEEKDAYS[self.lang][day.weekday()]
        if self.lang == "ja":
            return (f"{day.year}年" if has_year else "") + f"{day.month}月{day.day}日({name})"
        return f"{name}, {day.day} {_MONTHS[day.month - 1]}" + (f" {day.year}" if has_year else "")

    def month(self, day: date) -> str:
        return f"{day.year}年{day.month}月" if self.lang == "ja" else f"{_MONTHS[day.month - 1]} {day.year}"

    def clock(self, time: EventTime, of: str) -> str:
        """The hours of something, for a place where the day is known."""
        if time.last_date > time.local_date:
            return self.say("until", day=self.day(time.last_date, after=time.local_date))
        if not time.has_time:
            return self.say("all_day") if time.ends_at is not None else self.say("no_time")
        start = time.starts_at.astimezone(zone_or_utc(of))
        if time.ends_at is None or time.ends_at <= time.starts_at:
            return f"{start:%H:%M}"
        end = time.ends_at.astimezone(zone_or_utc(of))
        return f"{start:%H:%M}–{end:%H:%M}" if end.date() == time.local_date else f"{start:%H:%M}–24:00"

    def when(self, time: EventTime | None, of: str) -> str:
        """Day and hours."""
        if time is None:
            return self.say("no_date")
        first, last = time.local_date, time.last_date
        if last == first:
            return f"{self.day(first)} {self.clock(time, of)}" if time.has_time or time.ends_at else self.day(first)
        if not time.has_time or time.ends_at is None:
            return f"{self.day(first)} – {self.day(last, after=first)}"
        start, end = time.starts_at.astimezone(zone_or_utc(of)), time.ends_at.astimezone(zone_or_utc(of))
        return f"{self.day(first)} {start:%H:%M} – {self.day(end.date(), after=first)} {end:%H:%M}"

    def event_when(self, event: CalendarEvent) -> str:
        return self.when(event_time(event), event.timezone)

    def draft_when(self, draft: EventDraft) -> str:
        one = draft.occurrence
        last = one.starts_at.date()
        if one.ends_at is not None and one.ends_at > one.starts_at:
            last = max(last, (one.ends_at.astimezone(one.starts_at.tzinfo) - timedelta(microseconds=1)).date())
        time = EventTime(
            starts_at=one.starts_at, ends_at=one.ends_at, has_time=one.has_time, local_date=one.starts_at.date(), last_date=last
        )
        return self.when(time, draft.timezone)

    def stamp(self, at: datetime | None) -> str:
        """A time of ours."""
        return f"{at.astimezone(zone_or_utc(self.here)):%Y-%m-%d %H:%M}" if at else ""

    def span(self, seconds: float) -> str:
        """A length of time, roughly."""
        for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
            if seconds >= 2 * size or (seconds >= size and unit != "d"):
                return self.say(f"span.{unit}", n=f"{seconds / size:.0f}")
        return self.say("span.s", n=f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}")

    def tools(self) -> dict[str, Callable[..., object]]:
        """What templates call."""
        return {
            "t": self.say, "day": self.day, "stamp": self.stamp, "span": self.span, "number": number,
            "draft_when": self.draft_when,
        }  # fmt: skip


def number(value: int) -> str:
    return f"{value:,}"


def event_time(event: CalendarEvent) -> EventTime | None:
    """The time of an event as it stands, without its series."""
    if event.starts_at is None or event.local_date is None:
        return None
    last = event.local_date
    if event.ends_at is not None and event.ends_at > event.starts_at:
        last = max(last, (event.ends_at.astimezone(zone_or_utc(event.timezone)) - timedelta(microseconds=1)).date())
    return EventTime(
        starts_at=event.starts_at, ends_at=event.ends_at, has_time=event.has_time, local_date=event.local_date, last_date=last
    )


@dataclass(frozen=True, slots=True)
class EventCard:
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
class EventGroup:
    """The events of a day; without a day, those that had begun before, or all of a list that is not in the order of time."""

    day: date | None
    items: list[EventCard] = field(default_factory=list)


@dataclass(slots=True)
class CalendarCell:
    """A day of a month's table."""

    day: date
    is_inside: bool
    items: list[EventCard] = field(default_factory=list)


def event_card(event: CalendarEvent, time: EventTime, telling: Formatter) -> EventCard:
    at = telling.clock(time, event.timezone)
    return EventCard(
        id=event.id,
        title=event.title,
        at=at,
        short_at=at.partition("–")[0] if time.has_time and time.last_date == time.local_date else "",
        place=format_place(event),
        category=event.category,
        price=event.price if len(event.price) <= 40 else "",
        is_cancelled=event.cancelled_at is not None,
        is_gone=event.vanished_at is not None,
    )


def format_place(event: CalendarEvent) -> str:
    """Venue and city, without what the other says already."""
    return " · ".join(part for part in (event.venue, event.city if event.city not in event.venue else "") if part)


def with_excerpt(shown: EventCard, event: CalendarEvent, q: str) -> EventCard:
    """What was looked for, where the title does not say it already."""
    found = [one for one in event_highlights(searchable_texts(event), q) if one.field not in ("title", "city", "category")]
    return replace(shown, excerpt=tuple(split_highlight(found[-1]))) if found else shown


def searchable_texts(event: CalendarEvent) -> dict[str, str]:
    """The texts of an event that are searched."""
    return {name: getattr(event, name) for name in SEARCHED_FIELDS}


def group_by_relevance(items: Iterable[ListedEvent], q: str, telling: Formatter) -> list[EventGroup]:
    """A list that is not in the order of time: each event says its day."""
    cards = []
    for one in items:
        if one.time is not None:
            shown = replace(event_card(one.event, one.time, telling), at=telling.when(one.time, one.event.timezone))
            cards.append(with_excerpt(shown, one.event, q))
    return [EventGroup(None, cards)] if cards else []


def group_by_day(
    items: Iterable[ListedEvent], since: date | None, telling: Formatter, *, q: str = "", backwards: bool = False
) -> list[EventGroup]:
    """A list by days. What had begun before the list does stands at its beginning in time, without a day."""
    groups: list[EventGroup] = []
    before = EventGroup(None)
    for one in items:
        if one.time is None:
            continue
        shown = event_card(one.event, one.time, telling)
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
    """The weeks of a month, from Monday on, filled up with the days around it."""
    days = calendar.Calendar().monthdatescalendar(year, month)
    return [[CalendarCell(day, day.month == month) for day in week] for week in days]


def fill_weeks(weeks: list[list[CalendarCell]], told: Iterable[EventRecord], telling: Formatter) -> list[EventCard]:
    """Put every time of the events on the day it begins. Returns those that had begun before the month did."""
    cells = {cell.day: cell for week in weeks for cell in week if cell.is_inside}
    first = min(cells)
    under_way: list[EventCard] = []
    for one in told:
        for time in one.times:
            if time.local_date in cells:
                cells[time.local_date].items.append(event_card(one.event, time, telling))
            elif time.local_date < first <= time.last_date:
                under_way.append(event_card(one.event, time, telling))
    for cell in cells.values():
        cell.items.sort(key=lambda one: (one.short_at, one.title))
    return under_way


def split_by_day(told: Iterable[EventRecord], day: date, telling: Formatter) -> tuple[list[EventCard], list[EventCard]]:
    """What begins on a day, and what is under way on it."""
    beginning: list[EventCard] = []
    under_way: list[EventCard] = []
    for one in told:
        for time in one.times:
            if time.local_date == day:
                beginning.append(event_card(one.event, time, telling))
            elif time.local_date < day <= time.last_date:
                under_way.append(event_card(one.event, time, telling))
    beginning.sort(key=lambda one: (one.short_at, one.title))
    return beginning, under_way


def is_web_url(url: str) -> bool:
    """May this be a link on a page? Nothing but the web is, whatever a source wrote."""
    return url.lower().startswith(("https://", "http://"))


def shift_month(first: date, step: int) -> date:
    """The first day of the month after, or before."""
    return (first + timedelta(days=31)).replace(day=1) if step > 0 else (first - timedelta(days=1)).replace(day=1)


def next_time(times: tuple[EventTime, ...], today: date) -> EventTime | None:
    """The first of its times that is not over; the last one when all are."""
    coming = [one for one in times if one.last_date >= today]
    return coming[0] if coming else times[-1] if times else None


_SAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def event_json_ld(told: EventRecord, time: EventTime | None, url: str) -> Markup:
    """The block's content. Signs that could end it are written as escapes, which JSON reads as the same signs."""
    text = json.dumps({"@context": CONTEXT} | schema_org_event(replace(told, time=time), url), ensure_ascii=False)
    for sign, escape in _SAFE.items():
        text = text.replace(sign, escape)
    return Markup(text)  # noqa: S704 - it holds no sign that HTML knows
