"""Excel: read back by another library; what Excel cannot hold is cut, and nothing is a formula or a hyperlink."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.xlsx import fit_cell, write_xlsx
from tadoru.store.crawl.export_reader import ExportGrid, Row
from tadoru.store.crawl.export_tables import TABLES, ColumnKind, ExportColumn
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import NOW, exported

openpyxl: Any = import_module("openpyxl")


def sheet_of(grid: ExportGrid, folder: Path, **options: Any) -> Any:
    """A workbook with one table, read back."""
    out = BytesIO()
    write_xlsx([grid], out, folder=folder, now=NOW, **options)
    assert list(folder.iterdir()) == []
    return openpyxl.load_workbook(BytesIO(out.getvalue()))


def test_a_sheet_for_each_table_with_a_header_that_stays_and_a_filter(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "xlsx", tmp_path / "site.xlsx", tables=("pages", "findings", "sitemaps"))
    book = openpyxl.load_workbook(wrote.files[0])
    assert book.sheetnames == ["pages", "findings", "sitemaps"]
    pages = book["pages"]
    assert (pages.freeze_panes, pages.max_row) == ("A2", 11)
    assert pages.auto_filter.ref == pages.dimensions
    assert pages["A1"].font.bold
    assert book.properties.created == NOW.replace(tzinfo=None)


def test_values_are_typed_and_texts_are_texts(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "xlsx", tmp_path / "site.xlsx", tables=("pages",))
    rows = list(openpyxl.load_workbook(wrote.files[0])["pages"].iter_rows())
    names = [cell.value for cell in rows[0]]
    [page] = [dict(zip(names, row, strict=True)) for row in rows[1:] if row[0].value == url("a")]
    assert page["title"].data_type == "s"
    assert page["title"].value.startswith("=HYPERLINK(")
    assert "\x1b" not in page["title"].value
    assert page["url"].hyperlink is None
    assert (page["status_code"].value, page["indexable"].value, page["link_score"].value) == (200, True, 50.5)
    assert page["last_modified"].value == datetime.fromisoformat("2024-01-02T03:04:05")
    assert page["extract_price"].value == "=1+1"
    assert page["redirect_url"].value is None


def test_every_table_fits_in_a_workbook(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "xlsx", tmp_path / "site.xlsx", tables=tuple(TABLES))
    book = openpyxl.load_workbook(wrote.files[0], read_only=True)
    assert {name: len(list(book[name].iter_rows())) - 1 for name in TABLES} == wrote.counts


def test_a_full_sheet_goes_on_in_the_next(tmp_path: Path) -> None:
    rows: Iterator[Row] = ((number,) for number in range(10))
    book = sheet_of(ExportGrid("links", (ExportColumn("n", ColumnKind.INTEGER),), rows), tmp_path, rows_of_a_sheet=5)
    assert book.sheetnames == ["links", "links 2", "links 3"]
    found = {sheet.title: [row[0].value for row in sheet.iter_rows()] for sheet in book}
    assert found == {"links": ["n", 0, 1, 2, 3], "links 2": ["n", 4, 5, 6, 7], "links 3": ["n", 8, 9]}
    assert all(sheet.freeze_panes == "A2" for sheet in book)


def test_exactly_full_is_one_sheet(tmp_path: Path) -> None:
    book = sheet_of(ExportGrid("t", (ExportColumn("n", ColumnKind.INTEGER),), iter([(1,), (2,)])), tmp_path, rows_of_a_sheet=3)
    assert book.sheetnames == ["t"]


def test_a_time_before_excel_s_first_day_is_text(tmp_path: Path) -> None:
    columns = (ExportColumn("a", ColumnKind.TIME), ExportColumn("b", ColumnKind.TIME))
    sheet = sheet_of(ExportGrid("t", columns, iter([("1601-01-01 00:00:00", "never")])), tmp_path)["t"]
    assert [cell.value for cell in sheet[2]] == ["1601-01-01 00:00:00", "never"]


@pytest.mark.parametrize(
    "text, units",
    [
        pytest.param("x" * 32_767, 32_767, id="as long as it may be"),
        pytest.param("x" * 32_768, 32_767, id="one too long"),
        pytest.param("𝕏" * 20_000, 32_767, id="characters that count twice"),
        pytest.param("x" + "𝕏" * 20_000, 32_766, id="never half of one"),
    ],
)
def test_a_text_too_long_for_a_cell_is_cut(text: str, units: int) -> None:
    found = fit_cell(text)
    assert len(found.encode("utf-16-le")) // 2 == units
    assert found.endswith("…") == (len(text.encode("utf-16-le")) // 2 > 32_767)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_any_text_makes_a_workbook_that_can_be_read(texts: list[str]) -> None:
    out = BytesIO()
    grid = ExportGrid("t", (ExportColumn("a", ColumnKind.TEXT),), iter([(text,) for text in texts]))
    write_xlsx([grid], out, folder=Path(tempfile.gettempdir()), now=NOW)
    sheet = openpyxl.load_workbook(BytesIO(out.getvalue()))["t"]
    assert [row[0].value for row in sheet.iter_rows(min_row=2)] == list(map(fit_cell, texts))
    assert all(len(found) == len(text) for text, found in zip(texts, map(fit_cell, texts), strict=True) if "\r" not in text)


def test_without_its_library_there_is_a_sentence(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(UsageError, match=r"Packages for --format xlsx are not installed\. .*pip install .*\[xlsx\]'"):
        exported(store, "xlsx", tmp_path / "p.xlsx")
    assert list(tmp_path.iterdir()) == []
