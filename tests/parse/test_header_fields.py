"""Header fields that speak about a page, and the width of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.header_fields import HeaderLink, ResponseCookie, RobotsDirective, cookies, directives, links, robots_tags
from tadoru.parse.text_width import columns, pixels

URL = "https://site.example/dir/page"


@pytest.mark.parametrize(
    "value, expected",
    [
        ('<https://a.example/>; rel="canonical"', [HeaderLink("https://a.example/", ("canonical",), "")]),
        ("</b>; rel=next", [HeaderLink("https://site.example/b", ("next",), "")]),
        ("<b>;rel=alternate;hreflang=DE-at", [HeaderLink("https://site.example/dir/b", ("alternate",), "de-at")]),
        (
            '<a>; rel="x Y"; title="c, <d>; rel=e", <f>; rel=g',
            [HeaderLink("https://site.example/dir/a", ("x", "y"), ""), HeaderLink("https://site.example/dir/f", ("g",), "")],
        ),
        ("<mailto:a@b.example>; rel=author", []),
        ("nonsense", []),
        ("", []),
    ],
)
def test_links_in_a_header(value: str, expected: list[HeaderLink]) -> None:
    assert list(links([value], URL)) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        ("noindex", [RobotsDirective("robots", "noindex", "")]),
        ("NoIndex , nofollow", [RobotsDirective("robots", "noindex", ""), RobotsDirective("robots", "nofollow", "")]),
        (
            "googlebot: noindex, nosnippet",
            [RobotsDirective("googlebot", "noindex", ""), RobotsDirective("googlebot", "nosnippet", "")],
        ),
        ("max-snippet: 20", [RobotsDirective("robots", "max-snippet", "20")]),
        ("max-snippet:-1, noindex", [RobotsDirective("robots", "max-snippet", "-1"), RobotsDirective("robots", "noindex", "")]),
        (
            "unavailable_after: Wed, 03 Dec 2031 13:09:53 GMT",
            [RobotsDirective("robots", "unavailable_after", "wed, 03 dec 2031 13:09:53 gmt")],
        ),
        (
            "unavailable_after: 2031-12-03, noindex",
            [RobotsDirective("robots", "unavailable_after", "2031-12-03"), RobotsDirective("robots", "noindex", "")],
        ),
        ("", []),
    ],
)
def test_robots_tags(value: str, expected: list[RobotsDirective]) -> None:
    assert list(robots_tags([value])) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        ("a=1", [ResponseCookie("a", False, False, "", False)]),
        ("a=1; Path=/; Secure; HttpOnly; SameSite=Lax", [ResponseCookie("a", True, True, "lax", False)]),
        ("a=secure; httponly", [ResponseCookie("a", False, True, "", False)]),
        ("a=; Max-Age=0", [ResponseCookie("a", False, False, "", True)]),
        ("a=; max-age=-1", [ResponseCookie("a", False, False, "", True)]),
        ("=1", []),
    ],
)
def test_cookies(value: str, expected: list[ResponseCookie]) -> None:
    assert list(cookies([value])) == expected


@given(st.text(alphabet='<>;,="\\ :relabc\t'))
def test_no_header_makes_reading_fail(value: str) -> None:
    links([value], URL)
    robots_tags([value])
    directives("robots", value)
    cookies([value])


@pytest.mark.parametrize("piece", ["<", "<>;", "<a>;a=", '<a>;a="', "; ", "a:"])
def test_a_hostile_header_is_read_in_linear_time(piece: str) -> None:
    links([piece * 50_000], URL)
    robots_tags([piece * 50_000])


@pytest.mark.parametrize(
    "text, width",
    [("", 0), ("iiii", 18), ("WWWW", 76), ("日本", 40), ("é", 11), ("e\u0301", 11), ("Ω", 11), ("Hello", 46)],
)
def test_the_width_of_a_title(text: str, width: int) -> None:
    assert pixels(text, 20) == width


@pytest.mark.parametrize("text, length", [("abc", 3), ("日本語", 6), ("é", 1), ("ﾊﾝ", 2), ("Ａ", 2)])
def test_the_length_of_a_text_in_columns(text: str, length: int) -> None:
    assert columns(text) == length
