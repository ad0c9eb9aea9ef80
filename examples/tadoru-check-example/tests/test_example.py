"""A check is a pure function: give it a page and look at what it found."""

from __future__ import annotations

import pytest
from tadoru_check_example import CHECKS, OLD_COPYRIGHT

from tadoru.jobs.audit.context import Limits, PageContext
from tadoru.model.web import Response, Timings
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import read_page
from tadoru.rules.url import UrlResolver

URL = "https://example.com/"


def details(html: str, status: int = 200) -> list[str]:
    """What the check finds on a page."""
    response = Response(
        url=URL, status=status, headers=(("Content-Type", "text/html; charset=utf-8"),), body=html.encode(), timings=Timings()
    )
    document = HtmlDocument.parse(response.body, "text/html; charset=utf-8")
    page = read_page(document, response, UrlResolver())
    context = PageContext(url=URL, limits=Limits(CHECKS.checks), answer=response, page=page)
    return [finding.detail for finding in CHECKS.run(context)]


@pytest.mark.parametrize(
    "html, expected",
    [
        ("<p>© 2019 Example</p>", ["2019"]),
        ("<p>&copy; 2011-2020 Example</p>", ["2020"]),
        ("<p>Copyright 2012–2018</p>", ["2018"]),
        ("<p>© 2024 Example</p>", []),
        ("<p>© Example</p>", []),
        ("<p>In 1999 we began.</p>", []),
    ],
)
def test_only_a_year_long_past_is_found(html: str, expected: list[str]) -> None:
    assert details(html) == expected


def test_an_error_page_is_not_checked() -> None:
    assert details("<p>© 2019</p>", status=404) == []


def test_the_texts_exist_in_both_languages() -> None:
    assert all((OLD_COPYRIGHT.title, OLD_COPYRIGHT.why, OLD_COPYRIGHT.fix))
    assert OLD_COPYRIGHT.japanese is not None
    assert all(OLD_COPYRIGHT.japanese)
