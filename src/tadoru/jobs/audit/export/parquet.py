"""The Parquet format: typed columns in row groups that are streamed. Needs pyarrow, an optional extra."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO

from tadoru.jobs.audit.export.format_support import optional_library, parse_time
from tadoru.store.crawl.export_reader import ExportGrid, Row
from tadoru.store.crawl.export_tables import ColumnKind

_AT_ONCE = 500
"""Rows that are converted together."""
GROUP_BYTES = 16 * 1024 * 1024
"""Size of a row group: larger ones compress better and take more memory."""


def write_parquet(grid: ExportGrid, out: BinaryIO, *, group_bytes: int = GROUP_BYTES) -> None:
    """Writes a table."""
    with optional_library("parquet"):
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = _schema(pa, grid)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for group in _groups(_batches(pa, schema, grid), group_bytes):
            table = pa.Table.from_batches(group)
            writer.write_table(table, row_group_size=table.num_rows)


def _groups(batches: Iterator[Any], group_bytes: int) -> Iterator[list[Any]]:
    held: list[Any] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= group_bytes:
            yield held
            held, size = [], 0
    if held:
        yield held


def _schema(pa: Any, grid: ExportGrid) -> Any:
    types = {
        ColumnKind.TEXT: pa.string(),
        ColumnKind.INTEGER: pa.int64(),
        ColumnKind.REAL: pa.float64(),
        ColumnKind.TRUTH: pa.bool_(),
        ColumnKind.TIME: pa.timestamp("ms", tz="UTC"),
        ColumnKind.JSON: pa.string(),
        ColumnKind.VALUES: pa.list_(pa.string()),
    }
    return pa.schema([(column.name, types[column.kind]) for column in grid.columns])


def _batches(pa: Any, schema: Any, grid: ExportGrid) -> Iterator[Any]:
    rows = iter(grid.rows)
    while chunk := list(islice(rows, _AT_ONCE)):
        yield pa.record_batch(list(_arrays(pa, schema, grid, chunk)), schema=schema)


def _arrays(pa: Any, schema: Any, grid: ExportGrid, rows: list[Row]) -> Iterator[Any]:
    for column, field, values in zip(grid.columns, schema, zip(*rows, strict=True), strict=True):
        yield pa.array([None if value is None else convert_cell(column.kind, value) for value in values], type=field.type)


def convert_cell(kind: ColumnKind, value: Any) -> Any:
    """A cell converted to the type of its column: a column of SQLite may contain any value."""
    match kind:
        case ColumnKind.TIME:
            return parse_time(value)
        case ColumnKind.TRUTH:
            return bool(value)
        case ColumnKind.TEXT | ColumnKind.JSON:
            return str(value)
        case ColumnKind.VALUES:
            return [str(each) for each in value]
    return value
