"""`tadoru events`: the group of commands around the calendar, and what they share: which database, which files, who asks.

Each command lives in a module of its own and is imported when it is called.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_database_name
from tadoru.cli.options import resolve_options
from tadoru.config.options import EventsOptions
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CalendarEvent, EventTime
    from tadoru.store.calendar.store import CalendarStore
    from tadoru.store.files import FileStore


COMMANDS: dict[str, tuple[str, str]] = {
    "sources": ("tadoru.cli.events.sources:sources", "Where events are collected from: add, list, test, edit, import …"),
    "run": ("tadoru.cli.events.collect:run", "Collect once: all sources, those that are due, or one."),
    "worker": ("tadoru.cli.events.collect:worker", "Collect for ever, each source when its time has come."),
    "list": ("tadoru.cli.events.listing:list_events", "The calendar, as a table, JSON, CSV or ICS."),
    "show": ("tadoru.cli.events.listing:show", "One event, and where everything about it comes from."),
    "add": ("tadoru.cli.events.edit:add", "Add an event by hand."),
    "edit": ("tadoru.cli.events.edit:edit", "Change an event by hand; no source overwrites what you write."),
    "hide": ("tadoru.cli.events.edit:hide", "Take an event out of the calendar."),
    "unhide": ("tadoru.cli.events.edit:unhide", "Put it back."),
    "review": ("tadoru.cli.events.review:review", "Questions for a person: list, show, merge, keep-apart, fix, retry, dismiss."),
    "merges": ("tadoru.cli.events.review:merges", "What was merged, and how to take it back."),
    "runs": ("tadoru.cli.events.collect:runs", "The log of collecting."),
    "status": ("tadoru.cli.events.collect:status", "How the sources do: failures, delays, what waits."),
    "enrich": ("tadoru.cli.events.enrich:enrich", "Models that give events a category: train, evaluate, show."),
    "search-sync": ("tadoru.cli.events.maintenance:search_sync", "Bring a search engine up to date with the calendar."),
    "prune": ("tadoru.cli.events.maintenance:prune", "Archive what is long over; drop old snapshots and run logs."),
    "backup": ("tadoru.cli.events.maintenance:backup", "Write everything into one file."),
    "restore": ("tadoru.cli.events.maintenance:restore", "Put a backup back."),
    "copy": ("tadoru.cli.events.maintenance:copy", "Copy everything into another database."),
    "doctor": ("tadoru.cli.events.maintenance:doctor", "Check that everything that is needed is there."),
}


@dataclass(frozen=True, slots=True)
class EventsContext:
    """What was said before the sub-command."""

    database: str | None
    config_file: str | None

    def options(self, values: dict[str, Any] | None = None) -> EventsOptions:
        """Every option from flags, variables, files and defaults."""
        options, _ = resolve_options("events", EventsOptions, values or {}, self.config_file)
        options = options if self.database is None else replace(options, database=self.database)
        check_database_name(options.database)
        return options

    def open(self, options: EventsOptions | None = None) -> AbstractContextManager[CalendarStore]:
        """The database, made when it is not there."""
        from tadoru.store.calendar.store import open_calendar

        return closing(open_calendar((options or self.options()).database))


def calendar_files(options: EventsOptions) -> FileStore:
    """Where snapshots and run logs are kept: beside the database, unless it is said."""
    from tadoru.store.files import beside, open_files

    return open_files(options.files or beside(options.database))


def current_user() -> str:
    """Who is at the keyboard, for histories."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "person"


@click.group(
    cls=CommandGroup, places=COMMANDS, short_help="One calendar from many sources.",
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/calendar.ics", "a source"),
        ("tadoru events run --all", "collect"),
        ("tadoru events list --city 盛岡市 --from 2026-08-01 --format ics", "the calendar"),
        ("tadoru events worker", "collect for ever, each source when it is due"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="The events: a file, or postgresql://…. [./var/tadoru.db]")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
@click.pass_context
def events(ctx: click.Context, database: str | None, config_file: str | None) -> None:
    """One calendar from many sources: collected, cleaned, without duplicates, and nothing lost."""
    ctx.obj = EventsContext(database, config_file)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@contextmanager
def open_existing_calendar(place: EventsContext) -> Iterator[tuple[CalendarStore, EventsOptions]]:
    """The database, which must be there: a name with a slip of the pen makes no new one."""
    from tadoru.store.calendar.database import is_postgresql

    options = place.options()
    if not is_postgresql(options.database) and not Path(options.database).is_file():
        hint = "add a source with `tadoru events sources add`, or name the database: `tadoru events -d FILE …`."
        raise UsageError(f"There is no database {options.database}: {hint}")
    with place.open(options) as store:
        yield store, options


def write_json_array(items: list[dict[str, Any]]) -> None:
    """A plain JSON array on stdout, an object a line."""
    from tadoru.jobs.events.publish.json_documents import json_array

    for piece in json_array(items):
        sys.stdout.write(piece)


def format_event_time(time: EventTime | None, of: str) -> str:
    """When something takes place, for people: where it takes place, a day first."""
    from tadoru.store.calendar.drafts import zone_or_utc

    if time is None:
        return "no date"
    first, last = time.local_date, time.last_date
    text = _day(first)
    start = time.starts_at.astimezone(zone_or_utc(of))
    end = time.ends_at.astimezone(zone_or_utc(of)) if time.ends_at else None
    if not time.has_time:
        return text if last == first else f"{text} – {_day(last, first)}"
    text += f" {start:%H:%M}"
    if end is None:
        return text
    if last == first:
        return f"{text}–{end:%H:%M}" if end.date() == first else f"{text}–24:00"
    return f"{text} – {_day(end.date(), first)} {end:%H:%M}"


def format_event_dates(event: CalendarEvent) -> str:
    """The same of an event as it stands."""
    from tadoru.store.calendar.drafts import zone_or_utc
    from tadoru.store.calendar.records import EventTime

    if event.starts_at is None or event.local_date is None:
        return "no date"
    last = event.local_date
    if event.ends_at is not None and event.ends_at > event.starts_at:
        last = max(last, (event.ends_at.astimezone(zone_or_utc(event.timezone)) - timedelta(microseconds=1)).date())
    time = EventTime(
        starts_at=event.starts_at, ends_at=event.ends_at, has_time=event.has_time, local_date=event.local_date, last_date=last
    )
    return format_event_time(time, event.timezone)


def _day(day: date, after: date | None = None) -> str:
    is_same_year = after is not None and after.year == day.year
    return (f"{day:%m-%d}" if is_same_year else day.isoformat()) + f" {_DAYS[day.weekday()]}"
