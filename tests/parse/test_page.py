"""The facts of a page that checks are made of, and that no page makes reading fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import LANDMARKS, Headers, LinkKind, Response
from tadoru.parse.html import HtmlDocument
from tadoru.parse.links import ALL
from tadoru.parse.page import PageView, read_markup_faults, read_page
from tadoru.parse.page_structure import segment_of
from tadoru.parse.walk import FormElement, HeadingElement, ImageElement, UnnamedControl
from tadoru.rules.url import UrlResolver

URL = "https://site.example/dir/page"


def view(markup: str | bytes, headers: Headers = (("Content-Type", "text/html; charset=utf-8"),)) -> PageView:
    body = markup if isinstance(markup, bytes) else markup.encode()
    response = Response(url=URL, status=200, headers=headers, body=body)
    return read_page(HtmlDocument.parse(body, response.header("content-type")), response, UrlResolver())


def test_headings_in_order_with_their_place() -> None:
    page = view("<nav><h4>Menu</h4></nav><h1>One <b>two</b> ¶</h1><h2></h2><h3><img alt='Three'></h3>")
    assert page.headings == (
        HeadingElement(4, "Menu", is_image=False, is_aside=True),
        HeadingElement(1, "One two", is_image=False),
        HeadingElement(2, "", is_image=False),
        HeadingElement(3, "Three", is_image=True),
    )


def test_images_with_all_that_is_said_about_them() -> None:
    page = view("<img src=a.png><img alt data-src=b.png width=1 height=2 loading=LAZY><img src=c.png role=presentation>")
    assert page.images == (
        ImageElement("a.png", None, "", "", "", is_hidden=False),
        ImageElement("b.png", "", "1", "2", "lazy", is_hidden=False),
        ImageElement("c.png", None, "", "", "", is_hidden=True),
    )


def test_elements_of_the_head_that_stand_in_the_body() -> None:
    page = view(
        "<body><title>T</title><meta name=description content=d><link rel=canonical href=/><meta name=robots content=none>"
    )
    assert page.titles_in_head == 0
    assert page.head.titles == 1
    assert page.outside_head == {"description", "canonical", "robots"}
    assert view("<head><title>T</title><link rel=canonical href=/></head>").outside_head == set()


def test_references_are_kept_as_written_and_relations_resolved() -> None:
    page = view(
        "<base href=/b/><link rel=canonical href='c#d'><link rel=canonical><link rel=next href=2><link rel=amphtml href=amp>"
    )
    assert page.canonical_references == ("c#d", "")
    assert page.nexts == ("https://site.example/b/2",)
    assert page.amphtml == "https://site.example/b/amp"


def test_links_without_words() -> None:
    page = view(
        "<a href=/1></a><a href=/2><img src=x></a><a href=/3 title=Three></a><a href=/4><svg><title>Four</title></svg></a>"
        "<a href=/5><img src=x alt=Five></a><a href='#six'></a><a href=/7>Seven</a><a href=/8><i aria-label=Eight></i></a>"
    )
    assert page.nameless == (UnnamedControl("/1", has_image=False), UnnamedControl("/2", has_image=True))


def test_a_link_without_words_is_seen_whatever_the_other_links_say() -> None:
    page = view("<a href=/1>One</a><a href=ftp://files.example/></a><a href=/3 alt=Three></a>")
    assert [nameless.href for nameless in page.nameless] == ["ftp://files.example/", "/3"]


@pytest.mark.parametrize(
    "href, kind",
    [
        ("javascript:go()", "script"),
        (" JavaScript:void(0)", "script"),
        ("http://http://site.example/", "malformed"),
        ("https:///", "malformed"),
        ("http://[::1", "malformed"),
        ("file:///etc/motd", "malformed"),
        ("C:\\page.html", "malformed"),
        ("https://site.example/?u=http://other.example/", ""),
        ("https://web.example/web/2020/https://site.example/", ""),
        ("http://http.example/", ""),
        ("mailto:a@site.example", ""),
        ("//site.example/a:b", ""),
        ("a:b", ""),
    ],
)
def test_links_nobody_can_follow(href: str, kind: str) -> None:
    page = view(f"<a href='{href}'>Text</a>")
    assert bool(page.script_references) is (kind == "script")
    assert bool(page.malformed_references) is (kind == "malformed")


def test_forms_scripts_and_sizes() -> None:
    page = view(
        "<head><script src=a.js></script><script src=b.js defer></script><script type=module src=c.js></script>"
        "<style>p{}</style></head><form action=/go method=POST><input type=Password></form><form></form>"
        "<script>xyz</script><script src=//d.example/e.js></script>"
    )
    assert page.forms == (FormElement("https://site.example/go", "post"), FormElement(URL, "get"))
    assert page.has_password_field
    assert page.blocking_scripts == ("a.js",)
    assert (page.inline_script_bytes, page.inline_style_bytes) == (3, 3)
    assert page.protocol_relative == ("//d.example/e.js",)


@pytest.mark.parametrize("kind", sorted(ALL))
def test_links_of_every_kind_are_found(kind: LinkKind) -> None:
    markup = {
        LinkKind.A: "<a href=/x>",
        LinkKind.AREA: "<map><area href=/x></map>",
        LinkKind.LINK: "<link rel=icon href=/x>",
        LinkKind.IMAGE: "<img srcset='/x 2x'>",
        LinkKind.SCRIPT: "<script src=/x></script>",
        LinkKind.FRAME: "<iframe src=/x></iframe>",
        LinkKind.FORM: "<form action=/x>",
        LinkKind.MEDIA: "<object data=/x></object>",
        LinkKind.REFRESH: "<meta http-equiv=Refresh content='0;url=/x'>",
        LinkKind.PREVIEW: "<meta property=og:image content=/x>",
    }
    assert [(link.kind, link.url) for link in view(markup[kind]).links] == [(kind, "https://site.example/x")]


@pytest.mark.parametrize("markup", ["<frameset><frame src=/x></frameset>", "<track src=/x>", "<embed src=/x>", "<audio src=/x>"])
def test_links_of_rarer_elements_are_found(markup: str) -> None:
    assert [link.url for link in view(markup).links] == ["https://site.example/x"]


def test_ids_and_anchors() -> None:
    page = view("<p id=a><p id=b><p id=a><a name=c></a><p id=''>")
    assert page.ids == {"a", "b"}
    assert page.duplicate_ids == ("a",)
    assert page.anchors == {"a", "b", "c"}


@pytest.mark.parametrize(
    "body, content_type, source",
    [
        ("<meta charset=utf-8>", "text/html; charset=utf-8", "header"),
        ("<meta charset=utf-8>", "text/html", "meta"),
        ("<meta http-equiv=content-type content='text/html; charset=utf-8'>", "text/html", "meta"),
        (f"<!-- {'x' * 1100} --><meta charset=utf-8>", "text/html", "late"),
        ("<p>", "text/html", "none"),
        ("\ufeff<p>", "text/html", "bom"),
    ],
)
def test_where_the_charset_is_said(body: str, content_type: str, source: str) -> None:
    assert view(body, (("Content-Type", content_type),)).charset_source == source


@pytest.mark.parametrize(
    "markup, expected",
    [("<!doctype html><p>", True), ("<!-- a --><!DOCTYPE html><!-- b --><p>", True), ("<p>", False), ("", False)],
)
def test_a_doctype_is_seen(markup: str, expected: bool) -> None:
    assert view(markup).has_doctype is expected


@pytest.mark.parametrize(
    "markup, heads, bodies, strays",
    [
        pytest.param("<head><title>a</title></head><body></body>", 1, 1, (), id="sound"),
        pytest.param("", 1, 1, (), id="all left out"),
        pytest.param("<HEAD><DIV></HEAD><BODY><BODY>", 1, 2, ("div",), id="capitals"),
        pytest.param("<head></head><body><BODY>", 1, 2, (), id="in both spellings"),
        pytest.param("<head></head><head></head><body>", 2, 1, (), id="two heads"),
        pytest.param("<head></head><header></header><header></header>", 1, 1, (), id="headers are no heads"),
        pytest.param("<head></head><body><!-- <body> --><script>'<body>'</script>", 1, 1, (), id="comments and scripts"),
        pytest.param("<head></head><body><iframe srcdoc='<body>'></iframe><p title='<body>'>", 1, 1, (), id="values"),
        pytest.param("<head><img><p><img></head>", 1, 1, ("img", "p"), id="strays, each once"),
        pytest.param(
            "<head><script>'<p>'</script><!-- <p> --><title><p></title><meta content='<p>'></head>", 1, 1, (), id="no strays"
        ),
        pytest.param("<head><noscript><img></noscript></head>", 1, 1, ("img",), id="an image in noscript ends the head"),
    ],
)
def test_what_the_tree_no_longer_shows(markup: str, heads: int, bodies: int, strays: tuple[str, ...]) -> None:
    assert read_markup_faults(markup.encode()) == (heads, bodies, strays)


@pytest.mark.parametrize("piece", [b"<head ", b"<body ", b"<script ", b"<!--", b"<title>", b"='", b'="<body', b"</head"])
def test_hostile_markup_is_read_in_linear_time(piece: bytes) -> None:
    # Quadratic reading would take minutes here.
    read_markup_faults(b"<body><body>" + piece * (1_000_000 // len(piece)))


PIECES = st.sampled_from(
    "<html>|<head>|</head>|<body>|<title>|</title>|<meta name=robots content=noindex>|<link rel=canonical href=|<a href=|>|'|\"|"
    "<img alt|<h1>|</h1>|<svg>|<script>|</script>|<form>|<input type=password>|<picture>|<main>|<nav>|<template>|<frameset>|text|"
    "日本|\x00|&#0;|//|http://|<div id=root>|<p itemscope>|<table>".split("|")
)


@given(st.lists(PIECES, max_size=40))
def test_no_page_makes_reading_fail(pieces: list[str]) -> None:
    page = view("".join(pieces))
    assert page.elements >= 3


@given(st.binary(max_size=300))
def test_no_bytes_make_reading_fail(body: bytes) -> None:
    view(body, ())


def test_each_link_stands_in_a_landmark() -> None:
    page = view(
        "<header><a href=/1></a><nav><a href=/2></a></nav><a href=/3></a></header><div role=navigation><p><a href=/4></a></div>"
        "<main><a href=/5></a><article><header><a href=/6></a></header></article><aside><a href=/7></a></aside></main>"
        "<footer><a href=/8></a></footer><a href=/9></a>"
    )
    places = [LANDMARKS[link.landmark] for link in page.links]
    assert places == ["header", "nav", "header", "nav", "content", "content", "aside", "footer", "content"]


def test_pages_of_one_layout_share_a_template_whatever_they_are_about() -> None:
    layout = (
        "<body class='page-{0}'><header class=top></header><div class='wrap active'><nav class=menu>{1}</nav>"
        "<main>{2}</main></div><footer></footer>"
    )
    first = view(layout.format(1, "<a href=/1>One</a>", "<p>Text</p>")).template
    second = view(layout.format(2, "<a href=/1>One</a>" * 9, "<div class=gallery><div><img></div></div>" * 5)).template
    other = view("<body><header class=top></header><div class=landing><section></section></div><footer></footer>").template
    assert first == second != other


@pytest.mark.parametrize(
    "path, segment",
    [
        ("/", "/"),
        ("/about", "/*"),
        ("/blog/", "/blog/*"),
        ("/blog/2024/05/rye", "/blog/{number}/*"),
        ("/docs/api/v1/x.html?y=/z/", "/docs/api/*"),
    ],
)
def test_the_segment_of_a_url_is_its_first_folders(path: str, segment: str) -> None:
    assert segment_of(f"https://site.example{path}") == segment
