"""`tadoru events`: the group of commands around the calendar, and what they share: which database, which files, who asks.

Each command lives in a module of its own and is imported when it is called.
"""

from __future__ import annotations

import getpass
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_database
from tadoru.cli.options import effective
from tadoru.options import EventsOptions

if TYPE_CHECKING:
    from tadoru.store.events.open import EventsStore
    from tadoru.store.files import Files

COMMANDS: dict[str, tuple[str, str]] = {
    "sources": ("tadoru.cli.events_sources:sources", "Where events are collected from: add, list, test, edit, import …"),
    "run": ("tadoru.cli.events_run:run", "Collect once: all sources, those that are due, or one."),
    "worker": ("tadoru.cli.events_run:worker", "Collect for ever, each source when its time has come."),
    "list": ("tadoru.cli.events_list:list_events", "The calendar, as a table, JSON, CSV or ICS."),
    "show": ("tadoru.cli.events_list:show", "One event, and where everything about it comes from."),
    "add": ("tadoru.cli.events_edit:add", "Add an event by hand."),
    "edit": ("tadoru.cli.events_edit:edit", "Change an event by hand; no source overwrites what you write."),
    "hide": ("tadoru.cli.events_edit:hide", "Take an event out of the calendar."),
    "unhide": ("tadoru.cli.events_edit:unhide", "Put it back."),
    "review": ("tadoru.cli.events_review:review", "Questions for a person: list, show, merge, keep-apart, fix, retry, dismiss."),
    "merges": ("tadoru.cli.events_review:merges", "What was merged, and how to take it back."),
    "runs": ("tadoru.cli.events_runs:runs", "The log of collecting."),
    "status": ("tadoru.cli.events_runs:status", "How the sources do: failures, delays, what waits."),
    "enrich": ("tadoru.cli.events_enrich:enrich", "Models that give events a category: train, evaluate, show."),
    "search-sync": ("tadoru.cli.events_search:search_sync", "Bring a search engine up to date with the calendar."),
    "prune": ("tadoru.cli.events_keep:prune", "Archive what is long over; drop old snapshots and run logs."),
    "backup": ("tadoru.cli.events_keep:backup", "Write everything into one file."),
    "restore": ("tadoru.cli.events_keep:restore", "Put a backup back."),
    "copy": ("tadoru.cli.events_keep:copy", "Copy everything into another database."),
    "doctor": ("tadoru.cli.events_keep:doctor", "Check that everything that is needed is there."),
}


@dataclass(frozen=True, slots=True)
class Place:
    """What was said before the sub-command."""

    database: str | None
    config_file: str | None

    def options(self, values: dict[str, Any] | None = None) -> EventsOptions:
        """Every option from flags, variables, files and defaults."""
        options, _ = effective("events", EventsOptions, values or {}, self.config_file)
        options = options if self.database is None else replace(options, database=self.database)
        check_database(options.database)
        return options

    def open(self, options: EventsOptions | None = None) -> AbstractContextManager[EventsStore]:
        """The database, made when it is not there."""
        from tadoru.store.events.open import open_events

        return closing(open_events((options or self.options()).database))


def files_of(options: EventsOptions) -> Files:
    """Where snapshots and run logs are kept: beside the database, unless it is said."""
    from tadoru.store.files import beside, open_files

    return open_files(options.files or beside(options.database))


def person() -> str:
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
    ctx.obj = Place(database, config_file)
