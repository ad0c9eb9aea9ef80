"""Which dots of the picture bear their name, and where it stands so that no two names cover each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tadoru.jobs.report.escape import clip
from tadoru.jobs.report.graph.dots import Dot, Outcome
from tadoru.jobs.report.graph.layout import Layout
from tadoru.jobs.report.words import columns

_FEW = 120
"""Up to so many dots, every one may bear its name."""
_HUBS = 12
_BROKEN = 6
_LETTER = 6.3
_HEIGHT = 15.0
_LENGTH = 26

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Label:
    """A name beside its dot."""

    dot: int
    text: str
    x: float
    y: float
    anchor: str


def place_labels(dots: Sequence[Dot], layout: Layout, names: Sequence[str], edges: tuple[float, float]) -> Iterator[Label]:
    """The names that find room between the picture's left and right edge, the most telling dots first."""
    taken = [_around(layout, number) for number in range(len(names)) if layout.sizes[number] > 6 or len(names) <= 80]
    for number in _most_telling(dots, layout):
        text = clip(names[number], _LENGTH)
        for label in _positions(number, text, layout):
            box = _box(label)
            if box[0] >= edges[0] and box[2] <= edges[1] and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield label
                break


def _most_telling(dots: Sequence[Dot], layout: Layout) -> list[int]:
    """The start, the hubs of the site, a few of the broken pages and of the directories; in a small picture then all the rest."""
    by_size = sorted(range(len(dots)), key=lambda number: (dots[number].url is None, -layout.sizes[number], number))
    gathered = [number for number in by_size if dots[number].url is None]
    broken = [number for number in by_size if dots[number].outcome is Outcome.BROKEN]
    rest = by_size if len(by_size) <= _FEW else []
    return list(dict.fromkeys([0, *by_size[:_HUBS], *broken[:_BROKEN], *gathered[:_HUBS], *rest]))


def _positions(number: int, text: str, layout: Layout) -> Iterator[Label]:
    x, y = layout.at(number)
    away = layout.sizes[number] + 5
    if number == 0:
        yield Label(number, text, x, y + away + 11, "middle")
        return
    right, left = Label(number, text, x + away, y + 4, "start"), Label(number, text, x - away, y + 4, "end")
    yield from (right, left) if x >= 0 else (left, right)
    yield Label(number, text, x, y - away, "middle")
    yield Label(number, text, x, y + away + 9, "middle")


def _box(label: Label) -> Box:
    width = columns(label.text) * _LETTER
    left = {"start": label.x, "end": label.x - width, "middle": label.x - width / 2}[label.anchor]
    return left, label.y - _HEIGHT + 3, left + width, label.y + 3


def _around(layout: Layout, number: int) -> Box:
    (x, y), size = layout.at(number), layout.sizes[number]
    return x - size, y - size, x + size, y + size


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
