"""CSV: read back by the standard library, harmless in a spreadsheet, and exact when asked for."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.export.csv_jsonl import escape_cell, write_csv
from tadoru.store.crawl.export_reader import ExportGrid
from tadoru.store.crawl.export_tables import TABLES, ColumnKind, ExportColumn
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import CRAWLED, NASTY, exported


def rows_of(text: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.decode("utf-8"), newline="")))


def page(rows: list[dict[str, str]], path: str) -> dict[str, str]:
    [found] = [row for row in rows if row["url"] == url(path)]
    return found


def test_a_row_for_every_url_and_a_header(store: SqliteStore) -> None:
    wrote, text = exported(store, "csv")
    rows = rows_of(text)
    assert [row["url"] for row in rows] == sorted(row["url"] for row in rows)
    assert len(rows) == wrote.counts["pages"] == 10
    assert wrote.files == []
    assert list(rows[0])[:5] == ["url", "internal", "purpose", "status", "status_code"]
    assert all(line.endswith(b"\r\n") for line in text.splitlines(keepends=True) if b"two lines" not in line)


def test_values_are_written_by_their_kind(store: SqliteStore) -> None:
    rows = rows_of(exported(store, "csv")[1])
    home = page(rows, "")
    assert (home["internal"], home["indexable"], home["status_code"], home["ttfb_ms"]) == ("true", "true", "200", "12.5")
    assert (home["crawled_at"], home["last_modified"]) == (CRAWLED, "2023-12-31 23:59:59")
    assert (home["link_score"], home["inlinks"], home["depth"]) == ("100.0", "3", "0")
    assert page(rows, "old")["redirect_url"] == url("a")
    assert page(rows, "a")["parent_url"] == url("")
    down = page(rows, "down")
    assert (down["status"], down["error_type"], down["status_code"], down["indexable"]) == ("error", "timeout", "", "false")


def test_what_was_extracted_has_columns_of_its_own(store: SqliteStore) -> None:
    rows = rows_of(exported(store, "csv")[1])
    assert list(rows[0])[-2:] == ["extract_price", "extract_sku code"]
    assert [page(rows, path)["extract_price"] for path in ("", "a", "gone")] == ["10 | 20", "'=1+1", ""]


def test_no_cell_is_a_formula_or_steers_a_terminal(store: SqliteStore) -> None:
    for table in TABLES:
        text = exported(store, "csv", tables=(table,))[1]
        cells = [cell for row in csv.reader(io.StringIO(text.decode(), newline="")) for cell in row]
        assert [cell for cell in cells if cell[:1] in {*"=+-@\t\r"}] == []
        assert b"\x1b" not in text
    assert page(rows_of(exported(store, "csv")[1]), "a")["title"] == "'" + NASTY.replace("\x1b", "\ufffd")


def test_raw_is_what_the_page_said(store: SqliteStore) -> None:
    rows = rows_of(exported(store, "csv", raw=True)[1])
    assert page(rows, "a")["title"] == NASTY
    assert page(rows, "a")["extract_price"] == "=1+1"


def test_excel_gets_its_mark_once_and_only_when_asked(store: SqliteStore) -> None:
    assert exported(store, "csv", bom=True)[1] == b"\xef\xbb\xbf" + exported(store, "csv")[1]


def test_gzip_is_the_same_bytes_inside_whether_by_option_or_by_name(store: SqliteStore, tmp_path: Path) -> None:
    plain = exported(store, "csv")[1]
    assert gzip.decompress(exported(store, "csv", gzip=True)[1]) == plain
    exported(store, "csv", tmp_path / "pages.csv.gz")
    exported(store, "csv", tmp_path / "named", gzip=True)
    assert gzip.decompress((tmp_path / "pages.csv.gz").read_bytes()) == plain
    assert (tmp_path / "named").read_bytes() == (tmp_path / "pages.csv.gz").read_bytes()


def test_nested_values_are_json_in_a_cell(store: SqliteStore) -> None:
    [item] = rows_of(exported(store, "csv", tables=("structured_data",))[1])
    assert json.loads(item["properties"]) == {"name": ["日本"], "depth": {"n": 1}}


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx", "＝1", "－1"])
def test_what_a_spreadsheet_would_act_on_gets_an_apostrophe(text: str) -> None:
    assert escape_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-2", "日本", " =1", "'=1", "a\nb\tc"])
def test_what_it_would_not_act_on_stays(text: str) -> None:
    assert escape_cell(text) == text


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(texts, st.none() | texts, st.none() | st.integers()), max_size=5))
def test_raw_rows_come_back_as_they_were(rows: list[tuple[str, str | None, int | None]]) -> None:
    columns = (ExportColumn("url", ColumnKind.TEXT), ExportColumn("=b", ColumnKind.JSON), ExportColumn("n", ColumnKind.INTEGER))
    out = io.StringIO(newline="")
    write_csv(ExportGrid("t", columns, iter(rows)), out, raw=True)
    back = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert back == [["url", "=b", "n"], *[["" if cell is None else str(cell) for cell in row] for row in rows]]
