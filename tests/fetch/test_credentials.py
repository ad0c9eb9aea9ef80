"""Secrets go to the origins they were given for and to no other."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.fetch.credentials import Credentials
from tadoru.fetch.http import build_http_fetcher
from tadoru.model.web import Headers, Request, Response
from tadoru.rules.address import Exemptions
from tests.support.site import Site

HERE = ["https://a.example"]
OTHERS = [
    pytest.param("http://a.example/", id="another scheme"),
    pytest.param("https://a.example:8443/", id="another port"),
    pytest.param("https://www.a.example/", id="a subdomain"),
    pytest.param("https://example/", id="the parent"),
    pytest.param("https://a.example.evil.test/", id="a name that begins the same"),
]
EVERYTHING = (
    Credentials()
    .with_basic(HERE, "me", "pä:ss")
    .with_api_key(HERE, "X-Key", "k3y")
    .with_cookies(HERE, ["sid=1", "theme=dark=er"])
    .with_headers(HERE, (("Accept-Language", "ja"),))
)


def test_the_named_origin_gets_all_of_it() -> None:
    headers = dict(EVERYTHING.for_url("https://a.example/deep/page?x"))
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode() == "me:pä:ss"
    assert headers["X-Key"] == "k3y"
    assert headers["Cookie"] == "sid=1; theme=dark=er"
    assert headers["Accept-Language"] == "ja"


@pytest.mark.parametrize("url", OTHERS)
def test_another_origin_gets_nothing(url: str) -> None:
    assert EVERYTHING.for_url(url) == ()


def test_a_bearer_token_is_sent_as_one() -> None:
    assert Credentials().with_bearer(HERE, "t0ken").for_url("https://a.example/") == (("Authorization", "Bearer t0ken"),)


def test_several_origins_may_share_one_secret() -> None:
    shared = Credentials().with_bearer(["https://a.example", "https://b.example:81"], "t")
    assert shared.for_url("https://b.example:81/x") == shared.for_url("https://a.example/") != ()


def test_no_credentials_are_false_and_add_nothing() -> None:
    assert not Credentials()
    assert Credentials().for_url("https://a.example/") == ()
    assert not Credentials().with_cookies(HERE, [])


def test_printing_shows_names_and_no_secret() -> None:
    full = EVERYTHING.with_cookie_file(".b.example\tTRUE\t/\tFALSE\t0\ttoken\tt0psecret\n", now=0)
    for text in (repr(full), str(full), str(full.redacted())):
        assert "X-Key" in text
        assert "token=***" in text
        assert not any(secret in text for secret in ("k3y", "sid=1", "t0psecret", "Basic"))
    assert "t0psecret" not in repr(full.cookies[0])


BAD_HEADERS = [
    pytest.param("Host", "evil", id="Host"),
    pytest.param("content-length", "5", id="Content-Length"),
    pytest.param("Connection", "close", id="Connection"),
    pytest.param("TRANSFER-ENCODING", "chunked", id="Transfer-Encoding"),
    pytest.param("X Key", "v", id="a space in the name"),
    pytest.param("", "v", id="no name"),
    pytest.param("X-Key", "s3cret\r\nHost: evil", id="a second header in the value"),
    pytest.param("X-Key", "s3cret\0", id="a null byte"),
]


@pytest.mark.parametrize("name, value", BAD_HEADERS)
def test_a_header_that_cannot_be_set_is_refused_without_its_value(name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        Credentials().with_headers(HERE, ((name, value),))
    assert "s3cret" not in str(caught.value)


@given(name=st.text(max_size=20), value=st.text(max_size=20))
def test_no_accepted_header_can_break_out_of_its_line(name: str, value: str) -> None:
    try:
        accepted = Credentials().with_headers(HERE, ((name, value),)).for_url("https://a.example/")
    except UsageError:
        return
    assert not any(sign in text for pair in accepted for text in pair for sign in "\r\n\0")


BAD_INPUT: list[Callable[[], object]] = [
    lambda: Credentials().with_basic(HERE, "a:b", "pw"),
    lambda: Credentials().with_bearer(HERE, "to\nken"),
    lambda: Credentials().with_cookies(HERE, ["novalue"]),
    lambda: Credentials().with_cookies(HERE, ["a=1; b=2"]),
    lambda: Credentials().with_cookie_file("a.example\tTRUE\t/\n", now=0),
    lambda: Credentials().with_cookie_file("a.example\tTRUE\t/\tFALSE\tsoon\tname\tvalue\n", now=0),
    lambda: Credentials().with_cookie_file("a.example\tTRUE\t/\tFALSE\t1.soon\tname\tvalue\n", now=0),
    lambda: Credentials().with_cookie_file("a.example\tTRUE\t/\tFALSE\t\N{SUPERSCRIPT TWO}\tname\tvalue\n", now=0),
]
WRONG = [
    "a colon in the user",
    "a token of two lines",
    "no equals sign",
    "two cookies in one",
    "too few fields",
    "an expiry in words",
    "an expiry that begins as a number",
    "an expiry in raised digits",
]


@pytest.mark.parametrize("make", BAD_INPUT, ids=WRONG)
def test_input_that_cannot_be_used_is_a_usage_error(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        make()


COOKIES = "\n".join(
    [
        "# Netscape HTTP Cookie File",
        "",
        ".a.example\tTRUE\t/\tFALSE\t0\twide\t1",
        "a.example\tFALSE\t/\tFALSE\t2000\tnarrow\t2",
        "#HttpOnly_a.example\tFALSE\t/\tTRUE\t2000\tsecure\t3",
        "a.example\tFALSE\t/shop\tFALSE\t2000\tshop\t4",
        "a.example\tFALSE\t/\tFALSE\t999\texpired\t5",
        "b.example\tFALSE\t/\tFALSE\t0\tother\t6",
    ]
)


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://a.example/", "wide=1; narrow=2; secure=3"),
        ("http://a.example/", "wide=1; narrow=2"),
        ("http://www.a.example/", "wide=1"),
        ("http://nota.example/", ""),
        ("http://a.example/shop", "wide=1; narrow=2; shop=4"),
        ("http://a.example/shop/cart", "wide=1; narrow=2; shop=4"),
        ("http://a.example/shopping", "wide=1; narrow=2"),
        ("http://b.example/", "other=6"),
    ],
)
def test_cookies_of_a_file_go_where_the_file_says(url: str, expected: str) -> None:
    headers = dict(Credentials().with_cookie_file(COOKIES, now=1000).for_url(url))
    assert headers.get("Cookie", "") == expected


async def fetched(site: Site, path: str, credentials: Credentials, headers: Headers = ()) -> dict[str, str]:
    fetcher = build_http_fetcher(user_agent="x", exemptions=Exemptions(allow_all=True), credentials=credentials)
    answer = await fetcher.fetch(Request(url=site.url(path), headers=headers))
    await fetcher.close()
    assert isinstance(answer, Response)
    return site.requests[-1].headers


async def test_the_built_fetcher_sends_them_to_their_origin_and_not_to_its_neighbour() -> None:
    async with Site() as mine, Site() as other:
        secret = Credentials().with_bearer([mine.base], "t").with_cookies([mine.base], ["a=1"])
        assert (await fetched(mine, "/", secret))["authorization"] == "Bearer t"
        seen = await fetched(other, "/", secret, headers=(("X-Own", "1"),))
        assert seen["x-own"] == "1"
        assert not {"authorization", "cookie"} & seen.keys()
