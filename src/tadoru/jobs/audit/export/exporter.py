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
from typing import BinaryIO, NamedTuple, TextIO, TypeVar

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.atomic_files import AtomicFiles, gzip_stream, text_stream
from tadoru.jobs.audit.export.dot import DEFAULT_NODES
from tadoru.jobs.reporting.escape import url_origin
from tadoru.store.crawl.export_reader import ExportGrid, ExportReader, ExportSelection, unused_filters
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.records import PageStatus

_CODES = re.compile(r"(?P<one>[1-9]\d\d)(?:\.\.(?P<last>[1-9]\d\d))?|(?P<hundred>[1-9])xx", re.IGNORECASE)


class ExportFormat(NamedTuple):
    """A form of export."""

    suffix: str
    of_tables: bool
    is_text: bool
    """Can be one stream of text, and compressed by gzip."""
    own: tuple[str, ...] = ()
    """The options that mean something to this form only."""


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
    """One export."""

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
        """By gzip: asked for, or by the name of the file."""
        return EXPORT_FORMATS[self.form].is_text and (self.gzip or (self.output or "").endswith(".gz"))

    @property
    def to_stdout(self) -> bool:
        return self.output in (None, "-")

    def check(self) -> None:
        """Raises UsageError."""
        form = EXPORT_FORMATS[self.form]
        for name, other in EXPORT_FORMATS.items():
            for option in other.own if name != self.form else ():
                if getattr(self, option) != ExportRequest.__dataclass_fields__[option].default:
                    flag = option.replace("_", "-")
                    raise UsageError(f"--{flag} means nothing to --format {self.form}: it belongs to --format {name}.")
        if self.gzip and not form.is_text:
            raise UsageError(f"--gzip means nothing to --format {self.form}, which is compressed as it is: leave it out.")
        if self.to_stdout and not form.is_text:
            raise UsageError(f"--format {self.form} is not text: give -o and the name of a file, such as crawl{form.suffix}.")
        self._check_tables()

    def _check_tables(self) -> None:
        if not EXPORT_FORMATS[self.form].of_tables:
            if self.tables != ("pages",) or self.chosen != ExportSelection():
                raise UsageError(f"--format {self.form} writes what it is made of: leave out --table and the filters.")
            return
        if len(self.tables) > 1 and self.to_stdout:
            raise UsageError("Several tables are several files: give -o and the name of a folder, or one --table.")
        for table in self.tables:
            for flag in unused_filters(table, self.chosen):
                raise UsageError(f"{flag} means nothing to the table {table}: leave it out, or choose other tables by --table.")


def parse_tables(words: Iterable[str]) -> tuple[str, ...]:
    """Table names, separated by commas or given one by one; `all`. Raises UsageError."""
    names = [name for word in words for name in word.split(",") if name]
    if "all" in names:
        return tuple(TABLES)
    for name in names:
        if name not in TABLES:
            raise UsageError(f"There is no table {_hint(name, [*TABLES, 'all'])}.")
    return tuple(dict.fromkeys(names)) or ("pages",)


def parse_statuses(words: Iterable[str]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """`404`, `4xx`, `300..399`, `skipped`: ranges of status codes, and names of states. Raises UsageError."""
    codes: list[tuple[int, int]] = []
    states: list[str] = []
    for part in (part.strip() for word in words for part in word.split(",") if part.strip()):
        if match := _CODES.fullmatch(part):
            low = int(match["one"] or match["hundred"] + "00")
            codes.append((low, low + 99 if match["hundred"] else int(match["last"] or low)))
        elif part in tuple(PageStatus):
            states.append(part)
        else:
            known = ", ".join(PageStatus)
            raise UsageError(f"--status takes codes such as 404, 4xx or 300..399, and {known}; “{part}” is none of them.")
    return tuple(codes), tuple(states)


def check_check_ids(names: Iterable[str], known: list[str]) -> None:
    """Whether the crawl was judged by these checks. Raises UsageError."""
    for name in names:
        if name not in known:
            if not known:
                raise UsageError("This crawl was not audited, so that there are no checks to choose by: leave out --check.")
            raise UsageError(f"There is no check {_hint(name, known)}.")


def _hint(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"“{name}”: did you mean “{near[0]}”?" if near else f"“{name}”: choose one of {', '.join(known)}"


T = TypeVar("T")
ProgressCallback = Callable[[str, int], None]
"""Hears of what is written, and how many so far."""
_PROGRESS_EVERY = 1000


class ExportResult(NamedTuple):
    """What an export came to."""

    files: list[Path]
    """Empty when it went to stdout."""
    counts: dict[str, int]
    """How many of what: the rows of each table, or `pages` and `links`."""


class Exporter:
    """An export of a crawl. `name`: what a file is called when only its folder was given."""

    def __init__(
        self, store: ExportReader, order: ExportRequest, *, name: str, stdout: BinaryIO, now: datetime, watch: ProgressCallback
    ) -> None:
        self._store, self._order, self._name, self._stdout = store, order, name, stdout
        self._now, self._watch = now, watch
        self._form = EXPORT_FORMATS[order.form]
        self._counts: dict[str, int] = {}

    def run(self) -> ExportResult:
        """Write it. Raises UsageError for what makes no sense, OSError for what cannot be written."""
        order = self._order
        order.check()
        check_check_ids(order.chosen.checks, self._store.check_ids())
        if order.form == "warc" and not self._store.has_bodies():
            raise UsageError("This crawl kept no bodies, which an archive is made of: crawl with --store-bodies.")
        with self._store.one_moment():
            if order.to_stdout:
                self._write_stdout()
                return ExportResult([], self._counts)
            with AtomicFiles(Path(self._store.path)) as parcel:
                files = self._write_files(parcel, order.output or "")
            return ExportResult(files, self._counts)

    def _write_stdout(self) -> None:
        if self._order.form == "sitemap":
            self._print_sitemap()
        else:
            with ExitStack() as stack:
                out = stack.enter_context(gzip_stream(self._stdout)) if self._order.compressed else self._stdout
                self._write_text(self._order.tables[0], stack.enter_context(text_stream(out)))
        self._stdout.flush()

    def _print_sitemap(self) -> None:
        """By way of a file: whether one is enough is known only in the end."""
        with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
            with AtomicFiles() as parcel:
                first, *more = self._write_sitemaps(parcel, Path(folder, "sitemap.xml"))
            if more:
                raise UsageError("The site has too many pages for one sitemap: give -o and the name of a file or a folder.")
            with first.open("rb") as file:
                while chunk := file.read(1 << 16):
                    self._stdout.write(chunk)

    def _write_files(self, parcel: AtomicFiles, output: str) -> list[Path]:
        order, path = self._order, Path(output)
        a_file_each = self._form.of_tables and order.form != "xlsx"
        ending = self._form.suffix + (".gz" if order.compressed else "")
        if output.endswith("/") or path.is_dir() or (a_file_each and len(order.tables) > 1):
            if path.exists() and not path.is_dir():
                raise UsageError(f"-o {path} is a file, and several tables are several files: give the name of a folder.")
            parcel.make_folder(path)
            if a_file_each:
                return [self._write_file(parcel, path / f"{table}{ending}", table) for table in order.tables]
            path /= ("sitemap" if order.form == "sitemap" else self._name) + ending
        if order.form == "sitemap":
            return self._write_sitemaps(parcel, path)
        return [self._write_file(parcel, path, order.tables[0])]

    def _write_file(self, parcel: AtomicFiles, path: Path, table: str) -> Path:
        if self._form.is_text:
            with parcel.text(path, compressed=self._order.compressed) as words:
                self._write_text(table, words)
        else:
            with parcel.binary(path) as out:
                self._write_binary(table, out, path)
        return path

    def _write_text(self, table: str, out: TextIO) -> None:
        match self._order.form:
            case "csv":
                from tadoru.jobs.audit.export.csv_jsonl import write_csv

                write_csv(self._grid(table), out, raw=self._order.raw, bom=self._order.bom)
            case "jsonl":
                from tadoru.jobs.audit.export.csv_jsonl import write_jsonl

                write_jsonl(self._grid(table), out)
            case _:
                from tadoru.jobs.audit.export.dot import write_dot

                nodes, total = self._store.graph_nodes(self._order.limit_nodes)
                self._counts["pages"] = len(nodes)
                self._counts["links"] = write_dot(nodes, total, self._store.graph_edges, self._start(), out)

    def _write_binary(self, table: str, out: BinaryIO, path: Path) -> None:
        match self._order.form:
            case "parquet":
                from tadoru.jobs.audit.export.parquet import write_parquet

                write_parquet(self._grid(table), out)
            case "xlsx":
                from tadoru.jobs.audit.export.xlsx import write_xlsx

                write_xlsx(map(self._grid, self._order.tables), out, folder=path.resolve().parent, now=self._now)
            case _:
                from tadoru.jobs.audit.export.warc import write_warc

                write_warc(self._counted("pages", self._store.stored_pages()), out, name=path.name, now=self._now)

    def _write_sitemaps(self, parcel: AtomicFiles, path: Path) -> list[Path]:
        from tadoru.jobs.audit.export.sitemap import write_sitemaps

        pages = self._counted("pages", self._store.sitemap_pages())
        base = self._order.base_url or url_origin(self._start())
        return write_sitemaps(pages, parcel, path, base, compressed=self._order.compressed)

    def _start(self) -> str:
        return self._store.start_url() or ""

    def _grid(self, table: str) -> ExportGrid:
        grid = self._store.dump(table, self._order.chosen)
        return grid._replace(rows=self._counted(table, grid.rows))

    def _counted(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        number = 0
        for number, row in enumerate(rows, 1):
            if number % _PROGRESS_EVERY == 0:
                self._watch(what, number)
            yield row
        self._counts[what] = number
