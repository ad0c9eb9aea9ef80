"""Events in schema.org's words: what each syntax says, what stands within what, and what is broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.schema_org import EVENT_TYPES, MAX_EVENTS, read_schema_org

URL = "https://town.test/events/star.html"
START = "2026-08-01T17:00:00+09:00"


def page(*blocks: object, body: str = "") -> bytes:
    scripts = "".join(
        f'<script type="application/ld+json">{block if isinstance(block, str) else json.dumps(block)}</script>'
        for block in blocks
    )
    return f"<!doctype html><title>祭</title>{scripts}{body}".encode()


def read(*blocks: object, body: str = "") -> ParsedSource:
    return read_schema_org(page(*blocks, body=body), "text/html; charset=utf-8", URL)


def only(reading: ParsedSource) -> RawEvent:
    assert not reading.problems
    [event] = reading.events
    return event


def event(name: str = "星まつり", **more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Event", "name": name, "startDate": START, **more}


FULL = event(
    **{
        "@id": "https://town.test/events/star.html#event",
        "@type": "Festival",
        "description": "町でいちばん暗い夜。",
        "endDate": "2026-08-01T21:00:00+09:00",
        "url": "/events/star.html",
        "image": [{"@type": "ImageObject", "url": "/images/night.jpg"}],
        "eventStatus": "https://schema.org/EventCancelled",
        "dateModified": "2026-07-01",
        "doorTime": "2026-08-01T16:30:00+09:00",
        "location": {
            "@type": "Place",
            "name": "役場前広場",
            "address": {
                "@type": "PostalAddress",
                "addressRegion": "高原県",
                "addressLocality": "星町",
                "streetAddress": "中央一丁目1",
            },
            "geo": {"@type": "GeoCoordinates", "latitude": 36.0512, "longitude": 138.0521},
        },
        "organizer": [{"@type": "Organization", "name": "星町役場"}, {"@type": "Person", "name": "山田"}],
        "performer": [{"@type": "MusicGroup", "name": "夜の音"}, "星の声"],
        "offers": {"@type": "Offer", "price": 1500, "priceCurrency": "JPY"},
        "identifier": {"@type": "PropertyValue", "value": "hm-101"},
    }
)


def test_everything_an_event_says_is_taken() -> None:
    assert only(read(FULL)) == RawEvent(
        position="JSON-LD event 1",
        uid="hm-101",
        title="星まつり",
        description="町でいちばん暗い夜。",
        start=START,
        end="2026-08-01T21:00:00+09:00",
        venue="役場前広場",
        address="高原県星町中央一丁目1",
        city="星町",
        latitude="36.0512",
        longitude="138.0521",
        category="Festival",
        price="1500 JPY",
        organizer="星町役場, 山田",
        url="https://town.test/events/star.html",
        image="https://town.test/images/night.jpg",
        is_cancelled=True,
        updated="2026-07-01",
        extra={"performer": "夜の音, 星の声", "eventStatus": "EventCancelled", "doorTime": "2026-08-01T16:30:00+09:00"},
    )


MICRODATA = f"""
<div itemscope itemtype="https://schema.org/MusicEvent">
  <a itemprop="url" href="/events/concert.html"><span itemprop="name">天文台 コンサート</span></a>
  <time itemprop="startDate" datetime="{START}">夕方</time>
  <div itemprop="location" itemscope itemtype="https://schema.org/Place"><span itemprop="name">ドーム</span>
    <div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress">
      <span itemprop="addressLocality">星町</span></div>
  </div>
  <div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="1500"></div>
</div>"""
RDFA = f"""
<div vocab="https://schema.org/" typeof="MusicEvent">
  <a property="url" href="/events/concert.html"><span property="name">天文台 コンサート</span></a>
  <time property="startDate" datetime="{START}">夕方</time>
  <div property="location" typeof="Place"><span property="name">ドーム</span>
    <div property="address" typeof="PostalAddress"><span property="addressLocality">星町</span></div>
  </div>
  <div property="offers" typeof="Offer"><meta property="price" content="1500"></div>
</div>"""


@pytest.mark.parametrize("body, syntax", [(MICRODATA, "microdata"), (RDFA, "RDFa")])
def test_the_other_syntaxes_say_the_same(body: str, syntax: str) -> None:
    assert only(read(body=body)) == RawEvent(
        position=f"{syntax} event 1",
        title="天文台 コンサート",
        start=START,
        venue="ドーム",
        address="星町",
        city="星町",
        category="MusicEvent",
        price="1500",
        url="https://town.test/events/concert.html",
    )


def test_properties_may_stand_outside_their_item_and_be_named_by_it() -> None:
    body = (
        '<p id="where" itemprop="location">公民館</p>'
        '<div itemscope itemtype="https://schema.org/Event" itemref="where when nowhere"><b itemprop="name">茶会</b></div>'
        '<div id="when"><time itemprop="startDate" datetime="2026-08-02">日曜</time></div>'
    )
    found = only(read(body=body))
    assert (found.title, found.venue, found.start) == ("茶会", "公民館", "2026-08-02")


def test_what_two_syntaxes_say_of_one_event_is_one_event() -> None:
    block = event("天文台  コンサート", startDate="2026-08-01", organizer="星町")
    found = only(read(block, body=MICRODATA))
    assert (found.position, found.organizer, found.venue, found.price) == ("JSON-LD event 1", "星町", "ドーム", "1500")


def test_two_times_of_one_day_are_two_events_in_whatever_syntax() -> None:
    block = event("天文台 コンサート", startDate="2026-08-01T13:00:00+09:00")
    assert len(read(block, body=MICRODATA).events) == 2
    assert len(read([event(), event(startDate="2026-08-01T19:00")]).events) == 2


def test_a_mere_repetition_is_one_event() -> None:
    assert len(read(event(), event()).events) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([event("一"), event("二")], id="a list"),
        pytest.param(
            {"@context": "https://schema.org", "@graph": [event("一"), {"@type": "WebSite"}, event("二")]}, id="a graph"
        ),
        pytest.param(
            {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": event("一")}, {"item": event("二")}]},
            id="items",
        ),
        pytest.param({"@type": "Organization", "name": "x", "event": [event("一"), event("二")]}, id="of an organisation"),
        pytest.param({"@type": "WebPage", "mainEntity": [event("一"), event("二")]}, id="of a page"),
    ],
)
def test_events_are_found_wherever_they_stand(data: object) -> None:
    assert [found.title for found in read(data).events] == ["一", "二"]


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_every_kind_of_event_is_one(kind: str) -> None:
    for name in (kind, f"https://schema.org/{kind}", f"http://schema.org/{kind}", f"schema:{kind}", ["Thing", kind]):
        assert only(read(event(**{"@type": name}))).title == "星まつり"


@pytest.mark.parametrize("kind", ["DeliveryEvent", "PublicationEvent", "UserLikes", "Product", "EventVenue", "EventReservation"])
def test_what_nobody_goes_to_is_no_event(kind: str) -> None:
    assert read(event(**{"@type": kind})).events == ()


def test_an_event_within_an_event_takes_what_it_does_not_say() -> None:
    inner = [
        {"@type": "Event", "name": "開会式", "startDate": "2026-08-01T09:00"},
        event("花火", location="川原", organizer="花火師"),
    ]
    outer, opening, fireworks = read(event("夏祭り", location="広場", organizer="町", subEvent=inner)).events
    assert (outer.title, outer.venue) == ("夏祭り", "広場")
    assert (opening.title, opening.venue, opening.organizer, opening.extra) == ("開会式", "広場", "町", {"superEvent": "夏祭り"})
    assert (fireworks.venue, fireworks.organizer) == ("川原", "花火師")


def test_an_event_that_is_only_a_roof_is_left_to_its_parts() -> None:
    parts = [event("第1回"), event("第2回", startDate="2026-08-08")]
    for roof in ({"@type": "EventSeries", "name": "講座", "startDate": "2026-08-01"}, {"@type": "Event", "name": "講座"}):
        assert [found.title for found in read({**roof, "subEvent": parts}).events] == ["第1回", "第2回"]


def test_the_event_around_one_is_its_context_and_no_event_of_the_page() -> None:
    around = {"@type": "Festival", "name": "夏祭り", "startDate": "2026-08-01", "location": {"@type": "Place", "name": "広場"}}
    found = only(read(event("花火", superEvent=around)))
    assert (found.title, found.venue, found.extra["superEvent"]) == ("花火", "広場", "夏祭り")


def test_an_event_that_a_place_lists_takes_place_there() -> None:
    place = {"@type": "MusicVenue", "name": "星座館", "address": "中央2-3", "event": event("独奏会")}
    found = only(read(place))
    assert (found.venue, found.address) == ("星座館", "中央2-3")


def test_things_that_stand_elsewhere_are_followed_by_their_id() -> None:
    graph = [
        event(location={"@id": "#hall"}, organizer={"@id": "#town"}, **{"@id": "#star"}),
        {"@type": "Place", "@id": "#hall", "name": "公民館", "address": {"@id": "#address"}},
        {
            "@type": "PostalAddress",
            "@id": "#address",
            "streetAddress": "1 Hill Rd",
            "addressLocality": "Hoshi",
            "postalCode": "399",
        },
        {"@type": "Organization", "@id": "#town", "name": "星町"},
        {"@type": "Event", "@id": "#star", "description": "夜"},
    ]
    found = only(read({"@graph": graph}))
    assert (found.venue, found.address, found.city) == ("公民館", "1 Hill Rd, Hoshi, 399", "Hoshi")
    assert (found.organizer, found.description, found.uid) == ("星町", "夜", "#star")


def test_things_that_name_each_other_in_a_circle_end() -> None:
    graph = [event(location={"@id": "#a"}), {"@id": "#a", "name": {"@id": "#b"}}, {"@id": "#b", "name": {"@id": "#a"}}]
    assert only(read({"@graph": graph})).title == "星まつり"


@pytest.mark.parametrize(
    "location, expected",
    [
        pytest.param("公民館", ("公民館", None, None), id="text"),
        pytest.param({"name": "公民館", "address": "中央1-1"}, ("公民館", "中央1-1", None), id="without a type"),
        pytest.param({"@type": "PostalAddress", "addressLocality": "Hoshi"}, (None, "Hoshi", "Hoshi"), id="address as the place"),
        pytest.param([{"@type": "VirtualLocation", "url": "https://live.test/"}, {"name": "館"}], ("館", None, None), id="both"),
        pytest.param(
            {"@type": "Place", "name": "二階", "containedInPlace": {"@type": "Place", "address": {"addressLocality": "星町"}}},
            ("二階", "星町", "星町"),
            id="a room of a house",
        ),
        pytest.param(
            {"@type": "Place", "name": "館", "address": {"addressLocality": "星町", "streetAddress": "星町中央1"}},
            ("館", "星町中央1", "星町"),
            id="the city in the street",
        ),
        pytest.param(None, (None, None, None), id="nothing"),
    ],
)
def test_a_place_is_read_in_every_form(location: object, expected: tuple[str | None, ...]) -> None:
    found = only(read(event(location=location)))
    assert (found.venue, found.address, found.city) == expected


def test_an_online_event_says_where_it_is_seen() -> None:
    found = only(read(event(location={"@type": "VirtualLocation", "url": "https://live.test/1"})))
    assert (found.venue, found.extra["online"]) == (None, "https://live.test/1")


@pytest.mark.parametrize(
    "more, expected",
    [
        ({"offers": {"price": "1500", "priceCurrency": "JPY"}}, "1500 JPY"),
        ({"offers": [{"price": 500, "priceCurrency": "JPY"}, {"price": 1000, "priceCurrency": "JPY"}]}, "500 JPY, 1000 JPY"),
        ({"offers": [{"price": 0}, {"price": 0}]}, "0"),
        ({"offers": {"@type": "AggregateOffer", "lowPrice": 10, "highPrice": 25.5, "priceCurrency": "EUR"}}, "10–25.5 EUR"),
        ({"offers": {"lowPrice": "$35"}}, "$35"),
        ({"offers": {"priceSpecification": {"price": 8, "priceCurrency": "USD"}}}, "8 USD"),
        ({"offers": "無料"}, "無料"),
        ({"offers": "500円/人"}, "500円/人"),
        ({"offers": ["https://tickets.test/1", "/buy", "tickets.test/star?x=1"]}, None),
        ({"isAccessibleForFree": True}, "0"),
        ({"offers": {"url": "/tickets"}}, None),
        ({}, None),
    ],
)
def test_prices_are_read_in_every_form(more: dict[str, object], expected: str | None) -> None:
    assert only(read(event(**more))).price == expected


@pytest.mark.parametrize(
    "status, is_cancelled",
    [
        ("https://schema.org/EventCancelled", True),
        ("EventCancelled", True),
        ("http://schema.org/EventCanceled", True),
        ("https://schema.org/EventPostponed", False),
        ("https://schema.org/EventScheduled", False),
    ],
)
def test_only_a_cancelled_event_is_cancelled(status: str, is_cancelled: bool) -> None:
    assert only(read(event(eventStatus=status))).is_cancelled is is_cancelled


def test_an_event_lasts_as_long_as_it_says() -> None:
    assert only(read(event(duration="PT1H30M"))).end == "2026-08-01T18:30:00+09:00"
    assert only(read(event(duration="PT1H30M", endDate="2026-08-02"))).end == "2026-08-02"
    assert only(read(event(duration="soon"))).end is None


def test_several_days_are_several_events() -> None:
    days = ["2026-08-01", "2026-08-08"]
    reading = read(event(startDate=days, endDate=["2026-08-02", "2026-08-09"]))
    assert [(found.start, found.end) for found in reading.events] == [("2026-08-01", "2026-08-02"), ("2026-08-08", "2026-08-09")]
    assert [found.position for found in reading.events] == ["JSON-LD event 1", "JSON-LD event 1, date 2"]


@pytest.mark.parametrize(
    "before, after",
    [
        pytest.param("", ",", id="comma at the end"),
        pytest.param("<!--", "-->", id="comment of HTML"),
        pytest.param("//<![CDATA[\n", "\n//]]>", id="CDATA"),
        pytest.param("/* <![CDATA[ */", "/* ]]> */", id="CDATA in comments"),
        pytest.param("// the event\n", "", id="comment"),
        pytest.param("", "}", id="bracket too many"),
        pytest.param("", ";", id="semicolon"),
    ],
)
def test_broken_json_is_mended(before: str, after: str) -> None:
    assert only(read(f"{before}{json.dumps(event())}{after}")).title == "星まつり"


def test_json_that_is_cut_short_is_read_as_far_as_it_goes() -> None:
    found = read(json.dumps(event(location={"@type": "Place", "name": "公民館"}))[:-2])
    assert only(found).venue == "公民館"


def test_a_block_that_means_nothing_is_a_problem_and_the_others_are_read() -> None:
    reading = read("Not Found", event(), "")
    assert [found.title for found in reading.events] == ["星まつり"]
    assert len(reading.problems) == 1


def test_addresses_follow_the_base_of_the_page() -> None:
    body = page(event(url="star.html", image="javascript:alert(1)")) + b'<base href="https://cdn.test/e/">'
    found = only(read_schema_org(body, "text/html", URL))
    assert (found.url, found.image, found.extra["image"]) == ("https://cdn.test/e/star.html", None, "javascript:alert(1)")


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    read_schema_org(body, None, URL)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(["Event", "Place", "#a", "2026-08-01", "P1W", "", "schema:Event"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "@type @id @graph name location subEvent superEvent offers eventSchedule startDate address geo event".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(_JSON)
def test_no_structured_data_raises(data: object) -> None:
    read(data, body=MICRODATA)


@given(
    st.text(st.sampled_from("<>div itemscope itemtype='https://schema.org/Event' itemprop=name typeof property "), max_size=200)
)
def test_no_markup_raises(body: str) -> None:
    read(body=body)


def test_a_page_is_read_up_to_a_number_of_events_that_is_told() -> None:
    found = read([{"@context": "https://schema.org", "@type": "Event", "name": str(number)} for number in range(MAX_EVENTS + 5)])
    assert len(found.events) == MAX_EVENTS
    assert [one.reason for one in found.problems] == [f"There are more than {MAX_EVENTS:,} events; the rest is not read."]
