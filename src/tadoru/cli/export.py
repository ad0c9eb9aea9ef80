"""`tadoru export DB`: writes a crawl in another format to stdout or to files, with progress on stderr."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import _
from tadoru.clock import Clock, SystemClock, to_datetime
from tadoru.errors import Message, TadoruError, UsageError
from tadoru.jobs.audit.export.exporter import EXPORT_FORMATS, ExportRequest, parse_statuses, parse_tables
from tadoru.log import Log
from tadoru.model.finding import Severity
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES

if TYPE_CHECKING:
    from tadoru.jobs.audit.export.exporter import ExportResult
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
