"""Calendars written here by the letter of RFC 5545 come back as they were, whatever is in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.sources.ics import IcsSettings, read_ics

NOW = datetime(2026, 8, 1, tzinfo=UTC)
ZONES = ("Asia/Tokyo", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.just("\n"), max_size=200).map(str.strip)


@dataclass(frozen=True)
class Written:
    """One event, as it is to be written."""

    title: str
    description: str
    venue: str
    start: datetime | date
    length: timedelta
    zone: str | None

    def lines(self, number: int) -> list[str]:
        """Its content lines, not folded."""
        if isinstance(self.start, datetime):
            stamp = f"{self.start:%Y%m%dT%H%M%S}"
            start = f"DTSTART;TZID={self.zone}:{stamp}" if self.zone else f"DTSTART:{stamp}Z"
            end = [f"DURATION:PT{int(self.length.total_seconds())}S"]
        else:
            start = f"DTSTART;VALUE=DATE:{self.start:%Y%m%d}"
            end = [f"DTEND;VALUE=DATE:{self.start + self.length:%Y%m%d}"]
        texts = {"SUMMARY": self.title, "DESCRIPTION": self.description, "LOCATION": self.venue}
        words = [f"{name}:{escaped(text)}" for name, text in texts.items()]
        return ["BEGIN:VEVENT", f"UID:{number}", "DTSTAMP:20260101T000000Z", start, *end, *words, "END:VEVENT"]


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def folded(line: str, width: int) -> bytes:
    """A line in pieces of so many bytes, which may cut a character in two."""
    data = line.encode()
    pieces = [data[:width], *(data[at : at + width - 1] for at in range(width, len(data), width - 1))]
    return b"\r\n ".join(pieces) + b"\r\n"


def calendar(events: list[Written], width: int = 75) -> bytes:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN"]
    for number, event in enumerate(events):
        lines += event.lines(number)
    return b"".join(folded(line, width) for line in [*lines, "END:VCALENDAR"])


TIMED = st.tuples(
    st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(lambda moment: moment.replace(microsecond=0)),  # noqa: DTZ001
    st.integers(0, 100_000).map(lambda seconds: timedelta(seconds=seconds)),
    st.sampled_from([*ZONES, None]),
)
DAYS = st.tuples(
    st.dates(date(1990, 1, 1), date(2040, 1, 1)), st.integers(1, 30).map(lambda days: timedelta(days=days)), st.none()
)
EVENTS = st.tuples(WORDS, WORDS, WORDS, TIMED | DAYS).map(lambda parts: Written(*parts[:3], *parts[3]))


@given(st.lists(EVENTS, max_size=4), st.integers(10, 75))
def test_events_come_back_as_they_were_written(events: list[Written], width: int) -> None:
    reading = read_ics(calendar(events, width), "text/calendar; charset=utf-8", "https://town.test/", now=NOW, zone="Asia/Tokyo")
    assert reading.problems == ()
    assert [one.uid for one in reading.events] == [str(number) for number in range(len(events))]
    for found, event in zip(reading.events, events, strict=True):
        assert (found.title, found.description, found.venue) == (
            event.title or None,
            event.description or None,
            event.venue or None,
        )
        assert found.timezone == event.zone
        if isinstance(event.start, datetime):
            start = event.start.replace(tzinfo=ZoneInfo(event.zone) if event.zone else UTC).astimezone(UTC)
            assert isinstance(found.start, datetime)
            assert isinstance(found.end, datetime)
            assert (found.start.astimezone(UTC), found.end.astimezone(UTC)) == (start, start + event.length)
        else:
            assert (found.start, found.end) == (event.start, event.start + event.length - timedelta(days=1))


@given(
    st.dates(date(2026, 8, 2), date(2026, 12, 31)), st.integers(1, 40), st.integers(1, 40), st.sampled_from(["DAILY", "WEEKLY"])
)
def test_a_simple_series_has_the_dates_that_adding_gives(begin: date, count: int, interval: int, frequency: str) -> None:
    event = Written("Talk", "", "", begin, timedelta(days=1), None)
    rule = f"RRULE:FREQ={frequency};INTERVAL={interval};COUNT={count}\r\nEND:VEVENT".encode()
    body = calendar([event]).replace(b"END:VEVENT", rule)
    [found] = read_ics(body, None, "https://town.test/", IcsSettings(days_ahead=366 * 40), now=NOW, zone="Asia/Tokyo").events
    step = timedelta(days=interval * (7 if frequency == "WEEKLY" else 1))
    assert [one.starts_at.date() for one in found.occurrences] == [begin + step * number for number in range(count)]


@given(st.dates(date(2026, 8, 2), date(2027, 7, 1)), st.sets(st.integers(1, 19), max_size=8))
def test_dates_taken_out_are_the_only_ones_that_are_missing(begin: date, out: set[int]) -> None:
    event = Written("Talk", "", "", begin, timedelta(days=1), None)
    lines = ["RRULE:FREQ=DAILY;COUNT=20", *(f"EXDATE;VALUE=DATE:{begin + timedelta(days=day):%Y%m%d}" for day in sorted(out))]
    body = calendar([event]).replace(b"END:VEVENT", "\r\n".join([*lines, "END:VEVENT"]).encode())
    [found] = read_ics(body, None, "https://town.test/", now=NOW, zone="Asia/Tokyo").events
    assert [(one.starts_at.date() - begin).days for one in found.occurrences] == [day for day in range(20) if day not in out]
