"""The picture of a site's link graph, as SVG.

Solid lines are the shortest way to each page, faint curves the other links; a curve that leads to a broken page is red. Colours
come from the page's style sheet through class names; a dot's shape says broken too, for whoever does not tell red from green.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape

from tadoru.jobs.links.broken import status_words
from tadoru.jobs.links.report.choose import Choice, Dot, choose
from tadoru.jobs.links.report.escape import clip, origin, printable
from tadoru.jobs.links.report.figures import Figures, Outcome, counted
from tadoru.jobs.links.report.labels import place_labels
from tadoru.jobs.links.report.layout import STRETCH, Layout, lay_out, place
from tadoru.jobs.links.result import CrawlResult, Edge

_MOST_CURVES = 1200
_MARGIN = 34.0
_LEAST_WIDTH, _LEAST_HEIGHT = 900.0, 420.0


@dataclass(frozen=True, slots=True)
class Picture:
    """The SVG, and a sentence on what it leaves out."""

    svg: str
    caption: str


def draw(
    result: CrawlResult, figures: Figures, edges: Callable[[], Iterable[Edge]], short: Callable[[str], str]
) -> Picture | None:
    """Draws the site; None when there is no page."""
    if not result.internal_urls:
        return None
    choice = choose(result, figures, edges())
    layout = lay_out(choice.dots)
    curves, common, links = _curves(choice, edges())
    names = [_name(dot, short) for dot in choice.dots]
    if names[0] == "/":
        names[0] = origin(next(iter(choice.index))).partition("://")[2]
    pieces: list[str] = []
    pieces.extend(_draw_rings(layout))
    pieces.extend(_draw_curves(curves, choice, layout))
    pieces.extend(_draw_tree(choice, layout))
    pieces.extend(_draw_dots(choice, layout, names))
    left, top, right, bottom = _extent(layout)
    pieces.extend(
        f'<text class="name{" start" if label.dot == 0 else ""}" x="{label.x:.1f}" y="{label.y:.1f}" '
        f'text-anchor="{label.anchor}">{escape(label.text)}</text>'
        for label in place_labels(choice, layout, names, (left, right))
    )
    box = f"{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"
    heading = f"Link graph of {escape(printable(result.start_url))}: {counted(len(result.internal_urls), 'page')}"
    many = " many" if len(choice.dots) > 120 else ""
    svg = f'<svg class="graph{many}" viewBox="{box}" role="img" aria-label="{heading}">{"".join(pieces)}</svg>'
    return Picture(svg, _caption(choice, len(result.internal_urls), len(curves), common, links))


def _curves(choice: Choice, edges: Iterable[Edge]) -> tuple[list[tuple[int, int]], int, int]:
    """The links to draw besides the tree; how many pages are left out because nearly every page links to them; all links counted.

    A menu is on every page: drawn, it would hide everything else.
    """
    index = choice.index
    pairs = {
        (index[edge.source], index[edge.target])
        for edge in edges
        if edge.source in index and edge.target in index and edge.source != edge.target
    }
    into = Counter(target for _, target in pairs)
    often = max(12, len(index) // 3)
    common = {target for target, count in into.items() if count > often}
    tree = {(dot.parent, number) for number, dot in enumerate(choice.dots)}
    kept = sorted(pair for pair in pairs if pair[1] not in common and pair not in tree and pair[::-1] not in tree)
    if len(kept) > _MOST_CURVES:
        step = len(kept) / _MOST_CURVES
        kept = [kept[int(number * step)] for number in range(_MOST_CURVES)]
    return kept, len(common), len(pairs)


def _draw_rings(layout: Layout) -> Iterator[str]:
    if len(layout.rings) <= 12:
        yield from (f'<ellipse class="ring" rx="{radius * STRETCH:.1f}" ry="{radius:.1f}"/>' for radius in layout.rings)


def _draw_curves(curves: list[tuple[int, int]], choice: Choice, layout: Layout) -> Iterator[str]:
    for source, target in curves:
        (x1, y1), (x2, y2) = layout.at(source), layout.at(target)
        bad = " bad" if choice.dots[target].outcome is Outcome.BROKEN else ""
        # Bent towards the middle, which gathers curves that run the same way, and a little aside, off the lines of the tree.
        bend = f"{(x1 + x2) * 0.22 + (y2 - y1) * 0.12:.1f} {(y1 + y2) * 0.22 - (x2 - x1) * 0.12:.1f}"
        yield f'<path class="link{bad}" data-a="{source}" data-b="{target}" d="M{x1:.1f} {y1:.1f}Q{bend} {x2:.1f} {y2:.1f}"/>'


def _draw_tree(choice: Choice, layout: Layout) -> Iterator[str]:
    for number, dot in enumerate(choice.dots):
        if dot.parent is None:
            continue
        (r1, a1), (r2, a2) = layout.polar[dot.parent], layout.polar[number]
        middle = (r1 + r2) / 2
        (x1, y1), (x2, y2) = layout.at(dot.parent), layout.at(number)
        (cx1, cy1), (cx2, cy2) = place(middle, a1 if r1 else a2), place(middle, a2)
        curve = f"C{cx1:.1f} {cy1:.1f} {cx2:.1f} {cy2:.1f} {x2:.1f} {y2:.1f}"
        yield f'<path class="way" data-a="{dot.parent}" data-b="{number}" d="M{x1:.1f} {y1:.1f}{curve}"/>'


def _draw_dots(choice: Choice, layout: Layout, names: list[str]) -> Iterator[str]:
    for number, dot in enumerate(choice.dots):
        x, y = layout.at(number)
        size = layout.sizes[number]
        kind = "more " if dot.info is None else ""
        yield f'<g class="dot {kind}{dot.outcome}" data-n="{number}"><title>{escape(_hint(dot, names[number]))}</title>'
        if dot.outcome is Outcome.BROKEN and dot.info is not None:
            half = size * 1.25
            yield f'<path d="M{x:.1f} {y - half:.1f}l{half:.1f} {half:.1f}l{-half:.1f} {half:.1f}l{-half:.1f} {-half:.1f}z"/></g>'
        else:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/></g>'


def _name(dot: Dot, short: Callable[[str], str]) -> str:
    if dot.info is not None:
        return short(dot.info.url)
    return f"{short(dot.directory)} +{dot.pages:,}"


def _hint(dot: Dot, name: str) -> str:
    if dot.info is None:
        return f"{counted(dot.pages, 'page')} more: {name.rpartition(' +')[0]}"
    status = status_words(dot.info.status_code) if dot.info.status_code is not None else str(dot.outcome)
    title = clip(printable(dot.info.title), 120)
    lines = (title, name, f"{status} · depth {dot.depth} · {counted(dot.links_in, 'link')} lead here")
    return "\n".join(line for line in lines if line)


def _extent(layout: Layout) -> tuple[float, float, float, float]:
    outermost = max(layout.rings, default=0.0)
    wide = max(outermost * STRETCH + _MARGIN + 60, _LEAST_WIDTH / 2)
    high = max(outermost + _MARGIN, _LEAST_HEIGHT / 2)
    return -wide, -high, wide, high


def _caption(choice: Choice, pages: int, curves: int, common: int, links: int) -> str:
    sentences = []
    if choice.gathered:
        drawn = len(choice.index)
        sentences.append(
            f"{drawn:,} of {pages:,} pages are drawn: what is broken, and the pages most links lead to. "
            f"The other {choice.gathered:,} are gathered by directory in the hollow dots."
        )
    if common:
        sentences.append(f"Links to {counted(common, 'page')} that very many pages link to, usually a menu, are not drawn.")
    if curves == _MOST_CURVES:
        sentences.append(f"{curves:,} of {links:,} links are drawn as curves.")
    return " ".join(sentences)
