"""`tadoru events`: the group of commands for the calendar, and what they share: the database, its files, the user, dates as text.

The commands are in the modules of this package and are imported when they are called.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_database_name
from tadoru.cli.options import resolve_options
from tadoru.cli.output import _
from tadoru.clock import Clock, SystemClock
from tadoru.config.options import EventsOptions
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CalendarEvent, EventTime
    from tadoru.store.calendar.store import CalendarStore
    from tadoru.store.files import FileStore


COMMANDS: dict[str, tuple[str, str]] = {
    "sources": ("tadoru.cli.events.sources:sources", "Manage event sources: add, list, test, edit, import …"),
    "run": ("tadoru.cli.events.collect:run", "Collect once: all sources, due sources, or one."),
    "worker": ("tadoru.cli.events.collect:worker", "Collect continuously, each source when it is due."),
    "list": ("tadoru.cli.events.listing:list_events", "List events as a table, JSON, CSV or ICS."),
    "show": ("tadoru.cli.events.listing:show", "Show an event and the source of each field."),
    "add": ("tadoru.cli.events.edit:add", "Add an event manually."),
    "edit": ("tadoru.cli.events.edit:edit", "Edit an event; edits override sources."),
    "hide": ("tadoru.cli.events.edit:hide", "Hide an event from the calendar."),
    "unhide": ("tadoru.cli.events.edit:unhide", "Show a hidden event again."),
    "review": ("tadoru.cli.events.review:review", "Review queue: list, show, merge, keep-apart, fix, retry, dismiss."),
    "merges": ("tadoru.cli.events.review:merges", "List merges and undo them."),
    "runs": ("tadoru.cli.events.collect:runs", "List collection runs."),
    "status": ("tadoru.cli.events.collect:status", "Show source health: failures, delays, open reviews."),
    "enrich": ("tadoru.cli.events.enrich:enrich", "Category models: train, evaluate, show."),
    "search-sync": ("tadoru.cli.events.maintenance:search_sync", "Synchronise a search engine with the calendar."),
    "prune": ("tadoru.cli.events.maintenance:prune", "Archive past events; delete old snapshots and run logs."),
    "backup": ("tadoru.cli.events.maintenance:backup", "Back up everything into one file."),
    "restore": ("tadoru.cli.events.maintenance:restore", "Restore a backup."),
    "copy": ("tadoru.cli.events.maintenance:copy", "Copy everything to another database."),
    "doctor": ("tadoru.cli.events.maintenance:doctor", "Check the installation of the calendar."),
}


@dataclass(frozen=True, slots=True)
class EventsContext:
    """The options before the subcommand."""

    database: str | None
    config_file: str | None
    clock: Clock

    def options(self, values: dict[str, Any] | None = None) -> EventsOptions:
        """All options from flags, variables, files and defaults."""
        options, _settled = resolve_options("events", EventsOptions, values or {}, self.config_file)
        options = options if self.database is None else replace(options, database=self.database)
        check_database_name(options.database)
        return options

    def open(self, options: EventsOptions | None = None) -> AbstractContextManager[CalendarStore]:
        """The database; it is created if it does not exist."""
        from tadoru.store.calendar.store import open_calendar

        return closing(open_calendar((options or self.options()).database, self.clock))


def calendar_files(options: EventsOptions) -> FileStore:
    """The store of snapshots and run logs: next to the database by default."""
    from tadoru.store.files import beside, open_files

    return open_files(options.files or beside(options.database))


def current_user() -> str:
    """The name of the user, for histories."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # Windows has no list of users.
        return "person"


@click.group(
    cls=CommandGroup, lazy_commands=COMMANDS, short_help="Collect events from many sources into one calendar.",
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/calendar.ics", "add a source"),
        ("tadoru events run --all", "collect from all sources"),
        ("tadoru events list --city 盛岡市 --from 2026-08-01 --format ics", "export a month"),
        ("tadoru events worker", "collect continuously"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="Database: a file or postgresql://…. [./var/tadoru.db]")
@click.option("--config", "config_file", metavar="FILE", help="Configuration file.")
@click.pass_context
def events(ctx: click.Context, database: str | None, config_file: str | None) -> None:
    """Collect events from many sources into one calendar: normalised, deduplicated, with full history."""
    ctx.obj = EventsContext(database, config_file, ctx.obj or SystemClock())


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@contextmanager
def open_existing_calendar(place: EventsContext) -> Iterator[tuple[CalendarStore, EventsOptions]]:
    """The database, which must exist: a typo in its name must not create a new one."""
    from tadoru.store.calendar.database import is_postgresql

    options = place.options()
    if not is_postgresql(options.database) and not Path(options.database).is_file():
        raise UsageError(
            "Database {database} not found. Add a source with `tadoru events sources add`, or name the database: "
            "`tadoru events -d FILE …`.",
            database=options.database,
        )
    with place.open(options) as store:
        yield store, options


def write_json_array(items: list[dict[str, Any]]) -> None:
    """Write a JSON array to stdout, one object per line."""
    from tadoru.jobs.events.publish.json_documents import json_array

    for piece in json_array(items):
        sys.stdout.write(piece)


def format_event_time(time: EventTime | None, of: str) -> str:
    """The dates of an event as text, in its time zone."""
    from tadoru.store.calendar.drafts import zone_or_utc

    if time is None:
        return _("no date")
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
    """The first dates of an event as text."""
    from tadoru.jobs.events.publish.json_documents import event_time

    return format_event_time(event_time(event), event.timezone)


def _day(day: date, after: date | None = None) -> str:
    is_same_year = after is not None and after.year == day.year
    return (f"{day:%m-%d}" if is_same_year else day.isoformat()) + f" {_DAYS[day.weekday()]}"
