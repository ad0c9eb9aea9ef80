"""Which pages a picture of the site draws.

All of them while they are few. On a bigger site the start, what is broken, and the hubs that most links lead to, each with the
pages between it and the start; the rest is gathered into one dot for each directory. Where the dots go is in `layout`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tadoru.jobs.links.report.figures import Figures, Outcome
from tadoru.jobs.links.result import CrawlResult, Edge, UrlInfo

MOST_DOTS = 400
_GATHERED = 40
"""Of those, so many may stand for a directory."""
_TROUBLED = 100
"""Pages that failed, of which so many are drawn before the hubs."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One dot: a page, or the pages of a directory that are not drawn apart."""

    info: UrlInfo | None
    parent: int | None
    """The index of the dot it hangs from."""
    depth: int
    outcome: Outcome
    links_in: int
    directory: str = ""
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn. A parent always comes before its children."""

    dots: tuple[Dot, ...]
    index: dict[str, int]
    """The dot of each page drawn by itself."""
    gathered: int
    """Pages that stand behind a directory's dot."""


def choose(result: CrawlResult, figures: Figures, edges: Iterable[Edge]) -> Choice:
    """Chooses, the same way every time for the same crawl."""
    by_url = {info.url: info for info in result.internal_urls}
    parents = {info.url: _parent(info, by_url) for info in by_url.values()}
    links_in = Counter(edge.target for edge in edges if edge.target in by_url and edge.source != edge.target)
    if len(by_url) <= MOST_DOTS:
        drawn = set(by_url)
    else:
        drawn = _pick(_ranked(result, links_in), parents, figures, MOST_DOTS - _GATHERED - 1)
    dots: list[Dot] = []
    index: dict[str, int] = {}
    start = result.start_url
    for info in sorted((by_url[url] for url in drawn), key=lambda info: (info.depth, info.url != start, info.url)):
        parent = parents[info.url]
        index[info.url] = len(dots)
        hangs_from = index[parent] if parent is not None else (0 if dots else None)
        dots.append(Dot(info, hangs_from, info.depth, figures.outcome(info), links_in[info.url]))
    rest = [info for info in by_url.values() if info.url not in drawn]
    dots.extend(_gather(rest, parents, index, dots, figures))
    return Choice(tuple(dots), index, len(rest))


def _parent(info: UrlInfo, by_url: dict[str, UrlInfo]) -> str | None:
    parent = by_url.get(info.parent_url) if info.parent_url else None
    return parent.url if parent is not None and parent.depth < info.depth else None


def _ranked(result: CrawlResult, links_in: Counter[str]) -> list[UrlInfo]:
    """The start first, then by how many links lead to a page."""
    start = result.start_url

    def key(info: UrlInfo) -> tuple[bool, bool, int, int, str]:
        return info.url != start, info.depth > 0, -links_in[info.url], info.depth, info.url

    return sorted(result.internal_urls, key=key)


def _pick(ranked: list[UrlInfo], parents: dict[str, str | None], figures: Figures, room: int) -> set[str]:
    troubled = [info for info in ranked if info.url in figures.failed][:_TROUBLED]
    drawn: set[str] = set()
    for info in (ranked[0], *troubled, *ranked):
        path: list[str] = []
        url: str | None = info.url
        while url is not None and url not in drawn:
            path.append(url)
            url = parents[url]
        if len(drawn) + len(path) <= room:
            drawn.update(path)
        if len(drawn) == room:
            break
    return drawn


def _gather(
    rest: list[UrlInfo], parents: dict[str, str | None], index: dict[str, int], dots: list[Dot], figures: Figures
) -> list[Dot]:
    """A dot for each directory below each page that the start links to; the smallest groups end up in one dot at the start."""
    groups: Counter[tuple[int, str]] = Counter()
    broken: set[tuple[int, str]] = set()
    for info in sorted(rest, key=lambda info: (info.depth, info.url)):
        above = parents[info.url]
        while above is not None and (above not in index or dots[index[above]].depth > dots[0].depth + 1):
            above = parents[above]
        key = (index[above] if above is not None else 0, directory_of(info.url))
        groups[key] += 1
        if figures.outcome(info) is Outcome.BROKEN:
            broken.add(key)
    ordered = sorted(groups.items(), key=lambda item: (-item[1], item[0]))

    def dot(keys: list[tuple[int, str]], parent: int, directory: str) -> Dot:
        outcome = Outcome.OK if broken.isdisjoint(keys) else Outcome.BROKEN
        return Dot(None, parent, dots[parent].depth + 1, outcome, 0, directory, sum(groups[key] for key in keys))

    gathered = [dot([key], *key) for key, _ in ordered[:_GATHERED]]
    left = [key for key, _ in ordered[_GATHERED:]]
    return [*gathered, dot(left, 0, "elsewhere")] if left else gathered


def directory_of(url: str) -> str:
    """The first directory of a URL's path, with its slashes; `/` for a page at the top."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return "/"
    first, slash, _ = path.lstrip("/").partition("/")
    return f"/{first}/" if slash else "/"
