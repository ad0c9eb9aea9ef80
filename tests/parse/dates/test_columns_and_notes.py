"""Dates that stand in columns, with an end, times and a note beside them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tadoru.parse.dates import ParsedDate, UnreadableDate, YearSource, read_when, without_repeats
from tests.parse.dates.test_written_forms import NOW, TOKYO, show

BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str | date, zone: ZoneInfo = TOKYO, **beside: str | date) -> ParsedDate:
    found = read_when(text, now=NOW, zone=zone, **beside)  # type: ignore[arg-type]
    assert isinstance(found, ParsedDate), found
    return found


@pytest.mark.parametrize(
    "start, beside, expected",
    [
        ("2026-08-01", {"end": "2026-08-01"}, "2026-08-01/2026-08-01"),
        ("2026-08-01", {"end": "2026-08-03"}, "2026-08-01/2026-08-03"),
        ("2026-08-01", {"start_time": "10:00", "end_time": "12:00"}, "2026-08-01T10:00/12:00"),
        (
            "2026-08-01",
            {"end": "2026-08-02", "start_time": "10:00", "end_time": "17:00"},
            "2026-08-01T10:00/17:00 2026-08-02T10:00/17:00",
        ),
        ("2026/8/1", {"start_time": "午後1時30分", "end_time": "3時"}, "2026-08-01T13:30/15:00"),
        ("2026/8/1", {"start_time": "930", "end_time": "1130"}, "2026-08-01T09:30/11:30"),
        ("2026/8/1", {"start_time": "0.4375"}, "2026-08-01T10:30"),
        ("2026/8/1", {"start_time": "10:00～12:00"}, "2026-08-01T10:00/12:00"),
        ("2026/8/1", {"start_time": "10:00～", "end_time": "12:00頃"}, "2026-08-01T10:00/12:00"),
        ("2026/8/1", {"start_time": "18:00", "end_time": "25:00"}, "2026-08-01T18:00/2026-08-02T01:00"),
        ("2026/8/1", {"start_time": "未定"}, "2026-08-01"),
        ("2026/8/1", {"start_time": "99:00", "end_time": "15:00"}, "2026-08-01"),
        ("2026/8/1", {"end_time": "15:00"}, "2026-08-01"),
        ("2026/8/1 0:00:00", {"start_time": "10:00"}, "2026-08-01T10:00"),
        ("2026-08-01", {"end": "2026-08-31", "start_time": "00:00", "end_time": "23:59"}, "2026-08-01/2026-08-31"),
        ("2026/8/1", {"end": "2026/8/9", "start_time": "16:00", "end_time": "0:00"}, "2026-08-01T16:00/2026-08-10T00:00"),
        ("2026/8/1", {"end": "2026/8/2", "start_time": "16:00", "end_time": "0:00"}, "2026-08-01T16:00/2026-08-02T00:00"),
        ("令和8年8月1日", {"end": "8月3日"}, "2026-08-01/2026-08-03"),
        ("46235", {"end": "46237"}, "2026-08-01/2026-08-03"),
        ("2026-08-01", {"end": "2026-07-30"}, "2026-08-01"),
        ("2026-08-01", {"end": "いつか"}, "2026-08-01"),
        (date(2026, 8, 1), {"end": date(2026, 8, 3)}, "2026-08-01/2026-08-03"),
        (datetime(2026, 8, 1, 10), {"end": datetime(2026, 8, 1, 12)}, "2026-08-01T10:00/12:00"),  # noqa: DTZ001 - naive is meant
        (datetime(2026, 8, 1, 1, tzinfo=UTC), {}, "2026-08-01T10:00"),
        (datetime(2026, 8, 1, 9, 18, 59, tzinfo=timezone(timedelta(hours=9, minutes=18, seconds=59))), {}, "2026-08-01T09:00"),
    ],
)
def test_columns_are_read_together(start: str | date, beside: dict[str, str | date], expected: str) -> None:
    assert show(read(start, **beside)) == expected


@pytest.mark.parametrize(
    "beside, expected",
    [
        ({"note": "13:30開場"}, "2026-08-01 d13:30"),
        ({"start_time": "14:00", "note": "開場は30分前"}, "2026-08-01T14:00 d13:30"),
        ({"start_time": "14:00", "note": "開場15:00"}, "2026-08-01T14:00"),
        ({"note": "午前10時から正午、午後1時から午後3時"}, "2026-08-01T10:00/12:00 2026-08-01T13:00/15:00"),
        ({"note": "第1部:10時~11時(受付は、9時半から)、第2部:13時~14時"}, "2026-08-01T10:00/11:00 2026-08-01T13:00/14:00"),
        ({"note": "8月1日(土)10時～11時、8月1日(土)13時～14時"}, "2026-08-01T10:00/11:00 2026-08-01T13:00/14:00"),
        ({"note": "毎週土曜:10時～11時・19時～20時"}, "2026-08-01T10:00/11:00 2026-08-01T19:00/20:00"),
        ({"note": "10時～12時、※12時～13時は消毒のため入れません"}, "2026-08-01T10:00/12:00"),
        ({"note": "9時～17時 (正午～午後1時を除く)"}, "2026-08-01T09:00/17:00"),
        ({"note": "10時～12時予定。雨天の場合は8月8日に順延します。"}, "2026-08-01T10:00/12:00"),
        ({"note": "14時開演（13時30分開場）、16時頃終演予定"}, "2026-08-01T14:00/16:00 d13:30"),
        ({"note": "駐車場は8時から利用できます"}, "2026-08-01"),
        ({"note": "電話予約 平日9時～17時"}, "2026-08-01"),
        ({"note": "午前10時に市役所前集合、午後3時頃解散予定です。"}, "2026-08-01T10:00/15:00"),
        ({"note": "火曜日:10時～、土曜日:13時～"}, "2026-08-01"),
        ({"note": "8月2日(日)10時～11時"}, "2026-08-01"),
        ({"start_time": "9:00", "note": "10時～12時"}, "2026-08-01T09:00"),
        ({"end": "2026-08-31", "note": "10時～12時"}, "2026-08-01T10:00/2026-08-31T12:00"),
        ({"end": "2026-08-31", "note": "9時30分～17時 奇数日休館"}, "2026-08-01T09:30/2026-08-31T17:00"),
        ({"end": "2026-08-31", "note": "10時～16時 親子教室", "title": "親子教室"}, "2026-08-01T10:00/2026-08-31T16:00"),
        (
            {"end": "2026-08-10", "note": "9時30分～17時 月曜休館"},
            " ".join(f"2026-08-{day:02}T09:30/17:00" for day in (1, 2, 4, 5, 6, 7, 8, 9)),
        ),
        (
            {"end": "2026-08-12", "note": "9時～17時 休館日:月曜日(祝日の場合は翌日)"},
            " ".join(f"2026-08-{day:02}T09:00/17:00" for day in (1, 2, 4, 5, 6, 7, 8, 9, 11, 12)),
        ),
        (
            {"end": "2026-08-07", "start_time": "10:00", "end_time": "17:00", "note": "最終日は15時まで"},
            " ".join(f"2026-08-{day:02}T10:00/{15 if day == 7 else 17}:00" for day in range(1, 8)),
        ),
        (
            {"end": "2026-08-09", "note": "土曜日は10時～16時、日曜日は9時～15時"},
            "2026-08-01T10:00/16:00 2026-08-02T09:00/15:00 2026-08-08T10:00/16:00 2026-08-09T09:00/15:00",
        ),
        (
            {"end": "2026-08-09", "note": "土曜日は10時～16時、8月5日は9時～12時"},
            "2026-08-01T10:00/16:00 2026-08-05T09:00/12:00 2026-08-08T10:00/16:00",
        ),
        ({"end": "2026-08-02", "note": "両日とも10時から16時"}, "2026-08-01T10:00/16:00 2026-08-02T10:00/16:00"),
        ({"end": "2026-08-02", "note": "8月1日 10時～17時、8月2日 9時～16時"}, "2026-08-01T10:00/17:00 2026-08-02T09:00/16:00"),
        ({"end": "2026-08-02", "note": "1日目 10時～17時、2日目 9時～16時"}, "2026-08-01T10:00/17:00 2026-08-02T09:00/16:00"),
        (
            {"end": "2026-08-15", "note": "毎週土曜日の10時から11時30分まで開催します。"},
            " ".join(f"2026-08-{day}T10:00/11:30" for day in ("01", "08", "15")),
        ),
        ({"end": "2026-08-15", "note": "毎週土曜日"}, "2026-08-01 2026-08-08 2026-08-15"),
        (
            {"end": "2026-08-15", "note": "毎週土曜日 14時～16時"},
            " ".join(f"2026-08-{day}T14:00/16:00" for day in ("01", "08", "15")),
        ),
        ({"end": "2026-08-31", "note": "8月1日から15日までの毎週土曜日"}, "2026-08-01 2026-08-08 2026-08-15"),
        ({"end": "2026-08-15", "note": "全3回(①8/1、②8/8、③8/15)"}, "2026-08-01 2026-08-08 2026-08-15"),
        ({"end": "2026-08-15", "note": "8/2、8/15"}, "2026-08-01/2026-08-15"),
        ({"end": "2026-08-08", "start_time": "10:00", "note": "全2回"}, "2026-08-01T10:00 2026-08-08T10:00"),
        ({"note": "2026-08-01;2026-08-08"}, "2026-08-01 2026-08-08"),
        ({"end": "2026-08-31", "note": "毎週土曜日(全3回)"}, "2026-08-01/2026-08-31"),
        ({"note": "事前申込7月7日開始。定員になり次第終了"}, "2026-08-01"),
        ({"note": "令和0年"}, "2026-08-01"),
    ],
)
def test_a_note_explains_the_columns_and_does_not_overrule_them(beside: dict[str, str], expected: str) -> None:
    assert show(read("2026-08-01", **beside)) == expected


@pytest.mark.parametrize(
    "note, other_hours",
    [
        ("初日のみ16時開始", {1: "16:00/17:00"}),
        ("最終日のみ15時まで", {5: "10:00/15:00"}),
        ("※最終日は午後3時まで", {5: "10:00/15:00"}),
        ("ただし、最終日は正午まで。", {5: "10:00/12:00"}),
        ("初日は13時から、最終日は15時まで", {1: "13:00/17:00", 5: "10:00/15:00"}),
        ("1日は13時から、5日は15時まで", {1: "13:00/17:00", 5: "10:00/15:00"}),
        ("2日目は16時まで", {2: "10:00/16:00"}),
        ("記念日のみ", {}),
        ("金曜日のみ20時まで", {}),
        ("毎週火曜日は20時まで開館", {4: "10:00/20:00"}),
        ("火曜は20時まで", {4: "10:00/20:00"}),
        ("最終日の入場は15時まで", {}),
        ("駐車場は8月1日のみ8時から", {}),
    ],
)
def test_hours_in_columns_are_those_of_each_day_but_for_the_days_that_a_note_names(
    note: str, other_hours: dict[int, str]
) -> None:
    hours = dict.fromkeys(range(1, 6), "10:00/17:00") | other_hours
    expected = " ".join(f"2026-08-{day:02}T{clocks}" for day, clocks in hours.items())
    assert show(read("2026-08-01", end="2026-08-05", start_time="10:00", end_time="17:00", note=note)) == expected


@pytest.mark.parametrize("start, end, closed", [("2026/8/1", "2026/8/20", {3, 10, 17}), ("2026-08-01", "2026-08-05", {3})])
def test_days_on_which_a_note_says_that_it_is_closed_are_left_out(start: str, end: str, closed: set[int]) -> None:
    found = read(start, end=end, start_time="9:00", end_time="17:00", note="月曜休館", title="写真展")
    assert isinstance(found, ParsedDate)
    assert {item.starts_at.day for item in found.occurrences} == set(range(1, int(end[-2:].strip("/")) + 1)) - closed


def test_a_course_named_by_its_weekday_is_held_on_that_weekday() -> None:
    columns = {"end": "2026-08-15", "start_time": "10:00", "end_time": "11:30"}
    saturdays = " ".join(f"2026-08-{day:02}T10:00/11:30" for day in (1, 8, 15))
    assert show(read("2026-08-01", **columns, title="テニス教室(初級コース・土曜)")) == saturdays
    assert show(read("2026-08-01", **columns, title="テニス教室(月曜)")) == "2026-08-01T10:00/2026-08-15T11:30"


@pytest.mark.parametrize("title", ["夏のキャンプ", "ぬいぐるみおとまり会"])
def test_what_goes_on_over_night_is_one_occurrence(title: str) -> None:
    columns = {"end": "2026-08-02", "start_time": "10:00", "end_time": "15:00"}
    assert show(read("2026-08-01", **columns, title=title)) == "2026-08-01T10:00/2026-08-02T15:00"


@pytest.mark.parametrize(
    "note, days",
    [
        ("8月15日を除く毎週土曜日・全4回", "08-01 08-08 08-22 08-29"),
        ("毎週土曜日（8月8日・15日を除く）", "08-01 08-22 08-29"),
        ("毎週土曜日 全4回 ※8月15日は休講", "08-01 08-08 08-22 08-29"),
        ("毎週土曜日（8/15を除く）", "08-01 08-08 08-22 08-29"),
        ("土曜日（全5回）", "08-01 08-08 08-15 08-22 08-29"),
        ("期間中の火曜日（祝日を除く）", "08-04 08-18 08-25"),
        ("火・祝のみ", "08-04 08-11 08-18 08-25"),
        ("第2・4土曜日（9月を除く）", "08-08 08-22"),
        ("毎週土曜日（年末年始を除く）", "08-01 08-08 08-15 08-22 08-29"),
        ("8/1、8、15、22、29", "08-01 08-08 08-15 08-22 08-29"),
    ],
)
def test_days_that_a_rule_excepts_are_left_out(note: str, days: str) -> None:
    end = "2026-08-29" if "8/1、" in note else "2026-08-31"
    assert show(read("2026-08-01", end=end, note=note)) == " ".join(f"2026-{day}" for day in days.split())


@pytest.mark.parametrize(
    "text", ["2026-08-01 10:00 EST", "2026-08-01 10:00:00 EST", "Sat, 1 Aug 2026 10:00 EST", "August 1, 2026 10am EST"]
)
def test_a_named_zone_counts_in_every_form(text: str) -> None:
    assert read(text).first.starts_at == datetime(2026, 8, 1, 15, tzinfo=UTC)


def test_digits_of_addresses_and_telephone_numbers_are_no_dates() -> None:
    note = "詳細は https://town.test/20260607/1000.html へ。電話 03-1234-5678"
    assert isinstance(read_when(note, now=NOW, zone=TOKYO), UnreadableDate)


def test_the_rule_of_a_note_is_kept_in_its_words() -> None:
    assert read("2026-08-12", note="毎月第2水曜日").recurrence == "毎月第2水曜日"


def test_columns_that_an_export_repeats_in_its_note_are_left_out() -> None:
    assert without_repeats("雨天中止\n開始日: 2026/8/1\n終了時刻：12:00") == "雨天中止"


@pytest.mark.parametrize(
    "text, beside, note",
    [
        ("2026-08-01", {"end": "2026-07-30"}, "The end is before the start, and was left out."),
        ("2026-08-01", {"end": "いつか"}, "The end could not be read."),
        ("2026-08-01", {"end_time": "15:00"}, "It ends at 15:00; no time is given for the start."),
        ("2026-08-01", {"start_time": "99:00"}, "99:00 is not a time."),
        ("2026年8月1日(日)", {}, "The weekday beside 8月1日 does not fit."),
        (
            "2026-08-01",
            {"end": "2026-08-05", "start_time": "10:00", "note": "8月3日は15時まで"},
            "On 3 August the hours are others.",
        ),
    ],
)
def test_what_was_left_out_is_said_in_one_sentence(text: str, beside: dict[str, str], note: str) -> None:
    assert note in read(text, **beside).notes


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "There is no date."),
        ("8月31日まで", "“8月31日まで” says only when it ends."),
        ("毎日", "“毎日” says how often, but not from when to when."),
        ("8月上旬", "“8月上旬” names no day: it is not settled, or only a part of a month or year."),
        ("2026年8月", "“2026年8月” names a month, but no day."),
        ("10時～", "“10時～” is a time without a date."),
        ("随時", "“随時” is not a date that can be read."),
        ("2026年2月30日", "2月30日 is not a date of 2026."),
        ("15日", "15日 has no month."),
    ],
)
def test_an_unreadable_date_says_why_in_one_sentence(text: str, reason: str) -> None:
    assert read_when(text, now=NOW, zone=TOKYO) == UnreadableDate(text, reason)


@pytest.mark.parametrize(
    "text, source",
    [
        ("2026年8月1日", YearSource.WRITTEN),
        ("8月1日(土)", YearSource.WEEKDAY),
        ("8月1日", YearSource.NEAREST),
        ("令和8年度 2月6日", YearSource.FISCAL),
        ("明日", YearSource.RELATIVE),
    ],
)
def test_a_reading_says_where_its_year_comes_from(text: str, source: YearSource) -> None:
    assert read(text).year is source


def test_a_time_that_clocks_pass_over_is_as_much_later() -> None:
    assert read("2026-03-29T02:30", BERLIN).first.starts_at.isoformat() == "2026-03-29T03:30:00+02:00"


def test_of_an_hour_that_comes_twice_the_first_is_meant_unless_it_says_its_offset() -> None:
    assert read("2026-10-25T02:30", BERLIN).first.starts_at.isoformat() == "2026-10-25T02:30:00+02:00"
    assert read("2026-10-25T02:30+01:00", BERLIN).first.starts_at.isoformat() == "2026-10-25T02:30:00+01:00"


def test_an_end_in_the_second_of_two_like_hours_is_after_the_start_in_the_first() -> None:
    first = read("2026-10-25T02:30+02:00", BERLIN, end="2026-10-25T02:15+01:00").first
    assert first.ends_at is not None
    assert first.ends_at.astimezone(UTC) - first.starts_at.astimezone(UTC) == timedelta(minutes=45)


def test_a_day_on_which_the_clocks_change_ends_at_its_midnight() -> None:
    first = read("2026-10-25", BERLIN, end="2026-10-25").first
    assert first.ends_at is not None
    assert (first.starts_at.isoformat(), first.ends_at.isoformat()) == ("2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00")


def test_a_rule_without_a_period_gives_its_next_dates_and_says_so() -> None:
    found = read("毎週土曜日(8月15日を除く) 10時~11時")
    assert [f"{item.starts_at:%m%d}" for item in found.occurrences[:6]] == ["0718", "0725", "0801", "0808", "0822", "0829"]
    assert found.year is YearSource.RELATIVE
    assert found.recurrence == "毎週土曜日"
    assert found.notes == ("No first and no last date is written: these are the next dates.",)
