"""The language of `--fail-on`: what it understands, what it refuses and how, and what it says when a gate is exceeded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit.compare.job import CompareGates
from tadoru.jobs.audit.gates import AuditGates, SiteFigures
from tadoru.jobs.audit.site_checks import BUILT_IN_CHECKS
from tadoru.store.crawl.run_pages import CheckTexts
from tests.store.audited import CHECKS, SITE_CHECKS

ALL = (*CHECKS, *SITE_CHECKS)
SITE = [
    (["title-missing", "title-too-long"], [], True),
    (["title-missing", "description-missing"], ["description-missing"], True),
    ([], [], True),
    (["canonicalised"], ["canonicalised"], True),
    (["sitemap-missing"], [], False),
]
"""Findings of four pages and of the site; which of them are new."""


def exceeded(*texts: str, score: float | None = 80.0, p90: float | None = 700.0) -> list[str]:
    gates = AuditGates.parse(texts, ALL, has_earlier=True)
    counter = gates.counter()
    for found, new, is_page in SITE:
        counter.add(found, new, is_page=is_page)
    return gates.exceeded(counter, SiteFigures(pages=4, score=score, times=dict.fromkeys(gates.percentiles, p90)))


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("error", "severity error: 3 findings, none allowed."),
        ("errors", "severity error: 3 findings, none allowed."),
        ("ERROR", "severity error: 3 findings, none allowed."),
        ("warning", "severity warning or higher: 4 findings, none allowed."),
        ("info>5", "severity info or higher: 6 findings, at most 5 allowed."),
        ("title-missing", "title-missing: 2 findings, none allowed."),
        ("title-missing>1", "title-missing: 2 findings, at most 1 allowed."),
        ("title-missing>=2", "title-missing: 2 findings, less than 2 allowed."),
        ("titles>2", "titles: 3 findings, at most 2 allowed."),
        ("title-*>2", "title-*: 3 findings, at most 2 allowed."),
        ("canonicalised", "canonicalised: 1 finding, none allowed."),
        ("title-missing > 49.5 %", "title-missing: findings on 2 of 4 pages (50.0%), at most 49.5% allowed."),
        ("error>=50%", "severity error: findings on 2 of 4 pages (50.0%), less than 50% allowed."),
        ("new", "all checks: 2 new findings, none allowed."),
        ("new-warning", "severity warning or higher: 1 new finding, none allowed."),
        ("new-canonicalised", "canonicalised: 1 new finding, none allowed."),
        ("new-*>1", "*: 2 new findings, at most 1 allowed."),
        ("new>25%", "all checks: new findings on 2 of 4 pages (50.0%), at most 25% allowed."),
        ("score<80.5", "The score is 80.0, at least 80.5 required."),
        ("score<=80", "The score is 80.0, more than 80 required."),
        ("pages<5", "4 pages, at least 5 required."),
        ("p90>650ms", "Response time p90 is 700 ms, at most 650 ms allowed."),
        ("p90>650", "Response time p90 is 700 ms, at most 650 ms allowed."),
        ("p99>0.65s", "Response time p99 is 0.70 s, at most 0.65 s allowed."),
    ],
    ids=lambda value: value if len(value) < 25 else "",
)
def test_an_exceeded_gate_reports_by_how_much(text: str, sentence: str) -> None:
    assert exceeded(text) == [sentence]


@pytest.mark.parametrize(
    "text",
    ["error>3", "title-missing>2", "title-missing>50%", "new-error", "new-titles", "duplicate-title", "score<80", "pages<4",
     "p90>700ms", "p90>=0.71s", "info>=7"],
    ids=str,
)  # fmt: skip
def test_a_gate_that_is_kept_reports_nothing(text: str) -> None:
    assert exceeded(text) == []


def test_gates_are_repeated_or_separated_by_commas_and_reported_in_their_order() -> None:
    result = exceeded("score<90, title-missing", "error>1,p50>1s")
    assert [sentence.split(":")[0].split(",")[0] for sentence in result] == [
        "title-missing",
        "severity error",
        "The score is 80.0",
    ]


def test_a_site_without_an_answer_has_no_score_and_no_times() -> None:
    assert exceeded("score<1", "p90>1ms", score=None, p90=None) == [
        "There is no score because no page responded; at least 1 required."
    ]


def test_a_part_of_no_pages_is_none() -> None:
    gates = AuditGates.parse(["error>0%"], ALL, has_earlier=False)
    assert gates.exceeded(gates.counter(), SiteFigures(pages=0, score=None)) == []


@pytest.mark.parametrize(
    "text, hint",
    [
        ("titel-missing", "Did you mean “title-missing”?"),
        ("eror", "Did you mean “error”?"),
        ("title-mising>5", "Did you mean “title-missing”?"),
        ("descriptons", "Did you mean “descriptions”?"),
        ("zzz", "“zzz”. Examples: error, warning>10%, title-missing,"),
        ("xyz-*", "Examples: error, warning>10%"),
        ("new-zzz", "Unknown --fail-on condition “new-zzz”"),
        ("", "“” is not a valid --fail-on condition. Examples: error"),
        ("error,,warning", "“” is not a valid --fail-on condition"),
        ("error>", "“error>” is not a valid --fail-on condition"),
        ("error=5", "“error=5” is not a valid --fail-on condition"),
        ("error>-1", "“error>-1” is not a valid --fail-on condition"),
        ("error>1e3", "“error>1e3” is not a valid --fail-on condition"),
        ("error<5", "has the wrong comparison. Write error>5"),
        ("error>=0", "always fails. Write error>0"),
        ("error>5ms", "has an invalid unit. Valid forms: error>5, error>5%."),
        ("error>100%", "never fails"),
        ("score", "needs a number. Write score<80"),
        ("score>80", "has the wrong comparison. Write score<80"),
        ("score<80%", "has an invalid unit. Valid forms: score<80."),
        ("p90", "needs a number. Write p90>800ms"),
        ("p90<800ms", "has the wrong comparison. Write p90>800ms"),
        ("p90>5%", "has an invalid unit"),
        ("p0>5ms", "Unknown --fail-on condition “p0”"),
        ("p100>5ms", "Unknown --fail-on condition “p100”"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        AuditGates.parse([text], ALL, has_earlier=True)
    assert hint in str(refused.value)
    assert str(refused.value).endswith((".", "?"))


@pytest.mark.parametrize("text", ["new", "new-error", "new-title-*"])
def test_new_needs_something_that_was_before(text: str) -> None:
    with pytest.raises(UsageError, match=r"has nothing to compare with\. Add --baseline FILE, or crawl again with --recrawl\."):
        AuditGates.parse(["error", text], ALL, has_earlier=False)


def test_the_id_of_a_merged_check_stands_for_those_that_report_the_same() -> None:
    gates = AuditGates.parse(["page-broken-linked", "title-too-wide"], BUILT_IN_CHECKS.values(), has_earlier=True)
    counter = gates.counter()
    counter.add(["response-server-error", "title-too-long"], [], is_page=True)
    assert len(gates.exceeded(counter, SiteFigures(pages=1, score=100.0, times={}))) == 2


def test_every_expression_of_the_documents_is_understood(checkout: Path) -> None:
    compare, audit = (checkout / "docs" / "how-to" / "compare.md").read_text("utf-8").split("## Check one crawl in a build")
    every = list(BUILT_IN_CHECKS.values())
    words = [CheckTexts(0, check.id, check.group, str(check.severity), "", "") for check in every]
    compared, audited = _expressions(compare), _expressions(audit)
    assert (len(compared), len(audited)) == (10, 15)
    for text in compared:
        CompareGates.parse([text], words)
    for text in audited:
        AuditGates.parse([text], every, has_earlier=True)


def _expressions(document: str) -> list[str]:
    rows = [row for row in document.splitlines() if row.startswith("| `") and "--fail-on" not in row]
    return [text for row in rows for text in re.findall("`([^`]+)`", row.split(" | ")[0])]


@given(st.text(alphabet="abcerowtpns-*?<>=%.,0123456789 m", max_size=20))
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    result = ""
    try:
        gates = AuditGates.parse([text], ALL, has_earlier=True)
    except UsageError as refused:
        result = str(refused)
    if result:
        assert "--fail-on" in result
        assert "\n" not in result
    else:
        assert len(gates.gates) + len(gates.figures) == text.count(",") + 1
