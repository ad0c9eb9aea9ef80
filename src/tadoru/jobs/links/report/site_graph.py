"""The graph of a site: which pages are drawn, and the SVG with its caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import LinksFigures
from tadoru.jobs.links.report.tree import SiteTree
from tadoru.jobs.links.result import CrawlResult, LinkEdge, UrlInfo
from tadoru.jobs.reporting.escape import clip, first_directory, printable, url_origin
from tadoru.jobs.reporting.formatting import format_count
from tadoru.jobs.reporting.graph_layout import GraphDot, UrlOutcome
from tadoru.jobs.reporting.graph_svg import MAX_CURVES, GraphDrawing, draw_dots

MAX_DOTS = 400
_GATHERED = 40
"""Of those, so many may stand for a directory."""
_TROUBLED = 100
"""Pages that failed, of which so many are drawn before the hubs."""
_MOST_GROUPS = 5000
"""Directories that are told apart, the first that come: a site may have one for each of a million pages."""

_Group = tuple[int, str]
"""The dot that some pages hang from, and their directory."""
_OTHER_GROUP: _Group = (0, "elsewhere")


@dataclass(frozen=True, slots=True)
class PageDot(GraphDot):
    """A dot that knows its page. Its weight is how many links lead to it."""

    info: UrlInfo | None = None


@dataclass(frozen=True, slots=True)
class DrawnPages:
    """What is drawn. A parent always comes before its children."""

    dots: tuple[PageDot, ...]
    index: dict[str, int]
    """The dot of each page drawn by itself."""
    gathered: int
    """Pages that stand behind a directory's dot."""


def choose_pages(result: CrawlResult, figures: LinksFigures, edges: Iterable[LinkEdge]) -> DrawnPages:
    """Chooses, the same way every time for the same crawl."""
    infos, start = result.internal_urls, result.start_url
    tree = SiteTree(infos, figures, MAX_DOTS)
    links_in = Counter(edge.target for edge in edges if edge.target in tree.held and edge.source != edge.target)
    if len(infos) <= MAX_DOTS:
        drawn = set(tree.held)
    else:
        drawn = _pick(_ranked(tree, start, links_in), tree, figures, MAX_DOTS - _GATHERED - 1)
    dots: list[PageDot] = []
    index: dict[str, int] = {}
    for info in sorted((tree.held[url] for url in drawn), key=lambda info: (info.depth, info.url != start, info.url)):
        parent = tree.parent(info)
        index[info.url] = len(dots)
        hangs_from = index[parent] if parent is not None else (0 if dots else None)
        outcome = figures.outcome(info)
        dots.append(PageDot(info.url, hangs_from, info.depth, outcome, links_in[info.url], info=info))
    rest = (info for info in infos if info.url not in drawn) if len(drawn) < len(infos) else ()
    gathered = _gather(rest, tree, index, dots, figures)
    return DrawnPages((*dots, *gathered), index, sum(dot.pages for dot in gathered))


def _ranked(tree: SiteTree, start: str, links_in: Counter[str]) -> list[UrlInfo]:
    """The start first, then by how many links lead to a page."""

    def key(info: UrlInfo) -> tuple[bool, bool, int, int, str]:
        return info.url != start, info.depth > 0, -links_in[info.url], info.depth, info.url

    return sorted(tree.held.values(), key=key)


def _pick(ranked: list[UrlInfo], tree: SiteTree, figures: LinksFigures, room: int) -> set[str]:
    troubled = [info for info in ranked if info.url in figures.failed][:_TROUBLED]
    drawn: set[str] = set()
    for info in (ranked[0], *troubled, *ranked):
        path: list[str] = []
        url: str | None = info.url
        while url is not None and url not in drawn:
            path.append(url)
            url = tree.parent(tree.held[url])
        if len(drawn) + len(path) <= room:
            drawn.update(path)
        if len(drawn) == room:
            break
    return drawn


def _gather(
    rest: Iterable[UrlInfo], tree: SiteTree, index: dict[str, int], dots: list[PageDot], figures: LinksFigures
) -> list[PageDot]:
    """A dot for each directory below each page that the start links to; the smallest groups end up in one dot at the start."""
    groups: Counter[_Group] = Counter()
    broken: set[_Group] = set()
    for info in rest:
        above = tree.parent(info)
        while above is not None and (above not in index or dots[index[above]].depth > dots[0].depth + 1):
            above = tree.parent(tree.held[above])
        group = (index[above] if above is not None else 0, first_directory(info.url))
        if group not in groups and len(groups) >= _MOST_GROUPS:
            group = _OTHER_GROUP
        groups[group] += 1
        if figures.outcome(info) is UrlOutcome.BROKEN:
            broken.add(group)
    ordered = sorted(groups, key=lambda group: (group == _OTHER_GROUP, -groups[group], group))

    def dot(together: list[_Group], parent: int, directory: str) -> PageDot:
        outcome = UrlOutcome.OK if broken.isdisjoint(together) else UrlOutcome.BROKEN
        return PageDot(None, parent, dots[parent].depth + 1, outcome, 0, directory, sum(groups[group] for group in together))

    gathered = [dot([group], *group) for group in ordered[:_GATHERED]]
    left = ordered[_GATHERED:]
    return [*gathered, dot(left, *_OTHER_GROUP)] if left else gathered


_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The SVG, and a sentence on what it leaves out."""

    svg: str
    caption: str


def draw_site(
    result: CrawlResult, figures: LinksFigures, edges: Callable[[], Iterable[LinkEdge]], short: Callable[[str], str]
) -> GraphPicture | None:
    """Draws the site; None when there is no page."""
    if not result.internal_urls:
        return None
    choice = choose_pages(result, figures, edges())
    index = choice.index
    pairs = ((index[edge.source], index[edge.target]) for edge in edges() if edge.source in index and edge.target in index)
    names = [_name(dot, short) for dot in choice.dots]
    if names[0] == "/":
        names[0] = url_origin(next(iter(index))).partition("://")[2]
    hints = [_hint(dot, name) for dot, name in zip(choice.dots, names, strict=True)]
    heading = f"Link graph of {printable(result.start_url)}: {format_count(len(result.internal_urls), 'page')}"
    drawing = draw_dots(choice.dots, pairs, names, hints, heading)
    return GraphPicture(drawing.svg, _caption(choice, len(result.internal_urls), drawing))


def _name(dot: PageDot, short: Callable[[str], str]) -> str:
    if dot.url is not None:
        return clip(short(dot.url), _LONGEST_NAME)
    return f"{short(dot.directory)} +{dot.pages:,}"


def _hint(dot: PageDot, name: str) -> str:
    if dot.info is None:
        return f"{format_count(dot.pages, 'page')} more: {name.rpartition(' +')[0]}"
    status = format_status(dot.info.status_code) if dot.info.status_code is not None else str(dot.outcome)
    title = clip(printable(dot.info.title), 120)
    lines = (title, name, f"{status} · depth {dot.depth} · {format_count(round(dot.weight), 'link')} lead here")
    return "\n".join(line for line in lines if line)


def _caption(choice: DrawnPages, pages: int, drawing: GraphDrawing) -> str:
    sentences = []
    if choice.gathered:
        drawn = len(choice.index)
        sentences.append(
            f"{drawn:,} of {pages:,} pages are drawn: what is broken, and the pages most links lead to. "
            f"The other {choice.gathered:,} are gathered by directory in the hollow dots."
        )
    if drawing.common:
        common = format_count(drawing.common, "page")
        sentences.append(f"Links to {common} that very many pages link to, usually a menu, are not drawn.")
    if drawing.curves == MAX_CURVES:
        sentences.append(f"{drawing.curves:,} of {drawing.links:,} links are drawn as curves.")
    return " ".join(sentences)
