"""Draws a site graph as SVG: dots, their positions, and the labels that fit.

Solid lines are the shortest path to each page, faint curves the other links; a curve to a broken page is red. The style sheet
of the page colours the graph by class name. Broken pages have another shape too, for readers who cannot tell red from green.

The start page is in the center and each depth is a ring, an ellipse because screens are wider than they are high. The pages below
a page stay within its angle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tadoru.i18n.translation import N_, Translator
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


MAX_CURVES = 1200
_MARGIN = 34.0
_LEAST_WIDTH, _LEAST_HEIGHT = 900.0, 420.0

Pair = tuple[int, int]
"""A link between two dots, by their indexes."""
GraphLine = tuple[str, int, int, str]
"""The class of a line, the dots it connects, and its path."""


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """The SVG, and what it leaves out."""

    svg: str
    curves: int
    """Links drawn in addition to the tree."""
    common: int
    """Pages that nearly every page links to: links to these are not drawn."""
    links: int
    """Links between the dots, drawn or not."""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The site graph of a report: the SVG, its legend, and a caption on what it leaves out."""

    svg: str
    caption: str
    legend: Sequence[tuple[str, str, int]]
    """Class, name and number of pages of each outcome."""
    has_directories: bool = False


def draw_dots(
    dots: Sequence[GraphDot],
    links: Iterable[Pair],
    names: Sequence[str],
    tooltips: Sequence[str],
    heading: str,
    max_curves: int = MAX_CURVES,
) -> GraphDrawing:
    """Draws one or more dots. Each has a name and a tooltip, which the template escapes."""
    from tadoru.jobs.reporting.html_templates import render_template

    layout = lay_out_dots(dots)
    pairs = {pair for pair in links if pair[0] != pair[1]}
    curves, common = _curves(dots, pairs, max_curves)
    left, top, right, bottom = _extent(layout)
    svg = render_template(
        "graph.svg",
        "en",
        box=f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}",
        heading=heading,
        rings=[(f"{radius * STRETCH:.1f}", f"{radius:.1f}") for radius in layout.rings] if len(layout.rings) <= 12 else (),
        lines=[*_curve_lines(curves, dots, layout), *_tree_lines(dots, layout)],
        dots=list(_dot_shapes(dots, layout, tooltips)),
        labels=place_labels(dots, layout, names, (left, right)),
    )
    return GraphDrawing(svg, len(curves), common, len(pairs))


def _curves(dots: Sequence[GraphDot], pairs: set[Pair], most: int) -> tuple[list[Pair], int]:
    """The links to draw in addition to the tree, and the number of pages whose links are left out.

    Links to pages that nearly every page links to, usually a menu, would hide everything else.
    """
    into = Counter(target for _, target in pairs)
    often = max(12, sum(dot.url is not None for dot in dots) // 3)
    common = {target for target, count in into.items() if count > often}
    tree = {(dot.parent, number) for number, dot in enumerate(dots)}
    kept = sorted(pair for pair in pairs if pair[1] not in common and pair not in tree and pair[::-1] not in tree)
    if len(kept) > most:
        step = len(kept) / most
        kept = [kept[int(number * step)] for number in range(most)]
    return kept, len(common)


def _curve_lines(curves: list[Pair], dots: Sequence[GraphDot], layout: GraphLayout) -> Iterator[GraphLine]:
    for source, target in curves:
        (x1, y1), (x2, y2) = layout.at(source), layout.at(target)
        kind = "link bad" if dots[target].outcome is UrlOutcome.BROKEN else "link"
        # Bent towards the center, which bundles curves of the same direction, and slightly aside from the lines of the tree.
        bend = f"{(x1 + x2) * 0.22 + (y2 - y1) * 0.12:.1f} {(y1 + y2) * 0.22 - (x2 - x1) * 0.12:.1f}"
        yield kind, source, target, f"M{x1:.1f} {y1:.1f}Q{bend} {x2:.1f} {y2:.1f}"


def _tree_lines(dots: Sequence[GraphDot], layout: GraphLayout) -> Iterator[GraphLine]:
    for number, dot in enumerate(dots):
        if dot.parent is None:
            continue
        (r1, a1), (r2, a2) = layout.polar[dot.parent], layout.polar[number]
        middle = (r1 + r2) / 2
        (x1, y1), (x2, y2) = layout.at(dot.parent), layout.at(number)
        (cx1, cy1), (cx2, cy2) = polar_to_point(middle, a1 if r1 else a2), polar_to_point(middle, a2)
        curve = f"C{cx1:.1f} {cy1:.1f} {cx2:.1f} {cy2:.1f} {x2:.1f} {y2:.1f}"
        yield "way", dot.parent, number, f"M{x1:.1f} {y1:.1f}{curve}"


def _dot_shapes(
    dots: Sequence[GraphDot], layout: GraphLayout, tooltips: Sequence[str]
) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Class and tooltip of each dot, and its path (a diamond) or its center and radius (a circle)."""
    for number, (dot, tooltip) in enumerate(zip(dots, tooltips, strict=True)):
        (x, y), size, path = layout.at(number), layout.sizes[number], ""
        if dot.outcome is UrlOutcome.BROKEN and dot.url is not None:
            half = size * 1.25
            path = f"M{x:.1f} {y - half:.1f}l{half:.1f} {half:.1f}l{-half:.1f} {half:.1f}l{-half:.1f} {-half:.1f}z"
        kind = f"more {dot.outcome}" if dot.url is None else str(dot.outcome)
        yield kind, tooltip, path, f"{x:.1f}", f"{y:.1f}", f"{size:.1f}"


def _extent(layout: GraphLayout) -> tuple[float, float, float, float]:
    outermost = max(layout.rings, default=0.0)
    wide = max(outermost * STRETCH + _MARGIN + 60, _LEAST_WIDTH / 2)
    high = max(outermost + _MARGIN, _LEAST_HEIGHT / 2)
    return -wide, -high, wide, high


def legend_items(counts: Mapping[UrlOutcome, int], _: Translator) -> list[tuple[str, str, int]]:
    """Class, name and number of pages of each outcome that occurs."""
    return [(outcome, _(name), counts[outcome]) for outcome, name in OUTCOME_NAMES.items() if counts.get(outcome)]


def describe_common_pages(drawing: GraphDrawing, _: Translator) -> str:
    """A note on the pages whose links are not drawn; empty if there are none."""
    if not drawing.common:
        return ""
    return _.ngettext(
        "Links to {count} page that very many pages link to, usually a menu, are not drawn.",
        "Links to {count} pages that very many pages link to, usually a menu, are not drawn.",
        drawing.common,
    )
