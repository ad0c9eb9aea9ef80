"""A model of categories: what it knows, what it says about an event, and how it is kept in a file.

The file is a numpy archive of half-precision numbers, made so that the same model is the same bytes, with a description of its
training inside. Nothing in it is ever run: a file is a few arrays of numbers and a piece of JSON, or refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tadoru.errors import ConfigError, StoreError
from tadoru.jobs.events.enrich.features import PLACES, Floats, Matrix, Texts, read

FORMAT = "tadoru-category-1"
LARGEST_FILE = 64 * 1024 * 1024
LEAST_SURE = 0.3
"""A category is given when its chance is at least this; otherwise the event keeps none."""
_AT_ONCE = 1_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ARRAYS = ("weights", "bias", "rarity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
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
    training: Training = field(default_factory=Training)

    def chances(self, matrix: Matrix) -> Floats:
        """The chance of each category for each row."""
        rows = weighed(matrix, self.rarity)
        found = np.zeros((len(rows), len(self.classes)), dtype=np.float32)
        for number in range(len(rows)):
            places, values = rows.row(number)
            found[number] = softmax(values @ self.weights[places] + self.bias)
        return found

    def categories(self, texts: Sequence[Texts], least: float = LEAST_SURE) -> list[str]:
        """The category of each event; empty when none is likely enough."""
        found: list[str] = []
        for start in range(0, len(texts), _AT_ONCE):
            chances = self.chances(read(texts[start : start + _AT_ONCE]))
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
            raise StoreError(f"The model {path} can not be written ({error.strerror}): check the folder.") from error


def load(path: Path) -> CategoryModel:
    """The model of a file. Raises ConfigError."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path} is too large for a model of categories.")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"The model {path} can not be read ({error.strerror}): check its name.") from None
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
    shapes = {"weights": (PLACES, len(classes)), "bias": (len(classes),), "rarity": (PLACES,)}
    if not classes or not all(isinstance(name, str) for name in classes):
        raise ValueError("it has no categories")
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype != np.float16 or not np.isfinite(arrays[name]).all():
            raise ValueError(f"its {name} are damaged")
    weights, bias, rarity = (arrays[name].astype(np.float32) for name in _ARRAYS)
    return CategoryModel(classes, weights, bias, rarity, Training(**about))


def weighed(matrix: Matrix, rarity: Floats) -> Matrix:
    """Each row weighed by how rare its letter runs are, and of length one."""
    values = matrix.values * rarity[matrix.places]
    lengths = np.diff(matrix.starts)
    number = np.repeat(np.arange(len(matrix)), lengths)
    squares = np.bincount(number, weights=values * values, minlength=len(matrix))
    norms = np.sqrt(np.maximum(squares, 1e-12)).astype(np.float32)
    return Matrix(matrix.starts, matrix.places, (values / norms[number]).astype(np.float32))


def softmax(scores: Floats) -> Floats:
    """Scores as chances, along the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return chances
