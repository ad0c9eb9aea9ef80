"""A session of cookies, kept by the rules of RFC 6265."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.fetch.credentials import MAX_PER_HOST, CookieJar, Credentials
from tadoru.fetch.http import build_http_fetcher
from tadoru.model.web import Request, Response
from tadoru.rules.address import Exemptions
from tests.support.clock import FakeClock
from tests.support.site import Site

START = 1735689600.0
"""The first of January 2025."""


def jar_after(url: str, *lines: str) -> CookieJar:
    jar = CookieJar(FakeClock(START))
    jar.store(Response(url=url, status=200, headers=tuple(("Set-Cookie", line) for line in lines)))
    return jar


SHOP = "https://shop.a.example/dir/page"

REACH = [
    ("id=1", SHOP, "id=1"),
    ("id=1", "https://shop.a.example/dir/other", "id=1"),
    ("id=1", "https://shop.a.example/", ""),
    ("id=1; Path=/", "https://shop.a.example/", "id=1"),
    ("id=1; Path=/dir/pa", SHOP, ""),
    ("id=1; Path=nonsense", SHOP, "id=1"),
    ("id=1; Path=/", "https://a.example/", ""),
    ("id=1; Path=/", "https://x.shop.a.example/", ""),
    ("id=1; Path=/; Domain=shop.a.example", "https://x.shop.a.example/", "id=1"),
    ("id=1; Path=/; Domain=.a.example", "https://a.example/", "id=1"),
    ("id=1; Path=/; DOMAIN=A.example", "https://other.a.example/", "id=1"),
    ("id=1; Path=/; Domain=a.example", "https://nota.example/", ""),
    ("id=1; Path=/; Domain=example", "https://shop.a.example/", ""),
    ("id=1; Path=/; Domain=b.example", "https://b.example/", ""),
    ("id=1; Path=/; Domain=x.shop.a.example", "https://x.shop.a.example/", ""),
    ("id=1; Path=/; Secure", "https://shop.a.example/", "id=1"),
    ("id=1; Path=/; Secure", "http://shop.a.example/", ""),
    ("id=1; Path=/", "http://shop.a.example/", "id=1"),
    ("id=1; Max-Age=10", SHOP, "id=1"),
    ("id=1; Max-Age=0", SHOP, ""),
    ("id=1; Max-Age=-" + "9" * 400, SHOP, ""),
    ("id=1; Max-Age=-" + "9" * 4000, SHOP, ""),
    ("id=1; Max-Age=" + "9" * 400, SHOP, "id=1"),
    ("id=1; Max-Age=" + "0" * 4000 + "; Expires=Wed, 01 Jan 2070 00:00:00 GMT", SHOP, ""),
    ("id=1; Max-Age=" + "9" * 4000 + "; Expires=Wed, 01 Jan 2020 00:00:00 GMT", SHOP, "id=1"),
    ("id=1; Max-Age=-\N{ARABIC-INDIC DIGIT NINE}", SHOP, "id=1"),
    ("id=1; Max-Age=\N{SUPERSCRIPT TWO}", SHOP, "id=1"),
    ("id=1; Expires=Wed, 01 Jan " + "9" * 4000 + " 00:00:00 GMT", SHOP, "id=1"),
    ("id=1; Expires=Wed, 01 Jan 0001 00:00:00 GMT", SHOP, ""),
    ("id=1; Expires=Wed, 31 Dec 9999 23:59:59 -2359", SHOP, "id=1"),
    ("id=1; Max-Age=-1", SHOP, ""),
    ("id=1; Expires=Wed, 01 Jan 2025 00:00:01 GMT", SHOP, "id=1"),
    ("id=1; Expires=Tue, 31-Dec-2024 23:59:59 GMT", SHOP, ""),
    ("id=1; Expires=Tue, 31 Dec 2024 23:59:59 GMT; Max-Age=5", SHOP, "id=1"),
    ("id=1; Expires=some day", SHOP, "id=1"),
    ("id=1; Expires=Mon, 01 Jan 99999999999 00:00:00 GMT", SHOP, "id=1"),
    ("id=1; Max-Age=" + "9" * 400, SHOP, "id=1"),
    ("id=1; Max-Age=²", SHOP, "id=1"),
    ("id=a=b==", SHOP, "id=a=b=="),
    ("no pair", SHOP, ""),
    ("=1", SHOP, ""),
    ("id=" + "x" * 5000, SHOP, ""),
]


@pytest.mark.parametrize("line, url, expected", REACH, ids=[f"{line[:60]} to {url}" for line, url, _ in REACH])
def test_where_a_cookie_set_by_the_shop_is_sent(line: str, url: str, expected: str) -> None:
    assert jar_after(SHOP, line).header(url) == expected


def test_a_cookie_for_a_public_suffix_reaches_nobody_else() -> None:
    jar = jar_after("https://me.github.io/", "id=1; Domain=github.io; Path=/")
    assert jar.header("https://you.github.io/") == ""
    jar = jar_after("https://github.io/", "id=1; Domain=github.io; Path=/")
    assert jar.header("https://you.github.io/") == ""


def test_an_address_has_no_domains_above_it() -> None:
    jar = jar_after("http://93.184.216.34/", "id=1; Domain=184.216.34; Path=/", "ok=1; Path=/")
    assert jar.header("http://93.184.216.34/") == "ok=1"
    assert jar.header("http://10.184.216.34/") == ""


def test_a_cookie_set_again_is_replaced_and_one_that_expired_is_gone() -> None:
    jar = jar_after(SHOP, "id=1", "other=2", "id=3")
    assert jar.header(SHOP) == "other=2; id=3"
    jar.store(Response(url=SHOP, status=200, headers=(("Set-Cookie", "other=; Max-Age=0"),)))
    assert jar.header(SHOP) == "id=3"


def test_a_cookie_expires_while_it_is_kept() -> None:
    clock = FakeClock(START)
    jar = CookieJar(clock)
    jar.store(Response(url=SHOP, status=200, headers=(("Set-Cookie", "id=1; Max-Age=10"),)))
    clock.advance(11)
    assert jar.header(SHOP) == ""


def test_the_longer_path_comes_first() -> None:
    assert jar_after(SHOP, "a=1; Path=/", "b=2; Path=/dir").header(SHOP) == "b=2; a=1"


def test_a_host_cannot_fill_the_memory() -> None:
    jar = jar_after(SHOP, *(f"c{number}=1" for number in range(MAX_PER_HOST + 5)))
    kept = jar.header(SHOP).split("; ")
    assert len(kept) == MAX_PER_HOST
    assert kept[-1] == f"c{MAX_PER_HOST + 4}=1"


@given(line=st.text(max_size=80))
def test_no_line_of_a_site_raises_or_breaks_out_of_the_header(line: str) -> None:
    header = jar_after(SHOP, line).header(SHOP)
    assert not any(sign in header for sign in "\r\n\0")


@given(day=st.integers(0, 99), year=st.integers(0, 99999), zone=st.text(max_size=6))
def test_no_expiry_raises(day: int, year: int, zone: str) -> None:
    jar_after(SHOP, f"id=1; Expires=Wed, {day:02} Jan {year} 00:00:00 {zone}", f"id=1; Max-Age={year * 10**9}").header(SHOP)


@pytest.mark.parametrize("keep, second", [(True, "given=1; id=7"), (False, "given=1; id=old")], ids=["kept", "not kept"])
async def test_the_built_fetcher_keeps_a_session_only_when_asked_and_the_newer_cookie_wins(keep: bool, second: str) -> None:
    async with Site() as site:
        site.reply("/", headers={"Set-Cookie": "id=7; Path=/"})
        given_too = Credentials().with_cookies([site.base], ["given=1", "id=old"])
        fetcher = build_http_fetcher(
            user_agent="x", exemptions=Exemptions.for_urls([site.url()]), credentials=given_too, keep_cookies=keep
        )
        for _ in range(2):
            await fetcher.fetch(Request(url=site.url()))
        await fetcher.close()
    assert [seen.headers["cookie"] for seen in site.requests] == ["given=1; id=old", second]
