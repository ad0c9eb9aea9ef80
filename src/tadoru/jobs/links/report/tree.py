"""The shortest-path tree of a site, as far as a report holds it in memory.

Every URL that was requested, or that others hang from, is in it. What was only found may be a million URLs: of these the first
few below each page are in it, and the rest is a number.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable

from tadoru.jobs.links.report.figures import LinksFigures
from tadoru.jobs.links.result import UrlInfo

MAX_UNREAD = 20_000
"""URLs that were not requested, of which so many are held in all: where there are more, every page gets less room."""


class SiteTree:
    """Who hangs from whom. A parent counts only when it is less deep than its child, so that data of any origin is a tree.

    `most_below` is how many URLs that were not requested may be held below one page.
    """

    def __init__(self, infos: Collection[UrlInfo], figures: LinksFigures, most_below: int) -> None:
        self.held = {info.url: info for info in infos if figures.bears(info)}
        """Every URL in the tree."""
        self._children: dict[str | None, list[UrlInfo]] = {}
        for info in sorted(self.held.values(), key=sort_key):
            self._children.setdefault(self.parent(info), []).append(info)
        self._hidden: Counter[str | None] = Counter()
        room = leaves_per_page(figures.unread_below.values(), most_below)
        leaves = self._few((info for info in infos if info.url not in self.held), room)
        for parent, few in leaves.items():
            self.held.update((info.url, info) for info in few)
            self._children[parent] = sorted([*self._children.get(parent, ()), *few], key=sort_key)

    def _few(self, leaves: Iterable[UrlInfo], room: int) -> dict[str | None, list[UrlInfo]]:
        """The first of the leaves below each parent. The others are counted."""
        kept: dict[str | None, list[UrlInfo]] = {}
        for info in leaves:
            parent = self.parent(info)
            few = kept.setdefault(parent, [])
            insort(few, info, key=sort_key)
            if len(few) > room:
                few.pop()
                self._hidden[parent] += 1
        return kept

    def parent(self, info: UrlInfo) -> str | None:
        """What a URL hangs from, be it in the tree or not; None when it hangs from nothing."""
        above = self.held.get(info.parent_url) if info.parent_url else None
        return above.url if above is not None and above.depth < info.depth else None

    def children(self, url: str | None) -> list[UrlInfo]:
        """What hangs from a URL, by depth and name; from None, what has no parent."""
        return self._children.get(url, [])

    def hidden(self, url: str | None) -> int:
        """How many more URLs hang there that were not requested."""
        return self._hidden[url]

    @property
    def all_hidden(self) -> int:
        return self._hidden.total()


def sort_key(info: UrlInfo) -> tuple[int, str]:
    """Where a URL stands in every list: by depth, then by name."""
    return info.depth, info.url


def leaves_per_page(unread: Collection[int], most: int) -> int:
    """How many of the `unread` URLs below each page may be held, `most` or less."""
    rooms = (most, 100, 50, 20, 10, 5, 2, 1)
    return next((room for room in rooms if sum(min(count, room) for count in unread) <= MAX_UNREAD), 0)
