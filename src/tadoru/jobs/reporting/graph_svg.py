"""Draws a site graph as SVG.

Solid lines are the shortest path to each page, faint curves the other links; a curve to a broken page is red. The style sheet
of the page colours the graph by class name. Broken pages have another shape too, for readers who cannot tell red from green.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tadoru.i18n.translation import Translator
from tadoru.jobs.reporting.graph_layout import (
    OUTCOME_NAMES,
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
