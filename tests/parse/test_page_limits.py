"""What is kept of one page at most: what is over a limit is left out, and the page says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tadoru.model.web import LinkKind, Response
from tadoru.parse import complexity
from tadoru.parse.head import read_head
from tadoru.parse.html import HtmlDocument, PageTooComplex, collapsed
from tadoru.parse.links import PageLinks, extract, extract_targets
from tadoru.parse.page import PageView, read_page
from tadoru.parse.page_limits import (
    MAX_ANCHOR_CHARACTERS,
    MAX_LINK_CHARACTERS,
    MAX_LINKS,
    MAX_STATEMENTS,
    MAX_TAGS,
    TOO_LONG_ANCHORS,
    link_limits,
    markdown_limit,
    too_many,
)
from tadoru.parse.scan import LinkScanner
from tadoru.parse.structured import MAX_JSON, read_structured
from tadoru.rules.url import LONGEST_BASE, UrlResolver

PAGE = "http://site.example/dir/page.html"
FOLDER = "http://site.example/dir/"
TOO_MANY, TOO_LONG, REFUSED = link_limits(MAX_LINKS, -1, 2)
LONG_BASE = f"the base URL is longer than {LONGEST_BASE:,} characters"


def parsed(markup: str) -> HtmlDocument:
    return HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")


def viewed(markup: str) -> tuple[PageView, HtmlDocument]:
    document = parsed(markup)
    response = Response(url=PAGE, status=200, headers=(("Content-Type", "text/html"),), body=markup.encode())
    return read_page(document, response, UrlResolver()), document


@pytest.mark.parametrize(
    "href", ["/" + "x" * LONGEST_BASE + "/", "x" * (LONGEST_BASE - 5) + "/", "http://y.example/" + "y" * 60_000]
)
def test_a_base_that_is_too_long_is_ignored_and_noted(href: str) -> None:
    document = parsed(f'<base href="{href}"><a href="a">x</a>')
    assert document.base_url(PAGE) == PAGE
    assert list(document.left_out) == [LONG_BASE]
    assert [link.url for link in extract(document, PAGE, UrlResolver()).links] == [f"{FOLDER}a"]


@pytest.mark.parametrize("href", ["mailto:x", "", "../b/", "http://other.example/"])
def test_nothing_is_noted_of_any_other_base(href: str) -> None:
    document = parsed(f'<base href="{href}"><a href="a">x</a>')
    document.base_url(PAGE)
    assert not document.left_out


@pytest.mark.parametrize("read", [extract, extract_targets])
def test_links_are_read_up_to_their_number(read: Callable[[HtmlDocument, str, UrlResolver], PageLinks]) -> None:
    document = parsed("".join(f"<a href={number}>x</a>" for number in range(MAX_LINKS + 10)))
    assert len(read(document, PAGE, UrlResolver()).links) == MAX_LINKS
    assert list(document.left_out) == [TOO_MANY]


@pytest.mark.parametrize("read", [extract, extract_targets])
def test_links_are_read_up_to_their_length(read: Callable[[HtmlDocument, str, UrlResolver], PageLinks]) -> None:
    links = "".join(f"<a href={number}>x</a>" for number in range(4_000))
    document = parsed(f'<base href="/{"x" * 2_000}/">{links}')
    assert len(read(document, PAGE, UrlResolver()).links) == pytest.approx(MAX_LINK_CHARACTERS / 2_030, rel=0.05)
    assert list(document.left_out) == [TOO_LONG]


def test_resources_count_as_links_do_and_so_does_each_source_of_an_image() -> None:
    sources = ",".join(f"{number} 1x" for number in range(MAX_LINKS + 10))
    document = parsed(f'<img srcset="{sources}"><script src=x></script>')
    assert len(extract(document, PAGE, UrlResolver(), frozenset(LinkKind)).links) == MAX_LINKS
    assert list(document.left_out) == [TOO_MANY]


def test_urls_that_are_too_long_are_counted() -> None:
    long = "x" * 9_000
    document = parsed(
        f'<a href="{long}">a</a><a href="{long}y">b</a><a href="{long}">c</a><a href="z#{long}">d</a><a href=z>e</a>'
    )
    assert [link.url for link in extract(document, PAGE, UrlResolver()).links] == [f"{FOLDER}z"]
    assert list(document.left_out) == ["3 of its URLs are longer than 8,000 characters"]


def test_a_scanned_page_has_the_same_limits() -> None:
    scanner = LinkScanner(UrlResolver())
    many = scanner.scan("".join(f'<a href="{number}">x</a>' for number in range(MAX_LINKS + 10)).encode(), PAGE)
    assert many is not None
    assert (len(many.links), many.left_out) == (MAX_LINKS, (TOO_MANY,))
    long = scanner.scan(f'<a href="{"x" * 9_000}">a</a><a href="/{"y" * 9_000}">b</a><a href="c">c</a>'.encode(), PAGE)
    assert long is not None
    assert ([link.url for link in long.links], long.left_out) == ([f"{FOLDER}c"], (REFUSED,))
    folder = f"http://site.example/{'x' * 2_000}/"
    wide = scanner.scan("".join(f'<a href="{number}">x</a>' for number in range(4_000)).encode(), folder)
    assert wide is not None
    assert (len(wide.links) < 2_000, wide.left_out) == (True, (TOO_LONG,))


def test_a_rel_is_cut_as_a_text_is() -> None:
    tokens = " ".join(f"t{number}" for number in range(10_000))
    (link,) = extract(parsed(f'<a href=x rel="{tokens}">x</a>'), PAGE, UrlResolver()).links
    assert len(link.rel) <= 200
    scanned = LinkScanner(UrlResolver()).scan(f'<a href="x" rel="{tokens}">x</a>'.encode(), PAGE)
    assert scanned is not None
    assert scanned.links == [link]


@pytest.mark.parametrize(
    "markup, what, count",
    [
        ("<link rel=canonical href={}>", "canonical annotations", lambda page: len(page.canonical_references)),
        ("<link rel=alternate hreflang=en href={}>", "hreflang annotations", lambda page: len(page.hreflang_references)),
        ("<link rel=canonical href={}>", "statements in link elements", lambda page: len(page.head.canonicals)),
        ("<link rel=alternate hreflang=en href={}>", "statements in link elements", lambda page: len(page.head.hreflang)),
        ("<meta name=robots content=a{}>", "robots directives", lambda page: len(page.directives)),
        ("<meta name=description content=a{}>", "descriptions", lambda page: len(page.descriptions)),
        ("<h2>h{}</h2>", "headings", lambda page: len(page.headings)),
        ("<img src={}>", "images", lambda page: len(page.images)),
        ("<form action={}></form>", "forms", lambda page: len(page.forms)),
        ("<a href=javascript:f({})>x</a>", "links that run a script", lambda page: len(page.script_references)),
        ("<a href=file:{}>x</a>", "malformed links", lambda page: len(page.malformed_references)),
        ("<img src=//x.example/{}>", "protocol-relative URLs", lambda page: len(page.protocol_relative)),
        ("<script src={}></script>", "blocking scripts", lambda page: len(page.blocking_scripts)),
    ],
)  # fmt: skip
def test_statements_are_kept_up_to_their_number(markup: str, what: str, count: Callable[[PageView], int]) -> None:
    page, document = viewed("<head>" + "".join(markup.format(number) for number in range(MAX_STATEMENTS + 5)))
    assert count(page) == MAX_STATEMENTS
    assert too_many(what) in document.left_out


def test_an_ordinary_page_has_nothing_left_out() -> None:
    _, document = viewed('<title>t</title><link rel=canonical href=x><h1>a</h1><img src=x alt=y><a href="#x">b</a>')
    assert not document.left_out


def test_relations_of_one_link_are_few() -> None:
    tokens = " ".join(f"t{number}" for number in range(100_000))
    head = read_head(parsed(f'<link rel="canonical {tokens}" href=x><link rel="{tokens}" href=y><title>t</title>'), PAGE)
    assert head.canonicals == (f"{FOLDER}x",)


def test_too_many_ids_are_not_known_rather_than_known_in_part() -> None:
    document = parsed("<p id=a>")
    assert document.stored_anchors(frozenset({"a"})) == {"a"}
    assert document.stored_anchors(frozenset({"a" * (MAX_ANCHOR_CHARACTERS + 1)})) is None
    assert list(document.left_out) == [TOO_LONG_ANCHORS]


def test_white_space_of_a_long_text_is_collapsed_without_reading_all_of_it() -> None:
    assert collapsed("  a \n b  ") == "a b"
    assert collapsed("a " * 1_000_000, 10) == "a a a a a"


def json_ld(text: str) -> HtmlDocument:
    return parsed(f'<script type="application/ld+json">{text}</script>')


def test_json_ld_is_read_up_to_its_length() -> None:
    data = read_structured(json_ld('{"@type":"Thing","name":"' + "x" * MAX_JSON + '"}'))
    assert data.items == ()
    assert data.problems == (f"the JSON-LD of the page has more than {MAX_JSON:,} characters",)


def test_values_of_json_ld_are_kept_up_to_their_number() -> None:
    (item,) = read_structured(json_ld('{"@context":"x","@type":"Thing","name":[' + "1," * 100_000 + "1]}")).items
    assert len(item.properties["name"]) == 10_000


def test_one_element_gives_its_value_to_few_properties() -> None:
    names = " ".join(f"p{number}" for number in range(10_000))
    (item,) = read_structured(parsed(f'<div itemscope itemtype="x"><i itemprop="{names}">value</i></div>')).items
    assert len(item.properties) == 20


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(b"<p>" * 900_000, id="elements"),
        pytest.param(b"</p>" * 900_000, id="ends that make elements"),
        pytest.param(b"<!---->" * 900_000, id="comments"),
        pytest.param(b"<br>text" * 450_000, id="elements and texts"),
        pytest.param((b"<p " + b"a b c d e f g h " * 50 + b">") * 2_500, id="attributes without values"),
        pytest.param((b"<p " + b'a="1"b="2"' * 100 + b">") * 5_000, id="attributes with values and no space"),
        pytest.param((b"<p a/b/c/d/e/f/g/h/i/j>") * 90_000, id="attributes with a slash between them"),
    ],
)
def test_a_page_of_too_many_nodes_is_refused(markup: bytes) -> None:
    with pytest.raises(PageTooComplex, match="it has more than 800,000 elements, texts and attributes"):
        complexity.check(markup)


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(
            b'<p class="a b c d e f g h i j k l m n o p q r s t u v w x y z">Words of a text.</p>\n' * 100_000, id="classes"
        ),
        pytest.param(b"<p>" + b"word <br> " * 300_000, id="a long text"),
        pytest.param(b'<tr><td class="n">1</td><td>2</td></tr>\n' * 100_000, id="a table"),
        pytest.param(b"<script>" + b"if (a<b) c; " * 300_000 + b"</script>", id="a script"),
    ],
)
def test_a_long_page_for_readers_is_not(markup: bytes) -> None:
    complexity.check(markup)


def test_markdown_may_be_several_times_as_long_as_its_page_up_to_a_bound() -> None:
    assert markdown_limit(10) == 1_000_000
    assert markdown_limit(500_000) == 5_000_000
    assert markdown_limit(50_000_000) == 10_000_000


@pytest.mark.parametrize("number, is_whole", [(MAX_TAGS - 10, True), (MAX_TAGS + 10, False)])
def test_a_page_of_too_many_elements_is_read_up_to_the_limit_with_a_reason(number: int, is_whole: bool) -> None:
    document = HtmlDocument.parse(b"<title>Page</title>" + b"<p>x</p>" * number + b"<h6>The end</h6>")
    assert document.title() == "Page"
    assert bool(document.select("h6")) is is_whole
    assert list(document.left_out) == ([] if is_whole else [f"it has more than {MAX_TAGS:,} elements"])


@pytest.mark.parametrize("number, is_whole", [(59, True), (61, False)])
def test_links_beyond_a_number_count_as_two_elements(number: int, is_whole: bool) -> None:
    document = HtmlDocument.parse(b"<A href=/>x</A>" * number + b"<h6>The end</h6>", None, max_tags=100, max_links=20)
    assert bool(document.select("h6")) is is_whole
    assert len(document.select("a")) == min(number, 60)


@pytest.mark.parametrize("page", [b"<address>x</address>" * 99, b"<!-- <a> -->" * 200, b"<script><a></script>" * 99])
def test_only_links_count_as_two(page: bytes) -> None:
    assert HtmlDocument.parse(page + b"<h6>", None, max_tags=100, max_links=0).select("h6")
