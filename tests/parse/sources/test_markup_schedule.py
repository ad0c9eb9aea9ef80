"""Series in schema.org's words."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.schema_org import read_schema_org

URL = "https://town.test/"
NOW = datetime(2026, 8, 1, 3, 0, tzinfo=UTC)
"""A Saturday noon in Japan."""
WEEKLY = {"@type": "Schedule", "repeatFrequency": "P1W", "startDate": "2026-07-01", "startTime": "10:00", "endTime": "11:30"}


def read(schedule: object, now: datetime | None = NOW) -> ParsedSource:
    block = json.dumps({"@type": "Event", "name": "体操", "eventSchedule": schedule})
    return read_schema_org(f'<script type="application/ld+json">{block}</script>'.encode(), None, URL, now=now, zone="Asia/Tokyo")


def only(reading: ParsedSource) -> RawEvent:
    assert not reading.problems
    [event] = reading.events
    return event


def starts(reading: ParsedSource) -> list[str]:
    return [one.starts_at.isoformat()[:16] for one in only(reading).occurrences]


def test_a_series_is_unrolled_within_its_own_end() -> None:
    event = only(read({**WEEKLY, "endDate": "2026-08-20"}))
    assert (event.start, event.recurrence) == ("2026-07-01T10:00", "FREQ=WEEKLY")
    assert [one.starts_at.isoformat() for one in event.occurrences] == [
        "2026-08-05T10:00:00+09:00",
        "2026-08-12T10:00:00+09:00",
        "2026-08-19T10:00:00+09:00",
    ]
    assert [one.ends_at.isoformat() for one in event.occurrences[:1] if one.ends_at] == ["2026-08-05T11:30:00+09:00"]


@pytest.mark.parametrize(
    "more, expected",
    [
        pytest.param({"byDay": ["https://schema.org/Monday", "Friday"], "endDate": "2026-08-08"}, ["03", "07"], id="days"),
        pytest.param({"byDay": "MO", "endDate": "2026-08-11"}, ["03", "10"], id="one day"),
        pytest.param({"repeatFrequency": "P2W", "endDate": "2026-08-31"}, ["12", "26"], id="every second week"),
        pytest.param({"repeatFrequency": "weekly", "endDate": "2026-08-12"}, ["05", "12"], id="a word"),
        pytest.param({"repeatFrequency": "P1D", "endDate": "2026-08-02"}, ["01", "02"], id="daily"),
        pytest.param({"repeatFrequency": "P1M", "byDay": "2WE", "endDate": "2026-08-31"}, ["12"], id="second Wednesday"),
        pytest.param(
            {"repeatFrequency": "P1M", "byMonthDay": [5, 20], "endDate": "2026-08-31"}, ["05", "20"], id="days of the month"
        ),
        pytest.param({"repeatCount": 6}, ["05"], id="a number of times"),
        pytest.param({"endDate": "2026-08-20", "exceptDate": ["2026-08-12"]}, ["05", "19"], id="without a day"),
        pytest.param({"endDate": "2026-08-20", "exceptDate": "2026-08-12T10:00"}, ["05", "19"], id="without a time"),
    ],
)
def test_a_schedule_names_its_days(more: dict[str, object], expected: list[str]) -> None:
    assert [start[8:10] for start in starts(read({**WEEKLY, **more}))] == expected


def test_a_series_without_end_is_unrolled_for_a_year() -> None:
    found = starts(read(WEEKLY))
    assert (len(found), found[0], found[-1]) == (52, "2026-08-05T10:00", "2027-07-28T10:00")


def test_the_zone_of_a_schedule_is_kept() -> None:
    event = only(read({**WEEKLY, "scheduleTimezone": "Europe/Paris", "endDate": "2026-08-05"}))
    assert (event.timezone, event.occurrences[0].starts_at.isoformat()) == ("Europe/Paris", "2026-08-05T10:00:00+02:00")


def test_a_series_of_whole_days_has_no_time() -> None:
    event = only(read({"repeatFrequency": "P1D", "startDate": "2026-08-01", "endDate": "2026-08-02"}))
    assert [one.has_time for one in event.occurrences] == [False, False]


def test_what_ends_after_midnight_ends_on_the_next_day() -> None:
    event = only(read({**WEEKLY, "startTime": "22:00", "endTime": "01:00", "endDate": "2026-08-05"}))
    assert [str(one.ends_at) for one in event.occurrences] == ["2026-08-06 01:00:00+09:00"]


def test_without_a_window_the_rule_is_kept_and_nothing_is_unrolled() -> None:
    event = only(read(WEEKLY, None))
    assert (event.occurrences, event.recurrence, event.start) == ((), "FREQ=WEEKLY", "2026-07-01T10:00")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"startDate": "soon"}, id="no date"),
        pytest.param({"startTime": "25:99"}, id="no time"),
        pytest.param({"scheduleTimezone": "Mars/Olympus"}, id="no zone"),
        pytest.param({"scheduleTimezone": "../../etc/passwd"}, id="a path"),
        pytest.param({"byMonthDay": 99}, id="no day"),
        pytest.param({"startDate": "0001-01-01", "repeatFrequency": "P1D", "repeatCount": 999, "byMonth": 2}, id="long ago"),
    ],
)
def test_a_schedule_that_can_not_be_followed_is_a_problem_and_the_event_stays(more: dict[str, object]) -> None:
    reading = read({**WEEKLY, **more})
    assert [event.title for event in reading.events] == ["体操"]
    assert len(reading.problems) <= 1
    assert all(problem.position == "JSON-LD event 1, eventSchedule" for problem in reading.problems)
    assert reading.events[0].occurrences == ()
