"""References that cannot be what their author meant."""

from __future__ import annotations

import pytest

from tadoru.parse import link_problems
from tadoru.parse.html import HtmlDocument
from tadoru.parse.link_problems import BAD_MAIL, BAD_PHONE, MalformedLink, reference_problem
from tadoru.parse.links import extract
from tadoru.rules.url import UrlResolver

PAGE = "https://example.com/docs/page.html"


@pytest.mark.parametrize(
    "reference, problem",
    [
        ("htp://example.com/", link_problems.MISTYPED_SCHEME),
        ("htps://example.com/", link_problems.MISTYPED_SCHEME),
        ("hhtp://example.com/", link_problems.MISTYPED_SCHEME),
        ("HTTTPS://example.com/", link_problems.MISTYPED_SCHEME),
        ("ttps://example.com/", link_problems.MISTYPED_SCHEME),
        ("htpp//example.com/", link_problems.MISTYPED_SCHEME),
        ("http//example.com/", link_problems.MISSING_COLON),
        (" https//example.com/", link_problems.MISSING_COLON),
        ("https:example.com", link_problems.MISSING_SLASHES),
        ("http:/example.com", link_problems.MISSING_SLASHES),
        ("http://http://example.com", link_problems.DOUBLED_SCHEME),
        ("http://https//example.com", link_problems.DOUBLED_SCHEME),
        ("http://[::1", link_problems.UNPARSABLE),
        ("https://", link_problems.UNPARSABLE),
        ("http://example.com:99999/", link_problems.UNPARSABLE),
        ("//exa mple.com/", link_problems.UNPARSABLE),
        ("file:///C:/page.html", link_problems.LOCAL_FILE),
        ("C:\\page.html", link_problems.LOCAL_FILE),
        ("", link_problems.EMPTY),
        (" \n", link_problems.EMPTY),
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
        MalformedLink("htp://x.example/", "Bad one", 1, link_problems.MISTYPED_SCHEME),
        MalformedLink("http//y", "C", 1, link_problems.MISSING_COLON),
        MalformedLink("", "E", 1, link_problems.EMPTY),
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
