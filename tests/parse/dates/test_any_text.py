"""Whatever is written, reading it ends in occurrences in order, or in a reason."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.dates import UnreadableDate, read_when
from tadoru.parse.dates.assemble import LAST_AFTERNOON
from tadoru.parse.dates.scan import LONGEST
from tests.parse.dates.test_written_forms import JAPANESE, NOW, TOKYO, show

PIECES = (
    "2026年 令和8年 R8. 平成 元年 8月 1日 31日 2/29 8/1 第2 土曜日 (土) (日・祝) 毎週 毎月 隔週 から まで ～ - ・ 、 ( ) 10時 "
    "25:00 99:99 午後 午前 正午 開場 開演 受付 終了 雨天 締切 未定 上旬 頃 全3回 を除く のみ 休館 2026-08-01 T10:00 "
    "+09:00 Z 1785546000 Aug August 1st pm to every \n 一 二十 〇 年度 翌 ※ 来週の 今月 毎日 終日 末日 最終 期間中の "
    "? . / :"
).split(" ")
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
ZONES = st.sampled_from(
    [ZoneInfo(name) for name in ("Asia/Tokyo", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Africa/Cairo")]
)


@given(TEXTS, ZONES, TEXTS, TEXTS, TEXTS, TEXTS)
def test_reading_never_fails_and_gives_times_in_order(
    text: str, zone: ZoneInfo, end: str, start_time: str, end_time: str, note: str
) -> None:
    read = read_when(text, now=NOW, zone=zone, end=end, start_time=start_time, end_time=end_time, note=note)
    if isinstance(read, UnreadableDate):
        assert read.reason.endswith(".")
        return
    starts = [item.starts_at.astimezone(UTC) for item in read.occurrences]
    assert starts == sorted(set(starts))
    for item in read.occurrences:
        assert item.starts_at.tzinfo is zone
        assert item.ends_at is None or item.ends_at.astimezone(UTC) > item.starts_at.astimezone(UTC)
    assert all(note.endswith(".") for note in read.notes)


@given(st.dates(date(1990, 1, 1), date(2099, 12, 31)), st.integers(0, 23), st.integers(0, 59))
def test_the_same_moment_reads_the_same_in_each_writing(day: date, hour: int, minute: int) -> None:
    expected = f"{day}T{hour:02}:{minute:02}"
    half, twelve = ("午前", hour) if hour < 12 else ("午後", hour - 12)
    weekday = "月火水木金土日"[day.weekday()]
    wide = str.maketrans("0123456789", "０１２３４５６７８９")
    # An event at "1時30分" is in the afternoon, so that an hour of the night is written with its half of the day.
    words = f"{half if 1 <= hour <= LAST_AFTERNOON else ''}{hour}時"
    for text in (
        f"{expected}:00",
        f"{day.year}年{day.month}月{day.day}日({weekday}){words}{minute}分",
        f"{day.year}/{day.month}/{day.day} {hour}:{minute:02}",
        f"{day.year}年{day.month}月{day.day}日 {half}{twelve}時{minute}分".translate(wide),
        f"{day:%A}, {day:%B} {day.day}, {day.year} {hour:02}:{minute:02}",
        f"平成{day.year - 1988}年{day.month}月{day.day}日{words}{minute:02}分",
    ):
        assert show(read_when(text, now=NOW, zone=TOKYO)) == expected, text


@given(st.dates(date(1990, 1, 1), date(2099, 12, 31)), st.integers(1, LAST_AFTERNOON), st.integers(0, 59))
def test_a_small_hour_in_words_is_in_the_afternoon(day: date, hour: int, minute: int) -> None:
    text = f"{day.year}年{day.month}月{day.day}日{hour}時{minute}分"
    assert show(read_when(text, now=NOW, zone=TOKYO)) == f"{day}T{hour + 12}:{minute:02}"


@given(st.dates(date(2025, 1, 1), date(2028, 7, 1)))
def test_a_weekday_tells_the_year_of_a_day_near_now(day: date) -> None:
    if (day.month, day.day) == (2, 29):
        day += timedelta(days=1)
    text = f"{day.month}月{day.day}日({'月火水木金土日'[day.weekday()]})"
    assert show(read_when(text, now=NOW, zone=TOKYO)) == str(day)


@pytest.mark.parametrize(
    "piece", "1 月 8月 8/1 ( 毎週土 1日・ 10:00~ 第1・ 一 午後 1- R8. Aug August1, 8月1日と 8月1日を除く 2026-08-01".split()
)
def test_of_a_text_without_end_only_the_beginning_is_read(piece: str) -> None:
    text = piece * 100_000
    assert show(read_when(text, now=NOW, zone=TOKYO, note=text)) == show(read_when(text[:LONGEST], now=NOW, zone=TOKYO))


def test_a_reading_of_the_table_reads_the_same_again_when_it_is_written_in_full() -> None:
    for text, expected in JAPANESE:
        if expected and " " not in expected:
            first = expected.split("/")[0]
            assert show(read_when(first, now=NOW, zone=TOKYO)) == first, text


def test_a_text_of_megabytes_in_place_of_a_date_takes_no_memory_of_its_own() -> None:
    long = "8月 1日 " * 100_000
    tracemalloc.start()
    try:
        for _ in range(3):
            read_when(long, now=NOW, zone=TOKYO, end=long, start_time=long, end_time=long, note=long)
            long = f"{long}."
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4 * len(long.encode("utf-16-le")), "only what is made here"


@pytest.mark.parametrize("text", ["5 May 2027, Miami", "5 Aprİl 2027", "Frı/Sat 5 May 2027", "closed Aprıl 5, open 6 May 2027"])
def test_words_that_look_like_names_of_days_and_months_are_no_error(text: str) -> None:
    assert read_when(text, now=NOW, zone=TOKYO) is not None
