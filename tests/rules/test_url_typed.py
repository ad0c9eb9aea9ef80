"""URLs as people type them: the scheme they mean, or one sentence on what is wrong."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.rules.url import canonical, parse_typed_url

TEXTS = st.text(max_size=12) | st.text(alphabet=string.ascii_letters + string.digits + "/\\.:?#%@[]- é\udcff", max_size=24)


@pytest.mark.parametrize(
    "text,expected",
    [
        ("https://example.com/a", "https://example.com/a"),
        ("example.com", "https://example.com/"),
        ("  Example.com/A b \n", "https://example.com/A%20b"),
        ("\u3000example.com\u3000", "https://example.com/"),
        ("//example.com/x", "https://example.com/x"),
        ("example.com?x=http://b/", "https://example.com/?x=http://b/"),
        ("HTTP://Example.com#top", "http://example.com/"),
        ("http:example.com", "http://example.com/"),
        ("localhost", "http://localhost/"),
        ("localhost/a", "http://localhost/a"),
        ("localhost:8000/a", "http://localhost:8000/a"),
        ("app.localhost", "http://app.localhost/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("2130706433", "http://127.0.0.1/"),
        ("192.0.2.1:8080/x", "http://192.0.2.1:8080/x"),
        ("[::1]", "http://[::1]/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("https://[::1]", "https://[::1]/"),
        ("example.com:8080", "http://example.com:8080/"),
        ("example.com:443", "https://example.com/"),
        ("127.0.0.1:443", "https://127.0.0.1/"),
        ("intranet:81/x", "http://intranet:81/x"),
        ("日本.jp", "https://xn--wgv71a.jp/"),
        ("example.com/@me", "https://example.com/@me"),
    ],
)
def test_a_typed_url_gets_the_scheme_the_person_means(text: str, expected: str) -> None:
    assert parse_typed_url(text) == expected


@pytest.mark.parametrize(
    "text,says",
    [
        ("", "is empty"),
        (" \t\n", "is empty"),
        ("ftp://example.com/", "ftp: URLs cannot be crawled"),
        ("file:///etc/hosts", "file: URLs cannot be crawled"),
        ("mailto:me@example.com", "mailto: URLs cannot be crawled"),
        ("javascript:alert(1)", "javascript: URLs cannot be crawled"),
        ("tel:12345", "tel: URLs cannot be crawled"),
        ("C:\\pages", "c: URLs cannot be crawled"),
        ("http://", "has no host"),
        ("https://?x", "has no host"),
        ("/docs/", "has no host"),
        ("https://me:secret@example.com/", "--auth-username"),
        ("me:secret@example.com", "--auth-username"),
        ("me@example.com", "--auth-username"),
        ("http://example.com:99999/", "“99999” in “example.com:99999” is not a valid port"),
        ("example.com:http", "“http” in “example.com:http” is not a valid port"),
        ("example.com:0", "is not a valid port"),
        ("localhost:80a", "is not a valid port"),
        ("[::1]:70000", "is not a valid port"),
        ("http://[::1/", "not a valid IPv6 address"),
        ("http://[xyz]/", "not a valid IPv6 address"),
        ("::1", "Put an IPv6 address in brackets"),
        ("fe80::1", "Put an IPv6 address in brackets"),
        ("hello world", "“hello world” is not a valid host name"),
        ("http://[::1]x/", "is not a valid host name"),
        ("https://exa%zzmple/", "is not a valid host name"),
        ("256.256.256.256", "is not a valid host name"),
        ("..", "is not a valid host name"),
        ("example.com/\udcff", "is not valid UTF-8"),
    ],
)
def test_a_typed_url_that_cannot_be_used_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_typed_url(text)
    message = str(caught.value)
    assert says in message
    assert "secret" not in message
    assert message.endswith(".")
    assert "\n" not in message


@given(TEXTS)
def test_a_typed_url_is_canonical_or_refused(text: str) -> None:
    try:
        url = parse_typed_url(text)
    except UsageError:
        return
    assert canonical(url) == url
