"""Crawls over REST: adding, running, pausing, stopping, changing, removing; who may, and what the log says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.api.crawl_harness import BY, CRAWLS, HERE, CrawlHarness

NEW = {"job": "audit", "starts": ["https://garden.example/"], "name": "Garden", "options": {"limit": 500}, "every": 86_400}


def test_a_crawl_is_added_listed_and_read(crawl_harness: CrawlHarness) -> None:
    made = crawl_harness.editor.post(CRAWLS, json=NEW)
    assert made.status_code == 201, made.text
    where = made.headers["location"]
    assert where == f"{CRAWLS}/{made.json()['id']}"
    assert (made.json()["state"], made.json()["every"], made.json()["created_by"]) == ("queued", 86_400, "key:editor")
    assert made.json()["options"]["limit"] == 500
    assert crawl_harness.viewer.get(where).json() == made.json()
    listed = crawl_harness.viewer.get(CRAWLS).json()["items"]
    assert [one["name"] for one in listed] == ["Garden", "Lost", "Waiting", "Docs", "Links", "Garden"]
    assert [one["name"] for one in crawl_harness.viewer.get(f"{CRAWLS}?job=links").json()["items"]] == ["Links"]


def test_a_list_of_crawls_goes_on_where_it_ended(crawl_harness: CrawlHarness) -> None:
    found, address = [], f"{CRAWLS}?limit=2"
    while address:
        answer = crawl_harness.viewer.get(address)
        found += [one["id"] for one in answer.json()["items"]]
        address = answer.json()["next"]
        assert (f'<{address}>; rel="next"' == answer.headers.get("link")) == (address is not None)
    assert found == sorted(found, reverse=True)
    assert len(found) == 5


def test_a_crawl_without_a_name_is_called_as_its_start(crawl_harness: CrawlHarness) -> None:
    made = crawl_harness.editor.post(CRAWLS, json={"job": "links", "starts": ["garden.example/a"]}).json()
    assert (made["name"], made["starts"]) == ("https://garden.example/a", ["https://garden.example/a"])


@pytest.mark.parametrize(
    "change",
    [
        {"job": "events"},
        {"job": None},
        {"starts": []},
        {"starts": ["ftp://garden.example/"]},
        {"starts": ["http://u:secret@garden.example/"]},
        {"starts": ["file:///etc/passwd"]},
        {"starts": ["http://127.0.0.1/"]},
        {"starts": ["http://[::1]/"]},
        {"starts": ["http://localhost:8000/"]},
        {"starts": ["http://169.254.169.254/latest/meta-data"]},
        {"starts": ["http://10.1.2.3/"]},
        {"starts": ["x" * 1001]},
        {"options": {"database": "/etc/passwd"}},
        {"options": {"proxy": "http://thief.example"}},
        {"options": {"allow_private": True}},
        {"options": {"header": ["A: b"]}},
        {"options": {"limit": 0}},
        {"options": {"limit": "x"}},
        {"options": {"ignore_robots": True}},
        {"options": []},
        {"every": 1},
        {"every": 1e9},
        {"every": "daily"},
        {"webhook": "http://127.0.0.1/hook"},
        {"webhook": "gopher://x"},
        {"name": "x" * 201},
        {"place": "/etc/passwd"},
        {"state": "finished"},
    ],
    ids=str,
)
def test_a_crawl_that_may_not_be_is_refused(read_desk: CrawlHarness, change: dict[str, Any]) -> None:
    before = read_desk.viewer.get(CRAWLS).json()
    refused = read_desk.editor.post(CRAWLS, json=NEW | change)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json"), refused.text
    assert refused.json()["detail"].endswith((".", "errors."))
    assert "secret" not in refused.text
    assert read_desk.viewer.get(CRAWLS).json() == before


def test_a_name_never_leaves_the_body_of_an_answer(crawl_harness: CrawlHarness) -> None:
    made = crawl_harness.editor.patch(crawl_harness.at(crawl_harness.audit), json={"name": "Evil\r\nX-Evil: 1"})
    assert made.json()["name"] == "Evil X-Evil: 1"
    sent = crawl_harness.viewer.get(crawl_harness.at(crawl_harness.audit, "/export?format=csv"))
    assert sent.headers["content-disposition"] == f'attachment; filename="crawl-{crawl_harness.audit.id}-pages.csv"'
    assert "x-evil" not in sent.headers


def test_only_an_admin_may_choose_to_ignore_robots_txt(crawl_harness: CrawlHarness) -> None:
    asked = NEW | {"options": {"ignore_robots": True}}
    assert crawl_harness.editor.post(CRAWLS, json=asked).status_code == 422
    assert crawl_harness.admin.post(CRAWLS, json=asked).json()["options"]["ignore_robots"] is True


def test_a_crawl_is_paused_resumed_stopped_and_run_again(crawl_harness: CrawlHarness) -> None:
    where = crawl_harness.at(crawl_harness.waiting)
    steps = [("pause", "paused"), ("resume", "queued"), ("stop", "stopped"), ("run", "queued")]
    for step, state in steps:
        told = crawl_harness.editor.post(f"{where}/{step}")
        assert (told.status_code, told.json()["state"], told.headers["location"]) == (202, state, where)
    crawl_harness.claimed({"pages": 3})
    assert crawl_harness.viewer.get(where).json()["progress"] == {"pages": 3}
    assert crawl_harness.editor.post(f"{where}/pause").json()["wanted"] == "pause"
    again = crawl_harness.editor.post(f"{where}/run")
    assert (again.status_code, "ending" in again.json()["detail"]) == (409, True)
    assert crawl_harness.editor.delete(where).status_code == 409
    crawl_harness.store.claims.end(crawl_harness.waiting.id, HERE, CrawlState.PAUSED, figures={"pages": 3})
    runs = crawl_harness.viewer.get(f"{where}/runs").json()
    assert [(one["outcome"], one["figures"]) for one in runs["items"]] == [("paused", {"pages": 3})]


def test_what_a_crawl_is_not_up_to_is_refused(crawl_harness: CrawlHarness) -> None:
    for what in ("pause", "stop"):
        told = crawl_harness.editor.post(crawl_harness.at(crawl_harness.audit, f"/{what}"))
        assert (told.status_code, what in told.json()["detail"]) == (409, True)
    assert crawl_harness.editor.post(crawl_harness.at(crawl_harness.waiting, "/run")).status_code == 409


def test_a_crawl_is_changed_and_what_is_not_given_stays(crawl_harness: CrawlHarness) -> None:
    where = crawl_harness.at(crawl_harness.audit)
    hook = "https://hooks.example/T0/secret-part"
    told = crawl_harness.editor.patch(where, json={"name": "Other", "every": 3600, "webhook": hook})
    assert (told.json()["name"], told.json()["every"], told.json()["has_webhook"]) == ("Other", 3600, True)
    assert "secret-part" not in told.text
    assert "secret-part" not in crawl_harness.admin.get(where).text
    assert "secret-part" not in crawl_harness.said.getvalue()
    kept = crawl_harness.editor.patch(where, json={"name": "Third"}).json()
    assert (kept["every"], kept["has_webhook"]) == (3600, True)
    ended = crawl_harness.editor.patch(where, json={"every": None, "webhook": None}).json()
    assert (ended["every"], ended["next_at"], ended["has_webhook"], ended["name"]) == (None, None, False, "Third")
    for nothing in ({}, {"name": None}):
        assert crawl_harness.editor.patch(where, json=nothing).status_code == 422
    assert crawl_harness.editor.patch(where, json={"job": "links"}).status_code == 422


def test_a_crawl_is_removed_with_its_files(crawl_harness: CrawlHarness) -> None:
    place = crawl_database(crawl_harness.service, crawl_harness.audit)
    assert place.is_file()
    removed = crawl_harness.editor.delete(crawl_harness.at(crawl_harness.audit))
    assert (removed.status_code, removed.content, place.parent.exists()) == (204, b"", False)
    assert crawl_harness.viewer.get(crawl_harness.at(crawl_harness.audit)).status_code == 404
    assert crawl_harness.viewer.get(crawl_harness.at(crawl_harness.audit, "/pages")).status_code == 404


def test_every_change_is_in_the_audit_log_once(crawl_harness: CrawlHarness) -> None:
    where = crawl_harness.editor.post(CRAWLS, json=NEW).headers["location"]
    for step in ("pause", "run", "stop"):
        crawl_harness.editor.post(f"{where}/{step}")
    crawl_harness.editor.patch(where, json={"name": "Other"})
    crawl_harness.editor.delete(where)
    number = where.rpartition("/")[2]
    lines = [one for one in crawl_harness.store.audit.entries(limit=50) if one.subject == f"crawl/{number}"]
    assert sorted(one.what for one in lines) == sorted(
        ["crawl.add", "crawl.pause", "crawl.run", "crawl.stop", "crawl.change", "crawl.remove"]
    )
    assert {one.who for one in lines} == {"key:editor"}


def test_what_a_crawl_said_is_read(crawl_harness: CrawlHarness) -> None:
    where = crawl_harness.at(crawl_harness.waiting, "/notices")
    assert crawl_harness.viewer.get(where).json() == {"items": []}
    for number in range(3):
        body = {"crawl_id": crawl_harness.waiting.id, "level": "warning", "text": f"<b>{number}</b>"}
        crawl_harness.store.messages.publish("crawl.notice", f"crawl/{crawl_harness.waiting.id}", body)
    found = crawl_harness.viewer.get(f"{where}?limit=2").json()["items"]
    assert [(one["level"], one["text"]) for one in found] == [("warning", "<b>1</b>"), ("warning", "<b>2</b>")]
    assert crawl_harness.viewer.get(crawl_harness.at(crawl_harness.audit, "/notices")).json() == {"items": []}
    assert crawl_harness.viewer.get(f"{CRAWLS}/999/notices").status_code == 404


def test_what_may_be_chosen_is_told(read_desk: CrawlHarness) -> None:
    found = read_desk.viewer.get("/api/v1/crawl-options").json()
    assert set(found) == {"audit", "links", "docs"}
    limit = next(one for one in found["audit"] if one["name"] == "limit")
    assert (limit["kind"], limit["least"], limit["most"]) == ("whole", 1, 1_000_000)
    assert {"header", "proxy", "auth_password", "database"}.isdisjoint(one["name"] for one in found["audit"])


def test_where_files_are_is_nobodys_business(crawl_harness: CrawlHarness) -> None:
    crawl_harness.store.crawls.add(
        "Old", "audit", ["https://a.example/"], {}, BY, place="/srv/old/crawl.db", state=CrawlState.FINISHED
    )
    found = crawl_harness.admin.get(CRAWLS)
    assert "/srv/old" not in found.text
    assert found.json()["items"][0]["has_own_files"] is False
    told = crawl_harness.viewer.get(f"{CRAWLS}/{found.json()['items'][0]['id']}/overview")
    assert (told.status_code, "/srv" in told.text) == (409, False)


@pytest.mark.parametrize("number", ["0", "-1", "999", "x", "1.5", "9" * 19, "9" * 40, "%2e%2e", "..%2f..%2fetc", "%00"])
@pytest.mark.parametrize("what", ["", "/runs", "/overview", "/pages", "/export?format=csv", "/backup"])
def test_a_number_that_is_none_is_not_found_or_refused(read_desk: CrawlHarness, number: str, what: str) -> None:
    told = read_desk.admin.get(f"{CRAWLS}/{number}{what}")
    assert told.status_code in (404, 422), told.text
    assert told.headers["content-type"] == "application/problem+json"


def test_one_user_cannot_fill_the_queue(crawl_harness: CrawlHarness) -> None:
    most = crawl_harness.service.options.crawls_queued
    told = [crawl_harness.editor.post(CRAWLS, json=NEW) for _ in range(most + 1)]
    assert [one.status_code for one in told] == [201] * most + [429]
    assert told[-1].headers["content-type"] == "application/problem+json"
    assert told[-1].headers["retry-after"] == "60"
    assert told[-1].json()["detail"].startswith(f"You have {most} queued crawls, the maximum per user")
    assert crawl_harness.editor.post(crawl_harness.at(crawl_harness.lost, "/run")).status_code == 429
    assert crawl_harness.admin.post(CRAWLS, json=NEW).status_code == 201
