"""Calendars: the words about events, broken calendars, the settings. When events are: `test_ics_dates`."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import ConfigError
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources import ics_lines
from tadoru.parse.sources.ics import IcsSettings, read_ics
from tadoru.parse.sources.raw_fields import MAX_PROBLEMS
from tests.support.properties import examples

NOW = datetime(2026, 8, 1, tzinfo=UTC)
URL = "https://town.test/calendar/all.ics"


def read(text: str | bytes, content_type: str | None = None, options: IcsSettings | None = None) -> ParsedSource:
    body = text.encode() if isinstance(text, str) else text
    return read_ics(body, content_type, URL, options, now=NOW, zone="Asia/Tokyo")


def event(*lines: str) -> str:
    return "\r\n".join(["BEGIN:VEVENT", "UID:1", "DTSTART;VALUE=DATE:20260805", *lines, "END:VEVENT"])


def calendar(*parts: str) -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *parts, "END:VCALENDAR", ""])


def only(*lines: str) -> RawEvent:
    reading = read(calendar(event(*lines)))
    assert reading.problems == ()
    [found] = reading.events
    return found


WORDS = {
    "title": ("SUMMARY:夏祭り", "title", "夏祭り"),
    "escapes": (r"SUMMARY:A\, B\; C\\D\nE", "title", "A, B; C\\D\nE"),
    "colon": ("SUMMARY:Re: talk", "title", "Re: talk"),
    "language": ('SUMMARY;LANGUAGE=ja;X-Y="a:b;c":盆踊り', "title", "盆踊り"),
    "lower case": ("summary:quiet", "title", "quiet"),
    "description": (r"DESCRIPTION:one\ntwo", "description", "one\ntwo"),
    "description as html": ("X-ALT-DESC;FMTTYPE=text/html:<p>Hi</p>", "description", "<p>Hi</p>"),
    "venue": (r"LOCATION:市民ホール\, 盛岡市", "venue", "市民ホール, 盛岡市"),
    "url": ("URL:https://town.test/e/1?utm_source=x#top", "url", "https://town.test/e/1?utm_source=x#top"),
    "relative url": ("URL:../e/1", "url", "https://town.test/e/1"),
    "url that is none": ("URL:javascript:alert(1)", "url", None),
    "organizer by name": ('ORGANIZER;CN="Town, Hall":mailto:hall@town.test', "organizer", "Town, Hall"),
    "organizer with a caret": ("ORGANIZER;CN=The ^'Club^':mailto:hall@town.test", "organizer", 'The "Club"'),
    "organizer by address": ("ORGANIZER:MAILTO:hall@town.test", "organizer", "hall@town.test"),
    "categories": (r"CATEGORIES:Music,Food\, drink", "category", "Music, Food, drink"),
    "image": ("IMAGE;VALUE=URI;DISPLAY=BADGE:https://town.test/a", "image", "https://town.test/a"),
    "attached image": ("ATTACH;FMTTYPE=image/png:https://town.test/a", "image", "https://town.test/a"),
    "attached image by its name": ("ATTACH:/files/a.JPG?x=1", "image", "https://town.test/files/a.JPG?x=1"),
    "attached paper": ("ATTACH:https://town.test/a.pdf", "image", None),
    "image in the line": ("ATTACH;FMTTYPE=image/png;ENCODING=BASE64;VALUE=BINARY:AAAA", "image", None),
    "latitude": ("GEO:39.70;141.15", "latitude", "39.70"),
    "longitude": ("GEO:39.70;141.15", "longitude", "141.15"),
    "place of an apple": ('X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE="A":geo:39.7,141.1', "latitude", "39.7"),
    "as vCalendar 1.0 wrote texts": (
        "SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E5=A4=95=\r\n=E6=B6=BC=E3=81=BF",
        "title",
        "夕涼み",
    ),
    "cancelled": ("STATUS:CANCELLED", "is_cancelled", True),
    "confirmed": ("STATUS:CONFIRMED", "is_cancelled", False),
    "changed": ("LAST-MODIFIED:20260701T000000Z", "updated", "20260701T000000Z"),
    "besides": ("CLASS:PUBLIC", "extra", {"CLASS": "PUBLIC"}),
    "words of one maker": ("X-COST;TYPE=a:500円", "extra", {"X-COST": "500円"}),
}


@pytest.mark.parametrize("line, field, expected", WORDS.values(), ids=WORDS.keys())
def test_a_line_is_the_field_it_means(line: str, field: str, expected: object) -> None:
    assert getattr(only(line), field) == expected


def test_all_categories_of_several_lines_are_taken() -> None:
    assert only("CATEGORIES:A,B", "CATEGORIES:B,C").category == "A, B, C"


def test_a_folded_line_is_one_even_when_a_character_is_cut_in_two() -> None:
    whole = "SUMMARY:夏祭り".encode()
    folded = whole[:9] + b"\r\n " + whole[9:13] + b"\r\n\t" + whole[13:]
    assert read(calendar(event("X-A:1")).encode().replace(b"X-A:1", folded)).events[0].title == "夏祭り"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\r\r\n", "\r\n\r\n"], ids=["CRLF", "LF", "CR", "CRCRLF", "empty lines"])
def test_lines_may_end_in_any_way(end: str) -> None:
    reading = read(calendar(event("SUMMARY:a", " b"), event("SUMMARY:c")).replace("\r\n", end))
    assert [one.title for one in reading.events] == ["ab", "c"]


@pytest.mark.parametrize(
    "codec, content_type",
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("shift_jis", "text/calendar; charset=Shift_JIS"),
        ("euc_jp", "text/calendar;charset=euc-jp"),
        ("utf-8", "text/calendar; charset=iso-8859-1"),
        ("utf-8", "text/html; charset=Shift_JIS"),
        ("shift_jis", "text/calendar; charset=utf-8"),
    ],
)
def test_calendars_are_read_in_the_charset_they_are_in(codec: str, content_type: str | None) -> None:
    assert read(calendar(event("SUMMARY:夏祭りと花火大会")).encode(codec), content_type).events[0].title == "夏祭りと花火大会"


def test_several_calendars_in_one_body_have_zones_of_their_own() -> None:
    one = calendar("X-WR-TIMEZONE:Europe/Paris", "BEGIN:VEVENT", "UID:1", "DTSTART:20260805T100000", "END:VEVENT")
    two = calendar("X-WR-TIMEZONE:Asia/Tokyo", "BEGIN:VEVENT", "UID:1", "DTSTART:20260805T100000", "END:VEVENT")
    assert [found.timezone for found in read(one + two).events] == ["Europe/Paris", "Asia/Tokyo"]


def test_alarms_and_tasks_are_no_events() -> None:
    alarm = ("BEGIN:VALARM", "SUMMARY:Wake up", "ATTACH:https://town.test/a.png", "END:VALARM")
    reading = read(calendar("BEGIN:VTODO", "SUMMARY:Task", "END:VTODO", event(*alarm, "SUMMARY:Talk")))
    assert [(found.title, found.image) for found in reading.events] == [("Talk", None)]
    assert reading.problems == ()


@pytest.mark.parametrize("word", ["PRIVATE", "confidential"])
def test_an_event_that_is_not_public_is_skipped_with_the_reason(word: str) -> None:
    reading = read(calendar(event("SUMMARY:Dentist", f"CLASS:{word}"), event("SUMMARY:Talk").replace("UID:1", "UID:2")))
    assert [one.title for one in reading.events] == ["Talk"]
    assert [one.reason for one in reading.problems] == ["The event is not public (CLASS); it is skipped."]


def test_of_several_revisions_the_last_is_shown() -> None:
    reading = read(calendar(event("SUMMARY:new", "SEQUENCE:2"), event("SUMMARY:old", "SEQUENCE:0"), event("SUMMARY:older")))
    assert [one.title for one in reading.events] == ["new"]


def test_events_of_one_uid_and_one_revision_are_several() -> None:
    reading = read(calendar(event("SUMMARY:a", "SEQUENCE:1"), event("SUMMARY:b", "SEQUENCE:1")))
    assert [one.title for one in reading.events] == ["a", "b"]


def test_a_message_that_cancels_cancels_all_its_events() -> None:
    assert [one.is_cancelled for one in read(calendar("METHOD:CANCEL", event())).events] == [True]


def test_a_calendar_may_say_how_often_it_wants_to_be_read() -> None:
    assert read(calendar("REFRESH-INTERVAL;VALUE=DURATION:PT4H")).ttl == 4 * 3600
    assert read(calendar("X-PUBLISHED-TTL:P1D")).ttl == 86_400
    assert read(calendar("X-PUBLISHED-TTL:often")).ttl is None


def test_an_event_that_does_not_say_when_it_is_is_handed_on() -> None:
    [found] = read(calendar("BEGIN:VEVENT", "SUMMARY:Some day", "END:VEVENT")).events
    assert (found.title, found.start) == ("Some day", None)


def test_a_date_with_another_title_is_an_event_of_its_own() -> None:
    series = ("UID:s", "SUMMARY:Talk", "DTSTART;VALUE=DATE:20260805", "RRULE:FREQ=DAILY;COUNT=3")
    special = ("UID:s", "SUMMARY:Talk with a guest", "RECURRENCE-ID;VALUE=DATE:20260806", "DTSTART;VALUE=DATE:20260806")
    reading = read(calendar("BEGIN:VEVENT", *series, "END:VEVENT", "BEGIN:VEVENT", *special, "END:VEVENT"))
    whole, single = reading.events
    assert [one.starts_at.day for one in whole.occurrences] == [5, 7]
    assert (single.title, single.uid, single.start, single.occurrences) == (
        "Talk with a guest",
        "s#20260806",
        date(2026, 8, 6),
        (),
    )


def test_a_changed_date_without_its_series_stands_alone() -> None:
    [found] = read(calendar(event("RECURRENCE-ID;VALUE=DATE:20260801", "SUMMARY:Talk"))).events
    assert (found.uid, found.start) == ("1#20260801", date(2026, 8, 5))


def test_events_that_share_a_uid_without_being_a_series_are_all_kept() -> None:
    assert [one.title for one in read(calendar(event("SUMMARY:a"), event("SUMMARY:b"))).events] == ["a", "b"]


def test_a_series_of_which_everything_is_taken_out_is_left_out_with_a_reason() -> None:
    reading = read(calendar(event("RRULE:FREQ=DAILY;COUNT=1", "EXDATE;VALUE=DATE:20260805")))
    assert (reading.events, [one.reason for one in reading.problems]) == (
        (),
        ["All dates of the series are excluded; the event is skipped."],
    )


FAULTS = {
    "start": ("DTSTART:20261332", 0, "The start (DTSTART) is not a readable date; the event is skipped."),
    "start far away": ("DTSTART:00010101T000000Z", 0, "The start (DTSTART) is not a readable date; the event is skipped."),
    "end": ("DTSTART:20260805T100000Z\nDTEND:tomorrow", 1, "The end (DTEND) does not fit the start; it is ignored."),
    "end of another kind": (
        "DTSTART:20260805T100000Z\nDTEND;VALUE=DATE:20260806",
        1,
        "The end (DTEND) does not fit the start; it is ignored.",
    ),
    "end before the start": (
        "DTSTART:20260805T100000Z\nDTEND:20260804T100000Z",
        1,
        "The end is before the start, or years after it; it is ignored.",
    ),
    "duration of ages": (
        "DTSTART:20260805T100000Z\nDURATION:P999999D",
        1,
        "The end is before the start, or years after it; it is ignored.",
    ),
    "duration": ("DTSTART:20260805T100000Z\nDURATION:long", 1, "The duration cannot be read; it is ignored."),
    "zone": ("DTSTART;TZID=Mars/Base:20260805T100000", 1, "The time zone is not known; the times are read as local time."),
    "line": ("DTSTART:20260805\nand then there was a line", 1, "A line is not of the form NAME:VALUE and is skipped."),
    "rule": (
        "DTSTART:20260805\nRRULE:FREQ=OFTEN",
        1,
        "The recurrence rule has an unknown frequency (OFTEN). Only its first date is kept.",
    ),
    "further date": ("DTSTART:20260805\nRDATE:soon", 1, "An additional date (RDATE) cannot be read and is skipped."),
    "date taken out": ("DTSTART:20260805\nRRULE:FREQ=DAILY\nEXDATE:soon", 1, "An excluded date (EXDATE) cannot be read."),
}


@pytest.mark.parametrize("lines, kept, reason", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_told_and_the_rest_is_read(lines: str, kept: int, reason: str) -> None:
    reading = read(calendar("BEGIN:VEVENT", *lines.split("\n"), "END:VEVENT", event("SUMMARY:whole")))
    assert [(one.position, one.reason) for one in reading.problems] == [("VEVENT 1", reason)]
    assert len(reading.events) == kept + 1
    assert reading.events[-1].title == "whole"


BROKEN = {
    "no end of the event": (
        "BEGIN:VEVENT\nSUMMARY:a\nDTSTART:20260805\nBEGIN:VEVENT\nSUMMARY:b\nDTSTART:20260805\nEND:VEVENT",
        ["a", "b"],
    ),
    "no end of an alarm": ("BEGIN:VEVENT\nSUMMARY:a\nBEGIN:VALARM\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:b\nEND:VEVENT", ["a", "b"]),
    "an end too many": ("END:VEVENT\nBEGIN:VEVENT\nSUMMARY:b\nEND:VEVENT\nEND:X", ["b"]),
    "cut off": ("BEGIN:VEVENT\nSUMMARY:a\nEND:VEVENT\nBEGIN:VEVENT\nSUMMARY:b", ["a", "b"]),
    "components of strangers": ("BEGIN:X-A\nBEGIN:X-B\nSUMMARY:no\nEND:X-B\nEND:X-A\nBEGIN:VEVENT\nSUMMARY:b\nEND:VEVENT", ["b"]),
}


@pytest.mark.parametrize("lines, titles", BROKEN.values(), ids=BROKEN.keys())
def test_events_are_found_in_a_broken_calendar(lines: str, titles: list[str]) -> None:
    assert [one.title for one in read(f"BEGIN:VCALENDAR\n{lines}\nEND:VCALENDAR\n").events] == titles


@pytest.mark.parametrize("body", [b"", b"<html>Not here</html>", b"\x1f\x8b\x00\x01", b"BEGIN:VCARD\nEND:VCARD"])
def test_what_is_no_calendar_says_so(body: bytes) -> None:
    reading = read(body)
    assert reading.events == ()
    assert reading.problems[-1].reason == "There is no calendar (BEGIN:VCALENDAR)."


def test_events_outside_of_a_calendar_are_read_and_told() -> None:
    reading = read(event("SUMMARY:loose"))
    assert [one.title for one in reading.events] == ["loose"]
    assert [one.reason for one in reading.problems] == ["There are events outside of a VCALENDAR; they are read anyway."]


def test_no_more_events_are_read_than_wanted() -> None:
    reading = read(calendar(*[event(f"SUMMARY:{number}") for number in range(5)]), options=IcsSettings(limit=3))
    assert len(reading.events) == 3
    assert [one.reason for one in reading.problems] == ["There are more than 3 events; the rest is not read."]


def test_no_more_dates_are_read_than_wanted() -> None:
    reading = read(calendar(event("RRULE:FREQ=DAILY")), options=IcsSettings(occurrences=7))
    assert [one.starts_at.day for one in reading.events[0].occurrences] == [5, 6, 7, 8, 9, 10, 11]
    assert [one.reason for one in reading.problems] == ["The series has more than 7 dates in the window; the rest is skipped."]


def test_a_calendar_larger_than_allowed_is_read_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    body = calendar(event("SUMMARY:a"), event("SUMMARY:b"))
    monkeypatch.setattr(ics_lines, "MAX_BYTES", body.index("SUMMARY:b"))
    reading = read(body)
    assert [one.title for one in reading.events] == ["a", None]
    assert reading.problems[0].reason.startswith("The calendar is larger than")


def test_problems_are_listed_up_to_a_number_and_then_counted() -> None:
    reading = read(calendar(event(*["broken"] * (MAX_PROBLEMS + 50))))
    assert len(reading.problems) == MAX_PROBLEMS + 1
    assert reading.problems[-1].reason == "And 50 more problems."


def test_settings_are_taken_from_texts_as_well_as_numbers() -> None:
    assert IcsSettings.from_mapping({}) == IcsSettings()
    assert IcsSettings.from_mapping({"days_ahead": "30", "occurrences": 10}) == IcsSettings(days_ahead=30, occurrences=10)


@pytest.mark.parametrize(
    "mapping, words",
    [
        ({"days_ahead": "soon"}, ["days_ahead", "“soon”", "0 to 3660"]),
        ({"days_back": -1}, ["days_back", "0 to 3660"]),
        ({"horizon": 3}, ["horizon", "days_back, days_ahead, occurrences, limit"]),
    ],
    ids=["no number", "out of range", "unknown"],
)
def test_a_setting_that_does_not_fit_is_named_with_what_is_allowed(mapping: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        IcsSettings.from_mapping(mapping)
    assert all(word in str(error.value) for word in words)


WHOLE = calendar(
    "X-WR-TIMEZONE:Asia/Tokyo",
    "BEGIN:VTIMEZONE",
    "TZID:Own",
    "BEGIN:STANDARD",
    "DTSTART:19701025T030000",
    "TZOFFSETFROM:+0200",
    "TZOFFSETTO:+0100",
    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
    "END:STANDARD",
    "END:VTIMEZONE",
    "BEGIN:VEVENT",
    "UID:1",
    "SUMMARY:Talk",
    "DTSTART;TZID=Own:20260805T100000",
    "DURATION:P1DT2H",
    "RRULE:FREQ=MONTHLY;BYDAY=2WE,-1FR;BYSETPOS=1;UNTIL=20271231T000000Z;WKST=SU",
    "RDATE;VALUE=PERIOD:20260810T010000Z/PT3H",
    "EXDATE;TZID=Own:20260909T100000",
    "GEO:39.7;141.1",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "UID:1",
    "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Own:20261014T100000",
    "DTSTART;VALUE=DATE:20261015",
    "END:VEVENT",
).encode()


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_exception(body: bytes) -> None:
    read(body)
    read(b"BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + body)


@examples(300)
@given(st.data())
def test_a_calendar_with_parts_cut_out_doubled_or_overwritten_is_read_without_an_exception(data: st.DataObject) -> None:
    body = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 40)))
        new = data.draw(
            st.one_of(
                st.binary(max_size=8),
                st.sampled_from([b"99999999", b"-1", b"0", b"Z", b";", b":", b",", b"\r\n", body[start:end] * 2]),
            )
        )
        body = body[:start] + new + body[end:]
    reading = read(body)
    assert all(one.starts_at.utcoffset() is not None for found in reading.events for one in found.occurrences)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).map(str.strip).filter(bool), max_size=5
    )
)
def test_a_title_comes_back_as_it_was_written(titles: list[str]) -> None:
    lines = [event("SUMMARY:" + title.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")) for title in titles]
    assert [one.title for one in read(calendar(*lines)).events] == titles
