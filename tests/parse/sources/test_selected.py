"""Pages as event sources: lists of events, lists of pages with one event each, the next page, and settings that do not fit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import ConfigError
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.html_page import MOST_ITEMS, HtmlSettings, read_html

read_detail = partial(read_html, detail=True)
URL = "https://town.test/events/list.html"
LIST = """<!doctype html><title>催し</title>
<ul class="events">
 <li><h3><a href="star.html">星まつり</a></h3><time datetime="2026-08-01">8月1日</time><span class="place"> 役場前
   広場</span><i class="tag">祭</i><i class="tag">夜</i><div class="text"><p>街灯を<b>消して</b></p></div></li>
 <li><h3><a href="/events/tea.html#now">茶会</a></h3><time datetime="2026-08-02">8月2日</time>
  <span class="price">料金：500円</span></li>
</ul>
<a rel="next" href="?page=2">次へ</a>"""
CSS: dict[str, object] = {
    "title": "h3",
    "url": "h3 a::attr(href)",
    "start": {"selector": "time", "attribute": "datetime"},
    "venue": ".place",
    "category": {"selector": ".tag", "join": "、"},
    "description": {"selector": ".text", "html": True},
    "price": {"selector": ".price", "pattern": "料金：(.+)", "default": "無料"},
}
XPATH: dict[str, object] = {
    "title": "./h3",
    "url": "./h3/a/@href",
    "start": {"selector": "xpath:time", "attribute": "datetime"},
    "venue": "xpath:span[@class='place']",
    "category": {"selector": "./i", "join": "、"},
    "description": {"selector": "./div/p", "html": True},
    "price": {"selector": ".//span[@class='price']", "pattern": "料金：(.+)", "default": "無料"},
}


def read(html: str, mapping: dict[str, Any], **options: Any) -> ParsedSource:
    return read_html(html.encode(), "text/html; charset=utf-8", URL, HtmlSettings.from_mapping(mapping), **options)


def detail(page: str, mapping: dict[str, Any] | None = None, url: str = URL, **options: Any) -> ParsedSource:
    return read_detail(page.encode(), "text/html; charset=utf-8", url, HtmlSettings.from_mapping(mapping or {}), **options)


def ld(**event: object) -> str:
    block = {"@context": "https://schema.org", "@type": "Event", "name": "花火", "startDate": "2026-08-03", **event}
    return f'<script type="application/ld+json">{json.dumps(block)}</script>'


@pytest.mark.parametrize(
    "item, fields, text",
    [
        pytest.param("ul.events > li", CSS, "<p>街灯を<b>消して</b></p>", id="css"),
        pytest.param("//ul[@class='events']/li", XPATH, "<p>街灯を<b>消して</b></p>", id="xpath"),
    ],
)
def test_each_item_is_an_event_of_what_its_fields_select(item: str, fields: dict[str, object], text: str) -> None:
    reading = read(LIST, {"item": item, "fields": fields, "constants": {"city": "星町", "price": "?"}})
    assert reading.problems == ()
    assert reading.events == (
        RawEvent(
            position="item 1",
            title="星まつり",
            url="https://town.test/events/star.html",
            start="2026-08-01",
            venue="役場前 広場",
            category="祭、夜",
            description=text,
            price="無料",
            city="星町",
        ),
        RawEvent(
            position="item 2",
            title="茶会",
            url="https://town.test/events/tea.html#now",
            start="2026-08-02",
            price="500円",
            city="星町",
        ),
    )


def test_schema_org_comes_before_the_selectors_unless_a_person_says_otherwise() -> None:
    settings = {"item": "ul.events > li", "fields": {"title": "h3"}}
    assert [event.title for event in read(ld() + LIST, settings).events] == ["花火"]
    assert [event.title for event in read(ld() + LIST, {**settings, "markup": False}).events] == ["星まつり", "茶会"]


def test_constants_fill_what_schema_org_leaves_out() -> None:
    [event] = read(ld(organizer="花火師"), {"constants": {"city": "星町", "organizer": "町"}}).events
    assert (event.city, event.organizer) == ("星町", "花火師")


@pytest.mark.parametrize(
    "page, mapping, words",
    [
        pytest.param("<p>x", {}, "schema.org", id="no words of schema.org"),
        pytest.param("<p>x", {"item": "li", "fields": {"title": "h3"}}, "“li”", id="no item"),
        pytest.param("<li>x", {"item": "li", "fields": {"title": "h3"}}, "fields.title", id="no title in any item"),
        pytest.param(
            "<li><b>x", {"item": "li", "fields": {"title": "b", "start": "time"}}, "fields.start", id="no date anywhere"
        ),
        pytest.param("<p>x", {"details": "a.event"}, "“a.event”", id="no link"),
        pytest.param("<li><b>x</b>" * (MOST_ITEMS + 1), {"item": "li", "fields": {"title": "b"}}, f"{MOST_ITEMS}", id="too many"),
        pytest.param("<div>" * 100_000, {"item": "li", "fields": {"title": "b"}}, "cannot be read", id="nested deep"),
    ],
)
def test_a_page_that_does_not_fit_its_settings_is_one_problem(page: str, mapping: dict[str, Any], words: str) -> None:
    [problem] = read(page, mapping).problems
    assert words in problem.reason


@pytest.mark.parametrize("item, when", [("li", ".when"), ("xpath://li", "xpath:.//*[@class='when']")], ids=["css", "xpath"])
def test_numbers_of_two_elements_stay_two_and_a_field_without_a_selector_is_the_item(item: str, when: str) -> None:
    page = "<ul><li><b>夏祭り</b><p class=when>1 Aug 2023<span>11:30</span></p></li></ul>"
    [event] = read(page, {"item": item, "fields": {"title": {"pattern": "(夏祭り)"}, "start": when}}).events
    assert (event.title, event.start) == ("夏祭り", "1 Aug 2023 11:30")


def test_a_year_that_is_selected_and_not_found_is_not_guessed() -> None:
    page = "<ul><li><b>夏祭り</b><i>8</i><u>1</u></li></ul>"
    fields = {"title": "b", "start": {"year": ".y", "month": "i", "day": "u"}}
    [event] = read(page, {"item": "li", "fields": fields}).events
    assert event.start is None


def test_a_later_page_may_be_empty() -> None:
    for mapping in ({}, {"item": "li", "fields": {"title": "h3"}}, {"details": "a.event"}):
        assert read("<p>x", mapping, page=2) == ParsedSource()


def test_a_list_of_pages_gives_each_address_once_and_not_its_own() -> None:
    page = (
        '<a href="1.html">一</a><a href="1.html#top">again</a><a href="/2.html">二</a><a href="#x">this page</a><a>none</a>'
        '<a href="mailto:a@b.test">mail</a><a href="javascript:x()">x</a><a href="https://other.test/3">三</a>'
    )
    wanted = ("https://town.test/events/1.html", "https://town.test/2.html", "https://other.test/3")
    for expression in ("a", "a::attr(href)", "//a", "//a/@href"):
        assert read(page, {"details": expression}) == ParsedSource(details=wanted)


def test_no_more_pages_are_followed_than_the_person_allows() -> None:
    page = "".join(f'<a href="{number}.html">x</a>' for number in range(5))
    reading = read(page, {"details": "a", "most_details": "3"})
    assert len(reading.details) == 3
    assert "3 of 5" in reading.problems[0].reason


@pytest.mark.parametrize("expression", ["a[rel=next]", "a[rel=next]::attr(href)", "//a[@rel='next']", "//a[@rel='next']/@href"])
def test_the_next_page_is_what_the_setting_selects(expression: str) -> None:
    settings = {"item": "ul.events > li", "fields": {"title": "h3"}, "next": expression, "most_pages": 3}
    assert [read(LIST, settings, page=page).next_url for page in (1, 2, 3)] == [f"{URL}?page=2", f"{URL}?page=2", None]
    assert read(LIST.replace("?page=2", "list.html#top"), settings).next_url is None


def test_addresses_follow_the_base_of_the_page() -> None:
    page = '<base href="https://cdn.test/e/">' + LIST
    settings = {"item": "ul.events > li", "fields": {"title": "h3", "url": "a::attr(href)"}, "next": "a[rel=next]"}
    reading = read(page, settings)
    assert reading.events[0].url == "https://cdn.test/e/star.html"
    assert reading.next_url == "https://cdn.test/e/?page=2"
    assert read(page, {"details": "h3 a"}).details == ("https://cdn.test/e/star.html", "https://cdn.test/events/tea.html")


DETAIL = """<h1>星まつり</h1><table><tr><th>日時<td>令和8年8月1日 午後5時</table><p class="where">役場前広場</p>"""
DETAIL_FIELDS = {"details": "a", "fields": {"title": "h1", "start": "//th[.='日時']/following-sibling::td", "venue": ".where"}}


def test_the_page_of_one_event_is_read_by_its_fields() -> None:
    [event] = detail(DETAIL, DETAIL_FIELDS).events
    assert event == RawEvent(
        position="page",
        title="星まつり",
        start="令和8年8月1日 午後5時",
        venue="役場前広場",
        url="https://town.test/events/list.html",
    )


def test_what_schema_org_leaves_out_of_the_page_of_one_event_its_fields_say() -> None:
    [event] = detail(ld() + DETAIL, DETAIL_FIELDS).events
    assert (event.title, event.start, event.venue) == ("花火", "2026-08-03", "役場前広場")


def test_of_several_events_on_the_page_of_one_it_is_the_one_with_its_address() -> None:
    page = ld(name="次の催し", url="/events/next.html") + ld(name="花火", url="/events/fire.html?")
    [event] = detail(page, url="https://town.test/events/fire.html").events
    assert event.title == "花火"


def test_a_series_on_the_page_of_one_event_is_unrolled_in_the_zone_of_the_source() -> None:
    schedule = {"@type": "Schedule", "repeatFrequency": "P1W", "startDate": "2026-08-01", "startTime": "17:00", "repeatCount": 2}
    [event] = detail(ld(eventSchedule=schedule), now=datetime(2026, 8, 1, tzinfo=UTC), zone="Asia/Tokyo").events
    assert [one.starts_at.isoformat() for one in event.occurrences] == ["2026-08-01T17:00:00+09:00", "2026-08-08T17:00:00+09:00"]


def test_a_page_without_an_event_is_a_problem() -> None:
    for mapping in ({}, DETAIL_FIELDS):
        reading = detail("<p>Not found</p>", mapping)
        assert (reading.events, len(reading.problems)) == ((), 1)


@pytest.mark.parametrize(
    "mapping, words",
    [
        pytest.param({"item": "li"}, "fields.title is missing", id="no title"),
        pytest.param({"item": "li", "fields": {"title": "b"}, "details": "a"}, "exclude each other", id="item and details"),
        pytest.param({"fields": {"title": "b"}}, "item is missing", id="fields of nothing"),
        pytest.param({"markup": False}, "nothing would be read", id="nothing to read"),
        pytest.param({"markup": "perhaps"}, "markup is “perhaps”; it must be true or false", id="neither true nor false"),
        pytest.param({"item": "li[", "fields": {"title": "b"}}, "item is “li[”, which is no css selector", id="no CSS"),
        pytest.param({"item": "css:", "fields": {"title": "b"}}, "item is “css:”, which is no css selector", id="empty CSS"),
        pytest.param({"item": "//li[", "fields": {"title": "b"}}, "item is “//li[”, which is no xpath selector", id="no XPath"),
        pytest.param({"details": "xpath:$b"}, "no xpath selector", id="XPath with a variable"),
        pytest.param({"details": "xpath:x:a"}, "no xpath selector", id="XPath with an unknown prefix"),
        pytest.param({"details": "xpath:lower(.)"}, "no xpath selector", id="XPath with an unknown function"),
        pytest.param({"item": "li", "fields": {"title": "//b"}}, "fields.title must be css, as item is", id="two languages"),
        pytest.param({"item": "li", "fields": {"titel": "b"}}, "fields.titel names no field", id="no such field"),
        pytest.param({"item": "li", "fields": {"title": 3}}, "fields.title is “3”", id="number as a selector"),
        pytest.param(
            {"item": "li", "fields": {"title": {"slector": "b"}}}, "fields.title.slector is not known", id="typing error"
        ),
        pytest.param(
            {"item": "li", "fields": {"title": {"selector": "b", "pattern": "("}}}, "no regular expression", id="no pattern"
        ),
        pytest.param(
            {"item": "li", "fields": {"title": {"selector": "b", "pattern": "(a)(b)"}}}, "2 groups", id="too many groups"
        ),
        pytest.param(
            {"item": "li", "fields": {"title": "b", "end": {"day": "i", "hour": "u"}}}, "fields.end.hour", id="no such part"
        ),
        pytest.param({"most_pages": 0}, "most_pages is “0”; it must be a whole number from 1 to 10000", id="no pages"),
        pytest.param({"itme": "li"}, "itme is not known", id="unknown key"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(mapping: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HtmlSettings.from_mapping(mapping)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


_SETTINGS = [
    HtmlSettings.from_mapping(
        {"item": "li", "fields": {"title": "b", "start": {"month": "i", "day": "u"}, "url": "a::attr(href)"}}
    ),
    HtmlSettings.from_mapping({"item": "//li//text()", "fields": {"title": "xpath:.", "venue": "xpath:../b"}, "next": "//a"}),
    HtmlSettings.from_mapping({"details": "a", "next": "a"}),
    HtmlSettings.from_mapping(
        {"item": "li", "split": "css:b", "epoch": "seconds", "fields": {"title": "b", "start": {"selector": "i", "above": True}}}
    ),
    HtmlSettings.from_mapping(
        {"item": "li", "split": "br", "fields": {"title": ".", "start": {"pattern": "8月", "above": True}}}
    ),
]
_WORDS = st.sampled_from(
    ["<li>", "</li>", "<b>", "</b>", "<i>", "8月", "<u>1", '<a href="', "x", '">', "\0", "&#0;", "&#xd800;",
     "<?xml encoding='x'?>",
     "<base href=//[>", "<script type=application/ld+json>", "{", '"@type":"Event"', "</script>", "<svg>", "<template>", "\ud7ff"]
)  # fmt: skip


@given(st.binary(max_size=300), st.sampled_from(_SETTINGS))
def test_no_bytes_raise(body: bytes, settings: HtmlSettings) -> None:
    read_html(body, None, URL, settings)
    read_detail(body, None, URL, settings)


@given(st.lists(_WORDS, max_size=40).map("".join), st.sampled_from(_SETTINGS))
def test_no_markup_raises_and_what_is_read_can_be_kept(page: str, settings: HtmlSettings) -> None:
    for reading in (read_html(page.encode(), None, URL, settings), read_detail(page.encode(), None, URL, settings)):
        kept = repr([(event.title, event.start, event.venue, event.extra) for event in reading.events]).encode()
        assert b"\\x00" not in kept
