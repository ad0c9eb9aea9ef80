"""Dates in the prose of municipal tables (how to apply, descriptions), against labels that were written before they were read.

Columns that the readers of tables never read as dates, so that no rule was made for them. Labels are stored by the hash of their
phrase. Rules of labelling: the days and times of the event; `~0128` is a deadline or the time of applications, notices and sales,
which is no date of an event and is to be refused; a time that is only said of the reception may be left out; hours of each day of
a period may be those of the period.
The half `unseen` was labelled after the fixes: 123 of 129 were right and 5 wrong when it was read first.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from tadoru.parse.dates import ParsedDate, UnreadableDate, read_when
from tests.parse.dates.test_written_forms import TOKYO
from tests.support.corpora import corpus, needs_corpus

LABELS = Path(__file__).with_name("prose_labels.csv")
COLUMNS = ("名称", "サブタイトル", "概要", "説明", "サブイベント", "申込方法", "備考", "料金(詳細)", "対象者")
LONGEST = 58
PHRASE = re.compile(
    r"(?:(?:令和|平成|R|H)\s?[0-9０-９元]{1,2}年\s?|[0-9０-９]{4}年\s?)?[0-9０-９]{1,2}月\s?[0-9０-９]{1,2}日[^。\n!！]{0,70}"
)
RECEPTION = re.compile(r"(?:時|分|半|:\d\d)\)?(?:から|より)?.{0,14}(?:受け?付|申込)")
SESSIONS = re.compile(r"(\d{4})-(\d{4}) (\d\d:\d\d-\d\d:\d\d(?:,\d\d:\d\d-\d\d:\d\d)+)")
DAILY = re.compile(r"(\d{4})-(\d{4}) (\d\d:\d\d)-(\d\d:\d\d)")


def phrases() -> Iterator[tuple[str, datetime]]:
    """Each phrase with a day before its event."""
    for path in sorted(corpus("event-japan").glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for cells in csv.DictReader(lines):
                day = datetime.fromisoformat(cells["開始日"] or "2022-01-15").replace(tzinfo=UTC) - timedelta(days=40)
                for column in COLUMNS:
                    for found in PHRASE.finditer(cells.get(column) or ""):
                        yield re.sub(r"\s+", " ", found[0]).strip()[:LONGEST], day


def shown(found: ParsedDate) -> str:
    parts = []
    for item in found.occurrences:
        start, end = item.starts_at, item.ends_at
        text = f"{start:%m%d}" + (f" {start:%H:%M}" if item.has_time else "")
        if end is not None and item.has_time and end.date() == start.date():
            text += f"-{end:%H:%M}"
        elif end is not None:
            is_midnight = (end.hour, end.minute) == (0, 0)
            last = end - timedelta(days=1) if is_midnight else end
            if last.date() != start.date():
                text += f"-{last:%m%d}" + ("" if is_midnight else f" {last:%H:%M}")
        parts.append(text)
    return ",".join(parts)


def is_right(label: str, found: ParsedDate | UnreadableDate, phrase: str) -> bool:
    if isinstance(found, UnreadableDate):
        return label.startswith("~")
    text = shown(found)
    daily = DAILY.fullmatch(label)
    if daily and text == f"{daily[1]} {daily[3]}-{daily[2]} {daily[4]}":
        return True
    if daily and text.startswith(f"{daily[1]} {daily[3]}-{daily[4]},") and text.endswith(f"{daily[2]} {daily[3]}-{daily[4]}"):
        return True
    sessions = SESSIONS.fullmatch(label)
    if sessions:
        hours = sessions[3].split(",")
        begin, end = (",".join(f"{day} {one}" for one in hours) for day in (sessions[1], sessions[2]))
        return text.startswith(begin) and text.endswith(end)
    is_reception = RECEPTION.search(phrase) and "-" not in label and not label.startswith("~")
    return text == label or bool(is_reception and text == label.partition(" ")[0])


def measure(half: str) -> Counter[str]:
    with LABELS.open(encoding="utf-8", newline="") as lines:
        labels = {cells["phrase"]: cells["label"] for cells in csv.DictReader(lines) if cells["half"] == half}
    counts: Counter[str] = Counter()
    for phrase, day in phrases():
        label = labels.pop(sha256(phrase.encode()).hexdigest()[:12], None)
        if label is not None:
            found = read_when(phrase, now=day, zone=TOKYO)
            outcome = "right" if is_right(label, found, phrase) else "refused" if isinstance(found, UnreadableDate) else "wrong"
            counts[outcome] += 1
    assert not labels, "phrases that the corpus no longer has"
    return counts


@needs_corpus("event-japan")
@pytest.mark.parametrize("half, most, right, wrong", [("used", 300, 0.97, 0.005), ("unseen", 120, 0.97, 0.0)])
def test_dates_in_prose_read_as_they_are_labelled(half: str, most: int, right: float, wrong: float) -> None:
    counts = measure(half)
    assert counts.total() >= most
    assert counts["right"] >= right * counts.total()
    assert counts["wrong"] <= wrong * counts.total()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2026年8月1日正午から、8月31日午後5時まで", "0801 12:00-0831 17:00"),
        ("2026年8月1日(土)から19日(水)必着で申し込み", "0801-0819"),
        ("2026年8月1日(土)から10日(月)まで※必着", "0801-0810"),
        ("2026年8月1日・8日(2日制)", "0801,0808"),
    ],
)
def test_prose_beside_a_date_is_no_part_of_it(text: str, expected: str) -> None:
    found = read_when(text, now=datetime(2026, 7, 1, tzinfo=UTC), zone=TOKYO)
    assert isinstance(found, ParsedDate)
    assert shown(found) == expected


@pytest.mark.parametrize(
    "text",
    ["8月1日(土)必着", "8月1日(土)17時までに電話で", "8月7日(金)まで(月曜、8月3日から5日を除く)に公民館へ", "8月1日(消印有効)"],
)
def test_a_deadline_is_no_date_of_an_event(text: str) -> None:
    assert isinstance(read_when(text, now=datetime(2026, 7, 1, tzinfo=UTC), zone=TOKYO), UnreadableDate)
