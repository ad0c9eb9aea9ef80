"""Written dates in the words of a feed: which part of a text is handed on. What it means is tested with `parse.dates`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.feed_item import pick_date, written_date

TEXTS = {
    "japanese": ("夏祭り 8月1日(土)に開催", "8月1日(土)"),
    "with hours": ("日時：8月1日(土)午後1時30分～3時 場所：ホール", "8月1日(土)午後1時30分～3時"),
    "with a year": ("2026年8月1日 10:00から", "2026年8月1日 10:00"),
    "of an era": ("令和8年8月1日（土曜日）開場9時 開演10時", "令和8年8月1日（土曜日）開場9時 開演10時"),
    "first year of an era": ("令和元年十二月三十一日まで", "令和元年十二月三十一日まで"),
    "a long year in kanji": ("昭和六十三年十二月三十一日", "昭和六十三年十二月三十一日"),
    "full width": ("開催日 ２０２６年８月１日", "２０２６年８月１日"),
    "an era in short": ("R8.8.1 開催", "R8.8.1"),
    "several days": ("8月1日(土)・2日(日)、雨天中止", "8月1日(土)・2日(日)"),
    "a range": ("2026/08/01〜2026/08/03 のイベント", "2026/08/01〜2026/08/03"),
    "a range over months": ("7月30日(木)から8月2日(日)まで", "7月30日(木)から8月2日(日)まで"),
    "iso": ("on 2026-08-01T10:00:00+09:00.", "2026-08-01T10:00:00+09:00"),
    "english": ("Join us August 1st, 2026 at 7:30 pm in the hall", "August 1st, 2026 at 7:30 pm"),
    "english, day first": ("Talk - 1 September 2026, 10am", "1 September 2026, 10am"),
    "slashes and a weekday": ("8/1(土) 10:00", "8/1(土) 10:00"),
    "a time element": ("<p>Saturday <time datetime='2026-08-01T10:00'>soon</time> 8月9日</p>", "2026-08-01T10:00"),
    "marked up": ("<p>日時：<b>8月1日</b><span>(土)</span>&nbsp;10時</p>", "8月1日  (土) \xa010時"),
    "another paragraph is another matter": ("<p>8月1日</p><p>10:00</p>", "8月1日"),
    "the date of publication alone": ("投稿日: 2026年7月1日", None),
    "published, then the event": ("更新日：2026年7月1日。開催は8月1日です", "8月1日"),
    "posted": ("Posted on July 1, 2026. The talk is on August 1, 2026.", "August 1, 2026"),
    "a deadline before": ("申込締切：7月20日(月)。開催日は8月1日(土)です", "8月1日(土)"),
    "a deadline first, then a labelled date": ("7月20日までに応募してください。日時：8月1日 10時～", "8月1日 10時"),
    "applications from and until": ("応募期間 7月1日～7月20日\n8月1日に開催", "8月1日"),
    "a deadline behind": ("【7月20日締切】夏の教室 8月1日", "8月1日"),
    "must arrive": ("7月20日(月)必着、8月1日発表会", "8月1日"),
    "tickets": ("7月1日から販売。公演は8月1日", "8月1日"),
    "only a deadline": ("申込締切 7月20日", None),
    "a deadline in english": ("Apply by July 20, 2026. The talk is on August 1, 2026.", "August 1, 2026"),
    "a deadline with the way to apply": ("7月10日までに電話で申し込んでください。8月1日（土）8時集合", "8月1日（土）8時"),
    "applications by telephone from": ("7月20日9時から電話で受付。公演は8月1日10時", "8月1日10時"),
    "the day tickets are sold": ("チケット発売日：7月12日 10時～ 公演日：8月1日 14時開演", "8月1日 14時開演"),
    "registration": ("Registration opens 1 July 2026. It is on 1 August 2026 at 9am in the park.", "1 August 2026 at 9am"),
    "a deadline in german": ("Anmeldeschluss: 20. Juli 2026. Beginn 1. August 2026, 10 Uhr", "1. August 2026, 10 Uhr"),
    "a deadline in french": (
        "Inscriptions avant le 20 juillet 2026. Le 1er août 2026 de 14h30 à 16h",
        "1er août 2026 de 14h30 à 16h",
    ),
    "tickets in german": ("Karten ab 1. Juli 2026. Beginn: 1. August 2026, 20:00 Uhr", "1. August 2026, 20:00"),
    "parted by lines": ("August 1, 2026 | 10 a.m. - 4 p.m. | Main Street", "August 1, 2026 | 10 a.m. - 4 p.m."),
    "published, written behind": ("2026年6月30日掲載<br>8月1日14時から講座", "8月1日14時"),
    "french": ("samedi 1 août 2026 à 14h30", "1 août 2026 à 14h30"),
    "spanish": ("1 de agosto de 2026 a las 20:00", "1 de agosto de 2026 a las 20:00"),
    "german in figures": ("Flohmarkt am 12.9., 9 Uhr", "12.9., 9 Uhr"),
    "a german range": ("Fest vom 4. bis 6. September 2026", "4. bis 6. September 2026"),
    "an english range": ("Fair 1-3 May 2027", "1-3 May 2027"),
    "words that are months elsewhere": ("5 out of 10, 2 set, work out 5 times", None),
    "no reservation needed": ("8月1日 10時から 予約不要", "8月1日 10時"),
    "a labelled date after another": ("7月1日に始まった企画です。日時：8月1日", "8月1日"),
    "no date": ("毎月第2水曜日", None),
    "a fraction": ("1/2 price, version 1.2.3", None),
    "a telephone": ("電話 019-123-4567", None),
    "a number": ("No. 20260801", None),
    "nothing": ("", None),
    "far into the text": ("x" * 5_000 + " 8月1日", "8月1日"),
    "too far into the text": ("x" * 10_000 + " 8月1日", None),
}


@pytest.mark.parametrize("text, expected", TEXTS.values(), ids=TEXTS.keys())
def test_the_first_written_date_of_a_text_is_found(text: str, expected: str | None) -> None:
    assert written_date(text) == expected


def test_a_pattern_takes_its_first_group_else_all_of_it() -> None:
    assert pick_date("on 8/1 or 8/2", linear_regex(r"or (\S+)|on")) == "on"
    assert pick_date("when: 8/1!", linear_regex(r"when: ([0-9/]+)")) == "8/1"
    assert pick_date("nothing", linear_regex("[0-9]")) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_stands_around_a_date_something_is_found_and_nothing_raised(before: str, after: str) -> None:
    found = written_date(f"{before}\n\n\n\n\n8月1日\n\n\n\n\n{after}")
    assert found is None or found.strip() == found != ""


@given(st.integers(1, 12), st.integers(1, 28), st.text(st.sampled_from("あいう。 \nabc"), max_size=60))
def test_a_date_among_words_is_found(month: int, day: int, around: str) -> None:
    assert written_date(f"{around}。{month}月{day}日。{around}") == f"{month}月{day}日"
