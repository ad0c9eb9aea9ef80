"""Written dates and their right reading: the table that the reader of dates is held to."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tadoru.model.event import Occurrence
from tadoru.parse.dates import ParsedDate, UnreadableDate, read_when
from tests.parse.dates import japanese_forms as japanese
from tests.parse.dates import other_forms as other
from tests.parse.dates.japanese_forms import Form

TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 7, 15, 12, 0, tzinfo=TOKYO)
JAPANESE = (
    japanese.YEARS
    + japanese.ERAS
    + japanese.INFERRED
    + japanese.TIMES
    + japanese.RANGES
    + japanese.LISTS
    + japanese.LABELS
    + japanese.RULES
    + japanese.NOTHING
)


def show(read: ParsedDate | UnreadableDate) -> str | None:
    """A reading in the notation of the tables."""
    if isinstance(read, UnreadableDate):
        return None
    doors = f" d{read.doors:%H:%M}" if read.doors else ""
    return " ".join(shown(occurrence) for occurrence in read.occurrences) + doors


def shown(occurrence: Occurrence) -> str:
    start, end = occurrence.starts_at, occurrence.ends_at
    if not occurrence.has_time:
        assert (start.hour, start.minute) == (0, 0)
        return f"{start:%Y-%m-%d}" + (f"/{end - timedelta(days=1):%Y-%m-%d}" if end else "")
    text = f"{start:%Y-%m-%dT%H:%M}"
    if end is None:
        return text
    return f"{text}/{end:%H:%M}" if end.date() == start.date() else f"{text}/{end:%Y-%m-%dT%H:%M}"


def names(forms: tuple[Form, ...]) -> list[str]:
    return [text or "nothing at all" for text, _ in forms]


@pytest.mark.parametrize("text, expected", JAPANESE, ids=names(JAPANESE))
def test_a_japanese_date_reads_as_it_is_meant(text: str, expected: str | None) -> None:
    assert show(read_when(text, now=NOW, zone=TOKYO)) == expected


@pytest.mark.parametrize("text, expected", other.MACHINES, ids=names(other.MACHINES))
def test_a_date_that_a_machine_wrote_reads_as_it_is_meant(text: str, expected: str | None) -> None:
    assert show(read_when(text, now=NOW, zone=TOKYO)) == expected


@pytest.mark.parametrize("text, expected", other.ENGLISH, ids=names(other.ENGLISH))
def test_an_english_date_reads_as_it_is_meant(text: str, expected: str | None) -> None:
    assert show(read_when(text, now=NOW, zone=TOKYO)) == expected


@pytest.mark.parametrize("text, expected", other.EUROPE, ids=names(other.EUROPE))
def test_a_european_date_reads_as_it_is_meant(text: str, expected: str | None) -> None:
    assert show(read_when(text, now=NOW, zone=ZoneInfo("Europe/Berlin"))) == expected


@pytest.mark.parametrize("text, expected", other.AMERICA, ids=names(other.AMERICA))
def test_an_american_date_reads_as_it_is_meant(text: str, expected: str | None) -> None:
    assert show(read_when(text, now=NOW, zone=ZoneInfo("America/New_York"))) == expected


def test_the_table_of_japanese_forms_is_as_large_as_it_is_said_to_be() -> None:
    assert len({text for text, _ in JAPANESE}) == len(JAPANESE)
    assert len(JAPANESE) >= 300


@pytest.mark.parametrize(
    "text",
    ["令和8年8月1日", "R8.8.1", "平成31年4月30日", "8月1日～8月3日", "来週の土曜日", "２０２６年８月１日", "8月1日(土)"],
)
def test_what_other_readers_of_dates_fail_at_is_in_the_table(text: str) -> None:
    assert text in {form for form, reading in JAPANESE if reading}
