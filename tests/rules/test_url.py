"""Absolute URLs: cases written from the WHATWG URL standard, and the canonical form on top of it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.url import (
    UrlCleaner,
    UrlParts,
    UrlResolver,
    canonical,
    host_key,
    origin,
    split_url,
    with_parameter,
    without_parameters,
)

TRACKING = UrlCleaner(strip_tracking=True)
SESSIONS = UrlCleaner(strip_sessions=True)
BOTH = UrlCleaner(strip_tracking=True, strip_sessions=True)

ABSOLUTE = {
    # scheme, slashes and case
    "plain": ("http://example.com/", "http://example.com/"),
    "no path gets a slash": ("http://example.com", "http://example.com/"),
    "upper-case scheme": ("HTTP://example.com/", "http://example.com/"),
    "upper-case host": ("http://EXAMPLE.Com/Path", "http://example.com/Path"),
    "path keeps its case": ("https://example.com/A/b", "https://example.com/A/b"),
    "scheme without slashes": ("http:example.com/a", "http://example.com/a"),
    "scheme with one slash": ("https:/example.com/a", "https://example.com/a"),
    "scheme with many slashes": ("http://///example.com/a", "http://example.com/a"),
    "backslashes for slashes": ("http:\\\\example.com\\a\\b", "http://example.com/a/b"),
    "backslash in the query stays": ("http://example.com/?a\\b", "http://example.com/?a\\b"),
    # white space and controls
    "spaces around": ("  http://example.com/  ", "http://example.com/"),
    "controls around": ("\x00\x1fhttp://example.com/\x0b\x0c", "http://example.com/"),
    "tabs and newlines within": ("ht\ntp://exa\tmple.com/a\r\nb", "http://example.com/ab"),
    "space in the path": ("http://example.com/a b", "http://example.com/a%20b"),
    "space in the query": ("http://example.com/?a b", "http://example.com/?a%20b"),
    "control in the path": ("http://example.com/a\x01b", "http://example.com/a%01b"),
    "delete sign in the path": ("http://example.com/a\x7fb", "http://example.com/a%7Fb"),
    # dot segments
    "single dot": ("http://example.com/a/./b", "http://example.com/a/b"),
    "double dot": ("http://example.com/a/../b", "http://example.com/b"),
    "trailing single dot": ("http://example.com/a/.", "http://example.com/a/"),
    "trailing double dot": ("http://example.com/a/b/..", "http://example.com/a/"),
    "beyond the root": ("http://example.com/../../a", "http://example.com/a"),
    "escaped single dot": ("http://example.com/a/%2e/b", "http://example.com/a/b"),
    "escaped double dot": ("http://example.com/a/%2E%2e/b", "http://example.com/b"),
    "half escaped double dot": ("http://example.com/a/.%2e/b", "http://example.com/b"),
    "three dots are a name": ("http://example.com/a/.../b", "http://example.com/a/.../b"),
    "dot at the start of a name": ("http://example.com/.well-known/x", "http://example.com/.well-known/x"),
    "dots in the query stay": ("http://example.com/?a/../b", "http://example.com/?a/../b"),
    "empty segments stay": ("http://example.com//a///b", "http://example.com//a///b"),
    "double dot eats an empty segment": ("http://example.com/a//../b", "http://example.com/a/b"),
    "backslash double dot": ("http://example.com/a\\..\\b", "http://example.com/b"),
    # ports
    "default http port": ("http://example.com:80/", "http://example.com/"),
    "default https port": ("https://example.com:443/", "https://example.com/"),
    "http on the https port": ("http://example.com:443/", "http://example.com:443/"),
    "https on the http port": ("https://example.com:80/", "https://example.com:80/"),
    "other port": ("http://example.com:8080/", "http://example.com:8080/"),
    "port with zeros": ("http://example.com:0008080/", "http://example.com:8080/"),
    "default port with zeros": ("http://example.com:00080/", "http://example.com/"),
    "empty port": ("http://example.com:/a", "http://example.com/a"),
    "highest port": ("http://example.com:65535/", "http://example.com:65535/"),
    # query and fragment
    "fragment dropped": ("http://example.com/a#b", "http://example.com/a"),
    "empty fragment dropped": ("http://example.com/a#", "http://example.com/a"),
    "fragment with a question mark": ("http://example.com/a#b?c", "http://example.com/a"),
    "empty query dropped": ("http://example.com/a?", "http://example.com/a"),
    "empty query before a fragment dropped": ("http://example.com/a?#b", "http://example.com/a"),
    "query of one question mark stays": ("http://example.com/a??", "http://example.com/a??"),
    "query without a path": ("http://example.com?a=1", "http://example.com/?a=1"),
    "fragment without a path": ("http://example.com#a", "http://example.com/"),
    "order of parameters kept": ("http://example.com/?b=2&a=1&b=1", "http://example.com/?b=2&a=1&b=1"),
    "empty parameters kept": ("http://example.com/?&&a", "http://example.com/?&&a"),
    "plus stays a plus": ("http://example.com/a+b?c+d", "http://example.com/a+b?c+d"),
    "semicolons stay": ("http://example.com/a;b=1?c;d", "http://example.com/a;b=1?c;d"),
    # percent-encoding
    "lower-case hex": ("http://example.com/%e3%81%82", "http://example.com/%E3%81%82"),
    "unreserved decoded": ("http://example.com/%7Euser/%41%2D%2E%5F", "http://example.com/~user/A-._"),
    "unreserved decoded in the query": ("http://example.com/?%61=%7e", "http://example.com/?a=~"),
    "escaped slash stays": ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    "escaped question mark stays": ("http://example.com/a%3fb", "http://example.com/a%3Fb"),
    "escaped hash stays": ("http://example.com/a%23b", "http://example.com/a%23b"),
    "escaped ampersand stays": ("http://example.com/?a=%26&b", "http://example.com/?a=%26&b"),
    "escaped percent is decoded never": ("http://example.com/%2541", "http://example.com/%2541"),
    "stray percent stays": ("http://example.com/100%", "http://example.com/100%"),
    "stray percent before letters": ("http://example.com/%zz", "http://example.com/%zz"),
    "decoding makes no new escape": ("http://example.com/%%34%31", "http://example.com/%%341"),
    "decoding completes no escape": ("http://example.com/%4%31", "http://example.com/%4%31"),
    "double quote in the path": ('http://example.com/a"b', "http://example.com/a%22b"),
    "angle brackets in the path": ("http://example.com/<a>", "http://example.com/%3Ca%3E"),
    "braces in the path": ("http://example.com/{a}", "http://example.com/%7Ba%7D"),
    "backquote in the path": ("http://example.com/`a", "http://example.com/%60a"),
    "caret in the path": ("http://example.com/a^b", "http://example.com/a%5Eb"),
    "pipe in the path stays": ("http://example.com/a|b", "http://example.com/a|b"),
    "square brackets in the path stay": ("http://example.com/[a]", "http://example.com/[a]"),
    "apostrophe in the path stays": ("http://example.com/it's", "http://example.com/it's"),
    "apostrophe in the query": ("http://example.com/?it's", "http://example.com/?it%27s"),
    "braces in the query stay": ("http://example.com/?{a}", "http://example.com/?{a}"),
    "angle brackets in the query": ("http://example.com/?<a>", "http://example.com/?%3Ca%3E"),
    "at and colon in the path stay": ("http://example.com/@me:you", "http://example.com/@me:you"),
    "at in the query stays": ("http://example.com/?m=a@b.:c", "http://example.com/?m=a@b.:c"),
    # beyond ASCII
    "non-ASCII path": ("http://example.com/café", "http://example.com/caf%C3%A9"),
    "non-ASCII query": ("http://example.com/?q=日本", "http://example.com/?q=%E6%97%A5%E6%9C%AC"),
    "emoji path": ("http://example.com/🦀", "http://example.com/%F0%9F%A6%80"),
    "decomposed letters are not composed": ("http://example.com/e\u0301", "http://example.com/e%CC%81"),
    "IDNA host": ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    "IDNA host in upper case": ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    "punycode host stays": ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
    "Japanese host": ("http://日本.jp/", "http://xn--wgv71a.jp/"),
    "ideographic full stop": ("http://example。com/", "http://example.com/"),
    "full-width letters": ("http://ｅｘａｍｐｌｅ.com/", "http://example.com/"),
    "sharp s is kept apart": ("http://faß.example/", "http://xn--fa-hia.example/"),
    "escaped host": ("http://ex%61mple.com/", "http://example.com/"),
    "escaped non-ASCII host": ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
    "soft hyphen in the host": ("http://exam\u00adple.com/", "http://example.com/"),
    "underscore in the host": ("http://a_b.example/", "http://a_b.example/"),
    # the end of the host
    "trailing dot of the host": ("http://example.com./a", "http://example.com/a"),
    "trailing dot before a port": ("http://example.com.:8080/a", "http://example.com:8080/a"),
    "trailing dot before the default port": ("http://example.com.:80/", "http://example.com/"),
    # user information
    "user": ("http://me@example.com/a", "http://example.com/a"),
    "user and password": ("http://me:pw@example.com:81/a", "http://example.com:81/a"),
    "several at signs": ("http://a@b@example.com/", "http://example.com/"),
    "user, password and a trailing dot": ("http://me.:pw@example.com./", "http://example.com/"),
    "user before an IPv6 address": ("http://me@[::1]:81/", "http://[::1]:81/"),
    # IPv4
    "IPv4": ("http://192.0.2.1/", "http://192.0.2.1/"),
    "IPv4 with a trailing dot": ("http://192.0.2.1./", "http://192.0.2.1/"),
    "IPv4 as one number": ("http://2130706433/", "http://127.0.0.1/"),
    "IPv4 as one hexadecimal number": ("http://0x7f000001/", "http://127.0.0.1/"),
    "IPv4 as one octal number": ("http://017700000001/", "http://127.0.0.1/"),
    "IPv4 hexadecimal and short": ("http://0x7f.1/", "http://127.0.0.1/"),
    "IPv4 with octal parts": ("http://0300.0250.01.02/", "http://192.168.1.2/"),
    "IPv4 of two parts": ("http://127.1/", "http://127.0.0.1/"),
    "IPv4 of three parts": ("http://192.168.257/", "http://192.168.1.1/"),
    "IPv4 highest number": ("http://4294967295/", "http://255.255.255.255/"),
    "IPv4 empty hexadecimal": ("http://0x/", "http://0.0.0.0/"),
    "IPv4 in full-width digits": ("http://１２７.０.０.１/", "http://127.0.0.1/"),
    "IPv4 with escaped dots": ("http://127%2e0%2e0%2e1/", "http://127.0.0.1/"),
    "IPv4 metadata as a number": ("http://2852039166/", "http://169.254.169.254/"),
    "five numbers that end in a name": ("http://1.2.3.4.a/", "http://1.2.3.4.a/"),
    # IPv6
    "IPv6 loopback": ("http://[::1]/", "http://[::1]/"),
    "IPv6 in full": ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
    "IPv6 upper case and zeros": ("http://[2001:0DB8:0000::00FF]/", "http://[2001:db8::ff]/"),
    "IPv6 longest run compressed": ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
    "IPv6 first of two runs compressed": ("http://[1:0:0:2:3:0:0:4]/", "http://[1::2:3:0:0:4]/"),
    "IPv6 single zero not compressed": ("http://[1:2:3:0:5:6:7:8]/", "http://[1:2:3:0:5:6:7:8]/"),
    "IPv6 unspecified": ("http://[::]/", "http://[::]/"),
    "IPv6 v4-mapped": ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    "IPv6 with a port": ("http://[::1]:8080/", "http://[::1]:8080/"),
    "IPv6 with the default port": ("https://[::1]:443/a", "https://[::1]/a"),
}

REFUSED = {
    "empty": "",
    "relative without a base": "a/b.html",
    "scheme-relative without a base": "//example.com/",
    "fragment without a base": "#a",
    "no host": "http://",
    "no host but a path of slashes": "http:///",
    "no host but a port": "http://:80/",
    "no host but a user": "http://me@/",
    "space in the host": "http://exa mple.com/",
    "escaped space in the host": "http://exa%20mple.com/",
    "escaped slash in the host": "http://exa%2Fmple.com/",
    "angle bracket in the host": "http://exa<mple.com/",
    "caret in the host": "http://exa^mple.com/",
    "pipe in the host": "http://exa|mple.com/",
    "percent in the host": "http://exa%mple.com/",
    "NUL in the host": "http://exa\x00mple.com/",
    "punycode label beyond ASCII": "http://a.xn--ü/",
    "replacement sign in the host": "http://\ufffd.example/",
    "joiner out of place in the host": "http://a\u200db.example/",
    "host of only a soft hyphen": "http://\u00ad/",
    "port too high": "http://example.com:65536/",
    "port with a letter": "http://example.com:8a/",
    "negative port": "http://example.com:-80/",
    "IPv4 number too high": "http://4294967296/",
    "IPv4 part too high": "http://256.0.0.1/",
    "IPv4 last part too high": "http://1.2.3.256/",
    "IPv4 of five parts": "http://1.2.3.4.5/",
    "IPv4 with a bad octal digit": "http://09.0.0.1/",
    "name that ends in a number": "http://example.1/",
    "IPv6 not closed": "http://[::1/",
    "IPv6 with two compressions": "http://[1::2::3]/",
    "IPv6 too long": "http://[1:2:3:4:5:6:7:8:9]/",
    "IPv6 too short": "http://[1:2:3]/",
    "IPv6 with a zone": "http://[fe80::1%25eth0]/",
    "IPv6 group too long": "http://[12345::]/",
    "IPv6 followed by text": "http://[::1]a/",
    "text in brackets": "http://[example.com]/",
    "host of one dot": "http://./",
    "host that ends in two dots": "http://example.com../",
    "number that ends in two dots": "http://2130706433../",
    "mail": "mailto:me@example.com",
    "script": "javascript:alert(1)",
    "data": "data:text/html,<p>a",
    "telephone": "tel:+81312345678",
    "ftp": "ftp://example.com/a",
    "file": "file:///etc/hosts",
    "WebSocket": "wss://example.com/",
    "blob": "blob:https://example.com/1",
    "about": "about:blank",
    "lone surrogate": "http://example.com/\ud800",
}


@pytest.mark.parametrize("text,expected", ABSOLUTE.values(), ids=ABSOLUTE)
def test_an_absolute_url_has_one_canonical_form(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_an_http_url_has_no_canonical_form(text: str) -> None:
    assert canonical(text) is None


@pytest.mark.parametrize(
    "cleaning,url,expected",
    [
        (TRACKING, "http://a.example/?utm_source=x&id=1&UTM_Medium=y", "http://a.example/?id=1"),
        (TRACKING, "http://a.example/?gclid=1&fbclid=2&msclkid=3&mc_cid=4&mc_eid=5", "http://a.example/"),
        (TRACKING, "http://a.example/?yclid=1&_ga=2&_gl=3&igshid=4&a=5", "http://a.example/?a=5"),
        (TRACKING, "http://a.example/?%75tm_source=x", "http://a.example/"),
        (TRACKING, "http://a.example/?b=2&utm_x&a=1&&c", "http://a.example/?b=2&a=1&&c"),
        (TRACKING, "http://a.example/?sid=1&gclidx=2", "http://a.example/?sid=1&gclidx=2"),
        (SESSIONS, "http://a.example/?PHPSESSID=1&a=2", "http://a.example/?a=2"),
        (SESSIONS, "http://a.example/?sid=1&sessionid=2&session_id=3&CFID=4&CFTOKEN=5", "http://a.example/"),
        (SESSIONS, "http://a.example/?ASPSESSIONIDQQABC=1", "http://a.example/"),
        (SESSIONS, "http://a.example/x.jsp;jsessionid=0A1B?a=1", "http://a.example/x.jsp?a=1"),
        (SESSIONS, "http://a.example/x;JSESSIONID=0A1B;v=2/y", "http://a.example/x;v=2/y"),
        (SESSIONS, "http://a.example/b/..;jsessionid=1", "http://a.example/"),
        (SESSIONS, "http://;jsessionid=1/b;jsessionid=2", "http://;jsessionid=1/b"),
        (SESSIONS, "http://a.example/?side=1&utm_source=2", "http://a.example/?side=1&utm_source=2"),
        (BOTH, "http://a.example/;jsessionid=1?sid=2&utm_id=3", "http://a.example/"),
        (UrlCleaner(), "http://a.example/;jsessionid=1?sid=2&utm_id=3", "http://a.example/;jsessionid=1?sid=2&utm_id=3"),
    ],
)
def test_cleaning_removes_only_what_it_was_asked_to(cleaning: UrlCleaner, url: str, expected: str) -> None:
    assert canonical(url, cleaning=cleaning) == expected
    assert UrlResolver(cleaning).resolve(url, "http://b.example/") == (expected, "")


@pytest.mark.parametrize(
    "url,expected,key,start",
    [
        ("http://a.example/", UrlParts("http", "a.example", 80, "/", ""), "a.example", "http://a.example"),
        ("https://a.example/b?c=d?e", UrlParts("https", "a.example", 443, "/b", "c=d?e"), "a.example", "https://a.example"),
        ("http://a.example:81/b//", UrlParts("http", "a.example", 81, "/b//", ""), "a.example:81", "http://a.example:81"),
        ("http://[::1]/", UrlParts("http", "[::1]", 80, "/", ""), "[::1]", "http://[::1]"),
        ("https://[::1]:80/?a://b/", UrlParts("https", "[::1]", 80, "/", "a://b/"), "[::1]:80", "https://[::1]:80"),
        ("http://a.example:443/", UrlParts("http", "a.example", 443, "/", ""), "a.example:443", "http://a.example:443"),
    ],
)
def test_a_canonical_url_falls_into_parts(url: str, expected: UrlParts, key: str, start: str) -> None:
    assert split_url(url) == expected
    assert host_key(url) == key
    assert origin(url) == start


def test_http_and_https_of_a_host_are_one_site() -> None:
    assert host_key("http://a.example/") == host_key("https://a.example/") != host_key("http://a.example:8080/")


URLISH = st.text(alphabet=string.ascii_letters + string.digits + "/\\.:;?#&=%@[]~-_+ \t\n\"'<>é日\u3002", max_size=24)
WORDS = ["http:", "https:", "//", "..", "%2e", "%%", "%4", "%41", "%7e", "41", "127.1", "[::1]", ":80", "a.example"]
PARAMETERS = ["utm_a=1", "sid=2", ";jsessionid=3"]
PIECES = st.lists(st.sampled_from([*"/\\.%?#&=:@ \t;~aé\ud800", *WORDS, *PARAMETERS]), max_size=10).map("".join)
TEXTS = st.one_of(URLISH, PIECES, st.text(max_size=12))
CLEANINGS = st.sampled_from([UrlCleaner(), TRACKING, SESSIONS, BOTH])


@given(TEXTS, CLEANINGS)
def test_the_canonical_form_of_a_canonical_url_is_itself(text: str, cleaning: UrlCleaner) -> None:
    for start in ("http://a.example/", "http://", "http://a.example/?", "http://a.example/a/b;"):
        url = canonical(start + text, cleaning=cleaning)
        if url is not None:
            assert canonical(url, cleaning=cleaning) == url
            assert url.isascii()
            assert "#" not in url
            assert "@" not in origin(url)


@given(TEXTS, CLEANINGS)
def test_the_parts_of_a_canonical_url_make_it_up_again(text: str, cleaning: UrlCleaner) -> None:
    url = canonical("http://" + text, cleaning=cleaning)
    if url is not None:
        scheme, _, _, path, query = split_url(url)
        assert f"{scheme}://{host_key(url)}{path}{'?' if query else ''}{query}" == url


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://a.test/e", "https://a.test/e?p=1"),
        ("https://a.test/e?", "https://a.test/e?p=1"),
        ("https://a.test/e?x=%E6%98%9F&p=9&y", "https://a.test/e?x=%E6%98%9F&y&p=1"),
        ("https://a.test/e?p=2&p=3#part", "https://a.test/e?p=1"),
    ],
)
def test_one_parameter_is_set_and_the_others_stay(url: str, expected: str) -> None:
    assert with_parameter(url, "p", "1") == expected


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://a.test/e?key=s&x=1", "https://a.test/e?x=1"),
        ("https://a.test/e?x=1&%6Bey=s#part", "https://a.test/e?x=1#part"),
        ("https://a.test/e?key=s", "https://a.test/e"),
        ("https://a.test/e?keys=s", "https://a.test/e?keys=s"),
    ],
)
def test_a_parameter_is_removed_from_a_url(url: str, expected: str) -> None:
    assert without_parameters(url, lambda name, _: name == "key") == expected
