"""`tadoru copy FROM TO`: copies a crawl or a calendar from a file to PostgreSQL, or back."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import FileName, check_database_name, check_writable
from tadoru.cli.output import _, ngettext
from tadoru.cli.table import single_line
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.store.copy_crawl import CopySource

LARGE_TABLE = 10_000
"""Rows from which on a table gets a progress line where there is no terminal."""


class CopyProgress:
    """Progress of a copy: on a terminal one line that is updated, elsewhere a line for each large table."""

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
        """Finish the last table."""
        if self._shows:
            sys.stderr.write("\r\x1b[K")
        elif self._rows >= LARGE_TABLE:
            sys.stderr.write(f"{self._table}: {self._rows:,}\n")
        self._rows = 0


@click.command(
    cls=DocumentedCommand, short_help="Copy a crawl or a calendar to another database.",
    examples=(
        ("tadoru copy site.db 'postgresql://me@localhost/sites?crawl=site'", "a crawl, from a file to PostgreSQL"),
        ("tadoru copy 'postgresql://me@localhost/sites?crawl=site' site.db", "from PostgreSQL to a file"),
        ("tadoru copy var/tadoru.db postgresql://me@localhost/events", "a calendar, or the database of the service"),
    ),
)  # fmt: skip
@click.argument("since", metavar="FROM", type=FileName("FILE"))
@click.argument("to", metavar="TO", type=FileName("FILE"))
def copy(since: str, to: str) -> None:
    """Copy a crawl, a calendar or the database of the service into a new database of either kind.

    On PostgreSQL, a URL with ?crawl=NAME is a crawl. FROM may be in use: the copy is a consistent snapshot, in which requests in
    flight are queued again. The copy is complete or not made at all. Files next to a database (snapshots, run logs, crawls of the
    service) are not copied.
    """
    from tadoru.clock import SystemClock
    from tadoru.store.copy_crawl import DatabaseKind, look_at
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql, names_crawl

    found = look_at(since, SystemClock())
    if found.kind is DatabaseKind.EVENTS and names_crawl(to):
        raise UsageError("TO is the URL of a crawl, but FROM contains events. Remove ?crawl= from TO.")
    if not is_postgresql(to):
        check_database_name(to, "TO")
        check_writable(Path(to), "TO")
    (_copy_events if found.kind is DatabaseKind.EVENTS else _copy_crawl)(since, to, found)


def _copy_crawl(since: str, to: str, found: CopySource) -> None:
    from tadoru.clock import SystemClock
    from tadoru.jobs.launch import run_loop
    from tadoru.store.copy_crawl import move_crawl
    from tadoru.store.crawl.open import is_same_crawl, open_existing, open_store

    if is_same_crawl(since, to):
        raise UsageError("Cannot copy a crawl into itself. Give another database.")
    clock, progress = SystemClock(), CopyProgress()

    async def work() -> None:
        old = open_existing(since, clock)
        try:
            _report_migration(old.path, found)
            new = open_store(to, clock)
            try:
                counts = await move_crawl(old, new, progress)
                progress.end()
                sys.stderr.write(
                    _(
                        "Copied {urls} and {links} into {database}.", database=new.path,
                        urls=ngettext("{count} URL", "{count} URLs", counts["pages"]),
                        links=ngettext("{count} link", "{count} links", counts["link_relations"]),
                    )
                    + "\n"
                )  # fmt: skip
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
        raise UsageError("Cannot copy a database into itself. Give another one.")
    progress = CopyProgress()
    with closing(open_calendar(since)) as old:
        _report_migration(old.db.name, found)
        with closing(open_calendar(to)) as new:
            counts = copy_calendar(old.db, new.db, progress)
            progress.end()
            report_copied_calendar(counts, new.db.name)


def _report_migration(name: str, found: CopySource) -> None:
    if found.older is not None:
        text = _("Migrated {database} from format {format} to the current one.", database=single_line(name), format=found.older)
        sys.stderr.write(text + "\n")


def report_copied_calendar(counts: Mapping[str, int], name: str) -> None:
    """Report what was copied from one calendar into another."""
    sys.stderr.write(
        _(
            "Copied {events} and {sources} into {database}.", database=single_line(name),
            events=ngettext("{count} event", "{count} events", counts["events"]),
            sources=ngettext("{count} source", "{count} sources", counts["sources"]),
        )
        + "\n"
    )  # fmt: skip
