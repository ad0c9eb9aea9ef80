"""What references and manuals write in a way of their own: rustdoc, Haddock, Scaladoc, Javadoc, Erlang, Nim, Texinfo, DocBook.

Each of these was wrong once on a manual of that make. The pages are our own.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.job import DocPage, read_doc_page
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import BASE, fences, markdown

TEXT = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils."


def page_of(html: str) -> DocPage:
    return read_doc_page(html.encode(), "text/html; charset=utf-8", "https://docs.example/kettle.html", UrlResolver())


@pytest.mark.parametrize(
    "body",
    [
        "<div class=item-table><div class=item-row><div class=item-left><a href=lid.html>lid</a><span class='stab unstable'>New"
        "</span></div><div class=item-right><p>Keeps steam in.</p></div></div><div class=item-row><div class=item-left>"
        "<a href=tea.html>tea</a></div></div></div>",
        "<ul class=item-table><li><div class=item-name><a href=lid.html>lid</a><span class='stab unstable'>New</span></div>"
        "<div class='desc docblock-short'>Keeps steam in.</div></li><li><div class=item-name><a href=tea.html>tea</a></div></li>"
        "</ul>",
    ],
    ids=["boxes", "a list"],
)
def test_the_items_of_a_module_are_a_list(body: str) -> None:
    lid, tea = (f"[{name}](https://docs.example/guide/{name}.html)" for name in ("lid", "tea"))

    assert markdown(body) == f"- {lid} New\n  Keeps steam in.\n- {tea}"


def test_a_signature_of_rustdoc_has_no_spaces_inside_its_parentheses_and_no_popup() -> None:
    doc = page_of(
        "<meta name=generator content=rustdoc><section id=main-content><h1>Kettle</h1><h4 class=code-header>pub fn boil(<br>"
        "    water: Tea<br>) -&gt; Cup<span class=notable-traits>ⓘ<span class=x>Notable traits for Cup</span></span></h4>"
        f"<p>{TEXT}</p></section>"
    )

    assert "#### `pub fn boil(water: Tea) -> Cup`\n" in doc.markdown.text


def test_a_module_of_haddock_begins_with_its_name_and_has_its_signatures_as_code() -> None:
    doc = page_of(
        "<div id=package-header></div><div id=content><div id=module-header><table class=info><tr><th>Stability</th><td>hot</td>"
        "</tr></table><p class=caption>Data.Kettle</p></div><div id=interface><a href='#g:1' id='g:1'><h1>Boiling</h1></a>"
        "<div class=top><p class=src><span class=keyword>data</span> <a id='t:K' class=def>Kettle</a> a "
        "<a href='src/K.html#K' class=link>Source</a> <a href='#t:K' class=selflink>#</a></p>"
        f"<p>{TEXT}</p></div></div></div>"
    )

    assert doc.main.title == "Data.Kettle"
    assert doc.markdown.text == (
        "# Data.Kettle\n\n|  |  |\n| --- | --- |\n| Stability | hot |\n\n## Boiling\n\n"
        f"```haskell\ndata Kettle a\n```\n\n{TEXT}\n"
    )
    assert [(heading.level, heading.text) for heading in doc.markdown.headings] == [(1, "Data.Kettle"), (2, "Boiling")]


def test_a_type_of_scaladoc_has_its_own_text_and_members_without_the_filter_above_them() -> None:
    members = "".join(
        f"<li><h4 class=signature><span>def</span> <span>{name}</span>(n: <a href=Int.html>Int</a>)</h4>"
        f"<p class='shortcomment cmt'>Makes all the water {name}.</p>"
        f"<div class=fullcomment><p>Makes all the water {name}. At once.</p></div></li>"
        for name in ("hot", "cold")
    )
    doc = page_of(
        f"<body><div id=definition><h1>Kettle</h1></div><div id=comment><p>{TEXT}</p></div><div id=mbrsel><span>Ordering</span>"
        "<ol><li>Alphabetic</li></ol></div><div id=template><div id=values class='values members'><h3>Value Members</h3>"
        f"<ol>{members}</ol></div></div><div id=inheritedMembers><h3>Inherited from Any</h3></div></body>"
    )

    assert doc.markdown.text == (
        f"# Kettle\n\n{TEXT}\n\n### Value Members\n\n#### `def hot(n: Int)`\n\nMakes all the water hot. At once.\n\n"
        "#### `def cold(n: Int)`\n\nMakes all the water cold. At once.\n"
    )


def test_a_summary_above_the_text_that_it_sums_up_is_said_once_and_other_repetitions_stay() -> None:
    code = "<pre>boil</pre>"

    assert markdown("<p>Pours the water out.</p><p>Pours the water out. Slowly.</p>") == "Pours the water out. Slowly."
    assert markdown(f"{code}{code}") == "```\nboil\n```\n\n```\nboil\n```"
    assert markdown("<p>Stir.</p><p>Stir.</p>") == "Stir.\n\nStir."


@pytest.mark.parametrize("before", ["", "<p>By a cook.</p>"], ids=["sections only", "a line above them"])
def test_a_title_outside_the_text_is_put_above_sections_that_are_headings_of_its_level(before: str) -> None:
    doc = page_of(
        f"<title>The Kettle</title><div class=content>{before}<h1>Filling</h1><p>{TEXT}</p><h1>Boiling</h1><p>{TEXT}</p></div>"
    )

    assert [heading.text for heading in doc.markdown.headings] == ["The Kettle", "Filling", "Boiling"]
    assert doc.markdown.text.startswith("# The Kettle\n\n")
    assert "\n## Filling\n" in doc.markdown.text


def test_spans_that_are_called_code_are_code_and_their_links_stay() -> None:
    body = (
        "<p>The atom <span class=code>undefined</span>, see <span class='bold_code bc-7'><a href='#reset'><span class=code>"
        "reset/2</span></a></span> and <span class=bold_code>f(<a href='#t'>t()</a>)</span>.</p>"
    )

    assert markdown(body) == f"The atom `undefined`, see [`reset/2`]({BASE}#reset) and f([t()]({BASE}#t))."


def test_the_label_of_a_note_is_not_said_twice() -> None:
    assert (
        markdown("<div class=note><div class=label>Note</div><div class=content><p>Hot!</p></div></div>") == "> [!NOTE]\n> Hot!"
    )


def test_a_list_of_definitions_without_any_keeps_what_is_in_it() -> None:
    assert markdown("<dl class=item><a href=lid.html>lid</a>, tea</dl>") == "[lid](https://docs.example/guide/lid.html), tea"


def test_a_heading_that_leads_to_itself_by_its_whole_address_is_words() -> None:
    assert markdown("<h2><a href='page.html#boil'>Boiling</a></h2>") == "## Boiling"
    assert markdown("<h2><a href='tea.html#boil'>Tea</a></h2>") == "## [Tea](https://docs.example/guide/tea.html#boil)"


def test_footnotes_of_texinfo_are_footnotes() -> None:
    body = (
        "<p>It won<a id=DOCF1 href='#FOOT1'><sup>1</sup></a> once.</p><div class=footnote><hr><h4>Footnotes</h4>"
        "<h5><a id=FOOT1 href='#DOCF1'>(1)</a></h5><p>In 1998:</p><pre>tea()</pre></div>"
    )

    assert markdown(body) == "It won[^1] once.\n\n[^1]: In 1998:\n\n    ```\n    tea()\n    ```"


def test_a_link_that_is_called_link_is_a_link() -> None:
    assert markdown("<p>See <a href='#link'>link</a> objects.</p>") == f"See [link]({BASE}#link) objects."
    assert markdown("<h2>Tea <a href='#tea'>link</a></h2>") == "## Tea"
    assert fences(markdown("<pre>link</pre>")) == [("", "link\n")]


@pytest.mark.parametrize(
    "title, headings, expected",
    [
        pytest.param("A Kettle And Its Lid", ["1. Summary", "2. Lid"], "A Kettle And Its Lid", id="a section with a word of it"),
        pytest.param("The Kettle", ["1. Summary", "2. The Kettle"], "The Kettle", id="a section of the same name"),
        pytest.param("Tea house: Kettle", ["Tea house", "Kettle", "Lid"], "Tea house", id="the first of the two it names"),
        pytest.param("Boiling water - Tea house", ["News", "Boiling water"], "Boiling water", id="the page before the site"),
        pytest.param("Tea house - Boiling water", ["News", "Boiling water"], "Boiling water", id="the page after the site"),
    ],
)
def test_the_title_of_a_page_with_many_headings_of_the_first_level(title: str, headings: list[str], expected: str) -> None:
    sections = "".join(f"<h1>{heading}</h1><p>{TEXT}</p>" for heading in headings)

    assert page_of(f"<title>{title}</title><main>{sections}</main>").main.title == expected


def test_a_title_above_the_text_that_says_what_the_page_is_called_is_its_title() -> None:
    doc = page_of(
        f"<title>tea/kettle</title><h1 class=title>tea/kettle</h1><div id=content><h1>Kettle</h1><p>{TEXT}</p><h1>Lid</h1>"
        f"<p>{TEXT}</p></div>"
    )

    assert doc.main.title == "tea/kettle"
    assert doc.markdown.text.startswith("# tea/kettle\n\n## Kettle\n\n")


def test_text_above_the_first_of_smaller_headings_has_the_title_above_it() -> None:
    doc = page_of(f"<title>The Kettle</title><main><p>{TEXT}</p><h2>1.0 The Kettle</h2><p>{TEXT}</p><h2>2.0 Tea</h2></main>")

    assert doc.markdown.text.startswith(f"# 1.0 The Kettle\n\n{TEXT}\n\n## 1.0 The Kettle\n")


def test_a_title_below_a_short_line_is_moved_up_with_its_sections() -> None:
    doc = page_of(
        f"<title>3 Tea</title><main><p>8.7</p><h3>3<tt>&nbsp;</tt>Tea</h3><p>{TEXT}</p><h4>Lid</h4><p>{TEXT}</p></main>"
    )

    assert doc.markdown.text == f"# 3 Tea\n\n8.7\n\n{TEXT}\n\n## Lid\n\n{TEXT}\n"
    assert [(heading.level, heading.text) for heading in doc.markdown.headings] == [(1, "3 Tea"), (2, "Lid")]


def test_tables_of_javadoc_in_a_list_are_sections() -> None:
    table = "<table><tr><th>Class</th><th>Is</th></tr><tr><td>{0}</td><td>hot</td></tr></table>"
    body = (
        f"<ul class=summary-list><li><div class=caption>Classes</div>{table.format('Kettle')}</li>"
        f"<li><div class=caption>Errors</div>{table.format('Spill')}</li></ul>"
    )

    head = "| Class | Is |\n| --- | --- |\n"
    assert markdown(body) == f"**Classes**\n\n{head}| Kettle | hot |\n\n**Errors**\n\n{head}| Spill | hot |"


def test_the_name_of_a_package_is_code() -> None:
    body = "<div class=package-signature>package <span class=element-name>tea.copy</span></div>"

    assert fences(markdown(body)) == [("java", "package tea.copy\n")]


def test_a_method_of_rdoc_is_a_heading_without_its_source() -> None:
    doc = page_of(
        f"<title>class Kettle</title><main role=main><h1>class Kettle</h1><p>{TEXT}</p><h3>Public Instance Methods</h3>"
        "<div id=method-i-boil class=method-detail><div class=method-heading><span class=method-name>boil</span>"
        "<span class=method-args>(water)</span> <span class=method-click-advice>click to toggle source</span></div>"
        "<div class=method-description><p>Boils it.</p><div class=method-source-code><pre>def boil</pre></div></div></div></main>"
    )

    assert doc.main.generator == "rdoc"
    assert doc.markdown.text == (f"# class Kettle\n\n{TEXT}\n\n### Public Instance Methods\n\n#### `boil(water)`\n\nBoils it.\n")
    assert doc.markdown.headings[-1].anchor == "method-i-boil"


def test_a_chapter_without_a_heading_of_the_first_level_is_called_by_its_own_and_not_by_the_book() -> None:
    doc = page_of(
        "<title>B - Lids - The Kettle Book</title><div id=menu-bar><h1 class=menu-title>The Kettle Book</h1></div><main>"
        f"<h2><a class=header href='#b'>Appendix B: Lids</a></h2><p>{TEXT}</p><h3>Glass</h3><p>{TEXT}</p></main>"
    )

    assert doc.main.title == "Appendix B: Lids"
    assert doc.markdown.text.startswith("# Appendix B: Lids\n")


def test_a_page_with_one_section_is_called_as_it_says_above_it() -> None:
    doc = page_of(f"<title>tea/lids</title><h1 class=title>tea/lids</h1><div id=content><h1>Procs</h1><p>{TEXT}</p></div>")

    assert doc.main.title == "tea/lids"
    assert doc.markdown.text.startswith("# tea/lids\n\n## Procs\n")


def test_a_line_break_in_a_title_is_a_space() -> None:
    assert page_of(f"<main><h1>The Kettle<br>Version 2</h1><p>{TEXT}</p></main>").main.title == "The Kettle Version 2"


_PARTS = st.sampled_from(
    [
        "<h1>Lid</h1>",
        "<h1>Tea</h1>",
        "<h2>Lid</h2>",
        "<h2>Tea</h2>",
        "<p>#tag</p>",
        "<p>Lid</p>",
        f"<p>{TEXT}</p>",
        "<pre># no</pre>",
        "<hr>",
    ]
)


@given(st.sampled_from(["Lid", "Tea", "Lid - Tea", "#1", ""]), st.lists(_PARTS, max_size=6))
def test_whatever_a_page_is_made_of_it_begins_with_a_heading_and_loses_nothing(title: str, parts: list[str]) -> None:
    doc = page_of(f"<title>{title}</title><main>{''.join(parts)}</main>")

    text = doc.markdown.text
    if text and doc.main.title and not any(part.startswith("<h2>") for part in parts):
        assert text.startswith("# ")
    assert text.count(TEXT) == sum(TEXT in part for part in parts) - sum(
        one == two and TEXT in one for one, two in pairwise(parts)
    )
    assert text.count("```\n# no\n```") == parts.count("<pre># no</pre>")
    assert [heading.level for heading in doc.markdown.headings] == [
        len(found[1]) for line in text.splitlines() if (found := re.match("(#{1,6}) ", line)) and line != "# no"
    ]
