"""Events as JSON and as CSV: the seed's names, times that say where they are, and cells that run nothing."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.publish.json_documents import event_json, json_array
from tadoru.jobs.events.publish.list_pages import find_city, suggest_cities
from tadoru.jobs.events.publish.rss_and_csv import COLUMNS, csv_rows
from tests.jobs.events.publish.sample_events import FIRST, STAMP, time, told, whole_days

SEED = (
    "id title description starts_at ends_at venue city lat lon category price organizer source_url source_id dedupe_key status "
    "created_at updated_at last_seen"
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_document_has_the_names_of_the_data_model() -> None:
    assert set(SEED.split()) <= set(event_json(told()))


def test_times_of_an_event_are_local_and_stamps_are_utc() -> None:
    found = event_json(told(cancelled_at=STAMP))
    assert (found["starts_at"], found["ends_at"]) == ("2026-08-01T10:00:00+09:00", "2026-08-01T12:00:00+09:00")
    assert (found["created_at"], found["cancelled_at"], found["archived_at"]) == ("2026-07-01T03:04:05Z",) * 2 + (None,)


def test_whole_days_say_so_and_end_at_the_midnight_after() -> None:
    found = event_json(told(whole_days(date(2026, 8, 1), 2)))
    assert (found["all_day"], found["has_time"]) == (True, False)
    assert (found["starts_at"], found["ends_at"]) == ("2026-08-01T00:00:00+09:00", "2026-08-03T00:00:00+09:00")


def test_a_series_lists_its_times_and_a_single_event_none() -> None:
    series = event_json(told(*(time(FIRST + timedelta(weeks=n)) for n in range(3))))
    assert [one["starts_at"][:10] for one in series["occurrences"]] == ["2026-08-01", "2026-08-08", "2026-08-15"]
    assert event_json(told())["occurrences"] == []


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_array_of_any_length_is_json(count: int) -> None:
    assert json.loads("".join(json_array({"n": n} for n in range(count)))) == [{"n": n} for n in range(count)]


def test_rows_have_a_header_and_end_as_the_standard_says() -> None:
    text = "".join(csv_rows([told(), told()]))
    assert text.count("\r\n") == 3
    assert text.endswith("\r\n")
    assert text.split("\r\n")[0] == ",".join(COLUMNS)
    assert "".join(csv_rows([], mark=True)).startswith("\ufeffid,")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1＋1"])
def test_a_cell_that_begins_like_a_formula_is_a_text(cell: str) -> None:
    assert rows("".join(csv_rows([told(title=cell)])))[0]["title"] == f"'{cell}"


def test_numbers_and_times_of_ours_stay_as_they_are() -> None:
    [row] = rows("".join(csv_rows([told(lat=-33.5, lon=151.25)])))
    assert (row["lat"], row["lon"], row["all_day"], row["archived_at"]) == ("-33.5", "151.25", "false", "")
    assert row["starts_at"] == "2026-08-01T10:00:00+09:00"


def test_the_times_of_a_series_are_one_cell() -> None:
    [row] = rows("".join(csv_rows([told(time(FIRST, FIRST + timedelta(hours=1)), time(FIRST + timedelta(days=1)))])))
    assert row["occurrences"] == "2026-08-01T10:00:00+09:00/2026-08-01T11:00:00+09:00 2026-08-02T10:00:00+09:00"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_any_text_comes_back_from_a_row_and_never_runs(words: str) -> None:
    [row] = rows("".join(csv_rows([told(title=words, venue=words)])))
    assert row["title"] in (words, f"'{words}")
    assert not row["title"].startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize(
    "asked, meant",
    [("盛岡", "盛岡市"), ("盛岡市", "盛岡市"), ("府中", None), ("滝沢", None), ("津", "津市"), ("津市", "津市"), ("", None)],
)
def test_a_city_is_found_without_its_kind_unless_two_are_called_so(asked: str, meant: str | None) -> None:
    assert find_city(asked, ["盛岡市", "府中市", "府中町", "津市"]) == meant


def test_cities_that_may_have_been_meant_are_named() -> None:
    assert suggest_cities("府中", ["盛岡市", "府中市", "府中町"]) == ("府中市", "府中町")
