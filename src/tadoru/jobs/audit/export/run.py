"""Writing one export of one crawl: which form into which file, everything read at one moment and streamed through."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, TypeVar

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.choose import FORMS, Order, check_names
from tadoru.jobs.audit.export.output import Parcel, packed, spoken
from tadoru.jobs.report.escape import origin
from tadoru.store.dump import Dump, Grid

T = TypeVar("T")
Watch = Callable[[str, int], None]
"""Hears of what is written, and how many so far."""
_TELL_EVERY = 1000


class Wrote(NamedTuple):
    """What an export came to."""

    files: list[Path]
    """Empty when it went to stdout."""
    counts: dict[str, int]
    """How many of what: the rows of each table, or `pages` and `links`."""


class Exporter:
    """An export of a crawl. `name`: what a file is called when only its folder was given."""

    def __init__(self, store: Dump, order: Order, *, name: str, stdout: BinaryIO, now: datetime, watch: Watch) -> None:
        self._store, self._order, self._name, self._stdout = store, order, name, stdout
        self._now, self._watch = now, watch
        self._form = FORMS[order.form]
        self._counts: dict[str, int] = {}

    def run(self) -> Wrote:
        """Write it. Raises UsageError for what makes no sense, OSError for what can not be written."""
        order = self._order
        order.check()
        check_names(order.chosen.checks, self._store.check_ids())
        if order.form == "warc" and not self._store.has_bodies():
            raise UsageError("This crawl kept no bodies, which an archive is made of: crawl with --store-bodies.")
        with self._store.one_moment():
            if order.to_stdout:
                self._write_stdout()
                return Wrote([], self._counts)
            with Parcel(Path(self._store.path)) as parcel:
                files = self._write_files(parcel, order.output or "")
            return Wrote(files, self._counts)

    def _write_stdout(self) -> None:
        if self._order.form == "sitemap":
            self._print_sitemap()
        else:
            with ExitStack() as stack:
                out = stack.enter_context(packed(self._stdout)) if self._order.compressed else self._stdout
                self._write_text(self._order.tables[0], stack.enter_context(spoken(out)))
        self._stdout.flush()

    def _print_sitemap(self) -> None:
        """By way of a file: whether one is enough is known only in the end."""
        with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
            with Parcel() as parcel:
                first, *more = self._write_sitemaps(parcel, Path(folder, "sitemap.xml"))
            if more:
                raise UsageError("The site has too many pages for one sitemap: give -o and the name of a file or a folder.")
            with first.open("rb") as file:
                while chunk := file.read(1 << 16):
                    self._stdout.write(chunk)

    def _write_files(self, parcel: Parcel, output: str) -> list[Path]:
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

    def _write_file(self, parcel: Parcel, path: Path, table: str) -> Path:
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
                from tadoru.jobs.audit.export.csvform import write_csv

                write_csv(self._grid(table), out, raw=self._order.raw, bom=self._order.bom)
            case "jsonl":
                from tadoru.jobs.audit.export.jsonl import write_jsonl

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

    def _write_sitemaps(self, parcel: Parcel, path: Path) -> list[Path]:
        from tadoru.jobs.audit.export.sitemap import write_sitemaps

        pages = self._counted("pages", self._store.sitemap_pages())
        base = self._order.base_url or origin(self._start())
        return write_sitemaps(pages, parcel, path, base, compressed=self._order.compressed)

    def _start(self) -> str:
        return self._store.start_url() or ""

    def _grid(self, table: str) -> Grid:
        grid = self._store.dump(table, self._order.chosen)
        return grid._replace(rows=self._counted(table, grid.rows))

    def _counted(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        number = 0
        for number, row in enumerate(rows, 1):
            if number % _TELL_EVERY == 0:
                self._watch(what, number)
            yield row
        self._counts[what] = number
