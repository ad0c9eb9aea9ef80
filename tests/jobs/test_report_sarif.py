"""The SARIF form, held to what the schema of SARIF 2.1.0 asks of each object that is written."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.reporting.build_formats import FINGERPRINT, encode_uri
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.jobs.audit_crawls import BROKEN, CALM, HOME, LONG, Crawl, hostile, large, small, told
from tests.support.clock import FakeClock

URI = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
RESULT = {
    "ruleId", "ruleIndex", "level", "message", "locations", "fingerprints", "baselineState", "suppressions", "properties",
}  # fmt: skip
RULE = {"id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"}
RUN = {"tool", "language", "columnKind", "automationDetails", "invocations", "properties", "results"}


def read(path: Path, **order: Any) -> dict[str, Any]:
    """The one run of a log that is valid."""
    log = json.loads(told(path, "sarif", **order))
    assert set(log) == {"$schema", "version", "runs"}
    assert (log["version"], log["$schema"].rpartition("/")[2]) == ("2.1.0", "sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert set(run) == RUN
    assert re.fullmatch(r"[a-z]{2}-[A-Z]{2}", run["language"])
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    (invocation,) = run["invocations"]
    assert isinstance(invocation["executionSuccessful"], bool)
    for name in ("startTimeUtc", "endTimeUtc"):
        assert datetime.fromisoformat(invocation[name])
    driver = run["tool"]["driver"]
    assert set(driver) == {"name", "semanticVersion", "informationUri", "rules"}
    for rule in driver["rules"]:
        check_rule(rule)
    for result in run["results"]:
        check_result(result, driver["rules"])
    keys = [json.dumps(result["fingerprints"]) for result in run["results"]]
    assert len(set(keys)) == len(keys)
    found: dict[str, Any] = run
    return found


def check_rule(rule: dict[str, Any]) -> None:
    assert set(rule) == RULE
    assert set(rule["help"]) == {"text", "markdown"}
    assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
    assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    assert len(set(rule["properties"]["tags"])) == len(rule["properties"]["tags"])


def check_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    assert set(result) <= RESULT
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("none", "note", "warning", "error")
    assert result["message"]["text"]
    (location,) = result["locations"]
    assert URI.fullmatch(location["physicalLocation"]["artifactLocation"]["uri"])
    assert re.fullmatch(r"[0-9a-f]{64}", result["fingerprints"][FINGERPRINT])
    for suppression in result.get("suppressions", ()):
        assert suppression["kind"] in ("inSource", "external")
        assert suppression["status"] in ("accepted", "underReview", "rejected")
    assert result.get("baselineState", "new") in ("new", "unchanged", "updated", "absent")


def places(run: dict[str, Any], **wanted: Any) -> list[tuple[str, str]]:
    """Check and path of the results with these values."""
    return [
        (result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].removeprefix(HOME))
        for result in run["results"]
        if all(result.get(name) == value for name, value in wanted.items())
    ]


def test_each_finding_is_a_result_at_the_url_of_its_page(tmp_path: Path) -> None:
    run = read(small(tmp_path / "site.db"))
    assert places(run, level="error") == [(BROKEN.id, "about/team")]
    assert places(run, level="warning") == [(LONG.id, ""), (LONG.id, "about")]
    assert places(run, level="note") == [(CALM.id, "sitemap.xml"), ("test-plain", "about")]
    (broken,) = (result for result in run["results"] if result["ruleId"] == BROKEN.id)
    assert broken["message"] == {"text": "Broken page: 404"}
    assert "baselineState" not in broken
    (long,) = (rule for rule in run["tool"]["driver"]["rules"] if rule["id"] == LONG.id)
    assert long["help"]["markdown"] == (
        "**Why it matters**\n\nIt is cut off.\n\n**How to fix it**\n\nWrite less.\n\nThreshold: 60 characters"
    )


def test_a_fingerprint_is_the_same_in_every_crawl(tmp_path: Path) -> None:
    first, second = (read(small(tmp_path / f"{name}.db")) for name in "ab")
    assert [each["fingerprints"] for each in first["results"]] == [each["fingerprints"] for each in second["results"]]


def test_what_is_suppressed_is_there_with_its_reason(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("test-long https://garden.example/ # the board likes it\n")
    run = read(small(tmp_path / "site.db"), suppress=str(known))
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert [result["suppressions"] for result in suppressed] == [
        [{"kind": "external", "status": "accepted", "justification": "the board likes it"}]
    ]
    assert len(run["results"]) == 5


def earlier(path: Path) -> Path:
    """The same site, of which one page was better and one worse."""
    crawl = Crawl(path)
    home = crawl.page("", 0)
    gone = crawl.page("gone", 1)
    crawl.find(LONG, home)
    crawl.find(BROKEN, gone)
    crawl.find(CALM, subject=HOME + "sitemap.xml")
    return crawl.save()


def test_with_a_baseline_each_result_is_new_unchanged_or_absent(tmp_path: Path) -> None:
    run = read(small(tmp_path / "site.db"), baseline=str(earlier(tmp_path / "earlier.db")))
    assert places(run, baselineState="unchanged") == [(CALM.id, "sitemap.xml"), (LONG.id, "")]
    assert places(run, baselineState="new") == [(LONG.id, "about"), ("test-plain", "about"), (BROKEN.id, "about/team")]
    assert places(run, baselineState="absent") == [(BROKEN.id, "gone")]


def test_a_baseline_may_be_a_list(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(told(earlier(tmp_path / "earlier.db"), "json"), "utf-8")
    run = read(small(tmp_path / "site.db"), baseline=str(tmp_path / "list.json"))
    assert places(run, baselineState="unchanged") == [(CALM.id, "sitemap.xml"), (LONG.id, "")]
    assert places(run, baselineState="absent") == []


def test_the_crawl_itself_as_baseline_is_its_last_run(tmp_path: Path) -> None:
    path = small(tmp_path / "site.db")
    run_again(path)
    run = read(path, baseline=str(path))
    assert places(run, baselineState="absent") == [(BROKEN.id, "about/team")]
    assert len(places(run, baselineState="unchanged")) == 4


def test_a_crawl_of_one_run_is_no_baseline_of_itself(tmp_path: Path) -> None:
    path = small(tmp_path / "site.db")
    with pytest.raises(UsageError, match="is this crawl, which has no earlier run"):
        read(path, baseline=str(path))


def run_again(path: Path) -> None:
    """Crawl once more: what was broken is mended."""

    async def again() -> None:
        store = SqliteStore(str(path), FakeClock())
        number = await store.runs.begin_recrawl({}, "")
        assert number == 2
        store.sql.execute("DELETE FROM page_findings WHERE check_number = (SELECT number FROM checks WHERE id = ?)", (BROKEN.id,))
        store.sql.execute("UPDATE pages SET status = 'completed' WHERE status = 'queued'")
        await store.runs.end(number, "complete", 90.0)
        await store.close()

    asyncio.run(again())


def test_an_unfinished_crawl_was_no_success(tmp_path: Path) -> None:
    log = json.loads(told(small(tmp_path / "site.db", outcome="limit"), "sarif"))
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_the_whole_catalogue_is_valid_in_japanese(tmp_path: Path) -> None:
    run = read(large(tmp_path / "site.db", 80), lang="ja")
    assert run["language"] == "ja-JP"
    assert len(run["results"]) > 100


def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    run = read(hostile(tmp_path / "site.db"))
    assert len(run["results"]) == 2


@given(st.text())
def test_any_text_becomes_a_uri(text: str) -> None:
    assert URI.fullmatch(encode_uri(text))
    assert encode_uri(encode_uri(text)) == encode_uri(text)


@pytest.mark.parametrize(
    "text, shown",
    [("https://x.example/%E5?a=b c", "https://x.example/%E5?a=b%20c"), ("50%", "50%25"), ("庭", "%E5%BA%AD")],
    ids=["a space", "a percent sign", "Japanese"],
)
def test_what_a_uri_can_not_hold_is_written_in_bytes(text: str, shown: str) -> None:
    assert encode_uri(text) == shown


def test_code_quality_has_an_issue_for_each_finding_that_is_not_suppressed(tmp_path: Path) -> None:
    path = small(tmp_path / "site.db")
    issues = json.loads(told(path, "codequality"))
    assert {issue["check_name"]: issue["severity"] for issue in issues}[BROKEN.id] == "major"
    assert all(set(issue) == {"description", "check_name", "fingerprint", "severity", "location"} for issue in issues)
    accepted = tmp_path / "accepted.txt"
    accepted.write_text(f"{BROKEN.id} * # known\n", encoding="utf-8")
    left = json.loads(told(path, "codequality", suppress=str(accepted)))
    assert BROKEN.id not in {issue["check_name"] for issue in left}
