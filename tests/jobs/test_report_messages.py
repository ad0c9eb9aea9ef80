"""The messages of an audit report: every stored name has one, and numbers, dates and evidence read well in both languages."""

from __future__ import annotations

import ast
import io
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.i18n.formats import format_utc
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.coverage import META_KEY, SkippedChecks, encode
from tadoru.jobs.audit.report import REPORT_FORMATS, ReportRequest, write_requested
from tadoru.jobs.audit.report.messages import (
    EVIDENCE,
    GROUPS,
    INDEXABILITIES,
    SEVERITIES,
    SEVERITY_HEADINGS,
    UNITS,
    describe_evidence,
    format_amount,
    format_milliseconds,
    format_page_count,
    format_size,
    format_time_bound,
    score_grade,
)  # fmt: skip
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.model.finding import Check, Severity
from tadoru.store.crawl.findings import FindingRow
from tests.jobs.audit_crawls import small

CHECKS: list[Check] = [*CheckCatalogue().checks.values(), *SITE_CHECKS.values()]
SAME_IN_JAPANESE = {"HTML", "JavaScript", "%"}


def test_every_group_and_unit_has_its_name() -> None:
    assert {check.group for check in CHECKS} - set(GROUPS) == set()
    assert {check.threshold.unit for check in CHECKS if check.threshold} - set(UNITS) == set()


def test_everything_that_checks_have_as_evidence_has_its_name(checkout: Path) -> None:
    names = set()
    for folder in ("checks", "site_checks"):
        for file in (checkout / "src/tadoru/jobs/audit" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    if name in ("on", "among", "about"):
                        names |= {keyword.arg for keyword in node.keywords if keyword.arg}
    assert len(names) > 10
    assert names - {"examples"} - set(EVIDENCE) == set()


def test_every_reason_against_indexing_a_page_has_its_name(checkout: Path) -> None:
    (function,) = (
        node
        for node in ast.parse((checkout / "src/tadoru/jobs/audit/context.py").read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "classify_indexability"
    )
    reasons = {
        node.value.value for node in ast.walk(function) if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
    }
    assert len(reasons) >= 8
    assert reasons | {"indexable"} == set(INDEXABILITIES)


@pytest.mark.parametrize(
    "names", [GROUPS, INDEXABILITIES, UNITS, EVIDENCE, SEVERITIES, SEVERITY_HEADINGS],
    ids=["groups", "indexability", "units", "evidence", "severities", "headings"],
)  # fmt: skip
def test_every_name_is_translated(names: Mapping[Any, str]) -> None:
    translate = translator("ja")
    assert {name for name in names.values() if translate(name) == name} <= SAME_IN_JAPANESE


def test_every_severity_has_its_name() -> None:
    assert set(SEVERITIES) == set(SEVERITY_HEADINGS) == set(Severity)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_dates_and_numbers_are_written_as_people_write_them(lang: str) -> None:
    translate = translator(lang)
    moment = datetime(2026, 1, 5, 9, 3, tzinfo=UTC)
    assert format_utc(moment, lang) == {"en": "5 January 2026, 09:03 UTC", "ja": "2026年1月5日 09:03 UTC"}[lang]
    assert format_page_count(1, translate) == {"en": "1 page", "ja": "1ページ"}[lang]
    assert format_page_count(2000, translate) == {"en": "2,000 pages", "ja": "2,000ページ"}[lang]
    grades = {"en": ["Poor", "Poor", "Needs work", "Good", "Very good", "Very good"],
              "ja": ["問題あり", "問題あり", "改善が必要", "良い", "とても良い", "とても良い"]}[lang]  # fmt: skip
    assert [score_grade(score, translate) for score in (0, 49.9, 50, 75, 90, 100)] == grades
    durations = {"en": ["0.42 s", "12.3 s", "4 min 10 s", "2 h 5 min"], "ja": ["0.42秒", "12.3秒", "4分10秒", "2時間5分"]}[lang]
    assert [format_duration(seconds, translate) for seconds in (0.42, 12.34, 250, 7500)] == durations


@pytest.mark.parametrize(
    "detail, data, shown",
    [
        pytest.param("A title", {"length": 72, "limit": 60}, "A title · length 72, limit 60", id="numbers"),
        pytest.param("a", {"count": 1, "examples": ["a"]}, "a", id="one example adds nothing"),
        pytest.param("a", {"count": 3, "examples": ["a", "b", "c"]}, "a · 3 occurrences, e.g. b · c", id="examples"),
        pytest.param("x", {"count": 2, "examples": ["b", "c"]}, "x · 2 occurrences, e.g. b · c", id="examples of something else"),
        pytest.param("", {"seconds": 1.5, "size": 1234567}, "seconds 1.5, bytes 1,234,567", id="no detail"),
        pytest.param("a\x1b\u202eb", {}, "a��b", id="invisible characters"),
    ],
)
def test_evidence_is_one_line(detail: str, data: dict[str, Any], shown: str) -> None:
    row = FindingRow(1, 1, "https://x.example/", "", detail, data, 1, 200, None)
    assert describe_evidence(row, translator("en")) == shown


def test_sizes_and_times_are_readable() -> None:
    translate = translator("en")
    assert [format_size(size) for size in (0, 999, 1000, 1_500_000)] == ["0 B", "999 B", "1.0 kB", "1.5 MB"]
    assert [format_milliseconds(ms) for ms in (0.4, 999, 1240)] == ["0 ms", "999 ms", "1.24 s"]
    assert [format_time_bound(ms) for ms in (50, 1000, 5000)] == ["50 ms", "1 s", "5 s"]
    assert [format_amount(value, translate) for value in (1234, 2.0, 0.25, True, "x")] == ["1,234", "2", "0.25", "True", "x"]


@pytest.mark.parametrize("form", [name for name in REPORT_FORMATS if name != "codequality"])
def test_every_report_says_what_was_not_judged(form: str, tmp_path: Path) -> None:
    path = small(tmp_path / "site.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        skipped = encode([SkippedChecks("pages missing", ("page-orphan",), 7, "https://garden.example/waiting")])
        sql.execute("INSERT INTO crawl_meta(key, value) VALUES (?, ?)", (META_KEY, skipped))
    out = io.StringIO()
    write_requested(ReportRequest(database=str(path), form=form), out)
    shown = out.getvalue().replace("\\", "").replace("&#8203;", "")
    assert "page-orphan" in shown
    assert "garden.example/waiting" in shown
