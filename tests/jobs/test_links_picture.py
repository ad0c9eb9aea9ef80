from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.i18n.translation import translator
from tadoru.jobs.links.report import LinksReport
from tadoru.jobs.links.report.figures import LinksFigures
from tadoru.jobs.links.report.html import MAX_DOTS, DrawnPages, choose_pages, draw_site
from tadoru.jobs.links.result import LinkEdge, UrlInfo
from tadoru.jobs.reporting.escape import first_directory
from tadoru.jobs.reporting.graph_svg import GraphPicture, UrlOutcome, lay_out_dots
from tests.jobs.links_sites import HOME, crawl, failure, invented, page, report, small
from tests.support.properties import examples


def chosen(given: LinksReport) -> DrawnPages:
    return choose_pages(given.result, LinksFigures.of(given.result), given.edges())


def drawn(given: LinksReport) -> GraphPicture:
    def short(url: str) -> str:
        return url.removeprefix(HOME[:-1])

    picture = draw_site(given.result, LinksFigures.of(given.result), given.edges, short, translator("en"))
    assert picture is not None
    return picture


def test_a_small_site_is_drawn_whole() -> None:
    choice = chosen(small())
    assert sorted(choice.index) == sorted(info.url for info in small().result.internal_urls)
    assert choice.combined == 0
    assert choice.dots[0].info is not None
    assert choice.dots[0].info.url == HOME


@pytest.mark.parametrize("count", [401, 2000, 5000])
def test_a_big_site_is_drawn_within_bounds_and_every_page_is_counted(count: int) -> None:
    choice = chosen(invented(count))
    assert len(choice.dots) <= MAX_DOTS
    assert sum(dot.pages for dot in choice.dots) == count
    assert choice.combined == count - len(choice.index)


def test_a_parent_comes_before_its_children_and_is_less_deep() -> None:
    dots = chosen(invented(2000)).dots
    assert dots[0].parent is None
    for number, dot in enumerate(dots[1:], 1):
        assert dot.parent is not None
        assert dot.parent < number
        assert dots[dot.parent].depth < dot.depth


def test_broken_pages_of_a_big_site_are_drawn() -> None:
    given = invented(2000)
    broken = {info.url for info in given.result.internal_urls if info.status_code == 404}
    assert broken
    assert broken <= set(chosen(given).index)


def test_the_pages_most_links_lead_to_are_drawn() -> None:
    pages = [page(f"{HOME}{number:04}", 1, HOME) for number in range(900)]
    hubs = [info.url for info in pages[700:720]]
    edges = [LinkEdge(info.url, hub, "", "") for info in pages for hub in hubs]
    assert set(hubs) <= set(chosen(report(crawl(page(HOME), *pages), *edges)).index)


def test_the_rest_is_gathered_by_directory() -> None:
    pages = [page(f"{HOME}{'blog' if number % 3 else 'shop'}/{number:04}", 1, HOME) for number in range(900)]
    gathered = {dot.directory: dot.pages for dot in chosen(report(crawl(page(HOME), *pages))).dots if dot.info is None}
    assert set(gathered) == {"/blog/", "/shop/"}
    assert sum(gathered.values()) == 901 - (MAX_DOTS - 41)


def test_very_many_directories_end_in_one_dot() -> None:
    pages = [page(f"{HOME}d{number:04}/x", 1, HOME) for number in range(900)]
    choice = chosen(report(crawl(page(HOME), *pages)))
    assert len(choice.dots) == MAX_DOTS
    assert choice.dots[-1].directory == ""
    assert sum(dot.pages for dot in choice.dots) == 901


def test_where_every_page_has_its_directory_only_the_first_thousands_are_told_apart() -> None:
    pages = [page(f"{HOME}d{number:04}/x", 1, HOME) for number in range(6000)]
    pages += [page(f"{HOME}{name}/{number}", 1, HOME) for name in ("d0700", "d5900") for number in range(50)]
    choice = chosen(report(crawl(page(HOME), *pages)))
    gathered = [dot for dot in choice.dots if dot.info is None]
    assert (gathered[0].directory, gathered[0].pages) == ("/d0700/", 51)
    assert "/d5900/" not in {dot.directory for dot in gathered}
    assert (gathered[-1].directory, len(gathered)) == ("", 41)
    assert sum(dot.pages for dot in choice.dots) == 6101


def test_four_hundred_pages_that_were_not_requested_are_drawn_each_by_itself() -> None:
    pages = [page(f"{HOME}{number:03}", 1, HOME, None) for number in range(MAX_DOTS - 1)]
    choice = chosen(report(crawl(page(HOME), *pages)))
    assert (len(choice.index), choice.combined) == (MAX_DOTS, 0)


def test_of_very_many_pages_that_were_not_requested_all_are_counted() -> None:
    lists = [page(f"{HOME}list-{number:02}/", 1, HOME) for number in range(50)]
    found = [page(f"{info.url}{number}", 2, info.url, None) for info in lists for number in range(600)]
    choice = chosen(report(crawl(page(HOME), *lists, *found)))
    assert {info.url for info in lists} <= set(choice.index)
    assert sum(dot.pages for dot in choice.dots) == 1 + 50 + 30_000
    assert choice.combined == 30_051 - len(choice.index)


@pytest.mark.parametrize(
    "url, directory",
    [
        (HOME, "/"),
        (HOME + "a", "/"),
        (HOME + "a/", "/a/"),
        (HOME + "a/b/c", "/a/"),
        (HOME + "?q=/x/y", "/"),
        ("https://[bad", "/"),
    ],
)
def test_a_directory_is_the_first_of_the_path(url: str, directory: str) -> None:
    assert first_directory(url) == directory


def test_each_depth_has_its_ring() -> None:
    choice = chosen(invented(60))
    layout = lay_out_dots(choice.dots)
    assert layout.at(0) == (0.0, 0.0)
    for number, dot in enumerate(choice.dots[1:], 1):
        inner = layout.rings[dot.depth - 2] if dot.depth > 1 else 0.0
        assert inner < layout.polar[number][0] <= layout.rings[dot.depth - 1]


def test_no_two_pages_share_a_place() -> None:
    layout = lay_out_dots(chosen(invented(2000)).dots)
    places = {(round(x, 1), round(y, 1)) for x, y in map(layout.at, range(len(layout.polar)))}
    assert len(places) == len(layout.polar)


def test_children_stay_within_their_parents_angle() -> None:
    a, b = HOME + "a/", HOME + "b/"
    pages = [page(a, 1, HOME), page(b, 1, HOME)]
    pages += [page(f"{top}{number}", 2, top) for top in (a, b) for number in range(5)]
    choice = chosen(report(crawl(page(HOME), *pages)))
    layout = lay_out_dots(choice.dots)
    for top, low, high in ((a, -math.pi / 2, math.pi / 2), (b, math.pi / 2, 3 * math.pi / 2)):
        angles = [layout.polar[choice.index[f"{top}{number}"]][1] for number in range(5)]
        assert low < min(angles) < max(angles) < high


@pytest.mark.parametrize("count", [60, 2000])
def test_no_two_names_cover_each_other_and_the_start_has_its_own(count: int) -> None:
    names = re.findall(
        r'<text class="name[^"]*" x="([^"]+)" y="([^"]+)" text-anchor="(\w+)">([^<]*)</text>', drawn(invented(count)).svg
    )
    assert names[0][3] == "garden.example"
    assert len(names) > 15
    boxes = []
    for x, y, anchor, words in names:
        left = float(x) - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * len(words) * 6
        boxes.append((left, left + len(words) * 6, float(y)))
    for number, (left, right, y) in enumerate(boxes):
        assert not any(left < other[1] and other[0] < right and abs(y - other[2]) < 11 for other in boxes[:number])


def test_a_link_to_a_broken_page_is_marked() -> None:
    assert len(re.findall(r'class="link bad"', drawn(small()).svg)) == 1
    assert (
        '<g class="dot broken" data-n="4"><title>/about/team\n404 Not Found · depth 2 · 2 inlinks</title><path'
        in drawn(small()).svg
    )


def test_links_of_a_menu_are_left_out_and_told() -> None:
    pages = [page(f"{HOME}{number:02}", 1, HOME) for number in range(40)]
    menu = [LinkEdge(info.url, pages[0].url, "", "") for info in pages[1:]]
    picture = drawn(report(crawl(page(HOME), *pages), *menu, LinkEdge(pages[3].url, pages[4].url, "", "")))
    assert picture.svg.count('class="link"') == 1
    assert "Links to 1 page that very many pages link to" in picture.caption


def test_links_beyond_the_bound_are_told() -> None:
    pages = [page(f"{HOME}{number:03}", 1, HOME) for number in range(200)]
    edges = [LinkEdge(pages[a].url, pages[(a + step) % 200].url, "", "") for a in range(200) for step in range(1, 11)]
    picture = drawn(report(crawl(page(HOME), *pages), *edges))
    assert picture.svg.count('class="link"') == 1200
    assert "1,200 of 2,000 links" in picture.caption


def test_a_small_picture_has_nothing_to_explain() -> None:
    assert drawn(small()).caption == ""


def test_a_crawl_without_pages_has_no_picture() -> None:
    given = report(crawl())
    assert draw_site(given.result, LinksFigures.of(given.result), given.edges, str, translator("en")) is None


def test_a_list_of_pages_without_parents_is_drawn_around_the_start() -> None:
    pages = [page(HOME + name) for name in "zab"] + [page(HOME)]
    choice = chosen(report(crawl(*pages)))
    assert choice.dots[0].info == page(HOME)
    assert [dot.parent for dot in choice.dots] == [None, 0, 0, 0]
    assert len(set(lay_out_dots(choice.dots).polar)) == 4


def test_outcomes_are_the_classes_of_dots() -> None:
    pages = [page(HOME), page(HOME + "a", 1, HOME, 403), page(HOME + "b", 1, HOME, None), page(HOME + "c", 1, HOME, 302)]
    svg = drawn(report(crawl(*pages, failed=(failure(HOME + "a", 403, blocked=True),)))).svg
    assert re.findall(r'class="dot (\w+)"', svg) == [UrlOutcome.OK, UrlOutcome.BLOCKED, UrlOutcome.UNREAD, UrlOutcome.REDIRECT]


@st.composite
def sites(draw: st.DrawFn) -> list[UrlInfo]:
    count = draw(st.integers(1, 60))
    numbers = st.integers(0, count)
    return [
        page(f"{HOME}{number}", draw(st.integers(0, 6)), f"{HOME}{draw(numbers)}" if draw(st.booleans()) else None)
        for number in range(count)
    ]


@examples(60)
@given(sites())
def test_any_set_of_pages_gets_finite_places_inside_the_picture(pages: list[UrlInfo]) -> None:
    given_report = report(crawl(*pages))
    svg = drawn(given_report).svg
    box = re.search(r'viewBox="(-?\d+) (-?\d+) (\d+) (\d+)"', svg)
    assert box is not None
    left, top, width, height = map(int, box.groups())
    centres = re.findall(r'<circle cx="([^"]+)" cy="([^"]+)"', svg)
    assert len(centres) == len(pages)
    for x, y in centres:
        assert left <= float(x) <= left + width
        assert top <= float(y) <= top + height
    assert "nan" not in svg
    assert "inf" not in svg
