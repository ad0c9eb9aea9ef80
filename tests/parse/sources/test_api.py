"""JSON interfaces: the mapping of fields, and answers that are not what they should be."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import ConfigError
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.api import MOST_EVENTS, ApiSettings, read_api

URL = "https://town.test/api/events?lang=ja"
MAPPING: dict[str, object] = {"items": "events", "fields": {"title": "name"}}


def settings(**more: object) -> ApiSettings:
    return ApiSettings.from_mapping({**MAPPING, **more})


def read(data: object, mapping: dict[str, object] | None = None, **options: Any) -> ParsedSource:
    return read_api(json.dumps(data).encode(), "application/json", URL, ApiSettings.from_mapping(mapping or MAPPING), **options)


def only(reading: ParsedSource) -> RawEvent:
    assert not reading.problems
    [event] = reading.events
    return event


def test_each_field_is_what_its_expression_finds() -> None:
    item = {
        "id": 101,
        "title": {"ja": "星まつり", "en": "Star Festival"},
        "starts_at": "2026-08-01T17:00:00+09:00",
        "venue": {"name": "役場前広場", "lat": 36.0512, "lon": 138.05},
        "tags": ["祭り", "夜"],
        "fee": 0,
        "off": True,
        "link": "../events/star.html#night",
        "text": "<p>街灯を<b>消して</b></p>",
        "room": "二階",
    }
    fields = {
        "uid": "id", "title": "title.ja", "start": "starts_at", "venue": "venue.name", "latitude": "venue.lat",
        "longitude": "venue.lon", "category": "tags", "price": "fee", "cancelled": "off", "url": "link", "description": "text",
        "extra.room": "room",
    }  # fmt: skip
    event = only(read([item], {"fields": fields, "constants": {"city": "星町", "timezone": "Asia/Tokyo"}}))
    assert event == RawEvent(
        position="item 1",
        uid="101",
        title="星まつり",
        start="2026-08-01T17:00:00+09:00",
        venue="役場前広場",
        latitude="36.0512",
        longitude="138.05",
        category="祭り, 夜",
        price="0",
        is_cancelled=True,
        url="https://town.test/events/star.html#night",
        description="<p>街灯を<b>消して</b></p>",
        city="星町",
        timezone="Asia/Tokyo",
        extra={"room": "二階"},
    )


@pytest.mark.parametrize(
    "value, spec, expected",
    [
        pytest.param(None, {"path": "x", "default": "本庁"}, "本庁", id="default for null"),
        pytest.param([], {"path": "x", "default": "本庁"}, "本庁", id="default for an empty list"),
        pytest.param("  ", {"path": "x", "default": "本庁"}, "本庁", id="default for white space"),
        pytest.param(["a", None, "", "b"], {"path": "x", "join": " / "}, "a / b", id="join leaves out what is empty"),
        pytest.param([["a", "b"], "c"], "x", "a, b, c", id="lists in lists"),
        pytest.param(["music", "other"], {"path": "x", "map": {"music": "音楽"}}, "音楽, other", id="map"),
        pytest.param(1, {"path": "x", "map": {"1": "市民館"}}, "市民館", id="map of a number"),
        pytest.param(False, "x", "false", id="false"),
        pytest.param(1500.0, "x", "1500", id="whole number written with a point"),
        pytest.param(12.5, "x", "12.5", id="number with a fraction"),
        pytest.param({"y": "z"}, "x.y", "z", id="member"),
        pytest.param("a", {"path": "x", "default": "b"}, "a", id="default not needed"),
    ],
)
def test_a_value_becomes_text(value: object, spec: object, expected: str) -> None:
    assert only(read([{"x": value}], {"fields": {"title": "'t'", "venue": spec}})).venue == expected


@pytest.mark.parametrize("unit, factor", [("seconds", 1), ("milliseconds", 1000)])
@pytest.mark.parametrize("as_text", [False, True], ids=["number", "text"])
def test_times_may_be_numbers_since_1970(unit: str, factor: int, as_text: bool) -> None:
    moment = datetime(2026, 8, 1, 8, tzinfo=UTC)
    number = int(moment.timestamp()) * factor
    mapping = {"fields": {"title": "t", "start": "s", "updated": "s", "price": "s"}, "epoch": unit}
    event = only(read([{"t": "祭", "s": str(number) if as_text else number}], mapping))
    assert (event.start, event.updated, event.price) == (moment, moment.isoformat(), str(number))


def test_a_written_date_stays_as_it_is_when_times_are_numbers() -> None:
    event = only(read([{"t": "祭", "s": "2026-08-01"}], {"fields": {"title": "t", "start": "s"}, "epoch": "seconds"}))
    assert event.start == "2026-08-01"


def test_a_number_that_is_no_time_costs_the_field_only() -> None:
    mapping: dict[str, object] = {"fields": {"title": "t", "start": "s"}, "epoch": "seconds"}
    reading = read([{"t": "祭", "s": 10**17}, {"t": "市", "s": 0}], mapping)
    assert [event.start for event in reading.events] == [None, datetime(1970, 1, 1, tzinfo=UTC)]
    assert [problem.position for problem in reading.problems] == ["item 1, start"]


def test_an_object_where_a_text_is_due_is_named_with_its_members() -> None:
    reading = read({"events": [{"name": {"ja": "星まつり", "en": "Star"}}]})
    [problem] = reading.problems
    assert problem.position == "item 1, title"
    assert "ja, en" in problem.reason
    assert len(reading.events) == 1


@pytest.mark.parametrize("data, count", [({"events": []}, 0), ({"events": {"name": "one"}}, 1), ({"events": [{}, {}]}, 2)])
def test_items_are_counted(data: object, count: int) -> None:
    reading = read(data)
    assert (len(reading.events), reading.problems) == (count, ())


def test_items_that_are_no_objects_are_problems_and_the_rest_is_read() -> None:
    reading = read({"events": [{"name": "祭"}, None, 3, "x", [], {"name": "市"}]})
    assert [(event.position, event.title) for event in reading.events] == [("item 1", "祭"), ("item 6", "市")]
    assert [problem.position for problem in reading.problems] == ["item 2", "item 3", "item 4", "item 5"]


def test_items_that_are_not_there_are_said_on_the_first_page_only() -> None:
    [problem] = read({"results": []}).problems
    assert "“events”" in problem.reason
    assert read({"results": []}, page=2).problems == ()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>502 Bad Gateway</html>", id="a page of an error"),
        pytest.param(b'{"events": [', id="cut short"),
        pytest.param(b"[" * 200_000, id="nested deep"),
        pytest.param(b'{"events":' * 50_000, id="objects nested deep"),
        pytest.param(b"\xff\xfe\x00", id="half a character of UTF-16"),
    ],
)
def test_what_is_no_json_is_one_problem(body: bytes) -> None:
    reading = read_api(body, None, URL, settings())
    assert [problem.position for problem in reading.problems] == ["answer"]
    assert reading.events == ()


@pytest.mark.parametrize("number", ["9" * 100_000, "-" + "9" * 5_000, "1e999999", "NaN", "-Infinity", "0." + "3" * 90_000])
def test_a_huge_number_does_not_cost_the_answer(number: str) -> None:
    body = '{"events": [{"name": "祭", "id": NUMBER}]}'.replace("NUMBER", number)
    reading = read_api(body.encode(), None, URL, settings(fields={"title": "name", "uid": "id"}))
    assert [event.title for event in reading.events] == ["祭"]


def test_the_bytes_are_decoded_as_they_say() -> None:
    body = '{"events": [{"name": "星まつり"}]}'.encode("cp932")
    assert only(read_api(body, "application/json; charset=Shift_JIS", URL, settings())).title == "星まつり"


def test_each_element_of_a_list_within_an_item_is_an_event() -> None:
    item = {"name": "落語会", "shows": [{"on": "2026-08-01", "hall": "大"}, {"on": "2026-08-02", "hall": "小"}]}
    fields = {"title": "name", "start": "each.on", "venue": "each.hall"}
    reading = read(
        [item, {"name": "休み", "shows": []}, {"name": "祭", "shows": "2026-08-03"}], {"each": "shows", "fields": fields}
    )
    assert [(event.position, event.title, event.start, event.venue) for event in reading.events] == [
        ("item 1.1", "落語会", "2026-08-01", "大"),
        ("item 1.2", "落語会", "2026-08-02", "小"),
        ("item 3.1", "祭", None, None),
    ]
    assert [(problem.position, "setting each" in problem.reason) for problem in reading.problems] == [("item 2", True)]


def test_lists_within_items_are_bounded_together() -> None:
    items = [{"d": list(range(MOST_EVENTS // 2 + 1))}, {"d": [1] * (MOST_EVENTS // 2)}, {"d": [1]}]
    reading = read(items, {"each": "d", "fields": {"title": "'t'"}})
    assert len(reading.events) == MOST_EVENTS
    assert [problem.position for problem in reading.problems] == ["answer"]


@pytest.mark.parametrize("before", [")]}',\n", ")]}'", "\ufeff", "\n\n"])
def test_what_guards_an_answer_is_passed_over(before: str) -> None:
    assert only(read_api(before.encode() + b'{"events": [{"name": "A\tB"}]}', None, URL, settings())).title == "A\tB"


def test_what_no_database_keeps_is_left_out() -> None:
    body = b'{"events": [{"name": "\\ud83c\\u661f\\u0000", "x": "\\u0000a"}, "\\udc00\\u0000"]}'
    reading = read_api(body, None, URL, settings(fields={"title": "name", "extra": {"room": "x"}}))
    assert [(event.title, event.extra) for event in reading.events] == [("星", {"room": "a"})]
    assert [problem.sample for problem in reading.problems] == [""]


@pytest.mark.parametrize(
    "mapping, words",
    [
        pytest.param({}, "fields.title", id="nothing"),
        pytest.param({"fields": {"title": "a.["}}, "fields.title", id="no expression"),
        pytest.param({"fields": {"title": ""}}, "fields.title", id="empty"),
        pytest.param({"fields": {"title": 3}}, "fields.title", id="a number"),
        pytest.param({"fields": {"titel": "a"}}, "fields.titel", id="no such field"),
        pytest.param({"fields": {"title": {"path": "a", "jion": ","}}}, "fields.title.jion", id="no such part"),
        pytest.param({"fields": {"title": {"default": "x"}}}, "fields.title", id="no path"),
        pytest.param({"fields": "title"}, "fields", id="no mapping"),
        pytest.param({**MAPPING, "items": "a b"}, "items", id="items"),
        pytest.param({**MAPPING, "item": "a"}, "item", id="unknown key"),
        pytest.param({**MAPPING, "each": "a["}, "each is “a[”, which is not a JMESPath expression", id="each"),
        pytest.param({**MAPPING, "epoch": "minutes"}, "seconds, milliseconds", id="epoch"),
        pytest.param({**MAPPING, "constants": {"town": "x"}}, "constants.town", id="constant of no field"),
        pytest.param({**MAPPING, "constants": {"city": ["x"]}}, "constants.city", id="constant that is no text"),
        pytest.param({**MAPPING, "most_pages": 0}, "most_pages", id="no pages"),
        pytest.param({**MAPPING, "pagination": {"kind": "pages"}}, "page, offset, cursor, link", id="kind of pages"),
        pytest.param({**MAPPING, "pagination": {"kind": "page", "start": "x"}}, "pagination.start", id="start"),
        pytest.param({**MAPPING, "pagination": {"kind": "page", "total": "a["}}, "pagination.total", id="total"),
        pytest.param({**MAPPING, "pagination": {"kind": "page", "size_parameter": "n"}}, "pagination.size", id="size"),
        pytest.param({**MAPPING, "pagination": {"kind": "cursor"}}, "pagination.path", id="cursor from nowhere"),
        pytest.param({**MAPPING, "pagination": {"kind": "link", "parameter": "p"}}, "pagination.parameter", id="not of a link"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(mapping: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ApiSettings.from_mapping(mapping)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("name a b c events next".split()), inner, max_size=4)
    ),
    max_leaves=12,
)
_RICH = ApiSettings.from_mapping(
    {
        "items": "events || @",
        "fields": {"title": "name", "start": "a", "venue": "b[0].c", "price": "sum(a)", "url": "c", "latitude": "max_by(b, &c)"},
        "epoch": "milliseconds",
        "pagination": {"kind": "link", "path": "next"},
    }
)


@given(st.binary(max_size=200), st.none() | st.text(max_size=30))
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    read_api(body, content_type, URL, _RICH)


@given(_JSON)
def test_no_json_raises_and_every_item_is_an_event_or_a_problem(data: object) -> None:
    reading = read_api(json.dumps(data).encode(), None, URL, _RICH)
    if isinstance(data, list):
        told = {problem.position for problem in reading.problems} | {event.position for event in reading.events}
        assert {f"item {number}" for number in range(1, len(data) + 1)} <= told
