"""The JSONL form: one object a line. What is nested stays nested; times are ISO 8601."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TextIO

from tadoru.jobs.audit.export.cells import iso, nested
from tadoru.jobs.report.escape import json_safe
from tadoru.store.dump import Grid
from tadoru.store.dump_tables import Kind


def write_jsonl(grid: Grid, out: TextIO) -> None:
    """Writes the table."""
    names = [column.name for column in grid.columns]
    convert: dict[Kind, Callable[[Any], Any]] = {Kind.TRUTH: bool, Kind.TIME: iso, Kind.JSON: nested}
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
