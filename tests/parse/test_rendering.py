"""What rendering changes, named: nothing when nothing changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import Response
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import PageView, read_page
from tadoru.parse.rendering import MOST, rendering_differences
from tadoru.rules.url import UrlResolver

URL = "https://site.example/dir/"


def view(markup: str) -> PageView:
    body = markup.encode()
    response = Response(url=URL, status=200, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body)
    return read_page(HtmlDocument.parse(body, "text/html; charset=utf-8"), response, UrlResolver())


CHANGES = [
    pytest.param("<title>A</title>", "<title>B</title>", {"title": {"raw": "A", "rendered": "B"}}, id="the title"),
    pytest.param("", "<title>B</title>", {"title": {"raw": None, "rendered": "B"}}, id="a title that was not there"),
    pytest.param(
        "",
        "<meta name=description content=d>",
        {"description": {"raw": None, "rendered": "d"}},
        id="the description",
    ),
    pytest.param(
        "<link rel=canonical href=/a>",
        "<link rel=canonical href=/b>",
        {"canonical": {"raw": "https://site.example/a", "rendered": "https://site.example/b"}},
        id="the canonical",
    ),
    pytest.param("<html lang=en>", "<html lang=ja>", {"language": {"raw": "en", "rendered": "ja"}}, id="the language"),
    pytest.param(
        "<h1>A</h1>", "<h1>A</h1><h1>b</h1>",
        {"h1": {"raw": ["A"], "rendered": ["A", "b"]}, "words": {"raw": 1, "rendered": 2}}, id="a second h1",
    ),
    pytest.param("<p>one", "<p>one two three", {"words": {"raw": 1, "rendered": 3}}, id="words"),
    pytest.param(
        "<meta name=robots content='noindex, nofollow'>",
        "<meta name=robots content='index, nofollow'>",
        {"robots": {"raw": ["nofollow", "noindex"], "rendered": ["index", "nofollow"]}, "noindex_only_raw": True},
        id="noindex in the raw page only",
    ),
    pytest.param(
        "<meta name=robots content=none>",
        "",
        {"robots": {"raw": ["nofollow", "noindex"], "rendered": []}, "noindex_only_raw": True},
        id="none in the raw page only",
    ),
    pytest.param(
        "", "<meta name=robots content=noindex>", {"robots": {"raw": [], "rendered": ["noindex"]}}, id="noindex by a script"
    ),
    pytest.param(
        "<a href=gone></a><a href=/same></a>",
        "<a href=/same></a><a href=new></a><a href=new></a><a href=https://other.example/></a><img src=/i.png>",
        {"links": {"added": [f"{URL}new"], "removed": [f"{URL}gone"]}},
        id="links of the site",
    ),
    pytest.param(
        "<link rel=alternate hreflang=en href=/en>",
        "<link rel=alternate hreflang=en href=/en><link rel=alternate hreflang=ja href=/ja>",
        {"hreflang": {"added": ["ja https://site.example/ja"]}},
        id="a language",
    ),
    pytest.param(
        '<script type=application/ld+json>{"@context": "https://schema.org", "@type": "Event"}</script>',
        '<script type=application/ld+json>{"@context": "https://schema.org", "@type": ["Product", "Thing"]}</script>',
        {"structured_data": {"added": ["Product", "Thing"], "removed": ["Event"]}},
        id="types of structured data",
    ),
]  # fmt: skip


@pytest.mark.parametrize("raw, rendered, expected", CHANGES)
def test_what_changed_is_named(raw: str, rendered: str, expected: dict[str, object]) -> None:
    found = rendering_differences(view(raw), view(rendered))
    assert found == expected
    assert json.loads(json.dumps(found)) == expected
    assert rendering_differences(view(raw), view(raw)) == rendering_differences(view(rendered), view(rendered)) == {}


@pytest.mark.parametrize(
    "raw, rendered",
    [
        ("<p>one two", "<html><head></head><body><p>one two</p></body></html>"),
        ("<a href='new#a'>x</a>", "<a class=b href='/dir/new#b'>x</a>"),
        ("<meta name=robots content='NOINDEX , follow'>", "<meta name=robots content='follow,noindex'>"),
        ("<meta name=robots content=none>", "<meta name=robots content='noindex,nofollow'>"),
        ("<p>text", "<p>text<script>1</script><div hidden></div><style>p {}</style>"),
        ("<h1> A\n b </h1>", "<h1>A b</h1>"),
    ],
    ids=["markup a parser adds", "the same link", "order and case", "two words for one thing", "what nobody sees", "white space"],
)
def test_what_means_the_same_is_no_difference(raw: str, rendered: str) -> None:
    assert rendering_differences(view(raw), view(rendered)) == {}


def test_of_many_links_the_first_are_named_and_all_are_counted() -> None:
    found = rendering_differences(view(""), view("".join(f"<a href=/{number}></a>" for number in range(MOST + 5))))
    assert found == {"links": {"added": [f"https://site.example/{n}" for n in range(MOST)], "added_count": MOST + 5}}


PIECES = st.lists(st.sampled_from([param.values[index] for param in CHANGES for index in (0, 1)]), max_size=4).map("".join)


@given(PIECES, PIECES)
def test_it_is_the_same_both_ways(raw: str, rendered: str) -> None:
    there, back = rendering_differences(view(raw), view(rendered)), rendering_differences(view(rendered), view(raw))
    ways = [{name: value for name, value in found.items() if name != "noindex_only_raw"} for found in (there, back)]
    turned = {"raw": "rendered", "rendered": "raw", "added": "removed", "removed": "added"}
    assert ways[0].keys() == ways[1].keys()
    for name, value in ways[0].items():
        assert isinstance(value, dict)
        assert ways[1][name] == {turned[side]: content for side, content in value.items()}
