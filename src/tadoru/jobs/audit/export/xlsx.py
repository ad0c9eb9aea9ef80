"""The Excel format: a sheet for each table, written row by row. Needs XlsxWriter, an optional extra.

Data is cut to the limits of Excel: a sheet has 1,048,576 rows, and a table continues on the next sheet; a cell has 32,767
characters. No text becomes a formula, or a hyperlink, of which a sheet may have only 65,530.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tadoru.jobs.audit.export.format_support import join_values, optional_library, parse_time
from tadoru.store.crawl.export_reader import ExportGrid
from tadoru.store.crawl.export_tables import ColumnKind

MAX_ROWS = 1_048_576
_CELL = 32_767
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDTHS = dict.fromkeys(ColumnKind, 40) | {
    ColumnKind.TIME: 22, ColumnKind.TRUTH: 10, ColumnKind.INTEGER: 12, ColumnKind.REAL: 12,
}  # fmt: skip


def write_xlsx(
    grids: Iterable[ExportGrid], out: BinaryIO, *, folder: Path, now: datetime, rows_of_a_sheet: int = MAX_ROWS
) -> None:
    """Writes the tables. `folder`: for temporary files of the same size."""
    with optional_library("xlsx"):
        library = import_module("xlsxwriter")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".tadoru-") as scratch:
        book = library.Workbook(out, {"constant_memory": True, "tmpdir": scratch, "use_zip64": True})
        try:
            book.set_properties({"created": now.replace(tzinfo=None)})
            formats = {"head": book.add_format({"bold": True}), "time": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})}
            for grid in grids:
                _Sheets(book, grid, formats, rows_of_a_sheet).write()
            book.close()
        except library.exceptions.FileCreateError as error:
            raise error.args[0] from None
        finally:
            # The library keeps a file open for each sheet, and complains if it was not closed because of an error.
            book.fileclosed = True
            for sheet in book.worksheets():
                sheet.row_data_fh.close()


class _Sheets:
    """One table, on as many sheets as it needs."""

    def __init__(self, book: Any, grid: ExportGrid, formats: dict[str, Any], rows_of_a_sheet: int) -> None:
        self._book, self._grid, self._formats, self._most = book, grid, formats, rows_of_a_sheet
        self._number = 0
        self._sheet: Any = None
        self._used = 0

    def write(self) -> None:
        self._begin()
        cells = [(at, self._writer(column.kind)) for at, column in enumerate(self._grid.columns)]
        for row in self._grid.rows:
            if self._used == self._most:
                self._end()
                self._begin()
            for at, write in cells:
                value = row[at]
                if value is not None and value != "":
                    write(self._used, at, value)
            self._used += 1
        self._end()

    def _begin(self) -> None:
        self._number += 1
        self._sheet = self._book.add_worksheet(self._grid.name if self._number == 1 else f"{self._grid.name} {self._number}")
        self._sheet.freeze_panes(1, 0)
        for at, column in enumerate(self._grid.columns):
            self._sheet.set_column(at, at, _WIDTHS[column.kind])
            self._sheet.write_string(0, at, fit_cell(column.name), self._formats["head"])
        self._used = 1

    def _end(self) -> None:
        self._sheet.autofilter(0, 0, self._used - 1, len(self._grid.columns) - 1)

    def _writer(self, kind: ColumnKind) -> Callable[[int, int, Any], object]:
        def text(row: int, at: int, value: Any) -> object:
            return self._sheet.write_string(row, at, fit_cell(join_values(value) if kind is ColumnKind.VALUES else str(value)))

        def number(row: int, at: int, value: Any) -> object:
            return self._sheet.write_number(row, at, value)

        def truth(row: int, at: int, value: Any) -> object:
            return self._sheet.write_boolean(row, at, bool(value))

        def time(row: int, at: int, value: Any) -> object:
            found = parse_time(value)
            # A spreadsheet has no time zones, and no dates before 1900; all times are UTC.
            if found is None or found.year < 1900:
                return text(row, at, value)
            return self._sheet.write_datetime(row, at, found.replace(tzinfo=None), self._formats["time"])

        writers = {ColumnKind.INTEGER: number, ColumnKind.REAL: number, ColumnKind.TRUTH: truth, ColumnKind.TIME: time}
        return writers.get(kind, text)


def fit_cell(text: str) -> str:
    """The text as a cell can contain it. Excel counts UTF-16 code units."""
    if not text.isprintable():
        text = _NOT_IN_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(text) * 2 > _CELL and len(encoded := text.encode("utf-16-le")) > _CELL * 2:
        return encoded[: (_CELL - 1) * 2].decode("utf-16-le", errors="ignore") + "…"
    return text
