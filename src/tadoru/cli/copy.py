"""`tadoru copy FROM TO`: a crawl, or a database of events, from a file to PostgreSQL, or back."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import FileName, check_database_name, check_writable
from tadoru.cli.table import single_line
from tadoru.errors import UsageError
from tadoru.jobs.reporting.formatting import format_count

if TYPE_CHECKING:
    from tadoru.store.copy_crawl import CopySource

LARGE_TABLE = 10_000
"""Rows of a table that are worth a line where there is no terminal."""


class CopyProgress:
    """Tells how far a copy is: on a terminal in one line that changes, elsewhere in a line for each large table that is done."""

    def __init__(self) -> None:
        self._table, self._rows = "", 0
        self._shows = sys.stderr.isatty()

    def __call__(self, table: str, rows: int) -> None:
        if table != self._table:
            self.end()
        self._table, self._rows = table, rows
        if self._shows and rows:
            sys.stderr.write(f"\r\x1b[K{table}: {rows:,}")
            sys.stderr.flush()

    def end(self) -> None:
        """The last table is done."""
        if self._shows:
            sys.stderr.write("\r\x1b[K")
        elif self._rows >= LARGE_TABLE:
            sys.stderr.write(f"{self._table}: {self._rows:,}\n")
        self._rows = 0


@click.command(
    cls=DocumentedCommand, short_help="Copy a crawl or a calendar to another database.",
    examples=(
        ("tadoru copy site.db 'postgresql://me@localhost/sites?crawl=site'", "a crawl, from a file to a server"),
        ("tadoru copy 'postgresql://me@localhost/sites?crawl=site' site.db", "and back"),
        ("tadoru copy var/tadoru.db postgresql://me@localhost/events", "the database of events, or of the service"),
    ),
)  # fmt: skip
@click.argument("since", metavar="FROM", type=FileName("FILE"))
@click.argument("to", metavar="TO", type=FileName("FILE"))
def copy(since: str, to: str) -> int:
    """Copy a crawl, or the database of events or of the service, into a new database of either kind, losing nothing.

    FROM itself tells which it is; on PostgreSQL an address with ?crawl=NAME is a crawl. It may be in use: the copy is of one
    moment, and what was in flight then is queued again in it. All of it arrives, or nothing. Files beside a database (snapshots,
    run logs, the crawls of the service) stay where they are.
    """
    from tadoru.clock import SystemClock
    from tadoru.store.copy_crawl import DatabaseKind, look_at
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql, names_crawl

    found = look_at(since, SystemClock())
    if found.kind is DatabaseKind.EVENTS and names_crawl(to):
        raise UsageError("TO is the address of a crawl, and there are events in FROM: leave ?crawl= out of it.")
    if not is_postgresql(to):
        check_database_name(to, "TO")
        check_writable(Path(to), "TO")
    (_copy_events if found.kind is DatabaseKind.EVENTS else _copy_crawl)(since, to, found)
    return 0


def _copy_crawl(since: str, to: str, found: CopySource) -> None:
    from tadoru.clock import SystemClock
    from tadoru.jobs.launch import run_loop
    from tadoru.store.copy_crawl import move_crawl
    from tadoru.store.crawl.open import is_same_crawl, open_audit, open_existing

    if is_same_crawl(since, to):
        raise UsageError("A crawl can not be copied into itself: name another database.")
    clock, progress = SystemClock(), CopyProgress()

    async def work() -> None:
        old = open_existing(since, clock)
        try:
            _report_migration(old.path, found)
            new = open_audit(to, clock)
            try:
                counts = await move_crawl(old, new, progress)
                progress.end()
                copied = f"{format_count(counts['pages'], 'URL')} and {format_count(counts['link_relations'], 'link')}"
                sys.stderr.write(f"Copied {copied} into {new.path}.\n")
            finally:
                await new.close()
        finally:
            await old.close()

    run_loop(work())


def _copy_events(since: str, to: str, found: CopySource) -> None:
    from tadoru.jobs.events.maintenance import is_same_database
    from tadoru.store.calendar.backup import copy_calendar
    from tadoru.store.calendar.store import open_calendar

    if is_same_database(since, to):
        raise UsageError("A database can not be copied into itself: name another one.")
    progress = CopyProgress()
    with closing(open_calendar(since)) as old:
        _report_migration(old.name, found)
        with closing(open_calendar(to)) as new:
            counts = copy_calendar(old, new, progress)
            progress.end()
            copied = f"{format_count(counts['events'], 'event')} and {format_count(counts['sources'], 'source')}"
            sys.stderr.write(f"Copied {copied} into {single_line(new.name)}.\n")


def _report_migration(name: str, found: CopySource) -> None:
    if found.older is not None:
        sys.stderr.write(f"{single_line(name)} was of an older format ({found.older}), and is of the present one now.\n")
