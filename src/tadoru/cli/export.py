"""`tadoru export DB`: the command around the exports. Data to stdout or to files, progress to stderr."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.clock import Clock, SystemClock, to_datetime
from tadoru.errors import TadoruError, UsageError
from tadoru.jobs.audit.export.exporter import EXPORT_FORMATS, ExportRequest, parse_statuses, parse_tables
from tadoru.log import Log
from tadoru.model.finding import Severity
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES

if TYPE_CHECKING:
    from tadoru.jobs.audit.export.exporter import ExportResult
    from tadoru.store.crawl.sqlite import SqliteStore

FIRST_LINE_AFTER, LINE_EVERY = 2.0, 10.0
"""Seconds to the first line about how far it is, and between two of them."""

EXAMPLES = (
    ("tadoru export site.db -f csv > pages.csv", "every page, one a line"),
    ("tadoru export site.db -f csv -t links --status 4xx", "broken links"),
    ("tadoru export site.db -f xlsx -t pages,findings -o site.xlsx", "a workbook"),
    ("tadoru export site.db -f parquet -t all -o tables/", "everything"),
    ("tadoru export site.db -f sitemap -o sitemap.xml", "what is indexable"),
)


@click.command(
    cls=DocumentedCommand, examples=EXAMPLES, short_help="Write a crawl in another form.",
    sections={
        "What to write": ["form", "table", "output"],
        "Only some of it": ["status", "check", "severity", "internal", "url"],
        "How to write it": ["gzip", "raw", "bom", "base_url", "limit_nodes"],
    },
)  # fmt: skip
@click.argument("database", metavar="DB")
@click.option("-f", "--format", "form", type=click.Choice(tuple(EXPORT_FORMATS)), required=True, help="The form.")
@click.option("-t", "--table", multiple=True, metavar="NAME[,NAME]", help=f"Which tables [pages]: all, or {', '.join(TABLES)}.")
@click.option("-o", "--output", metavar="FILE|DIR", help="Write here instead of stdout; a folder for several tables.")
@click.option(
    "--status",
    multiple=True,
    metavar="CODES",
    help="Only what answered so: 404, 4xx, 300..399, or a state such as skipped. Of links: their targets.",
)
@click.option("--check", multiple=True, metavar="ID", help="Only findings of this check, or pages that have one.")
@click.option(
    "--severity",
    multiple=True,
    type=click.Choice([severity.value for severity in Severity]),
    help="Only findings as grave as this, or such pages.",
)
@click.option(
    "--internal/--external", default=None, help="Only what is of the site, or only what is not. Of links: their targets."
)
@click.option("--url", metavar="PATTERN", help="Only these URLs; * stands for anything. Of links: where they are.")
@click.option("--gzip", is_flag=True, help="Compress csv, jsonl, sitemap or dot.")
@click.option("--raw", is_flag=True, help="csv: every text as it is, also when a spreadsheet would take it for a formula.")
@click.option("--bom", is_flag=True, help="csv: begin with the mark by which Excel knows UTF-8.")
@click.option("--base-url", metavar="URL", help="sitemap: the folder of the site that it will be served from. [its root]")
@click.option(
    "--limit-nodes",
    type=click.IntRange(min=1),
    default=ExportRequest.__dataclass_fields__["limit_nodes"].default,
    metavar="N",
    help="dot: at most so many pages, those that most leads to. [2000]",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
def export(database: str, form: str, table: tuple[str, ...], status: tuple[str, ...], quiet: bool, **values: Any) -> int:
    """Write a crawl as csv, jsonl, parquet, xlsx, sitemap, warc or dot, whatever its size.

    In csv a text that begins with = + - @ gets an apostrophe in front, so that no spreadsheet takes it for a formula; --raw
    leaves it as it is.
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
    return 0


def _base_url(url: str | None) -> str | None:
    from tadoru.rules.url import parse_typed_url

    return None if url is None else parse_typed_url(url)


def _check_output(order: ExportRequest) -> None:
    if order.output is None or order.to_stdout:
        if order.compressed and sys.stdout.isatty():
            raise UsageError("--gzip is nothing to read on a terminal: give -o and the name of a file, or a pipe.")
        return
    folder = Path(order.output).resolve().parent
    if not folder.is_dir():
        raise UsageError(f"-o {order.output} can not be written: there is no folder {folder}.")


@contextmanager
def _open_crawl(database: str, clock: Clock) -> Iterator[SqliteStore]:
    from tadoru.store.crawl.open import open_existing

    store = open_existing(database, clock)
    try:
        yield store
    finally:
        asyncio.run(store.close())


def _write(store: SqliteStore, order: ExportRequest, database: str, progress: ExportProgress, clock: Clock) -> ExportResult:
    from tadoru.jobs.audit.export.exporter import Exporter

    name, now = Path(database).stem, to_datetime(clock.now())
    try:
        return Exporter(store, order, name=name, stdout=sys.stdout.buffer, now=now, watch=progress).run()
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"-o {order.output}" if order.output else "the export"
        raise TadoruError(
            f"Could not write {what} ({error.strerror or error}): mend that, and run the same command again."
        ) from None


class ExportProgress:
    """How far the export is: a line on stderr now and then."""

    def __init__(self, clock: Clock, *, quiet: bool) -> None:
        self._clock, self._quiet = clock, quiet
        self._log = Log(sys.stderr, clock)
        self._say_at = clock.monotonic() + FIRST_LINE_AFTER

    def __call__(self, what: str, number: int) -> None:
        if not self._quiet and self._clock.monotonic() >= self._say_at:
            self._say_at = self._clock.monotonic() + LINE_EVERY
            self._log.line(f"{what}: {number:,} so far")

    def end(self, wrote: ExportResult) -> None:
        """What was written; nothing about stdout, where it can be seen."""
        if self._quiet or not wrote.files:
            return
        counts = ", ".join(f"{what} {number:,}" for what, number in wrote.counts.items())
        first, *more = wrote.files
        self._log.line(f"Wrote {first}{f' and {len(more)} more' if more else ''} ({counts}).")
