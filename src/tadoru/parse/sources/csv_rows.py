"""The text and the rows of a table in a CSV file: its charset, its delimiter, its header, quoted line breaks.

What the columns mean is in `columns`, and what a row becomes in `table`.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from tadoru.parse.decode import CODECS, DecodedText, decode, header_charset, sniff
from tadoru.parse.sources.table import ROLES, letters

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
FIRST_ROWS = 30
"""The header is looked for in so many."""
MOST_LINES = 200
"""Of one row: a quote that is never closed would take in the rest of the table."""
MOST_LINES_IN_ALL = 300_000
"""Of one table, the empty ones too."""
MOST_FAILURES = 500
"""Of one table: after each the reading goes on at the next line, so lines that are read again and again must have an end."""
_SAMPLE = 32 * 1024
_CHARSETS = ("utf-8", "shift_jis", "euc-jp", "utf-16le", "utf-16be", "iso-2022-jp")
_CELLS = re.compile(r"[,;\t\r\n]")

IsKnown = Callable[[str], bool]
"""Whether a cell is the name of a column that means something."""


class TableRow(NamedTuple):
    """One row of a table."""

    number: int
    """Counted as a spreadsheet counts: the first of the file is 1."""
    cells: list[str]
    trouble: str = ""
    """Why its cells can not be trusted; a sentence."""


def text_of_table(body: bytes, content_type: str | None, encoding: str, is_known: IsKnown) -> DecodedText:
    """The text of a table. Names of columns tell the charset better than anything a server says about a file."""
    if encoding:
        text = body.decode(CODECS[encoding], "replace").removeprefix("\ufeff")
        return DecodedText(text, encoding, "setting", "\ufffd" in text)
    if sniff(body).source == "bom":
        return decode(body)
    declared = header_charset(content_type or "")
    best: tuple[int, bool] = (0, False)
    chosen = ""
    for name in dict.fromkeys([*([declared] if declared else []), *_CHARSETS]):
        decoder = codecs.getincrementaldecoder(CODECS[name])("replace")
        sample = decoder.decode(body[:_SAMPLE])
        names = {cell.strip(' "') for cell in _CELLS.split(sample)}
        score = (sum(map(is_known, names)), "\ufffd" not in sample)
        if score[0] and score > best:
            best, chosen = score, name
    if not chosen:
        return decode(body, content_type)
    text = body.decode(CODECS[chosen], "replace")
    return DecodedText(text, chosen, "detected", "\ufffd" in text)


def rows_of(text: str, delimiter: str) -> Iterator[TableRow]:
    """The rows of a table, the empty ones too."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    number = failures = 0
    while lines.start_row():
        number += 1
        cells, trouble = _cells(reader, lines)
        if trouble:
            failures += 1
            lines.back_to_second_line()
        if failures > MOST_FAILURES:
            yield TableRow(number, [], f"More than {MOST_FAILURES} rows can not be read, so the rest of the table was not tried.")
            return
        yield TableRow(number, cells, trouble)
    if lines.are_cut:
        yield TableRow(number + 1, [], f"Only the first {MOST_LINES_IN_ALL:,} lines of the table were read.")


def _cells(reader: Iterator[list[str]], lines: _Lines) -> tuple[list[str], str]:
    """The cells of the next row, and why they can not be trusted."""
    try:
        cells = next(reader, [])
    except csv.Error:
        return [], f"The row can not be read: a cell has more than {csv.field_size_limit()} characters."
    return cells, "A quote is opened and not closed." if lines.is_overrun else ""


class _Lines:
    """The lines of a text, a row at a time: the reader of CSV is stopped when it takes too many for one row."""

    def __init__(self, text: str) -> None:
        lines = io.StringIO(text, newline=None)
        self._lines = list(islice(lines, MOST_LINES_IN_ALL))
        self.are_cut = bool(lines.read(1))
        self._at = self._first = 0
        self.is_overrun = False

    def start_row(self) -> bool:
        """Whether there is one more row."""
        self._first, self.is_overrun = self._at, False
        return self._at < len(self._lines)

    def back_to_second_line(self) -> None:
        self._at = self._first + 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._at >= len(self._lines) or self._at - self._first >= MOST_LINES:
            # Asked for one more line in the middle of a row: its quotes are open.
            self.is_overrun = True
            raise StopIteration
        self._at += 1
        return self._lines[self._at - 1]


class TableHeader(NamedTuple):
    """Where the names of the columns are."""

    delimiter: str
    row: int
    """0: there is none."""
    names: list[str]


def find_header(text: str, delimiters: tuple[str, ...], row: int | None, is_known: IsKnown) -> TableHeader | None:
    """The row with the most names that are known, among the first ones; None when no row has two of them."""
    best, found = 0, None
    start = text[: 4 * _SAMPLE]
    for delimiter in delimiters:
        for candidate in islice(rows_of(start, delimiter), FIRST_ROWS if row is None else row or 1):
            names = _trimmed(candidate.cells)
            if row == 0:
                names = [str(number) for number in range(1, len(names) + 1)]
            elif row is not None and candidate.number != row:
                continue
            score = len({letters(name) for name in names if is_known(name)}) if row != 0 else len(names)
            if score > best:
                best, found = score, TableHeader(delimiter, 0 if row == 0 else candidate.number, names)
    return found if best >= 2 or (row is not None and best) else None


def _trimmed(cells: list[str]) -> list[str]:
    """The names in a header, without the empty ones at its end."""
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def is_known_name(cell: str) -> bool:
    return len(cell) < 60 and letters(cell) in ROLES
