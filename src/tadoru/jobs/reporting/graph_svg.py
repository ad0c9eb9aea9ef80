"""Draws a site graph as SVG.

Solid lines are the shortest path to each page, faint curves the other links; a curve to a broken page is red. The style sheet
of the page colours the graph by class name. Broken pages have another shape too, for readers who cannot tell red from green.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

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


def draw_dots(
    dots: Sequence[GraphDot], links: Iterable[Pair], names: Sequence[str], tooltips: Sequence[str], heading: str
) -> GraphDrawing:
    """Draws one or more dots. Each has a name and a tooltip, which are escaped here."""
    layout = lay_out_dots(dots)
    pairs = {pair for pair in links if pair[0] != pair[1]}
    curves, common = _curves(dots, pairs)
    left, top, right, bottom = _extent(layout)
    shapes = [*_draw_rings(layout), *_draw_curves(curves, dots, layout), *_draw_tree(dots, layout)]
    shapes += _dot_shapes(dots, layout, tooltips)
    shapes += [
        f'<text class="name{" start" if label.dot == 0 else ""}" x="{label.x:.1f}" y="{label.y:.1f}" '
        f'text-anchor="{label.anchor}">{escape(label.text)}</text>'
        for label in place_labels(dots, layout, names, (left, right))
    ]
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"
    many = " many" if len(dots) > 120 else ""
    svg = f'<svg class="graph{many}" viewBox="{box}" role="img" aria-label="{escape(heading)}">{"".join(shapes)}</svg>'
    return GraphDrawing(svg, len(curves), common, len(pairs))


def _curves(dots: Sequence[GraphDot], pairs: set[Pair]) -> tuple[list[Pair], int]:
    """The links to draw in addition to the tree, and the number of pages whose links are left out.

    Links to pages that nearly every page links to, usually a menu, would hide everything else.
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
        # Bent towards the center, which bundles curves of the same direction, and slightly aside from the lines of the tree.
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


def _dot_shapes(dots: Sequence[GraphDot], layout: GraphLayout, tooltips: Sequence[str]) -> Iterator[str]:
    for number, (dot, tooltip) in enumerate(zip(dots, tooltips, strict=True)):
        x, y = layout.at(number)
        size = layout.sizes[number]
        kind = "more " if dot.url is None else ""
        yield f'<g class="dot {kind}{dot.outcome}" data-n="{number}"><title>{escape(tooltip)}</title>'
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


def legend_item_html(outcome: UrlOutcome, count: int, _: Translator) -> str:
    """The legend of an outcome, with the number of pages."""
    shape = '<path d="M6 0l6 6l-6 6l-6 -6z"/>' if outcome is UrlOutcome.BROKEN else '<circle cx="6" cy="6" r="5.5"/>'
    icon, name = f'<svg class="{outcome}" viewBox="0 0 12 12">{shape}</svg>', escape(_(OUTCOME_NAMES[outcome]))
    return f"<li>{icon}{name} <b>{_.number(count)}</b></li>"


def describe_common_pages(drawing: GraphDrawing, _: Translator) -> str:
    """A note on the pages whose links are not drawn; empty if there are none."""
    if not drawing.common:
        return ""
    return _.ngettext(
        "Links to {count} page that very many pages link to, usually a menu, are not drawn.",
        "Links to {count} pages that very many pages link to, usually a menu, are not drawn.",
        drawing.common,
    )
