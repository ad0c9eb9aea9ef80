"""The JUnit form, held to the shape that build servers check."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.jobs.audit_crawls import BROKEN, HOSTILE, LONG, PLAIN, Crawl, hostile, large, small, told
from tests.support.properties import examples

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "testcase": ["skipped", "failure", "system-out"],
}


def read(text: str) -> ET.Element:
    root = ET.fromstring(text)
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag], element.tag
        children = [child.tag for child in element]
        assert set(children) <= set(CHILDREN.get(element.tag, ())), element.tag
        assert children == sorted(children, key=CHILDREN.get(element.tag, []).index), "the schema is a sequence"
        if element.tag in ("testsuites", "testsuite"):
            cases = list(element.iter("testcase"))
            assert int(element.attrib["tests"]) == len(cases)
            assert int(element.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)
            assert int(element.attrib["skipped"]) == sum(case.find("skipped") is not None for case in cases)
    return root


def case(root: ET.Element, name: str) -> ET.Element:
    (found,) = (each for each in root.iter("testcase") if each.attrib["name"].endswith(f"({name})"))
    return found


def test_a_suite_for_each_group_and_a_case_for_each_check(tmp_path: Path) -> None:
    root = read(told(small(tmp_path / "site.db"), "junit"))
    suites = {suite.attrib["name"]: [each.attrib["name"] for each in suite.iter("testcase")] for suite in root}
    assert suites == {
        "Response codes": ["Broken page (test-broken)"],
        "Page titles": ["Long title (test-long)", "Plain title (test-plain)"],
        "URLs": ["Calm URL (test-calm)", "Dirty URL (test-clean)"],
    }
    assert root.attrib == {"name": "tadoru audit", "tests": "5", "failures": "2", "errors": "0", "skipped": "0"}
    first = root[0]
    assert (first.attrib["hostname"], first.attrib["timestamp"]) == ("garden.example", "2023-11-14T22:13:20")
    assert case(root, "test-broken").attrib["classname"] == "tadoru.responses"


def test_a_failure_names_the_pages_and_where_they_are_linked(tmp_path: Path) -> None:
    failure = case(read(told(small(tmp_path / "site.db"), "junit")), BROKEN.id).find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "Broken page: 1 finding", "type": "error"}
    assert failure.text == (
        "Why it matters: Nobody finds it.\nHow to fix it: Mend it.\n\nhttps://garden.example/about/team  404\n"
        "    ← https://garden.example/ “Who we are”\n    ← https://garden.example/about “Our team”\n"
    )


def test_what_is_only_worth_improving_does_not_fail(tmp_path: Path) -> None:
    found = case(read(told(small(tmp_path / "site.db"), "junit")), PLAIN.id)
    assert [child.tag for child in found] == ["system-out"]
    assert "https://garden.example/about" in (found[0].text or "")


def test_a_check_that_found_nothing_passes(tmp_path: Path) -> None:
    assert list(case(read(told(small(tmp_path / "site.db"), "junit")), "test-clean")) == []


def test_a_case_whose_findings_are_all_suppressed_is_skipped_with_the_reason(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("test-long * # the board likes it\n")
    (skipped,) = case(read(told(small(tmp_path / "site.db"), "junit", suppress=str(known))), LONG.id)
    assert (skipped.tag, skipped.attrib["message"]) == ("skipped", "the board likes it")


def test_more_pages_than_are_shown_are_counted_with_the_command_that_lists_them(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(120):
        crawl.find(LONG, crawl.page(f"{number:03}", 1))
    path = crawl.save()
    failure = case(read(told(path, "junit")), LONG.id)[0]
    assert (failure.text or "").count("https://") == 100
    assert (failure.text or "").endswith(f"20 more. To list them, run: tadoru report {path} --check test-long\n")
    assert (case(read(told(path, "junit", list_all=True)), LONG.id)[0].text or "").count("https://") == 120


def test_the_whole_catalogue_has_the_right_shape(tmp_path: Path) -> None:
    assert len(read(told(large(tmp_path / "site.db", 50), "junit", lang="ja"))) > 10


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="<>&\"']\x00\x0b\x1b\ufffe\U0001f331 a", max_size=20))
def test_no_text_breaks_the_document(tmp_path: Path, text: str) -> None:
    (tmp_path / "site.db").unlink(missing_ok=True)
    read(told(hostile(tmp_path / "site.db", text), "junit"))


@pytest.mark.parametrize("text", [HOSTILE, "]]>"])
def test_hostile_text_is_only_text(tmp_path: Path, text: str) -> None:
    failure = next(read(told(hostile(tmp_path / "site.db", text), "junit")).iter("failure"))
    assert len(failure) == 0
    assert "]]>" in (failure.text or "")
