"""Titles that are notices about an event, and titles that only look so."""

from __future__ import annotations

import pytest

from tadoru.parse.sources.cancellation import NoticeKind, cancellation_sentence, find_notice


@pytest.mark.parametrize(
    "title, kind, subject",
    [
        ("「北浜ジャズナイト」中止のお知らせ", NoticeKind.CANCELLED, "北浜ジャズナイト"),
        ("【重要】北浜ジャズナイト開催中止のお知らせ", NoticeKind.CANCELLED, "北浜ジャズナイト"),
        ("第5回駅伝大会を延期します", NoticeKind.POSTPONED, "第5回駅伝大会"),
        ("北浜ジャズナイトの会場変更について", NoticeKind.VENUE, "北浜ジャズナイト"),
        ("北浜ジャズナイト　開演時間変更のお知らせ", NoticeKind.TIME, "北浜ジャズナイト"),
        ("北浜ジャズナイト 満席となりました", NoticeKind.SOLD_OUT, "北浜ジャズナイト"),
        ("秋の陶芸講座の受付終了のお知らせ", NoticeKind.SOLD_OUT, "秋の陶芸講座"),
    ],
)
def test_a_notice_names_its_event(title: str, kind: NoticeKind, subject: str) -> None:
    assert find_notice(title) == (kind, subject)


@pytest.mark.parametrize(
    "title",
    [
        "【中止】ジャズの夕べ",
        "雨天の場合は中止します",
        "夏まつりの一部中止のお知らせ",
        "夏まつり パレードの中止について",
        "昨年中止となりました夏まつりを開催",
        "イベントの中止・延期のお知らせ",
        "会場変更のお知らせ",
        "中止の判断についてのお知らせ",
        "夏まつり",
    ],
)
def test_other_titles_are_no_notices(title: str) -> None:
    assert find_notice(title) is None


@pytest.mark.parametrize(
    "note",
    [
        "飲食ブースは中止します",
        "5月から延期になった公演です",
        "屋台の出店は中止となりました",
        "運動を中止してください",
        "雨天のため中止になることもあります",
        "キャンセルは3日前まで",
        "Cancelled if it rains",
        "Last year's event was cancelled",
        "雨天中止",
        "参加者が5名に満たない場合は中止",
    ],
)
def test_a_part_a_condition_or_another_time_cancels_nothing(note: str) -> None:
    assert cancellation_sentence(note) == ""


@pytest.mark.parametrize(
    "note",
    ["中止", "【中止】", "台風接近のため中止", "開催延期", "This event has been cancelled.", "Postponed until further notice"],
)
def test_a_note_that_says_nothing_else_is_a_cancellation(note: str) -> None:
    assert cancellation_sentence(note)
