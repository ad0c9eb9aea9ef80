"""Events whose category is known, to learn from: rows of a table that a person supplies, or events of the database.

Only categories that a source or a person gave are learnt from, never those that a model gave.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from tadoru.errors import UsageError
from tadoru.jobs.events.enrich.features import Texts
from tadoru.jobs.events.enrich.train import Sample
from tadoru.parse.decode import decode
from tadoru.parse.normal_text import one_line
from tadoru.store.events.listing import EventFilter
from tadoru.store.events.open import EventsStore
from tadoru.store.events.walking import walk

TITLES = ("title", "名称", "イベント名", "name", "summary")
VENUES = ("venue", "集合場所", "場所名称", "location", "place")
DESCRIPTIONS = ("description", "説明", "概要")
CATEGORIES = ("category", "イベント種類", "カテゴリー", "カテゴリ", "categories")
"""Names that the columns of a table may have."""
LONGEST_CATEGORY = 100


def from_table(
    paths: Sequence[Path], *, text: Sequence[str] = (), category: str | None = None, group: str | None = None
) -> list[Sample]:
    """The rows of tables that have a title and a category. `text` names their columns: title, description, venue, in that order.

    Without a `group` column the rows of a table are a group when there are several tables, and each row one otherwise.
    """
    found: list[Sample] = []
    for path in paths:
        found += _of_table(path, text, category, group, path.name if len(paths) > 1 else "")
    return found


def _of_table(path: Path, text: Sequence[str], category: str | None, group: str | None, name: str) -> Iterator[Sample]:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} can not be read ({error.strerror}): check its name.") from None
    rows = csv.DictReader(io.StringIO(decode(body).text, newline=""))
    columns = rows.fieldnames or []
    title_column = _column(path, columns, text[0] if text else None, TITLES, "--text")
    description_column = _column(path, columns, text[1] if len(text) > 1 else None, DESCRIPTIONS, "--text", needed=len(text) > 1)
    venue_column = _column(path, columns, text[2] if len(text) > 2 else None, VENUES, "--text", needed=len(text) > 2)
    category_column = _column(path, columns, category, CATEGORIES, "--category")
    group_column = _column(path, columns, group, (), "--group", needed=group is not None)
    try:
        for row in rows:
            title, label = row.get(title_column) or "", one_line(row.get(category_column) or "")
            if title.strip() and label and len(label) <= LONGEST_CATEGORY:
                texts = Texts(title, row.get(venue_column) or "", row.get(description_column) or "")
                yield Sample(texts, label, row.get(group_column) or "" if group_column else name)
    except csv.Error as error:
        raise UsageError(f"{path} can not be read as CSV in line {rows.line_num} ({error}).") from None


def _column(
    path: Path, columns: Sequence[str], named: str | None, usual: Sequence[str], option: str, *, needed: bool | None = None
) -> str:
    """The column that is named, or the first with a usual name; empty when it is not needed and not there."""
    if named is not None:
        if named not in columns:
            raise UsageError(f"{path} has no column “{named}”; it has {', '.join(columns[:20]) or 'none'}. Check {option}.")
        return named
    folded = {column.strip().casefold(): column for column in columns}
    found = next((folded[name] for name in usual if name in folded), "")
    if not found and needed is None:
        raise UsageError(f"{path} has none of the columns {', '.join(usual)}: name the right one with {option}.")
    return found


def from_database(store: EventsStore) -> list[Sample]:
    """Every event to which a source or a person gave a category; those of a city are a group."""
    samples = []
    for told in walk(store, EventFilter(archived=None)):
        event = told.event
        if event.category and "category_from" not in event.extra:
            samples.append(Sample(Texts(event.title, event.venue, event.description), event.category, event.city))
    # The order of the database is that of time, and of two at one time by chance.
    return sorted(samples, key=lambda one: (one.group, one.texts, one.category))
