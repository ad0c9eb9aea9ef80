"""`tadoru events prune | backup | restore | copy | doctor | search-sync`: maintenance of the calendar."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, calendar_files, open_existing_calendar
from tadoru.cli.export import CopyProgress, report_copied_calendar
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.installation import print_diagnosis
from tadoru.cli.options import job_options
from tadoru.cli.output import N_, _, format_option, ngettext
from tadoru.cli.table import single_line
from tadoru.config.options import JOB_SETTINGS, EventsOptions
from tadoru.errors import Message, TadoruError, UsageError, without_passwords

if TYPE_CHECKING:
    from tadoru.jobs.doctor import DoctorCheck


_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class DaysType(click.ParamType[timedelta]):
    """A duration in days: 90d, 12w, 6m, 1y; a number without a unit means days."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"\s*+(\d{1,5})\s*+([dwmy]?)\s*+", str(value).lower())
        if match is None:
            flag = param.opts[0] if param is not None else "TIME"
            raise UsageError("{option} {value} is not a duration. Write it in days, such as 90d.", option=flag, value=value)
        return timedelta(days=int(match[1]) * _UNIT_DAYS[match[2] or "d"])


@click.command(
    cls=DocumentedCommand,
    short_help="Archive and delete old data.",
    examples=(
        ("tadoru events prune --dry-run", "preview"),
        ("tadoru events prune --snapshots-after 30d", "keep snapshots for 30 days"),
    ),
)
@click.option("--snapshots-after", type=DaysType(), default="90d", metavar="TIME",
              help="Delete snapshots and run logs that are older. [90d]")  # fmt: skip
@click.option("--archive-after", type=DaysType(), default="180d", metavar="TIME",
              help="Archive events that ended longer ago; --all still lists them. [180d]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it.")
@click.pass_obj
def prune(place: EventsContext, /, snapshots_after: timedelta, archive_after: timedelta, dry_run: bool) -> None:
    """Archive past events; delete old snapshots and run logs. The newest snapshot of each source is kept.

    A worker does this once a day.
    """
    from tadoru.jobs.events.maintenance import prune_calendar

    with open_existing_calendar(place) as (store, options):
        pruned = prune_calendar(
            store,
            calendar_files(options),
            store.db.now(),
            archive_after=archive_after,
            forget_after=snapshots_after,
            dry_run=dry_run,
        )
        summary = ", ".join((
            ngettext("{count} event archived", "{count} events archived", pruned.archived),
            ngettext("{count} snapshot deleted", "{count} snapshots deleted", pruned.snapshots),
            ngettext("{count} run log deleted", "{count} run logs deleted", pruned.run_logs),
        ))  # fmt: skip
        sys.stdout.write((_("Dry run: {summary}.", summary=summary) if dry_run else f"{summary}.") + "\n")


@click.command(
    cls=DocumentedCommand, short_help="Back up everything into one file.",
    examples=(
        ("tadoru events backup events-2026-08-01.db", "the database"),
        ("tadoru events backup events-2026-08-01.tar.gz --files", "with snapshots and run logs"),
    ),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.option("--files", "with_files", is_flag=True, help="Include snapshots and run logs; FILE must end in .tar.gz.")
@click.pass_obj
def backup(place: EventsContext, /, file: str, with_files: bool) -> None:
    """Back up everything into a new file, while other commands continue. Restore it with `tadoru events restore`."""
    from tadoru.jobs.events.maintenance import ENDINGS, write_backup

    path = Path(file)
    is_archive = path.name.lower().endswith(ENDINGS)
    if with_files and not is_archive:
        raise UsageError("With --files, the name of a backup must end in .tar.gz, such as {name}.tar.gz.", name=path.stem)
    if is_archive and not with_files:
        raise UsageError("A .tar.gz backup includes files. Add --files, or give a name that ends in .db.")
    if path.exists():
        raise UsageError("{path} already exists. Give another name.", path=path)
    check_writable(path, "FILE")
    progress = CopyProgress()
    with open_existing_calendar(place) as (store, options):
        count = write_backup(store, path, calendar_files(options) if with_files else None, progress)
    progress.end()
    size = f"{path.stat().st_size / 1024**2:.1f} MiB"
    files = ", " + ngettext("with {count} file", "with {count} files", count) if with_files else ""
    sys.stderr.write(_("Wrote {file}: {size}{files}.", file=single_line(file), size=size, files=files) + "\n")


@click.command(
    cls=DocumentedCommand, short_help="Restore a backup.",
    examples=(("tadoru events -d new.db restore events-2026-08-01.tar.gz", "into a new database"),),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.pass_obj
def restore(place: EventsContext, /, file: str) -> None:
    """Restore a backup, with its files if it has them, into a new or empty database."""
    from tadoru.jobs.events.maintenance import restore_backup as put_back

    options = place.options()
    progress = CopyProgress()
    count = put_back(Path(file), options.database, calendar_files(options), progress)
    progress.end()
    files = ngettext(" and {count} file", " and {count} files", count) if count else ""
    with place.open(options) as store:
        events = sum(store.statistics.totals().events.values())
    text = _(
        "Restored {events}{files} into {database}.", files=files, database=single_line(without_passwords(options.database)),
        events=ngettext("{count} event", "{count} events", events),
    )  # fmt: skip
    sys.stderr.write(text + "\n")


@click.command(
    cls=DocumentedCommand, short_help="Copy everything to another database.",
    examples=(("tadoru events -d var/tadoru.db copy postgresql://me@localhost/events", "from a file to PostgreSQL"),),
)  # fmt: skip
@click.argument("target", metavar="FILE|URL")
@click.pass_obj
def copy(place: EventsContext, /, target: str) -> None:
    """Copy everything into a new or empty database of either kind. Snapshots and run logs are not copied.

    `tadoru copy FROM TO` does the same.
    """
    from tadoru.jobs.events.maintenance import is_same_database
    from tadoru.store.calendar.backup import copy_calendar
    from tadoru.store.calendar.store import open_calendar

    progress = CopyProgress()
    with open_existing_calendar(place) as (store, options):
        if is_same_database(options.database, target):
            raise UsageError("Cannot copy a database into itself. Give another one.")
        with closing(open_calendar(target)) as other:
            counts = copy_calendar(store.db, other.db, progress)
            progress.end()
            report_copied_calendar(counts, other.db.name)


@click.command(
    cls=DocumentedCommand, short_help="Check the installation of the calendar.",
    examples=(("tadoru events doctor", "problems and fixes"),),
)  # fmt: skip
@format_option("text", "json")
@click.pass_obj
def doctor(place: EventsContext, /, form: str) -> int:
    """Check database, files, time zones, clock, packages, sources and runs. Exits with status 1 if a check fails."""
    from tadoru.jobs.events.doctor import check_machine

    options = place.options()
    return print_diagnosis([*check_machine(options, place.clock), *_check_calendar(place, options)], form)


def _check_calendar(place: EventsContext, options: EventsOptions) -> list[DoctorCheck]:
    from tadoru.jobs.doctor import CheckState, DoctorCheck
    from tadoru.jobs.events.doctor import check_collecting, check_database, check_files

    try:
        found = [check_files(calendar_files(options))]
    except TadoruError as error:
        found = [DoctorCheck("files", CheckState.BAD, Message(error.message, **error.values))]
    try:
        with open_existing_calendar(place) as (store, _options):
            found += check_database(store)
            found += check_collecting(store)
    except TadoruError as error:
        found.append(DoctorCheck("database", CheckState.BAD, Message(error.message, **error.values)))
    return found


_SEARCH_SETTINGS = tuple(setting.name for setting in JOB_SETTINGS["events"] if setting.name.startswith("search_"))


@click.command(
    "search-sync", cls=DocumentedCommand, groups=JOB_SETTINGS["events"], short_help="Synchronise a search engine.",
    examples=(
        ("tadoru events search-sync --search-engine meilisearch --search-url http://127.0.0.1:7700", "changes only"),
        ("tadoru events search-sync --full", "rebuild the index"),
    ),
)  # fmt: skip
@click.option("--full", is_flag=True, help="Rebuild the index; the old one is used until it is complete.")
@click.option("--forget", is_flag=True, help="Stop tracking changes for this engine; its index is kept.")
@job_options("events", _SEARCH_SETTINGS)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.pass_obj
def search_sync(place: EventsContext, /, full: bool, forget: bool, quiet: bool, **given: Any) -> int:
    """Send the changes since the last synchronisation to a search engine, or everything the first time."""
    import asyncio

    from tadoru.jobs.events.search.engine import engine_for
    from tadoru.jobs.events.search.index_sync import sync_once

    options = place.options(given)
    engine = engine_for(options)
    if engine is None:
        raise UsageError("No search engine is configured. Give --search-engine and --search-url.")
    with closing(engine), place.open(options) as store:
        if forget:
            known = store.search_changes.forget(engine.name)
            text = (
                _("Changes are no longer tracked for this engine.") if known else _("Changes were not tracked for this engine.")
            )
            sys.stdout.write(text + "\n")
            return 0
        done = asyncio.run(sync_once(store, engine, place.clock, whole=full, archived=options.search_archived))
    if done is None:
        sys.stderr.write("tadoru: " + _("Another worker is synchronising this engine. Try again later.") + "\n")
        return 1
    if not quiet:
        events = ngettext("{count} event sent", "{count} events sent", done.put)
        how = N_("Whole calendar: {events}, {removed} removed.") if done.is_whole else N_("Changes: {events}, {removed} removed.")
        sys.stdout.write(_(how, events=events, removed=f"{done.removed:,}") + "\n")
    return 0
