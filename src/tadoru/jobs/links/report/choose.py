"""Which pages a picture of the site draws.

All of them while they are few. On a bigger site the start, what is broken, and the hubs that most links lead to, each with the
pages between it and the start; the rest is gathered into one dot for each directory. Of pages that were only found, those that
the `Tree` holds may be drawn. Where the dots go is in `jobs.report.graph`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tadoru.jobs.links.report.figures import Figures
from tadoru.jobs.links.report.tree import Tree
from tadoru.jobs.links.result import CrawlResult, Edge, UrlInfo
from tadoru.jobs.report.graph.dots import Dot, Outcome

MOST_DOTS = 400
_GATHERED = 40
"""Of those, so many may stand for a directory."""
_TROUBLED = 100
"""Pages that failed, of which so many are drawn before the hubs."""
_MOST_GROUPS = 5000
"""Directories that are told apart, the first that come: a site may have one for each of a million pages."""

_Group = tuple[int, str]
"""The dot that some pages hang from, and their directory."""
_ELSEWHERE: _Group = (0, "elsewhere")


@dataclass(frozen=True, slots=True)
class PageDot(Dot):
    """A dot that knows its page. Its weight is how many links lead to it."""

    info: UrlInfo | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn. A parent always comes before its children."""

    dots: tuple[PageDot, ...]
    index: dict[str, int]
    """The dot of each page drawn by itself."""
    gathered: int
    """Pages that stand behind a directory's dot."""


def choose(result: CrawlResult, figures: Figures, edges: Iterable[Edge]) -> Choice:
    """Chooses, the same way every time for the same crawl."""
    infos, start = result.internal_urls, result.start_url
    tree = Tree(infos, figures, MOST_DOTS)
    links_in = Counter(edge.target for edge in edges if edge.target in tree.held and edge.source != edge.target)
    if len(infos) <= MOST_DOTS:
        drawn = set(tree.held)
    else:
        drawn = _pick(_ranked(tree, start, links_in), tree, figures, MOST_DOTS - _GATHERED - 1)
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
    return Choice((*dots, *gathered), index, sum(dot.pages for dot in gathered))


def _ranked(tree: Tree, start: str, links_in: Counter[str]) -> list[UrlInfo]:
    """The start first, then by how many links lead to a page."""

    def key(info: UrlInfo) -> tuple[bool, bool, int, int, str]:
        return info.url != start, info.depth > 0, -links_in[info.url], info.depth, info.url

    return sorted(tree.held.values(), key=key)


def _pick(ranked: list[UrlInfo], tree: Tree, figures: Figures, room: int) -> set[str]:
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


def _gather(rest: Iterable[UrlInfo], tree: Tree, index: dict[str, int], dots: list[PageDot], figures: Figures) -> list[PageDot]:
    """A dot for each directory below each page that the start links to; the smallest groups end up in one dot at the start."""
    groups: Counter[_Group] = Counter()
    broken: set[_Group] = set()
    for info in rest:
        above = tree.parent(info)
        while above is not None and (above not in index or dots[index[above]].depth > dots[0].depth + 1):
            above = tree.parent(tree.held[above])
        group = (index[above] if above is not None else 0, directory_of(info.url))
        if group not in groups and len(groups) >= _MOST_GROUPS:
            group = _ELSEWHERE
        groups[group] += 1
        if figures.outcome(info) is Outcome.BROKEN:
            broken.add(group)
    ordered = sorted(groups, key=lambda group: (group == _ELSEWHERE, -groups[group], group))

    def dot(together: list[_Group], parent: int, directory: str) -> PageDot:
        outcome = Outcome.OK if broken.isdisjoint(together) else Outcome.BROKEN
        return PageDot(None, parent, dots[parent].depth + 1, outcome, 0, directory, sum(groups[group] for group in together))

    gathered = [dot([group], *group) for group in ordered[:_GATHERED]]
    left = ordered[_GATHERED:]
    return [*gathered, dot(left, *_ELSEWHERE)] if left else gathered


def directory_of(url: str) -> str:
    """The first directory of a URL's path, with its slashes; `/` for a page at the top."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return "/"
    first, slash, _ = path.lstrip("/").partition("/")
    return f"/{first}/" if slash else "/"
