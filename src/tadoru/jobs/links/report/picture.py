"""The picture of a crawl's link graph, and a sentence on what it leaves out. The drawing itself is in `jobs.report.graph`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tadoru.jobs.links.broken import status_words
from tadoru.jobs.links.report.choose import Choice, PageDot, choose
from tadoru.jobs.links.report.figures import Figures
from tadoru.jobs.links.result import CrawlResult, Edge
from tadoru.jobs.report.escape import clip, origin, printable
from tadoru.jobs.report.graph.picture import MOST_CURVES, Drawing, draw_graph
from tadoru.jobs.report.words import counted

_LONGEST_NAME = 200


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
    index = choice.index
    pairs = ((index[edge.source], index[edge.target]) for edge in edges() if edge.source in index and edge.target in index)
    names = [_name(dot, short) for dot in choice.dots]
    if names[0] == "/":
        names[0] = origin(next(iter(index))).partition("://")[2]
    hints = [_hint(dot, name) for dot, name in zip(choice.dots, names, strict=True)]
    heading = f"Link graph of {printable(result.start_url)}: {counted(len(result.internal_urls), 'page')}"
    drawing = draw_graph(choice.dots, pairs, names, hints, heading)
    return Picture(drawing.svg, _caption(choice, len(result.internal_urls), drawing))


def _name(dot: PageDot, short: Callable[[str], str]) -> str:
    if dot.url is not None:
        return clip(short(dot.url), _LONGEST_NAME)
    return f"{short(dot.directory)} +{dot.pages:,}"


def _hint(dot: PageDot, name: str) -> str:
    if dot.info is None:
        return f"{counted(dot.pages, 'page')} more: {name.rpartition(' +')[0]}"
    status = status_words(dot.info.status_code) if dot.info.status_code is not None else str(dot.outcome)
    title = clip(printable(dot.info.title), 120)
    lines = (title, name, f"{status} · depth {dot.depth} · {counted(round(dot.weight), 'link')} lead here")
    return "\n".join(line for line in lines if line)


def _caption(choice: Choice, pages: int, drawing: Drawing) -> str:
    sentences = []
    if choice.gathered:
        drawn = len(choice.index)
        sentences.append(
            f"{drawn:,} of {pages:,} pages are drawn: what is broken, and the pages most links lead to. "
            f"The other {choice.gathered:,} are gathered by directory in the hollow dots."
        )
    if drawing.common:
        common = counted(drawing.common, "page")
        sentences.append(f"Links to {common} that very many pages link to, usually a menu, are not drawn.")
    if drawing.curves == MOST_CURVES:
        sentences.append(f"{drawing.curves:,} of {drawing.links:,} links are drawn as curves.")
    return " ".join(sentences)
