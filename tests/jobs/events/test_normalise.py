"""From what a source wrote to an event of ours, or to the reason why it is none."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tadoru.i18n.translation import translator
from tadoru.jobs.events.normalise.normaliser import LIMITS, LONGEST_DESCRIPTION, SourceRules, normalise
from tadoru.model.event import EventDraft, Occurrence, QuarantinedEvent, RawEvent, ReviewReason

TOKYO = ZoneInfo("Asia/Tokyo")
RULES = SourceRules(zone="Asia/Tokyo", now=datetime(2026, 7, 15, 3, tzinfo=UTC), city="星町")


def raw(**fields: Any) -> RawEvent:
    return RawEvent(**{"position": "row 2", "title": "夏まつり", "start": "2026-08-01"} | fields)


def draft(**fields: Any) -> EventDraft:
    found = normalise(raw(**fields), RULES)
    assert isinstance(found, EventDraft), found
    return found


def quarantined(**fields: Any) -> QuarantinedEvent:
    found = normalise(raw(**fields), RULES)
    assert isinstance(found, QuarantinedEvent), found
    return found


def tokyo(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=TOKYO)  # type: ignore[arg-type,misc]


def test_a_row_becomes_an_event_in_our_terms() -> None:
    found = draft(
        title="　第２回　夏まつり ",
        description="<p>花火<script>x()</script></p>",
        start="令和8年8月1日(土)",
        start_time="午後6時",
        end_time="8時",
        when_note="17時30分開場",
        venue="星公園　2F",
        address="東京都杉並区阿佐谷南1-15-1",
        latitude="139.63",
        longitude="35.69",
        price="大人500円、小学生以下無料",
        url="https://x.example/e?b=1#2",
        extra={"定員": " 30人 "},
        uid="a-1",
    )
    assert (found.title, found.title_clean) == ("第２回 夏まつり", "第2回夏まつり")
    assert found.occurrence == Occurrence(starts_at=tokyo(2026, 8, 1, 18), ends_at=tokyo(2026, 8, 1, 20))
    assert (found.timezone, found.local_date, found.occurrences) == ("Asia/Tokyo", date(2026, 8, 1), ())
    assert found.description == "<p>花火</p>"
    assert (found.venue, found.venue_clean, found.city) == ("星公園 2F", "星公園2階", "杉並区")
    assert (found.latitude, found.longitude) == (35.69, 139.63)
    assert (found.url, found.uid, found.position) == ("https://x.example/e?b=1#2", "a-1", "row 2")
    assert found.extra == {
        "定員": "30人",
        "doors": "17:30",
        "notes": "Latitude and longitude were swapped; corrected.",
        "price_currency": "JPY",
        "price_min": "0",
        "price_max": "500",
    }


@pytest.mark.parametrize("title", [None, "", "  ", "\u200b\u202e\x00", "<br>"])
def test_an_event_without_a_title_is_quarantined(title: str | None) -> None:
    found = quarantined(title=title)
    assert (found.reason, found.why) == (ReviewReason.MISSING_REQUIRED, "Title missing.")
    assert found.raw.title == title


@pytest.mark.parametrize(
    "fields, why",
    [
        ({"start": None}, "Start date missing."),
        ({"start": " "}, "Start date missing."),
        ({"start": None, "when_note": "あ" * 101}, "Start date missing."),
        (
            {"start": None, "when_note": "毎週水曜日"},
            "Start date missing, and none in the note: The note has no year.",
        ),
        ({"start": None, "when_note": "8月1日"}, "Start date missing, and none in the note: The note has no year."),
        (
            {"start": None, "when_note": "長期間", "end": date(2026, 8, 31)},
            "Start date missing, and none in the note: “長期間” is not a date that can be read, "
            "and there is only an end beside it.",
        ),
    ],
)
def test_an_event_without_a_start_is_quarantined(fields: dict[str, Any], why: str) -> None:
    found = quarantined(**fields)
    assert (found.reason, found.why) == (ReviewReason.MISSING_REQUIRED, why)


@pytest.mark.parametrize(
    "start, why",
    [
        ("随時", "Cannot read the start: “随時” is not a date that can be read."),
        ("8月上旬", "Cannot read the start: “8月上旬” names no day: it is not settled, or only a part of a month or year."),
        ("2026-02-30", "Cannot read the start: 2026-02-30 is not a date of 2026."),
        (date(1, 1, 1), "Cannot read the start: 0001-01-01 is not in a year that can be meant."),
        (
            datetime(9999, 12, 31, tzinfo=UTC),
            "Cannot read the start: 9999-12-31 00:00:00+00:00 is not in a year that can be meant.",
        ),
    ],
)
def test_an_event_whose_date_can_not_be_read_is_quarantined(start: str | date, why: str) -> None:
    found = quarantined(start=start)
    assert (found.reason, found.why) == (ReviewReason.PARSE_ERROR, why)


def test_the_reason_why_a_date_can_not_be_read_is_said_in_the_language_of_the_reader() -> None:
    found = quarantined(start="8月上旬")
    assert (
        translator("ja").text(found.why) == "開始を読み取れません。「8月上旬」には日がありません：未定か、月や年の一部だけです。"
    )


def test_a_date_with_a_year_is_taken_from_the_note_when_there_is_no_other() -> None:
    found = draft(start=None, when_note="2026/8/1", start_time="10:30")
    assert found.occurrence.starts_at == tokyo(2026, 8, 1, 10, 30)
    assert found.extra["notes"] == "Date taken from the note, because the source has none."


@pytest.mark.parametrize(
    "start, expected",
    [
        (date(2026, 8, 1), tokyo(2026, 8, 1)),
        (datetime(2026, 8, 1, 10), tokyo(2026, 8, 1, 10)),  # noqa: DTZ001 - naive is meant
        (datetime(2026, 8, 1, 1, tzinfo=UTC), tokyo(2026, 8, 1, 10)),
        ("2026-08-01T01:00:00Z", tokyo(2026, 8, 1, 10)),
        ("8月1日 10時", tokyo(2026, 8, 1, 10)),
    ],
)
def test_a_start_is_in_the_zone_of_the_source(start: str | date, expected: datetime) -> None:
    found = draft(start=start)
    assert found.occurrence.starts_at == expected
    assert found.occurrence.starts_at.tzinfo is TOKYO
    assert found.occurrence.has_time is (found.occurrence.starts_at.hour != 0)


def test_an_event_has_its_own_zone_when_it_says_so() -> None:
    found = draft(start="2026-03-29T02:30", timezone="Europe/Berlin")
    assert found.timezone == "Europe/Berlin"
    assert found.occurrence.starts_at.isoformat() == "2026-03-29T03:30:00+02:00"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "Europe", "\x00", "a" * 5000])
def test_a_zone_that_is_not_known_is_the_zone_of_the_source(name: str) -> None:
    found = draft(timezone=name)
    assert found.timezone == "Asia/Tokyo"
    assert found.extra["notes"].endswith("; used Asia/Tokyo.")


def test_whole_days_end_at_the_midnight_after_the_last() -> None:
    found = draft(end=date(2026, 8, 3)).occurrence
    assert (found.ends_at, found.has_time) == (tokyo(2026, 8, 4), False)


def test_an_end_before_its_start_is_left_out_with_a_note() -> None:
    found = draft(end="2026-07-30")
    assert found.occurrence.ends_at is None
    assert found.extra["notes"] == "The end is before the start, and was left out."


def occurrence(*parts: int, hours: float = 1) -> Occurrence:
    return Occurrence(starts_at=tokyo(*parts), ends_at=tokyo(*parts) + timedelta(hours=hours))


def test_of_a_series_the_first_that_is_not_over_stands_for_it() -> None:
    past, now, next_one = occurrence(2026, 7, 8, 12), occurrence(2026, 7, 15, 11, hours=2), occurrence(2026, 7, 22, 12)
    found = draft(start=None, occurrences=(next_one, past, now), recurrence="FREQ=WEEKLY")
    assert (found.occurrence, found.occurrences) == (now, (past, now, next_one))
    assert found.recurrence == "FREQ=WEEKLY"


def test_of_a_series_that_is_over_the_last_stands_for_it() -> None:
    found = draft(occurrences=(occurrence(2025, 7, 8, 12), occurrence(2025, 7, 15, 12)))
    assert found.occurrence == occurrence(2025, 7, 15, 12)


def test_the_occurrences_of_a_reader_are_put_right() -> None:
    naive = datetime(2026, 8, 1, 10)  # noqa: DTZ001 - naive is meant
    found = draft(
        occurrences=(
            Occurrence(starts_at=naive, ends_at=naive - timedelta(hours=1)),
            Occurrence(starts_at=datetime(2026, 8, 2, tzinfo=UTC), has_time=False),
            Occurrence(starts_at=datetime(9999, 12, 31, tzinfo=UTC)),
        )
    )
    assert found.occurrences == (
        Occurrence(starts_at=tokyo(2026, 8, 1, 10)),
        Occurrence(starts_at=tokyo(2026, 8, 2), has_time=False),
    )
    assert found.extra["notes"] == "The end is before the start, and was left out."


def test_a_series_without_a_date_that_can_be_meant_is_quarantined() -> None:
    found = quarantined(occurrences=(Occurrence(starts_at=datetime(1, 1, 1, tzinfo=UTC)),))
    assert found.reason is ReviewReason.PARSE_ERROR


@pytest.mark.parametrize(
    "fields",
    [
        {"is_cancelled": True},
        {"title": "【中止】夏まつり"},
        {"title": "［開催中止］夏まつり"},
        {"title": "夏まつり（中止）"},
        {"title": "「夏まつり」中止のお知らせ"},
        {"title": "Cancelled: Summer Fair"},
        {"extra": {"状態": "中止"}},
        {"extra": {"開催状況": "開催中止"}},
        {"when_note": "感染防止のため、夏まつりは中止とさせて頂きました。"},
        {"when_note": "開催を予定しておりましたが、台風のため中止します。"},
        {"when_note": "誠に申し訳ございませんが、今年度は中止といたします。"},
        {"when_note": "開催は困難と判断し、中止となりましたのでお知らせします。"},
        {"when_note": "雨天のため中止しました。"},
        {"title": "夏まつり【開催中止決定】"},
        {"extra": {"備考": "中止"}},
        {"description": "<p>本イベントは<b>中止</b>となりました。</p>"},
    ],
)
def test_an_event_that_is_called_off_is_cancelled(fields: dict[str, Any]) -> None:
    found = draft(**fields)
    assert found.is_cancelled
    assert "postponed" not in found.extra


@pytest.mark.parametrize(
    "fields", [{"title": "【延期】夏まつり"}, {"extra": {"status": "EventPostponed"}}, {"when_note": "延期となりました"}]
)
def test_an_event_that_is_put_off_is_cancelled_and_said_to_be_postponed(fields: dict[str, Any]) -> None:
    found = draft(**fields)
    assert (found.is_cancelled, found.extra["postponed"]) == (True, "yes")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"title": "（一部中止）夏まつり"},
        {"title": "中止犯の会"},
        {"title": "雨天中止の夏まつり"},
        {"when_note": "雨天中止"},
        {"when_note": "荒天の場合は中止となります。"},
        {"when_note": "昨年は中止となりましたが、今年は開催します。"},
        {"extra": {"状態": "雨天の場合は中止"}},
        {"extra": {"備考": "模擬店は中止"}},
        {"description": "<p>昨年は中止となりました。</p>"},
        {"when_note": "緊急事態宣言が発令となった場合は中止となります。"},
        {"when_note": "緊急事態宣言の対象地域となった場合は、\n中止といたします。"},
        {"when_note": "中止が決まり次第、ホームページでお知らせします。"},
        {"when_note": "中止が決定した際は市のホームページに掲載します。"},
        {"when_note": "感染状況により中止となります。"},
        {"when_note": "警報が発令されたときは中止といたします。"},
        {"when_note": "最少催行人数に達しなければ中止になります。"},
        {"when_note": "中止の決定は当日の午前6時に行います。中止になったら電話で連絡します。"},
        {"when_note": "試食の提供は中止となります。"},
        {"when_note": "中止となりました前回分を開催します。"},
        {"when_note": "雨天でも中止しません。"},
        {"when_note": "大雨なら中止します。"},
        {"when_note": "2日目は中止となりました。"},
        {"when_note": "駐車場の利用は中止しました。"},
        {"when_note": "抽選会は中止いたします。"},
        {"when_note": "延期となりました公演の振替です。"},
        {"extra": {"状態": "雨天中止"}},
        {"extra": {"開催状況": "中止が決まり次第掲載"}},
        {"extra": {"status": "荒天時は延期"}},
        {"title": "夏まつり（雨天中止）"},
        {"title": "夏まつり 雨天中止について"},
    ],
)
def test_an_event_that_may_be_called_off_is_not_cancelled(fields: dict[str, Any]) -> None:
    assert not draft(**fields).is_cancelled


@pytest.mark.parametrize(
    "published, year",
    [
        ("Wed, 01 Oct 2025 00:00:00 GMT", 2025),
        ("2025-10-01T09:00:00+09:00", 2025),
        ("", 2026),
        ("Fri, 01 Oct 2010 00:00:00 GMT", 2026),
        ("2027-10-01", 2026),
        ("soon", 2026),
    ],
)
def test_a_year_that_is_not_written_is_counted_from_the_publication(published: str, year: int) -> None:
    assert draft(start="11月1日", extra={"published": published}).local_date.year == year


def test_links_lose_their_tracking_parameters() -> None:
    assert draft(url="https://a.test/e?id=1&utm_source=rss&fbclid=2#top").url == "https://a.test/e?id=1#top"


def test_fields_that_are_too_long_are_cut() -> None:
    found = draft(**dict.fromkeys([*LIMITS, "description", "when_note"], "長" * 30_000), extra={"名" * 500: "値" * 5_000})
    for name, limit in LIMITS.items():
        assert len(getattr(found, name)) == limit
    assert len(found.description) == LONGEST_DESCRIPTION + 1
    assert [(len(name), len(value)) for name, value in found.extra.items()] == [(100, 1_000)]


def test_a_description_that_is_cut_closes_its_tags() -> None:
    assert draft(description="<b>" + "長" * 30_000 + "</b>").description.endswith("長</b>…")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "ftp://x.example/", "//x.example", "x", "https://" + "a" * 3000]
)
def test_a_link_that_is_no_web_address_is_left_out(url: str) -> None:
    found = draft(url=url, image=url)
    assert (found.url, found.image) == ("", "")
    assert found.extra["notes"] == "The link is not a web URL."


def test_the_city_is_the_events_else_the_addresss_else_the_sources() -> None:
    assert draft(city="盛岡市", address="東京都杉並区1").city == "盛岡市"
    assert draft(address="東京都杉並区1").city == "杉並区"
    assert draft(address="オンライン").city == "星町"


def test_what_the_source_says_is_not_lost_to_what_was_learnt() -> None:
    found = draft(extra={"notes": "持ち物: 水", "doors": "13:00"}, end="2026-07-30")
    assert found.extra["source notes"] == "持ち物: 水"
    assert found.extra["doors"] == "13:00"
    assert found.extra["notes"] == "The end is before the start, and was left out."


def test_a_year_that_was_inferred_is_said_to_be() -> None:
    assert draft(start="8月1日(土)").extra == {"year_from": "weekday"}


def test_signs_that_turn_or_hide_text_are_taken_out() -> None:
    found = draft(title="夏\u202eまつり\u200b", venue="星\x07公園", organizer="\ufeff星の会")
    assert (found.title, found.venue, found.organizer) == ("夏まつり", "星公園", "星の会")
