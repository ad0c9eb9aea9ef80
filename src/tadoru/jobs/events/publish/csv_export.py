"""Events as CSV (RFC 4180): a header, one row per event, the columns of `json_documents` without `extra`.

Spreadsheets execute a cell that starts like a formula. Texts of a source that do get an apostrophe in front; numbers and times
stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from tadoru.jobs.events.publish.json_documents import EVENT_FIELDS, event_json
from tadoru.store.calendar.records import EventRecord

COLUMNS = tuple(name for name in EVENT_FIELDS if name != "extra")
BYTE_ORDER_MARK = "\ufeff"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Full-width signs start a formula too in some programs."""


def csv_rows(events: Iterable[EventRecord], *, mark: bool = False) -> Iterator[str]:
    """The rows with line ends; `mark` adds a byte order mark, which Excel needs."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    yield (BYTE_ORDER_MARK if mark else "") + _taken(buffer)
    for record in events:
        row = event_json(record)
        writer.writerow([_cell(row[name]) for name in COLUMNS])
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return " ".join(f"{one['starts_at']}/{one['ends_at']}" if one["ends_at"] else one["starts_at"] for one in value)
        case str():
            return escape_formula(value)
    return value


def escape_formula(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
