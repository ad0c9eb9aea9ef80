"""The zones of calendars: names of every make, zones that a calendar draws itself, and which of both is believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.model.event import RawEvent
from tadoru.parse.sources.ics import read_ics
from tadoru.parse.sources.ics_zones import ZONES, known_zone

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def vtimezone(name: str, *parts: str, more: str = "") -> str:
    """A zone of parts `STANDARD 19701025T030000 +0200 +0100 [RULE]`."""
    lines = [f"BEGIN:VTIMEZONE\nTZID:{name}\n{more}"]
    for part in parts:
        kind, start, before, after, *rule = part.split()
        lines.append(f"BEGIN:{kind}\nDTSTART:{start}\nTZOFFSETFROM:{before}\nTZOFFSETTO:{after}")
        lines += [f"RRULE:{rule[0]}"] if rule else []
        lines.append(f"END:{kind}")
    return "\n".join([*lines, "END:VTIMEZONE"])


def only(zone: str, time: str = "20260805T100000", head: str = "", more: str = "") -> RawEvent:
    body = f"BEGIN:VCALENDAR\n{head}\nBEGIN:VEVENT\nUID:1\nDTSTART;TZID={zone}:{time}\n{more}\nEND:VEVENT\nEND:VCALENDAR\n"
    reading = read_ics(body.encode(), None, "https://town.test/", now=NOW, zone="Asia/Tokyo")
    assert reading.problems == ()
    [event] = reading.events
    return event


NAMES = {
    "iana": ("Europe/Berlin", "Europe/Berlin"),
    "iana, old": ("US/Eastern", "US/Eastern"),
    "quoted": ('"Europe/Berlin"', "Europe/Berlin"),
    "windows": ("Tokyo Standard Time", "Asia/Tokyo"),
    "windows in quotes": ('"W. Europe Standard Time"', "Europe/Berlin"),
    "windows in summer": ("Pacific Daylight Time", "America/Los_Angeles"),
    "windows of london": ("GMT Standard Time", "Europe/London"),
    "notes": ("Western/Central Europe", "Europe/Berlin"),
    "behind a maker's prefix": ("/mozilla.org/20070129_1/America/New_York", "America/New_York"),
    "behind another": ("/freeassociation.sourceforge.net/Europe/Berlin", "Europe/Berlin"),
    "of three parts": ("/x.test/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
    "escaped": (r"Asia\/Tokyo", "Asia/Tokyo"),
    "as outlook shows it": ('"(UTC+09:00) Osaka, Sapporo, Tokyo"', "Asia/Tokyo"),
    "as outlook shows it, not quoted": (r"(UTC+09:00) Osaka\, Sapporo\, Tokyo", "Asia/Tokyo"),
    "as outlook shows it, escaped": (r'"(UTC+01:00) Amsterdam\, Berlin\, Bern\, Rome"', "Europe/Amsterdam"),
    "as outlook shows the east of america": ('"(UTC-05:00) Eastern Time (US & Canada)"', "America/New_York"),
    "as older ones show it": ('"(GMT+09.00) Seoul"', "Asia/Seoul"),
    "japanese time in short": ("JST", "Asia/Tokyo"),
}


@pytest.mark.parametrize("written, name", NAMES.values(), ids=NAMES.keys())
def test_a_zone_is_known_by_any_of_its_names(written: str, name: str) -> None:
    event = only(written)
    assert event.timezone == name
    assert event.start == datetime(2026, 8, 5, 10, tzinfo=ZoneInfo(name))


@pytest.mark.parametrize(
    "written, hours", [("UTC", 0), ("GMT", 0), ("UTC+9", 9), ('"GMT-05:00"', -5), ("+0530", 5.5), ("UTC+11", 11)]
)
def test_an_offset_may_stand_for_a_zone(written: str, hours: float) -> None:
    start = only(written).start
    assert isinstance(start, datetime)
    assert start.utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize("name", sorted(set(ZONES.values())))
def test_every_zone_that_windows_knows_is_in_the_database(name: str) -> None:
    assert ZoneInfo(name).key == name


@given(st.text(max_size=40))
def test_any_name_of_a_zone_is_looked_up_without_an_exception(name: str) -> None:
    found = known_zone(name)
    assert found is None or found.moment(datetime(2026, 8, 1)).utcoffset() is not None  # noqa: DTZ001 -- a clock on the wall


WRONG = vtimezone("Europe/Berlin", "STANDARD 19700101T000000 -0500 -0500")


def test_a_known_name_is_believed_and_not_a_drawing_that_contradicts_it() -> None:
    assert only("Europe/Berlin", head=WRONG).start == datetime(2026, 8, 5, 8, tzinfo=UTC)


def test_a_zone_that_outlook_shows_without_a_known_city_has_its_offset() -> None:
    start = only('"(UTC+09:00) Somewhere"').start
    assert isinstance(start, datetime)
    assert start.utcoffset() == timedelta(hours=9)


def test_a_drawing_under_an_escaped_name_is_found() -> None:
    drawn = vtimezone(r"Town\, Hall", "STANDARD 19700101T000000 +0300 +0300")
    start = only(r'"Town\, Hall"', head=drawn).start
    assert isinstance(start, datetime)
    assert start.utcoffset() == timedelta(hours=3)


def test_a_place_that_is_named_is_believed_before_the_drawing() -> None:
    drawn = vtimezone("Own", "STANDARD 19700101T000000 -0500 -0500", more="X-LIC-LOCATION:Europe/Berlin\n")
    event = only("Own", head=drawn)
    assert (event.timezone, event.start) == ("Europe/Berlin", datetime(2026, 8, 5, 8, tzinfo=UTC))


OWN = vtimezone(
    "Own",
    "DAYLIGHT 19700329T020000 +0100 +0200 FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
    "STANDARD 19701025T030000 +0200 +0100 FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
)
DRAWN = {
    "in summer": ("20260805T100000", "2026-08-05T10:00:00+02:00"),
    "in winter": ("20261205T100000", "2026-12-05T10:00:00+01:00"),
    "before the gap": ("20270328T015959", "2027-03-28T01:59:59+01:00"),
    "in the gap": ("20270328T023000", "2027-03-28T03:30:00+02:00"),
    "after the gap": ("20270328T030000", "2027-03-28T03:00:00+02:00"),
    "an hour that comes twice": ("20261025T023000", "2026-10-25T02:30:00+02:00"),
    "after it": ("20261025T030000", "2026-10-25T03:00:00+01:00"),
}


@pytest.mark.parametrize("time, expected", DRAWN.values(), ids=DRAWN.keys())
def test_a_zone_that_the_calendar_draws_is_followed(time: str, expected: str) -> None:
    start = only("Own", time, head=OWN).start
    assert isinstance(start, datetime)
    assert start.isoformat() == expected


def test_a_series_in_a_drawn_zone_keeps_its_time_on_the_wall() -> None:
    event = only("Own", "20261024T100000", head=OWN, more="RRULE:FREQ=DAILY;COUNT=2")
    assert [one.starts_at.astimezone(UTC).hour for one in event.occurrences] == [8, 9]


@example(datetime(2000, 10, 29, 2, 0))  # noqa: DTZ001 -- it comes twice
@given(st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1)))  # noqa: DTZ001 -- clocks on the wall
def test_a_drawn_zone_tells_the_same_time_as_the_database(wall: datetime) -> None:
    wall = wall.replace(microsecond=0)
    written = f"{wall:%Y%m%dT%H%M%S}"
    own, known = only("Own", written, head=OWN).start, only("Europe/Berlin", written).start
    # As one zone: of an hour that comes twice, Python says that no two zones agree about it.
    assert isinstance(own, datetime)
    assert isinstance(known, datetime)
    assert own.astimezone(UTC) == known.astimezone(UTC)


def test_an_unknown_zone_of_the_calendar_is_told() -> None:
    body = b"BEGIN:VCALENDAR\nX-WR-TIMEZONE:Mars/Base\nEND:VCALENDAR\n"
    assert [one.reason for one in read_ics(body, None, "", now=NOW).problems] == ["The calendar's time zone is not known."]
