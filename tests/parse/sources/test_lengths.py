"""Sources whose base would be repeated in everything they name."""

from __future__ import annotations

import tracemalloc
from functools import partial

import pytest

from tadoru.parse.sources.feed import read_feed
from tadoru.parse.sources.html_page import HtmlSettings, read_html
from tadoru.parse.sources.raw_fields import absolute
from tests.support.oversized import LONG_NAME, feed_with_a_long_base

read_detail = partial(read_html, detail=True)
URL = "https://town.test/feeds/all.xml"
IGNORED = "An xml:base is longer than 2,083 characters: it is ignored."


def test_a_feeds_base_that_is_too_long_is_ignored_and_named() -> None:
    body = feed_with_a_long_base(5_000).encode()
    tracemalloc.start()
    try:
        reading = read_feed(body, "application/rss+xml", URL)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000
    assert [problem.reason for problem in reading.problems] == [IGNORED]
    assert [event.url for event in reading.events[:2]] == ["https://town.test/feeds/0", "https://town.test/feeds/1"]
    assert len(reading.events) == 5_000


def test_bases_within_bases_are_ignored_from_where_they_are_too_long() -> None:
    nested = "".join(f'<x xml:base="{"y" * 900}/">' for _ in range(5))
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{nested}<link href="z"/>{"</x>" * 5}<link href="a"/></entry></feed>'
    reading = read_feed(feed.encode(), "application/atom+xml", URL)
    assert [problem.reason for problem in reading.problems] == [IGNORED]
    assert reading.events[0].url == "https://town.test/feeds/a"


def test_a_feed_is_read_until_its_urls_are_too_long_in_all() -> None:
    items = "".join(f"<item><title>t</title><link>{number}</link><enclosure url='e'/></item>" for number in range(6_000))
    feed = f'<rss xml:base="/{"x" * 2_000}/"><channel>{items * 2}</channel></rss>'
    reading = read_feed(feed.encode(), "application/rss+xml", URL)
    (problem,) = reading.problems
    assert problem.reason in (
        "The URLs of the items have more than 20,000,000 characters; the rest is not read.",
        "There are more than 5000 items; the rest is not read.",
    )
    assert sum(len(event.url or "") for event in reading.events) <= 20_000_000


def test_a_url_that_is_too_long_is_none() -> None:
    assert absolute("/a#b", URL) == "https://town.test/a#b"
    assert absolute("/" + "a" * 8_000, URL) is None
    assert absolute("/a#" + "b" * 8_000, URL) is None


@pytest.mark.parametrize("read", [read_html, read_detail])
def test_a_pages_base_that_is_too_long_is_named(read: object) -> None:
    settings = HtmlSettings.from_mapping({"item": "li", "fields": {"title": "b", "start": "i", "url": "a::attr(href)"}})
    page = f'<base href="/{LONG_NAME}/"><ul><li><b>Fair</b> <i>2031-05-01</i> <a href="fair">more</a></ul>'
    assert callable(read)
    reading = read(page.encode(), "text/html", URL, settings)
    assert any("the base URL is longer than 2,083 characters" in problem.reason for problem in reading.problems)
    assert reading.events[0].url == "https://town.test/feeds/fair"
