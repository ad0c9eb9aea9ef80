"""When the events of a calendar take place: every answer here was worked out by hand, with a calendar and the rules of RFC 5545.

An expected date is `start` or `start/end`; one without a time is a whole day, and its end is the midnight after the last day.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tadoru.model.event import Occurrence, RawEvent
from tadoru.parse.sources.ics import IcsSettings, read_ics

AUGUST = datetime(2026, 8, 1, tzinfo=UTC)


def calendar(*events: str, head: str = "") -> bytes:
    parts = [f"BEGIN:VEVENT\nUID:one\nSUMMARY:Talk\n{event.strip()}\nEND:VEVENT" for event in events]
    return "\r\n".join("\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *head.split(), *parts, "END:VCALENDAR"]).split("\n")).encode()


def written(occurrence: Occurrence, with_end: bool) -> str:
    def one(moment: datetime) -> str:
        return moment.isoformat(timespec="minutes") if occurrence.has_time else moment.date().isoformat()

    end = f"/{one(occurrence.ends_at)}" if with_end and occurrence.ends_at else ""
    return f"{one(occurrence.starts_at)}{end}"


def dates(
    *events: str, now: datetime = AUGUST, zone: str = "Asia/Tokyo", head: str = "", ends: bool = False, ahead: int = 366
) -> str:
    reading = read_ics(
        calendar(*events, head=head), None, "https://x.test/c.ics", IcsSettings(days_ahead=ahead), now=now, zone=zone
    )
    assert reading.problems == ()
    return " ".join(written(one, ends) for one in reading.events[0].occurrences)


TOKYO = "DTSTART;TZID=Asia/Tokyo:"
BERLIN = "DTSTART;TZID=Europe/Berlin:"
NEW_YORK = "DTSTART;TZID=America/New_York:"
DAY = "DTSTART;VALUE=DATE:"
OUTLOOK = "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE"


def at(hours: str, *days: str) -> str:
    """`2026-08-05T10:00+09:00` for each day: the tail of a date, and the days."""
    return " ".join(f"{day}{hours}" for day in days)


RULES = {
    "a part of one maker": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=2;X-MAKER=1", "05 12"),
    "weekly on the weekday it begins": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3", "05 12 19"),
    "every second wednesday": (f"{TOKYO}20260812T100000\nRRULE:FREQ=MONTHLY;BYDAY=2WE;COUNT=4", "12 09-09 10-14 11-11"),
    "every last friday": (f"{TOKYO}20260828T100000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=3", "28 09-25 10-30"),
    "last working day": (
        f"{TOKYO}20260831T100000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3",
        "31 09-30 10-30",
    ),
    "first working day": (
        f"{TOKYO}20260803T100000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1;COUNT=3",
        "03 09-01 10-01",
    ),
    "first and last day of weekends": (
        f"{TOKYO}20260801T100000\nRRULE:FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1,-1;COUNT=4",
        "01 30 09-05 09-27",
    ),
    "the 31st is not in every month": (f"{TOKYO}20260831T100000\nRRULE:FREQ=MONTHLY;COUNT=4", "31 10-31 12-31 2027-01-31"),
    "last day of the month": (f"{TOKYO}20260831T100000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "31 09-30 10-31"),
    "two days a month": (f"{TOKYO}20260801T100000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=4", "01 15 09-01 09-15"),
    "friday the 13th": (f"{TOKYO}20260213T100000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "11-13"),
    "every tenth day": (f"{TOKYO}20260801T100000\nRRULE:FREQ=DAILY;INTERVAL=10;COUNT=4", "01 11 21 31"),
    "every other week since 2010": (f"{TOKYO}20100105T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=20260910", "11 25 09-08"),
    "every other week, week from monday": (
        f"{TOKYO}20260804T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
        "04 09 18 23",
    ),
    "every other week, week from sunday": (
        f"{TOKYO}20260804T100000\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
        "04 16 18 30",
    ),
    "20th monday of the year": (f"{TOKYO}20260518T100000\nRRULE:FREQ=YEARLY;BYDAY=20MO", "2027-05-17"),
    "monday of week 20": (f"{TOKYO}20260511T100000\nRRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "2027-05-17"),
    "week 20 keeps the weekday it began on": (f"{TOKYO}20260512T100000\nRRULE:FREQ=YEARLY;BYWEEKNO=20", "2027-05-18"),
    "last week of the year, which has 53": (f"{TOKYO}20251222T100000\nRRULE:FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO", "12-28"),
    "days 100 and last of the year": (f"{TOKYO}20260410T100000\nRRULE:FREQ=YEARLY;BYYEARDAY=100,-1", "12-31 2027-04-10"),
    "mothers' day": (f"{TOKYO}20260510T100000\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=2SU", "2027-05-09"),
    "yearly on its day": (f"{TOKYO}20200815T100000\nRRULE:FREQ=YEARLY", "15"),
    "yearly in two months": (f"{TOKYO}20260210T100000\nRRULE:FREQ=YEARLY;BYMONTH=2,9", "09-10 2027-02-10"),
    "a start that does not fit the rule counts": (f"{TOKYO}20260803T100000\nRRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3", "03 05 12"),
    "until in utc, to the minute": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;UNTIL=20260819T010000Z", "05 12 19"),
    "until in utc, a second too early": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;UNTIL=20260819T005959Z", "05 12"),
    "until in local time": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;UNTIL=20260819T100000", "05 12 19"),
    "until in local time, a second too early": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;UNTIL=20260819T095959", "05 12"),
    "until a day is all of it": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;UNTIL=20260819", "05 12 19"),
    "a date taken out": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=Asia/Tokyo:20260812T100000", "05 19"),
    "dates taken out in one line": (
        f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=4\nEXDATE;TZID=Asia/Tokyo:20260812T100000,20260826T100000",
        "05 19",
    ),
    "taken out in utc": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE:20260812T010000Z", "05 19"),
    "taken out as new york calls it": (
        f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=America/New_York:20260811T210000",
        "05 19",
    ),
    "taken out at another time is not taken out": (
        f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=Asia/Tokyo:20260812T110000",
        "05 12 19",
    ),
    "taken out by its day": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;VALUE=DATE:20260812", "05 19"),
    "taken out without a zone": (f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE:20260812T100000", "05 19"),
    "further dates": (f"{TOKYO}20260805T100000\nRDATE;TZID=Asia/Tokyo:20260901T100000,20260910T100000", "05 09-01 09-10"),
    "a further date that the rule has, too": (
        f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=2\nRDATE:20260812T010000Z,20260820T010000Z",
        "05 12 20",
    ),
}


@pytest.mark.parametrize("lines, days", RULES.values(), ids=RULES.keys())
def test_a_rule_gives_these_days_at_ten_in_tokyo(lines: str, days: str) -> None:
    def full(day: str) -> str:
        return {2: f"2026-08-{day}", 5: f"2026-{day}", 10: day}[len(day)]

    assert dates(lines) == at("T10:00+09:00", *map(full, days.split()))


TIMES = {
    "three times a day": (
        f"{TOKYO}20260802T090000\nRRULE:FREQ=HOURLY;INTERVAL=3;UNTIL=20260802T080000Z",
        "2026-08-02T09:00+09:00 2026-08-02T12:00+09:00 2026-08-02T15:00+09:00",
    ),
    "every five hours over midnight": (
        f"{TOKYO}20260802T200000\nRRULE:FREQ=HOURLY;INTERVAL=5;COUNT=4",
        "2026-08-02T20:00+09:00 2026-08-03T01:00+09:00 2026-08-03T06:00+09:00 2026-08-03T11:00+09:00",
    ),
    "hours and minutes of a day": (
        f"{TOKYO}20260802T090000\nRRULE:FREQ=DAILY;BYHOUR=9,13;BYMINUTE=0,30;COUNT=5",
        "2026-08-02T09:00+09:00 2026-08-02T09:30+09:00 2026-08-02T13:00+09:00 2026-08-02T13:30+09:00 2026-08-03T09:00+09:00",
    ),
    "without a zone, where the source is": (
        "DTSTART:20260802T090000\nRRULE:FREQ=DAILY;COUNT=2",
        "2026-08-02T09:00+09:00 2026-08-03T09:00+09:00",
    ),
    "in utc, shown where the source is": (
        "DTSTART:20260802T200000Z\nRRULE:FREQ=DAILY;COUNT=2",
        "2026-08-03T05:00+09:00 2026-08-04T05:00+09:00",
    ),
    "london in summer": (
        "DTSTART;TZID=Europe/London:20260802T200000\nRRULE:FREQ=DAILY;COUNT=1",
        "2026-08-02T20:00+01:00",
    ),
    "clocks back in europe": (
        f"{BERLIN}20261018T100000\nRRULE:FREQ=WEEKLY;COUNT=3",
        "2026-10-18T10:00+02:00 2026-10-25T10:00+01:00 2026-11-01T10:00+01:00",
    ),
    "an hour that berlin has twice is the first": (
        f"{BERLIN}20261024T023000\nRRULE:FREQ=DAILY;COUNT=3",
        "2026-10-24T02:30+02:00 2026-10-25T02:30+02:00 2026-10-26T02:30+01:00",
    ),
    "clocks forward in europe": (
        f"{BERLIN}20270321T100000\nRRULE:FREQ=WEEKLY;COUNT=2",
        "2027-03-21T10:00+01:00 2027-03-28T10:00+02:00",
    ),
    "an hour that berlin does not have is an hour later": (
        f"{BERLIN}20270327T023000\nRRULE:FREQ=DAILY;COUNT=3",
        "2027-03-27T02:30+01:00 2027-03-28T03:30+02:00 2027-03-29T02:30+02:00",
    ),
    "an hour that new york does not have": (
        f"{NEW_YORK}20270313T023000\nRRULE:FREQ=DAILY;COUNT=3",
        "2027-03-13T02:30-05:00 2027-03-14T03:30-04:00 2027-03-15T02:30-04:00",
    ),
    "an hour that new york has twice": (
        f"{NEW_YORK}20261031T013000\nRRULE:FREQ=DAILY;COUNT=3",
        "2026-10-31T01:30-04:00 2026-11-01T01:30-04:00 2026-11-02T01:30-05:00",
    ),
    "half an hour on lord howe": (
        "DTSTART;TZID=Australia/Lord_Howe:20260927T100000\nRRULE:FREQ=WEEKLY;COUNT=2",
        "2026-09-27T10:00+10:30 2026-10-04T10:00+11:00",
    ),
    "summer and winter have gone by since the first": (
        f"{NEW_YORK}20250101T180000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=1;UNTIL=20270101T000000Z;INTERVAL=3",
        "2026-10-01T18:00-04:00",
    ),
    "whole days": (f"{DAY}20260805\nRRULE:FREQ=DAILY;COUNT=2", "2026-08-05 2026-08-06"),
    "whole days until a day": (f"{DAY}20260805\nRRULE:FREQ=DAILY;UNTIL=20260806", "2026-08-05 2026-08-06"),
    "whole days until midnight in utc": (f"{DAY}20260805\nRRULE:FREQ=DAILY;UNTIL=20260806T000000Z", "2026-08-05 2026-08-06"),
    "whole days until midnight in tokyo": (f"{DAY}20260805\nRRULE:FREQ=DAILY;UNTIL=20260805T150000Z", "2026-08-05 2026-08-06"),
    "whole days until the end of a day in utc": (
        f"{DAY}20260805\nRRULE:FREQ=DAILY;UNTIL=20260806T235959Z",
        "2026-08-05 2026-08-06",
    ),
    "a whole day taken out": (f"{DAY}20260805\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE;VALUE=DATE:20260806", "2026-08-05 2026-08-07"),
    "a whole day taken out with a time": (
        f"{DAY}20260805\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE:20260806T000000",
        "2026-08-05 2026-08-07",
    ),
    "whole days and hours": (f"{DAY}20260805\nRRULE:FREQ=DAILY;BYHOUR=9,13;COUNT=2", "2026-08-05 2026-08-06"),
}


@pytest.mark.parametrize("lines, expected", TIMES.values(), ids=TIMES.keys())
def test_a_rule_gives_these_times(lines: str, expected: str) -> None:
    assert dates(lines) == expected


def test_the_29th_of_february_comes_every_four_years() -> None:
    assert dates(f"{DAY}20240229\nRRULE:FREQ=YEARLY", now=datetime(2027, 6, 1, tzinfo=UTC)) == "2028-02-29"
    assert dates(f"{DAY}20240229\nRRULE:FREQ=YEARLY", now=datetime(2026, 1, 1, tzinfo=UTC)) == ""


def test_election_day_is_the_tuesday_after_the_first_monday() -> None:
    rule = f"{NEW_YORK}20241105T090000\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8"
    assert dates(rule, now=datetime(2028, 1, 1, tzinfo=UTC)) == "2028-11-07T09:00-05:00"


ENDS = {
    "two hours": (
        f"{TOKYO}20260805T100000\nDTEND;TZID=Asia/Tokyo:20260805T120000",
        "2026-08-05T10:00+09:00/2026-08-05T12:00+09:00",
    ),
    "two hours as a duration": (f"{TOKYO}20260805T100000\nDURATION:PT2H", "2026-08-05T10:00+09:00/2026-08-05T12:00+09:00"),
    "an end in another zone": (
        f"{TOKYO}20260805T100000\nDTEND:20260805T030000Z",
        "2026-08-05T10:00+09:00/2026-08-05T12:00+09:00",
    ),
    "three whole days": (f"{DAY}20260805\nDTEND;VALUE=DATE:20260808", "2026-08-05/2026-08-08"),
    "a whole day without an end": (f"{DAY}20260805", "2026-08-05/2026-08-06"),
    "a whole day that ends when it begins": (f"{DAY}20260805\nDTEND;VALUE=DATE:20260805", "2026-08-05/2026-08-06"),
    "two whole days as a duration": (f"{DAY}20260805\nDURATION:P2D", "2026-08-05/2026-08-07"),
    "a night in which the clocks go back is as long as the others": (
        f"{BERLIN}20261024T220000\nDTEND;TZID=Europe/Berlin:20261025T060000",
        "2026-10-24T22:00+02:00/2026-10-25T06:00+01:00",
    ),
    "a day as a duration keeps the time on the wall": (
        f"{BERLIN}20261024T120000\nDURATION:P1D",
        "2026-10-24T12:00+02:00/2026-10-25T12:00+01:00",
    ),
    "24 hours do not": (f"{BERLIN}20261024T120000\nDURATION:PT24H", "2026-10-24T12:00+02:00/2026-10-25T11:00+01:00"),
    "a whole day on which the clocks go back": (f"{DAY}20261025", "2026-10-25/2026-10-26"),
}


@pytest.mark.parametrize("lines, expected", ENDS.values(), ids=ENDS.keys())
def test_an_end_is_where_the_event_says(lines: str, expected: str) -> None:
    zone = "Europe/Berlin" if "2026102" in lines else "Asia/Tokyo"
    assert dates(f"{lines}\nRRULE:FREQ=DAILY;COUNT=1", zone=zone, ends=True) == expected


def test_a_night_given_by_its_end_lasts_as_long_whatever_is_done_to_the_clocks() -> None:
    lines = f"{BERLIN}20261017T220000\nDTEND;TZID=Europe/Berlin:20261018T060000\nRRULE:FREQ=WEEKLY;COUNT=2"
    assert dates(lines, ends=True) == (
        "2026-10-17T22:00+02:00/2026-10-18T06:00+02:00 2026-10-24T22:00+02:00/2026-10-25T05:00+01:00"
    )


def test_a_period_has_an_end_of_its_own() -> None:
    lines = f"{TOKYO}20260805T100000\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260810T010000Z/PT3H,20260811T010000Z/20260811T030000Z"
    assert dates(lines, ends=True) == (
        "2026-08-05T10:00+09:00/2026-08-05T11:00+09:00 2026-08-10T10:00+09:00/2026-08-10T13:00+09:00 "
        "2026-08-11T10:00+09:00/2026-08-11T12:00+09:00"
    )


def test_what_has_begun_before_the_window_and_lasts_into_it_is_in_it() -> None:
    assert dates(f"{DAY}20260705\nDTEND;VALUE=DATE:20260805\nRRULE:FREQ=YEARLY", ends=True, ahead=30) == "2026-07-05/2026-08-05"
    assert dates(f"{DAY}20260705\nDTEND;VALUE=DATE:20260730\nRRULE:FREQ=YEARLY", ends=True, ahead=30) == ""


def test_the_window_begins_a_day_before_now() -> None:
    expected = at("T10:00+09:00", "2026-07-31", "2026-08-01", "2026-08-02")
    assert dates(f"{TOKYO}20260101T100000\nRRULE:FREQ=DAILY", ahead=2) == expected


WEEKLY = f"{TOKYO}20260805T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=4"


def changed(day: str, lines: str, parameters: str = "") -> str:
    return f"RECURRENCE-ID;TZID=Asia/Tokyo{parameters}:202608{day}T100000\n{lines}"


CHANGES = {
    "moved": ([changed("12", f"{TOKYO}20260813T150000\nDURATION:PT1H")], "05T10:00 13T15:00 19T10:00 26T10:00"),
    "moved past another": ([changed("12", f"{TOKYO}20260820T090000")], "05T10:00 19T10:00 20T09:00 26T10:00"),
    "moved out of the window": ([changed("12", f"{TOKYO}20261212T100000")], "05T10:00 19T10:00 26T10:00"),
    "cancelled": ([changed("12", f"{TOKYO}20260812T100000\nSTATUS:CANCELLED")], "05T10:00 19T10:00 26T10:00"),
    "the first is cancelled": ([changed("05", f"{TOKYO}20260805T100000\nSTATUS:CANCELLED")], "12T10:00 19T10:00 26T10:00"),
    "two are moved": (
        [changed("12", f"{TOKYO}20260813T100000"), changed("19", f"{TOKYO}20260818T100000")],
        "05T10:00 13T10:00 18T10:00 26T10:00",
    ),
    "all from one on are later": (
        [changed("12", f"{TOKYO}20260812T113000", ";RANGE=THISANDFUTURE")],
        "05T10:00 12T11:30 19T11:30 26T11:30",
    ),
    "all from one on are later, and later still": (
        [
            changed("12", f"{TOKYO}20260812T113000", ";RANGE=THISANDFUTURE"),
            changed("19", f"{TOKYO}20260819T123000", ";RANGE=THISANDFUTURE"),
        ],
        "05T10:00 12T11:30 19T12:30 26T12:30",
    ),
    "of several from one on the last in the file decides": (
        [
            changed("19", f"{TOKYO}20260819T123000", ";RANGE=THISANDFUTURE"),
            changed("12", f"{TOKYO}20260812T113000", ";RANGE=THISANDFUTURE"),
        ],
        "05T10:00 12T11:30 19T11:30 26T11:30",
    ),
    "all from one on are cancelled": (
        [changed("19", f"{TOKYO}20260819T100000\nSTATUS:CANCELLED", ";RANGE=THISANDFUTURE")],
        "05T10:00 12T10:00",
    ),
    "named by its day": (
        [f"RECURRENCE-ID;VALUE=DATE:20260812\n{TOKYO}20260813T150000"],
        "05T10:00 13T15:00 19T10:00 26T10:00",
    ),
    "named in utc": (["RECURRENCE-ID:20260812T010000Z\nDTSTART:20260813T060000Z"], "05T10:00 13T15:00 19T10:00 26T10:00"),
}


@pytest.mark.parametrize("changes, expected", CHANGES.values(), ids=CHANGES.keys())
def test_single_dates_of_a_series_are_changed(changes: list[str], expected: str) -> None:
    assert dates(WEEKLY, *changes, ahead=60) == " ".join(f"2026-08-{one}+09:00" for one in expected.split())


def test_a_change_from_one_date_on_gives_the_rest_of_a_series_another_title() -> None:
    later = changed("19", f"{TOKYO}20260819T113000\nSUMMARY:New", ";RANGE=THISANDFUTURE")
    body = calendar(WEEKLY, later).replace(b"SUMMARY:Talk\r\nRECURRENCE-ID", b"RECURRENCE-ID")
    found = read_ics(body, None, "", now=AUGUST, zone="Asia/Tokyo").events
    assert [(one.title, len(one.occurrences)) for one in found] == [("Talk", 2), ("New", 2)]
    assert found[1].occurrences[0].starts_at.hour == 11
    assert found[0].uid != found[1].uid


def named_changes(*changes: str) -> list[tuple[str | None, str]]:
    """The titles and dates of the weekly series with changes that have titles of their own."""
    body = calendar(WEEKLY, *changes).replace(b"SUMMARY:Talk\r\nRECURRENCE-ID", b"RECURRENCE-ID")
    found = read_ics(body, None, "", now=AUGUST, zone="Asia/Tokyo").events
    return [(one.title, " ".join(f"{item.starts_at:%dT%H}" for item in one.occurrences)) for one in found]


NEW_TITLE = changed("19", f"{TOKYO}20260820T100000\nSUMMARY:New", ";RANGE=THISANDFUTURE")


def test_a_date_moved_behind_a_change_of_the_title_keeps_its_own_title() -> None:
    moved = changed("12", f"{TOKYO}20260822T100000\nSUMMARY:Talk")
    assert named_changes(moved, NEW_TITLE) == [("Talk", "05T10 22T10"), ("New", "20T10 27T10")]


def test_a_series_may_get_its_first_title_back() -> None:
    back = changed("26", f"{TOKYO}20260826T100000\nSUMMARY:Talk", ";RANGE=THISANDFUTURE")
    assert named_changes(NEW_TITLE, back) == [("Talk", "05T10 12T10 26T10"), ("New", "20T10")]


def test_a_date_moved_after_a_change_of_the_title_stays_in_the_renamed_part() -> None:
    moved = changed("26", f"{TOKYO}20260829T100000\nSUMMARY:New")
    assert named_changes(moved, NEW_TITLE) == [("Talk", "05T10 12T10"), ("New", "20T10 29T10")]


def test_a_change_from_one_date_on_that_is_written_in_utc_moves_by_the_same_time() -> None:
    later = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260819T010000Z\nDTSTART:20260819T040000Z"
    assert dates(WEEKLY, later, ahead=60) == " ".join(f"2026-08-{one}:00+09:00" for one in "05T10 12T10 19T13 26T13".split())


def test_a_changed_date_that_is_not_public_is_taken_out() -> None:
    assert named_changes(changed("12", f"{TOKYO}20260812T100000\nCLASS:PRIVATE\nSUMMARY:Dentist")) == [
        ("Talk", "05T10 19T10 26T10")
    ]


def test_a_series_that_is_over_is_read_although_its_first_date_is_excluded() -> None:
    lines = f"{TOKYO}20250101T100000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=Asia/Tokyo:20250101T100000"
    reading = read_ics(calendar(lines), None, "", now=AUGUST, zone="Asia/Tokyo")
    assert [one.starts_at.isoformat() for one in reading.events[0].occurrences] == ["2025-01-08T10:00:00+09:00"]
    assert reading.problems == ()


@pytest.mark.parametrize(
    "lines, left",
    [
        ("RRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;TZID=Asia/Tokyo:20290103T100000", "2029-01-10"),
        ("RRULE:FREQ=WEEKLY;COUNT=3\nEXRULE:FREQ=MONTHLY;BYMONTHDAY=3", "2029-01-10"),
        ("RRULE:FREQ=YEARLY;INTERVAL=2;COUNT=3\nEXDATE;TZID=Asia/Tokyo:20290103T100000", "2031-01-03"),
    ],
    ids=["a date", "a rule of exceptions", "every second year"],
)
def test_a_series_after_the_window_is_read_although_its_first_date_is_excluded(lines: str, left: str) -> None:
    assert dates(f"{TOKYO}20290103T100000\n{lines}") == f"{left}T10:00+09:00"


def test_a_series_after_the_window_whose_first_date_has_moved_has_that_date() -> None:
    change = f"RECURRENCE-ID;TZID=Asia/Tokyo:20290103T100000\n{TOKYO}20290104T100000"
    assert dates(f"{TOKYO}20290103T100000\nRRULE:FREQ=WEEKLY;COUNT=3", change) == "2029-01-04T10:00+09:00"


def test_a_rule_of_exceptions_takes_dates_out() -> None:
    lines = f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;COUNT=4\nEXRULE:FREQ=WEEKLY;INTERVAL=2"
    assert dates(lines, ahead=60) == "2026-08-12T10:00+09:00 2026-08-26T10:00+09:00"


def test_a_rule_of_exceptions_that_the_first_date_does_not_fit_leaves_it() -> None:
    lines = f"{TOKYO}20260805T100000\nRRULE:FREQ=WEEKLY;BYDAY=WE,FR;COUNT=4\nEXRULE:FREQ=WEEKLY;BYDAY=FR"
    assert dates(lines, ahead=60) == "2026-08-05T10:00+09:00 2026-08-12T10:00+09:00"


def test_a_further_day_of_an_event_with_a_time_is_at_that_time() -> None:
    lines = f"{TOKYO}20260805T100000\nRDATE;VALUE=DATE:20260809"
    assert dates(lines, ahead=60) == "2026-08-05T10:00+09:00 2026-08-09T10:00+09:00"


@pytest.mark.parametrize(
    "lines, start, end",
    [
        ("DTSTART;VALUE=DATE:20260805\nDTEND;TZID=Asia/Tokyo:20260806T170000", "2026-08-05", "2026-08-06"),
        ("DTSTART;VALUE=DATE:20260805\nDTEND;TZID=Asia/Tokyo:20260806T000000", "2026-08-05", "2026-08-05"),
        (f"{TOKYO}20260805T000000\nDTEND;TZID=Asia/Tokyo:20260807T000000\n{OUTLOOK}", "2026-08-05", "2026-08-06"),
        (f"DTSTART:20260804T150000Z\nDTEND:20260805T150000Z\n{OUTLOOK}", "2026-08-05", "2026-08-05"),
        (f"{TOKYO}20260805T000000\nDURATION:P2D\n{OUTLOOK}", "2026-08-05", "2026-08-06"),
        (f"{TOKYO}20260805T090000\nDTEND;TZID=Asia/Tokyo:20260805T100000\n{OUTLOOK}", "2026-08-05T09:00", "2026-08-05T10:00"),
    ],
)
def test_whole_days_are_known_by_their_end_and_by_their_mark(lines: str, start: str, end: str) -> None:
    [found] = read_ics(calendar(lines), None, "", now=AUGUST, zone="Asia/Tokyo").events
    assert [str(found.start).replace(" ", "T")[: len(start)], str(found.end).replace(" ", "T")[: len(end)]] == [start, end]
    assert isinstance(found.start, datetime) is ("T" in start)


def test_a_date_moved_into_the_window_is_in_it() -> None:
    far = f"{TOKYO}20250105T100000\nRRULE:FREQ=YEARLY"
    moved = f"RECURRENCE-ID;TZID=Asia/Tokyo:20270105T100000\n{TOKYO}20260810T100000"
    assert dates(far, moved, ahead=30) == "2026-08-10T10:00+09:00"


def test_a_change_may_stand_before_its_series() -> None:
    assert dates(changed("12", f"{TOKYO}20260813T100000"), WEEKLY, ahead=60).startswith("2026-08-05T10:00+09:00 2026-08-13")


def test_a_calendars_own_zone_is_where_its_days_are() -> None:
    lines = "DTSTART:20261024T083000Z\nRRULE:FREQ=DAILY;COUNT=2"
    assert dates(lines, head="X-WR-TIMEZONE:Europe/Berlin") == "2026-10-24T10:30+02:00 2026-10-25T09:30+01:00"
    [midnight] = read_ics(
        calendar(f"{DAY}20260805\nRRULE:FREQ=DAILY;COUNT=1", head="X-WR-TIMEZONE:Europe/Berlin"), None, "", now=AUGUST
    ).events
    assert midnight.occurrences[0].starts_at.utcoffset() == timedelta(hours=2)


def single(lines: str, head: str = "") -> RawEvent:
    reading = read_ics(calendar(lines, head=head), None, "https://x.test/", now=AUGUST, zone="Asia/Tokyo")
    assert reading.problems == ()
    [event] = reading.events
    return event


SINGLES = {
    "in a zone": (f"{BERLIN}20260805T100000", "", "2026-08-05T10:00:00+02:00", None, "Europe/Berlin"),
    "with an offset": ("DTSTART:20260805T190000+0900", "", "2026-08-05T10:00:00+00:00", None, None),
    "in utc": ("DTSTART:20260805T100000Z", "", "2026-08-05T10:00:00+00:00", None, None),
    "in utc, of a calendar of new york": (
        "DTSTART:20260805T100000Z\nDURATION:PT1H",
        "X-WR-TIMEZONE:America/New_York",
        "2026-08-05T06:00:00-04:00",
        "2026-08-05T07:00:00-04:00",
        "America/New_York",
    ),
    "without a zone": ("DTSTART:20260805T100000\nDURATION:PT90M", "", "2026-08-05T10:00:00", "2026-08-05T11:30:00", None),
    "without a zone, of a calendar of paris": (
        "DTSTART:20260805T100000",
        "X-WR-TIMEZONE:Europe/Paris",
        "2026-08-05T10:00:00",
        None,
        "Europe/Paris",
    ),
    "one whole day": (f"{DAY}20260805\nDTEND;VALUE=DATE:20260806", "", "2026-08-05", "2026-08-05", None),
    "three whole days": (f"{DAY}20260805\nDTEND;VALUE=DATE:20260808", "", "2026-08-05", "2026-08-07", None),
    "a whole day without an end": (f"{DAY}20260805", "", "2026-08-05", None, None),
    "a day that nobody called one": ("DTSTART:20260805", "", "2026-08-05", None, None),
    "24 o'clock": (f"{TOKYO}20260805T240000", "", "2026-08-06T00:00:00+09:00", None, "Asia/Tokyo"),
    "in a gap": (f"{BERLIN}20270328T023000", "", "2027-03-28T03:30:00+02:00", None, "Europe/Berlin"),
}


@pytest.mark.parametrize("lines, head, start, end, zone", SINGLES.values(), ids=SINGLES.keys())
def test_a_single_event_keeps_its_time_and_zone(lines: str, head: str, start: str, end: str | None, zone: str | None) -> None:
    event = single(lines, head)
    assert not isinstance(event.start, str)
    assert not isinstance(event.end, str)
    found = [event.start.isoformat() if event.start else None, event.end.isoformat() if event.end else None, event.timezone]
    assert found == [start, end, zone]
    assert event.occurrences == ()


def test_a_series_far_away_keeps_its_first_date_and_its_rule() -> None:
    event = single(f"{TOKYO}20200805T100000\nRRULE:FREQ=DAILY;COUNT=3")
    assert (event.start, event.occurrences, event.recurrence) == (
        datetime.fromisoformat("2020-08-05T10:00+09:00"),
        (),
        "FREQ=DAILY;COUNT=3",
    )
