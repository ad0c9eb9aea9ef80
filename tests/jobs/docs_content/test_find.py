"""Finding the documentation: streamed pages, pages that generators left empty, hostile pages, any page at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.jobs.docs.content.generators import GENERATORS
from tadoru.parse.html import HtmlDocument, is_selector

TEXT = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils over the edge."


def found(page: str) -> MainContent:
    return find_main_content(HtmlDocument.parse(page.encode(), "text/html; charset=utf-8"), "https://a.test/guide/")


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name)
def test_the_rows_of_the_table_are_usable(generator: object) -> None:
    row = next(row for row in GENERATORS if row is generator)
    lists = ",".join(filter(None, [*row.content, row.navigation, row.noise, row.tools]))
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
        pytest.param("<div class=toc><a href=/x>y</a><a href=/y>z</a></div>" + "<div><h2>x</h2>" * 4_000, id="headings in boxes"),
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


def test_a_manual_page_of_asciidoctor_says_what_its_command_does() -> None:
    page = (
        "<meta name=generator content='Asciidoctor 2.0'><body class=manpage><div id=header><h1>boil(1) Manual Page</h1>"
        "<h2>NAME</h2><div class=sectionbody><p>boil - heats water</p></div></div>"
        f"<div id=content><h2>SYNOPSIS</h2><p>{TEXT}</p></div>"
        "<div id=footer><div id=footer-text>Last updated 2026</div></div>"
    )

    words = " ".join(found(page).root.text(separator=" ").split())

    assert words == f"boil(1) Manual Page NAME boil - heats water SYNOPSIS {TEXT}"


def test_a_reference_of_node_is_its_text_without_the_menus_above_it() -> None:
    menu = "<div id=gtoc><ul><li><a href='#'>Index</a><ul><li><a href=fs.html>Files</a></ul></ul></div>"
    page = (
        "<title>Kettle | Boiler v2.0.0 Documentation</title><div id=column2><ul><li><a href=fs.html>Files</a></ul></div>"
        f"<div id=column1><header><h1>Boiler v2.0.0 documentation</h1>{menu}</header><div id=apicontent>"
        "<h2>Kettle<span><a class=mark href='#kettle'>#</a></span></h2>"
        "<div class=api_metadata><span>Added in: v1.2.0</span></div>"
        f"<p>{TEXT}</p></div></div>"
    )

    main = found(page)

    assert main.generator == "nodejs"
    assert main.title == "Kettle"
    assert " ".join(main.root.text(separator=" ").split()) == f"Kettle Added in: v1.2.0 {TEXT}"


def test_the_groups_that_doxygen_names_are_not_part_of_the_title() -> None:
    page = (
        "<meta name=generator content='Doxygen 1.9.4'><div id=doc-content><div class=header><div class=headertitle>"
        "<div class=title>Kettle Class Reference<div class=ingroups><a href=g>Kitchen</a> &raquo; <a href=h>Tools</a></div>"
        "</div></div></div>"
        f"<div class=contents><h1>Boiling</h1><p>{TEXT}</p><p><img src=closed.png alt='-'> Inherited</p></div></div>"
    )

    main = found(page)

    assert main.title == "Kettle Class Reference"
    assert main.root.css_first("img") is None


CHAPTER = (
    "<meta name=generator content='DocBook XSL'><div class=navheader><a href=a.html>Prev</a> Part I. The kitchen</div>"
    "<div class=chapter><h2 class=title>Chapter 1. Boiling</h2>{text}<div class=toc><p>Table of Contents</p><dl class=toc>"
    "<dt><a href=fill.html>Fill it</a></dt><dt><a href=wait.html>Wait</a></dt></dl></div></div>"
    "<div class=navfooter><a href=a.html>Prev</a> <a href=b.html>Next</a> Part I. The kitchen of the house, and more of it</div>"
)


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("", "Chapter 1. Boiling Fill it Wait", id="all that the chapter says"),
        pytest.param(f"<p>{TEXT}</p>", f"Chapter 1. Boiling {TEXT}", id="beside text of its own"),
    ],
)
def test_a_table_of_contents_stays_when_it_is_all_a_page_has(text: str, words: str) -> None:
    assert " ".join(found(CHAPTER.format(text=text)).root.text(separator=" ").split()) == words


def test_a_heading_that_names_the_site_is_neither_the_title_nor_text() -> None:
    page = (
        "<title>Boiling &#8212; Kettle 3.2 documentation</title><div class=document><div id=hd><h1><a href=../index.html>"
        f"Kettle 3.2 documentation</a></h1></div><div class=section><h1>Boiling</h1><p>{TEXT}</p></div></div>"
    )

    main = found(page)

    assert main.title == "Boiling"
    assert " ".join(main.root.text(separator=" ").split()) == f"Boiling {TEXT}"


def test_of_several_headings_the_one_the_title_begins_with_names_the_page() -> None:
    page = f"<title>Filling - Boiling - Kettle</title><main><h1>Boiling</h1><p>{TEXT}</p><h1>2. Filling</h1><p>{TEXT}</p></main>"

    main = found(page)

    assert main.title == "2. Filling"
    assert main.root.text().startswith("Boiling"), "what is no link is text"


def test_a_page_without_a_title_is_called_by_its_first_heading() -> None:
    assert found(f"<title></title><main><h3>Filling</h3><p>{TEXT}</p></main>").title == "Filling"


def test_a_heading_is_known_in_the_title_by_its_letters() -> None:
    page = f"<title>Kettle.Lid</title><main><h1>KettleLid</h1><p>{TEXT}</p><h1>→</h1><h1>Signals</h1></main>"

    assert found(page).title == "KettleLid"


@pytest.mark.parametrize(
    "heading, title",
    [
        pytest.param("B.2 Filling", "B.2 Filling", id="a number with the letter of an appendix"),
        pytest.param("2.1 How to fill a kettle", "2.1 How to fill a kettle", id="a heading that says it otherwise"),
    ],
)
def test_a_heading_above_all_others_at_the_top_of_the_text_is_the_title(heading: str, title: str) -> None:
    page = (
        f"<title>Filling (Kettle (version 7.3.0))</title><main><h3>{heading}</h3><p>{TEXT}</p><h4>More</h4><p>{TEXT}</p></main>"
    )

    assert found(page).title == title


def test_an_index_at_the_end_is_not_the_title() -> None:
    page = f"<title>The kettle</title><main><div>The kettle</div><h2>1 Water</h2><p>{TEXT}</p><h1>Index</h1><p>{TEXT}</p></main>"

    assert found(page).title == "The kettle"


def test_a_title_is_not_cut_within_brackets() -> None:
    assert found(f"<title>Kettle (Index - K)</title><main><p>{TEXT}</p></main>").title == "Kettle (Index - K)"


def test_a_letter_of_an_index_is_not_the_title() -> None:
    page = f"<title>Kettle: Globals</title><main><h3>- b -</h3><p>{TEXT}</p></main>"

    assert found(page).title == "Kettle: Globals"


def test_one_of_many_headings_is_not_the_title() -> None:
    page = f"<title>Filling: a guide</title><main><h2>Water</h2><p>{TEXT}</p><h2>Lid</h2><p>{TEXT}</p></main>"

    assert found(page).title == "Filling: a guide"


def test_the_version_of_a_library_is_no_part_of_the_title() -> None:
    assert found(f"<title>Ktl – 4.0: The lid</title><main><p>{TEXT}</p></main>").title == "The lid"


GI_DOCGEN = (
    "<title>Ktl.Kettle.boil</title><body><nav class='sidebar devhelp-hidden'><a href=class.Lid.html>Lid</a></nav>"
    "<button id=btn-to-top></button><section id=main class=content><header><h3>Method</h3><h1><a href=index.html>Ktl</a>"
    "<span class=sep></span><a href=class.Kettle.html>Kettle</a><span class=sep></span>boil</h1></header>"
    f"<section><h4 id=d>Description<a class=srclink href=x>[src]</a></h4><p>{TEXT}</p></section></section>"
    "<div id=toc class=toc><p>Content</p><ul><li><a href='#d'>Description</a></ul></div>"
)


def test_the_parts_of_a_name_that_only_the_style_sheet_keeps_apart_do_not_run_together() -> None:
    main = found(GI_DOCGEN)

    assert (main.generator, main.title) == ("gi-docgen", "Ktl.Kettle.boil")
    assert " ".join(main.root.text(separator=" ").split()) == f"Method Ktl . Kettle . boil Description {TEXT}"


def test_paragraphs_that_are_boxes_are_running_text() -> None:
    section = f"<h3>5.3.1. Format</h3><div class=para>{TEXT}</div><pre>{'x = 1' * 200}</pre>"
    page = (
        "<title>5.3. Structure</title><meta name=generator content='publican v4.3.2'><p id=title><img alt=Site src=l.png></p>"
        f"<ul class=docnav><li>Prev</li></ul><div class=section><h2>5.3. Structure</h2><div class=section>{section}</div>"
        f"<div class=section><h3>5.3.2. Use</h3><div class=para>{TEXT}</div></div></div><ul class=docnav><li>Next</li></ul>"
    )
    for made in (
        page,
        page.replace("publican", "somebody").replace("docnav", "others").replace(f"<pre>{'x = 1' * 200}</pre>", ""),
    ):
        text = " ".join(found(made).root.text(separator=" ").split())
        assert text.startswith("5.3. Structure 5.3.1. Format")
        assert text.endswith(f"5.3.2. Use {TEXT}")


def test_what_stands_beside_the_menu_of_sphinx_is_not_text() -> None:
    page = (
        f"<div class=document><div id=bd><div class=section><h1>Boil</h1><p>{TEXT}</p></div></div><div class=yui-b id=sidebar>"
        "<div class=sphinxsidebar role=navigation><h4>Next topic</h4></div><h3>Last update:</h3><p>Nov 11</p></div></div>"
    )

    assert " ".join(found(page).root.text(separator=" ").split()) == f"Boil {TEXT}"


def test_a_page_that_is_one_long_table_keeps_it_whole() -> None:
    rows = "".join(
        f"<tr><td>{year}</td><td>Kettle {year}, with a lid that is larger than the one before</td></tr>" for year in range(40)
    )
    main = found(f"<h1>Kettles</h1><center><table><thead><tr><th>Year<th>Kettle</thead><tbody>{rows}</tbody></table></center>")

    assert main.root.tag == "center"
    assert main.root.css_first("thead") is not None


def test_a_page_that_is_laid_out_in_a_table_is_found_in_its_cell() -> None:
    main = found(f"<table><tr><td><a href=/a>Menu</a></td><td class=text><h1>B</h1>{f'<p>{TEXT}</p>' * 5}</td></tr></table>")

    assert main.root.tag == "td"
