"""Tables as CSV and as JSON Lines."""

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

_ACTING = frozenset("=+-@\t\r＝＋－＠")
"""The full-width signs count in Japanese spreadsheets."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def write_csv(grid: ExportGrid, out: TextIO, *, raw: bool = False, bom: bool = False) -> None:
    """Writes the table. `bom`: with the mark by which Excel knows UTF-8."""
    if bom:
        out.write("\ufeff")
    csv.writer(out).writerow([column.name if raw else escape_cell(column.name) for column in grid.columns])
    write_rows(grid, out, raw=raw)


def write_rows(grid: ExportGrid, out: TextIO, *, raw: bool = False) -> None:
    """Writes the rows without their header, for who writes a table in parts."""
    csv.writer(out).writerows(_cells(grid, raw))


def _cells(grid: ExportGrid, raw: bool) -> Iterator[list[Any]]:
    """The rows as CSV has them. Only columns that need it are touched: a crawl has many millions of cells."""
    text = _unchanged if raw else escape_cell
    convert: dict[ColumnKind, Callable[[Any], Any]] = {
        ColumnKind.TRUTH: lambda value: "true" if value else "false",
        ColumnKind.VALUES: lambda values: text(join_values(values)),
    }
    if not raw:
        convert |= {ColumnKind.TEXT: escape_cell, ColumnKind.JSON: escape_cell}
    places = [(place, convert[column.kind]) for place, column in enumerate(grid.columns) if column.kind in convert]
    for row in grid.rows:
        cells = list(row)
        for place, converted in places:
            if cells[place] is not None:
                cells[place] = converted(cells[place])
        yield cells


def escape_cell(text: str) -> str:
    """The text with nothing in it that a spreadsheet or a terminal would act on."""
    if text[:1] in _ACTING:
        text = "'" + text
    return _CONTROL.sub("\ufffd", text) if not text.isprintable() else text


def _unchanged(text: str) -> str:
    return text


def write_jsonl(grid: ExportGrid, out: TextIO) -> None:
    """Writes the table."""
    names = [column.name for column in grid.columns]
    convert: dict[ColumnKind, Callable[[Any], Any]] = {
        ColumnKind.TRUTH: bool,
        ColumnKind.TIME: iso_time,
        ColumnKind.JSON: parse_json,
    }
    places = [(column.name, convert[column.kind]) for column in grid.columns if column.kind in convert]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
    for row in grid.rows:
        record = dict(zip(names, row, strict=True))
        for name, converted in places:
            if record[name] is not None:
                record[name] = converted(record[name])
        # Whatever could steer a terminal is written as an escape, which any reader turns back.
        line = encode(record)
        out.write(f"{line if line.isprintable() else json_safe(line)}\n")
