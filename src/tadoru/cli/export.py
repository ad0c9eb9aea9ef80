"""`tadoru export DB`: a crawl in another format; `tadoru copy FROM TO`: a crawl or calendar in another database."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import FileName, check_database_name, check_writable
from tadoru.cli.output import _, ngettext
from tadoru.cli.table import single_line
from tadoru.clock import Clock, SystemClock, to_datetime
from tadoru.errors import Message, TadoruError, UsageError
from tadoru.jobs.audit.export.exporter import EXPORT_FORMATS, ExportRequest, parse_statuses, parse_tables
from tadoru.log import Log
from tadoru.model.finding import Severity
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES

if TYPE_CHECKING:
    from tadoru.jobs.audit.export.exporter import ExportResult
    from tadoru.store.copy_crawl import CopySource
    from tadoru.store.crawl.crawl_database import CrawlDatabase


FIRST_LINE_AFTER, LINE_EVERY = 2.0, 10.0
"""Seconds until the first progress line, and between two lines."""

EXAMPLES = (
    ("tadoru export site.db -f csv > pages.csv", "all pages, one per line"),
    ("tadoru export site.db -f csv -t links --status 4xx", "broken links"),
    ("tadoru export site.db -f xlsx -t pages,findings -o site.xlsx", "a workbook"),
    ("tadoru export site.db -f parquet -t all -o tables/", "all tables"),
    ("tadoru export site.db -f sitemap -o sitemap.xml", "all indexable pages"),
)


@click.command(
    cls=DocumentedCommand, examples=EXAMPLES, short_help="Export a crawl.",
    sections={
        "Output": ["form", "table", "output"],
        "Filters": ["status", "check", "severity", "internal", "url"],
        "Format options": ["gzip", "raw", "bom", "base_url", "limit_nodes"],
    },
)  # fmt: skip
@click.argument("database", metavar="DB")
@click.option("-f", "--format", "form", type=click.Choice(tuple(EXPORT_FORMATS)), required=True, help="Output format.")
@click.option("-t", "--table", multiple=True, metavar="NAME[,NAME]", help=f"Tables: all, or {', '.join(TABLES)}. [pages]")
@click.option("-o", "--output", metavar="FILE|DIR", help="Write to a file instead of stdout; a folder for several tables.")
@click.option(
    "--status",
    multiple=True,
    metavar="CODES",
    help="Only URLs with these status codes: 404, 4xx, 300..399, or a state such as skipped. For links: of the target.",
)
@click.option("--check", multiple=True, metavar="ID", help="Only findings of this check, or pages with such findings.")
@click.option(
    "--severity",
    multiple=True,
    type=click.Choice([severity.value for severity in Severity]),
    help="Only findings of this severity, or pages with such findings.",
)
@click.option("--internal/--external", default=None, help="Only internal or only external URLs. For links: of the target.")
@click.option("--url", metavar="PATTERN", help="Only URLs that match; * matches anything. For links: of the page.")
@click.option("--gzip", is_flag=True, help="Compress csv, jsonl, sitemap or dot.")
@click.option("--raw", is_flag=True, help="csv: do not escape texts that a spreadsheet would read as a formula.")
@click.option("--bom", is_flag=True, help="csv: begin with a byte order mark, for Excel.")
@click.option("--base-url", metavar="URL", help="sitemap: URL of the folder that it will be served from. [the root of the site]")
@click.option(
    "--limit-nodes",
    type=click.IntRange(min=1),
    default=ExportRequest.__dataclass_fields__["limit_nodes"].default,
    metavar="N",
    help="dot: maximum pages, the most linked first. [2000]",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def export(database: str, form: str, table: tuple[str, ...], status: tuple[str, ...], quiet: bool, **values: Any) -> None:
    """Export a crawl of any size as csv, jsonl, parquet, xlsx, sitemap, warc or dot.

    In csv, an apostrophe is put before texts that begin with = + - @, so that spreadsheets do not read them as formulas; --raw
    turns this off.
    """
    codes, states = parse_statuses(status)
    chosen = ExportSelection(
        codes=codes, statuses=states, checks=values["check"], severities=values["severity"],
        internal=values["internal"], url=values["url"],
    )  # fmt: skip
    order = ExportRequest(
        form=form, tables=parse_tables(table), chosen=chosen, output=values["output"], gzip=values["gzip"], raw=values["raw"],
        bom=values["bom"], base_url=_base_url(values["base_url"]), limit_nodes=values["limit_nodes"],
    )  # fmt: skip
    order.check()
    _check_output(order)
    clock = SystemClock()
    progress = ExportProgress(clock, quiet=quiet)
    with _open_crawl(database, clock) as store:
        wrote = _write(store, order, database, progress, clock)
    progress.end(wrote)


def _base_url(url: str | None) -> str | None:
    from tadoru.rules.url import parse_typed_url

    return None if url is None else parse_typed_url(url)


def _check_output(order: ExportRequest) -> None:
    if order.output is None or order.to_stdout:
        if order.compressed and sys.stdout.isatty():
            raise UsageError("--gzip cannot be written to a terminal. Give -o FILE, or use a pipe.")
        return
    folder = Path(order.output).resolve().parent
    if not folder.is_dir():
        raise UsageError(
            "{option} {path} cannot be written: folder {folder} not found.", option="-o", path=order.output, folder=folder
        )


@contextmanager
def _open_crawl(database: str, clock: Clock) -> Iterator[CrawlDatabase]:
    import asyncio

    from tadoru.store.crawl.open import open_existing

    store = open_existing(database, clock)
    try:
        yield store
    finally:
        asyncio.run(store.close())


def _write(store: CrawlDatabase, order: ExportRequest, database: str, progress: ExportProgress, clock: Clock) -> ExportResult:
    from tadoru.jobs.audit.export.exporter import Exporter

    name, now = Path(database).stem, to_datetime(clock.now())
    try:
        return Exporter(store, order, name=name, stdout=sys.stdout.buffer, now=now, on_progress=progress).run()
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"-o {order.output}" if order.output else Message("the export")
        raise TadoruError(
            "Cannot write {output} ({reason}). Fix the cause, then rerun the command.",
            output=what,
            reason=error.strerror or error,
        ) from None


class ExportProgress:
    """Progress lines of an export on stderr."""

    def __init__(self, clock: Clock, *, quiet: bool) -> None:
        self._clock, self._quiet = clock, quiet
        self._log = Log(sys.stderr, clock)
        self._next_line_at = clock.monotonic() + FIRST_LINE_AFTER

    def __call__(self, what: str, number: int) -> None:
        if not self._quiet and self._clock.monotonic() >= self._next_line_at:
            self._next_line_at = self._clock.monotonic() + LINE_EVERY
            self._log.line(_("{table}: {count} so far", table=what, count=f"{number:,}"))

    def end(self, wrote: ExportResult) -> None:
        """Report the files that were written; nothing for stdout."""
        if self._quiet or not wrote.files:
            return
        counts = ", ".join(f"{what} {number:,}" for what, number in wrote.counts.items())
        first, *more = wrote.files
        if more:
            self._log.line(_("Wrote {file} and {more} more ({counts}).", file=first, more=len(more), counts=counts))
        else:
            self._log.line(_("Wrote {file} ({counts}).", file=first, counts=counts))


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
