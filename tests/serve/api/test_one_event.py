"""One event: who sees it, its story, and what a person does to it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.calendar import row
from tests.support.serving import ServiceHarness

LIST = "/api/v1/events"


def named(harness: ServiceHarness, title: str) -> int:
    every = [
        item
        for status in ("active", "hidden", "quarantine")
        for item in harness.viewer.get(f"{LIST}?status={status}&limit=200").json()["items"]
    ]
    number: int = next(item["id"] for item in every if item["title"] == title)
    return number


@pytest.mark.parametrize("path", [LIST, "/events"])
def test_an_event_that_is_hidden_is_not_there_for_anybody(shown: ServiceHarness, path: str) -> None:
    assert shown.anybody.get(f"{path}/{named(shown, '朝市')}").json()["venue"] == "駅前広場"
    for title in ("内覧会", "日時のない会"):
        number = named(shown, title)
        refused = shown.anybody.get(f"{path}/{number}")
        assert (refused.status_code, refused.json()["detail"]) == (404, f"Event {number} not found.")
        assert shown.viewer.get(f"{path}/{number}").json()["title"] == title
    assert shown.anybody.get(f"{path}/999").status_code == 404


@pytest.mark.parametrize("number", ["0", "-1", "9223372036854775808", "1.5", "x"])
def test_what_is_no_number_is_refused(shown: ServiceHarness, number: str) -> None:
    assert shown.anybody.get(f"{LIST}/{number}").status_code == 422
    assert shown.anybody.get(f"/events/{number}").status_code in {404, 422}


def test_an_event_that_was_merged_leads_to_the_one_it_is_a_part_of(harness: ServiceHarness) -> None:
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    kept, gone = named(harness, "音楽会"), named(harness, "夜の音楽会")
    harness.store.merges.merge(kept, gone, EventMatcher(), "test")
    for path in (LIST, "/events"):
        answer = harness.anybody.get(f"{path}/{gone}")
        assert (answer.status_code, answer.headers["location"]) == (307, f"{path}/{kept}")
    assert harness.viewer.get(f"{LIST}/{gone}/story").json()["merged_into"] == kept
    refused = harness.editor.patch(f"{LIST}/{gone}", json={"price": "1"})
    assert (refused.status_code, refused.json()["detail"].split(".")[0]) == (409, f"Event {gone} was merged into event {kept}")


def test_the_story_tells_who_says_what(harness: ServiceHarness) -> None:
    number = named(harness, "朝市")
    harness.editor.patch(f"{LIST}/{number}", json={"organizer": "実行委員会"})
    assert harness.anybody.get(f"{LIST}/{number}/story").status_code == 401
    story = harness.viewer.get(f"{LIST}/{number}/story").json()
    assert story["owners"]["organizer"]["who"] == "key:editor"
    assert [one["source"] for one in story["sightings"]] == ["盛岡市"]
    assert story["history"][-1]["changes"]["organizer"] == ["", "実行委員会"]


def test_an_event_is_added_changed_hidden_and_shown_again(harness: ServiceHarness) -> None:
    given: dict[str, Any] = {
        "title": "凧あげ", "starts_at": "令和32年1月3日 10時~12時", "city": "盛岡市", "lat": 39.7, "lon": 141.1, "price": "無料",
    }  # fmt: skip
    made = harness.editor.post(LIST, json=given)
    assert made.status_code == 201, made.text
    event = made.json()
    assert made.headers["location"] == f"{LIST}/{event['id']}"
    assert (event["starts_at"], event["ends_at"]) == ("2050-01-03T10:00:00+09:00", "2050-01-03T12:00:00+09:00")
    changed = harness.editor.patch(made.headers["location"], json={"price": None, "cancelled": True, "lat": 40.0}).json()
    assert (changed["price"], changed["lat"], changed["lon"]) == ("", 40.0, 141.1)
    assert changed["cancelled_at"]
    assert harness.editor.post(f"{made.headers['location']}/hide").json()["status"] == "hidden"
    assert harness.anybody.get(made.headers["location"]).status_code == 404
    assert harness.editor.post(f"{made.headers['location']}/unhide").json()["status"] == "active"
    assert harness.anybody.get(made.headers["location"]).json()["title"] == "凧あげ"


def test_a_field_that_is_released_is_the_sources_again(harness: ServiceHarness) -> None:
    number = named(harness, "朝市")
    harness.editor.patch(f"{LIST}/{number}", json={"venue": "港"})
    released = harness.editor.patch(f"{LIST}/{number}", json={"release": ["venue"]}).json()
    assert released["venue"] == "駅前広場"


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, "Nothing to change"),
        ({"venue": "港", "release": ["venue"]}, "at the same time"),
        ({"release": ["colour"]}, "Unknown field colour"),
        ({"starts_at": "someday"}, "Cannot create an event"),
        ({"url": "javascript:alert(1)"}, "is not a web URL"),
        ({"title": ""}, "title"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"colour": "red"}, "See errors"),
        ({"lat": 91}, "See errors"),
    ],
)
def test_a_change_that_can_not_be_read_changes_nothing(shown: ServiceHarness, given: dict[str, Any], words: str) -> None:
    url = f"{LIST}/{named(shown, '朝市')}"
    before = shown.anybody.get(url).json()
    refused = shown.editor.patch(url, json=given)
    assert refused.status_code == 422, refused.text
    assert words in refused.json()["detail"]
    assert shown.anybody.get(url).json() == before


def test_what_is_in_quarantine_is_answered_by_its_review(shown: ServiceHarness) -> None:
    url = f"{LIST}/{named(shown, '日時のない会')}"
    for answer in (
        shown.editor.patch(url, json={"price": "1"}),
        shown.editor.post(f"{url}/hide"),
        shown.editor.post(f"{url}/unhide"),
    ):
        assert (answer.status_code, "review" in answer.json()["detail"]) == (409, True)


def test_changes_are_in_the_audit_log_with_who_made_them(harness: ServiceHarness) -> None:
    number = named(harness, "朝市")
    harness.editor.patch(f"{LIST}/{number}", json={"price": "500円"})
    line = harness.store.audit.entries(limit=1)[0]
    assert (line.who, line.subject) == ("key:editor", f"event {number}")


def test_markup_of_a_source_is_given_out_sanitised(harness: ServiceHarness) -> None:
    source = harness.calendar.source("悪い町", url="https://bad.example/")
    bad = row("<script>alert(1)</script>会", "2050-08-20 10:00", uid="x", description="<p onclick=x()>会<script>x()</script></p>")
    harness.calendar.say(source, bad)
    found = next(one for one in harness.anybody.get(f"{LIST}?source={source.id}").json()["items"])
    assert "onclick" not in found["description"]
    assert "<script" not in found["description"]


def test_an_event_says_when_it_changed_and_who_has_it_is_told_so(shown: ServiceHarness) -> None:
    url = f"{LIST}/{named(shown, '朝市')}"
    first = shown.anybody.get(url)
    assert shown.anybody.get(url, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert shown.anybody.get(url, headers={"if-none-match": "*"}).status_code == 304
    assert shown.anybody.get(url, headers={"if-none-match": '"other"'}).status_code == 200
    assert first.headers["last-modified"]
