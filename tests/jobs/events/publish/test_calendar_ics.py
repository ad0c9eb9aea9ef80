"""A calendar that is given out says what it was made of: read back by our own reader, and held to the letter of RFC 5545."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.publish.ics import escape_text, fold_line, ics_calendar
from tadoru.model.event import ParsedSource
from tadoru.parse.sources.ics import read_ics
from tadoru.store.calendar.records import EventRecord, ZoneUse
from tests.jobs.events.publish.sample_events import FIRST, STAMP, TOKYO, time, told, whole_days, zone_use

ZONES = ("Europe/London", "America/New_York", "Asia/Jerusalem", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tokyo")


def written(*events: EventRecord, zones: Iterable[ZoneUse] = (zone_use("Asia/Tokyo"),), **given: object) -> str:
    return "".join(ics_calendar(events, zones, **given))  # type: ignore[arg-type]


def read(calendar_text: str) -> ParsedSource:
    return read_ics(calendar_text.encode(), "text/calendar", "https://example.org/c.ics", now=FIRST)


def unfolded(calendar_text: str) -> list[str]:
    return calendar_text.replace("\r\n ", "").split("\r\n")


def test_what_is_written_is_read_back() -> None:
    event = told(
        time(FIRST, FIRST + timedelta(hours=2)), title="夏祭り; 花火, 屋台",
        description="<p>太鼓の<b>競演</b></p><p>雨天中止</p>", venue="中央公園",
        address="盛岡市内丸1-1", city="盛岡市", lat=39.7, lon=-141.15, category="祭り, 音楽", organizer="実行委員会",
        price="無料", url="https://example.org/a,b;c", image="https://example.org/p.png", licence="CC BY 4.0",
        terms_url="https://example.org/terms", source_url="https://example.org/source", sequence=7,
    )  # fmt: skip
    [one] = read(written(event)).events
    assert (one.title, one.uid, one.url, one.image) == ("夏祭り; 花火, 屋台", "0123abcd", event.event.url, event.event.image)
    assert (one.start, one.end, one.timezone) == (FIRST, FIRST + timedelta(hours=2), "Asia/Tokyo")
    assert (one.latitude, one.longitude, one.category) == ("39.700000", "-141.150000", "祭り, 音楽")
    assert one.venue == "中央公園, 盛岡市内丸1-1"
    assert one.description is not None
    assert one.description.splitlines() == [
        "太鼓の競演", "", "雨天中止", "", "Price: 無料", "Organizer: 実行委員会", "Source: https://example.org/source",
        "Licence: CC BY 4.0", "Terms: https://example.org/terms",
    ]  # fmt: skip
    assert one.extra["CONTACT"] == "実行委員会"
    assert not one.is_cancelled
    assert "SEQUENCE:7" in unfolded(written(event))


def test_source_and_licence_are_told_in_japanese_on_request() -> None:
    event = told(source_url="https://example.org/", licence="CC BY 4.0")
    assert "DESCRIPTION:出典: https://example.org/\\nライセンス: CC BY 4.0" in unfolded(written(event, lang="ja"))


def test_whole_days_end_on_the_day_after_the_last() -> None:
    text = written(told(whole_days(date(2026, 8, 1), 3)))
    assert "DTSTART;VALUE=DATE:20260801\r\nDTEND;VALUE=DATE:20260804\r\n" in text
    [one] = read(text).events
    assert (one.start, one.end) == (date(2026, 8, 1), date(2026, 8, 3)), "a raw event's end is the last day, included"


def test_a_day_without_a_time_is_that_day() -> None:
    lines = unfolded(written(told(time(FIRST.replace(hour=0), has_time=False))))
    assert "DTSTART;VALUE=DATE:20260801" in lines
    assert not any(line.startswith("DTEND") for line in lines)


def test_a_series_is_an_event_for_each_of_its_times_in_the_period() -> None:
    times = [time(FIRST + timedelta(weeks=n), FIRST + timedelta(weeks=n, hours=1)) for n in range(5)]
    found = read(written(told(*times), since=date(2026, 8, 8), until=date(2026, 8, 22))).events
    assert [one.start for one in found] == [FIRST + timedelta(weeks=n) for n in (1, 2, 3)]
    assert [one.uid for one in found] == [f"0123abcd-202608{day:02}" for day in (8, 15, 22)]


def test_the_uid_of_a_date_survives_a_corrected_time() -> None:
    morning, later = ([time(FIRST + timedelta(hours=hour, weeks=n)) for n in range(2)] for hour in (0, 3))
    assert [one.uid for one in read(written(told(*morning))).events] == [one.uid for one in read(written(told(*later))).events]


def test_times_of_one_day_have_uids_of_their_own() -> None:
    times = [time(FIRST), time(FIRST + timedelta(hours=3)), time(FIRST + timedelta(days=1))]
    assert [one.uid for one in read(written(told(*times))).events] == [
        "0123abcd-20260801",
        "0123abcd-20260801-2",
        "0123abcd-20260802",
    ]


def test_a_postponed_event_is_not_a_cancelled_one() -> None:
    text = written(told(cancelled_at=STAMP, extra={"postponed": "yes"}))
    assert "\r\nSTATUS:TENTATIVE\r\n" in text
    assert (read(text).events[0].description or "").startswith("Postponed")


@pytest.mark.parametrize("mark, status", [("cancelled_at", "CANCELLED"), ("vanished_at", "TENTATIVE"), (None, "CONFIRMED")])
def test_the_status_says_whether_it_takes_place(mark: str | None, status: str) -> None:
    text = written(told(**{mark: STAMP} if mark else {}))
    assert f"\r\nSTATUS:{status}\r\n" in text
    assert read(text).events[0].is_cancelled is (status == "CANCELLED")


def test_the_same_events_give_the_same_bytes_and_stamps_are_those_of_the_last_change() -> None:
    assert written(told()) == written(told())
    assert "\r\nDTSTAMP:20260701T030405Z\r\n" in written(told())


def test_subscribers_are_told_how_often_to_refresh() -> None:
    assert read(written(told())).ttl == 3 * 3600
    assert {"REFRESH-INTERVAL;VALUE=DURATION:PT3H", "X-PUBLISHED-TTL:PT3H"} <= set(unfolded(written(told())))


def test_utc_needs_no_zone() -> None:
    text = written(told(timezone="UTC"), zones=[zone_use("UTC")])
    assert "VTIMEZONE" not in text
    assert "\r\nDTSTART:20260801T010000Z\r\nDTEND:20260801T030000Z\r\n" in text


def test_a_zone_that_this_machine_does_not_know_is_utc() -> None:
    text = written(told(timezone="Mars/Olympus"), zones=[zone_use("Mars/Olympus")])
    assert "TZID" not in text
    assert "\r\nDTSTART:20260801T010000Z\r\n" in text


def test_an_hour_that_the_clocks_show_twice_is_told_apart() -> None:
    here = ZoneInfo("America/New_York")
    for fold, moment in ((0, "DTSTART;TZID=America/New_York:20261101T013000"), (1, "DTSTART:20261101T063000Z")):
        start = datetime(2026, 11, 1, 1, 30, tzinfo=here, fold=fold)
        text = written(told(time(start), timezone="America/New_York"), zones=[zone_use("America/New_York")])
        assert moment in unfolded(text)
        [one] = read(text).events
        assert isinstance(one.start, datetime)
        assert one.start.astimezone(UTC) == start.astimezone(UTC)


@given(st.sampled_from(ZONES), st.integers(1_100_000_000, 2_050_000_000))
def test_the_zone_that_is_written_tells_the_same_times_as_the_zone(name: str, seconds: int) -> None:
    """The name is taken away, so that the reader has nothing but the VTIMEZONE to go by."""
    start = datetime.fromtimestamp(seconds, ZoneInfo(name))
    use = ZoneUse(name=name, first=start, last=start)
    text = written(told(time(start), timezone=name), zones=[use]).replace(name, "Nowhere-Known")
    [one] = read(text).events
    assert isinstance(one.start, datetime)
    assert one.start.astimezone(UTC) == start.astimezone(UTC), text


def test_rules_of_a_zone_are_written_as_rules_where_there_are_some() -> None:
    lines = unfolded(written(zones=[zone_use("Europe/London")]))
    assert "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU" in lines
    assert "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU" in lines
    dates = [line for line in unfolded(written(zones=[zone_use("Africa/Casablanca")])) if line.startswith("RDATE:")]
    assert dates
    assert not any("," in line for line in dates), "several programs read only the first of a list"


@given(st.text())
def test_any_text_survives_and_no_line_is_too_long(words: str) -> None:
    text_written = written(told(title=words or "-", description=words, venue=words, organizer=words, category=words, url=words))
    lines = text_written.encode("utf-8").split(b"\r\n")
    assert max(map(len, lines)) <= 75
    for line in lines:
        line.decode()  # no line ends within a character
        assert not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", line)
    assert lines[-1] == b""
    names = [line.split(b":")[0].split(b";")[0] for line in lines if line and not line.startswith(b" ")]
    assert names.count(b"BEGIN") == names.count(b"END") == 4, "nothing that a source wrote begins or ends anything"
    assert all(re.fullmatch(rb"[A-Z-]+", name) for name in names)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.just("\n"), max_size=300))
def test_a_text_is_unescaped_to_what_it_was(words: str) -> None:
    line = fold_line(f"SUMMARY:{escape_text(words)}").replace("\r\n ", "").removesuffix("\r\n").removeprefix("SUMMARY:")
    assert re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], line) == words


def test_events_pass_through_one_after_the_other() -> None:
    taken = 0

    def many() -> Iterator[EventRecord]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield told(id=number, uid=f"u{number}")

    pieces = ics_calendar(many(), [zone_use("Asia/Tokyo")])
    assert any("BEGIN:VEVENT" in piece for piece in pieces)
    assert taken == 1
    assert sum("BEGIN:VEVENT" in piece for piece in pieces) == 999


def test_an_event_that_ends_when_it_begins_has_no_end() -> None:
    assert "DTEND" not in written(told(time(FIRST, FIRST)))


def test_a_year_before_1000_has_four_digits() -> None:
    start = datetime(987, 5, 1, 10, 0, tzinfo=TOKYO)
    assert re.search(r"\r\nDTSTART;TZID=Asia/Tokyo:0987", written(told(time(start))))
