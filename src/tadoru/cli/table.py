"""Tables and lists of pairs on a terminal. Widths are counted in cells (two for a Japanese character); control characters are
replaced.

Rows are written as they arrive. The first rows decide the width of the columns; on a terminal a cell that is too long is cut, in
a pipe nothing is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from types import ModuleType
from typing import TextIO

from tadoru.cli.output import _
from tadoru.jobs.reporting.output import supports_colour
from tadoru.log import printable

_SAMPLED_ROWS = 200
"""Rows that decide the width of the columns."""
_GAP = "  "
_MIN_WIDTH = 8


def _cells() -> ModuleType:
    """The functions that measure and cut text in cells. Imported late: help does not need them."""
    from rich import cells

    return cells


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table. Its heading is translated when it is shown."""

    heading: str = ""
    align_right: bool = False
    """For numbers."""
    may_shrink: bool = False
    """Whether its cells may be cut to fit the terminal."""


def table_columns(*headings: str) -> tuple[TableColumn, ...]:
    """Columns by their headings: `>` behind one aligns its cells to the right, `~` lets them shrink."""
    return tuple(TableColumn(one.rstrip(">~"), align_right=one[-1:] == ">", may_shrink=one[-1:] == "~") for one in headings)


def single_line(text: str) -> str:
    """A text on one line, without control characters."""
    return printable(" ".join(text.split()))


def terminal_width(out: TextIO) -> int | None:
    """The width of the terminal; None in a pipe or a file."""
    return shutil.get_terminal_size().columns if out.isatty() or "COLUMNS" in os.environ else None


def write_table(out: TextIO, columns: Sequence[TableColumn], rows: Iterable[Sequence[str]]) -> int:
    """Write a table, or nothing if there are no rows. Returns the number of rows."""
    count, rest = 0, iter([single_line(cell) for cell in row] for row in rows)
    first = list(islice(rest, _SAMPLED_ROWS))
    if not first:
        return 0
    widths = _widths(columns, first, terminal_width(out))
    heading = _format_row(columns, [_(column.heading) for column in columns], widths)
    out.write(f"\x1b[1m{heading}\x1b[0m\n" if supports_colour(out) else f"{heading}\n")
    for row in chain(first, rest):
        out.write(_format_row(columns, row, widths) + "\n")
        count += 1
    return count


def _widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]], room: int | None) -> list[tuple[int, bool]]:
    """The width of each column, and whether its cells are cut."""
    widths = [
        max(_cells().cell_len(_(column.heading)), *(_cells().cell_len(row[place]) for row in rows))
        for place, column in enumerate(columns)
    ]
    shrinking = [place for place, column in enumerate(columns) if column.may_shrink]
    if room is None or not shrinking:
        return [(width, False) for width in widths]
    too_much = sum(widths) + len(_GAP) * (len(widths) - 1) - room
    while too_much > 0:
        widest = max(shrinking, key=lambda place: widths[place])
        if widths[widest] <= _MIN_WIDTH:
            break
        widths[widest] -= 1
        too_much -= 1
    return [(width, column.may_shrink) for width, column in zip(widths, columns, strict=True)]


def _format_row(columns: Sequence[TableColumn], row: Sequence[str], widths: Sequence[tuple[int, bool]]) -> str:
    cells = []
    for cell, column, (width, is_cut) in zip(row, columns, widths, strict=True):
        used = _cells().cell_len(cell)
        if used > width and is_cut:
            cells.append(_cells().set_cell_size(_cut(cell, width - 1) + "…", width))
        else:
            space = " " * (width - used)
            cells.append(space + cell if column.align_right else cell + space)
    return _GAP.join(cells).rstrip()


def _cut(text: str, width: int) -> str:
    return _cells().chop_cells(text, width)[0].rstrip() if text else ""


def write_pairs(out: TextIO, pairs: Iterable[tuple[str, str]], indent: str = "") -> None:
    """Write names and values in two columns; a long value is wrapped."""
    kept = [(name, text) for name, text in pairs if text]
    left = max((_cells().cell_len(name) for name, _text in kept), default=0)
    room = terminal_width(out)
    for name, text in kept:
        head = indent + name + " " * (left - _cells().cell_len(name)) + _GAP
        space = max(20, room - _cells().cell_len(head)) if room else None
        for number, line in enumerate(_wrap(text, space)):
            out.write((head if number == 0 else " " * _cells().cell_len(head)) + line + "\n")


def _wrap(text: str, width: int | None) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        yield from _break_line(single_line(line), width) if width else [single_line(line)]


def _break_line(line: str, width: int) -> Iterator[str]:
    """Lines of at most so many cells, broken at spaces where possible."""
    while _cells().cell_len(line) > width:
        start = _cells().chop_cells(line, width)[0]
        cut = start.rfind(" ")
        if cut > len(start) // 2:
            start = start[:cut]
        yield start.rstrip()
        line = line[len(start) :].lstrip()
    yield line
