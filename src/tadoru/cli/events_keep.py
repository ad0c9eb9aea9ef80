"""`tadoru events prune | backup | restore | copy | doctor`: keeping the database small, safe, where it should be, and well."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.copy import TableProgress
from tadoru.cli.doctor import tell
from tadoru.cli.events import Place, files_of
from tadoru.cli.events_reading import existing
from tadoru.cli.forms import format_option
from tadoru.cli.help import GroupedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.table import clean
from tadoru.errors import TadoruError, UsageError, without_passwords
from tadoru.jobs.report.words import counted

if TYPE_CHECKING:
    from tadoru.jobs.checkup import Checked
    from tadoru.options import EventsOptions

_LENGTHS = {"d": 1, "w": 7, "m": 30, "y": 365}


class Days(click.ParamType[timedelta]):
    """A length of time in days: 90d, 12w, 6m, 1y; a number alone is days."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"\s*+(\d{1,5})\s*+([dwmy]?)\s*+", str(value).lower())
        if match is None:
            flag = param.opts[0] if param is not None else "A time"
            raise UsageError(f"{flag} {value} can not be read: write it in days, such as 90d.")
        return timedelta(days=int(match[1]) * _LENGTHS[match[2] or "d"])


@click.command(
    cls=GroupedCommand, short_help="Put away what is old.",
    examples=(("tadoru events prune --dry-run", "what would go"), ("tadoru events prune --snapshots-after 30d", "keep less")),
)  # fmt: skip
@click.option("--snapshots-after", type=Days(), default="90d", metavar="TIME",
              help="Remove snapshots and run logs that are older. [90d]")  # fmt: skip
@click.option("--archive-after", type=Days(), default="180d", metavar="TIME",
              help="Archive events that have been over for longer; they are still found with --all. [180d]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_obj
def prune(place: Place, /, snapshots_after: timedelta, archive_after: timedelta, dry_run: bool) -> int:
    """Archive events that are long over; remove old snapshots and run logs. The newest snapshot of each source stays.

    A worker does this once a day.
    """
    from tadoru.jobs.events.retention import prune as put_away

    with existing(place) as (store, options):
        pruned = put_away(
            store, files_of(options), store.now(), archive_after=archive_after, forget_after=snapshots_after, dry_run=dry_run
        )
        sys.stdout.write(f"{'Would be done: ' if dry_run else ''}{pruned}.\n")
    return 0


@click.command(
    cls=GroupedCommand, short_help="Write everything into one file.",
    examples=(
        ("tadoru events backup events-2026-08-01.db", "the database"),
        ("tadoru events backup events-2026-08-01.tar.gz --files", "with snapshots and run logs"),
    ),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.option("--files", "with_files", is_flag=True, help="Snapshots and run logs too; FILE ends in .tar.gz.")
@click.pass_obj
def backup(place: Place, /, file: str, with_files: bool) -> int:
    """Write everything into one new file, while others go on working. `tadoru events restore` puts it back."""
    from tadoru.jobs.events.archive import ENDINGS, back_up

    path = Path(file)
    is_archive = path.name.lower().endswith(ENDINGS)
    if with_files and not is_archive:
        raise UsageError(f"With --files a backup is an archive: give it a name that ends in .tar.gz, such as {path.stem}.tar.gz.")
    if is_archive and not with_files:
        raise UsageError("A backup that ends in .tar.gz holds the files too: add --files, or give a name that ends in .db.")
    if path.exists():
        raise UsageError(f"{path} exists already: give another name.")
    check_writable(path, "The backup")
    progress = TableProgress()
    with existing(place) as (store, options):
        count = back_up(store, path, files_of(options) if with_files else None, progress)
    progress.end()
    files = f", with {counted(count, 'file')}" if with_files else ""
    sys.stderr.write(f"Wrote {clean(file)}: {path.stat().st_size / 1024**2:.1f} MiB{files}.\n")
    return 0


@click.command(
    cls=GroupedCommand, short_help="Put a backup back.",
    examples=(("tadoru events -d new.db restore events-2026-08-01.tar.gz", "into a new database"),),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@click.pass_obj
def restore(place: Place, /, file: str) -> int:
    """Put a backup into a database that is new or empty; with its files, when it has them."""
    from tadoru.jobs.events.archive import restore as put_back

    options = place.options()
    progress = TableProgress()
    count = put_back(Path(file), options.database, files_of(options), progress)
    progress.end()
    files = f", and {counted(count, 'file')}" if count else ""
    with place.open(options) as store:
        events = sum(store.totals().events.values())
    sys.stderr.write(f"Restored {counted(events, 'event')}{files} into {clean(without_passwords(options.database))}.\n")
    return 0


@click.command(
    cls=GroupedCommand, short_help="Copy everything into another database.",
    examples=(("tadoru events -d var/tadoru.db copy postgresql://me@localhost/events", "from a file to a server"),),
)  # fmt: skip
@click.argument("target", metavar="FILE|URL")
@click.pass_obj
def copy(place: Place, /, target: str) -> int:
    """Copy everything into a new or empty database of either kind. Snapshots and run logs stay where they are.

    `tadoru copy FROM TO` does the same.
    """
    from tadoru.jobs.events.archive import is_same
    from tadoru.store.events.moving import copy_events
    from tadoru.store.events.open import open_events

    progress = TableProgress()
    with existing(place) as (store, options):
        if is_same(options.database, target):
            raise UsageError("A database can not be copied into itself: name another one.")
        with closing(open_events(target)) as other:
            counts = copy_events(store, other, progress)
            progress.end()
            copied = f"{counted(counts['events'], 'event')} and {counted(counts['sources'], 'source')}"
            sys.stderr.write(f"Copied {copied} into {clean(other.name)}.\n")
    return 0


@click.command(
    cls=GroupedCommand, short_help="Check that all is there.",
    examples=(("tadoru events doctor", "what is well, and what to do about the rest"),),
)  # fmt: skip
@format_option("text", "json")
@click.pass_obj
def doctor(place: Place, /, form: str) -> int:
    """Check database, files, time zones, clock, packages, sources and runs. The exit code is 1 when something is bad."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.doctor import check_machine

    options = place.options()
    return tell([*check_machine(options, SystemClock()), *_with_database(place, options)], form)


def _with_database(place: Place, options: EventsOptions) -> list[Checked]:
    from tadoru.jobs.checkup import Checked, State
    from tadoru.jobs.events.doctor import check_collecting, check_database, check_files

    try:
        found = [check_files(files_of(options))]
    except TadoruError as error:
        found = [Checked("files", State.BAD, str(error))]
    try:
        with existing(place) as (store, _):
            found += check_database(store)
            found += check_collecting(store)
    except TadoruError as error:
        found.append(Checked("database", State.BAD, str(error)))
    return found
