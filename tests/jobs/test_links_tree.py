from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.links.report.figures import MAX_UNREAD, LinksFigures, SiteTree, leaves_per_page, sort_key
from tadoru.jobs.links.result import UrlInfo
from tests.jobs.links_sites import HOME, crawl, page


def tree_of(pages: list[UrlInfo], most_below: int = 3) -> SiteTree:
    return SiteTree(pages, LinksFigures.of(crawl(*pages)), most_below)


def shape(tree: SiteTree) -> dict[str | None, tuple[list[str], int]]:
    """What hangs where, and how many more."""
    return {url: ([info.url for info in tree.children(url)], tree.hidden(url)) for url in (None, *tree.urls)}


@st.composite
def pages(draw: st.DrawFn) -> list[UrlInfo]:
    """Any pages: some requested, some with parents that are deeper, missing, or were never requested."""
    count = draw(st.integers(0, 40))
    numbers = st.one_of(st.none(), st.integers(0, 12))
    found = []
    for number in range(count):
        parent = draw(numbers)
        above = None if parent is None else f"{HOME}{parent:02}"
        found.append(page(f"{HOME}{number:02}", draw(st.integers(0, 4)), above, draw(st.sampled_from([None, None, 200, 404]))))
    return found


@given(pages(), st.integers(0, 5))
def test_every_url_hangs_in_one_place_or_is_counted(found: list[UrlInfo], room: int) -> None:
    tree = tree_of(found, room)
    hanging = [info.url for url in (None, *tree.urls) for info in tree.children(url)]
    assert sorted(hanging) == sorted(tree.urls)
    assert len(tree.urls) + tree.all_hidden == len(found)
    assert {info.url for info in found if info.status_code is not None} <= set(tree.urls)


@given(pages(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_order_of_urls_does_not_change_the_tree(found: list[UrlInfo], room: int, random: Random) -> None:
    turned = list(found)
    random.shuffle(turned)
    assert shape(tree_of(turned, room)) == shape(tree_of(found, room))


@given(pages())
def test_children_are_deeper_than_their_parent_and_in_order(found: list[UrlInfo]) -> None:
    tree = tree_of(found)
    for url, info in tree.urls.items():
        below = tree.children(url)
        assert all(child.depth > info.depth for child in below)
        assert below == sorted(below, key=sort_key)


def test_a_url_that_was_not_requested_is_held_when_others_hang_from_it() -> None:
    first = [page(f"{HOME}{number}", 1, HOME, None) for number in range(9)]
    tree = tree_of([page(HOME), *first, page(HOME + "8/a", 2, HOME + "8", None)])
    assert [info.url for info in tree.children(HOME)] == [HOME + number for number in "0128"]
    assert tree.hidden(HOME) == 5
    assert [info.url for info in tree.children(HOME + "8")] == [HOME + "8/a"]


@pytest.mark.parametrize(
    "unread, room",
    [
        pytest.param([], 200, id="none"),
        pytest.param([1_000_000], 200, id="all below one page"),
        pytest.param([10_000] * 100, 200, id="exactly as many as there is room for"),
        pytest.param([10_000] * 101, 100, id="one page more"),
        pytest.param([5] * 4_000, 200, id="a few below each of many"),
        pytest.param([100] * 10_000, 2, id="many below each of many"),
        pytest.param([0] * 1_000_000 + [300], 200, id="pages with nothing below take no room"),
        pytest.param([3] * (MAX_UNREAD + 1), 0, id="no room for even one below each"),
    ],
)
def test_the_more_pages_the_less_room_each_has(unread: list[int], room: int) -> None:
    assert leaves_per_page(unread, 200) == room
    assert sum(min(count, room) for count in unread) <= MAX_UNREAD
