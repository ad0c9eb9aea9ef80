"""References that cannot be what their author meant."""

from __future__ import annotations

import pytest

from tadoru.parse import links
from tadoru.parse.html import HtmlDocument
from tadoru.parse.links import BAD_MAIL, BAD_PHONE, MalformedLink, extract, reference_problem
from tadoru.rules.url import UrlResolver

PAGE = "https://example.com/docs/page.html"


@pytest.mark.parametrize(
    "reference, problem",
    [
        ("htp://example.com/", links.MISTYPED_SCHEME),
        ("htps://example.com/", links.MISTYPED_SCHEME),
        ("hhtp://example.com/", links.MISTYPED_SCHEME),
        ("HTTTPS://example.com/", links.MISTYPED_SCHEME),
        ("ttps://example.com/", links.MISTYPED_SCHEME),
        ("htpp//example.com/", links.MISTYPED_SCHEME),
        ("http//example.com/", links.MISSING_COLON),
        (" https//example.com/", links.MISSING_COLON),
        ("https:example.com", links.MISSING_SLASHES),
        ("http:/example.com", links.MISSING_SLASHES),
        ("http://http://example.com", links.DOUBLED_SCHEME),
        ("http://https//example.com", links.DOUBLED_SCHEME),
        ("http://[::1", links.UNPARSABLE),
        ("https://", links.UNPARSABLE),
        ("http://example.com:99999/", links.UNPARSABLE),
        ("//exa mple.com/", links.UNPARSABLE),
        ("file:///C:/page.html", links.LOCAL_FILE),
        ("C:\\page.html", links.LOCAL_FILE),
        ("", links.EMPTY),
        (" \n", links.EMPTY),
    ],
)
def test_a_wrong_reference_has_a_problem(reference: str, problem: str) -> None:
    leads = UrlResolver().resolve(reference, PAGE) is not None
    assert reference_problem(reference, leads=leads) == problem


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/", "http:\\\\example.com", "//example.com/", "/http/", "http/index.html", "https.html",
        "page", "#", "?http://x", "mailto:a@b.example", "tel:+81", "ftp://example.com/", "sftp://x", "shttp://x", "data:,x",
        "javascript:x", "whatsapp://send", "intent:x", "htm/", "htp/notes.html", "../https//x",
    ],
)  # fmt: skip
def test_other_references_have_none(reference: str) -> None:
    leads = UrlResolver().resolve(reference, PAGE) is not None
    assert reference_problem(reference, leads=leads) is None


def test_a_malformed_link_is_kept_with_its_text_and_place_and_is_not_followed() -> None:
    markup = (
        '<a href=a>A</a><a href="htp://x.example/">Bad <b>one</b></a><a href="http//y">C</a><img src="http://["><a href="">E</a>'
    )
    found = extract(HtmlDocument.parse(markup.encode()), PAGE, UrlResolver())
    assert [link.url for link in found.links] == ["https://example.com/docs/a", PAGE]
    assert found.malformed == [
        MalformedLink("htp://x.example/", "Bad one", 1, links.MISTYPED_SCHEME),
        MalformedLink("http//y", "C", 1, links.MISSING_COLON),
        MalformedLink("", "E", 1, links.EMPTY),
    ]


def test_each_occurrence_of_a_malformed_link_is_kept() -> None:
    markup = '<a href="http://[#a">1</a><a href="http://[#b">2</a><a href="#">3</a><a href="">4</a><a href=""></a>'
    found = extract(HtmlDocument.parse(markup.encode()), PAGE, UrlResolver())
    assert [(link.href, link.text) for link in found.malformed] == [("http://[#a", "1"), ("http://[#b", "2"), ("", "4")]


@pytest.mark.parametrize(
    "reference",
    [
        "mailto:a@b.example", "mailto:a@b.example,c@d.example?subject=x", "mailto:?to=a@b.example", "MAILTO:%20a@日本.example",
        "tel:+81-3-1234-5678", "tel:%28555%29%20123.4567", "tel:110", "tel:*31#5551234", "tel:+15551234567;ext=5",
    ],
)  # fmt: skip
def test_mail_addresses_and_phone_numbers_are_read(reference: str) -> None:
    assert reference_problem(reference, leads=False) is None


@pytest.mark.parametrize(
    "reference, problem",
    [
        ("mailto:", BAD_MAIL), ("mailto:a", BAD_MAIL), ("mailto:a b@c.example", BAD_MAIL), ("mailto:a@b.example,c", BAD_MAIL),
        ("mailto:a@.example", BAD_MAIL), ("tel:", BAD_PHONE), ("tel:call", BAD_PHONE), ("tel:555-FLOWERS", BAD_PHONE),
    ],
)  # fmt: skip
def test_what_is_no_mail_address_or_phone_number_is_told(reference: str, problem: str) -> None:
    assert reference_problem(reference, leads=False) == problem
