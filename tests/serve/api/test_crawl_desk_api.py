"""What a team keeps about a crawl, over REST and GraphQL as on its pages: tables, views, segments, priorities, ignored findings,
links to reports, schedules."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tadoru.serve.roles import Role
from tests.serve.api.crawl_harness import CrawlHarness
from tests.serve.graphql.conftest import ask

TABLES = ("pages", "links", "redirects", "resources", "occurrences")


def rows_of(harness: CrawlHarness, address: str | None) -> list[Any]:
    """All rows of a table, page by page."""
    found: list[Any] = []
    while address:
        told = harness.viewer.get(address)
        assert told.status_code == 200, told.text
        found += told.json()["rows"]
        address = told.json()["next"]
    return found


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_walked_counted_and_exported(read_desk: CrawlHarness, table: str) -> None:
    where = read_desk.at(read_desk.audit, f"/tables/{table}")
    whole = read_desk.viewer.get(f"{where}?view=which=all&limit=200").json()
    assert len(whole["rows"]) == whole["total"]
    assert rows_of(read_desk, f"{where}?view=which=all&limit=2") == whole["rows"]
    told = read_desk.viewer.get(f"{where}/export?format=csv&view=which=all")
    head, *rows = csv.reader(io.StringIO(told.text))
    assert (head, len(rows)) == (whole["columns"], whole["total"])


def test_the_view_of_a_table_is_the_query_string_of_its_page(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/tables/pages")
    told = read_desk.viewer.get(where, params={"view": "answer=4xx&col=url&col=status_code&sort=status_code&order=down"}).json()
    assert told["columns"] == ["url", "status_code"]
    assert [row[1] for row in told["rows"]] == [410, 404]
    assert read_desk.viewer.get(read_desk.at(read_desk.audit, "/tables/users")).status_code == 422


def test_views_and_segments_are_kept_and_filter(crawl_harness: CrawlHarness) -> None:
    editor, at = crawl_harness.client(Role.EDITOR), crawl_harness.at
    where = at(crawl_harness.audit, "/views")
    made = editor.post(where, json={"tab": "pages", "name": "Gone", "query": "answer=4xx&cursor=x"})
    assert (made.status_code, made.json()["query"]) == (201, "answer=4xx")
    folders = [one["name"] for one in editor.get(at(crawl_harness.audit, "/segments")).json()["items"]]
    assert folders
    assert editor.post(where, json={"tab": "segments", "name": "All of it", "query": "/*"}).status_code == 201
    assert editor.post(where, json={"tab": "segments", "name": "Nothing", "query": "nowhere/"}).json()["query"] == "/nowhere/"
    found = {one["name"]: one["pages"] for one in editor.get(at(crawl_harness.audit, "/segments")).json()["items"]}
    everything = editor.get(at(crawl_harness.audit, "/tables/pages")).json()["total"]
    assert found["All of it"] > 0
    assert found["Nothing"] == 0
    table = at(crawl_harness.audit, "/tables/pages")
    assert editor.get(table, params={"view": "segment=All of it"}).json()["total"] == everything
    assert editor.get(table, params={"view": "segment=Nothing"}).json()["total"] == 0
    listed = editor.get(where).json()["items"]
    assert {one["name"] for one in listed} == {"Gone", "All of it", "Nothing"}
    for one in listed:
        assert editor.delete(f"{where}/{one['id']}").status_code == 204
    assert editor.get(where).json()["items"] == []
    assert editor.post(where, json={"tab": "segments", "name": "Bad", "query": "  "}).status_code == 422
    assert crawl_harness.viewer.post(where, json={"tab": "pages", "name": "x"}).status_code == 403


def test_the_folders_of_a_site_have_as_many_pages_as_their_filter_shows(read_desk: CrawlHarness) -> None:
    for one in read_desk.viewer.get(read_desk.at(read_desk.audit, "/segments")).json()["items"]:
        view = {"view": f"segment={one['name']}&answer=&col=url", "limit": "200"}
        rows = read_desk.viewer.get(read_desk.at(read_desk.audit, "/tables/pages"), params=view).json()
        requested = read_desk.viewer.get(
            read_desk.at(read_desk.audit, "/tables/pages"), params={"view": f"segment={one['name']}&answer=skipped"}
        ).json()["total"]
        assert rows["total"] - requested == one["pages"], one


def test_findings_are_sorted_by_what_to_fix_first_and_can_be_ignored(crawl_harness: CrawlHarness) -> None:
    editor, at = crawl_harness.client(Role.EDITOR), crawl_harness.at
    where = at(crawl_harness.audit, "/priorities")
    listed = editor.get(where).json()["items"]
    assert [one["priority"] for one in listed] == list(range(1, len(listed) + 1))
    by_count = [one["check"]["count"] for one in editor.get(f"{where}?sort=count").json()["items"]]
    assert by_count == sorted(by_count, reverse=True)
    first = listed[0]["check"]["id"]
    told = editor.post(at(crawl_harness.audit, "/ignored"), json={"check": first, "reason": "Known."})
    assert told.status_code == 201
    now = {one["check"]["id"]: one for one in editor.get(where).json()["items"]}[first]
    assert (now["state"], now["reason"]) == ("ignored", "Known.")
    assert now["priority"] > 1
    assert editor.delete(at(crawl_harness.audit, f"/ignored/{told.json()['items'][0]['id']}")).status_code == 204
    assert editor.get(where).json()["items"] == listed
    assert editor.get(f"{where}?segment=/no-such-folder/").json()["items"] == []


def test_a_report_is_shared_by_a_link_that_can_be_revoked(crawl_harness: CrawlHarness) -> None:
    editor, public = crawl_harness.client(Role.EDITOR), crawl_harness.client()
    where = crawl_harness.at(crawl_harness.audit, "/shares")
    link = editor.post(where, json={"label": "Client", "days": 7}).json()["url"]
    path = link[link.index("/shared") :]
    assert public.get(path).status_code == 200
    (share,) = editor.get(where).json()["items"]
    assert (share["label"], "token_hash" in share) == ("Client", False)
    assert editor.delete(f"{where}/{share['id']}").status_code == 204
    assert public.get(path).status_code == 404
    assert editor.post(crawl_harness.at(crawl_harness.links, "/shares"), json={}).status_code == 409
    assert crawl_harness.viewer.get(where).status_code == 403


def test_a_crawl_gets_a_schedule_and_recipients(crawl_harness: CrawlHarness) -> None:
    editor, where = crawl_harness.client(Role.EDITOR), crawl_harness.at(crawl_harness.audit)
    told = editor.patch(where, json={"schedule": "mon 03:00 Asia/Tokyo", "report_to": "mia@garden.example"}).json()
    assert (told["schedule"], told["every"], told["has_recipients"]) == ("mon 03:00 Asia/Tokyo", 604_800, True)
    assert told["next_at"] is not None
    told = editor.patch(where, json={"every": None, "report_to": ""}).json()
    assert (told["schedule"], told["every"], told["next_at"], told["has_recipients"]) == ("", None, None, False)
    assert editor.patch(where, json={"schedule": "someday"}).status_code == 422


QUERY = """query ($id: ID!, $view: String!) { crawl(id: $id) { schedule views { tab name query } segments { name pages }
    table(name: "pages", view: $view, first: 1) { columns rows total next }
    priorities(sort: "severity") { priority state effect effort check { id count } }
    ignored { checkId reason } shares { label } } }"""


def test_graphql_reads_the_same(crawl_harness: CrawlHarness) -> None:
    editor, at = crawl_harness.client(Role.EDITOR), crawl_harness.at
    editor.post(at(crawl_harness.audit, "/views"), json={"tab": "segments", "name": "Everything", "query": "/*"})
    editor.post(at(crawl_harness.audit, "/shares"), json={"label": "Client"})
    view = "answer=4xx&col=url"
    found = ask(editor, QUERY, id=str(crawl_harness.audit.id), view=view)["data"]["crawl"]
    table = editor.get(at(crawl_harness.audit, "/tables/pages"), params={"view": view, "limit": "1"}).json()
    assert (found["table"]["rows"], found["table"]["total"]) == (table["rows"], table["total"])
    assert found["views"] == [{"tab": "segments", "name": "Everything", "query": "/*"}]
    assert [one["name"] for one in found["segments"]] == ["Everything"]
    assert found["shares"] == [{"label": "Client"}]
    listed = editor.get(at(crawl_harness.audit, "/priorities?sort=severity")).json()["items"]
    assert [one["check"]["id"] for one in found["priorities"]] == [one["check"]["id"] for one in listed]
    denied = ask(crawl_harness.viewer, QUERY, id=str(crawl_harness.audit.id), view=view)
    assert denied["data"]["crawl"]["shares"] is None
