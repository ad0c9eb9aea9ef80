"""Feeds: what they hold, that programs can read them, where they are from, and what a caller has already."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.calendar import NOW, row
from tests.support.serving import ServiceHarness

FEEDS = ("ics", "rss", "csv", "jsonld")


def ics_titles(text: str) -> list[str]:
    return re.findall(r"^SUMMARY:(.*)\r$", text.replace("\r\n ", ""), re.MULTILINE)


def rss_titles(text: str) -> list[str]:
    return [item.findtext("title") or "" for item in ElementTree.fromstring(text).iter("item")]


def csv_titles(text: str) -> list[str]:
    return [line["title"] for line in csv.DictReader(io.StringIO(text, newline=""))]


def json_ld_titles(text: str) -> list[str]:
    return [one["name"] for one in json.loads(text)["@graph"]]


READ: dict[str, Callable[[str], list[str]]] = {"ics": ics_titles, "rss": rss_titles, "csv": csv_titles, "jsonld": json_ld_titles}
TYPES = {"ics": "text/calendar", "rss": "application/rss+xml", "csv": "text/csv", "jsonld": "application/ld+json"}


@pytest.mark.parametrize("name", FEEDS)
def test_a_feed_holds_what_a_list_with_the_same_parameters_holds(harness: ServiceHarness, name: str) -> None:
    for query in (
        "",
        "?city=花巻",
        "?from=2050-08-04&to=2050-08-31",
        "?category=music&q=夜",
        "?near=39.7,141.15,3&utm=x",
        "?city=遠野市",
    ):
        listed = harness.anybody.get(f"/events{query}").json()["items"]
        for path in (f"/events.{name}", f"/api/v1/events.{name}"):
            feed = harness.anybody.get(path + query)
            assert (feed.status_code, feed.headers["content-type"].partition(";")[0]) == (200, TYPES[name]), feed.text
            assert READ[name](feed.text) == [one["title"] for one in listed], query


@pytest.mark.parametrize("name", FEEDS)
def test_a_feed_names_its_source_and_licence(harness: ServiceHarness, name: str) -> None:
    text = harness.anybody.get(f"/events.{name}?city=盛岡市").text.replace("\r\n ", "")
    for words in ("CC BY 4.0", "https://town.example/terms", "盛岡市"):
        assert words in text


@pytest.mark.parametrize("name", FEEDS)
def test_who_has_a_feed_is_told_so_until_something_changes(harness: ServiceHarness, name: str) -> None:
    first = harness.anybody.get(f"/events.{name}")
    for known in ({"if-none-match": first.headers["etag"]}, {"if-modified-since": first.headers["last-modified"]}):
        again = harness.anybody.get(f"/events.{name}", headers=known)
        assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "public, max-age=300"
    assert harness.anybody.get(f"/events.{name}?city=花巻市", headers={"if-none-match": first.headers["etag"]}).status_code == 200
    harness.editor.patch("/api/v1/events/1", json={"title": "星の祭り"})
    changed = harness.anybody.get(f"/events.{name}", headers={"if-none-match": first.headers["etag"]})
    assert (changed.status_code, READ[name](changed.text)[0]) == (200, "星の祭り")


def test_a_run_that_wrote_with_an_older_stamp_changes_the_tag_when_it_ends(harness: ServiceHarness) -> None:
    source = harness.store.sources.get(1)
    run = harness.store.runs.start(source.id)
    before = harness.anybody.get("/events.ics").headers["etag"]
    harness.store.runs.finish(run, "success", counts={})  # type: ignore[arg-type]
    assert harness.anybody.get("/events.ics").headers["etag"] != before


def test_an_event_keeps_its_uid_and_counts_its_changes(harness: ServiceHarness) -> None:
    def facts() -> list[str]:
        text = harness.anybody.get("/events.ics?q=星").text
        return re.findall(r"^(?:UID|SEQUENCE|STATUS):(.*)\r$", text, re.MULTILINE)

    uid, number, status = facts()
    harness.editor.patch("/api/v1/events/1", json={"cancelled": True})
    assert facts() == [uid, str(int(number) + 1), "CANCELLED"]
    assert status == "CONFIRMED"
    alone = harness.anybody.get("/events/1/calendar.ics")
    assert f"UID:{uid}\r\n" in alone.text
    assert alone.headers["content-disposition"] == 'attachment; filename="event-1.ics"'


def test_what_nobody_may_see_is_in_no_feed_whoever_asks(harness: ServiceHarness) -> None:
    for name in FEEDS:
        assert "内覧会" not in harness.editor.get(f"/events.{name}").text
        assert harness.editor.get(f"/events.{name}?status=hidden").status_code == 422
    assert harness.editor.get("/events/6/calendar.ics").status_code == 404
    assert harness.editor.get("/events/99/calendar.ics").status_code == 404


def test_signs_that_would_break_a_feed_do_not(harness: ServiceHarness) -> None:
    source = harness.calendar.source("悪い & <町>", url="https://bad.example/?a=1&b=2")
    words = '=HYPERLINK(1) <b>&]]> "x"; a,b\\n'
    harness.calendar.say(
        source, row(words, "2050-12-01 10:00", uid="x", description="</description><script>x()</script>&", venue="a;b,c")
    )
    title = harness.anybody.get(f"/api/v1/events?source={source.id}").json()["items"][0]["title"]
    for name in FEEDS:
        feed = harness.anybody.get(f"/events.{name}?source={source.id}")
        assert feed.status_code == 200
        assert len(READ[name](feed.text)) == 1
    assert rss_titles(harness.anybody.get(f"/events.rss?source={source.id}").text) == [title]
    assert json_ld_titles(harness.anybody.get(f"/events.jsonld?source={source.id}").text) == [title]
    assert csv_titles(harness.anybody.get(f"/events.csv?source={source.id}").text)[0].startswith("'=")


def test_an_rss_feed_says_when_where_and_where_it_is(harness: ServiceHarness) -> None:
    channel = ElementTree.fromstring(harness.anybody.get("/events.rss?city=盛岡市&lang=ja&limit=1").text)[0]
    own = channel.find("{http://www.w3.org/2005/Atom}link")
    assert own is not None
    assert own.get("href", "").startswith("http://127.0.0.1:8000/events.rss?city=")
    item = channel.find("item")
    assert item is not None
    assert item.findtext("link") == "http://127.0.0.1:8000/events/1"
    assert "日時: 2050-08-01 10:00 – 2050-08-01 12:00\n場所: 市民会館" in (item.findtext("description") or "")
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", item.findtext("pubDate") or "")


def test_json_ld_speaks_schema_org(harness: ServiceHarness) -> None:
    document: dict[str, Any] = harness.anybody.get("/events.jsonld?q=星まつり").json()
    assert document["@context"] == "https://schema.org"
    event = document["@graph"][0]
    assert (event["@type"], event["startDate"], event["eventStatus"]) == (
        "Event", "2050-08-01T10:00:00+09:00", "https://schema.org/EventScheduled",
    )  # fmt: skip
    assert event["location"]["geo"] == {"@type": "GeoCoordinates", "latitude": 39.70, "longitude": 141.15}
    days = harness.anybody.get("/events.jsonld?q=写真展").json()["@graph"][0]
    assert (days["startDate"], days["endDate"]) == ("2050-08-02", "2050-08-05")


def test_a_calendar_is_read_back_as_it_was(harness: ServiceHarness) -> None:
    from tadoru.parse.sources.ics import read_ics

    reading = read_ics(harness.anybody.get("/events.ics").content, "text/calendar", "https://here.example/events.ics", now=NOW)
    assert [one.title for one in reading.events] == ics_titles(harness.anybody.get("/events.ics").text)
    assert not reading.problems


@pytest.mark.parametrize("query", ["from=x", "lang=fr", "near=1", "limit=0"])
def test_what_can_not_be_meant_is_told(harness: ServiceHarness, query: str) -> None:
    assert harness.anybody.get(f"/events.rss?{query}").status_code == 422


def test_a_table_begins_with_a_mark_for_who_needs_it(harness: ServiceHarness) -> None:
    assert harness.anybody.get("/events.csv?bom=true").content.startswith(b"\xef\xbb\xbfid,title")
    assert harness.anybody.get("/events.csv").content.startswith(b"id,title")
