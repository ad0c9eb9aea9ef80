"""The register of sources, trying and collecting them, and the log: over REST, and within what the network may."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadoru.serve.roles import Role
from tests.support.serving import ServiceHarness
from tests.support.site import Site

SOURCES = "/api/v1/admin/sources"
TOWN = {"name": "Town", "type": "ics", "url": "https://town.example/events.ics", "city": "盛岡市"}
ICS = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//T//T//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20490101T000000Z\r\n"
    "DTSTART;TZID=Asia/Tokyo:20500801T100000\r\nSUMMARY:朝市\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.reply("/events.ics", body=ICS, headers={"Content-Type": "text/calendar"})
        yield site


@pytest.mark.parametrize("path", [SOURCES, "/admin/sources"])
def test_a_source_is_added_and_listed(near_desk: ServiceHarness, path: str) -> None:
    made = near_desk.editor.post(path, json=TOWN)
    assert made.status_code == 201, made.text
    assert made.headers["location"] == f"{SOURCES}/{made.json()['id']}"
    assert made.json()["state"]["failures"] == 0
    assert near_desk.viewer.get(path).json() == {"items": [made.json()], "next": None}
    assert near_desk.viewer.get(made.headers["location"]).json() == made.json()
    assert near_desk.anybody.get(path).status_code == 401
    assert near_desk.viewer.post(path, json=TOWN).status_code == 403


def test_a_source_is_changed_switched_and_removed_and_its_history_stays(near_desk: ServiceHarness) -> None:
    url = near_desk.editor.post(SOURCES, json=TOWN).headers["location"]
    assert near_desk.editor.patch(url, json={"frequency": "high", "notes": "x"}).json()["frequency"] == "high"
    assert near_desk.editor.post(f"{url}/disable").json()["enabled"] is False
    assert near_desk.viewer.get(f"{SOURCES}?enabled=true").json()["items"] == []
    assert near_desk.editor.post(f"{url}/enable").json()["enabled"] is True
    removed = near_desk.editor.delete(url)
    assert (removed.status_code, removed.content) == (204, b"")
    assert near_desk.viewer.get(url).status_code == 404
    history = near_desk.viewer.get(f"{url}/history").json()["items"]
    assert [one["field"] for one in history] == ["source", "frequency", "notes", "enabled", "enabled", "source"]
    assert {one["by"] for one in history} == {"key:editor"}


@pytest.mark.parametrize(
    "change, words",
    [
        ({"url": "ftp://town.example/"}, ""),
        ({"url": ""}, ""),
        ({"name": ""}, "See errors"),
        ({"name": "Other"}, "already"),
        ({"type": "pdf"}, "See errors"),
        ({"timezone": "Mars"}, "time zone"),
        ({"settings": {"reader": "none"}}, ""),
        ({"depends_on": 1}, "depend on itself"),
        ({"depends_on": 99}, "Source 99 not found"),
        ({"secret": "HOME"}, "See errors"),
        ({"allow_private": True}, "See errors"),
        ({"named_host": "127.0.0.1:80"}, "See errors"),
        ({}, "Nothing to change"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(near_desk: ServiceHarness, change: dict[str, Any], words: str) -> None:
    url = near_desk.editor.post(SOURCES, json=TOWN).headers["location"]
    near_desk.editor.post(SOURCES, json={**TOWN, "name": "Other", "url": "https://other.example/"})
    before = near_desk.viewer.get(url).json()
    refused = near_desk.editor.patch(url, json=change)
    assert (refused.status_code, words in refused.json()["detail"]) == (422, True), refused.text
    assert near_desk.viewer.get(url).json() == before


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/a", "http://localhost:9/a", "http://[::1]/", "http://169.254.169.254/latest", "http://10.0.0.1/x"]
)
def test_nobody_leads_the_service_into_its_own_network(harness: ServiceHarness, url: str) -> None:
    refused = harness.editor.post(SOURCES, json={**TOWN, "url": url})
    assert (refused.status_code, "private" in refused.json()["detail"]) == (422, True)
    assert harness.editor.patch(f"{SOURCES}/1", json={"url": url}).status_code == 422


def test_a_name_that_does_not_resolve_yet_is_not_permitted_for_later(harness: ServiceHarness) -> None:
    made = harness.editor.post(SOURCES, json={**TOWN, "url": "https://later.invalid/x"})
    assert made.status_code == 201
    assert harness.store.sources.get(made.json()["id"]).named_host == ""


@pytest.mark.parametrize("permitted", ["a host", "everything"])
def test_what_is_stored_with_a_source_lets_nobody_reach_a_private_address_by_the_service(
    permitted: str, harness: ServiceHarness, site: Site
) -> None:
    stored = {"named_host": f"127.0.0.1:{site.port}"} if permitted == "a host" else {"allow_private": True}
    source = harness.store.sources.add({"name": "At home", "type": "ics", "url": site.url("/events.ics"), **stored}, "test")
    url = f"{SOURCES}/{source.id}"
    assert "127.0.0.1 is a loopback address" in harness.editor.post(f"{url}/test").json()["error"]
    assert harness.editor.post(f"{url}/run").status_code == 202
    assert harness.service.collecting is not None
    harness.service.collecting.wait()
    assert harness.viewer.get(f"/api/v1/admin/runs?source={source.id}").json()["items"][0]["status"] == "fail"
    assert site.connections == 0
    for change in ({"url": "https://other.example/"}, {"type": "rss"}, {"settings": {"headers": {"X-A": "b"}}}):
        refused = harness.editor.patch(url, json=change)
        assert (refused.status_code, "private address" in refused.json()["detail"]) == (409, True), refused.text
    assert harness.editor.patch(url, json={"frequency": "low"}).status_code == 200


def test_an_operator_allows_sources_of_one_private_host(tmp_path: Path, site: Site) -> None:
    harness = ServiceHarness(tmp_path / "events.db", crawl_private=(f"127.0.0.1:{site.port}",))
    made = harness.editor.post(SOURCES, json={**TOWN, "url": site.url("/events.ics")})
    assert (made.status_code, harness.store.sources.get(made.json()["id"]).named_host) == (201, "")
    assert harness.editor.post(f"{made.headers['location']}/test").json()["counts"]["events"] == 1
    assert harness.editor.post(SOURCES, json={**TOWN, "name": "Other", "url": "http://127.0.0.1:9/"}).status_code == 422
    harness.close()


def test_a_source_that_sends_a_secret_keeps_where_it_is_sent(harness: ServiceHarness) -> None:
    harness.store.sources.edit(1, {"secret": "TOWN_TOKEN"}, "test")
    for change in ({"url": "https://thief.example/"}, {"type": "rss"}, {"settings": {"headers": {"X-A": "b"}}}):
        refused = harness.editor.patch(f"{SOURCES}/1", json=change)
        assert (refused.status_code, "secret" in refused.json()["detail"]) == (409, True)
    assert harness.editor.patch(f"{SOURCES}/1", json={"frequency": "low"}).status_code == 200


def test_a_source_is_tried_without_anything_being_stored(near_desk: ServiceHarness, site: Site) -> None:
    url = near_desk.editor.post(SOURCES, json={**TOWN, "url": site.url("/events.ics")}).headers["location"]
    trial = near_desk.editor.post(f"{url}/test?limit=5").json()
    assert (trial["error"], trial["counts"]) == (None, {"events": 1, "quarantined": 0, "missing": 0})
    assert trial["events"][0]["title"] == "朝市"
    assert near_desk.anybody.get("/api/v1/events").json()["items"] == []


FEED = f"<rss version='2.0'><channel><item><title>{'a' * 5_000}! 2050-08-01</title><link>/1</link></item></channel></rss>"
HOSTILE = r"(?:\w+\s?)+$"
"""Python's own engine takes longer than the universe is old for the title of that feed."""
LOOKING = {"date_from": "title", "date_pattern": r"(?<=on )\d+"}


def test_a_pattern_that_an_editor_types_cannot_hold_the_service(near_desk: ServiceHarness, site: Site) -> None:
    site.reply("/feed.xml", body=FEED, headers={"Content-Type": "application/rss+xml"})
    source = {**TOWN, "type": "rss", "url": site.url("/feed.xml"), "settings": {"date_pattern": HOSTILE}}
    url = near_desk.editor.post(SOURCES, json=source).headers["location"]
    assert near_desk.editor.post(f"{url}/test?limit=5").json()["error"] is None


def test_a_pattern_that_cannot_be_run_in_linear_time_is_refused(near_desk: ServiceHarness) -> None:
    refused = near_desk.editor.post(SOURCES, json={**TOWN, "type": "rss", "settings": LOOKING})
    assert refused.status_code == 422
    assert "lookaround" in refused.json()["detail"]


def test_a_source_that_was_saved_with_such_a_pattern_reports_it_when_it_is_collected(
    near_desk: ServiceHarness, site: Site
) -> None:
    site.reply("/feed.xml", body=FEED, headers={"Content-Type": "application/rss+xml"})
    url = near_desk.editor.post(SOURCES, json={**TOWN, "type": "rss", "url": site.url("/feed.xml")}).headers["location"]
    near_desk.store.sources.edit(1, {"settings": LOOKING}, "test")
    begun = near_desk.editor.post(f"{url}/run")
    assert near_desk.service.collecting is not None
    near_desk.service.collecting.wait()
    run = near_desk.viewer.get(begun.headers["location"]).json()["items"][0]
    assert (run["status"], "lookaround" in str(run)) == ("fail", True), run


def test_a_source_is_collected_in_the_background_and_the_log_tells_how_it_went(near_desk: ServiceHarness, site: Site) -> None:
    url = near_desk.editor.post(SOURCES, json={**TOWN, "url": site.url("/events.ics")}).headers["location"]
    gate = site.hold("/events.ics")
    begun = near_desk.editor.post(f"{url}/run")
    assert (begun.status_code, begun.json()) == (202, {"source_id": 1, "runs": "/api/v1/admin/runs?source=1"})
    site.wait_for(lambda site: site.hits("/events.ics") > 0)
    under_way = near_desk.viewer.get(begun.headers["location"]).json()["items"]
    assert [run["status"] for run in under_way] == [None]
    twice = near_desk.editor.post(f"{url}/run")
    assert (twice.status_code, "already" in twice.json()["detail"]) == (409, True)
    gate.release()
    assert near_desk.service.collecting is not None
    near_desk.service.collecting.wait()
    run = near_desk.viewer.get(begun.headers["location"]).json()["items"][0]
    assert (run["status"], run["upserted_count"]) == ("success", 1)
    assert near_desk.viewer.get(f"/api/v1/admin/runs/{run['id']}").json() == run
    assert near_desk.anybody.get("/api/v1/events").json()["items"][0]["title"] == "朝市"
    status = near_desk.viewer.get("/api/v1/admin/status").json()
    assert (status["totals"]["events"]["active"], status["sources"][0]["state"]) == (1, "ok")


def test_a_service_that_ends_finishes_what_was_begun(near_desk: ServiceHarness, site: Site) -> None:
    url = near_desk.editor.post(SOURCES, json={**TOWN, "url": site.url("/events.ics")}).headers["location"]
    near_desk.editor.post(f"{url}/run")
    collecting = near_desk.service.collecting
    assert collecting is not None
    site.wait_for(lambda site: site.hits("/events.ics") > 0)
    collecting.stop()
    assert [run.status for run in near_desk.store.runs.list()] == ["success"]
    assert near_desk.editor.post(f"{url}/run").status_code == 503


def test_runs_are_listed_in_pages_the_newest_first(harness: ServiceHarness) -> None:
    for _ in range(3):
        harness.calendar.say(harness.store.sources.get(1))
    first = harness.viewer.get("/api/v1/admin/runs?source=1&limit=3").json()
    rest = harness.viewer.get(first["next"]).json()
    numbers = [run["id"] for run in first["items"] + rest["items"]]
    assert numbers == sorted(numbers, reverse=True)
    assert (len(numbers), rest["next"]) == (4, None)


@pytest.mark.parametrize("path", [f"{SOURCES}/9", f"{SOURCES}/9/history", "/api/v1/admin/runs/9"])
def test_what_is_not_there_is_404(harness: ServiceHarness, path: str) -> None:
    answer = harness.viewer.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("act", ["enable", "disable", "test", "run"])
def test_nothing_is_done_to_a_source_that_is_not_there(harness: ServiceHarness, act: str) -> None:
    assert harness.editor.post(f"{SOURCES}/9/{act}").status_code == 404
    assert harness.editor.delete(f"{SOURCES}/9").status_code == 404


HEADERS = {"X-Api-Key": "sesame-open", "Accept-Language": "ja"}


def test_who_may_not_change_a_source_sees_no_values_of_its_headers(harness: ServiceHarness) -> None:
    made = harness.editor.post(SOURCES, json=TOWN | {"settings": {"headers": HEADERS}})
    assert (made.status_code, made.json()["settings"]) == (201, {"headers": HEADERS})
    where, number = made.headers["location"], made.json()["id"]
    assert harness.editor.patch(where, json={"settings": {"headers": HEADERS | {"X-Api-Key": "sesame-new"}}}).status_code == 200
    query = "query ($id: ID!) { sources { nodes { settings } } source(id: $id) { settings } "
    query += "runs { nodes { source { settings } } } }"
    reader = harness.client(Role.EDITOR, "sources:read", "events:write", "runs:read")  # An editor's role, but not for sources.
    for client in (harness.viewer, reader):
        told = [client.get(path) for path in (where, SOURCES, "/admin/sources", f"{where}/history")]
        told.append(client.post("/graphql", json={"query": query, "variables": {"id": number}}))
        assert [one.status_code for one in told] == [200] * 5
        assert "sesame" not in "".join(one.text for one in told)
        assert told[0].json()["settings"] == {"headers": dict.fromkeys(HEADERS, "***")}
    assert "sesame-new" in harness.editor.get(where).text
    assert "sesame-open" in harness.editor.get(f"{where}/history").text
    assert "sesame" not in harness.said.getvalue()
    assert "sesame" not in str(harness.store.audit.entries())
    assert "sesame" not in str(harness.store.messages.list(0))


def test_a_header_that_comes_back_hidden_stays_what_it_was(harness: ServiceHarness) -> None:
    where = harness.editor.post(SOURCES, json=TOWN | {"settings": {"headers": HEADERS}}).headers["location"]
    seen = harness.viewer.get(where).json()["settings"]
    seen["headers"]["Accept-Language"] = "en"
    told = harness.editor.patch(where, json={"settings": seen})
    assert told.json()["settings"] == {"headers": {"X-Api-Key": "sesame-open", "Accept-Language": "en"}}
    seen["headers"]["X-Other"] = "***"
    told = harness.editor.patch(where, json={"settings": seen})
    assert (told.status_code, "headers.X-Other" in told.json()["detail"]) == (422, True)
    new = TOWN | {"name": "Other", "url": "https://other.example/a.ics", "settings": {"headers": {"X-Api-Key": "***"}}}
    assert harness.editor.post(SOURCES, json=new).status_code == 422
