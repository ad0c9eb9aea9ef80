"""Notices in seven languages against labels that were written without a look at the reader, of four batches.

A label is every reading that is right, `-` if it is right to refuse the text: application dates, deadlines, dates of the past and
closed days are no dates of an event, nor is what leaves the day open. More than four dates are written as their number, the first
and the last. A rule without an end is right if all of its next dates are. `bench/EVENTS.md` has how the batches were read first.
"""

from __future__ import annotations

import csv
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from tadoru.parse.dates import ParsedDate, UnreadableDate, read_when

LABELS = Path(__file__).with_name("notice_labels.csv")
ZONES = {
    "ja": "Asia/Tokyo",
    "en": "Europe/London",
    "de": "Europe/Berlin",
    "fr": "Europe/Paris",
    "es": "Europe/Madrid",
    "it": "Europe/Rome",
    "nl": "Europe/Amsterdam",
}
MOST_SHOWN = 4


def shown(found: ParsedDate) -> str:
    days: set[date] = set()
    timed: set[str] = set()
    for item in found.occurrences:
        start, end = item.starts_at.replace(tzinfo=None), item.ends_at.replace(tzinfo=None) if item.ends_at else None
        if item.has_time:
            same = end is not None and end.date() == start.date()
            timed.add(f"{start:%Y-%m-%dT%H:%M}" + (f"/{end:%H:%M}" if same else f"/{end:%Y-%m-%dT%H:%M}" if end else ""))
        else:
            last = (end - timedelta(minutes=1)).date() if end else start.date()
            days |= {start.date() + timedelta(days=number) for number in range((last - start.date()).days + 1)}
    firsts = sorted(day for day in days if day - timedelta(days=1) not in days)
    lasts = sorted(day for day in days if day + timedelta(days=1) not in days)
    runs = {f"{first}" + (f"/{last}" if last > first else "") for first, last in zip(firsts, lasts, strict=True)}
    items = sorted(runs | timed)
    return " ".join(items) if len(items) <= MOST_SHOWN else f"{len(items)} from {items[0]} to {items[-1]}"


def outcome(row: dict[str, str]) -> str:
    day = datetime.fromisoformat(row["written"]).replace(hour=3, tzinfo=UTC)
    found = read_when(row["text"], now=day, zone=ZoneInfo(ZONES[row["language"]]))
    reading = "-" if isinstance(found, UnreadableDate) else shown(found)
    if reading in row["label"].split(" | "):
        return "right"
    return "refused" if reading == "-" else "uncertain" if isinstance(found, ParsedDate) and found.notes else "wrong"


def test_notices_in_seven_languages_read_as_they_are_labelled_or_are_refused() -> None:
    with LABELS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    outcomes = {row["text"]: outcome(row) for row in rows}
    counts = Counter(outcomes.values())
    assert counts.total() >= 415
    assert [text for text, found in outcomes.items() if found in {"wrong", "uncertain"}] == []
    assert counts["right"] >= 0.8 * counts.total()
