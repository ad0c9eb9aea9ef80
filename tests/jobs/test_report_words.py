"""Everything that a report may have to say has its words in both languages."""

from __future__ import annotations

import ast
import string
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.report.messages import (
    ENGLISH,
    EVIDENCE,
    GROUPS,
    INDEXABILITIES,
    JAPANESE,
    UNITS,
    describe_evidence,
    format_amount,
    format_milliseconds,
    format_size,
    format_time_bound,
)
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.model.finding import Check
from tadoru.store.crawl.findings import FindingRow

CHECKS: list[Check] = [*CheckCatalogue().checks.values(), *SITE_CHECKS.values()]


def test_every_group_and_unit_has_its_name() -> None:
    assert {check.group for check in CHECKS} - set(GROUPS) == set()
    assert {check.threshold.unit for check in CHECKS if check.threshold} - set(UNITS) == set()


def test_everything_that_checks_tell_as_evidence_has_its_name(checkout: Path) -> None:
    told = set()
    for folder in ("checks", "site_checks"):
        for file in (checkout / "src/tadoru/jobs/audit" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    if name in ("on", "among", "about"):
                        told |= {keyword.arg for keyword in node.keywords if keyword.arg}
    assert len(told) > 10
    assert told - {"examples"} - set(EVIDENCE) == set()


def test_every_reason_against_showing_a_page_has_its_name(checkout: Path) -> None:
    (function,) = (
        node
        for node in ast.parse((checkout / "src/tadoru/jobs/audit/context.py").read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "indexability"
    )
    reasons = {
        node.value.value for node in ast.walk(function) if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
    }
    assert len(reasons) >= 8
    assert reasons | {"indexable"} == set(INDEXABILITIES)


def holes(text: Any) -> list[set[str]]:
    """What is to be filled in, for each text of a value."""
    if isinstance(text, str):
        return [{name for _, name, _, _ in string.Formatter().parse(text) if name is not None}]
    if isinstance(text, dict):
        return [hole for key in sorted(text) for hole in holes(text[key])]
    return [hole for each in text for hole in holes(each)] if isinstance(text, tuple) else []


@pytest.mark.parametrize("name", [field.name for field in fields(ENGLISH) if field.name != "date"])
def test_both_languages_have_the_same_to_fill_in(name: str) -> None:
    english, japanese = getattr(ENGLISH, name), getattr(JAPANESE, name)
    assert holes(english) == holes(japanese)
    if isinstance(english, dict):
        assert english.keys() == japanese.keys()


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE], ids=["en", "ja"])
def test_dates_and_numbers_are_written_as_people_write_them(words: Any) -> None:
    moment = datetime(2026, 1, 5, 9, 3, tzinfo=UTC)
    assert words.when(moment) == {"en": "5 January 2026, 09:03 UTC", "ja": "2026年1月5日 09:03 UTC"}[words.lang]
    assert words.count("page", 1) == {"en": "1 page", "ja": "1ページ"}[words.lang]
    assert words.count("page", 2000) == {"en": "2,000 pages", "ja": "2,000ページ"}[words.lang]
    assert [words.grade(score) for score in (0, 49.9, 50, 75, 90, 100)] == [
        words.grades[place][1] for place in (3, 3, 2, 1, 0, 0)
    ]


@pytest.mark.parametrize(
    "detail, data, shown",
    [
        pytest.param("A title", {"length": 72, "limit": 60}, "A title · length 72, limit 60", id="numbers"),
        pytest.param("a", {"count": 1, "examples": ["a"]}, "a", id="one example says nothing new"),
        pytest.param("a", {"count": 3, "examples": ["a", "b", "c"]}, "a · count 3, among them b · c", id="examples"),
        pytest.param("x", {"count": 2, "examples": ["b", "c"]}, "x · count 2, among them b · c", id="examples of something else"),
        pytest.param("", {"seconds": 1.5, "size": 1234567}, "seconds 1.5, bytes 1,234,567", id="no detail"),
        pytest.param("a\x1b\u202eb", {}, "a��b", id="what cannot be seen"),
    ],
)
def test_evidence_is_one_line(detail: str, data: dict[str, Any], shown: str) -> None:
    row = FindingRow(1, 1, "https://x.example/", "", detail, data, 1, 200, None)
    assert describe_evidence(row, ENGLISH) == shown


def test_sizes_and_times_are_readable() -> None:
    assert [format_size(size) for size in (0, 999, 1000, 1_500_000)] == ["0 B", "999 B", "1.0 kB", "1.5 MB"]
    assert [format_milliseconds(ms) for ms in (0.4, 999, 1240)] == ["0 ms", "999 ms", "1.24 s"]
    assert [format_time_bound(ms) for ms in (50, 1000, 5000)] == ["50 ms", "1 s", "5 s"]
    assert [format_amount(value) for value in (1234, 2.0, 0.25, True, "x")] == ["1,234", "2", "0.25", "True", "x"]
