"""Tables as CSV (RFC 4180: a header row, CRLF, UTF-8) and as JSON Lines (one object a line, times in ISO 8601).

A spreadsheet interprets a cell that begins with `=` as a formula, and crawled text may begin with anything. So in CSV a text that
begins with such a sign gets an apostrophe in front, and control characters are replaced. `raw` leaves every text unchanged, for
programs.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from tadoru.jobs.audit.export.format_support import iso_time, join_values, parse_json
from tadoru.jobs.reporting.escape import json_safe
from tadoru.store.crawl.export_reader import ExportGrid
from tadoru.store.crawl.export_tables import ColumnKind

_FORMULA_SIGNS = frozenset("=+-@\t\r＝＋－＠")
"""Signs that start a formula; full-width signs do so in Japanese spreadsheets."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def write_csv(grid: ExportGrid, out: TextIO, *, raw: bool = False, bom: bool = False) -> None:
    """Writes a table as CSV; with `bom` it begins with a byte order mark, by which Excel recognises UTF-8."""
    if bom:
        out.write("\ufeff")
    csv.writer(out).writerow([column.name if raw else escape_cell(column.name) for column in grid.columns])
    write_rows(grid, out, raw=raw)


def write_rows(grid: ExportGrid, out: TextIO, *, raw: bool = False) -> None:
    """Writes the rows without the header, for tables that are written in chunks."""
    csv.writer(out).writerows(_cells(grid, raw))


def _cells(grid: ExportGrid, raw: bool) -> Iterator[list[Any]]:
    """The rows as CSV cells. Only columns that need it are converted: a crawl has many millions of cells."""
    text = _unchanged if raw else escape_cell
    convert: dict[ColumnKind, Callable[[Any], Any]] = {
        ColumnKind.TRUTH: lambda value: "true" if value else "false",
        ColumnKind.VALUES: lambda values: text(join_values(values)),
    }
    if not raw:
        convert |= {ColumnKind.TEXT: escape_cell, ColumnKind.JSON: escape_cell}
    positions = [(position, convert[column.kind]) for position, column in enumerate(grid.columns) if column.kind in convert]
    for row in grid.rows:
        cells = list(row)
        for position, converted in positions:
            if cells[position] is not None:
                cells[position] = converted(cells[position])
        yield cells


def escape_cell(text: str) -> str:
    """The text without anything that a spreadsheet or a terminal would interpret."""
    if text[:1] in _FORMULA_SIGNS:
        text = "'" + text
    return _CONTROL.sub("\ufffd", text) if not text.isprintable() else text


def _unchanged(text: str) -> str:
    return text


def write_jsonl(grid: ExportGrid, out: TextIO) -> None:
    """Writes a table as JSON Lines; nested values stay nested."""
    names = [column.name for column in grid.columns]
    convert: dict[ColumnKind, Callable[[Any], Any]] = {
        ColumnKind.TRUTH: bool,
        ColumnKind.TIME: iso_time,
        ColumnKind.JSON: parse_json,
    }
    columns = [(column.name, convert[column.kind]) for column in grid.columns if column.kind in convert]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
    for row in grid.rows:
        record = dict(zip(names, row, strict=True))
        for name, converted in columns:
            if record[name] is not None:
                record[name] = converted(record[name])
        # Control characters are written as escapes, which every JSON parser decodes.
        line = encode(record)
        out.write(f"{line if line.isprintable() else json_safe(line)}\n")
