"""Readings of the municipal lists that look wrong, by signs that the reader does not use: `python -m bench.events_suspicious`.

The signs are counted in the columns and the note of a row with expressions of their own. A row that is listed is not wrong: it is
one that a person should look at.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.events_corpus import CORPUS
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import EventDraft, RawEvent
from tadoru.parse.dates import without_repeats
from tadoru.parse.sources.table import TableSettings, read_csv

_RULES = SourceRules(zone="Asia/Tokyo", now=datetime(2022, 1, 20, tzinfo=UTC))
_LONGEST = timedelta(days=180)
_MIDNIGHT = re.compile(r"(?<!\d)(?:0|24|00)(?:時|:00)|深夜|正午|午前0|午後0")
_DAY = re.compile(r"(?<!\d)(\d{1,2})(?:月|/)(\d{1,2})日?\s?(?:\(([月火水木金土日])|([月火水木金土日])曜)?")
_CANCELLED = re.compile("中止|延期|取りやめ|見合わせ")
_WEEKDAYS = "月火水木金土日"


def signs(raw: RawEvent, draft: EventDraft) -> Iterator[str]:
    """What looks wrong about a reading."""
    note = unicodedata.normalize("NFKC", without_repeats(raw.when_note or ""))
    items = draft.occurrences or (draft.occurrence,)
    for item in items:
        start, end = item.starts_at, item.ends_at
        if end is not None and end <= start:
            yield "end before start"
        if end is not None and end - start > _LONGEST and not item.has_time:
            yield "over 180 days without hours"
        if item.has_time and (start.hour, start.minute) == (0, 0) and not _MIDNIGHT.search(f"{raw.start_time} {note}"):
            yield "midnight that is not written"
    days = {(item.starts_at.month, item.starts_at.day) for item in items}
    last = max((item.ends_at or item.starts_at) for item in items)
    written = [(int(found[1]), int(found[2]), found[3] or found[4]) for found in _DAY.finditer(note)]
    for month, day, weekday in written:
        fitting = [item for item in items if (item.starts_at.month, item.starts_at.day) == (month, day)]
        if weekday and fitting and _WEEKDAYS[fitting[0].starts_at.weekday()] != weekday:
            yield "another weekday is written"
    if len({(month, day) for month, day, _ in written}) > max(len(days), 1) and last.date() == items[0].starts_at.date():
        yield "more days are written than read"
    if draft.is_cancelled and not _CANCELLED.search(f"{raw.title} {raw.description} {note} {raw.extra}"):
        yield "cancelled without a word of it"
    if not draft.is_cancelled and _CANCELLED.search(raw.title or ""):
        yield "cancelled in the title and not read so"


def main(corpus: Path = CORPUS, shown: str = "") -> None:
    """Print how many rows show each sign, and the rows that show one of them."""
    counts: Counter[str] = Counter()
    for path in sorted(corpus.glob("*.csv")):
        for raw in read_csv(path.read_bytes(), "text/csv", f"https://city.example/{path.name}", TableSettings()).events:
            draft = normalise(raw, _RULES)
            if not isinstance(draft, EventDraft):
                counts["refused"] += 1
                continue
            found = dict.fromkeys(signs(raw, draft))
            counts.update(["read", *found])
            if any(shown and shown in sign for sign in found):
                columns = f"{raw.start} {raw.start_time or ''} ~ {raw.end or ''} {raw.end_time or ''}"
                note = without_repeats(raw.when_note or "").replace("\n", " ")[:160]
                print(f"{path.name[3:9]} {raw.position} {raw.title} | {columns} | {note} => {draft.occurrence.starts_at:%F %R}")
    for sign, count in counts.most_common():
        print(f"{count:6} {sign}")


if __name__ == "__main__":
    main(shown=" ".join(sys.argv[1:]))
