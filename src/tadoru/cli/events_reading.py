"""What the commands of `tadoru events` that read and edit share: the database that must be there, and how things are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tadoru.cli.events import Place
from tadoru.errors import UsageError
from tadoru.options import EventsOptions

if TYPE_CHECKING:
    from tadoru.store.events.open import EventsStore
    from tadoru.store.events.values import Event, EventTime

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@contextmanager
def existing(place: Place) -> Iterator[tuple[EventsStore, EventsOptions]]:
    """The database, which must be there: a name with a slip of the pen makes no new one."""
    from tadoru.store.events.connect import is_postgresql

    options = place.options()
    if not is_postgresql(options.database) and not Path(options.database).is_file():
        hint = "add a source with `tadoru events sources add`, or name the database: `tadoru events -d FILE …`."
        raise UsageError(f"There is no database {options.database}: {hint}")
    with place.open(options) as store:
        yield store, options


def write_array(items: list[dict[str, Any]]) -> None:
    """A plain JSON array on stdout, an object a line."""
    from tadoru.jobs.events.publish.documents import json_array

    for piece in json_array(items):
        sys.stdout.write(piece)


def when_text(time: EventTime | None, of: str) -> str:
    """When something takes place, for people: where it takes place, a day first."""
    from tadoru.store.events.drafts import zone

    if time is None:
        return "no date"
    first, last = time.local_date, time.last_date
    text = _day(first)
    start = time.starts_at.astimezone(zone(of))
    end = time.ends_at.astimezone(zone(of)) if time.ends_at else None
    if not time.has_time:
        return text if last == first else f"{text} – {_day(last, first)}"
    text += f" {start:%H:%M}"
    if end is None:
        return text
    if last == first:
        return f"{text}–{end:%H:%M}" if end.date() == first else f"{text}–24:00"
    return f"{text} – {_day(end.date(), first)} {end:%H:%M}"


def event_when(event: Event) -> str:
    """The same of an event as it stands."""
    from tadoru.store.events.drafts import zone
    from tadoru.store.events.values import EventTime

    if event.starts_at is None or event.local_date is None:
        return "no date"
    last = event.local_date
    if event.ends_at is not None and event.ends_at > event.starts_at:
        last = max(last, (event.ends_at.astimezone(zone(event.timezone)) - timedelta(microseconds=1)).date())
    time = EventTime(
        starts_at=event.starts_at, ends_at=event.ends_at, has_time=event.has_time, local_date=event.local_date, last_date=last
    )
    return when_text(time, event.timezone)


def _day(day: date, after: date | None = None) -> str:
    is_same_year = after is not None and after.year == day.year
    return (f"{day:%m-%d}" if is_same_year else day.isoformat()) + f" {_DAYS[day.weekday()]}"
