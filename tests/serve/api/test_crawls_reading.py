"""What a crawl found, over REST: every list and file, of finished, running, waiting and lost crawls, and hostile parameters."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from tadoru.serve.roles import Role
from tests.jobs.audit_crawls import hostile, large
from tests.serve.api.crawl_harness import CRAWLS, CrawlHarness
from tests.support.crawled import FORMULA, SCRIPT

READS = ("/overview", "/findings", "/findings/title-missing", "/pages", "/pages/1", "/links", "/graph", "/compare",
         "/export?format=csv", "/export?format=xlsx", "/export?format=dot")  # fmt: skip


def walked(harness: CrawlHarness, address: str | None) -> list[Any]:
    found: list[Any] = []
    while address:
        answer = harness.viewer.get(address)
        assert answer.status_code == 200, answer.text
        found += answer.json()["items"]
        address = answer.json()["next"]
        assert (answer.headers.get("link") == f'<{address}>; rel="next"') == (address is not None)
    return found


@pytest.mark.parametrize("what", ["/overview", "/findings?lang=ja", "/findings/link-broken", "/pages?of=all", "/pages/2?lang=ja",
                                  "/links", "/graph", "/compare?run=previous", "/runs"])  # fmt: skip
@pytest.mark.parametrize("kind", ["audit", "links", "docs"])
def test_an_answer_is_what_the_description_says(read_desk: CrawlHarness, kind: str, what: str) -> None:
    told = read_desk.viewer.get(read_desk.at(getattr(read_desk, kind), what))
    if kind != "audit" and what.startswith(("/compare", "/findings/")):
        assert told.status_code in (404, 409)
        return
    assert told.status_code == 200, told.text
    document = read_desk.app.openapi()
    path = what.partition("?")[0].replace("/pages/2", "/pages/{page_id}").replace("/findings/link-broken", "/findings/{check}")
    schema = document["paths"][f"{CRAWLS}/{{crawl_id}}{path}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    problem = next(Draft202012Validator({**schema, "components": document["components"]}).iter_errors(told.json()), None)
    assert problem is None, problem
    assert (
        read_desk.viewer.get(told.request.url.raw_path.decode(), headers={"if-none-match": told.headers["etag"]}).status_code
        == 304
    )


def test_an_overview_has_figures_and_runs(read_desk: CrawlHarness) -> None:
    found = read_desk.viewer.get(read_desk.at(read_desk.audit, "/overview")).json()
    assert (found["pages"], found["codes"], found["outcome"]) == (7, {"200": 3, "301": 2, "404": 1, "410": 1}, "complete")
    assert [one["number"] for one in found["runs"]] == [1, 2]


def test_findings_lead_to_the_pages_that_have_them(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/findings")
    listed = read_desk.viewer.get(f"{where}?severity=error&lang=ja").json()["items"]
    assert listed
    assert {one["severity"] for one in listed} == {"error"}
    for one in listed:
        assert len(walked(read_desk, f"{where}/{one['id']}?limit=1")) == one["count"]
    assert len(read_desk.viewer.get(f"{where}?all=true").json()["items"]) > 150


def test_pages_are_walked_filtered_and_ordered(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/pages")
    every = walked(read_desk, where)
    assert walked(read_desk, f"{where}?limit=1") == every
    assert sorted(walked(read_desk, f"{where}?limit=3&sort=size"), key=str) == sorted(every, key=str)
    assert [one["status_code"] for one in walked(read_desk, f"{where}?status=4xx&sort=status_code")] == [404, 410]
    assert [one["status"] for one in walked(read_desk, f"{where}?status=skipped")] == ["skipped"]
    assert [one["internal"] for one in walked(read_desk, f"{where}?of=others")] == [False]
    assert {one["depth"] for one in walked(read_desk, f"{where}?depth=1")} == {1}
    assert all(one["indexable"] for one in walked(read_desk, f"{where}?indexable=true&content_type=text/html"))
    assert walked(read_desk, f"{where}?q=no-such-thing") == []


def test_a_page_leads_to_more_of_its_links(read_desk: CrawlHarness) -> None:
    home = walked(read_desk, read_desk.at(read_desk.audit, "/pages?sort=found"))[0]["id"]
    found = read_desk.viewer.get(read_desk.at(read_desk.audit, f"/pages/{home}?links=2")).json()
    assert (len(found["outlinks"]["items"]), found["outlinks"]["total"]) == (2, 7)
    rest = read_desk.at(read_desk.audit, f"/links?source={home}&cursor={found['outlinks']['next']}")
    assert len(walked(read_desk, rest)) == 5


def test_hostile_text_is_data_and_nothing_else(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit)
    listed = read_desk.viewer.get(f"{where}/pages?q=HYPERLINK")
    assert listed.headers["content-type"] == "application/json"
    assert listed.headers["x-content-type-options"] == "nosniff"
    assert [one["title"] for one in listed.json()["items"]] == [FORMULA + SCRIPT]
    rows = list(csv.DictReader(io.StringIO(read_desk.viewer.get(f"{where}/export?format=csv").text, newline="")))
    assert [row["title"] for row in rows if "HYPERLINK" in row["title"]] == [f"'{FORMULA}{SCRIPT}"]


def test_the_graph_is_json_or_a_picture(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/graph")
    found = read_desk.viewer.get(where, headers={"accept": "application/json, image/svg+xml"}).json()
    assert len(found["nodes"]) == 7
    drawn = read_desk.viewer.get(f"{where}?lang=ja", headers={"accept": "image/svg+xml"})
    assert (drawn.headers["content-type"], drawn.headers["content-security-policy"]) == (
        "image/svg+xml", "default-src 'none'; sandbox",
    )  # fmt: skip
    assert ElementTree.fromstring(drawn.text).tag.endswith("svg")
    known = read_desk.viewer.get(f"{where}?lang=ja", headers={"accept": "image/svg+xml", "if-none-match": drawn.headers["etag"]})
    assert known.status_code == 304
    assert len(read_desk.viewer.get(f"{where}?most=2").json()["nodes"]) <= 2


def test_a_crawl_is_compared_with_its_run_before_and_with_another(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/compare")
    assert read_desk.viewer.get(where).json()["totals"]["broken"] == 1
    other = read_desk.viewer.get(f"{where}?with={read_desk.links.id}")
    assert other.json()["before"]["run"] == 1
    for wrong, status in (
        (f"?with={read_desk.audit.id}", 409), ("?with=999", 404), (f"?with={read_desk.waiting.id}", 409), ("?with=x", 422),
        ("?run=3", 422), (f"?run=previous&with={read_desk.links.id}", 422), ("?with=../../etc/passwd", 422), ("?shown=-1", 422),
    ):  # fmt: skip
        assert read_desk.viewer.get(where + wrong).status_code == status, wrong


@pytest.mark.parametrize(
    "asked, name, kind",
    [
        ("format=csv", "pages.csv", "text/csv; charset=utf-8"),
        ("format=jsonl&table=links&status=4xx", "links.jsonl", "application/x-ndjson"),
        (
            "format=xlsx&table=pages&table=findings",
            "tables.xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        ("format=csv&table=findings&severity=error", "findings.csv", "text/csv; charset=utf-8"),
        ("format=sitemap", "sitemap.xml", "application/xml"),
        ("format=dot", "dot.dot", "text/vnd.graphviz; charset=utf-8"),
    ],
)
def test_a_crawl_is_taken_away_as_a_file(read_desk: CrawlHarness, asked: str, name: str, kind: str) -> None:
    sent = read_desk.viewer.get(read_desk.at(read_desk.audit, f"/export?{asked}"))
    assert sent.status_code == 200, sent.text
    assert sent.headers["content-disposition"] == f'attachment; filename="crawl-{read_desk.audit.id}-{name}"'
    assert (sent.headers["content-type"], sent.headers["cache-control"]) == (kind, "private, no-store")
    assert sent.content


def test_exports_have_what_was_asked_for(read_desk: CrawlHarness) -> None:
    where = read_desk.at(read_desk.audit, "/export?")
    lines = [json.loads(line) for line in read_desk.viewer.get(f"{where}format=jsonl&table=links&status=4xx").text.splitlines()]
    assert {line["target_status_code"] for line in lines} == {404, 410}
    graph = read_desk.viewer.get(f"{where}format=dot").text
    assert graph.startswith("digraph")


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "format=exe",
        "format=warc",
        "format=../../etc/passwd",
        "format=csv&table=../../etc/passwd",
        "format=csv&table=sqlite_schema",
        "format=csv&table=pages%0d%0aX-Evil:%201",
        "format=csv&table=pages&table=links",
        "format=csv&status=abc",
        "format=csv&check=../../x",
        "format=csv&severity=fatal",
        "format=csv&table=runs&status=404",
        "format=sitemap&table=links",
        "format=csv&output=/etc/passwd",
        "format=csv&table=",
    ],
)
def test_an_export_that_makes_no_sense_is_refused(read_desk: CrawlHarness, asked: str) -> None:
    told = read_desk.viewer.get(read_desk.at(read_desk.audit, f"/export?{asked}"))
    assert (told.status_code, told.headers["content-type"]) == (422, "application/problem+json"), told.text
    assert "x-evil" not in told.headers


@pytest.mark.parametrize(
    "asked, status",
    [
        ("/findings/..%2f..%2fetc%2fpasswd", 404),
        ("/findings/%00", 404),
        ("/findings/no-such-check", 404),
        (f"/findings/{'x' * 101}", 422),
        ("/findings?severity=fatal", 422),
        ("/findings?lang=de", 422),
        ("/findings/title-missing?cursor=x", 422),
        ("/pages/0", 422),
        ("/pages/999999", 404),
        ("/pages/%2e%2e%2f1", 404),
        ("/pages/1%20OR%201=1", 422),
        ("/pages?limit=0", 422),
        ("/pages?limit=201", 422),
        ("/pages?cursor=abc", 422),
        ("/pages?cursor=WyJ1cmw6dXAiLCAxXQ", 422),
        (f"/pages?cursor={'A' * 9000}", 422),
        ("/pages?sort=password", 422),
        ("/pages?sort=url&order=sideways", 422),
        ("/pages?status=6xx1", 422),
        ("/pages?depth=-1", 422),
        ("/pages?indexable=perhaps", 422),
        (f"/pages?q={'x' * 201}", 422),
        ("/pages?nonsense=1", 422),
        ("/pages?q=%00%25_'", 200),
        ("/pages?q=%ed%a0%80", 200),
        ("/links?source=x", 422),
        ("/links?target=99999999999999999999", 422),
        ("/links?cursor=W10", 422),
        ("/links?q=%27%3B--", 200),
        ("/graph?most=0", 422),
        ("/graph?most=1001", 422),
        ("/runs?cursor=0", 422),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(read_desk: CrawlHarness, asked: str, status: int) -> None:
    told = read_desk.viewer.get(read_desk.at(read_desk.audit, asked))
    assert told.status_code == status, told.text
    if status != 200:
        assert told.headers["content-type"] == "application/problem+json"
        assert told.json()["detail"].endswith((".", "errors."))


@pytest.mark.parametrize("what", READS)
def test_what_has_not_begun_or_is_gone_is_a_clear_answer(read_desk: CrawlHarness, what: str) -> None:
    waiting = read_desk.viewer.get(read_desk.at(read_desk.waiting, what))
    assert (waiting.status_code, "is queued and has no results" in waiting.json()["detail"]) == (409, True)
    lost = read_desk.viewer.get(read_desk.at(read_desk.lost, what))
    assert (lost.status_code, "its file was deleted" in lost.json()["detail"]) == (409, True)
    assert str(Path(read_desk.store.db.database).parent) not in lost.text


def test_a_crawl_is_read_while_it_runs(crawl_harness: CrawlHarness, tmp_path: Path) -> None:
    crawl = crawl_harness.claimed()
    beginning = crawl_harness.viewer.get(crawl_harness.at(crawl, "/overview"))
    assert (beginning.status_code, "is starting and has no results" in beginning.json()["detail"]) == (409, True)
    place = Path(crawl_harness.store.db.database).parent / "var" / crawl.place
    place.parent.mkdir(parents=True)
    large(place, 40, settled=False)
    with closing(sqlite3.connect(place, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE pages SET status = 'queued' WHERE id > 30")
        for what in READS:
            told = crawl_harness.viewer.get(crawl_harness.at(crawl, what))
            assert told.status_code == (409 if what == "/compare" else 200), (what, told.text)
        writer.execute("COMMIT")
        assert crawl_harness.viewer.get(crawl_harness.at(crawl, "/overview")).json()["waiting"] == 10


def test_a_database_that_is_torn_is_no_fault_of_the_service(crawl_harness: CrawlHarness) -> None:
    place = Path(crawl_harness.store.db.database).parent / "var" / crawl_harness.audit.place
    place.write_bytes(b"This is no database. " * 500)
    for what in (*READS, "/backup"):
        told = crawl_harness.admin.get(crawl_harness.at(crawl_harness.audit, what))
        assert (told.status_code, str(place) in told.text) == (503, False), what


def test_a_crawl_full_of_hostile_text_is_told_as_json(crawl_harness: CrawlHarness) -> None:
    place = Path(crawl_harness.store.db.database).parent / "var" / crawl_harness.lost.place
    place.parent.mkdir(parents=True)
    hostile(place)
    for what in ("/overview", "/findings", "/findings/test-hostile", "/pages?of=all", "/pages/1", "/links", "/graph"):
        told = crawl_harness.viewer.get(crawl_harness.at(crawl_harness.lost, what))
        assert (told.status_code, told.headers["content-type"]) == (200, "application/json"), told.text
        assert json.loads(told.content)


def test_a_backup_is_for_admins_and_opens(read_desk: CrawlHarness, tmp_path: Path) -> None:
    where = read_desk.at(read_desk.audit, "/backup")
    assert read_desk.client(Role.EDITOR).get(where).status_code == 403
    sent = read_desk.admin.get(where)
    assert sent.headers["content-disposition"] == f'attachment; filename="crawl-{read_desk.audit.id}.db"'
    copy = tmp_path / "copy.db"
    copy.write_bytes(sent.content)
    with closing(sqlite3.connect(copy)) as sql:
        assert sql.execute("SELECT count(*) FROM pages").fetchone()[0] > 7


def test_a_key_needs_the_scope_of_crawls(read_desk: CrawlHarness) -> None:
    stranger = read_desk.client(Role.EDITOR, "events:write", "sources:write")
    reader = read_desk.client(Role.VIEWER, "crawls:read")
    for what in ("", *READS):
        where = read_desk.at(read_desk.audit, what)
        assert (read_desk.anybody.get(where).status_code, stranger.get(where).status_code) == (401, 403)
    assert reader.get(read_desk.at(read_desk.audit)).status_code == 200
    assert reader.post(read_desk.at(read_desk.audit, "/run")).status_code == 403
