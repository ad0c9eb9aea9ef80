"""How long the Markdown of a page may be: it is cut between blocks, with a note, and no prefix or base multiplies it."""

from __future__ import annotations

from time import process_time

import pytest

from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.markdown import ConvertOptions, escape
from tadoru.parse.page_limits import MAX_LINKS
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import converted, fences, markdown

NOTE = "*The page goes on: the rest is left out here, because it is too long.*"
MOST = 20_000


def limited(body: str) -> str:
    made = converted(body, ConvertOptions(most_characters=MOST))
    assert made.is_cut
    assert made.text.endswith(f"{NOTE}\n")
    return made.text


def test_a_page_within_the_limit_has_no_note() -> None:
    made = converted("<p>a</p>" * 100)
    assert not made.is_cut
    assert NOTE not in made.text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<p>Some words of a text.</p>" * 5_000, id="paragraphs"),
        pytest.param("<pre>some\ncode</pre><p>words</p>" * 5_000, id="code"),
        pytest.param("<blockquote>" * 38 + "a<br>" * 5_000, id="quotes in quotes"),
        pytest.param("<ul><li>" * 38 + "a<br>" * 5_000, id="lists in lists"),
        pytest.param("<ol start=999999999><li>" * 38 + "a<br>" * 5_000, id="numbered lists in each other"),
        pytest.param("<dl><dt>t<dd>" * 38 + "a<br>" * 5_000, id="definitions in definitions"),
        pytest.param("<div class='admonition note'>" * 38 + "a<br>" * 5_000, id="callouts in callouts"),
        pytest.param("<table><tr><td rowspan=200>" + "word " * 500 + "<td>b" + "<tr><td>c" * 200 + "</table>", id="a tall cell"),
        pytest.param("<table><tr>" + "<td>a" * 200 + "<tr><td>b" * 2_000 + "</table>", id="a wide table"),
        pytest.param("<p>" + f"<a href='/{'x' * 2_000}'>a</a> " * 100, id="long links"),
        pytest.param(f"<p><img alt=a src='/{'x' * 2_000}'></p>" * 100, id="long images"),
    ],
)
def test_what_would_be_too_long_is_cut_with_a_note(body: str) -> None:
    assert len(limited(f"<h1>Title</h1>{body}")) < 3 * MOST + len(body)


def test_a_fence_is_never_cut_open() -> None:
    text = limited("<h1>Title</h1>" + "<pre>first\nsecond</pre>" * 5_000)
    assert {content for _, content in fences(text)} == {"first\nsecond\n"}
    assert text.count("```") % 2 == 0


def test_nested_code_that_is_too_long_is_left_out_whole() -> None:
    text = limited("<h1>Title</h1><pre>before</pre>" + "<ul><li>" * 30 + f"<pre>{'line' * 100_000}</pre>")
    assert fences(text) == [("", "before\n")]
    assert text == f"# Title\n\n```\nbefore\n```\n\n{NOTE}\n"


@pytest.mark.parametrize("text", ["a*b " * 100_000, "_" * 300_000, "漢字" * 100_000, " a\n" * 100_000])
def test_a_long_text_is_written_as_a_short_one(text: str) -> None:
    written = escape.visible_text(text)
    assert written.split() == text.split()
    assert "  " not in written
    assert escape.text(written).startswith(escape.text(escape.visible_text(text[:3_000])).rstrip(" "))


def test_a_sites_own_markdown_has_as_many_links_as_a_page() -> None:
    links, left_out = site_markdown.links_of(
        "\n".join(f"[a]({number})" for number in range(MAX_LINKS + 5)), "https://a.example/", UrlResolver()
    )
    assert len(links) == MAX_LINKS
    assert left_out == ("it has more than 50,000 links and resources",)


def test_a_sites_own_markdown_does_not_grow_without_end_by_where_it_was() -> None:
    base = f"https://a.example/{'x' * 2_000}/"
    text = site_markdown.normalise_markdown("[a](b) " * 100_000, base)
    assert f"[a]({base}b)" in text
    assert text.rstrip().endswith("[a](b)")
    assert len(text) < 20_000_000


def test_a_short_page_reads_as_ever() -> None:
    assert markdown("<ul><li>a<pre>b\nc</pre></ul><blockquote>d<br>e</blockquote>") == (
        "- a\n\n  ```\n  b\n  c\n  ```\n\n> d  \n> e"
    )


@pytest.mark.parametrize("unit", ["*@", "_a", "`", "<b ", "&amp;", "[x]("])
def test_a_long_text_of_signs_is_escaped_in_little_time(unit: str) -> None:
    began = process_time()
    written = escape.text(unit * 400_000)
    assert process_time() - began < 3
    assert written.replace("\\", "") == unit * 400_000
