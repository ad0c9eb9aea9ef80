"""Trains and evaluates the category model: multinomial logistic regression over hashed n-grams.

Training is stochastic gradient descent, one row at a time, so memory grows with the texts only; the order is drawn from a fixed
seed, so the same rows make the same model. Rare categories weigh as much as frequent ones. The evaluation is a grouped
cross-validation: events of one municipality are never in both training and test, because they repeat each other.

Samples come from tables or from the calendar. Only categories given by a source or a person are used, never those of a model.
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

from tadoru.errors import UsageError, reading_errors
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
from tadoru.parse.decode import decode
from tadoru.parse.text_cleaning import one_line
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.store import CalendarStore

FOLDS = 5
EPOCHS = 20
STEP = 1.0
SHRINK = 5e-5
"""Strength of the regularisation."""
BALANCE = 1.0
"""Weight of rare categories: 1 makes all categories equal, 0 all rows."""
MIN_ROWS = 20
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Probability thresholds that are evaluated."""
ReportProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """An event with a known category."""

    texts: EventTexts
    category: str
    group: str = ""
    """Samples of one group are never split between training and test."""


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """The quality of one category."""

    category: str
    count: int
    """Events of this category."""
    predicted: int
    """Events predicted to have it."""
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class ModelEvaluation:
    """The result of a cross-validation."""

    scores: tuple[CategoryScore, ...]
    """By category, most frequent first."""
    accuracy: float
    macro_f1: float
    """The mean over all categories, including those too rare to be learnt."""
    macro_f1_of_parts: float
    """The mean over the five folds, in each over the categories that occur there, as scikit-learn's `cross_val_score` computes
    it."""
    majority: float
    """The accuracy of always predicting the most frequent category."""
    groups: int
    sure: tuple[tuple[float, float, float], ...] = ()
    """(threshold, share of events that get a category, share of those that is correct)."""


def evaluate_model(samples: Sequence[TrainingSample], report: ReportProgress = lambda line: None) -> ModelEvaluation:
    """Cross-validate a model in five folds."""
    classes, labels = _labels(samples)
    groups = [one.group or f"\0{number}" for number, one in enumerate(samples)]
    part = assign_folds(groups, FOLDS)
    matrix = extract_features([one.texts for one in samples])
    chances = np.zeros((len(samples), len(classes)), dtype=np.float32)
    for fold in range(FOLDS):
        seen, unseen = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if not len(seen) or not len(unseen):
            raise UsageError(
                "Cannot evaluate a model with {groups} groups in {folds} folds. Add more rows.",
                groups=len(set(groups)),
                folds=FOLDS,
            )
        model = _fit(matrix.rows(seen), labels[seen], classes)
        chances[unseen] = model.chances(matrix.rows(unseen))
        report(f"part {fold + 1} of {FOLDS}")
    return _evaluation(labels, chances, part, classes, len(set(groups)))


def train_model(
    samples: Sequence[TrainingSample], now: datetime, evaluation: ModelEvaluation | None = None, source: str = ""
) -> CategoryModel:
    """Train a model. Raises UsageError if there are too few samples."""
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
        raise UsageError(
            "Too little training data: {rows} rows, {categories} categories. The minimum is {minimum} rows and 2 categories.",
            rows=len(samples),
            categories=len(classes),
            minimum=MIN_ROWS,
        )
    number = {name: place for place, name in enumerate(classes)}
    return classes, np.array([number[one.category] for one in samples], dtype=np.int64)


def assign_folds(groups: Sequence[str], count: int) -> Ints:
    """The fold of each row: a group is in one fold, and folds have nearly the same size."""
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
    """Inverse document frequency: the fewer events have an n-gram, the more it says."""
    events = np.bincount(matrix.places, minlength=FEATURE_COUNT)
    rarity: Floats = (np.log((1 + len(matrix)) / (1 + events)) + 1).astype(np.float32)
    return rarity


def _descend(rows: FeatureMatrix, labels: Ints, worth: Floats) -> tuple[Floats, Floats]:
    """Gradient descent."""
    weights = np.zeros((FEATURE_COUNT, len(worth)), dtype=np.float32)
    bias = np.zeros(len(worth), dtype=np.float32)
    order = np.random.default_rng(0)
    # Shrinking all weights at each step would touch every one of them: their common factor is kept separately.
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


def _evaluation(labels: Ints, chances: Floats, part: Ints, classes: Sequence[str], groups: int) -> ModelEvaluation:
    guessed = chances.argmax(axis=1)
    scores = _scores(labels, guessed, classes)
    best, right = chances.max(axis=1), guessed == labels
    sure = [(least, float((best >= least).mean()), _mean(right[best >= least])) for least in THRESHOLDS]
    of_parts = [_scores(labels[part == one], guessed[part == one], classes) for one in range(FOLDS)]
    return ModelEvaluation(
        scores=tuple(sorted(scores, key=lambda one: (-one.count, one.category))),
        accuracy=_mean(right),
        macro_f1=_mean([one.f1 for one in scores]),
        macro_f1_of_parts=_mean([_mean([one.f1 for one in each if one.count or one.predicted]) for each in of_parts]),
        majority=float(np.bincount(labels).max() / len(labels)),
        groups=groups,
        sure=tuple(sure),
    )


def _scores(labels: Ints, guessed: Ints, classes: Sequence[str]) -> list[CategoryScore]:
    found = []
    for number, name in enumerate(classes):
        right = int(((labels == number) & (guessed == number)).sum())
        there, predicted = int((labels == number).sum()), int((guessed == number).sum())
        f1 = 2 * right / (there + predicted) if there + predicted else 0.0
        found.append(
            CategoryScore(name, there, predicted, right / predicted if predicted else 0.0, right / there if there else 0.0, f1)
        )
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

    Without a `group` column, the rows of each table are a group if there are several tables, otherwise each row is one.
    """
    found: list[TrainingSample] = []
    for path in paths:
        found += _of_table(path, text, category, group, path.name if len(paths) > 1 else "")
    return found


def _of_table(path: Path, text: Sequence[str], category: str | None, group: str | None, name: str) -> Iterator[TrainingSample]:
    with reading_errors(path):
        body = path.read_bytes()
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
        raise UsageError(
            "Cannot read {path} as CSV: see line {line} ({reason}).", path=path, line=rows.line_num, reason=error
        ) from None


def _column(
    path: Path, columns: Sequence[str], named: str | None, usual: Sequence[str], option: str, *, needed: bool | None = None
) -> str:
    """The given column, or the first with a usual name; empty if it is optional and missing."""
    if named is not None:
        if named not in columns:
            raise UsageError(
                "{path} has no column “{column}”. It has: {columns}. Check {option}.",
                path=path,
                column=named,
                columns=", ".join(columns[:20]) or "–",
                option=option,
            )
        return named
    folded = {column.strip().casefold(): column for column in columns}
    found = next((folded[name] for name in usual if name in folded), "")
    if not found and needed is None:
        raise UsageError(
            "{path} has none of the columns {columns}. Name the right one with {option}.",
            path=path,
            columns=", ".join(usual),
            option=option,
        )
    return found


def samples_from_calendar(store: CalendarStore) -> list[TrainingSample]:
    """All events with a category given by a source or a person; those of a city are a group."""
    samples = []
    for record in store.events.iterate(EventFilter(archived=None)):
        event = record.event
        if event.category and "category_from" not in event.extra:
            samples.append(TrainingSample(EventTexts(event.title, event.venue, event.description), event.category, event.city))
    # The database orders by time, and events of the same time arbitrarily.
    return sorted(samples, key=lambda one: (one.group, one.texts, one.category))
