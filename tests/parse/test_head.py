"""What a page says about itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.head import PageHead, read_head
from tadoru.parse.html import HtmlDocument

PAGE = "http://site.example/dir/page.html"


def head(markup: str) -> PageHead:
    return read_head(HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8"), PAGE)


def test_a_page_that_says_nothing() -> None:
    assert head("") == PageHead(
        title=None,
        titles=0,
        meta_description=None,
        meta_robots=(),
        canonical=None,
        canonicals=(),
        lang=None,
        hreflang=(),
        base=None,
        viewport=None,
        refresh=None,
        refresh_url=None,
        next=None,
        prev=None,
        h1=(),
        charset="utf-8",
    )


def test_a_page_that_says_everything() -> None:
    assert head(
        """<html lang=" ja-JP "><head><title> The
        title </title><base href="/base/">
        <META NAME=Description CONTENT="What it  is"><meta name=viewport content="width=device-width">
        <meta name=robots content="NoIndex, follow"><meta name=GoogleBot content=nosnippet>
        <meta http-equiv=refresh content="5;url=next">
        <link rel=canonical href=canon><link rel="next" href="?page=2"><link rel=prev href="?page=0">
        <link rel=alternate hreflang=EN href="/en/"><link rel="x alternate" hreflang=x-default href="/">
        <link rel=alternate href=feed>
        </head><body><h1>One <b>heading</b></h1><h1>Two</h1>"""
    ) == PageHead(
        title="The title",
        titles=1,
        meta_description="What it is",
        meta_robots=(("robots", "noindex, follow"), ("googlebot", "nosnippet")),
        canonical="http://site.example/base/canon",
        canonicals=("http://site.example/base/canon",),
        lang="ja-JP",
        hreflang=(("en", "http://site.example/en/"), ("x-default", "http://site.example/")),
        base="http://site.example/base/",
        viewport="width=device-width",
        refresh="5;url=next",
        refresh_url="http://site.example/base/next",
        next="http://site.example/base/?page=2",
        prev="http://site.example/base/?page=0",
        h1=("One heading", "Two"),
        charset="utf-8",
    )


@pytest.mark.parametrize(
    "markup, title, count",
    [
        pytest.param("<title>A</title><title>B</title>", "A", 2, id="the-first-of-two"),
        pytest.param("<title></title>", "", 1, id="empty"),
        pytest.param("<title>a &lt;b&gt; {c}</title>", "a <b> {c}", 1, id="entities-and-braces"),
        pytest.param("<svg><title>Icon</title></svg>", None, 0, id="of-a-drawing"),
        pytest.param("<svg><g><title>Part</title></g></svg><title>Page</title>", "Page", 1, id="of-a-part-of-a-drawing"),
        pytest.param("<noscript><img src=x></noscript><title>Late</title>", "Late", 1, id="pushed-into-the-body"),
        pytest.param("<!-- <title>No</title> --><template><title>No</title></template>", None, 0, id="not-on-the-page"),
    ],
)
def test_the_title_is_the_first_one_that_names_the_page(markup: str, title: str | None, count: int) -> None:
    found = head(markup)
    assert (found.title, found.titles) == (title, count)


@pytest.mark.parametrize(
    "markup, expected",
    [
        pytest.param("<link rel=canonical href=/a><link rel=canonical href=/b>", ("/a", "/b"), id="two"),
        pytest.param("<link rel='Shortlink CANONICAL' href=/a>", ("/a",), id="one-of-several-tokens"),
        pytest.param("<link rel=canonical-ish href=/a>", (), id="another-token"),
        pytest.param("<link rel=canonical href=''>", (), id="empty"),
        pytest.param("<link rel=canonical>", (), id="without-href"),
        pytest.param("<link rel=canonical href='mailto:x'>", (), id="not-http"),
        pytest.param("<link rel=canonical href=' /a#part '>", ("/a",), id="tidied"),
    ],
)
def test_canonicals_are_resolved_and_all_kept(markup: str, expected: tuple[str, ...]) -> None:
    found = head(markup)
    assert found.canonicals == tuple(f"http://site.example{path}" for path in expected)
    assert found.canonical == (found.canonicals[0] if expected else None)


def test_of_several_descriptions_the_first_counts() -> None:
    assert head('<meta name=description content="1"><meta name=description content="2">').meta_description == "1"


def test_a_description_without_content_is_empty_not_absent() -> None:
    assert head("<meta name=description>").meta_description == ""


def test_the_old_name_of_prev_is_understood() -> None:
    assert head("<link rel=previous href=/a>").prev == "http://site.example/a"


def test_the_charset_is_the_one_the_page_was_read_in() -> None:
    assert read_head(HtmlDocument.parse(b"<meta charset=euc-jp>x"), PAGE).charset == "euc-jp"


@given(st.binary(max_size=1500))
def test_any_bytes_have_a_head(body: bytes) -> None:
    found = read_head(HtmlDocument.parse(b"<title>" + body), PAGE)
    assert found.titles >= 1
