"""The reading order of a site's pages, from its menus and its links to the next page. Pure.

Each of them orders a part of the site. A new page is placed after the page that it follows where it occurs first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

MIN_CHAIN_LENGTH = 3
"""Pages; shorter chains and menus do not define an order."""


def reading_order(urls: Sequence[str], onward: Mapping[str, str], menus: Iterable[Sequence[str]]) -> list[str]:
    """The URLs in reading order.

    `urls` has the start URL first and is sorted by depth, which decides where nothing else does; `onward` maps pages to their
    next page.
    """
    wanted = set(urls)
    order = _LinkedOrder(urls[:1])
    for chain in _chains(urls, onward):
        order.add(url for url in chain if url in wanted)
    for menu in menus:
        known = [url for url in menu if url in wanted]
        if len(known) >= MIN_CHAIN_LENGTH:  # A menu of "start, this page" on every page would put the last page first.
            order.add(known)
    for url in urls:
        order.add([url])
    return order.all()


def _chains(urls: Sequence[str], onward: Mapping[str, str]) -> list[list[str]]:
    """The chains of links to the next page: that of the start URL first, then the longest; each page is in one of them."""
    led_to = set(onward.values())
    seen: set[str] = set()
    chains = []
    # Pages without a previous page first; what is left are cycles.
    for url in [*urls[:1], *(url for url in urls if url not in led_to), *urls]:
        chain = []
        step: str | None = url
        while step is not None and step not in seen:
            seen.add(step)
            chain.append(step)
            step = onward.get(step)
        if len(chain) >= MIN_CHAIN_LENGTH:
            chains.append(chain)
    first = [chain for chain in chains if chain[0] == urls[0]] if urls else []
    return first + sorted((chain for chain in chains if chain not in first), key=len, reverse=True)


class _LinkedOrder:
    """A linked list into which sequences are merged."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._after: dict[str, str | None] = {}
        self._last: str | None = None
        self._first: str | None = None
        self.add(urls)

    def add(self, sequence: Iterable[str]) -> None:
        """Insert new URLs after the URL that they follow, or at the end."""
        before: str | None = None
        for url in sequence:
            if url not in self._after:
                self._insert(url, before if before is not None else self._last)
            before = url

    def _insert(self, url: str, before: str | None) -> None:
        if before is None:
            self._first = url
            self._after[url] = None
        else:
            self._after[url] = self._after[before]
            self._after[before] = url
        if self._after[url] is None:
            self._last = url

    def all(self) -> list[str]:
        found = []
        step = self._first
        while step is not None:
            found.append(step)
            step = self._after[step]
        return found
