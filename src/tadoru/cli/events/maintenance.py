"""`tadoru events prune | backup | restore | copy | doctor | search-sync`: keeping the calendar's data small, safe and up to date."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.copy import CopyProgress
from tadoru.cli.events import EventsContext, calendar_files, open_existing_calendar
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.installation import print_diagnosis
from tadoru.cli.options import job_options
from tadoru.cli.output import format_option
from tadoru.cli.table import single_line
from tadoru.config.options import EventsOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import TadoruError, UsageError, without_passwords
from tadoru.jobs.reporting.formatting import format_count

if TYPE_CHECKING:
    from tadoru.config.options import EventsOptions
    from tadoru.jobs.doctor import DoctorCheck


_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class DaysType(click.ParamType[timedelta]):
    """A length of time in days: 90d, 12w, 6m, 1y; a number alone is days."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"\s*+(\d{1,5})\s*+([dwmy]?)\s*+", str(value).lower())
        if match is None:
            flag = param.opts[0] if param is not None else "A time"
            raise UsageError(f"{flag} {value} can not be read: write it in days, such as 90d.")
        return timedelta(days=int(match[1]) * _UNIT_DAYS[match[2] or "d"])


@click.command(
    cls=DocumentedCommand, short_help="Put away what is old.",
    examples=(("tadoru events prune --dry-run", "what would go"), ("tadoru events prune --snapshots-after 30d", "keep less")),
)  # fmt: skip
@click.option("--snapshots-after", type=DaysType(), default="90d", metavar="TIME",
              help="Remove snapshots and run logs that are older. [90d]")  # fmt: skip
@click.option("--archive-after", type=DaysType(), default="180d", metavar="TIME",
              help="Archive events that have been over for longer; they are still found with --all. [180d]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_obj
def prune(place: EventsContext, /, snapshots_after: timedelta, archive_after: timedelta, dry_run: bool) -> int:
    """Archive events that are long over; remove old snapshots and run logs. The newest snapshot of each source stays.

    A worker does this once a day.
    """
    from tadoru.jobs.events.maintenance import prune_calendar as put_away

    with open_existing_calendar(place) as (store, options):
        pruned = put_away(
            store,
            calendar_files(options),
            store.now(),
            archive_after=archive_after,
            forget_after=snapshots_after,
            dry_run=dry_run,
        )
        sys.stdout.write(f"{'Would be done: ' if dry_run else ''}{pruned}.\n")
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Write everything into one file.",
    examples=(
        ("tadoru events backup events-2026-08-01.db", "the database"),
        ("tadoru events backup events-2026-08-01.tar.gz --files", "with snapshots and run logs"),
    ),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.option("--files", "with_files", is_flag=True, help="Snapshots and run logs too; FILE ends in .tar.gz.")
@click.pass_obj
def backup(place: EventsContext, /, file: str, with_files: bool) -> int:
    """Write everything into one new file, while others go on working. `tadoru events restore` puts it back."""
    from tadoru.jobs.events.maintenance import ENDINGS, write_backup

    path = Path(file)
    is_archive = path.name.lower().endswith(ENDINGS)
    if with_files and not is_archive:
        raise UsageError(f"With --files a backup is an archive: give it a name that ends in .tar.gz, such as {path.stem}.tar.gz.")
    if is_archive and not with_files:
        raise UsageError("A backup that ends in .tar.gz holds the files too: add --files, or give a name that ends in .db.")
    if path.exists():
        raise UsageError(f"{path} exists already: give another name.")
    check_writable(path, "The backup")
    progress = CopyProgress()
    with open_existing_calendar(place) as (store, options):
        count = write_backup(store, path, calendar_files(options) if with_files else None, progress)
    progress.end()
    files = f", with {format_count(count, 'file')}" if with_files else ""
    sys.stderr.write(f"Wrote {single_line(file)}: {path.stat().st_size / 1024**2:.1f} MiB{files}.\n")
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Put a backup back.",
    examples=(("tadoru events -d new.db restore events-2026-08-01.tar.gz", "into a new database"),),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.pass_obj
def restore(place: EventsContext, /, file: str) -> int:
    """Put a backup into a database that is new or empty; with its files, when it has them."""
    from tadoru.jobs.events.maintenance import restore_backup as put_back

    options = place.options()
    progress = CopyProgress()
    count = put_back(Path(file), options.database, calendar_files(options), progress)
    progress.end()
    files = f", and {format_count(count, 'file')}" if count else ""
    with place.open(options) as store:
        events = sum(store.totals().events.values())
    sys.stderr.write(
        f"Restored {format_count(events, 'event')}{files} into {single_line(without_passwords(options.database))}.\n"
    )
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Copy everything into another database.",
    examples=(("tadoru events -d var/tadoru.db copy postgresql://me@localhost/events", "from a file to a server"),),
)  # fmt: skip
@click.argument("target", metavar="FILE|URL")
@click.pass_obj
def copy(place: EventsContext, /, target: str) -> int:
    """Copy everything into a new or empty database of either kind. Snapshots and run logs stay where they are.

    `tadoru copy FROM TO` does the same.
    """
    from tadoru.jobs.events.maintenance import is_same_database
    from tadoru.store.calendar.backup import copy_calendar
    from tadoru.store.calendar.store import open_calendar

    progress = CopyProgress()
    with open_existing_calendar(place) as (store, options):
        if is_same_database(options.database, target):
            raise UsageError("A database can not be copied into itself: name another one.")
        with closing(open_calendar(target)) as other:
            counts = copy_calendar(store, other, progress)
            progress.end()
            copied = f"{format_count(counts['events'], 'event')} and {format_count(counts['sources'], 'source')}"
            sys.stderr.write(f"Copied {copied} into {single_line(other.name)}.\n")
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Check that all is there.",
    examples=(("tadoru events doctor", "what is well, and what to do about the rest"),),
)  # fmt: skip
@format_option("text", "json")
@click.pass_obj
def doctor(place: EventsContext, /, form: str) -> int:
    """Check database, files, time zones, clock, packages, sources and runs. The exit code is 1 when something is bad."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.doctor import check_machine

    options = place.options()
    return print_diagnosis([*check_machine(options, SystemClock()), *_check_calendar(place, options)], form)


def _check_calendar(place: EventsContext, options: EventsOptions) -> list[DoctorCheck]:
    from tadoru.jobs.doctor import CheckState, DoctorCheck
    from tadoru.jobs.events.doctor import check_collecting, check_database, check_files

    try:
        found = [check_files(calendar_files(options))]
    except TadoruError as error:
        found = [DoctorCheck("files", CheckState.BAD, str(error))]
    try:
        with open_existing_calendar(place) as (store, _):
            found += check_database(store)
            found += check_collecting(store)
    except TadoruError as error:
        found.append(DoctorCheck("database", CheckState.BAD, str(error)))
    return found


_SEARCH_SETTINGS = tuple(setting.name for setting in JOB_SETTINGS["events"] if setting.name.startswith("search_"))


@click.command(
    "search-sync", cls=DocumentedCommand, groups=JOB_SETTINGS["events"], short_help="Bring a search engine up to date.",
    examples=(
        ("tadoru events search-sync --search-engine meilisearch --search-url http://127.0.0.1:7700", "what changed"),
        ("tadoru events search-sync --full", "everything, into a new index that then takes the old one's place"),
    ),
)  # fmt: skip
@click.option("--full", is_flag=True, help="Tell it everything anew, while the old index is still searched.")
@click.option("--forget", is_flag=True, help="Note nothing for this engine any more; its index stays as it is.")
@job_options("events", EventsOptions(), _SEARCH_SETTINGS)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.pass_obj
def search_sync(place: EventsContext, /, full: bool, forget: bool, quiet: bool, **given: Any) -> int:
    """Tell a search engine what changed in the calendar since it was last told, or everything when it knows nothing yet."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.search.engine import engine_for
    from tadoru.jobs.events.search.index_sync import sync_once

    options = place.options(given)
    engine = engine_for(options)
    if engine is None:
        raise UsageError("No search engine is configured: give --search-engine and --search-url.")
    with closing(engine), place.open(options) as store:
        if forget:
            known = store.forget_target(engine.name)
            sys.stdout.write("Nothing is noted for it any more.\n" if known else "Nothing was noted for it.\n")
            return 0
        done = asyncio.run(sync_once(store, engine, SystemClock(), whole=full, archived=options.search_archived))
    if done is None:
        sys.stderr.write("tadoru: Another worker is telling this engine already; what it leaves is told the next time.\n")
        return 1
    if not quiet:
        how = "The whole calendar" if done.is_whole else "What changed"
        sys.stdout.write(f"{how}: {format_count(done.put, 'event')} told, {done.removed:,} removed.\n")
    return 0
