"""A text classifier for categories: features, prediction, and its file format.

Features are character n-grams hashed into a fixed number of buckets. They need no word boundaries, so Japanese works as well as
Western text. One or two Japanese characters carry meaning, and longer runs only repeat the phrases of one municipality (measured
in `bench/EVENTS.md`); Western letters carry meaning from three on. Hashing keeps a model small and needs no vocabulary; the hash
is computed here and is the same on every machine.

The file is a numpy archive of half-precision numbers with a description of the training. The same model is always the same bytes,
and nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tadoru.errors import ConfigError, StoreError
from tadoru.parse.text_cleaning import plain_text

BITS = 15
FEATURE_COUNT = 1 << BITS
"""Buckets that n-grams are hashed into."""
LONGEST_RUN, LONGEST_NARROW_RUN = 2, 4
MAX_DESCRIPTION = 2_000
"""Characters of a description that are used: its start says what an event is about."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
_STEP, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_WIDE = np.uint64(0x2E80)
"""First code point of the East Asian scripts, whose characters carry more meaning than a letter."""


class EventTexts(NamedTuple):
    """The texts of an event."""

    title: str
    venue: str = ""
    description: str = ""
    """Plain text or HTML."""


class FeatureMatrix(NamedTuple):
    """The features of many events, row after row."""

    starts: Ints
    """Where each row starts, and finally where the last one ends."""
    places: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, number: int) -> tuple[Ints, Floats]:
        part = slice(self.starts[number], self.starts[number + 1])
        return self.places[part], self.values[part]

    def rows(self, numbers: Ints) -> FeatureMatrix:
        """The matrix of these rows only."""
        every = [self.row(int(number)) for number in numbers]
        return stack_rows([places for places, _ in every], [values for _, values in every])


def stack_rows(places: Sequence[Ints], values: Sequence[Floats]) -> FeatureMatrix:
    """A matrix of rows."""
    starts = np.zeros(len(places) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in places], out=starts[1:])
    none: Any = np.zeros(0)
    return FeatureMatrix(
        starts, np.concatenate([*places, none.astype(np.int64)]), np.concatenate([*values, none.astype(np.float32)])
    )


def extract_features(texts: Sequence[EventTexts]) -> FeatureMatrix:
    """Count the n-grams of each event, with logarithmic weights."""
    places, values = [], []
    for one in texts:
        found, counts = np.unique(_places(one), return_counts=True)
        places.append(found)
        values.append((1 + np.log(counts)).astype(np.float32))
    return stack_rows(places, values)


def _places(texts: EventTexts) -> Ints:
    """The buckets of all n-grams; those of the title twice, because it says most."""
    title = _runs(_letters(texts.title))
    rest = (texts.venue, plain_text(texts.description)[:MAX_DESCRIPTION])
    return np.concatenate([title, title, *(_runs(_letters(part)) for part in rest)])


def _letters(text: str) -> NDArray[np.uint64]:
    """The code points of a text with one width and case, with a space at both ends."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if not folded:
        return np.zeros(0, dtype=np.uint64)
    return np.frombuffer(f" {folded} ".encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _runs(letters: NDArray[np.uint64]) -> Ints:
    """The buckets of all n-grams."""
    found = [np.zeros(0, dtype=np.int64)]
    hashed, is_narrow = np.ones(len(letters), dtype=np.uint64), letters < _WIDE
    narrow = is_narrow
    for length in range(1, min(LONGEST_NARROW_RUN, len(letters)) + 1):
        count = len(letters) - length + 1
        # 64-bit numbers overflow here: that is the mixing.
        hashed = (hashed[:count] + letters[length - 1 :]) * _STEP
        hashed ^= hashed >> np.uint64(32)
        narrow = narrow[:count] & is_narrow[length - 1 :]
        places = ((hashed * _MIX) >> np.uint64(64 - BITS)).astype(np.int64)
        found.append(places if length <= LONGEST_RUN else places[narrow])
    return np.concatenate(found)


FORMAT = "tadoru-category-1"
LARGEST_FILE = 64 * 1024 * 1024
MIN_PROBABILITY = 0.3
"""Minimum probability of a category; otherwise the event keeps none."""
_AT_ONCE = 1_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ARRAYS = ("weights", "bias", "rarity")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInfo:
    """How a model was trained, and its quality."""

    rows: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows of each category."""
    trained_on: str = ""
    """A date."""
    source: str = ""
    accuracy: float | None = None
    """By cross-validation; None if it was not evaluated."""
    macro_f1: float | None = None
    groups: int = 0
    """Groups of rows that are never split between training and test."""


@dataclass(frozen=True)
class CategoryModel:
    """Weights for each bucket and category."""

    classes: tuple[str, ...]
    weights: Floats
    bias: Floats
    rarity: Floats
    training: TrainingInfo = field(default_factory=TrainingInfo)

    def chances(self, matrix: FeatureMatrix) -> Floats:
        """The probability of each category for each row."""
        rows = weight_features(matrix, self.rarity)
        found = np.zeros((len(rows), len(self.classes)), dtype=np.float32)
        for number in range(len(rows)):
            places, values = rows.row(number)
            found[number] = softmax(values @ self.weights[places] + self.bias)
        return found

    def categories(self, texts: Sequence[EventTexts], least: float = MIN_PROBABILITY) -> list[str]:
        """The category of each event; empty if none is likely enough."""
        found: list[str] = []
        for start in range(0, len(texts), _AT_ONCE):
            chances = self.chances(extract_features(texts[start : start + _AT_ONCE]))
            best = chances.argmax(axis=1)
            found += [self.classes[place] if row[place] >= least else "" for row, place in zip(chances, best, strict=True)]
        return found

    @property
    def data(self) -> bytes:
        """The model as the bytes of its file."""
        about = {"format": FORMAT, "classes": list(self.classes), **asdict(self.training)}
        members = {"about.json": json.dumps(about, ensure_ascii=False, indent=2, sort_keys=True).encode()}
        for name in _ARRAYS:
            buffer = io.BytesIO()
            np.save(buffer, self._half(name), allow_pickle=False)
            members[f"{name}.npy"] = buffer.getvalue()
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, content in members.items():
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
        return file.getvalue()

    @cached_property
    def digest(self) -> str:
        """A short identifier of the weights."""
        known = hashlib.sha256(json.dumps(self.classes).encode())
        for name in _ARRAYS:
            known.update(self._half(name).tobytes())
        return known.hexdigest()[:12]

    def _half(self, name: str) -> NDArray[np.float16]:
        """An array as it is stored."""
        kept: NDArray[np.float16] = getattr(self, name).astype("<f2")
        return kept

    def save(self, path: Path) -> None:
        """Write the file. Raises StoreError."""
        try:
            path.write_bytes(self.data)
        except OSError as error:
            raise StoreError(
                "Cannot write the model {path} ({reason}). Check the folder.", path=path, reason=error.strerror
            ) from error


def load_model(path: Path) -> CategoryModel:
    """Load a model from a file. Raises ConfigError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError("{path} is too large for a category model.", path=path)
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError("Cannot read the model {path} ({reason}). Check the path.", path=path, reason=error.strerror) from None
    try:
        return _read(data)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, RuntimeError) as error:
        raise ConfigError(
            "{path} is not a category model ({reason}). Train one with `tadoru events enrich train`.", path=path, reason=error
        ) from None


def _read(data: bytes) -> CategoryModel:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > 2 * LARGEST_FILE:
            raise ValueError("too large when unpacked")
        about: Any = json.loads(archive.read("about.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False) for name in _ARRAYS}
    if not isinstance(about, dict) or about.pop("format", "") != FORMAT:
        raise ValueError("unknown format")
    classes = tuple(about.pop("classes"))
    shapes = {"weights": (FEATURE_COUNT, len(classes)), "bias": (len(classes),), "rarity": (FEATURE_COUNT,)}
    if not classes or not all(isinstance(name, str) for name in classes):
        raise ValueError("no categories")
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype != np.float16 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"damaged {name}")
    weights, bias, rarity = (arrays[name].astype(np.float32) for name in _ARRAYS)
    return CategoryModel(classes, weights, bias, rarity, TrainingInfo(**about))


def weight_features(matrix: FeatureMatrix, rarity: Floats) -> FeatureMatrix:
    """Weight each row by the rarity of its n-grams, and normalise it to length one."""
    values = matrix.values * rarity[matrix.places]
    lengths = np.diff(matrix.starts)
    number = np.repeat(np.arange(len(matrix)), lengths)
    squares = np.bincount(number, weights=values * values, minlength=len(matrix))
    norms = np.sqrt(np.maximum(squares, 1e-12)).astype(np.float32)
    return FeatureMatrix(matrix.starts, matrix.places, (values / norms[number]).astype(np.float32))


def softmax(scores: Floats) -> Floats:
    """Scores as probabilities, along the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return chances
