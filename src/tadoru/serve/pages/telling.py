"""Days, times and lengths of time for people, in the language of the page. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tadoru.model.event import EventDraft
from tadoru.serve.pages.words import Say, teller
from tadoru.store.events.drafts import zone
from tadoru.store.events.values import Event, EventTime

_WEEKDAYS = {"en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "ja": ("月", "火", "水", "木", "金", "土", "日")}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Telling:
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
        start = time.starts_at.astimezone(zone(of))
        if time.ends_at is None or time.ends_at <= time.starts_at:
            return f"{start:%H:%M}"
        end = time.ends_at.astimezone(zone(of))
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
        start, end = time.starts_at.astimezone(zone(of)), time.ends_at.astimezone(zone(of))
        return f"{self.day(first)} {start:%H:%M} – {self.day(end.date(), after=first)} {end:%H:%M}"

    def event_when(self, event: Event) -> str:
        return self.when(own_time(event), event.timezone)

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
        return f"{at.astimezone(zone(self.here)):%Y-%m-%d %H:%M}" if at else ""

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


def own_time(event: Event) -> EventTime | None:
    """The time of an event as it stands, without its series."""
    if event.starts_at is None or event.local_date is None:
        return None
    last = event.local_date
    if event.ends_at is not None and event.ends_at > event.starts_at:
        last = max(last, (event.ends_at.astimezone(zone(event.timezone)) - timedelta(microseconds=1)).date())
    return EventTime(
        starts_at=event.starts_at, ends_at=event.ends_at, has_time=event.has_time, local_date=event.local_date, last_date=last
    )
