"""Checks an export request and writes it: which format to which file, read in one transaction and streamed."""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO, TypeVar

from tadoru.errors import UsageError, quoted
from tadoru.jobs.audit.export.atomic_files import AtomicFiles, gzip_stream, text_stream
from tadoru.jobs.audit.export.dot import DEFAULT_NODES
from tadoru.jobs.reporting.escape import url_origin
from tadoru.store.crawl.export_reader import ExportGrid, ExportSelection, unused_filters
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.records import PageStatus

if TYPE_CHECKING:  # Help of the command needs no database.
    from tadoru.store.crawl.crawl_database import CrawlDatabase

_CODES = re.compile(r"(?P<one>[1-9]\d\d)(?:\.\.(?P<last>[1-9]\d\d))?|(?P<hundred>[1-9])xx", re.IGNORECASE)


class ExportFormat(NamedTuple):
    """An export format."""

    suffix: str
    of_tables: bool
    is_text: bool
    """Whether it is one stream of text, which can be compressed by gzip."""
    own: tuple[str, ...] = ()
    """Options of this format only."""


EXPORT_FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat(".csv", of_tables=True, is_text=True, own=("raw", "bom")),
    "jsonl": ExportFormat(".jsonl", of_tables=True, is_text=True),
    "parquet": ExportFormat(".parquet", of_tables=True, is_text=False),
    "xlsx": ExportFormat(".xlsx", of_tables=True, is_text=False),
    "sitemap": ExportFormat(".xml", of_tables=False, is_text=True, own=("base_url",)),
    "warc": ExportFormat(".warc.gz", of_tables=False, is_text=False),
    "dot": ExportFormat(".dot", of_tables=False, is_text=True, own=("limit_nodes",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What to export, and where to."""

    form: str
    tables: tuple[str, ...] = ("pages",)
    chosen: ExportSelection = field(default_factory=ExportSelection)
    output: str | None = None
    gzip: bool = False
    raw: bool = False
    bom: bool = False
    base_url: str | None = None
    limit_nodes: int = DEFAULT_NODES

    @property
    def compressed(self) -> bool:
        """Whether to compress by gzip: by option, or by file name."""
        return EXPORT_FORMATS[self.form].is_text and (self.gzip or (self.output or "").endswith(".gz"))

    @property
    def to_stdout(self) -> bool:
        """Whether to write to stdout."""
        return self.output in (None, "-")

    def check(self) -> None:
        """Raises UsageError for options that do not fit together."""
        form = EXPORT_FORMATS[self.form]
        for name, other in EXPORT_FORMATS.items():
            for option in other.own if name != self.form else ():
                if getattr(self, option) != ExportRequest.__dataclass_fields__[option].default:
                    flag = option.replace("_", "-")
                    raise UsageError(
                        "--{option} does not apply to --format {form}, only to --format {other}.",
                        option=flag,
                        form=self.form,
                        other=name,
                    )
        if self.gzip and not form.is_text:
            raise UsageError(
                "--gzip does not apply to --format {form}, which is always compressed. Remove --gzip.", form=self.form
            )
        if self.to_stdout and not form.is_text:
            raise UsageError(
                "--format {form} is binary. Write it to a file, such as -o {file}.", form=self.form, file=f"crawl{form.suffix}"
            )
        self._check_tables()

    def _check_tables(self) -> None:
        if not EXPORT_FORMATS[self.form].of_tables:
            if self.tables != ("pages",) or self.chosen != ExportSelection():
                raise UsageError("--format {form} has no tables. Remove --table and the filters.", form=self.form)
            return
        if len(self.tables) > 1 and self.to_stdout:
            raise UsageError("Several tables need several files. Add -o with a folder, or choose one --table.")
        for table in self.tables:
            for flag in unused_filters(table, self.chosen):
                raise UsageError(
                    "{flag} does not apply to the table {table}. Remove it, or choose other tables with --table.",
                    flag=flag,
                    table=table,
                )


def parse_tables(values: Iterable[str]) -> tuple[str, ...]:
    """Table names, one or several separated by commas in each value; or `all`. Raises UsageError."""
    names = [name for value in values for name in value.split(",") if name]
    if "all" in names:
        return tuple(TABLES)
    for name in names:
        if name not in TABLES:
            known = [*TABLES, "all"]
            if near := difflib.get_close_matches(name, known, n=1):
                raise UsageError("Unknown table {name}. Did you mean {similar}?", name=quoted(name), similar=quoted(near[0]))
            raise UsageError("Unknown table {name}. Choose one of {tables}.", name=quoted(name), tables=", ".join(known))
    return tuple(dict.fromkeys(names)) or ("pages",)


def parse_statuses(values: Iterable[str]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """`404`, `4xx`, `300..399`, `skipped`: ranges of status codes, and names of states. Raises UsageError."""
    codes: list[tuple[int, int]] = []
    states: list[str] = []
    for part in (part.strip() for value in values for part in value.split(",") if part.strip()):
        if match := _CODES.fullmatch(part):
            low = int(match["one"] or match["hundred"] + "00")
            codes.append((low, low + 99 if match["hundred"] else int(match["last"] or low)))
        elif part in tuple(PageStatus):
            states.append(part)
        else:
            raise UsageError(
                "Invalid --status {value}. Use status codes such as 404, 4xx or 300..399, or {states}.",
                value=quoted(part),
                states=", ".join(PageStatus),
            )
    return tuple(codes), tuple(states)


def check_check_ids(names: Iterable[str], known: list[str]) -> None:
    """Raises UsageError if the crawl does not have one of these checks."""
    for name in names:
        if name not in known:
            if not known:
                raise UsageError("This crawl is not an audit and has no checks. Remove --check.")
            if near := difflib.get_close_matches(name, known, n=1):
                raise UsageError("Unknown check {name}. Did you mean {similar}?", name=quoted(name), similar=quoted(near[0]))
            raise UsageError("Unknown check {name}. Choose one of {checks}.", name=quoted(name), checks=", ".join(known))


T = TypeVar("T")
ProgressCallback = Callable[[str, int], None]
"""Called with what is written, and how many so far."""
_PROGRESS_EVERY = 1000


class ExportResult(NamedTuple):
    """The result of an export."""

    files: list[Path]
    """Empty if it was written to stdout."""
    counts: dict[str, int]
    """The number of rows of each table, or of `pages` and `links`."""


class Exporter:
    """Runs an export of a crawl. `name`: the name of a file if only its folder was given."""

    def __init__(
        self,
        store: CrawlDatabase,
        request: ExportRequest,
        *,
        name: str,
        stdout: BinaryIO,
        now: datetime,
        on_progress: ProgressCallback,
    ) -> None:
        self._store, self._request, self._name, self._stdout = store, request, name, stdout
        self._now, self._on_progress = now, on_progress
        self._form = EXPORT_FORMATS[request.form]
        self._counts: dict[str, int] = {}

    def run(self) -> ExportResult:
        """Writes the export. Raises UsageError for invalid options, OSError if a file cannot be written."""
        request = self._request
        request.check()
        check_check_ids(request.chosen.checks, self._store.export.check_ids())
        if request.form == "warc" and not self._store.export.has_bodies():
            raise UsageError("This crawl has no page bodies for an archive. Crawl with --store-bodies.")
        with self._store.snapshot():
            if request.to_stdout:
                self._write_stdout()
                return ExportResult([], self._counts)
            with AtomicFiles(Path(self._store.path)) as files_out:
                files = self._write_files(files_out, request.output or "")
            return ExportResult(files, self._counts)

    def _write_stdout(self) -> None:
        if self._request.form == "sitemap":
            self._print_sitemap()
        else:
            with ExitStack() as stack:
                out = stack.enter_context(gzip_stream(self._stdout)) if self._request.compressed else self._stdout
                self._write_text(self._request.tables[0], stack.enter_context(text_stream(out)))
        self._stdout.flush()

    def _print_sitemap(self) -> None:
        """Writes to a file first: only at the end it is known whether one is enough."""
        with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
            with AtomicFiles() as files_out:
                first, *more = self._write_sitemaps(files_out, Path(folder, "sitemap.xml"))
            if more:
                raise UsageError("The site has too many pages for one sitemap. Add -o with a file or a folder.")
            with first.open("rb") as file:
                while chunk := file.read(1 << 16):
                    self._stdout.write(chunk)

    def _write_files(self, files_out: AtomicFiles, output: str) -> list[Path]:
        request, path = self._request, Path(output)
        a_file_each = self._form.of_tables and request.form != "xlsx"
        ending = self._form.suffix + (".gz" if request.compressed else "")
        if output.endswith("/") or path.is_dir() or (a_file_each and len(request.tables) > 1):
            if path.exists() and not path.is_dir():
                raise UsageError("-o {path} is a file, but several tables need a folder. Choose a folder.", path=path)
            files_out.make_folder(path)
            if a_file_each:
                return [self._write_file(files_out, path / f"{table}{ending}", table) for table in request.tables]
            path /= ("sitemap" if request.form == "sitemap" else self._name) + ending
        if request.form == "sitemap":
            return self._write_sitemaps(files_out, path)
        return [self._write_file(files_out, path, request.tables[0])]

    def _write_file(self, files_out: AtomicFiles, path: Path, table: str) -> Path:
        if self._form.is_text:
            with files_out.text(path, compressed=self._request.compressed) as out_text:
                self._write_text(table, out_text)
        else:
            with files_out.binary(path) as out:
                self._write_binary(table, out, path)
        return path

    def _write_text(self, table: str, out: TextIO) -> None:
        match self._request.form:
            case "csv":
                from tadoru.jobs.audit.export.csv_jsonl import write_csv

                write_csv(self._grid(table), out, raw=self._request.raw, bom=self._request.bom)
            case "jsonl":
                from tadoru.jobs.audit.export.csv_jsonl import write_jsonl

                write_jsonl(self._grid(table), out)
            case _:
                from tadoru.jobs.audit.export.dot import write_dot

                nodes, total = self._store.export.graph_nodes(self._request.limit_nodes)
                self._counts["pages"] = len(nodes)
                self._counts["links"] = write_dot(nodes, total, self._store.export.graph_edges, self._start(), out)

    def _write_binary(self, table: str, out: BinaryIO, path: Path) -> None:
        match self._request.form:
            case "parquet":
                from tadoru.jobs.audit.export.parquet import write_parquet

                write_parquet(self._grid(table), out)
            case "xlsx":
                from tadoru.jobs.audit.export.xlsx import write_xlsx

                write_xlsx(map(self._grid, self._request.tables), out, folder=path.resolve().parent, now=self._now)
            case _:
                from tadoru.jobs.audit.export.warc import write_warc

                write_warc(self._counted("pages", self._store.export.stored_pages()), out, name=path.name, now=self._now)

    def _write_sitemaps(self, files_out: AtomicFiles, path: Path) -> list[Path]:
        from tadoru.jobs.audit.export.sitemap import write_sitemaps

        pages = self._counted("pages", self._store.export.sitemap_pages())
        base = self._request.base_url or url_origin(self._start())
        return write_sitemaps(pages, files_out, path, base, compressed=self._request.compressed)

    def _start(self) -> str:
        return self._store.export.start_url() or ""

    def _grid(self, table: str) -> ExportGrid:
        grid = self._store.export.dump(table, self._request.chosen)
        return grid._replace(rows=self._counted(table, grid.rows))

    def _counted(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        number = 0
        for number, row in enumerate(rows, 1):
            if number % _PROGRESS_EVERY == 0:
                self._on_progress(what, number)
            yield row
        self._counts[what] = number
