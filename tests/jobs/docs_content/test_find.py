"""Finding the documentation: streamed pages, pages that generators left empty, hostile pages, any page at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.content import Main, find_main
from tadoru.jobs.docs.content.generators import GENERATORS
from tadoru.parse.html import Document, is_selector

TEXT = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils over the edge."


def found(page: str) -> Main:
    return find_main(Document.parse(page.encode(), "text/html; charset=utf-8"), "https://a.test/guide/")


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name)
def test_the_rows_of_the_table_are_usable(generator: object) -> None:
    row = next(row for row in GENERATORS if row is generator)
    lists = ",".join(filter(None, [*row.content, row.navigation, row.noise]))
    for selector in lists.split(","):
        assert is_selector(selector)
        assert " " not in selector, "a combinator takes a walk for each element"
    assert row.content
    assert row.marks or row.notes
    assert all(
        name[0] in "#." and name[1:].replace("-", "").replace("_", "").isalnum() for mark in row.marks for name in mark.split()
    )


def test_names_of_generators_are_unique() -> None:
    assert len({row.name for row in GENERATORS}) == len(GENERATORS)


def test_where_a_generator_left_its_place_empty_the_text_is_looked_for_elsewhere() -> None:
    main = found(
        f'<meta name=generator content="VitePress v1"><div class=vp-doc></div><div class=x><h1>B</h1><p>{TEXT}</p></div>'
    )
    assert main.generator == "vitepress"
    assert "litre" in main.root.text()


def test_what_is_named_as_the_content_must_hold_the_text() -> None:
    main = found(f"<article><p>News of the day</p></article><div class=x>{f'<p>{TEXT}</p>' * 5}</div>")
    assert main.root.text().count("litre") == 5
    assert main.confidence < 0.5


def test_of_several_articles_the_page_is_their_container() -> None:
    main = found(f"<div class=content><article><p>{TEXT}</p></article><article><p>{TEXT}</p></article></div>")
    assert main.root.text().count("litre") == 2


def test_a_page_without_text_is_taken_whole_and_says_so() -> None:
    main = found("<div id=root></div>")
    assert main.root.tag == "body"
    assert main.confidence < 0.2
    assert main.reason == "the page has no running text"


@pytest.mark.parametrize(
    "page, text",
    [
        pytest.param(
            "<main><p>a</p><!--$?--><template id=B:0></template><p>wait</p><!--/$--><p>c</p></main>"
            "<div hidden id=S:0><p>b</p></div>",
            "a b c",
            id="in its place",
        ),
        pytest.param(
            "<main><p>a</p><template id=B:1></template><p>c</p></main><div hidden id=S:1><p>b</p></div>",
            "a b c",
            id="nothing to take away without an end mark",
        ),
        pytest.param(
            "<main><p>a</p><template id=B:0></template><i>w</i><template id=B:1></template><!--/$--></main>"
            "<div hidden id=S:0><p>b</p></div><div hidden id=S:1><p>x</p></div>",
            "a b",
            id="a place within a placeholder",
        ),
        pytest.param("<main><p>a</p></main><div hidden id=S:7><p>b</p></div>", "a", id="no place"),
        pytest.param(
            "<main><p>a</p></main><div hidden id=S:0><template id=B:0></template><p>b</p></div>", "a", id="a place in itself"
        ),
        pytest.param("<main><p>a</p></main><div hidden id='S:\"]'><p>b</p></div>", "a", id="a name made to break the search"),
    ],
)
def test_what_came_late_is_put_in_its_place(page: str, text: str) -> None:
    assert " ".join(found(page).root.text(separator=" ").split()) == text


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<div class=nav>" * 6_000 + TEXT, id="menus in menus"),
        pytest.param("<ul><li><a href='#x'>y</a>" * 4_000, id="lists in lists"),
        pytest.param("<div class=sidebar><a href=/x>y</a>" * 4_000, id="sidebars in sidebars"),
        pytest.param("<div class=toc><p>" + f"<a href=/x>{TEXT}</a>" * 3_000, id="links without end"),
        pytest.param("<span>" * 6_000 + TEXT, id="spans in spans"),
        pytest.param("<main>" * 3_000 + f"<p>{TEXT}", id="mains in mains"),
        pytest.param("<table><tr><td>" * 3_000 + f"<p>{TEXT}", id="tables in tables"),
        pytest.param("<div hidden id=S:0>" * 3_000 + "<template id=B:0></template>" * 3_000, id="pieces in pieces"),
    ],
)
def test_pages_made_of_boxes_in_boxes_are_read(page: str) -> None:
    assert found(page).reason


tags = st.sampled_from("div p a nav main article ul li pre code h1 h2 table td button footer aside template span section".split())
attributes = st.sampled_from(
    [
        "",
        " class=toc",
        " class='headerlink'",
        " hidden",
        " id=S:0 hidden",
        " id=B:0",
        " href='#a'",
        " role=tab",
        " class='md-content__inner'",
    ]
)
pieces = st.one_of(
    st.tuples(tags, attributes).map(lambda pair: f"<{pair[0]}{pair[1]}>"),
    tags.map(lambda tag: f"</{tag}>"),
    st.sampled_from(["word", "¶", "Edit this page", "Next", "<!--/$-->", "<br>", TEXT]),
)


@given(st.lists(pieces, max_size=40))
def test_any_page_is_read(markup: list[str]) -> None:
    main = found("".join(markup))
    assert main.root.tag
    assert 0 < main.confidence <= 1
    assert isinstance(main.root.html, str)  # the tree is whole: nothing that was taken out is still referred to


@given(st.lists(pieces, max_size=40))
def test_the_same_page_gives_the_same_text(markup: list[str]) -> None:
    page = "".join(markup)
    assert found(page).root.html == found(page).root.html
