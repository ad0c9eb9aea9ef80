"""What is nested without end: every reader of what strangers wrote ends, raises nothing, and says what it left out."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest

from tadoru.config.options import AuditOptions
from tadoru.engine.job import FetchedPage
from tadoru.jobs.audit.run import build_job
from tadoru.jobs.crawl_setup import build_scope
from tadoru.jobs.docs.job import read_doc_page
from tadoru.model.web import Response, Timings
from tadoru.parse import lenient_json, sitemap
from tadoru.parse.complexity import PageTooComplex, check
from tadoru.parse.html import HtmlDocument
from tadoru.parse.sources.api import ApiSettings, read_api
from tadoru.parse.sources.feed import read_feed
from tadoru.parse.sources.html_page import HtmlSettings, read_html
from tadoru.parse.sources.schema_org import read_schema_org
from tadoru.parse.structured import DEEPEST, ReadingRules, StructuredThing, read_structured
from tadoru.rules.url import UrlResolver
from tadoru.store.crawl.records import PageRecords

URL = "https://town.example/"
DEEP = 5_000
EVENT = "itemscope itemtype='https://schema.org/Event'"


def audited(body: bytes) -> PageRecords:
    """What an audit keeps of a page, with every check run over it."""
    job = build_job(AuditOptions(), build_scope(AuditOptions(), [URL]))
    response = Response(url=URL, status=200, headers=(("Content-Type", "text/html"),), body=body, timings=Timings())
    found = job.handle(FetchedPage(url=URL, depth=0, response=response))
    assert isinstance(found.records, PageRecords)
    json.dumps(found.records.items)
    return found.records


READERS: dict[str, Callable[[bytes], object]] = {
    "an audit": audited,
    "documentation": lambda body: read_doc_page(body, "text/html", URL, UrlResolver()),
    "structured data": lambda body: read_structured(HtmlDocument.parse(body, "text/html"), ReadingRules(is_lenient=True)),
    "events by markup": lambda body: read_schema_org(body, "text/html", URL),
    "events by selectors": lambda body: read_html(
        body, "text/html", URL, HtmlSettings.from_mapping({"item": "div", "fields": {"title": ".", "start": "b"}})
    ),
}


def nested(start: str, depth: int = DEEP, end: str = "") -> bytes:
    return f"<!doctype html><title>Deep</title><body>{start * depth}Text{end * depth}".encode()


PAGES = {
    "elements": nested("<div>", end="</div>"),
    "elements, ten times as deep": nested("<div>", 10 * DEEP),
    "inline elements": nested("<b><i>"),
    "lists": nested("<ul><li>x"),
    "definitions": nested("<dl><dd>"),
    "tables": nested("<table><tr><td>"),
    "quotations": nested("<blockquote>"),
    "sections": nested("<section><h2>x</h2>"),
    "code": nested("<pre><code><span>"),
    "formulas": nested("<math><mrow><msqrt>"),
    "pictures": nested("<svg><g>"),
    "links": nested("<a href=/x><div>"),
    "microdata": nested(f"<div {EVENT} itemprop='superEvent'><i itemprop=name>x</i>"),
    "microdata with many names": nested(f"<div {EVENT} itemprop='a b c d'>"),
    "microdata, four times as deep": nested(f"<div {EVENT} itemprop='superEvent'>", 4 * DEEP),
    "RDFa": nested("<div vocab='https://schema.org/' typeof='Event' property='superEvent'>"),
    "items that name themselves": nested(f"<div id=a {EVENT} itemref=a itemprop=superEvent><i itemprop=name>x</i></div>", 1),
    "items that name each other": "".join(
        f"<div id=i{one} {EVENT} itemprop=superEvent itemref=i{(one + 1) % 400}></div>" for one in range(400)
    ).encode(),
    "items that name the one before": "".join(
        f"<div id=i{one} {EVENT} itemprop=superEvent itemref=i{one - 1}></div>" for one in range(400)
    ).encode(),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_a_page_that_is_nested_without_end_is_read(reader: Callable[[bytes], object], body: bytes) -> None:
    with suppress(PageTooComplex):  # Told as such: the parser itself would take too long.
        reader(body)


def depth_of(item: StructuredThing) -> int:
    """How many items are within each other; itself a way through a bounded tree."""
    inner = [value for values in item.properties.values() for value in values if isinstance(value, StructuredThing)]
    return 1 + max(map(depth_of, inner), default=0)


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith(("items", "microdata, four", "RDFa"))])
def test_items_of_markup_are_trees_of_bounded_depth_and_none_is_lost(name: str) -> None:
    items = read_structured(HtmlDocument.parse(PAGES[name], "text/html")).items
    assert len(items) in (1, 400, 500)
    assert max(map(depth_of, items)) <= DEEPEST
    cut = [value for item in items for values in item.properties.values() for value in values if value == "…"]
    assert len(cut) >= sum(not item.is_nested for item in items) - 1


def test_an_item_that_has_many_names_is_kept_within_bounds() -> None:
    records = audited(PAGES["microdata with many names"])
    assert all(len(json.dumps(item.properties)) < 500_000 for item in records.items)


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"@type":"Event","superEvent":', "}"), ('{"@graph":[', "]}")])
def test_json_of_any_depth_is_read_or_told(opening: str, closing: str) -> None:
    """Most of all where it can be read only just, and there is no room left for whoever goes through it."""
    for depth in (*range(15, 25), *range(300, 1_000, 7), *range(880, 1_000), DEEP, 10 * DEEP):
        text = f"{opening * depth}1{closing * depth}"
        inner = f'{{"@context":"https://schema.org","@type":"Event","name":"x","about":{text}}}'
        page = f"<script type='application/ld+json'>{inner}</script>".encode()
        read_structured(HtmlDocument.parse(page, "text/html"))
        read_schema_org(page, "text/html", URL)
        settings = ApiSettings.from_mapping({"items": "items", "fields": {"title": "title", "start": "start"}})
        read_api(f'{{"items":[{{"title":{text},"start":"2050-01-01"}}]}}'.encode(), "application/json", URL, settings)
        feed = f'{{"version":"https://jsonfeed.org/version/1.1","items":[{{"id":"1","title":"x","_event":{text}}}]}}'
        read_feed(feed.encode(), "application/feed+json", URL)


@pytest.mark.parametrize("text", ["[" * DEEP, "{a:" * DEEP, "{'a':[" * DEEP], ids=["lists", "objects", "both"])
def test_broken_json_of_any_depth_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        lenient_json.loads(text)


def inside(before: str, opening: str, closing: str, after: str) -> bytes:
    return f"{before}{opening * DEEP}x{closing * DEEP}{after}".encode()


@pytest.mark.parametrize("body", [
    inside("<rss><channel><item><title>t</title><description>", "<x>", "</x>", "</description></item></channel></rss>"),
    inside("<rss><channel><item>", "<x>", "", ""),
    inside("<feed xmlns='http://www.w3.org/2005/Atom'><entry><title type='xhtml'>", "<b>", "</b>", "</title></entry></feed>"),
    inside("<urlset>", "<url>", "", "<loc>https://town.example/a</loc>"),
], ids=["a feed", "a feed that does not end", "a feed of Atom", "a sitemap"])  # fmt: skip
def test_xml_of_any_depth_is_read(body: bytes) -> None:
    read_feed(body, None, URL)
    sitemap.read(body, URL)


def test_attributes_without_end_are_counted_without_a_list_of_them() -> None:
    body = b"<!doctype html><body><p" + b"".join(b' a%d="%d"' % (number, number) for number in range(200_000)) + b">"
    tracemalloc.start()
    try:
        with pytest.raises(PageTooComplex, match="too many attributes on one tag"):
            check(body)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 6 * len(body)
