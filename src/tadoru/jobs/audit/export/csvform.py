"""The CSV form, as RFC 4180 has it: a header row, CRLF, UTF-8.

A spreadsheet takes a cell that begins with `=` for a formula, and a title is whatever a stranger wrote. So a text that begins
with a sign which a spreadsheet might act on gets an apostrophe in front, and control characters, which might steer a terminal,
become a replacement mark. `raw` leaves every text as it is, for programs.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from tadoru.jobs.audit.export.cells import joined
from tadoru.store.dump import Grid
from tadoru.store.dump_tables import Kind

_ACTING = frozenset("=+-@\t\r＝＋－＠")
"""The full-width signs count in Japanese spreadsheets."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def write_csv(grid: Grid, out: TextIO, *, raw: bool = False, bom: bool = False) -> None:
    """Writes the table. `bom`: with the mark by which Excel knows UTF-8."""
    if bom:
        out.write("\ufeff")
    csv.writer(out).writerow([column.name if raw else harmless(column.name) for column in grid.columns])
    write_rows(grid, out, raw=raw)


def write_rows(grid: Grid, out: TextIO, *, raw: bool = False) -> None:
    """Writes the rows without their header, for who writes a table in parts."""
    csv.writer(out).writerows(_cells(grid, raw))


def _cells(grid: Grid, raw: bool) -> Iterator[list[Any]]:
    """The rows as CSV has them. Only columns that need it are touched: a crawl has many millions of cells."""
    text = _as_it_is if raw else harmless
    convert: dict[Kind, Callable[[Any], Any]] = {
        Kind.TRUTH: lambda value: "true" if value else "false",
        Kind.VALUES: lambda values: text(joined(values)),
    }
    if not raw:
        convert |= {Kind.TEXT: harmless, Kind.JSON: harmless}
    places = [(place, convert[column.kind]) for place, column in enumerate(grid.columns) if column.kind in convert]
    for row in grid.rows:
        cells = list(row)
        for place, converted in places:
            if cells[place] is not None:
                cells[place] = converted(cells[place])
        yield cells


def harmless(text: str) -> str:
    """The text with nothing in it that a spreadsheet or a terminal would act on."""
    if text[:1] in _ACTING:
        text = "'" + text
    return _CONTROL.sub("\ufffd", text) if not text.isprintable() else text


def _as_it_is(text: str) -> str:
    return text
