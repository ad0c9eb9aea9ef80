"""Training a model of categories: multinomial logistic regression over hashed letter runs, and how well it does.

By stochastic steps, a row at a time, so that memory grows with the texts and not with the square of anything; in an order that
is drawn from a fixed seed, so that the same rows make the same model. Rare categories count as much as frequent ones. How well
it does is said by cross-validation in groups: the events of one municipality are never on both sides, because they repeat each
other.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from tadoru.errors import UsageError
from tadoru.jobs.events.enrich.category_model import (
    FEATURE_COUNT,
    CategoryModel,
    EventTexts,
    FeatureMatrix,
    Floats,
    Ints,
    TrainingInfo,
    extract_features,
    softmax,
    weight_features,
)
from tadoru.jobs.reporting.formatting import format_count
from tadoru.parse.decode import decode
from tadoru.parse.text_cleaning import one_line
from tadoru.store.calendar.event_records import iterate_events
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.store import CalendarStore

FOLDS = 5
EPOCHS = 20
STEP = 1.0
SHRINK = 5e-5
"""How strongly weights are drawn to zero."""
BALANCE = 1.0
"""How much more the rows of rare categories count: 1 makes all categories equal, 0 all rows."""
MIN_ROWS = 20
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""How sure a model has to be: tried, to see what is gained and lost."""
ReportProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """An event whose category is known."""

    texts: EventTexts
    category: str
    group: str = ""
    """Whose events are kept on one side when a model is tried."""


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """How well a category is found."""

    category: str
    count: int
    """Events that have it."""
    said: int
    """Events that were said to have it."""
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class ModelEvaluation:
    """What cross-validation says."""

    scores: tuple[CategoryScore, ...]
    """By category, the most frequent first."""
    accuracy: float
    macro_f1: float
    """Over all events at once: the mean over all categories, those included that are too rare to be learnt."""
    macro_f1_of_parts: float
    """The mean over the five parts, in each over the categories that occur there, as scikit-learn's `cross_val_score` counts."""
    majority: float
    """The accuracy of who always says the most frequent category."""
    groups: int
    sure: tuple[tuple[float, float, float], ...] = ()
    """(how sure a model has to be, the share of events that then get a category, how many of those are right)."""


def evaluate_model(samples: Sequence[TrainingSample], tell: ReportProgress = lambda line: None) -> ModelEvaluation:
    """Try a model on events that it has not seen, each in one of five parts."""
    classes, labels = _labels(samples)
    groups = [one.group or f"\0{number}" for number, one in enumerate(samples)]
    part = assign_folds(groups, FOLDS)
    matrix = extract_features([one.texts for one in samples])
    chances = np.zeros((len(samples), len(classes)), dtype=np.float32)
    for fold in range(FOLDS):
        seen, unseen = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if not len(seen) or not len(unseen):
            raise UsageError(f"A model is tried in {FOLDS} parts, and there are only {len(set(groups))} groups: give more rows.")
        model = _fit(matrix.rows(seen), labels[seen], classes)
        chances[unseen] = model.chances(matrix.rows(unseen))
        tell(f"part {fold + 1} of {FOLDS}")
    return _judged(labels, chances, part, classes, len(set(groups)))


def train_model(
    samples: Sequence[TrainingSample], now: datetime, evaluation: ModelEvaluation | None = None, source: str = ""
) -> CategoryModel:
    """A model of these events. Raises UsageError when they are too few."""
    classes, labels = _labels(samples)
    model = _fit(extract_features([one.texts for one in samples]), labels, classes)
    counts = Counter(one.category for one in samples)
    training = TrainingInfo(
        rows=len(samples),
        counts={name: counts[name] for name in classes},
        trained_on=now.date().isoformat(),
        source=source,
        accuracy=round(evaluation.accuracy, 4) if evaluation else None,
        macro_f1=round(evaluation.macro_f1, 4) if evaluation else None,
        groups=evaluation.groups if evaluation else 0,
    )
    return CategoryModel(classes, model.weights, model.bias, model.rarity, training)


def _labels(samples: Sequence[TrainingSample]) -> tuple[tuple[str, ...], Ints]:
    classes = tuple(sorted({one.category for one in samples}))
    if len(samples) < MIN_ROWS or len(classes) < 2:
        found = f"{format_count(len(samples), 'row')} with {format_count(len(classes), 'category', 'categories')}"
        raise UsageError(f"A model cannot be made of {found}: it needs {MIN_ROWS} rows and two categories at least.")
    number = {name: place for place, name in enumerate(classes)}
    return classes, np.array([number[one.category] for one in samples], dtype=np.int64)


def assign_folds(groups: Sequence[str], count: int) -> Ints:
    """In which of so many parts each row is: a group is in one part, and the parts are of nearly one size."""
    sizes, room = Counter(groups), [0] * count
    place: dict[str, int] = {}
    for group, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        smallest = room.index(min(room))
        place[group] = smallest
        room[smallest] += size
    return np.array([place[group] for group in groups], dtype=np.int64)


def _fit(matrix: FeatureMatrix, labels: Ints, classes: tuple[str, ...]) -> CategoryModel:
    rarity = _rarity(matrix)
    rows = weight_features(matrix, rarity)
    counts = np.bincount(labels, minlength=len(classes))
    worth = (len(labels) / len(classes) / np.maximum(counts, 1)) ** BALANCE
    worth /= worth[labels].mean()
    weights, bias = _descend(rows, labels, worth.astype(np.float32))
    return CategoryModel(classes, weights, bias, rarity)


def _rarity(matrix: FeatureMatrix) -> Floats:
    """How much a letter run says: the fewer events have it, the more."""
    events = np.bincount(matrix.places, minlength=FEATURE_COUNT)
    rarity: Floats = (np.log((1 + len(matrix)) / (1 + events)) + 1).astype(np.float32)
    return rarity


def _descend(rows: FeatureMatrix, labels: Ints, worth: Floats) -> tuple[Floats, Floats]:
    """Step by step towards the weights under which the known categories are likely."""
    weights = np.zeros((FEATURE_COUNT, len(worth)), dtype=np.float32)
    bias = np.zeros(len(worth), dtype=np.float32)
    order = np.random.default_rng(0)
    # Shrinking all weights at each step would touch every one of them: their common factor is kept apart.
    factor, steps = 1.0, 0
    for _ in range(EPOCHS):
        for number in order.permutation(len(rows)):
            step = STEP / (1 + STEP * SHRINK * steps)
            steps += 1
            places, values = rows.row(number)
            wrong = softmax(factor * (values @ weights[places]) + bias)
            wrong[labels[number]] -= 1
            wrong *= worth[labels[number]]
            factor *= 1 - step * SHRINK
            weights[places] -= (step / factor) * (values[:, None] * wrong)
            bias -= 0.1 * step * wrong
        weights *= factor
        factor = 1.0
    return weights, bias


def _judged(labels: Ints, chances: Floats, part: Ints, classes: Sequence[str], groups: int) -> ModelEvaluation:
    guessed = chances.argmax(axis=1)
    scores = _scores(labels, guessed, classes)
    best, right = chances.max(axis=1), guessed == labels
    sure = [(least, float((best >= least).mean()), _mean(right[best >= least])) for least in THRESHOLDS]
    of_parts = [_scores(labels[part == one], guessed[part == one], classes) for one in range(FOLDS)]
    return ModelEvaluation(
        scores=tuple(sorted(scores, key=lambda one: (-one.count, one.category))),
        accuracy=_mean(right),
        macro_f1=_mean([one.f1 for one in scores]),
        macro_f1_of_parts=_mean([_mean([one.f1 for one in each if one.count or one.said]) for each in of_parts]),
        majority=float(np.bincount(labels).max() / len(labels)),
        groups=groups,
        sure=tuple(sure),
    )


def _scores(labels: Ints, guessed: Ints, classes: Sequence[str]) -> list[CategoryScore]:
    found = []
    for number, name in enumerate(classes):
        right = int(((labels == number) & (guessed == number)).sum())
        there, said = int((labels == number).sum()), int((guessed == number).sum())
        f1 = 2 * right / (there + said) if there + said else 0.0
        found.append(CategoryScore(name, there, said, right / said if said else 0.0, right / there if there else 0.0, f1))
    return found


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else 0.0


TITLE_COLUMNS = ("title", "名称", "イベント名", "name", "summary")
VENUE_COLUMNS = ("venue", "集合場所", "場所名称", "location", "place")
DESCRIPTION_COLUMNS = ("description", "説明", "概要")
CATEGORY_COLUMNS = ("category", "イベント種類", "カテゴリー", "カテゴリ", "categories")
"""Names that the columns of a table may have."""
LONGEST_CATEGORY = 100


def samples_from_tables(
    paths: Sequence[Path], *, text: Sequence[str] = (), category: str | None = None, group: str | None = None
) -> list[TrainingSample]:
    """The rows of tables that have a title and a category. `text` names their columns: title, description, venue, in that order.

    Without a `group` column the rows of a table are a group when there are several tables, and each row one otherwise.
    """
    found: list[TrainingSample] = []
    for path in paths:
        found += _of_table(path, text, category, group, path.name if len(paths) > 1 else "")
    return found


def _of_table(path: Path, text: Sequence[str], category: str | None, group: str | None, name: str) -> Iterator[TrainingSample]:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name.") from None
    rows = csv.DictReader(io.StringIO(decode(body).text, newline=""))
    columns = rows.fieldnames or []
    title_column = _column(path, columns, text[0] if text else None, TITLE_COLUMNS, "--text")
    description_column = _column(
        path, columns, text[1] if len(text) > 1 else None, DESCRIPTION_COLUMNS, "--text", needed=len(text) > 1
    )
    venue_column = _column(path, columns, text[2] if len(text) > 2 else None, VENUE_COLUMNS, "--text", needed=len(text) > 2)
    category_column = _column(path, columns, category, CATEGORY_COLUMNS, "--category")
    group_column = _column(path, columns, group, (), "--group", needed=group is not None)
    try:
        for row in rows:
            title, label = row.get(title_column) or "", one_line(row.get(category_column) or "")
            if title.strip() and label and len(label) <= LONGEST_CATEGORY:
                texts = EventTexts(title, row.get(venue_column) or "", row.get(description_column) or "")
                yield TrainingSample(texts, label, row.get(group_column) or "" if group_column else name)
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as CSV in line {rows.line_num} ({error}).") from None


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


def samples_from_calendar(store: CalendarStore) -> list[TrainingSample]:
    """Every event to which a source or a person gave a category; those of a city are a group."""
    samples = []
    for told in iterate_events(store, EventFilter(archived=None)):
        event = told.event
        if event.category and "category_from" not in event.extra:
            samples.append(TrainingSample(EventTexts(event.title, event.venue, event.description), event.category, event.city))
    # The order of the database is that of time, and of two at one time by chance.
    return sorted(samples, key=lambda one: (one.group, one.texts, one.category))
