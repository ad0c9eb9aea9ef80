"""The public calendars, when the corpus is beside the project: none is lost, and what is wrong with them is known by name.

`ics_invalid.csv` lists those that RFC 5545 does not allow, with the reason. Where `told` is "no" nothing of an event is lost by
it (a missing PRODID, say) and the reader says nothing. Bare line feeds are not counted: copies of calendars have them all.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tadoru.model.event import ParsedSource
from tadoru.parse.sources.ics import IcsSettings, read_ics
from tests.support.corpora import corpus, needs_corpus

CORPUS = corpus("ics")
NOW = datetime(2015, 7, 1, tzinfo=UTC)
beside = needs_corpus("ics")

with Path(__file__).with_name("ics_invalid.csv").open(encoding="utf-8") as table:
    INVALID = {row["file"]: row for row in csv.DictReader(table)}
TOLD = {name for name, row in INVALID.items() if row["told"] == "yes"}


def read(path: Path) -> ParsedSource:
    wide = IcsSettings(days_back=3660, days_ahead=3660, occurrences=5000)
    return read_ics(path.read_bytes(), "text/calendar", "https://town.test/all.ics", wide, now=NOW, zone="Asia/Tokyo")


@beside
def test_calendars_have_a_problem_exactly_when_the_table_says_so() -> None:
    found = {path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.ics") if read(path).problems}
    assert found == TOLD


@beside
def test_every_event_that_stands_in_a_calendar_is_read() -> None:
    """Changed dates belong to their series; what cannot be read is in the table."""
    for path in sorted(CORPUS.rglob("*.ics")):
        name = path.relative_to(CORPUS).as_posix()
        text = path.read_bytes().decode("utf-8", "replace")
        if name not in TOLD and "RECURRENCE-ID" not in text:
            assert len(read(path).events) == text.count("BEGIN:VEVENT"), name


@beside
def test_every_calendar_that_is_told_of_is_there() -> None:
    assert [name for name in INVALID if not (CORPUS / name).is_file()] == []


COUNTS = {
    "icalendar/issue_165_missing_event.ics": 14,
    "icalendar/parsing_error.ics": 40,
    "icalendar/timezoned.ics": 0,
}
"""Dates of series in the ten years around: without the window that is what the rules and the dates taken out leave.

Daily from the 3rd to the 23rd of March 2008, without the 11th, twice, is 40.
"""


@beside
@pytest.mark.parametrize("name, count", COUNTS.items(), ids=COUNTS.keys())
def test_a_series_has_as_many_dates_as_were_counted_by_hand(name: str, count: int) -> None:
    assert sum(len(event.occurrences) for event in read(CORPUS / name).events) == count
