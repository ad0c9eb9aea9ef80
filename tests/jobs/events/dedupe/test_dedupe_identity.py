"""The key of an event, the rows of a source from one reading to the next, and the blocks that bring events together."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from tadoru.jobs.events.dedupe import blocking_keys, dedupe_key, is_same_row
from tests.jobs.events.dedupe.event_drafts import at, draft

WEEKLY = tuple(at(f"2026-08-{day:02}T10:00") for day in (1, 8, 15, 22))


def test_the_key_is_title_day_and_venue_as_cleaned() -> None:
    assert dedupe_key(draft("春の★星空", title_clean="春の星空", venue_clean="市民会館")) == "春の星空|2026-08-01|市民会館"


def test_the_key_does_not_know_the_time() -> None:
    assert (
        dedupe_key(draft(when="2026-08-01T10:00"))
        == dedupe_key(draft(when="2026-08-01T13:00"))
        != dedupe_key(draft(when="2026-08-02T10:00"))
    )


def test_a_bar_in_a_title_does_not_move_its_parts() -> None:
    assert dedupe_key(draft("a|b", venue="c")) != dedupe_key(draft("a", venue="b|c"))
    assert dedupe_key(draft("a|b", venue="c")).count("|") == 2


def test_the_key_of_a_series_stays_while_it_moves_on_and_is_prolonged() -> None:
    now = draft(when=WEEKLY[0], occurrences=WEEKLY, recurrence="FREQ=WEEKLY;UNTIL=20260822")
    later = draft(when=WEEKLY[2], occurrences=WEEKLY[2:], recurrence="freq=weekly;until=20270822")
    assert (
        dedupe_key(now) == dedupe_key(later) != dedupe_key(draft(when=WEEKLY[0], occurrences=WEEKLY, recurrence="FREQ=MONTHLY"))
    )
    assert "|2026-08-01|" in dedupe_key(draft(when=WEEKLY[2], occurrences=WEEKLY))


@pytest.mark.parametrize(
    "before, after, expected",
    [
        pytest.param({"uid": "a-1"}, {"uid": "a-1", "when": "2026-08-03T10:00"}, True, id="moved"),
        pytest.param({"uid": "a-1"}, {"uid": "a-1", "title": "夏の音楽祭"}, True, id="renamed"),
        pytest.param({"uid": "a-1"}, {"uid": "a-2"}, False, id="another uid"),
        pytest.param({"uid": ""}, {"uid": ""}, False, id="no uid"),
        pytest.param({"uid": "a-1"}, {"uid": "a-1", "title": "夏の音楽祭", "when": "2026-08-03"}, False, id="all is other"),
        pytest.param(
            {"uid": "a-1", "title": "第3回星の会"},
            {"uid": "a-1", "title": "第4回星の会", "when": "2026-09-01"},
            False,
            id="next edition",
        ),
        pytest.param({"uid": "12"}, {"uid": "12", "price": "500円"}, True, id="a numbered row with news"),
        pytest.param({"uid": "12"}, {"uid": "12", "title": "夏の音楽祭"}, False, id="the number went to the next row"),
        pytest.param(
            {"uid": "12", "title": "体操(初級)"},
            {"uid": "12", "title": "体操(中級)"},
            False,
            id="the number went to the next course",
        ),
    ],
)
def test_a_row_is_the_one_from_before_when_its_uid_and_more_agree(
    before: dict[str, str], after: dict[str, str], expected: bool
) -> None:
    assert is_same_row(draft(**before), draft(**after)) is expected


def test_events_of_one_city_and_day_share_a_block_whatever_their_titles() -> None:
    one, other = draft("春の星空観察会", city="東京都府中市", venue=""), draft("夏の音楽祭", city="府中")
    assert set(blocking_keys(one)) & set(blocking_keys(other)) == {"c|2026-08-01|府中"}


def test_like_titles_share_a_block_without_a_city() -> None:
    one, other = draft("みどりプラネタリウム 春の星空観察会", city=""), draft("春の星空観祭会 みどりプラネタリウム", city="")
    assert set(blocking_keys(one)) & set(blocking_keys(other))


def test_one_moment_in_two_zones_shares_a_block() -> None:
    here = draft(when="2026-08-01T08:00", city="")
    there = draft(when=at("2026-07-31T23:00", zone=ZoneInfo("UTC")), city="みどり市")
    assert set(blocking_keys(here)) & set(blocking_keys(there))


def test_a_day_of_a_festival_or_series_shares_a_block_with_the_whole() -> None:
    festival = draft("みどり夏まつり", at("2026-08-01", end="2026-08-05T00:00"), city="")
    assert set(blocking_keys(festival)) & set(blocking_keys(draft("みどり夏まつり", "2026-08-02", city="")))
    weekly = draft(when=WEEKLY[0], occurrences=WEEKLY, city="")
    assert set(blocking_keys(weekly)) & set(blocking_keys(draft(when="2026-08-22T10:00", city="")))


def test_other_days_and_titles_share_none() -> None:
    assert not set(blocking_keys(draft("春の星空観察会"))) & set(blocking_keys(draft("春の星空観察会", "2026-08-02T10:00")))
    one, other = draft("春の星空観察会", city=""), draft("陶芸の夕べ", city="", venue="")
    assert not set(blocking_keys(one)) & set(blocking_keys(other))


def test_events_of_one_venue_and_day_share_a_block_without_a_city() -> None:
    one, other = draft("春の星空観察会", venue="みどり市民会館 ホール"), draft("夜空を見上げて", city="", venue="みどり市民会館")
    assert "v|2026-08-01|みどり市民会館" in set(blocking_keys(one)) & set(blocking_keys(other))


def test_events_of_one_minute_share_a_block_by_a_part_of_the_venue_without_a_city() -> None:
    one = draft("KOCHI JAZZ STREET", venue="帯屋町アーケードほか")
    other = draft("街角ジャズの一日", city="", venue="帯屋町商店街")
    assert set(blocking_keys(one)) & set(blocking_keys(other))
    assert not set(blocking_keys(one)) & set(blocking_keys(draft("街角ジャズの一日", city="", venue="中央公園")))


def test_a_uid_that_no_other_calendar_makes_is_a_block_on_any_day() -> None:
    uid = "20260801-7c1e@calendar.example"
    one, other = draft(uid=uid), draft("防災訓練", "2026-09-01", city="", venue="", uid=uid)
    assert len(set(blocking_keys(one)) & set(blocking_keys(other))) == 1
    assert not set(blocking_keys(draft(uid="12"))) & set(blocking_keys(draft("防災訓練", "2026-09-01", uid="12")))
