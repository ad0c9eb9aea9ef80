"""The links of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.web import FOLLOWED, Link, LinkKind
from tadoru.parse.html import HtmlDocument
from tadoru.parse.links import MAX_TEXT, extract, refresh_target, srcset_urls
from tadoru.rules.url import UrlResolver

PAGE = "http://site.example/dir/page.html"
ALL = frozenset(LinkKind)


def links(markup: str, kinds: frozenset[LinkKind] = FOLLOWED, page: str = PAGE) -> list[Link]:
    return extract(HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8"), page, UrlResolver(), kinds).links


def urls(markup: str, kinds: frozenset[LinkKind] = FOLLOWED) -> list[str]:
    return [link.url.removeprefix("http://site.example") for link in links(markup, kinds)]


def test_a_link_has_url_kind_text_rel_position_and_fragment() -> None:
    assert links(
        '<p><a href="../x?q=1#part" rel="NoFollow  external">A \n link</a><a href="mailto:a@b"></a><a href="y">B</a>'
    ) == [
        Link("http://site.example/x?q=1", LinkKind.A, "A link", "nofollow external", 0, "part"),
        Link("http://site.example/dir/y", LinkKind.A, "B", "", 1, ""),
    ]


@pytest.mark.parametrize(
    "markup, expected",
    [
        pytest.param('<a href="a?x=1&amp;y=2">', ["/dir/a?x=1&y=2"], id="entity"),
        pytest.param('<a href="a?x=1&y=2">', ["/dir/a?x=1&y=2"], id="bare-ampersand"),
        pytest.param('<a href=" \n/a ">', ["/a"], id="white-space-around"),
        pytest.param('<a href="/a\n/b">', ["/a/b"], id="line-break-inside"),
        pytest.param("<a href=/a>", ["/a"], id="unquoted"),
        pytest.param("<A HREF='/a'>", ["/a"], id="upper-case"),
        pytest.param('<a href="">', ["/dir/page.html"], id="empty-is-the-page"),
        pytest.param("<a href>", ["/dir/page.html"], id="no-value-is-the-page"),
        pytest.param('<a href="#top">', ["/dir/page.html"], id="fragment-is-the-page"),
        pytest.param('<a href="?q">', ["/dir/page.html?q"], id="query-only"),
        pytest.param("<a name=x>", [], id="no-href"),
        pytest.param('<a href="javascript:void(0)"><a href=" JavaScript:x">', [], id="javascript"),
        pytest.param('<a href="mailto:a@b.example"><a href="tel:1"><a href="data:text/html,x">', [], id="other-schemes"),
        pytest.param('<a href="ftp://site.example/x">', [], id="ftp"),
        pytest.param('<a href="http://[">', [], id="broken"),
        pytest.param("<map><area href=/a><area></map>", ["/a"], id="area"),
        pytest.param("<!-- <a href=/a> -->", [], id="comment"),
        pytest.param("<template><a href=/a></a></template>", [], id="template"),
        pytest.param("<div><template shadowrootmode=open><a href=/a></a></template></div>", [], id="shadow-template"),
        pytest.param("<script>'<a href=/a>'</script>", [], id="script"),
        pytest.param("<textarea><a href=/a></textarea><title><a href=/b></title>", [], id="text-only-elements"),
        pytest.param("<noscript><a href=/a>x</a></noscript>", ["/a"], id="noscript"),
        pytest.param("<svg><a href=/a></a><a xlink:href=/b></a></svg>", ["/a", "/b"], id="svg"),
        pytest.param("<svg><a href=/a xlink:href=/b></a></svg>", ["/a"], id="svg-href-wins"),
        pytest.param("<table><a href=/a>x</a><tr><td><a href=/b>y</a></table>", ["/a", "/b"], id="misplaced-in-a-table"),
        pytest.param("<a href=/a>x<a href=/b>y", ["/a", "/b"], id="unclosed"),
        pytest.param('<meta http-equiv="Refresh" content="0; URL=/a">', ["/a"], id="refresh"),
        pytest.param('<meta http-equiv=refresh content=5><meta name=refresh content="0;url=/a">', [], id="no-refresh"),
        pytest.param("<img src=i><link href=l><script src=s></script>", [], id="resources-are-not-followed"),
    ],
)
def test_what_counts_as_a_link(markup: str, expected: list[str]) -> None:
    assert urls(markup) == expected


def test_a_base_anywhere_in_the_page_counts_for_every_link() -> None:
    assert urls('<a href=x>1</a><base href="/base/"><a href=y>2</a><a href="">3</a>') == ["/base/x", "/base/y", "/base/"]


@pytest.mark.parametrize(
    "markup, text",
    [
        pytest.param("<a href=x> <b>Read</b>\n more </a>", "Read more", id="collapsed"),
        pytest.param('<a href=x><img src=i alt="A  picture"></a>', "A picture", id="alt-of-an-image"),
        pytest.param('<a href=x><img alt=""><img alt="Second"></a>', "Second", id="first-alt-that-says-something"),
        pytest.param('<a href=x>Text <img alt="Alt"></a>', "Text", id="text-beats-alt"),
        pytest.param("<a href=x></a>", "", id="nothing"),
        pytest.param("<a href=x><style>.c{color:red}</style>Shown</a>", "Shown", id="inline-style"),
        pytest.param("<a href=x>" + "ab " * 400 + "</a>", ("ab " * 400)[:MAX_TEXT].strip(), id="long"),
        pytest.param('<area href=x alt="Region">', "Region", id="area"),
    ],
)
def test_the_text_of_an_anchor(markup: str, text: str) -> None:
    assert [link.text for link in links(markup)] == [text]


@pytest.mark.parametrize(
    "markup, kind, expected",
    [
        pytest.param("<link rel=stylesheet href=/a>", LinkKind.LINK, ["/a"], id="link"),
        pytest.param("<img src=/a>", LinkKind.IMAGE, ["/a"], id="img"),
        pytest.param('<img src=/a srcset="/b 2x, /c 3x">', LinkKind.IMAGE, ["/a", "/b", "/c"], id="srcset"),
        pytest.param(
            '<picture><source srcset="/a 1x,/b 2x"><img src=/c></picture>', LinkKind.IMAGE, ["/a", "/b", "/c"], id="picture"
        ),
        pytest.param("<video poster=/a src=/b></video>", LinkKind.IMAGE, ["/a"], id="poster"),
        pytest.param("<input type=image src=/a>", LinkKind.IMAGE, ["/a"], id="image-button"),
        pytest.param("<svg><image href=/a /><image xlink:href=/b /></svg>", LinkKind.IMAGE, ["/a", "/b"], id="svg-image"),
        pytest.param('<img src=""><img src=" ">', LinkKind.IMAGE, [], id="empty-src"),
        pytest.param("<script src=/a></script><script>x</script>", LinkKind.SCRIPT, ["/a"], id="script"),
        pytest.param("<iframe src=/a></iframe>", LinkKind.FRAME, ["/a"], id="iframe"),
        pytest.param("<frameset><frame src=/a></frameset>", LinkKind.FRAME, ["/a"], id="frame"),
        pytest.param("<form action=/a></form><form></form>", LinkKind.FORM, ["/a"], id="form"),
        pytest.param(
            "<audio src=/a></audio><video><source src=/b><track src=/c></video>", LinkKind.MEDIA, ["/a", "/b", "/c"], id="media"
        ),
        pytest.param("<embed src=/a><object data=/b></object>", LinkKind.MEDIA, ["/a", "/b"], id="embedded"),
    ],
)
def test_resources_are_found_where_they_stand(markup: str, kind: LinkKind, expected: list[str]) -> None:
    assert urls(markup, frozenset({kind})) == expected
    assert {link.kind for link in links(markup, frozenset({kind}))} <= {kind}


def test_positions_number_the_links_of_all_kinds_in_document_order() -> None:
    found = links('<link rel="Next Prefetch" href=1><script src=2></script><a href=3><img src=4 alt=four></a><area href=5>', ALL)
    assert [(link.position, link.kind, link.url[-1]) for link in found] == [
        (0, LinkKind.LINK, "1"),
        (1, LinkKind.SCRIPT, "2"),
        (2, LinkKind.A, "3"),
        (3, LinkKind.IMAGE, "4"),
        (4, LinkKind.AREA, "5"),
    ]
    assert (found[0].rel, found[3].text) == ("next prefetch", "four")


def test_no_kinds_are_no_links() -> None:
    assert links("<a href=x>", frozenset()) == []


def test_each_distinct_reference_is_resolved_once_for_a_page() -> None:
    class Counting(UrlResolver):
        asked: list[str]

        def resolve(self, href: str, base: str) -> tuple[str, str] | None:
            self.asked.append(href)
            return super().resolve(href, base)

    resolver = Counting()
    resolver.asked = []
    extract(HtmlDocument.parse(b"<a href=x>1</a><a href=mailto:y>2</a>" * 10), PAGE, resolver)
    assert resolver.asked == ["x", "mailto:y"]


def test_the_text_of_nested_anchors_is_bounded() -> None:
    text = "word " * 20_000
    found = links("<a href=x><table><tr><td>" * 3_000 + text)
    assert len(found) == 3_000
    assert found[0].text == ("word " * 40).strip()
    assert found[-1].text == ""


ODD_REFERENCES = ["x#a%20b", "x#y ", "x #y", "x ", "\u00a0#z", "#", " # ", "//h#a#b", "x#%"]
REFERENCES = st.text("ab/.#?%20é \t:", max_size=12) | st.sampled_from(ODD_REFERENCES)


@given(st.lists(REFERENCES, max_size=12))
def test_a_reference_among_others_leads_where_it_leads_alone(references: list[str]) -> None:
    markup = "".join(f'<a href="{reference}">x</a>' for reference in references)
    alone = [UrlResolver().resolve(reference, PAGE) for reference in references]
    assert [(link.url, link.fragment) for link in links(markup)] == [target for target in alone if target is not None]


@pytest.mark.parametrize(
    "markup, expected",
    [
        pytest.param('<svg><a xlink:href="/x">t</a></svg>', ["/x"], id="in a drawing"),
        pytest.param('<svg><a xlink:href="/x" href="/y">t</a></svg>', ["/y"], id="both in a drawing"),
        pytest.param('<a xlink:href="/x">t</a>', [], id="in HTML it means nothing"),
        pytest.param('<a xlink:href="/x">t<svg><a href="/y">u</a></svg></a>', ["/y"], id="in HTML, around a drawing"),
    ],
)
def test_the_other_name_of_a_reference_in_drawings(markup: str, expected: list[str]) -> None:
    assert [link.url.removeprefix("http://site.example") for link in links(markup)] == expected


def test_an_element_with_two_references_is_read_once() -> None:
    found = links("<video src=v poster=p></video><source src=s srcset=t>", ALL)
    assert [link.url.rpartition("/")[2] for link in found] == ["v", "p", "t", "s"]


@pytest.mark.parametrize(
    "content, url",
    [
        pytest.param("0;url=/a", "/a", id="plain"),
        pytest.param("0; URL = '/a'", "/a", id="single-quotes"),
        pytest.param('5;url="/a" and more', "/a", id="double-quotes"),
        pytest.param("3, /a", "/a", id="comma-without-url"),
        pytest.param("0 url=/a", "/a", id="space-only"),
        pytest.param(" 1.5 ; uRl=/a ", "/a", id="fraction"),
        pytest.param(".5;/a", "/a", id="fraction-without-whole"),
        pytest.param("0;'/a", "/a", id="unclosed-quote"),
        pytest.param("0;url", "url", id="a-page-called-url"),
        pytest.param("5", None, id="reload"),
        pytest.param("5;", None, id="reload-with-semicolon"),
        pytest.param("0;url=", None, id="empty"),
        pytest.param("url=/a", None, id="no-time"),
        pytest.param("x;url=/a", None, id="not-a-time"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_refresh_is_read_as_browsers_read_it(content: str, url: str | None) -> None:
    assert refresh_target(content) == url


@pytest.mark.parametrize(
    "value, expected",
    [
        pytest.param("a 1x, b 2x", ["a", "b"], id="descriptors"),
        pytest.param("a, b", ["a", "b"], id="none"),
        pytest.param("a,b 2x", ["a,b"], id="comma-inside-a-url"),
        pytest.param("data:image/gif;base64,AA== 1x, b", ["data:image/gif;base64,AA==", "b"], id="data-url"),
        pytest.param("a foo(1, 2) 3x, b", ["a", "b"], id="parentheses"),
        pytest.param(" ,, a 1x ,", ["a"], id="stray-commas"),
        pytest.param("a 1x(", ["a"], id="unclosed-parenthesis"),
        pytest.param("", [], id="empty"),
        pytest.param(" , ,", [], id="commas-only"),
    ],
)
def test_srcset_is_cut_as_the_html_standard_says(value: str, expected: list[str]) -> None:
    assert list(srcset_urls(value)) == expected


@given(st.text(" ,()ax", max_size=60))
def test_no_srcset_gives_an_empty_url(value: str) -> None:
    assert all(url and not url.isspace() for url in srcset_urls(value))


PIECES = (
    b"<a href=|x|>|</a>|<img srcset='|'|<meta http-equiv=refresh content=|0;url=|<base href=//"
    b"|<template>|</template>|<svg>|<table>|<!--|\xff|[| "
)


@given(st.binary(max_size=1500) | st.lists(st.sampled_from(PIECES.split(b"|")), max_size=60).map(b"".join))
def test_any_bytes_give_absolute_links_numbered_in_order(body: bytes) -> None:
    found = extract(HtmlDocument.parse(body), PAGE, UrlResolver(), ALL).links
    assert [link.position for link in found] == list(range(len(found)))
    assert all(
        link.url.startswith(("http://", "https://")) and "#" not in link.url and len(link.text) <= MAX_TEXT for link in found
    )
