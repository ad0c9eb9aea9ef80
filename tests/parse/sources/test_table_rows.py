"""The bytes of a table: charsets, delimiters, quotes, cells without end, and what `csv` writes."""

from __future__ import annotations

import csv
import io
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.event import ParsedSource
from tadoru.parse.sources.table import (
    MOST_CELLS,
    MOST_FAILURES,
    MOST_LINES,
    MOST_LINES_IN_ALL,
    MOST_PROBLEMS,
    TableSettings,
    read_csv,
    rows_of,
)

URL = "https://town.test/open/events.csv"
TEXT = "イベント名,開始日,会場,説明\n星まつり,2026-08-01,役場前広場,街灯を消します\n茶会,2026-08-02,公民館,\n"


def read(body: bytes, content_type: str | None = None, **settings: object) -> ParsedSource:
    return read_csv(body, content_type, URL, TableSettings.from_mapping(settings))


def titles(reading: ParsedSource) -> list[str | None]:
    assert reading.problems == ()
    return [event.title for event in reading.events]


@pytest.mark.parametrize("content_type", [None, "text/csv", "text/csv; charset=utf-8", "text/csv; charset=Shift_JIS"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "utf-16-le", "utf-16-be", "iso2022_jp"])
def test_the_names_of_the_columns_tell_the_charset_whatever_the_server_says(codec: str, content_type: str | None) -> None:
    assert titles(read(TEXT.encode(codec), content_type)) == ["星まつり", "茶会"]


def test_the_signs_of_windows_are_read_in_shift_jis() -> None:
    body = TEXT.replace("星まつり", "①髙﨑～祭Ⅱ").encode("cp932")
    assert titles(read(body))[0] == "①髙﨑～祭Ⅱ"


def test_the_charset_can_be_said() -> None:
    settings = {"columns": {"title": "1", "start": "2"}, "header": 0}
    body = "祭,2026-08-01\n".encode("euc_jp")
    assert titles(read(body, encoding="EUC-JP", **settings)) == ["祭"]


def test_bytes_that_do_not_fit_are_said_and_the_rest_is_read() -> None:
    reading = read(TEXT.encode().replace("茶".encode(), b"\xff"))
    assert [event.title for event in reading.events] == ["星まつり", "\ufffd会"]
    [problem] = reading.problems
    assert problem.reason == "Some bytes are not utf-8 and were replaced."


def test_nul_is_left_out() -> None:
    reading = read(TEXT.replace("星まつり", "星\0まつり").replace("説明", "説\0明").encode())
    assert titles(reading) == ["星まつり", "茶会"]
    assert reading.events[0].extra == {}
    assert reading.events[0].description == "街灯を消します"


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_found(delimiter: str, line_end: str) -> None:
    assert titles(read(TEXT.replace(",", delimiter).replace("\n", line_end).encode())) == ["星まつり", "茶会"]


def test_the_delimiter_can_be_said() -> None:
    text = "title;start\nA, B;2026-08-01\n"
    assert titles(read(text.encode(), delimiter="semicolon")) == ["A, B"]


def test_line_ends_and_delimiters_in_quotes_belong_to_the_cell() -> None:
    text = 'イベント名,開始日,説明\n"星,""まつり""",2026-08-01,"一\r\n二\n\n三"\n茶会,2026-08-02,x\n'
    reading = read(text.encode())
    assert titles(reading) == ['星,"まつり"', "茶会"]
    assert reading.events[0].description == "一\n二\n\n三"
    assert [event.position for event in reading.events] == ["row 2", "row 3"]


@pytest.mark.parametrize("count", [1, MOST_LINES + 10])
def test_a_quote_that_is_never_closed_costs_its_own_row_only(count: int) -> None:
    body = TEXT + '"開いた,2026-08-03,広場,\n' + "雪,2026-08-04,広場,x\n" * count
    reading = read(body.encode())
    assert [event.title for event in reading.events] == ["星まつり", "茶会", *["雪"] * count]
    [problem] = reading.problems
    assert (problem.position, problem.reason) == ("row 4", "A quote is opened and not closed.")


def test_a_giant_cell_costs_its_own_row_only() -> None:
    reading = read((TEXT + f"雪,2026-08-03,広場,{'x' * 200_000}\n月,2026-08-04,広場,{'x' * 100_000}\n").encode())
    assert [event.title for event in reading.events] == ["星まつり", "茶会", "月"]
    assert [problem.position for problem in reading.problems] == ["row 4"]
    assert len(reading.problems[0].sample) <= 300


def test_quotes_made_to_be_read_again_and_again_have_an_end() -> None:
    # Each line leaves a quote open, whether or not one is open before it.
    rows = list(rows_of('a","""\n' * 100_000, ","))
    assert len(rows) == MOST_FAILURES + 1
    assert "the rest of the table was not tried" in rows[-1].trouble


def test_a_hundred_thousand_rows_are_as_many_events() -> None:
    reading = read(("title,start\n" + "A,2026-08-01\n" * 100_000).encode())
    assert (len(reading.events), reading.problems) == (100_000, ())
    assert reading.events[-1].position == "row 100001"


@given(st.binary(max_size=300), st.none() | st.sampled_from(["text/csv; charset=shift_jis", "text/csv; charset=utf-16"]))
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    read(body, content_type)
    read(body, content_type, header=0, columns={"title": "1"})


_CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


@given(
    st.lists(st.lists(_CELL, min_size=3, max_size=3), max_size=8),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_what_csv_writes_is_read_back(rows: list[list[str]], delimiter: str, codec: str, quoting: int) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(["イベント名", "開始日", "会場"])
    writer.writerows(rows)
    reading = read(out.getvalue().encode(codec))
    found = {event.position: (event.title, event.start, event.venue) for event in reading.events}
    # A cell may hold the sign for bytes that could not be read.
    assert {problem.position for problem in reading.problems} <= {"table"}
    for number, row in enumerate(rows, 2):
        cells = tuple(cell.strip() or None for cell in row)
        if any(cells):
            assert found.pop(f"row {number}") == cells
    assert not found


@pytest.mark.parametrize("columns", [2, 50, 5_000])
def test_a_table_is_read_up_to_a_number_of_cells_that_is_told(columns: int) -> None:
    rows = MOST_CELLS // (columns + 3)
    beside = "".join(f",c{number}" for number in range(columns - 2)), ",x" * (columns - 2)
    found = read((f"イベント名,開始日{beside[0]}\n" + f"祭り,2026-05-01{beside[1]}\n" * (rows + 3)).encode())
    assert len(found.events) == rows
    assert [problem.position for problem in found.problems] == [f"row {rows + 2}"]
    assert found.problems[0].reason == f"The table has more than {MOST_CELLS:,} cells: the rows from here on were not read."


def test_a_table_of_millions_of_empty_lines_is_read_up_to_a_bound_that_is_told() -> None:
    found = read(("イベント名,開始日\n祭り,2026-05-01\n" + "\n" * MOST_LINES_IN_ALL + "茶会,2026-05-02\n").encode())
    assert [event.title for event in found.events] == ["祭り"]
    assert [problem.reason for problem in found.problems] == [
        f"Only the first {MOST_LINES_IN_ALL:,} lines of the table were read."
    ]


def test_of_rows_with_the_wrong_number_of_cells_so_many_are_told_and_all_are_read() -> None:
    number = MOST_PROBLEMS + 500
    found = read(("イベント名,開始日,会場\n" + "祭り,2026-05-01\n" * number).encode())
    assert len(found.events) == number
    assert len(found.problems) == MOST_PROBLEMS + 1
    assert found.problems[0].reason == "The row has 2 cells and the table 3 columns."
    assert found.problems[-1].reason == "And 500 more problems."


def test_that_the_rest_is_not_read_is_told_after_any_number_of_problems() -> None:
    found = read(("イベント名,開始日,会場\n" + "祭り,2026-05-01\n" * MOST_PROBLEMS * 2 + "\n" * MOST_LINES_IN_ALL).encode())
    assert found.problems[-2].reason == f"Only the first {MOST_LINES_IN_ALL:,} lines of the table were read."


def test_one_event_more_than_asked_for_is_read_from_a_table() -> None:
    table = ("イベント名,開始日\n" + "祭り,2026-05-01\n" * 20).encode()
    assert len(read_csv(table, None, "https://town.example/", max_events=5).events) == 6


def test_of_the_rows_with_one_start_one_more_than_asked_for_is_read_and_those_after_it_count_as_read() -> None:
    rows = "".join(f"祭り{number},2026-05-01\n" for number in range(20)) + "花火,2026-06-01\n" * 5
    table = f"イベント名,開始日\n{rows}".encode()
    found = read_csv(table, None, "https://town.example/", max_events=22, max_same_start=3).events
    assert [event.start for event in found] == ["2026-05-01"] * 4 + ["2026-06-01"] * 3


def test_rows_without_a_start_are_not_counted_as_rows_with_one_start() -> None:
    table = ("イベント名,開始日,内容\n" + "祭り,,5月1日\n" * 9).encode()
    assert len(read_csv(table, None, "https://town.example/", max_same_start=3).events) == 9


@pytest.mark.parametrize("row", ["祭り{n},2026-05-01\n", "x\n", "祭り,2026-05-01,x,y,z\n"])
def test_as_many_rows_as_are_read_take_seconds(row: str) -> None:
    table = ("イベント名,開始日\n" + "".join(row.format(n=number) for number in range(100_000))).encode()
    began = process_time()
    read(table)
    assert process_time() - began < 4, "twice what it may take on a quiet machine"
