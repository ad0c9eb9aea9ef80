"""Rows of municipal tables against labels: dates, hours and notes are read as a person reads them.

The tables are not ours and lie beside the repository where they are to be had; without them the test is skipped.
"""

from __future__ import annotations

from datetime import UTC, datetime

from tadoru.model.event import RawEvent
from tadoru.parse.dates import UnreadableDate, YearSource, read_when, without_repeats
from tadoru.parse.sources.table import TableSettings, read_csv
from tests.parse.dates.municipal_labels import LABELS
from tests.parse.dates.test_written_forms import TOKYO, show
from tests.support.corpora import corpus, needs_corpus

NOW = datetime(2022, 1, 20, tzinfo=UTC)
MOST_SHOWN = 4


def reading(raw: RawEvent) -> str:
    note = without_repeats(raw.when_note or "")
    found = read_when(
        raw.start or note,
        now=NOW,
        zone=TOKYO,
        end=raw.end,
        start_time=raw.start_time,
        end_time=raw.end_time,
        note=note if raw.start else None,
        title=raw.title or "",
    )
    if isinstance(found, UnreadableDate) or (not raw.start and found.year is YearSource.RELATIVE):
        return "-"
    shown = show(found)
    dates = [one for one in shown.split() if not one.startswith("d")]
    return shown if len(dates) <= MOST_SHOWN else f"{len(dates)} from {dates[0]} to {dates[-1]}"


@needs_corpus("event-japan")
def test_rows_of_municipalities_read_as_they_are_labelled() -> None:
    labels = {tuple(line.split(" ", 2)[:2]): line.split(" ", 2)[2] for line in LABELS.strip().splitlines()}
    wrong = {}
    for path in sorted(corpus("event-japan").glob("*.csv")):
        code = path.name[3:9]
        if not any(one == code for one, _ in labels):
            continue
        for raw in read_csv(path.read_bytes(), "text/csv", f"https://city.example/{path.name}", TableSettings()).events:
            expected = labels.get((code, raw.position.removeprefix("row ")))
            if expected is not None and (found := reading(raw)) != expected:
                wrong[code, raw.position] = (found, expected)
    assert len(labels) == 300
    assert not wrong
