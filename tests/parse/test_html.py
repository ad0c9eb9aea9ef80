"""Parsing pages: the tree that links and heads are read from, and the bounds that keep hostile markup harmless."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse import complexity
from tadoru.parse.html import HtmlDocument, PageTooComplex, inside, tag_ids, text_of
from tests.support.properties import examples

PAGE = "http://site.example/dir/page.html"


def parsed(markup: str) -> HtmlDocument:
    return HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")


def test_a_page_is_decoded_before_it_is_parsed() -> None:
    document = HtmlDocument.parse('<meta charset="shift_jis"><p>日本語'.encode("cp932"), "text/html")
    assert document.encoding == "shift_jis"
    assert text_of(document.select("p")[0], 100) == "日本語"


def test_a_byte_order_mark_does_not_push_the_head_into_the_body() -> None:
    document = HtmlDocument.parse(b"\xef\xbb\xbf<title>Here</title>", None)
    title = document.select("title")[0]
    assert title.parent is not None
    assert title.parent.tag == "head"


def test_elements_come_in_document_order_whatever_the_order_of_selectors() -> None:
    document = parsed("<p>1<i>2</i></p><b>3</b><p>4")
    assert [element.tag for element in document.select("b,p,i")] == ["p", "i", "b", "p"]


def test_elements_are_picked_by_their_tags_in_document_order_and_all_are_counted() -> None:
    document = parsed("<p>1<A>2</A><svg><a>3</a></svg><x-y>4</x-y></p><template><a>5</a></template><h1>6</h1>")
    picked, number = document.pick(tag_ids(["h1", "a", "svg", "h2"]))
    assert [(tag, element.text()) for tag, element in picked] == [("a", "2"), ("svg", "3"), ("a", "3"), ("h1", "6")]
    assert number == len(["html", "head", "body", "p", "a", "svg", "a", "x-y", "template", "h1"])


@given(st.lists(st.sampled_from("<a> <b> </a> <p> <table> <tr> <svg> </svg> <title> </title> <image> <h1>".split()), max_size=30))
def test_picking_finds_what_a_selector_finds(pieces: list[str]) -> None:
    document = parsed("".join(pieces))
    names = ["a", "b", "h1", "image", "img", "svg", "title", "tr"]
    found = [(tag, element.mem_id) for tag, element in document.pick(tag_ids(names))[0]]
    assert found == [(element.tag, element.mem_id) for element in document.select(",".join(names))]
    assert found == [(tag, element.mem_id) for tag, element in document.find(",".join(names))]


@pytest.mark.parametrize(
    "markup, base",
    [
        pytest.param("<p>", PAGE, id="none"),
        pytest.param('<base href="/docs/">', "http://site.example/docs/", id="rooted"),
        pytest.param('<base href="sub/">', "http://site.example/dir/sub/", id="relative"),
        pytest.param('<base href="//cdn.example/x">', "http://cdn.example/x", id="other-host"),
        pytest.param('<base target=_top><base href="/a/"><base href="/b/">', "http://site.example/a/", id="the-first-with-href"),
        pytest.param('<base href="javascript:x">', PAGE, id="unusable"),
        pytest.param("<base href>", PAGE, id="empty"),
        pytest.param('<body><p><base href="/late/">', "http://site.example/late/", id="in-the-body"),
        pytest.param('<template><base href="/no/"></template>', PAGE, id="in-a-template"),
    ],
)
def test_the_base_is_the_first_usable_base_element(markup: str, base: str) -> None:
    assert parsed(markup).base_url(PAGE) == base


def test_fragments_can_point_at_ids_and_at_named_anchors_only() -> None:
    document = parsed(
        '<h1 id=top>x</h1><a name="old&amp;style">y</a><input name=field><p id=""><template><i id=t></i></template>'
    )
    assert document.anchors() == {"top", "old&style"}


@pytest.mark.parametrize(
    "markup, text",
    [
        pytest.param("<p> a \n\t b </p>", "a b", id="white-space"),
        pytest.param("<p>a<b>b</b><!-- no -->c</p>", "abc", id="elements"),
        pytest.param("<p>x<style>.a{}</style>y<script>f();</script>z</p>", "xyz", id="no-styles-or-scripts"),
        pytest.param("<p>f({1}) <b>is</b> code</p>", "f({1}) is code", id="braces-alone-are-text"),
        pytest.param("<p>abcdefghij klm</p>", "abcdefghij", id="cut"),
        pytest.param("<p>" + " " * 500 + "late</p>", "late", id="long-white-space-first"),
    ],
)
def test_text_is_what_a_reader_sees(markup: str, text: str) -> None:
    limit = 10 if text == "abcdefghij" else 100
    assert text_of(parsed(markup).select("p")[0], limit) == text


def test_what_is_inside_an_element_comes_in_document_order() -> None:
    first, _ = parsed("<p><i>1<b>2</b></i>3<u>4</u></p><p><s>5</s></p>").select("p")
    assert [element.tag for element in inside(first)] == ["i", "b", "u"]


def test_of_a_thousand_elements_inside_each_other_only_the_first_are_looked_at() -> None:
    outermost = parsed("<div>" * 1_000).select("div")[0]
    assert 50 < len(list(inside(outermost))) <= 100


def _numbered(markup: str) -> Callable[[int], str]:
    return lambda count: "".join(markup.format(n) for n in range(count))


HOSTILE: dict[str, tuple[Callable[[int], str], int]] = {
    "nested-blocks": (lambda n: "<div>" * n, 200_000),
    "nested-blocks-closed-at-the-end": (lambda n: "<div>" * n + "</div>" * n, 200_000),
    "nested-blocks-with-false-ends": (lambda n: "<div></b>" * n, 200_000),
    "nested-blocks-with-ends-in-comments": (lambda n: "<div><!--</div>-->" * n, 200_000),
    "nested-blocks-behind-an-empty-comment": (lambda n: "<!-->" + "<div>" * n + "-->", 200_000),
    "nested-blocks-with-ends-in-scripts": (lambda n: "<div><script></div></script>" * n, 200_000),
    "nested-blocks-with-ends-in-attributes": (lambda n: '<div a="</div>">' * n, 200_000),
    "nested-blocks-that-seem-to-end-in-an-attribute": (lambda n: '<div a=">x</div>">' * n, 200_000),
    "nested-blocks-with-quotes-that-are-none": (lambda n: """<div x' y=" 'z>x</div>">""" * n, 200_000),
    "nested-blocks-with-a-name-of-an-equals-sign": (lambda n: '<div ="a b=" c>x</div>">' * n, 200_000),
    "nested-blocks-with-a-quote-in-a-value": (lambda n: '<div a=b="c d=" e>x</div>">' * n, 200_000),
    "nested-lists": (lambda n: "<ul><li>" * n, 100_000),
    "nested-tables": (lambda n: "<table><tr><td>" * n, 100_000),
    "nested-spans-in-upper-case": (lambda n: "<SPAN>" * n, 200_000),
    "formatting-copied-into-every-block": (_numbered("<p><b x={}>"), 5_000),
    "formatting-in-upper-case": (_numbered("<P><FONT SIZE={}>"), 5_000),
    "formatting-before-many-blocks": (lambda n: _numbered("<p><i x={}>")(200) + "<p>x" * n, 10_000),
    "attributes-without-end": (lambda n: "<a " + _numbered("a{} ")(n), 100_000),
    "attributes-with-values": (lambda n: "<a " + _numbered("a{}=1 ")(n) + ">", 100_000),
}


@pytest.mark.parametrize("make, count", HOSTILE.values(), ids=HOSTILE.keys())
def test_markup_made_to_exhaust_the_parser_is_refused(make: Callable[[int], str], count: int) -> None:
    with pytest.raises(PageTooComplex):
        parsed(make(count))


@pytest.mark.parametrize("before", [" ", "/", "\t"], ids=["space", "slash", "tab"])
@pytest.mark.parametrize("name", "b big code em font i nobr s small strike strong tt u B BIG Code STRONG".split())
def test_unclosed_formatting_of_any_name_is_refused(name: str, before: str) -> None:
    with pytest.raises(PageTooComplex, match="formatting elements"):
        complexity.check("".join(f"<p><{name}{before}x={number}>" for number in range(2_000)).encode())


def test_a_hundred_megabytes_of_nesting_are_refused() -> None:
    with pytest.raises(PageTooComplex, match="elements nested"):
        HtmlDocument.parse(b"<div>" * 20_000_000)


@pytest.mark.parametrize(
    "make, count",
    [
        pytest.param(lambda n: "<div>" * n, 5_000, id="deep-but-bearable"),
        pytest.param(lambda n: "<ul>" + "<li><a href=x>item</a>" * n, 40_000, id="a-long-list-of-unclosed-items"),
        pytest.param(lambda n: "<table>" + "<tr><td>1<td>2<td>3" * n, 20_000, id="a-long-table-without-end-tags"),
        pytest.param(lambda n: "<p><font size=2>sloppy" * n, 10_000, id="the-same-formatting-never-closed"),
        pytest.param(_numbered('<p><code id="c{}">x</code> <em class=y>z</em>'), 10_000, id="formatting-that-is-closed"),
        pytest.param(lambda n: "x<br>" * n, 100_000, id="many-line-breaks"),
        pytest.param(lambda n: '<img src="data:image/png;base64,' + "A" * n + '">', 1_000_000, id="an-image-in-an-attribute"),
        pytest.param(lambda n: "<p data-page='" + '{"a": 1, ' * n + "'>", 50_000, id="data-in-an-attribute"),
        pytest.param(lambda n: "<script>" + "if (a < b) { " * n + "</script>", 100_000, id="a-long-script"),
        pytest.param(lambda n: "word " * n, 1_000_000, id="a-long-text"),
    ],
)
def test_large_but_honest_pages_are_read(make: Callable[[int], str], count: int) -> None:
    assert parsed("<title>ok</title>" + make(count)).select("title")[0].text() == "ok"


def test_no_page_below_the_first_glance_can_pass_the_limit_on_copies() -> None:
    # Half of the tags open formatting, each of the other half copies them all.
    assert (complexity.FEW_TAGS // 2) ** 2 <= complexity.MAX_COPIES


@given(st.binary(max_size=2000), st.none() | st.text(max_size=40))
def test_any_bytes_make_a_page(body: bytes, content_type: str | None) -> None:
    document = HtmlDocument.parse(body, content_type)
    assert document.base_url(PAGE).startswith("http")
    assert "" not in document.anchors()


@examples(25)
@given(st.lists(st.sampled_from(["<a", "<b x", ">", "</b>", "<p>", "<!--", "-->", '"', "'", "=", "<script>", "</script>", " "])))
def test_reading_closely_survives_any_sequence_of_tags(pieces: list[str]) -> None:
    # So many that every page takes the slow way.
    markup = "<br>" * (complexity.MANY_TAGS + 1) + "".join(pieces)
    assert len(parsed(markup).select("br")) >= complexity.MANY_TAGS


def test_a_tag_of_a_million_attributes_is_refused_in_little_memory() -> None:
    body = b"<a " + b"b " * 1_000_000 + b">"
    tracemalloc.start()
    try:
        with pytest.raises(PageTooComplex):
            complexity.check(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15_000_000
