"""Lists of events: every filter, the order, the pages, and what a caller has already."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tadoru.jobs.events.publish.json_documents import event_json
from tests.support.calendar import row
from tests.support.serving import ServiceHarness

LIST = "/api/v1/events"


def titles(body: dict[str, Any]) -> list[str]:
    return [one["title"] for one in body["items"]]


@pytest.mark.parametrize(
    "query, expected",
    [
        ("", ["星まつり", "写真展", "朝市", "音楽会", "夜の音楽会"]),
        ("city=花巻市", ["音楽会", "夜の音楽会"]),
        ("city=花巻", ["音楽会", "夜の音楽会"]),
        ("city=遠野市", []),
        ("from=2050-08-04&to=2050-08-31", ["写真展", "音楽会"]),
        ("from=2050-08-02&to=2050-08-02", ["写真展", "朝市"]),
        ("category=music", ["音楽会", "夜の音楽会"]),
        ("q=音楽会 夜", ["夜の音楽会"]),
        ("q=魚", ["朝市"]),
        ("near=39.70,141.15,5", ["星まつり"]),
        ("near=10,10,5", []),
        ("source=2", ["音楽会", "夜の音楽会"]),
        ("source=99", []),
        ("updated_since=2000-01-01T00:00:00Z&category=music", ["音楽会", "夜の音楽会"]),
        ("updated_since=2049-01-01", []),
        ("all=true&to=2050-08-01", ["星まつり"]),
        ("city=&from=&category=music", ["音楽会", "夜の音楽会"]),
    ],
)
@pytest.mark.parametrize("path", [LIST, "/events"])
def test_a_list_holds_what_fits(shown: ServiceHarness, path: str, query: str, expected: list[str]) -> None:
    answer = shown.anybody.get(f"{path}?{quote(query, safe='=&,')}")
    assert answer.status_code == 200, answer.text
    assert titles(answer.json()) == expected


@pytest.mark.parametrize(
    "query",
    [
        "from=tomorrow", "from=0001-01-01", "to=9999-12-31", "from=2050-08-02&to=2050-08-01", "to=2001-01-01", "near=1,2",
        "near=91,0,1", "near=nan,0,1", "near=0,0,inf", "near=0,0,0", "limit=0", "limit=201", "limit=x", "cursor=x",
        "cursor=W10", "cursor=WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwgMV0", "cursor=" + "W" * 201, "source=0",
        "source=99999999999999999999", "updated_since=0001-01-01T00:00:00Z", "sort=title", "sort=updated&from=2050-01-01",
        "sort=-updated_at&to=2050-01-01", "sort=--starts", "sort=-relevance&q=x", "sort=relevance", "sort=relevance&q=%20",
        "sort=relevance&q=x&cursor=W10", "sort=relevance&q=x&cursor=WzAsICJ4Il0",
        "status=gone", "citty=盛岡市", "q=" + "x" * 201,
    ],
)  # fmt: skip
def test_what_can_not_be_meant_is_told_and_not_ignored(shown: ServiceHarness, query: str) -> None:
    answer = shown.anybody.get(f"{LIST}?{query}")
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize("path", [LIST, "/events", "/api/v1/events.rss", "/events.ics", "/events.jsonld"])
@pytest.mark.parametrize("given", ["from=0001-01-12", "to=9999-12-01"])
def test_a_day_that_no_schema_can_bound_is_refused_with_a_sentence(shown: ServiceHarness, path: str, given: str) -> None:
    """schemathesis found it: the description allows every day, so the refusal has to say more than that a value is wrong."""
    answer = shown.anybody.get(f"{path}?{given}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["what"] == "Value error, The date must be from 0001-02-01 to 9999-11-30."


def test_the_seeds_path_does_not_mind_parameters_of_others_but_minds_what_can_not_be_read(shown: ServiceHarness) -> None:
    assert shown.anybody.get("/events?utm_source=mail").status_code == 200
    wrong = shown.anybody.get("/events?from=tomorrow")
    assert (wrong.status_code, wrong.json()["errors"][0]["where"]) == (422, ["query", "from"])


def test_a_browser_gets_the_page_and_a_program_the_json(shown: ServiceHarness) -> None:
    page = shown.anybody.get("/events?from=", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    assert "星まつり" in page.text
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        assert shown.anybody.get("/events", headers={"accept": accept}).headers["content-type"] == "application/json"
    assert shown.anybody.get("/events/1", headers={"accept": "text/html"}).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("order, count", [
    ("starts", 5), ("updated", 5), ("-starts", 5), ("-updated", 5), ("updated_at", 5), ("relevance&q=音楽会", 2),
])  # fmt: skip
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_lead_through_the_whole_list_once(shown: ServiceHarness, order: str, count: int, limit: int) -> None:
    whole = shown.anybody.get(f"{LIST}?sort={order}&limit=200").json()
    assert (len(whole["items"]), whole["next"]) == (count, None)
    url, found = f"{LIST}?sort={order}&limit={limit}&category=", []
    while url:
        answer = shown.anybody.get(url)
        url = answer.json()["next"]
        assert answer.headers.get("link") == (f'<{url}>; rel="next"' if url else None)
        found += answer.json()["items"]
    assert found == whole["items"]


def test_a_minus_turns_a_list_around_and_the_names_of_fields_are_understood(shown: ServiceHarness) -> None:
    def listed(sort: str) -> list[str]:
        return titles(shown.anybody.get(f"{LIST}?sort={sort}").json())

    assert (
        listed("-starts")
        == listed("-starts_at")
        == listed("starts")[::-1]
        == ["夜の音楽会", "音楽会", "朝市", "写真展", "星まつり"]
    )
    assert listed("-updated") == listed("-updated_at") == listed("updated_at")[::-1] == listed("updated")[::-1]


def test_the_best_comes_first_and_says_where_the_words_are(shown: ServiceHarness) -> None:
    found = shown.anybody.get(f"{LIST}?q=音楽会&sort=relevance").json()["items"]
    assert [one["title"] for one in found] == ["音楽会", "夜の音楽会"]
    assert [one["matches"][0] for one in found] == [
        {"field": "title", "text": "音楽会", "marks": [{"start": 0, "end": 3}]},
        {"field": "title", "text": "夜の音楽会", "marks": [{"start": 2, "end": 5}]},
    ]
    (market,) = shown.anybody.get(f"{LIST}?q=魚").json()["items"]
    # The description is markup; what is told of it is plain text.
    assert market["matches"] == [{"field": "description", "text": "野菜と魚", "marks": [{"start": 3, "end": 4}]}]


def test_an_event_of_a_list_is_the_document_that_commands_give_out(shown: ServiceHarness) -> None:
    for item in shown.anybody.get(LIST).json()["items"]:
        kept = shown.store.events.record(item["id"])
        assert kept is not None
        assert item == event_json(kept) | {"matches": []}


def test_a_series_is_listed_once_at_the_first_time_that_fits_with_all_of_its_times(harness: ServiceHarness) -> None:
    given = {"title": "教室", "starts_at": "2050-10-01 10:00", "venue": "公民館"}
    event = harness.editor.post(LIST, json=given).json()["id"]
    source = harness.calendar.source("教室の町", url="https://school.example/")
    harness.calendar.say(source, row("体操", "2050年11月1日・8日・15日 10:00", uid="s", venue="体育館"))
    found = harness.anybody.get(f"{LIST}?from=2050-11-05").json()["items"]
    assert [one["title"] for one in found] == ["体操"]
    assert found[0]["starts_at"] == "2050-11-08T10:00:00+09:00"
    assert [one["starts_at"][:10] for one in found[0]["occurrences"]] == ["2050-11-01", "2050-11-08", "2050-11-15"]
    assert harness.anybody.get(f"{LIST}/{event}").json()["occurrences"] == []


def test_hidden_events_and_quarantine_are_for_those_who_are_signed_in(shown: ServiceHarness) -> None:
    for status, expected in (("hidden", ["内覧会"]), ("quarantine", ["日時のない会"])):
        assert shown.anybody.get(f"{LIST}?status={status}").status_code == 403
        assert titles(shown.viewer.get(f"{LIST}?status={status}").json()) == expected
    assert shown.anybody.get(f"{LIST}?status=active").status_code == 200


def test_who_has_a_list_is_told_so_until_it_changes(harness: ServiceHarness) -> None:
    first = harness.anybody.get(f"{LIST}?city=花巻市")
    assert first.headers["last-modified"].endswith(" GMT")
    known = {"if-none-match": f'W/"other", {first.headers["etag"]}'}
    again = harness.anybody.get(f"{LIST}?city=花巻市", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    harness.editor.patch(f"{LIST}/{first.json()['items'][0]['id']}", json={"price": "500円"})
    changed = harness.anybody.get(f"{LIST}?city=花巻市", headers=known)
    assert (changed.status_code, changed.json()["items"][0]["price"]) == (200, "500円")


def test_what_somebody_signed_in_reads_is_not_handed_on(shown: ServiceHarness) -> None:
    assert shown.viewer.get(LIST).headers["cache-control"].startswith("private")
    assert "Authorization" in shown.anybody.get(LIST).headers["vary"]


def test_cities_and_categories_are_those_of_the_calendar(shown: ServiceHarness) -> None:
    assert shown.anybody.get("/api/v1/cities").json() == {"items": ["盛岡市", "花巻市"]}
    assert shown.anybody.get("/api/v1/categories").json() == {"items": ["music", "展示", "祭り"]}
