from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tadoru.jobs.audit.coverage import SkippedChecks
from tadoru.jobs.audit.criteria import BaselineFindings
from tadoru.jobs.audit.report.check_filter import CheckFilter
from tests.jobs.audit_crawls import HOME, HOSTILE, LONG, Crawl, hostile, large, small, told


def read(path: Path, **order: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(path, "json", **order))
    return found


def test_a_finding_has_everything_that_is_needed_to_mend_it(tmp_path: Path) -> None:
    found = read(small(tmp_path / "site.db"))["findings"]
    assert [(item["check"], item["url"].removeprefix(HOME)) for item in found] == [
        ("test-calm", "sitemap.xml"),
        ("test-long", ""),
        ("test-long", "about"),
        ("test-plain", "about"),
        ("test-broken", "about/team"),
    ]
    assert found[-1] == {
        "check": "test-broken",
        "severity": "error",
        "group": "responses",
        "url": HOME + "about/team",
        "subject": "",
        "detail": "404",
        "data": {},
        "status_code": 404,
        "inlink_count": 2,
        "inlinks": [
            {"url": HOME, "text": "Who we are", "rel": "", "kind": "a", "landmark": "content"},
            {"url": HOME + "about", "text": "Our team", "rel": "", "kind": "a", "landmark": "content"},
        ],
    }
    assert (found[0]["inlink_count"], found[0]["inlinks"], found[0]["status_code"]) == (0, [], None)
    assert found[2]["data"] == {"length": 72, "limit": 60}


def test_the_figures_are_there(tmp_path: Path) -> None:
    data = read(small(tmp_path / "site.db"))
    assert (data["schema"], data["schema_version"], data["score"], data["language"]) == ("tadoru-audit-report", 1, 82.0, "en")
    assert data["crawl"]["start_url"] == HOME
    assert data["crawl"]["started_at"] == "2023-11-14T22:13:20Z"
    assert data["pages"]["classes"] == {
        "2xx": 2, "3xx": 1, "4xx": 1, "5xx": 0, "no_answer": 0, "not_requested": 1, "waiting": 0,
    }  # fmt: skip
    assert data["pages"]["status_codes"] == {"200": 2, "301": 1, "404": 1}
    assert data["totals"]["severities"]["warning"] == {"findings": 2, "pages": 2}
    assert data["redirects"]["first"][0]["hops"] == [
        {"url": HOME + "old", "status_code": 301},
        {"url": HOME + "about", "status_code": 200},
    ]
    assert data["near_duplicates"] == {"clusters": 1, "first": [{"pages": 2, "urls": [HOME + "about", HOME + "old"]}]}
    assert data["response_times"]["histogram"][-1] == {"up_to_ms": None, "pages": 0}


def test_totals_agree_with_what_is_listed(tmp_path: Path) -> None:
    data = read(large(tmp_path / "site.db", 120))
    by_check: dict[str, int] = {}
    for item in data["findings"]:
        by_check[item["check"]] = by_check.get(item["check"], 0) + 1
    assert by_check == {check["id"]: check["count"] for check in data["checks"] if check["count"]}
    assert data["totals"]["findings"] == len(data["findings"]) > 300
    for severity, total in data["totals"]["severities"].items():
        pages = {item["url"] for item in data["findings"] if item["severity"] == severity}
        assert total["pages"] == len(pages)


def test_findings_come_in_an_order_that_does_not_depend_on_when_a_page_was_found(tmp_path: Path) -> None:
    texts = []
    for name, order in (("a", (1, 2, 3)), ("b", (3, 1, 2))):
        crawl = Crawl(tmp_path / f"{name}.db")
        crawl.page("", 0)
        for number in order:
            crawl.find(LONG, crawl.page(f"{number}", 1))
        texts.append([item["url"] for item in read(crawl.save())["findings"]])
    assert texts[0] == texts[1] == [f"{HOME}{number}" for number in (1, 2, 3)]


def test_a_killed_crawl_has_the_same_findings_and_links(tmp_path: Path) -> None:
    whole, killed = (read(small(tmp_path / f"{name}.db", settled=name == "whole"))["findings"] for name in ("whole", "killed"))
    assert whole == killed


def test_what_is_suppressed_is_not_listed_but_counted(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("test-long * # fine\ntest-broken https://nowhere.example/ # gone\n")
    data = read(small(tmp_path / "site.db"), suppress=str(known))
    assert "test-long" not in {item["check"] for item in data["findings"]}
    assert (data["totals"]["suppressed"], data["totals"]["findings"]) == (2, 3)
    (long,) = (check for check in data["checks"] if check["id"] == "test-long")
    assert (long["count"], long["suppressed"]) == (0, 2)
    assert data["unused_suppressions"] == [{"line": 2, "text": "test-broken https://nowhere.example/ # gone"}]


def test_it_speaks_japanese(tmp_path: Path) -> None:
    checks = read(small(tmp_path / "site.db"), lang="ja")["checks"]
    assert next(check for check in checks if check["id"] == LONG.id)["title"] == "長いタイトル"


def test_a_chosen_check_stands_alone(tmp_path: Path) -> None:
    data = read(small(tmp_path / "site.db"), check_filter=CheckFilter(checks=("test-long",)))
    assert [check["id"] for check in data["checks"]] == ["test-long"]
    assert {item["check"] for item in data["findings"]} == {"test-long"}


def test_a_crawl_without_findings_is_json_too(tmp_path: Path) -> None:
    assert read(Crawl(tmp_path / "site.db").save(None))["findings"] == []


@pytest.mark.parametrize("text", [HOSTILE, "\x1b[31m\u202e\u2028", "庭"], ids=["markup", "commands", "Japanese"])
def test_text_comes_back_as_it_was_and_can_not_steer_a_terminal(tmp_path: Path, text: str) -> None:
    path = hostile(tmp_path / "site.db", text)
    written = told(path, "json")
    assert not set(written) & set("\x1b\u202e\u2028")
    data = json.loads(written)
    assert data["findings"][1]["detail"] == text
    assert data["findings"][1]["inlinks"][0]["text"] == text


def test_it_is_a_baseline(tmp_path: Path) -> None:
    path = small(tmp_path / "site.db")
    (tmp_path / "list.json").write_text(told(path, "json"), "utf-8")
    before = BaselineFindings(str(tmp_path / "list.json"))
    assert (HOME + "about/team", "test-broken", "") in before
    assert (HOME + "sitemap.xml", "test-calm", HOME + "sitemap.xml") in before
    assert (HOME + "about", "test-broken", "") not in before


def fields(value: Any, prefix: str = "") -> set[str]:
    """The names in a document, those of a list's items with [] after the list's name."""
    if isinstance(value, dict):
        found = {f"{prefix}{name}" for name in value}
        return found.union(*(fields(each, f"{prefix}{name}.") for name, each in value.items()))
    if isinstance(value, list):
        return set[str]().union(*(fields(each, f"{prefix.removesuffix('.')}[].") for each in value))
    return set()


FREE = ("findings[].data.", "pages.status_codes.", "pages.classes.", "totals.severities.")
"""Whose names are values: codes, classes, severities, what a check has to say."""


def test_every_field_is_described(tmp_path: Path, checkout: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("zzz * # nothing\n")
    data = read(large(tmp_path / "site.db", 60), suppress=str(known)) | {"skipped": [{"reason": "x", "urls": 1}]}
    data["not_judged"] = [asdict(SkippedChecks("pages missing", ("page-orphan",)))]
    text = (checkout / "docs" / "reference" / "report.md").read_text("utf-8")
    described = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    written = {name for name in fields(data) if not name.startswith(FREE)}
    assert written - described == set()
    assert {name for name in described if not name.startswith("--")} - written == set()
