"""The municipal event lists of the corpus as events, for measuring: one draft for each row that has a title and a date.

The product reads such files with its own reader and normaliser; here only what duplicates depend on is read, so that a change of
those does not change what is measured.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tadoru.model.event import EventDraft, Occurrence

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "corpora" / "event-japan"
ZONE = ZoneInfo("Asia/Tokyo")


class Row(NamedTuple):
    """An event and where it stands: a file's code, and the number of the row below the header."""

    file: str
    number: int
    draft: EventDraft


def rows(corpus: Path = CORPUS) -> Iterator[Row]:
    """Every row that has a title and a date."""
    for path in sorted(corpus.glob("*.csv")):
        file = path.name.split("_", maxsplit=1)[0].removeprefix("o1-")
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for number, cells in enumerate(csv.DictReader(lines), start=1):
                if (draft := _draft(cells)) is not None:
                    yield Row(file, number, draft)


def _draft(cells: dict[str, str]) -> EventDraft | None:
    title, day = cells["名称"].strip(), cells["開始日"].strip()
    start = _moment(day, cells["開始時刻"].strip() or "00:00")
    if not title or start is None:
        return None
    has_time = bool(cells["開始時刻"].strip())
    last = cells["終了日"].strip() or (day if cells["終了時刻"].strip() else "")
    end = _moment(last, cells["終了時刻"].strip() or "00:00") if last else None
    if end is not None and not (has_time and cells["終了時刻"].strip()):
        end = end.replace(hour=0, minute=0) + timedelta(days=1)
    return EventDraft(
        title=title,
        title_clean=title,
        occurrence=Occurrence(starts_at=start, ends_at=end if end and end > start else None, has_time=has_time),
        timezone="Asia/Tokyo",
        description=cells["説明"].strip(),
        venue=cells["集合場所"].strip(),
        venue_clean=cells["集合場所"].strip(),
        city=cells["住所市区町村"].strip(),
        price=cells["料金(基本)"].strip(),
        organizer=cells["主催団体"].strip(),
        url=cells["URL"].strip(),
        uid=cells["NO"].strip(),
        position=f"row {cells['NO']}",
    )


def _moment(day: str, time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=ZONE)
    except ValueError:
        return None
