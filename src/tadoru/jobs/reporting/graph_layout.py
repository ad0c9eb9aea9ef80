"""The layout of a site graph: dots, their positions, and the labels that fit.

The start page is in the center and each depth is a ring, an ellipse because screens are wider than they are high. The pages
below a page stay within its angle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tadoru.i18n.translation import N_
from tadoru.jobs.reporting.escape import clip
from tadoru.jobs.reporting.formatting import display_width


class UrlOutcome(StrEnum):
    """The outcome of requesting a URL, in the order that matters to a reader."""

    BROKEN = "broken"
    BLOCKED = "blocked"
    REDIRECT = "redirect"
    OK = "ok"
    UNREAD = "unread"


OUTCOME_NAMES: Mapping[UrlOutcome, str] = {
    UrlOutcome.OK: N_("OK"),
    UrlOutcome.REDIRECT: N_("Redirected"),
    UrlOutcome.BROKEN: N_("Broken"),
    UrlOutcome.BLOCKED: N_("Blocked"),
    UrlOutcome.UNREAD: N_("Not requested"),
}


@dataclass(frozen=True, slots=True)
class GraphDot:
    """A page, or the pages of a directory that are drawn as one dot."""

    url: str | None
    """None for a directory."""
    parent: int | None
    """The index of its parent, which comes before it."""
    depth: int
    outcome: UrlOutcome
    weight: float = 0.0
    """How many links lead to it, or its link score."""
    directory: str = ""
    pages: int = 1


STRETCH = 1.5
_RADIUS = 300.0
_GAP = 15.0
"""The space that a dot takes on a ring."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The position and size of each dot, around (0, 0)."""

    polar: tuple[tuple[float, float], ...]
    """Radius and angle."""
    sizes: tuple[float, ...]
    rings: tuple[float, ...]
    """Radius of each depth from 1 on."""

    def at(self, dot: int) -> Point:
        return polar_to_point(*self.polar[dot])


def polar_to_point(radius: float, angle: float) -> Point:
    """The point on the ellipse of this radius."""
    return radius * math.cos(angle) * STRETCH, radius * math.sin(angle)


def lay_out_dots(dots: Sequence[GraphDot]) -> GraphLayout:
    """The layout of the dots. A parent comes before its children in `dots`."""
    levels = _levels(dots)
    angles = _angles(dots)
    rings = _rings(levels)
    crowded = [levels.count(level) * _GAP > 2 * math.pi * radius for level, radius in enumerate(rings)]
    turn = [0] * len(rings)
    polar = []
    for level, angle in zip(levels, angles, strict=True):
        radius = rings[level]
        if crowded[level]:
            # Neighbours on a full ring alternate between four radii.
            radius -= (turn[level] % 4) * 0.16 * (radius - rings[level - 1])
            turn[level] += 1
        polar.append((radius, angle))
    return GraphLayout(tuple(polar), _sizes(dots), tuple(rings[1:]))


def _levels(dots: Sequence[GraphDot]) -> list[int]:
    """Rings counted from the first dot: a graph begins in the center whatever depth the crawl began at."""
    base = dots[0].depth
    return [0 if dot.parent is None else max(1, dot.depth - base) for dot in dots]


def _angles(dots: Sequence[GraphDot]) -> list[float]:
    """The middle of the arc of each dot; an arc grows with the number of leaves below it."""
    weights = [0.0] * len(dots)
    for number in range(len(dots) - 1, -1, -1):
        weights[number] = max(weights[number], 1.0)
        parent = dots[number].parent
        if parent is not None:
            weights[parent] += weights[number]
    # Damped, so that one huge section leaves space for the others.
    shares = [weight**0.75 for weight in weights]
    totals = [0.0] * len(dots)
    for number, dot in enumerate(dots):
        if dot.parent is not None:
            totals[dot.parent] += shares[number]
    starts = [-math.pi / 2] * len(dots)
    widths = [2 * math.pi] * len(dots)
    filled = [0.0] * len(dots)
    for number in _by_parent(dots):
        parent = dots[number].parent
        if parent is None:
            continue
        widths[number] = widths[parent] * shares[number] / totals[parent]
        starts[number] = starts[parent] + filled[parent]
        filled[parent] += widths[number]
    return [start + width / 2 for start, width in zip(starts, widths, strict=True)]


def _by_parent(dots: Sequence[GraphDot]) -> list[int]:
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


def _sizes(dots: Sequence[GraphDot]) -> tuple[float, ...]:
    # A page that leads to many others is as much a hub as one that many pages link to.
    busy = [dot.weight for dot in dots]
    for dot in dots:
        if dot.parent is not None:
            busy[dot.parent] += 3
    most = max(busy[1:], default=0) or 1
    small = 3.2 if len(dots) > 150 else 4.2

    def size(number: int, dot: GraphDot) -> float:
        if number == 0:
            return 11.0
        if dot.url is None:
            return min(10.0, 4.0 + math.log2(dot.pages))
        return small + 6.0 * math.sqrt(busy[number] / most)

    return tuple(size(number, dot) for number, dot in enumerate(dots))


_LABEL_ALL = 120
"""Up to this number of dots, all of them may have a label."""
_MAX_HUB_LABELS = 12
_MAX_BROKEN_LABELS = 6
_LETTER_WIDTH = 6.3
_LABEL_HEIGHT = 15.0
_MAX_LABEL = 26

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class DotLabel:
    """The label of a dot, and its position."""

    dot: int
    text: str
    x: float
    y: float
    anchor: str


def place_labels(
    dots: Sequence[GraphDot], layout: GraphLayout, names: Sequence[str], edges: tuple[float, float]
) -> Iterator[DotLabel]:
    """The labels that fit between the left and right edge without overlapping, the most important dots first."""
    taken = [_around(layout, number) for number in range(len(names)) if layout.sizes[number] > 6 or len(names) <= 80]
    for number in _by_importance(dots, layout):
        text = clip(names[number], _MAX_LABEL)
        for label in _positions(number, text, layout):
            box = _box(label)
            if box[0] >= edges[0] and box[2] <= edges[1] and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield label
                break


def _by_importance(dots: Sequence[GraphDot], layout: GraphLayout) -> list[int]:
    """The start page, hubs, some broken pages and directories; in a small graph also all other dots."""
    by_size = sorted(range(len(dots)), key=lambda number: (dots[number].url is None, -layout.sizes[number], number))
    directories = [number for number in by_size if dots[number].url is None]
    broken = [number for number in by_size if dots[number].outcome is UrlOutcome.BROKEN]
    rest = by_size if len(by_size) <= _LABEL_ALL else []
    return list(
        dict.fromkeys([0, *by_size[:_MAX_HUB_LABELS], *broken[:_MAX_BROKEN_LABELS], *directories[:_MAX_HUB_LABELS], *rest])
    )


def _positions(number: int, text: str, layout: GraphLayout) -> Iterator[DotLabel]:
    x, y = layout.at(number)
    away = layout.sizes[number] + 5
    if number == 0:
        yield DotLabel(number, text, x, y + away + 11, "middle")
        return
    right, left = DotLabel(number, text, x + away, y + 4, "start"), DotLabel(number, text, x - away, y + 4, "end")
    yield from (right, left) if x >= 0 else (left, right)
    yield DotLabel(number, text, x, y - away, "middle")
    yield DotLabel(number, text, x, y + away + 9, "middle")


def _box(label: DotLabel) -> Box:
    width = display_width(label.text) * _LETTER_WIDTH
    left = {"start": label.x, "end": label.x - width, "middle": label.x - width / 2}[label.anchor]
    return left, label.y - _LABEL_HEIGHT + 3, left + width, label.y + 3


def _around(layout: GraphLayout, number: int) -> Box:
    (x, y), size = layout.at(number), layout.sizes[number]
    return x - size, y - size, x + size, y + size


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
