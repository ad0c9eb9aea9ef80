"""Where the dots of the picture go: the start in the middle, a ring for each depth, each family within its own angle.

Plain geometry over plain numbers. The rings are ellipses, because screens are wider than they are high.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tadoru.jobs.report.graph.dots import Dot

STRETCH = 1.5
_RADIUS = 300.0
_GAP = 15.0
"""Room along a ring that a dot asks for."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layout:
    """The place and size of each dot, around (0, 0)."""

    polar: tuple[tuple[float, float], ...]
    """Radius and angle."""
    sizes: tuple[float, ...]
    rings: tuple[float, ...]
    """Radius of each depth from 1 on."""

    def at(self, dot: int) -> Point:
        return place(*self.polar[dot])


def place(radius: float, angle: float) -> Point:
    """The point on the ellipse of this radius."""
    return radius * math.cos(angle) * STRETCH, radius * math.sin(angle)


def lay_out(dots: Sequence[Dot]) -> Layout:
    """Gives every dot its place. A parent comes before its children in `dots`."""
    levels = _levels(dots)
    angles = _angles(dots)
    rings = _rings(levels)
    crowded = [levels.count(level) * _GAP > 2 * math.pi * radius for level, radius in enumerate(rings)]
    turn = [0] * len(rings)
    polar = []
    for level, angle in zip(levels, angles, strict=True):
        radius = rings[level]
        if crowded[level]:
            # Neighbours on a full ring step in and out in turn, like the seeds of a dandelion.
            radius -= (turn[level] % 4) * 0.16 * (radius - rings[level - 1])
            turn[level] += 1
        polar.append((radius, angle))
    return Layout(tuple(polar), _sizes(dots), tuple(rings[1:]))


def _levels(dots: Sequence[Dot]) -> list[int]:
    """Rings counted from the first dot, so that a picture begins in the middle whatever depth the crawl began at."""
    base = dots[0].depth
    return [0 if dot.parent is None else max(1, dot.depth - base) for dot in dots]


def _angles(dots: Sequence[Dot]) -> list[float]:
    """The middle of the arc each dot owns; an arc grows with the leaves below it."""
    weights = [0.0] * len(dots)
    for number in range(len(dots) - 1, -1, -1):
        weights[number] = max(weights[number], 1.0)
        parent = dots[number].parent
        if parent is not None:
            weights[parent] += weights[number]
    # Damped, so that one huge section does not press the others into a sliver.
    shares = [weight**0.75 for weight in weights]
    totals = [0.0] * len(dots)
    for number, dot in enumerate(dots):
        if dot.parent is not None:
            totals[dot.parent] += shares[number]
    starts = [-math.pi / 2] * len(dots)
    widths = [2 * math.pi] * len(dots)
    filled = [0.0] * len(dots)
    for number in _by_family(dots):
        parent = dots[number].parent
        if parent is None:
            continue
        widths[number] = widths[parent] * shares[number] / totals[parent]
        starts[number] = starts[parent] + filled[parent]
        filled[parent] += widths[number]
    return [start + width / 2 for start, width in zip(starts, widths, strict=True)]


def _by_family(dots: Sequence[Dot]) -> list[int]:
    """Parents first, siblings by their directory, so that a section of the site stays together."""

    def key(number: int) -> tuple[int, bool, str]:
        dot = dots[number]
        return dot.depth, number != 0, dot.url if dot.url is not None else dot.directory

    return sorted(range(len(dots)), key=key)


def _rings(levels: Sequence[int]) -> list[float]:
    deepest = max(levels)
    radius = _RADIUS if len(levels) > 12 else _RADIUS * 0.65
    step = min(120.0, radius / deepest) if deepest else 0.0
    rings = [0.0]
    for level in range(1, deepest + 1):
        needed = levels.count(level) * _GAP / (2 * math.pi)
        rings.append(min(max(rings[-1] + step, needed), rings[-1] + 2.5 * step))
    return rings


def _sizes(dots: Sequence[Dot]) -> tuple[float, ...]:
    # A page that opens many others is a hub as much as one that many link to.
    busy = [dot.weight for dot in dots]
    for dot in dots:
        if dot.parent is not None:
            busy[dot.parent] += 3
    most = max(busy[1:], default=0) or 1
    small = 3.2 if len(dots) > 150 else 4.2

    def size(number: int, dot: Dot) -> float:
        if number == 0:
            return 11.0
        if dot.url is None:
            return min(10.0, 4.0 + math.log2(dot.pages))
        return small + 6.0 * math.sqrt(busy[number] / most)

    return tuple(size(number, dot) for number, dot in enumerate(dots))
