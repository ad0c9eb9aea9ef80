"""The reports for builds: one result for each place of a link that does not work, in the shapes that build servers read."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.report import LinksReport, links_format_of_path, write_links_report, write_report_file
from tadoru.jobs.links.report.build_reports import write_annotations
from tadoru.jobs.links.result import BrokenLink, LinkSource
from tadoru.jobs.reporting.output import append_step_summary
from tests.jobs.links_sites import HOME, crawl, failure, page, report, small

GONE = HOME + "gone"
GUIDE = LinkSource("file:///site/guide.md", "old page", file="docs/guide.md", line=12, column=5, kind="a")


def written(given: LinksReport, form: str) -> str:
    out = io.StringIO()
    write_links_report(given, form, out)
    return out.getvalue()


def local(*sources: LinkSource) -> LinksReport:
    """A broken link in local files."""
    link = BrokenLink(GONE, 404, "404 Not Found", "broken", sources or (GUIDE,))
    return report(crawl(page(HOME)).with_bad_links([link]), checked=True)


def sarif(given: LinksReport) -> dict[str, Any]:
    (run,) = json.loads(written(given, "sarif"))["runs"]
    found: dict[str, Any] = run
    return found


def test_sarif_has_a_result_for_each_place() -> None:
    run = sarif(small())
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["broken-link", "missing-fragment", "blocked-link"]
    assert [
        (result["ruleId"], rules[result["ruleIndex"]], result["level"], result["message"]["text"]) for result in run["results"]
    ] == [
        ("broken-link", "broken-link", "error", f"Broken link: {HOME}about/team (404 Not Found) “Our team”"),
        ("broken-link", "broken-link", "error", f"Broken link: {HOME}about/team (404 Not Found) “Who we are”"),
        ("blocked-link", "blocked-link", "warning", "Blocked link: https://club.example/ (403 Forbidden) “The club”"),
    ]
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert places == [HOME + "about", HOME, HOME]


def test_sarif_names_the_line_of_a_local_file() -> None:
    (result,) = sarif(local())["results"]
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "docs/guide.md"}, "region": {"startLine": 12, "startColumn": 5}}}
    ]


def test_a_result_is_the_same_after_an_edit_above_it_and_differs_from_its_twin() -> None:
    before = [result["fingerprints"] for result in sarif(local(GUIDE, replace(GUIDE, line=14)))["results"]]
    after = [result["fingerprints"] for result in sarif(local(replace(GUIDE, line=20), replace(GUIDE, line=22)))["results"]]
    assert before == after
    assert before[0] != before[1]


def test_a_result_in_local_files_is_the_same_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        link = BrokenLink(f"{folder.as_uri()}/docs/gone.md", 404, "404 Not Found", "broken", (GUIDE,))
        found += sarif(report(crawl(page(HOME)).with_bad_links([link])))["results"]
    assert found[0] == found[1]
    assert found[0]["message"]["text"] == "Broken link: docs/gone.md (404 Not Found) “old page”"


def test_code_quality_has_what_gitlab_asks_for() -> None:
    (issue,) = json.loads(written(local(), "codequality"))
    assert issue.pop("fingerprint")
    assert issue == {
        "description": f"Broken link: {GONE} (404 Not Found) “old page”",
        "check_name": "broken-link",
        "severity": "major",
        "location": {"path": "docs/guide.md", "lines": {"begin": 12}},
    }
    assert json.loads(written(report(crawl(page(HOME))), "codequality")) == []


def test_junit_fails_a_case_for_each_place_and_skips_what_is_blocked() -> None:
    root = ET.fromstring(written(small(), "junit"))
    assert root.attrib == {"name": "tadoru links", "tests": "3", "failures": "2", "errors": "0", "skipped": "1"}
    (suite,) = root
    assert (suite.attrib["name"], suite.attrib["hostname"]) == ("Links of garden.example", "garden.example")
    cases = suite.findall("testcase")
    assert [(case.attrib["classname"], [child.tag for child in case]) for case in cases] == [
        (HOME + "about", ["failure"]), (HOME, ["failure"]), (HOME, ["skipped"]),
    ]  # fmt: skip
    assert cases[0][0].attrib == {"message": "404 Not Found", "type": "broken-link"}


def test_junit_names_the_line_of_a_local_file() -> None:
    (case,) = ET.fromstring(written(local(), "junit")).iter("testcase")
    assert (case.attrib["file"], case.attrib["line"]) == ("docs/guide.md", "12")
    assert (case[0].text or "").startswith("docs/guide.md:12:5\n")


def test_junit_of_a_site_without_problems_is_one_case_that_passes() -> None:
    root = ET.fromstring(written(report(crawl(page(HOME)), checked=True), "junit"))
    assert [(case.attrib["name"], len(case)) for case in root.iter("testcase")] == [("Every link works.", 0)]


def test_markdown_lists_links_with_their_places_and_the_external_hosts() -> None:
    text = written(small(), "markdown")
    assert text.startswith("## Links of garden.example\n\n4 requested of 6 found, 2.5 s.\n")
    assert "\n<details open><summary>🔴 Broken links \\(1\\)</summary>\n" in text
    assert "  - on [/about](<https://garden.example/about>) “Our team”\n" in text
    assert "| Host | Checked | Broken | Blocked | Redirects |\n" in text
    assert "| club.example | 1 | 0 | 1 | 0 |\n" in text


def test_markdown_names_the_line_of_a_local_file() -> None:
    assert "  - on docs/guide.md\\:12\\:5 “old page”\n" in written(local(), "markdown")


def test_markdown_of_thousands_of_links_fits_into_a_comment() -> None:
    links = [BrokenLink(f"{HOME}{number}", 404, "404 Not Found", "broken", (GUIDE,)) for number in range(5_000)]
    text = written(report(crawl(page(HOME)).with_bad_links(links), checked=True), "markdown")
    assert len(text) < 65_536
    assert " more links\n" in text


def test_text_names_the_line_of_a_local_file() -> None:
    assert "    on docs/guide.md:12:5  “old page”\n" in written(local(), "text")


def test_html_names_the_line_of_a_local_file_and_lists_the_external_hosts() -> None:
    assert "on docs/guide.md:12:5: <q>old page</q>" in written(local(), "html")
    text = written(small(), "html")
    assert '<td>club.example</td><td class="number">1</td><td class="number">0</td><td class="number">1</td>' in text
    assert "External hosts" not in written(local(), "html")


def test_an_annotation_of_a_local_file_appears_at_its_line() -> None:
    out = io.StringIO()
    write_annotations(local().broken, out)
    assert out.getvalue() == (
        f"::error file=docs/guide.md,line=12,col=5,title=Broken link::{GONE}: 404 Not Found%0Alinked from docs/guide.md:12:5 "
        "“old page”\n"
    )


def test_hosts_with_problems_come_first() -> None:
    external = tuple(page(f"https://{host}.example/{path}") for host in ("a", "b", "c") for path in ("1", "2"))
    result = crawl(page(HOME), external=external, failed=(failure("https://c.example/1"),))
    found = report(result, external=True).hosts()
    assert [(host.host, host.checked, host.broken) for host in found] == [
        ("c.example", 2, 1), ("a.example", 2, 0), ("b.example", 2, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name, form",
    [
        ("out.sarif", "sarif"), ("junit.xml", "junit"), ("OUT.MD", "markdown"), ("out.json", "json"), ("out.html", "html"),
        ("gl-code-quality-report.json", "codequality"), ("links-codequality.json", "codequality"), ("a/b.csv", "csv"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_chooses_the_format(name: str, form: str) -> None:
    assert links_format_of_path(name) == form


def test_a_name_without_a_known_ending_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Unknown report format of out\.pdf"):
        links_format_of_path("out.pdf")


def test_a_report_file_is_written_in_the_format_of_its_name(tmp_path: Path) -> None:
    write_report_file(local(), str(tmp_path / "links.sarif"))
    assert json.loads((tmp_path / "links.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_the_summary_of_a_step_is_added_to_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    append_step_summary(lambda out: out.write("not in a workflow\n"))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    append_step_summary(lambda out: out.write("after\n"))
    assert summary.read_text(encoding="utf-8") == "before\nafter\n"


@given(st.text(), st.text())
def test_crawled_text_breaks_no_format(error: str, anchor: str) -> None:
    link = BrokenLink(HOME + "x", 404, error, "broken", (LinkSource(HOME, anchor),))
    hostile = report(crawl(page(HOME)).with_bad_links([link]))
    assert len(sarif(hostile)["results"]) == 1
    assert len(json.loads(written(hostile, "codequality"))) == 1
    assert len(list(ET.fromstring(written(hostile, "junit")).iter("testcase"))) == 1
