from __future__ import annotations

import pytest

from tadoru.parse.html import HtmlDocument
from tadoru.parse.links import extract
from tadoru.parse.markdown import markdown_places, markdown_to_html
from tadoru.parse.scan import html_places, html_references
from tadoru.rules.url import UrlResolver

PAGE = "https://example.com/docs/page.md"


def links(text: str) -> list[tuple[str, str, str]]:
    document = HtmlDocument.parse(markdown_to_html(text).encode(), "text/html; charset=utf-8")
    return [
        (link.url.removeprefix("https://example.com"), link.text, link.fragment)
        for link in extract(document, PAGE, UrlResolver()).links
    ]


@pytest.mark.parametrize(
    "text, found",
    [
        ("[a](b.md)", [("/docs/b.md", "a", "")]),
        ("[a](../b.md#c 'title')", [("/b.md", "a", "c")]),
        ("[a][x]\n\n[x]: b.md", [("/docs/b.md", "a", "")]),
        ("<https://other.example/>", [("https://other.example/", "https://other.example/", "")]),
        ("see https://other.example/x_(y). Really", [("https://other.example/x_(y)", "https://other.example/x_(y)", "")]),
        ("(https://other.example/x)", [("https://other.example/x", "https://other.example/x", "")]),
        ("starts with https://, or http://localhost:8000/ or https://example.", []),
        ('<a href="b.md">a</a>', [("/docs/b.md", "a", "")]),
        ("| a |\n|---|\n| [a](b.md) |", [("/docs/b.md", "a", "")]),
        ("`[a](b.md)`\n\n```\n[a](b.md)\nhttps://other.example/\n```", []),
        ("---\nurl: https://other.example/\n---\n[a](b.md)", [("/docs/b.md", "a", "")]),
        ("[a](javascript:alert)", []),
    ],
)
def test_the_links_of_markdown_are_read(text: str, found: list[tuple[str, str, str]]) -> None:
    assert links(text) == found


def test_headings_have_the_ids_of_code_hosts() -> None:
    text = "# Hello, *World*!\n\n## `code` & more\n\n## Hello, World!\n\n## 日本 語\n\n## Own {#own-id}\n"
    document = HtmlDocument.parse(markdown_to_html(text).encode(), "text/html; charset=utf-8")
    assert document.anchors() == {"hello-world", "code--more", "hello-world-1", "日本-語", "own-id"}
    assert document.title() == "Hello, World!"


def test_each_reference_of_markdown_has_its_place() -> None:
    text = "---\nx: y\n---\n# T\n\nA [b.md](b.md) and [b](b.md)\n![i](<i j.png>) [r][x]\n\n<img src='k.png'>\n\n[x]: r.md\n"
    assert list(markdown_places(text, html_references)) == [
        ("b.md", 6, 10), ("b.md", 6, 24), ("i j.png", 7, 7), ("r.md", 11, 6), ("k.png", 9, 11),
    ]  # fmt: skip


def test_each_reference_of_a_page_has_its_place() -> None:
    text = (
        "<!-- <a href=no> --><script>'<a href=no>'</script>\n<A  HREF = 'a.html?x&amp;y'>A</A>\n"
        '<img alt="a > b" srcset="s.png 1x, t.png 2x"\n src=i.png><p href="no">'
    )
    assert list(html_places(text)) == [("a.html?x&y", 2, 13), ("s.png", 3, 26), ("t.png", 3, 36), ("i.png", 4, 6)]
