"""Texts as numbers: runs of letters, hashed into a fixed number of places.

Runs of letters need no words, so that Japanese, which writes none apart, is read as well as Western text. One or two signs of
Japanese mean something, and longer runs only repeat one municipality's phrases (measured in `bench/EVENTS.md`); Western letters
mean something from three on. Hashing keeps a model small and needs no vocabulary; the hash is our own arithmetic, and the same on
every machine.
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
"""Into which letter runs are hashed."""
LONGEST_RUN, LONGEST_NARROW_RUN = 2, 4
MAX_DESCRIPTION = 2_000
"""Of a description: what an event is about is said at its beginning."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
_STEP, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_WIDE = np.uint64(0x2E80)
"""From here on come the scripts of East Asia, whose signs are more than sounds."""


class EventTexts(NamedTuple):
    """What is read of an event."""

    title: str
    venue: str = ""
    description: str = ""
    """Plain text or HTML."""


class FeatureMatrix(NamedTuple):
    """The features of many events, row after row."""

    starts: Ints
    """Where each row begins, and at last where the last one ends."""
    places: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, number: int) -> tuple[Ints, Floats]:
        part = slice(self.starts[number], self.starts[number + 1])
        return self.places[part], self.values[part]

    def rows(self, numbers: Ints) -> FeatureMatrix:
        """Only these."""
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
    """Count the letter runs of each event; a run that comes again counts less each time."""
    places, values = [], []
    for one in texts:
        found, counts = np.unique(_places(one), return_counts=True)
        places.append(found)
        values.append((1 + np.log(counts)).astype(np.float32))
    return stack_rows(places, values)


def _places(texts: EventTexts) -> Ints:
    """The places of all its letter runs; those of the title twice, which says most."""
    title = _runs(_letters(texts.title))
    rest = (texts.venue, plain_text(texts.description)[:MAX_DESCRIPTION])
    return np.concatenate([title, title, *(_runs(_letters(part)) for part in rest)])


def _letters(text: str) -> NDArray[np.uint64]:
    """The code points of a text in one width and case, with a space at both ends."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if not folded:
        return np.zeros(0, dtype=np.uint64)
    return np.frombuffer(f" {folded} ".encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)


def _runs(letters: NDArray[np.uint64]) -> Ints:
    """The places of every run of letters."""
    found = [np.zeros(0, dtype=np.int64)]
    hashed, is_narrow = np.ones(len(letters), dtype=np.uint64), letters < _WIDE
    narrow = is_narrow
    for length in range(1, min(LONGEST_NARROW_RUN, len(letters)) + 1):
        count = len(letters) - length + 1
        # Numbers of 64 bits that overflow: that is the mixing.
        hashed = (hashed[:count] + letters[length - 1 :]) * _STEP
        hashed ^= hashed >> np.uint64(32)
        narrow = narrow[:count] & is_narrow[length - 1 :]
        places = ((hashed * _MIX) >> np.uint64(64 - BITS)).astype(np.int64)
        found.append(places if length <= LONGEST_RUN else places[narrow])
    return np.concatenate(found)


FORMAT = "tadoru-category-1"
LARGEST_FILE = 64 * 1024 * 1024
MIN_PROBABILITY = 0.3
"""A category is given when its chance is at least this; otherwise the event keeps none."""
_AT_ONCE = 1_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ARRAYS = ("weights", "bias", "rarity")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInfo:
    """Where a model comes from, and how good it is."""

    rows: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows of each category."""
    trained_on: str = ""
    """A day."""
    source: str = ""
    accuracy: float | None = None
    """By cross-validation; None when it was not tried."""
    macro_f1: float | None = None
    groups: int = 0
    """Of rows that were kept on one side."""


@dataclass(frozen=True)
class CategoryModel:
    """Weights for each place and category."""

    classes: tuple[str, ...]
    weights: Floats
    bias: Floats
    rarity: Floats
    training: TrainingInfo = field(default_factory=TrainingInfo)

    def chances(self, matrix: FeatureMatrix) -> Floats:
        """The chance of each category for each row."""
        rows = weight_features(matrix, self.rarity)
        found = np.zeros((len(rows), len(self.classes)), dtype=np.float32)
        for number in range(len(rows)):
            places, values = rows.row(number)
            found[number] = softmax(values @ self.weights[places] + self.bias)
        return found

    def categories(self, texts: Sequence[EventTexts], least: float = MIN_PROBABILITY) -> list[str]:
        """The category of each event; empty when none is likely enough."""
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
        """A short name for what this model knows, whenever it was made."""
        known = hashlib.sha256(json.dumps(self.classes).encode())
        for name in _ARRAYS:
            known.update(self._half(name).tobytes())
        return known.hexdigest()[:12]

    def _half(self, name: str) -> NDArray[np.float16]:
        """As it is kept."""
        kept: NDArray[np.float16] = getattr(self, name).astype("<f2")
        return kept

    def save(self, path: Path) -> None:
        """Write the file. Raises StoreError."""
        try:
            path.write_bytes(self.data)
        except OSError as error:
            raise StoreError(f"The model {path} cannot be written ({error.strerror}): check the folder.") from error


def load_model(path: Path) -> CategoryModel:
    """The model of a file. Raises ConfigError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path} is too large for a model of categories.")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"The model {path} cannot be read ({error.strerror}): check its name.") from None
    try:
        return _read(data)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, RuntimeError) as error:
        raise ConfigError(f"{path} is not a model of categories ({error}): make one with `tadoru events enrich train`.") from None


def _read(data: bytes) -> CategoryModel:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > 2 * LARGEST_FILE:
            raise ValueError("it unpacks to too much")
        about: Any = json.loads(archive.read("about.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False) for name in _ARRAYS}
    if not isinstance(about, dict) or about.pop("format", "") != FORMAT:
        raise ValueError("its format is not known here")
    classes = tuple(about.pop("classes"))
    shapes = {"weights": (FEATURE_COUNT, len(classes)), "bias": (len(classes),), "rarity": (FEATURE_COUNT,)}
    if not classes or not all(isinstance(name, str) for name in classes):
        raise ValueError("it has no categories")
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype != np.float16 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"its {name} are damaged")
    weights, bias, rarity = (arrays[name].astype(np.float32) for name in _ARRAYS)
    return CategoryModel(classes, weights, bias, rarity, TrainingInfo(**about))


def weight_features(matrix: FeatureMatrix, rarity: Floats) -> FeatureMatrix:
    """Each row weighed by how rare its letter runs are, and of length one."""
    values = matrix.values * rarity[matrix.places]
    lengths = np.diff(matrix.starts)
    number = np.repeat(np.arange(len(matrix)), lengths)
    squares = np.bincount(number, weights=values * values, minlength=len(matrix))
    norms = np.sqrt(np.maximum(squares, 1e-12)).astype(np.float32)
    return FeatureMatrix(matrix.starts, matrix.places, (values / norms[number]).astype(np.float32))


def softmax(scores: Floats) -> Floats:
    """Scores as chances, along the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return chances
