"""What manuals of many pages have in a form of their own: footnotes, definitions of functions, titles that are said twice.

Each of these was wrong once on a manual that was read page by page (DocBook, Texinfo, Doxygen). The pages are our own.
"""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.job import read_doc_page
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import converted, fences, markdown

URL = "https://docs.example/kettle.html"
LONG = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils over the edge."


def page_of(html: str) -> str:
    return read_doc_page(html.encode(), "text/html; charset=utf-8", URL, UrlResolver()).markdown.text


@pytest.mark.parametrize(
    "text, notes",
    [
        pytest.param(
            'Boil it.<a href="#ftn.a" class="footnote" id="a"><sup class="footnote">[2]</sup></a>',
            '<div class="footnotes"><br><hr><div id="ftn.a" class="footnote"><p><a href="#a" class="para">'
            '<sup class="para">[2] </sup></a>Not too long.</p></div></div>',
            id="DocBook",
        ),
        pytest.param(
            'Boil it.<sup>[<a name="a" href="#ftn.a" class="footnote">2</a>]</sup>',
            '<div class="footnotes"><div class="footnote"><p><sup>[<a name="ftn.a" href="#a" class="para">2</a>] </sup>'
            "Not too long.</p></div></div>",
            id="DocBook of old",
        ),
        pytest.param(
            'Boil it.<sup class="footnote">[<a id="_footnoteref_2" class="footnote" href="#_footnotedef_2">2</a>]</sup>',
            '<div id="footnotes"><hr><div class="footnote" id="_footnotedef_2"><a href="#_footnoteref_2">2</a>. Not too long.'
            "</div></div>",
            id="Asciidoctor",
        ),
        pytest.param(
            'Boil it.<a id="DOCF2" href="#FOOT2"><sup>2</sup></a>',
            '<div class="footnote"><hr><h4 class="footnotes-heading">Footnotes</h4><h5><a id="FOOT2" href="#DOCF2">(2)</a></h5>'
            "<p>Not too long.</p></div>",
            id="Texinfo",
        ),
        pytest.param(
            'Boil it.<a class="footnote" id="DOCF2" href="#FOOT2"><sup>2</sup></a>',
            '<div class="footnotes-segment"><hr><h4 class="footnotes-heading">Footnotes</h4><h5 class="footnote-body-heading">'
            '<a id="FOOT2" href="#DOCF2">(2)</a></h5><p>Not too long.</p></div>',
            id="Texinfo of today",
        ),
    ],
)
def test_a_footnote_has_a_reference_and_a_note_that_belong_together(text: str, notes: str) -> None:
    page = converted(f"<h1>Kettle</h1><p>{text}</p>{notes}")

    assert page.text == "# Kettle\n\nBoil it.[^2]\n\n[^2]: Not too long.\n"
    assert [heading.text for heading in page.headings] == ["Kettle"]


def test_a_note_of_asciidoc_that_stands_in_the_text_stands_below_it() -> None:
    body = (
        '<p>Ask the cook<span class="footnote" id="_footnote_cook"><br>[The cook: <a href="mailto:c@x.test">c@x.test</a>]<br>'
        '</span>, or<span class="footnote"><br>[Or not.]<br></span> the cook<span class="footnoteref"><br>'
        '<a href="#_footnote_cook">[cook]</a><br></span>.</p><p>Pour.</p>'
    )

    assert markdown(body) == (
        "Ask the cook[^1], or[^2] the cook[^1].\n\nPour.\n\n[^1]: The cook: [c@x.test](mailto:c@x.test)\n\n[^2]: Or not."
    )


def test_footnotes_behind_the_place_of_the_text_belong_to_it() -> None:
    page = (
        "<title>Kettle</title><meta name=generator content='Asciidoctor 2.0'><div id=header><h1>Kettle</h1></div><div id=content>"
        f"<div class=p><p>{LONG}<sup class=footnote>[<a class=footnote href='#_footnotedef_1'>1</a>]</sup></p></div></div>"
        "<div id=footnotes><hr><div class=footnote id=_footnotedef_1><a href='#_footnoteref_1'>1</a>. Or so.</div></div>"
        "<div id=footer>Last updated</div>"
    )

    assert page_of(page) == f"# Kettle\n\n{LONG}[^1]\n\n[^1]: Or so.\n"


def test_the_footnotes_of_a_table_stand_below_it() -> None:
    body = (
        '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1<a href="#ftn.a" class="footnote"><sup>[a]</sup></a>'
        '</td><td>2<a href="page.html#ftn.a" class="footnoteref"><sup>[a]</sup></a></td></tr></tbody><tbody class=footnotes><tr>'
        '<td colspan="2"><div id="ftn.a" class="footnote"><p><a href="#a" class="para"><sup>[a] </sup></a>Or so.</p>'
        "</div></td></tr></tbody></table>"
    )

    assert markdown(body) == "| a | b |\n| --- | --- |\n| 1[^a] | 2[^a] |\n\n[^a]: Or so."


def test_a_link_to_a_note_of_another_page_is_a_link() -> None:
    body = '<p>See <a href="other.html#ftn.a" class="footnoteref">[a]</a>.</p>'

    assert markdown(body) == "See [\\[a\\]](https://docs.example/guide/other.html#ftn.a)."


def test_definitions_of_texinfo_are_signatures() -> None:
    body = (
        '<dl class="def"><dt id="i"><span class="category">: </span><span><em>cup =</em> <strong>pour</strong> <em>(<var>kettle'
        '</var>)</em><a href="#i" class="copiable-anchor"> &para;</a></span></dt><dt><span class="category">Method: </span>'
        "<span><strong>pour</strong> <em>()</em></span></dt><dd><p>Fills a cup.</p></dd></dl>"
    )

    text = markdown(body)

    assert fences(text) == [("", "cup = pour (kettle)\nMethod: pour ()\n")]
    assert text.endswith("```\n\nFills a cup.")


def test_a_list_of_definitions_that_is_called_so_is_none_of_signatures() -> None:
    assert markdown('<dl class="def"><dt>Lid</dt><dd>on top</dd></dl>') == "- **Lid**\n  on top"


def test_a_member_of_doxygen_is_below_the_group_it_belongs_to() -> None:
    body = '<h2 class="groupheader">Member Functions</h2><h2 class="memtitle">boil()</h2><p>Boils.</p>'

    assert markdown(body) == "## Member Functions\n\n### boil()\n\nBoils."


def test_where_a_name_may_be_broken_is_no_part_of_it() -> None:
    assert markdown("<p><code>KETTLE_\u200bLID_\u00adCOUNT</code></p>") == "`KETTLE_LID_COUNT`"


def test_a_title_is_said_once() -> None:
    page = f"<title>Legal Notice</title><main><p class=title><strong>Legal Notice</strong></p><p>{LONG}</p></main>"

    assert page_of(page) == f"# Legal Notice\n\n{LONG}\n"


def test_a_title_that_is_two_headings_is_one() -> None:
    page = f"<title>Kettle</title><main><h1>Kettle</h1><h1>Kettle</h1><p>{LONG}</p><h2>Lid</h2><p>On top.</p></main>"
    markdown = read_doc_page(page.encode(), "text/html; charset=utf-8", URL, UrlResolver()).markdown

    assert markdown.text == f"# Kettle\n\n{LONG}\n\n## Lid\n\nOn top.\n"
    assert [heading.text for heading in markdown.headings] == ["Kettle", "Lid"]


def test_a_page_that_says_nothing_but_its_title_keeps_what_it_has() -> None:
    assert page_of("<title>Legal Notice</title><main><p><b>Legal Notice</b></p></main>").count("Legal Notice") == 2


def test_a_line_above_the_title_stands_below_it() -> None:
    page = f"<title>The kettle</title><main><div>Kitchen 11</div><h1>The kettle</h1><p>{LONG}</p></main>"

    assert page_of(page) == f"# The kettle\n\nKitchen 11\n\n{LONG}\n"


def test_a_manual_that_is_named_twice_in_its_title_is_named_once() -> None:
    page = (
        "<title>Kettle Manual: Kettle Manual</title><main><table class=navigation><tr><th><p>Kettle Manual</p></th></tr>"
        f"</table><p>{LONG}</p></main>"
    )

    assert page_of(page) == f"# Kettle Manual\n\n{LONG}\n"


@pytest.mark.parametrize(
    "title, written",
    [
        pytest.param("Note", "", id="the usual title"),
        pytest.param("Before you pour", "> **Before you pour**\n>\n", id="a title of its own"),
    ],
)
def test_a_note_that_docbook_lays_out_as_a_table_is_a_note(title: str, written: str) -> None:
    body = (
        '<div class="note"><table border="0" summary="Note"><tr><td rowspan="2"><img alt="[Note]" src="note.png"></td>'
        f"<th>{title}</th></tr><tr><td><p>It is hot.</p><pre>pour\n</pre></td></tr></table></div>"
    )

    assert markdown(body) == f"> [!NOTE]\n{written}> It is hot.\n>\n> ```\n> pour\n> ```"


def test_a_table_in_a_note_is_a_table() -> None:
    body = "<div class=note><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></div>"

    assert markdown(body) == "> [!NOTE]\n> | a | b |\n> | --- | --- |\n> | 1 | 2 |"


def test_what_stands_beside_the_text_is_in_a_box_of_its_own() -> None:
    body = '<p>a</p><div class="sidebar"><p class="title"><strong>Why iron</strong></p><div>It lasts.</div></div><p>b</p>'

    assert markdown(body) == "a\n\n> [!NOTE]\n> **Why iron**\n>\n> It lasts.\n\nb"


def test_a_block_of_code_in_a_block_of_code_has_no_empty_lines_around_it() -> None:
    body = "<pre><code><div class=highlight><pre><span></span><span>int</span>\nboil (\n)\n</pre></div>\n</code></pre>"

    assert fences(markdown(body)) == [("", "int\nboil (\n)\n")]


def test_a_heading_over_the_columns_of_a_table_stands_above_it() -> None:
    body = (
        '<table><tr class="heading"><td colspan="2"><h2 class="groupheader"><a name="m"></a>Public Members</h2></td></tr>'
        '<tr><td align="right">void</td><td><a href="#b">boil</a> ()</td></tr><tr><td>int</td><td>pour ()</td></tr></table>'
    )

    page = converted(body)

    assert page.text.startswith("## Public Members\n\n|  |  |\n| ---: | --- |\n| void | [boil]")
    assert [(heading.level, heading.text, heading.anchor) for heading in page.headings] == [(2, "Public Members", "m")]


def test_sections_are_below_the_title_whatever_their_level() -> None:
    page = read_doc_page(
        (
            "<title>Kettle: Boiling</title><meta name=generator content='Doxygen 1.9'><div id=doc-content><div class=header>"
            f"<div class=headertitle><div class=title>Boiling</div></div></div><div class=contents><h1>Water</h1><p>{LONG}</p>"
            "<pre># no heading\n</pre><h2>How much</h2><p>A litre.</p><h1>Lid</h1><p>On top.</p></div></div>"
        ).encode(),
        "text/html; charset=utf-8",
        URL,
        UrlResolver(),
    ).markdown

    lines = [line for line in page.text.splitlines() if line.startswith("#")]
    assert lines == ["# Boiling", "## Water", "# no heading", "### How much", "## Lid"]
    assert [(heading.level, heading.text) for heading in page.headings] == [
        (1, "Boiling"),
        (2, "Water"),
        (3, "How much"),
        (2, "Lid"),
    ]


def test_headings_of_level_1_that_a_page_has_of_its_own_stay() -> None:
    sections = "<h1>Water</h1><p>a</p><h6>Cold</h6><p>b</p>"
    page = f"<title>Boiling</title><main><h3>Class</h3><h1>Boiling</h1><p>{LONG}</p>{sections}</main>"

    lines = [line for line in page_of(page).splitlines() if line.startswith("#")]
    assert lines == ["# Boiling", "# Water", "###### Cold"]


@pytest.mark.parametrize(
    "sections, lines",
    [
        pytest.param("<h3>Water</h3><p>a</p><h4>Cold</h4><p>b</p>", ["# Boiling", "## Water", "### Cold"], id="none of level 2"),
        pytest.param("<h2>Water</h2><p>a</p><h3>Cold</h3><p>b</p>", ["# Boiling", "## Water", "### Cold"], id="some of level 2"),
    ],
)
def test_no_level_is_missing_below_a_title_that_was_raised(sections: str, lines: list[str]) -> None:
    text = page_of(f"<title>Boiling</title><main><h2>Boiling</h2><p>{LONG}</p>{sections}</main>")

    assert [line for line in text.splitlines() if line.startswith("#")] == lines


def test_an_anchor_that_html_does_not_close_does_not_swallow_the_items_of_a_list() -> None:
    body = '<h2><a id="x"/>Rules</h2><p>All:</p><ul>\n<li>a</li>\n<li>b</li>\n<li>c <a href="/c">d</a></li>\n</ul>'

    assert markdown(body) == "## Rules\n\nAll:\n\n- a\n- b\n- c [d](https://docs.example/c)"


def test_an_anchor_that_html_does_not_close_does_not_swallow_definitions() -> None:
    body = '<h2><a id="x"/>Rules</h2><p>All:</p><dl>\n<dt>a</dt>\n<dd>one</dd>\n<dt>b</dt>\n<dd>two</dd>\n</dl>'

    assert markdown(body) == "## Rules\n\nAll:\n\n- **a**\n  one\n- **b**\n  two"


def test_an_anchor_that_html_does_not_close_is_no_link() -> None:
    body = '<h2><a id="x"/>Rules</h2>\n<p>Use <b>it</b> for [A]ll.</p>\n<p>Or <a href="/n">none</a>.</p>'

    assert markdown(body) == "## Rules\n\nUse **it** for [A]ll.\n\nOr [none](https://docs.example/n)."


def test_lines_of_code_that_docbook_explains_below_are_numbered_as_the_explanations_are() -> None:
    body = (
        '<pre>boil --fast <a id="f"></a><img src="1.png" alt="1">\npour <img src="2.png" alt="(2)"><img alt="x" src="x">\n</pre>'
        '<div class="calloutlist"><table summary="Callout list"><tr><td><p><a href="#f"><img src="1.png" alt="1"></a></p></td>'
        "<td><p>At once.</p></td></tr><tr><td><p><img src=2.png alt=2></p></td><td><p>Into a cup.</p></td></tr></table></div>"
    )

    assert markdown(body) == "```\nboil --fast (1)\npour (2)\n```\n\n1. At once.\n\n2. Into a cup."


def test_a_listing_of_gtk_doc_has_no_numbers() -> None:
    body = (
        '<table class="listing_frame"><tbody><tr><td class="listing_lines"><pre>1\n2</pre></td><td class="listing_code">'
        '<pre class="programlisting"><span class="type">int</span> a;\nboil (a);</pre></td></tr></tbody></table>'
    )

    assert fences(markdown(body)) == [("", "int a;\nboil (a);\n")]


def test_terms_that_stand_in_no_list_are_terms() -> None:
    body = '<div class="glossdiv"><h3>L</h3><dt><span class="glossterm">lid</span></dt><dd><p>On top.</p></dd></div>'

    assert markdown(body) == "### L\n\n**lid**\n\nOn top."


def test_the_letters_above_a_glossary_of_gtk_doc_are_not_text() -> None:
    page = (
        "<title>Glossary</title><meta name=generator content='DocBook XSL'><table class=navigation><tr><td><a href='#a'>A</a> "
        f"| <a href='#b'>B</a></td></tr></table><div class=glossary><h1>Glossary</h1><p>{LONG}</p></div>"
    )

    assert page_of(page) == f"# Glossary\n\n{LONG}\n"
