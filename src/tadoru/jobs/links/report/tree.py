"""The shortest-path tree of a site, as far as a report keeps it in memory.

It contains every URL that was requested or is a parent. URLs that were only found may be millions: of these it contains the first
below each page, and the number of the others.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable

from tadoru.jobs.links.report.figures import LinksFigures
from tadoru.jobs.links.result import UrlInfo

MAX_UNREAD = 20_000
"""URLs that were not requested and are kept in all: if there are more, fewer are kept below each page."""


class SiteTree:
    """Parents and children. A parent counts only if it is less deep than its child, so that any data makes a tree.

    `max_below` is the number of URLs that were not requested and may be kept below one page.
    """

    def __init__(self, infos: Collection[UrlInfo], figures: LinksFigures, max_below: int) -> None:
        self.urls = {info.url: info for info in infos if figures.is_inner(info)}
        """The URLs in the tree."""
        self._children: dict[str | None, list[UrlInfo]] = {}
        for info in sorted(self.urls.values(), key=sort_key):
            self._children.setdefault(self.parent(info), []).append(info)
        self._hidden: Counter[str | None] = Counter()
        limit = leaves_per_page(figures.unread_below.values(), max_below)
        leaves = self._first_leaves((info for info in infos if info.url not in self.urls), limit)
        for parent, first in leaves.items():
            self.urls.update((info.url, info) for info in first)
            self._children[parent] = sorted([*self._children.get(parent, ()), *first], key=sort_key)

    def _first_leaves(self, leaves: Iterable[UrlInfo], limit: int) -> dict[str | None, list[UrlInfo]]:
        """The first leaves below each parent. The others are counted."""
        kept: dict[str | None, list[UrlInfo]] = {}
        for info in leaves:
            parent = self.parent(info)
            first = kept.setdefault(parent, [])
            insort(first, info, key=sort_key)
            if len(first) > limit:
                first.pop()
                self._hidden[parent] += 1
        return kept

    def parent(self, info: UrlInfo) -> str | None:
        """The parent of a URL, whether the URL is in the tree or not; None if it has none."""
        above = self.urls.get(info.parent_url) if info.parent_url else None
        return above.url if above is not None and above.depth < info.depth else None

    def children(self, url: str | None) -> list[UrlInfo]:
        """The children of a URL by depth and name; of None, the URLs without a parent."""
        return self._children.get(url, [])

    def hidden(self, url: str | None) -> int:
        """The number of children that are not in the tree."""
        return self._hidden[url]

    @property
    def all_hidden(self) -> int:
        return self._hidden.total()


def sort_key(info: UrlInfo) -> tuple[int, str]:
    """The key that sorts URLs by depth, then by name."""
    return info.depth, info.url


def leaves_per_page(unread: Collection[int], maximum: int) -> int:
    """How many of the `unread` URLs below each page may be kept, at most `maximum`."""
    limits = (maximum, 100, 50, 20, 10, 5, 2, 1)
    return next((limit for limit in limits if sum(min(count, limit) for count in unread) <= MAX_UNREAD), 0)
