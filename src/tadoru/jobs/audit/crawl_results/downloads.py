"""A crawl in another format as a stream of bytes, read in one transaction and never completely in memory.

Tables as CSV and JSONL are made while they are sent. The other formats are written to a temporary file without a name first,
which disappears however the sending ends.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from tadoru.errors import UsageError, quoted
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.export.atomic_files import AtomicFiles, text_stream
from tadoru.jobs.audit.export.exporter import check_check_ids
from tadoru.jobs.audit.report import REPORT_FORMATS
from tadoru.jobs.reporting.escape import url_origin
from tadoru.jobs.reporting.html_templates import environment
from tadoru.store.crawl.export_reader import ExportGrid, ExportSelection, unused_filters
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.sqlite.store import CrawlNotReadable, ReadOnlyCrawl, at_once
from tadoru.store.crawl.tables import CrawlTable, TableFilter

_ROWS = 500
"""Rows that are formatted together."""
_CHUNK = 1 << 16
_LIBRARIES = {"parquet": "pyarrow", "xlsx": "xlsxwriter"}
"""The optional library of a format."""


class DownloadFormat(NamedTuple):
    """A format as the receiver sees it."""

    suffix: str
    media_type: str
    of_tables: bool


DOWNLOAD_FORMATS: dict[str, DownloadFormat] = {
    "csv": DownloadFormat(".csv", "text/csv; charset=utf-8", of_tables=True),
    "jsonl": DownloadFormat(".jsonl", "application/x-ndjson", of_tables=True),
    "parquet": DownloadFormat(".parquet", "application/vnd.apache.parquet", of_tables=True),
    "xlsx": DownloadFormat(".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", of_tables=True),
    "sitemap": DownloadFormat(".xml", "application/xml", of_tables=False),
    "dot": DownloadFormat(".dot", "text/vnd.graphviz; charset=utf-8", of_tables=False),
}


def available_formats() -> dict[str, DownloadFormat]:
    """The formats whose libraries are installed."""
    missing = {form for form, library in _LIBRARIES.items() if find_spec(library) is None}
    return {name: form for name, form in DOWNLOAD_FORMATS.items() if name not in missing}


@dataclass(frozen=True, slots=True)
class Download:
    """An export to send. The receiver reads `chunks` to the end, or closes it."""

    suffix: str
    media_type: str
    chunks: Iterator[bytes]
    size: int | None
    """In bytes, if it is known beforehand."""


def export_crawl(
    path: Path | str, form: str, tables: Sequence[str] = ("pages",), chosen: ExportSelection | None = None, *, now: datetime
) -> Download:
    """A crawl in one of `DOWNLOAD_FORMATS`; only xlsx may have several tables. Raises UsageError before anything is sent."""
    chosen = chosen or ExportSelection()
    _check(form, tables, chosen)
    with ExitStack() as stack:
        crawl = ReadOnlyCrawl(path)
        stack.enter_context(closing(crawl.sql))
        stack.enter_context(crawl.snapshot())
        check_check_ids(chosen.checks, crawl.export.check_ids())
        kind = DOWNLOAD_FORMATS[form]
        if form in ("csv", "jsonl"):
            parts = _rows(form, crawl.export.dump(tables[0], chosen), stack.pop_all())
            # Started here, so that a file that cannot be read raises an error before anything is sent, and is closed in any case.
            return Download(kind.suffix, kind.media_type, chain([next(parts)], parts), None)
        if form == "sitemap":
            return _sitemaps(crawl)
        return _whole(kind, lambda out: _write(crawl, form, tables, chosen, out, now))


def export_view(
    path: Path | str, form: str, table: CrawlTable, chosen: TableFilter, columns: Sequence[str], *, now: datetime
) -> Download:
    """The rows that a view of a table shows, with its columns, as csv, jsonl, xlsx or parquet."""
    kind = available_formats().get(form)
    if kind is None or not kind.of_tables:
        raise UsageError("The format {form} is not available here.", form=quoted(form))
    with ExitStack() as stack:
        crawl = ReadOnlyCrawl(path)
        stack.enter_context(closing(crawl.sql))
        stack.enter_context(crawl.snapshot())
        grid = crawl.tables.grid(table, chosen, columns)
        if form in ("csv", "jsonl"):
            parts = _rows(form, grid, stack.pop_all())
            return Download(kind.suffix, kind.media_type, chain([next(parts)], parts), None)
        return _whole(kind, lambda out: _write_grid(form, grid, out, now))


def html_report(path: Path | str, *, lang: str = "en") -> Download:
    """The HTML report of an audit: one page without anything from elsewhere, and without the path of its database."""
    from tadoru.jobs.audit.report.audit_report import AuditReport
    from tadoru.jobs.audit.report.check_filter import CheckFilter
    from tadoru.jobs.audit.report.html import write_html
    from tadoru.jobs.audit.report.summary import read_summary
    from tadoru.jobs.audit.suppressions import FindingSuppressions

    crawl = ReadOnlyCrawl(path)
    with closing(crawl.sql), crawl.snapshot():
        catalogue = crawl.findings.stored_checks()
        if not catalogue:
            raise CrawlNotReadable("This crawl contains no audit.")
        chosen = CheckFilter().select(catalogue)
        summary = at_once(read_summary(crawl, chosen, FindingSuppressions(), REPORT_FORMATS["html"].extent))
        report = AuditReport(summary=summary, translate=translator(lang), database="crawl.db", store=crawl)

        def write(out: BinaryIO) -> None:
            with text_stream(out) as text:
                write_html(report, text)

        return _whole(DownloadFormat(".html", "text/html; charset=utf-8", of_tables=False), write)


def report_policy(lang: str) -> str:
    """The content security policy of a report: its own style and script, and nothing else."""
    known = environment(lang).globals
    return (
        f"default-src 'none'; style-src '{known['style_hash']}'; script-src '{known['script_hash']}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


def back_up_crawl(path: Path | str) -> Download:
    """A copy of the whole database, also while the crawl runs."""
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        crawl = ReadOnlyCrawl(path)
        copy = Path(folder, "crawl.db")
        with closing(crawl.sql):
            crawl.copy_to(copy)
        # An open file can be read to its end although its name is gone.
        return _sent(copy.open("rb"), ".db", "application/vnd.sqlite3")


def _check(form: str, tables: Sequence[str], chosen: ExportSelection) -> None:
    if not DOWNLOAD_FORMATS[form].of_tables:
        if tuple(tables) != ("pages",) or chosen != ExportSelection():
            raise UsageError("The format {form} contains the whole crawl. Remove the table and the filters.", form=form)
        return
    if len(tables) != 1 and form != "xlsx":
        raise UsageError("The format {form} has one table. Choose one, or use xlsx for several.", form=form)
    for name in tables:
        if name not in TABLES:
            raise UsageError("Unknown table {name}. Choose one of {tables}.", name=quoted(name), tables=", ".join(TABLES))
        for flag in unused_filters(name, chosen):
            raise UsageError(
                "The filter {filter} does not apply to the table {table}. Remove it, or choose another table.",
                filter=flag.removeprefix("--"),
                table=name,
            )


def _rows(form: str, grid: ExportGrid, stack: ExitStack) -> Iterator[bytes]:
    """A table in chunks. The database is closed at the end, or when the generator is closed."""
    from tadoru.jobs.audit.export.csv_jsonl import write_csv, write_jsonl, write_rows

    def text(rows: Sequence[tuple[object, ...]], write: Callable[[ExportGrid, io.StringIO], None]) -> bytes:
        out = io.StringIO(newline="")
        write(grid._replace(rows=iter(rows)), out)
        return out.getvalue().encode(errors="backslashreplace")

    with stack:
        yield text((), write_csv) if form == "csv" else b""
        while rows := list(islice(grid.rows, _ROWS)):
            yield text(rows, write_rows if form == "csv" else write_jsonl)


def _write(crawl: ReadOnlyCrawl, form: str, tables: Sequence[str], chosen: ExportSelection, out: BinaryIO, now: datetime) -> None:
    if form == "parquet":
        _write_grid(form, crawl.export.dump(tables[0], chosen), out, now)
    elif form == "xlsx":
        from tadoru.jobs.audit.export.xlsx import write_xlsx

        grids = (crawl.export.dump(name, chosen) for name in dict.fromkeys(tables))
        write_xlsx(grids, out, folder=Path(tempfile.gettempdir()), now=now)
    else:
        from tadoru.jobs.audit.export.dot import DEFAULT_NODES, write_dot

        with text_stream(out) as words:
            nodes, total = crawl.export.graph_nodes(DEFAULT_NODES)
            write_dot(nodes, total, crawl.export.graph_edges, crawl.export.start_url() or "", words)


def _write_grid(form: str, grid: ExportGrid, out: BinaryIO, now: datetime) -> None:
    if form == "parquet":
        from tadoru.jobs.audit.export.parquet import write_parquet

        write_parquet(grid, out)
    else:
        from tadoru.jobs.audit.export.xlsx import write_xlsx

        write_xlsx([grid], out, folder=Path(tempfile.gettempdir()), now=now)


def _sitemaps(crawl: ReadOnlyCrawl) -> Download:
    """One file, or an archive if the site has more pages than a sitemap may have."""
    from tadoru.jobs.audit.export.sitemap import write_sitemaps

    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        with AtomicFiles() as parcel:
            base = url_origin(crawl.export.start_url() or "")
            files = write_sitemaps(crawl.export.sitemap_pages(), parcel, Path(folder, "sitemap.xml"), base)
        if len(files) == 1:
            return _sent(files[0].open("rb"), DOWNLOAD_FORMATS["sitemap"].suffix, DOWNLOAD_FORMATS["sitemap"].media_type)

        def pack(out: BinaryIO) -> None:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in files:
                    archive.write(file, file.name)

        return _whole(DownloadFormat(".zip", "application/zip", of_tables=False), pack)


def _whole(form: DownloadFormat, write: Callable[[BinaryIO], None]) -> Download:
    file = tempfile.TemporaryFile(prefix="tadoru-")  # noqa: SIM115 - it is closed after it was sent
    try:
        write(cast(BinaryIO, file))
    except BaseException:
        file.close()
        raise
    return _sent(file, form.suffix, form.media_type)


def _sent(file: IO[bytes], suffix: str, media_type: str) -> Download:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)

    def chunks() -> Iterator[bytes]:
        with file:
            while chunk := file.read(_CHUNK):
                yield chunk

    return Download(suffix, media_type, chunks(), size)
