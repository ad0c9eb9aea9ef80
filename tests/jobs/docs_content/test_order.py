"""The reading order of a site and the steps from page to page, as its menus and links have them."""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.parse.html import HtmlDocument

TEXT = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils over the edge."
URL = "https://a.test/guide/boil.html"


def found(markup: str) -> MainContent:
    page = f"<title>Boil | Kettle</title>{markup}<main><h1>Boil</h1><p>{TEXT}</p></main>"
    return find_main_content(HtmlDocument.parse(page.encode(), "text/html; charset=utf-8"), URL)


@pytest.mark.parametrize(
    "menu, entries",
    [
        pytest.param(
            "<ul><li><a href=a>A</a><ul><li><a href=b>B</a></ul><li><a href=c>C</a></ul>",
            [("A", 0), ("B", 1), ("C", 0)],
            id="nested",
        ),
        pytest.param("<a href=a>A</a><a href=b>B</a>", [("A", 0), ("B", 0)], id="without lists"),
        pytest.param("<ul><li><ul><li><a href=a>A</a></ul></ul>", [("A", 0)], id="levels begin at nought"),
        pytest.param("<a href=a>A</a><a href=a#x>A again</a>", [("A", 0)], id="each page once"),
        pytest.param("<a href=#x>here</a><a href=a>A</a>", [("A", 0)], id="no places of the page"),
        pytest.param("<a href=https://b.test/>B</a><a href=a>A</a>", [("A", 0)], id="no other sites"),
        pytest.param("<a href=mailto:a@b.test>Mail</a><a href=a>A</a>", [("A", 0)], id="no mail"),
        pytest.param("<a href=a><svg></svg></a><a href=b>B</a>", [("B", 0)], id="no links without a name"),
        pytest.param("<a href=e>Edit this page</a><a href=a>A</a>", [("A", 0)], id="no tools"),
    ],
)
def test_a_menu_is_read(menu: str, entries: list[tuple[str, int]]) -> None:
    assert [(item.title, item.level) for item in found(f"<nav>{menu}</nav>").navigation] == entries


def test_the_largest_menu_is_the_order() -> None:
    main = found("<nav><a href=/>Home</a></nav><nav><a href=a>A</a><a href=b>B</a></nav>")
    assert [item.url for item in main.navigation] == ["https://a.test/guide/a", "https://a.test/guide/b"]


def test_a_path_to_the_page_is_no_menu() -> None:
    assert found("<nav aria-label=Breadcrumbs><a href=/>Home</a><a href=/guide/>Guide</a></nav>").navigation == ()


@pytest.mark.parametrize(
    "markup, steps",
    [
        pytest.param("<link rel=next href=c><link rel=prev href=a>", ("c", "a"), id="link"),
        pytest.param("<a rel=next href=c>C</a><a rel=previous href=a>A</a>", ("c", "a"), id="rel"),
        pytest.param("<a class='pager-link next' href=c>C</a><a class='pager-link prev' href=a>A</a>", ("c", "a"), id="classes"),
        pytest.param("<a class=pagination-nav__link--next href=c>C</a>", ("c", None), id="a word in a class"),
        pytest.param("<a accesskey=n href=c>C</a><a accesskey=p href=a>A</a>", ("c", "a"), id="access keys"),
        pytest.param("<a class=next href=x>X</a><link rel=next href=c>", ("c", None), id="what is said counts before a class"),
        pytest.param("<a class=next href=#>X</a>", (None, None), id="a button of a slide show"),
        pytest.param("<a class=nextcloud href=x>X</a>", (None, None), id="a name that begins alike"),
        pytest.param(f"<link rel=next href={URL}>", (None, None), id="the page itself"),
    ],
)
def test_the_steps_are_read(markup: str, steps: tuple[str | None, str | None]) -> None:
    main = found(markup)
    assert (main.next_url, main.prev_url) == tuple(step and f"https://a.test/guide/{step}" for step in steps)


def test_addresses_are_relative_to_the_base_of_the_page() -> None:
    assert found("<base href=/other/><link rel=next href=c>").next_url == "https://a.test/other/c"


@pytest.mark.parametrize(
    "page, title",
    [
        ("<title>Boil | Kettle</title><h1>Kettle</h1><main><h2>Boil</h2><p>{}</p></main>", "Boil"),
        ("<title>Boil | Kettle</title><main><h1>Boil water¶</h1><p>{}</p></main>", "Boil water"),
        ("<title>kettle(1)</title><main><h1>NAME</h1><p>{}</p><h1>USE</h1></main>", "kettle(1)"),
        ("<title>Boil water - Kettle</title><main><p>{}</p></main>", "Boil water"),
        ("<title>Git - commit</title><main><p>{}</p></main>", "commit"),
        ("<main><p>{}</p></main>", ""),
    ],
)
def test_a_page_has_the_title_of_its_text(page: str, title: str) -> None:
    assert find_main_content(HtmlDocument.parse(page.format(TEXT).encode()), URL).title == title
