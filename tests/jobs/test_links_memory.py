"""No form keeps the URLs that were only found: each is made when it is read, and is gone again soon after."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator

import pytest

from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.report.html import MAX_DOTS
from tadoru.jobs.links.report.text import MAX_UNREAD_BELOW
from tadoru.jobs.links.result import CrawlResult, LinkEdge, UrlInfo
from tests.jobs.links_sites import HOME, page

LISTS = 10
BELOW = 2_000
LIST_URLS = [f"{HOME}list-{number}/" for number in range(LISTS)]


class LiveUrlCounter:
    """How many URLs there are at once, at most."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def url(self, text: str) -> str:
        return _Url(text, self)


class _Url(str):
    """A URL whose end is noticed."""

    __slots__ = ("_alive",)
    _alive: LiveUrlCounter

    def __new__(cls, text: str, alive: LiveUrlCounter) -> _Url:
        url = super().__new__(cls, text)
        url._alive = alive
        alive.now += 1
        alive.most = max(alive.most, alive.now)
        return url

    def __del__(self) -> None:
        self._alive.now -= 1


class RegeneratedUrls(Collection[UrlInfo]):
    """URLs that are made anew each time they are gone through."""

    def __init__(self, count: int, make: Callable[[], Iterator[UrlInfo]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[UrlInfo]:
        return self._make()

    def __contains__(self, info: object) -> bool:
        return any(info == other for other in self)


def wide(alive: LiveUrlCounter) -> LinksReport:
    """Ten pages that were read, and far more URLs on them that were not requested."""

    def internal() -> Iterator[UrlInfo]:
        yield page(HOME)
        yield from (page(url, 1, HOME) for url in LIST_URLS)
        for above in LIST_URLS:
            yield from (page(alive.url(f"{above}{number:04}"), 2, above, None) for number in range(BELOW))

    def external() -> Iterator[UrlInfo]:
        yield from (page(alive.url(f"https://x.example/{number:05}"), 1, HOME, None) for number in range(BELOW))

    def edges() -> Iterator[LinkEdge]:
        yield from (LinkEdge(HOME, url, "", "") for url in LIST_URLS)
        for above in LIST_URLS:
            yield from (LinkEdge(above, alive.url(f"{above}{number:04}"), "", "") for number in range(BELOW))

    found = 1 + LISTS + LISTS * BELOW
    result = CrawlResult(
        HOME, RegeneratedUrls(found, internal), RegeneratedUrls(BELOW, external), (), 1 + LISTS, found + BELOW, 1.0
    )
    return LinksReport(result, edges)


@pytest.mark.parametrize(
    "form, most",
    [
        ("json", 10),
        ("csv", 10),
        ("dot", 10),
        ("text", LISTS * MAX_UNREAD_BELOW + 10),
        # The picture may draw any of these, and counts the links to each.
        ("html", 2 * LISTS * MAX_DOTS + 500),
    ],
)
def test_a_form_keeps_few_of_the_urls_that_were_only_found(form: str, most: int) -> None:
    alive = LiveUrlCounter()
    out = io.StringIO()
    write_links_report(wide(alive), form, out)
    assert 0 < alive.most <= most
    assert alive.now <= 128, "urllib.parse keeps so many of the URLs it took apart"
    if form in ("json", "csv", "dot"):
        assert out.getvalue().count(f"{LIST_URLS[-1]}{BELOW - 1:04}") >= 1


def test_urls_that_are_kept_would_be_seen() -> None:
    alive = LiveUrlCounter()
    kept = list(wide(alive).result.internal_urls)
    assert alive.most == alive.now == len(kept) - 1 - LISTS
