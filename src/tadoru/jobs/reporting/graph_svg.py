"""The picture of a site: dots, where they go, their names, and the SVG. Which pages are drawn is the job's choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tadoru.jobs.reporting.graph_layout import (
    STRETCH,
    GraphDot,
    GraphLayout,
    UrlOutcome,
    lay_out_dots,
    place_labels,
    polar_to_point,
)

MAX_CURVES = 1200
_MARGIN = 34.0
_LEAST_WIDTH, _LEAST_HEIGHT = 900.0, 420.0

Pair = tuple[int, int]
"""A link between two dots, by their numbers."""


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """The SVG, and what it had to leave out."""

    svg: str
    curves: int
    """Links drawn besides the tree."""
    common: int
    """Pages that nearly every page links to: links to these are not drawn."""
    links: int
    """Links between the dots, drawn or not."""


def draw_dots(
    dots: Sequence[GraphDot], links: Iterable[Pair], names: Sequence[str], hints: Sequence[str], heading: str
) -> GraphDrawing:
    """Draws the dots, of which there is at least one; each has a name and a hint, which need not be escaped."""
    layout = lay_out_dots(dots)
    pairs = {pair for pair in links if pair[0] != pair[1]}
    curves, common = _curves(dots, pairs)
    left, top, right, bottom = _extent(layout)
    pieces = [*_draw_rings(layout), *_draw_curves(curves, dots, layout), *_draw_tree(dots, layout)]
    pieces += _dot_shapes(dots, layout, hints)
    pieces += [
        f'<text class="name{" start" if label.dot == 0 else ""}" x="{label.x:.1f}" y="{label.y:.1f}" '
        f'text-anchor="{label.anchor}">{escape(label.text)}</text>'
        for label in place_labels(dots, layout, names, (left, right))
    ]
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"
    many = " many" if len(dots) > 120 else ""
    svg = f'<svg class="graph{many}" viewBox="{box}" role="img" aria-label="{escape(heading)}">{"".join(pieces)}</svg>'
    return GraphDrawing(svg, len(curves), common, len(pairs))


def _curves(dots: Sequence[GraphDot], pairs: set[Pair]) -> tuple[list[Pair], int]:
    """The links to draw besides the tree, and how many pages are left out because nearly every page links to them.

    A menu is on every page: drawn, it would hide everything else.
    """
    into = Counter(target for _, target in pairs)
    often = max(12, sum(dot.url is not None for dot in dots) // 3)
    common = {target for target, count in into.items() if count > often}
    tree = {(dot.parent, number) for number, dot in enumerate(dots)}
    kept = sorted(pair for pair in pairs if pair[1] not in common and pair not in tree and pair[::-1] not in tree)
    if len(kept) > MAX_CURVES:
        step = len(kept) / MAX_CURVES
        kept = [kept[int(number * step)] for number in range(MAX_CURVES)]
    return kept, len(common)


def _draw_rings(layout: GraphLayout) -> Iterator[str]:
    if len(layout.rings) <= 12:
        yield from (f'<ellipse class="ring" rx="{radius * STRETCH:.1f}" ry="{radius:.1f}"/>' for radius in layout.rings)


def _draw_curves(curves: list[Pair], dots: Sequence[GraphDot], layout: GraphLayout) -> Iterator[str]:
    for source, target in curves:
        (x1, y1), (x2, y2) = layout.at(source), layout.at(target)
        bad = " bad" if dots[target].outcome is UrlOutcome.BROKEN else ""
        # Bent towards the middle, which gathers curves that run the same way, and a little aside, off the lines of the tree.
        bend = f"{(x1 + x2) * 0.22 + (y2 - y1) * 0.12:.1f} {(y1 + y2) * 0.22 - (x2 - x1) * 0.12:.1f}"
        yield f'<path class="link{bad}" data-a="{source}" data-b="{target}" d="M{x1:.1f} {y1:.1f}Q{bend} {x2:.1f} {y2:.1f}"/>'


def _draw_tree(dots: Sequence[GraphDot], layout: GraphLayout) -> Iterator[str]:
    for number, dot in enumerate(dots):
        if dot.parent is None:
            continue
        (r1, a1), (r2, a2) = layout.polar[dot.parent], layout.polar[number]
        middle = (r1 + r2) / 2
        (x1, y1), (x2, y2) = layout.at(dot.parent), layout.at(number)
        (cx1, cy1), (cx2, cy2) = polar_to_point(middle, a1 if r1 else a2), polar_to_point(middle, a2)
        curve = f"C{cx1:.1f} {cy1:.1f} {cx2:.1f} {cy2:.1f} {x2:.1f} {y2:.1f}"
        yield f'<path class="way" data-a="{dot.parent}" data-b="{number}" d="M{x1:.1f} {y1:.1f}{curve}"/>'


def _dot_shapes(dots: Sequence[GraphDot], layout: GraphLayout, hints: Sequence[str]) -> Iterator[str]:
    for number, (dot, hint) in enumerate(zip(dots, hints, strict=True)):
        x, y = layout.at(number)
        size = layout.sizes[number]
        kind = "more " if dot.url is None else ""
        yield f'<g class="dot {kind}{dot.outcome}" data-n="{number}"><title>{escape(hint)}</title>'
        if dot.outcome is UrlOutcome.BROKEN and dot.url is not None:
            half = size * 1.25
            yield f'<path d="M{x:.1f} {y - half:.1f}l{half:.1f} {half:.1f}l{-half:.1f} {half:.1f}l{-half:.1f} {-half:.1f}z"/></g>'
        else:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/></g>'


def _extent(layout: GraphLayout) -> tuple[float, float, float, float]:
    outermost = max(layout.rings, default=0.0)
    wide = max(outermost * STRETCH + _MARGIN + 60, _LEAST_WIDTH / 2)
    high = max(outermost + _MARGIN, _LEAST_HEIGHT / 2)
    return -wide, -high, wide, high
