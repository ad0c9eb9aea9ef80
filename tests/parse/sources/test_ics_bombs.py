"""Calendars made to take long: every one ends by counted steps, is told, and leaves the other events whole.

Nothing here is measured by a clock: without the steps these would run for minutes, and the suite's time limit would end them.
"""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta
from time import process_time

import pytest

from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.ics import TOTAL_STEPS, IcsSettings, read_ics
from tadoru.parse.sources.ics_lines import MAX_COMPONENTS, MAX_PROPERTIES, read_components
from tadoru.parse.sources.ics_rule import OutOfSteps, StepBudget
from tadoru.parse.sources.raw_fields import ReadProblems

NOW = datetime(2026, 8, 1, tzinfo=UTC)
GOOD = "UID:good\nSUMMARY:Talk\nDTSTART:20260805T100000Z\nRRULE:FREQ=WEEKLY;COUNT=3"
LONG_AGO = "UID:bad\nDTSTART:15830101T000000Z\n"


def read(*events: str, head: str = "") -> ParsedSource:
    inner = "".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT\n" for event in events)
    return read_ics(f"BEGIN:VCALENDAR\n{head}{inner}END:VCALENDAR\n".encode(), None, "https://town.test/", now=NOW)


def good(reading: ParsedSource) -> RawEvent:
    [event] = [event for event in reading.events if event.uid == "good"]
    return event


BOMBS = {
    "every second": (f"{LONG_AGO}RRULE:FREQ=SECONDLY", "An event that takes place secondly is not followed."),
    "a billion minutes": (f"{LONG_AGO}RRULE:FREQ=MINUTELY;COUNT=1000000000", "An event that takes place minutely"),
    "a billion days": (f"{LONG_AGO}RRULE:FREQ=DAILY;COUNT=1000000000", "The recurrence rule takes too long"),
    "a billion hours": (f"{LONG_AGO}RRULE:FREQ=HOURLY;COUNT=1000000000", "The recurrence rule takes too long"),
    "a day that never comes": (
        f"{LONG_AGO}RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5",
        "The recurrence rule takes too long",
    ),
    "all minutes of all hours": (
        f"{LONG_AGO}RRULE:FREQ=HOURLY;BYMINUTE={','.join(map(str, range(60)))}",
        "The recurrence rule names 1440 times a day",
    ),
    "a rule of megabytes": (f"{LONG_AGO}RRULE:FREQ=DAILY;BYMONTHDAY={'1,' * 500_000}1", "The recurrence rule is too long"),
    "further dates": (f"{LONG_AGO}RDATE:{','.join(['20260901T000000Z'] * 50_000)}", "More than 10000 dates are given by RDATE"),
    "dates taken out": (
        f"{LONG_AGO}RRULE:FREQ=DAILY\nEXDATE:{','.join(['20260901T000000Z'] * 50_000)}",
        "More than 10000 dates are given by EXDATE",
    ),
}


@pytest.mark.parametrize("bomb, reason", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_told_and_the_other_event_is_whole(bomb: str, reason: str) -> None:
    reading = read(bomb, GOOD)
    assert [one.position for one in reading.problems] == ["VEVENT 1"]
    assert reading.problems[0].reason.startswith(reason)
    assert [one.starts_at.day for one in good(reading).occurrences] == [5, 12, 19]


@pytest.mark.parametrize("interval", ["999999999999", "100000"])
def test_a_giant_interval_never_comes_again(interval: str) -> None:
    for frequency in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY", "HOURLY"):
        reading = read(f"UID:bad\nDTSTART:20260802T000000Z\nRRULE:FREQ={frequency};INTERVAL={interval}", GOOD)
        assert reading.problems == ()
        assert [len(event.occurrences) for event in reading.events] == [1, 3]


def test_many_bombs_leave_steps_for_those_who_take_little() -> None:
    bombs = [f"UID:{number}\nDTSTART:15830101T000000Z\nRRULE:FREQ=DAILY;COUNT=999999999" for number in range(100)]
    reading = read(*bombs, GOOD)
    assert len(reading.events) == 101
    assert len(good(reading).occurrences) == 3


def test_many_series_with_one_uid_and_many_changes_are_bounded() -> None:
    series = ["UID:bad\nDTSTART:20260801T000000Z\nRRULE:FREQ=DAILY"] * 40
    changes = ["UID:bad\nRECURRENCE-ID:20260901T000000Z\nDTSTART:20260901T050000Z"] * 1_000
    reading = read(*series, *changes, GOOD)
    assert "Too many series and changed dates have one UID; the changes are skipped here." in {
        one.reason for one in reading.problems
    }
    assert len(good(reading).occurrences) == 3


def test_many_changes_from_a_date_on_cost_no_more_for_each_date() -> None:
    """Tried one after the other for every date, they take ten times as long as changes of single dates."""

    def cost(parameter: str) -> float:
        days = [datetime(2090, 1, 1, tzinfo=UTC) + timedelta(minutes=number) for number in range(20_000)]
        dates = [(f"{day:%Y%m%dT%H%M%SZ}", f"{day:%Y%m%dT%H%M%SZ}") for day in days]
        # One is moved by decades, so that dates that far from the window are looked at.
        changes = [
            f"UID:good\nSUMMARY:Talk\nRECURRENCE-ID{parameter}:{date}\nDTSTART:{start}"
            for date, start in [*dates, ("20900101T000000Z", "20490101T000000Z")]
        ]
        began = process_time()
        found = good(read("UID:good\nSUMMARY:Talk\nDTSTART:20260805T100000Z\nRRULE:FREQ=DAILY", *changes))
        assert len(found.occurrences) == 362
        return process_time() - began

    assert cost(";RANGE=THISANDFUTURE") < 4 * cost("")


def test_zones_that_are_drawn_for_ever_are_bounded() -> None:
    zones = "".join(
        f"BEGIN:VTIMEZONE\nTZID:Z{number}\nBEGIN:STANDARD\nDTSTART:15830101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n"
        "RRULE:FREQ=DAILY\nEND:STANDARD\nEND:VTIMEZONE\n"
        for number in range(200)
    )
    reading = read(*[f"UID:{number}\nDTSTART;TZID=Z{number}:20260801T000000" for number in range(200)], GOOD, head=zones)
    assert len(reading.events) == 201
    assert len(good(reading).occurrences) == 3


def test_components_nested_without_end_hold_nothing_up() -> None:
    assert len(good(read("BEGIN:X\n" * 100_000 + "END:X\n" * 100_000, GOOD)).occurrences) == 3


def test_a_share_comes_from_the_reserve_when_nothing_else_is_left() -> None:
    steps = StepBudget(10, 5)
    greedy = steps.share(2, 100)
    assert greedy.left == 12
    with pytest.raises(OutOfSteps):
        greedy.spend(13)
    steps.give_back(greedy)
    modest = steps.share(2, 100)
    assert modest.left == 2
    modest.spend(1)
    steps.give_back(modest)
    assert steps.share(9, 100).left == 2


def test_what_was_not_needed_is_there_for_the_next() -> None:
    steps = StepBudget(TOTAL_STEPS, 50)
    for _ in range(3):
        share = steps.share(50, TOTAL_STEPS * 2)
        assert share.left == TOTAL_STEPS + 50
        steps.give_back(share)


def test_a_line_that_is_folded_at_every_sign_takes_a_few_times_its_size_in_memory() -> None:
    folded = "SUMMARY:" + "\r\n x" * 200_000
    size = len(folded)
    tracemalloc.start()
    try:
        found = read(GOOD, f"UID:long\nDTSTART:20260805T100000Z\n{folded}")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    [event] = [event for event in found.events if event.uid == "long"]
    assert event.title == "x" * 200_000
    assert most < 10 * size


def test_a_calendar_is_read_up_to_a_number_of_components_that_is_told() -> None:
    body = "BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nEND:VEVENT\n" * (MAX_COMPONENTS + 10) + "END:VCALENDAR\n"
    problems = ReadProblems()
    calendar = read_components(body.encode(), "text/calendar", problems).children[0]
    assert len(calendar.children) == MAX_COMPONENTS - 1
    assert f"more than {MAX_COMPONENTS:,} components" in problems.all()[0].reason


def test_components_besides_the_events_are_read_up_to_a_number_that_is_told() -> None:
    zones = "BEGIN:VTIMEZONE\nEND:VTIMEZONE\n"
    for number, is_read in ((19_990, True), (20_010, False)):
        body = f"BEGIN:VCALENDAR\n{zones * number}BEGIN:VEVENT\n{GOOD}\nEND:VEVENT\nEND:VCALENDAR\n".encode()
        found = read_ics(body, None, "https://town.test/", IcsSettings(limit=5), now=NOW)
        assert bool(found.events) is is_read
        assert any("more than 20,005 components" in one.reason for one in found.problems) is not is_read


def test_a_calendar_is_read_up_to_a_number_of_lines_that_is_told() -> None:
    found = read(GOOD, "ATTENDEE:x\n" * (MAX_PROPERTIES + 10), GOOD.replace("good", "late"))
    assert [event.uid for event in found.events] == ["good", None]
    assert f"There are more than {MAX_PROPERTIES:,} properties; the rest is not read." in {one.reason for one in found.problems}


CROWDS = {
    "events, each every week": "UID:{n}\nSUMMARY:Talk\nDTSTART:20260101T100000Z\nRRULE:FREQ=WEEKLY",
    "changes of one series": "UID:1\nSUMMARY:Talk\nRECURRENCE-ID:20260101T100000Z\nDTSTART:20260101T{n:06}Z",
    "dates that are taken out": "UID:{n}\nDTSTART:20260101T100000Z\nRRULE:FREQ=DAILY\nEXDATE:" + "20260102T100000Z," * 100,
}


@pytest.mark.parametrize("event", CROWDS.values(), ids=CROWDS)
def test_as_many_components_as_are_read_take_seconds(event: str) -> None:
    events = [event.format(n=number) for number in range(45_000 if len(event) < 1000 else 5_000)]
    began = process_time()
    read(*events)
    assert process_time() - began < 4, "twice what it may take on a quiet machine"


def test_a_thousand_weekly_events_of_a_year_are_followed_to_the_end() -> None:
    found = read(*(f"UID:{number}\nDTSTART:20260805T100000Z\nRRULE:FREQ=WEEKLY" for number in range(1_000)))
    assert found.problems == ()
    assert {len(event.occurrences) for event in found.events} == {52}
