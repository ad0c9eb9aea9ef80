"""Parquet: read back by pyarrow, with proper types and groups of rows that do not grow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.parquet import write_parquet
from tadoru.store.crawl.export_reader import ExportGrid, Row
from tadoru.store.crawl.export_tables import TABLES, ColumnKind, ExportColumn
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import NASTY, exported

pq: Any = import_module("pyarrow.parquet")


def test_pages_come_back_with_their_types(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "parquet", tmp_path / "pages.parquet")
    table = pq.read_table(wrote.files[0])
    assert table.num_rows == wrote.counts["pages"] == 10
    types = {name: str(table.schema.field(name).type) for name in ("url", "status_code", "ttfb_ms", "indexable", "crawled_at")}
    assert types == {
        "url": "string", "status_code": "int64", "ttfb_ms": "double", "indexable": "bool", "crawled_at": "timestamp[ms, tz=UTC]",
    }  # fmt: skip
    [page] = [row for row in table.to_pylist() if row["url"] == url("a")]
    assert (page["title"], page["status_code"], page["indexable"]) == (NASTY, 200, True)
    assert page["last_modified"] == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (page["extract_price"], page["extract_sku code"]) == (["=1+1"], [])


def test_every_table_is_a_file_in_the_folder(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "parquet", tmp_path / "all", tables=tuple(TABLES))
    assert {path.stem: pq.read_table(path).num_rows for path in wrote.files} == wrote.counts
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == sorted(f"{name}.parquet" for name in TABLES)


def test_a_table_without_rows_still_has_its_columns() -> None:
    out = BytesIO()
    write_parquet(ExportGrid("t", (ExportColumn("a", ColumnKind.TIME), ExportColumn("b", ColumnKind.VALUES)), iter([])), out)
    table = pq.read_table(BytesIO(out.getvalue()))
    assert (table.num_rows, table.schema.names) == (0, ["a", "b"])


def test_rows_are_written_in_groups_as_they_come() -> None:
    sizes: list[int] = []
    out = BytesIO()

    def rows() -> Iterator[Row]:
        for number in range(10_000):
            sizes.append(out.tell())
            yield (f"{number:0100}",)

    write_parquet(ExportGrid("t", (ExportColumn("a", ColumnKind.TEXT),), rows()), out, group_bytes=200_000)
    file = pq.ParquetFile(BytesIO(out.getvalue()))
    assert file.metadata.num_rows == 10_000
    assert file.num_row_groups == 5
    assert len(set(sizes)) == 5, "what was written grew while rows still came"


@pytest.mark.parametrize("text", ["yesterday", "", "2024-13-01"])
def test_what_is_no_time_is_nothing(text: str) -> None:
    out = BytesIO()
    write_parquet(ExportGrid("t", (ExportColumn("a", ColumnKind.TIME),), iter([(text,)])), out)
    assert pq.read_table(BytesIO(out.getvalue())).to_pylist() == [{"a": None}]


def test_without_its_library_there_is_a_sentence(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"Packages for --format parquet are not installed\. .*pip install .*\[parquet\]'"):
        exported(store, "parquet", tmp_path / "p.parquet")
    assert list(tmp_path.iterdir()) == []
