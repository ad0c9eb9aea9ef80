"""What the programs that make manuals write in a way of their own: Doxygen, Javadoc, DocBook, Asciidoctor, MathJax in plain text.

Each of these was wrong once on a manual of that make. The pages are our own.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.job import DocPage, read_doc_page
from tadoru.jobs.docs.markdown import ConvertOptions
from tadoru.jobs.docs.markdown.inline import exact_span
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import fences, markdown, read_back

URL = "https://docs.example/kettle.html"


def page_of(html: str) -> DocPage:
    return read_doc_page(html.encode(), "text/html; charset=utf-8", URL, UrlResolver())


def test_a_member_of_doxygen_keeps_its_signature_beside_its_labels() -> None:
    body = (
        '<div class="memproto"><div class="memtemplate">template&lt;typename T &gt; </div><table class="mlabels"><tr>'
        '<td class="mlabels-left"><table class="memname"><tr><td class="memname">void <a href="k">Kettle</a>&lt; T &gt;::boil'
        ' </td><td>(</td><td class="paramtype">const T &amp;&#160;</td><td class="paramname"><em>water</em></td><td>)</td></tr>'
        "</table></td>"
        '<td class="mlabels-right"><span class="mlabels"><span class="mlabel">inline</span></span></td></tr></table></div>'
    )

    assert fences(markdown(body)) == [("cpp", "template<typename T>\nvoid Kettle<T>::boil (const T & water)\n")]


def test_the_parameters_of_a_template_of_doxygen_are_code() -> None:
    body = '<div class="compoundTemplParams">template&lt;typename T&gt;<br>\nclass Kettle&lt; T &gt;</div><p>Boils.</p>'

    assert fences(markdown(body)) == [("cpp", "template<typename T> class Kettle< T >\n")]


def test_an_example_beside_its_output_is_two_blocks_of_code() -> None:
    body = (
        "<table><tr><th>Example:</th><th>Output:</th></tr><tr><td><div class=fragment><div class=line>for k:</div>"
        "<div class=line>    boil(k)</div></div></td><td><pre>1   2\n10 20</pre></td></tr></table>"
    )

    text = markdown(body)

    assert fences(text) == [("", "for k:\n    boil(k)\n"), ("", "1   2\n10 20\n")]
    assert text.index("**Example:**") < text.index("boil") < text.index("**Output:**") < text.index("10 20")


def test_code_in_the_cells_of_a_long_table_keeps_its_spaces() -> None:
    rows = "".join(
        f"<tr><td>{n}</td><td><div class=fragment><div class=line>a   b</div><div class=line>  c</div></div></td></tr>"
        for n in range(5)
    )

    text = markdown(f"<table><tr><th>n</th><th>shown</th></tr>{rows}</table>")

    assert text.splitlines()[2] == "| 0 | `a   b`<br>`  c` |"
    assert len(text.splitlines()) == 7


@given(st.text(alphabet="` ab|", max_size=20))
def test_a_line_of_code_in_a_cell_is_read_back_as_it_was(line: str) -> None:
    assert read_back(exact_span(line)) == " ".join(line.split())


def test_a_break_at_the_edge_of_a_cell_is_left_out() -> None:
    body = "<table><tr><th>a</th><th>b</th></tr><tr><td><br>1</td><td>2<br></td></tr></table>"

    assert markdown(body).splitlines()[2] == "| 1 | 2 |"


def test_a_table_that_javadoc_makes_of_boxes_is_a_table() -> None:
    body = (
        '<div class="summary-table two-column-summary"><div class="table-header col-first">Method</div>'
        '<div class="table-header col-last">Description</div><div class="col-first even-row-color"><code>boil()</code></div>'
        '<div class="col-last even-row-color"><div class="block">Boils the\n water.</div></div>'
        '<div class="col-first odd-row-color"><code>pour()</code></div><div class="col-last odd-row-color"></div></div>'
    )

    assert markdown(body) == "| Method | Description |\n| --- | --- |\n| `boil()` | Boils the water. |\n| `pour()` |  |"


def test_boxes_that_are_no_whole_table_keep_all_their_words() -> None:
    body = (
        '<div class="summary-table"><div class="table-header">Method</div><div class="table-header">Description</div>'
        "<div>boil()</div><div>Boils.</div><div>pour()</div></div>"
    )

    assert read_back(markdown(body)) == "Method Description boil() Boils. pour()"


def test_a_long_table_of_boxes_is_cut_with_a_note() -> None:
    cells = "".join(f"<div>k{n}</div><div>{n}</div>" for n in range(4))
    body = f'<div class="summary-table"><div class="table-header">Key</div><div class="table-header">No</div>{cells}</div>'

    text = markdown(body, ConvertOptions(most_table_cells=4))

    assert "| k1 | 1 |" in text
    assert "k2" not in text
    assert text.endswith("*The table goes on: 2 more rows are left out here.*")


def test_a_list_whose_items_are_sections_is_sections() -> None:
    body = (
        "<ul><li><section><h2>Fields</h2><p>None.</p></section></li><li><section><h2>Methods</h2><p>One.</p></section></li></ul>"
    )

    assert markdown(body) == "## Fields\n\nNone.\n\n## Methods\n\nOne."


@pytest.mark.parametrize(
    "body, expected",
    [
        pytest.param(
            "<dl><dt><a href='/a'>A</a></dt><dt><a href='/b'>B</a></dt></dl>",
            "- [A](https://docs.example/a)\n- [B](https://docs.example/b)",
            id="entries of a table of contents",
        ),
        pytest.param(
            "<dl><dt>boil, <a href='/a'>A</a></dt><dt>kettle</dt><dd><dl><dt>of iron, <a href='/b'>B</a></dt></dl></dd>"
            "<dt>lid</dt></dl>",
            "- boil, [A](https://docs.example/a)\n- kettle\n  - of iron, [B](https://docs.example/b)\n- lid",
            id="entries of an index",
        ),
        pytest.param(
            "<dl><dt><a href='/a'>A</a></dt><dt><a href='/b'>B</a></dt><dd>Under B.</dd></dl>",
            "- **[A](https://docs.example/a)**\n- **[B](https://docs.example/b)**\n  Under B.",
            id="links with a description below the last",
        ),
        pytest.param(
            "<dl><dt>-b</dt><dt>--boil</dt><dd>Boil.</dd></dl>", "- **-b**, **--boil**\n  Boil.", id="two names of an option"
        ),
        pytest.param(
            "<dl><dt><b>min(X)<br>max(X)</b></dt><dd>Bounds.</dd></dl>",
            "- **min(X)  \n  max(X)**\n  Bounds.",
            id="a term on two lines",
        ),
    ],
)
def test_terms_stand_alone_unless_they_share_a_description(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_lines_across_the_page_that_part_nothing_are_left_out() -> None:
    assert markdown("<hr><p>a</p><hr><hr><p>b</p><hr>") == "a\n\n---\n\nb"
    assert markdown("<h1>a</h1><hr><p>b</p><hr><h2>c</h2><p>d</p>") == "# a\n\nb\n\n---\n\n## c\n\nd"


def test_an_empty_line_that_doxygen_fills_with_a_space_is_empty() -> None:
    body = "<div class=fragment><div class=line>a\u00a0b</div><div class=line>\u00a0</div><div class=line>c</div></div>"

    assert fences(markdown(body)) == [("", "a\u00a0b\n\nc\n")]


MATHJAX = "<script src='https://cdn.example/MathJax.js'></script>"


def test_formulas_that_mathjax_would_set_are_formulas() -> None:
    doc = page_of(f"{MATHJAX}<main><h1>K</h1><p>Heat \\( q_1 * q_2 \\) and <b>x</b>: \\[ a \\\\ b \\] done.</p></main>")

    assert doc.markdown.text == "# K\n\nHeat $q_1 * q_2$ and **x**: $$a \\\\ b$$ done.\n"


def test_a_page_without_mathjax_keeps_its_backslashes() -> None:
    doc = page_of("<main><h1>sed</h1><p>Use \\(regexp\\) to group.</p></main>")

    assert doc.markdown.text == "# sed\n\nUse \\\\(regexp\\\\) to group.\n"


@pytest.mark.parametrize("tag", ["h2", "h3", "h4"])
def test_a_page_that_begins_with_its_title_has_it_as_its_first_heading(tag: str) -> None:
    doc = page_of(
        f"<title>Boiling (The Kettle 2.0)</title><main><hr><{tag}>5.4 Boiling</{tag}><p>Fill it.</p><h5>Safely</h5></main>"
    )

    assert doc.main.title == "5.4 Boiling"
    assert doc.markdown.text == "# 5.4 Boiling\n\nFill it.\n\n## Safely\n"
    assert [(heading.level, heading.text) for heading in doc.markdown.headings] == [(1, "5.4 Boiling"), (2, "Safely")]


def test_a_title_that_is_a_line_of_text_above_the_headings_becomes_one() -> None:
    doc = page_of(
        "<title>Boiling</title><main><div class=fancy>Boiling</div><h1>1. Fill</h1><p>Water.</p><h1>2. Wait</h1></main>"
    )

    assert doc.markdown.text == "# Boiling\n\n## 1. Fill\n\nWater.\n\n## 2. Wait\n"


def test_labels_that_are_signs_of_an_icon_font_are_told_by_their_titles() -> None:
    body = (
        '<div class="console-block"><input type=radio><label title="Linux/macOS">\uf17c/\uf179</label><input type=radio>'
        "<label title=Windows>\uf17a</label><section><pre>$ boil</pre></section><section><pre>> boil</pre></section></div>"
    )

    assert markdown(body) == "**Linux/macOS**\n\n```console\n$ boil\n```\n\n**Windows**\n\n```\n> boil\n```"


def test_a_title_that_links_to_its_own_page_is_words() -> None:
    doc = page_of("<title>Boiling *</title><main><h2><a href=kettle.html>Boiling *</a></h2><p>Fill it.</p></main>")

    assert doc.markdown.text == "# Boiling \\*\n\nFill it.\n"


def test_a_small_heading_above_the_title_is_text_below_it() -> None:
    doc = page_of("<title>Kettle</title><main><h3>1. Class</h3><h1>Kettle</h1><h4>Description</h4><p>Boils.</p></main>")

    assert doc.markdown.text == "# Kettle\n\n1\\. Class\n\n#### Description\n\nBoils.\n"
    assert [heading.text for heading in doc.markdown.headings] == ["Kettle", "Description"]


def test_a_section_before_another_title_stays_where_it_is() -> None:
    doc = page_of("<title>Kettle</title><main><h3>Note</h3><p>New.</p><h1>Kettle</h1><p>Boils.</p></main>")

    assert doc.markdown.text == "### Note\n\nNew.\n\n# Kettle\n\nBoils.\n"


def test_lines_that_are_moved_in_by_unbreakable_spaces_are_moved_in_by_spaces() -> None:
    body = "<pre>pub trait Boil where<br>&nbsp; &nbsp; Water: Sized,&nbsp;{\n}</pre>"

    assert fences(markdown(body)) == [("", "pub trait Boil where\n    Water: Sized, {\n}\n")]
