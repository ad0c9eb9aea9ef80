"""The verdict on a crawl: what counts, what is accepted, what was there before."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import AuditOptions
from tadoru.errors import UsageError
from tadoru.jobs.audit.criteria import AuditCriteria, CheckCount, GateResult
from tadoru.jobs.audit.gates import AuditGates
from tadoru.jobs.audit.report.build_reports import format_annotations, write_annotations
from tadoru.jobs.audit.suppressions import FindingSuppressions
from tadoru.store.crawl.run_pages import CheckTexts
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.store.audited import CHECKS, OK, SITE, SITE_CHECKS, audit, audited, changed
from tests.support.clock import FakeClock

LATER = changed(
    SITE, a=replace(SITE["a"], found=("title-too-long", "title-missing")), c=replace(SITE["c"], found=("description-missing",))
)
STRAY = {"https://x.example/1": "sitemap-missing"}


def criteria(*fail_on: str, suppress: str = "", baseline: str | None = None) -> AuditCriteria:
    gates = AuditGates.parse(fail_on, (*CHECKS, *SITE_CHECKS), has_earlier=True)
    return AuditCriteria(gates=gates, suppressions=FindingSuppressions.parse(suppress), baseline=baseline)


async def evaluate(database: str, *fail_on: str, **options: Any) -> GateResult:
    return await criteria(*fail_on, **options).evaluate_async(database)


def counts(found: GateResult) -> dict[str, int]:
    return {each.check.id: each.count for each in found.found}


async def recrawled(path: Path, **options: Any) -> str:
    store = SqliteStore(str(path), FakeClock())
    await audit(store, SITE)
    await audit(store, LATER, again=True, **options)
    await store.close()
    return str(path)


async def test_everything_counts_without_a_baseline(tmp_path: Path) -> None:
    name = await audited(tmp_path / "site.db", LATER, stray=STRAY, score=66.0)
    result = await evaluate(name, "error", "warning>50%", "score<70", "p99>49ms", "pages<7", "titles>2")
    assert result.exceeded == [
        "severity error: 3 findings, none allowed.",
        "titles: 3 findings, at most 2 allowed.",
        "The score is 66.0, at least 70 required.",
        "Response time p99 is 50 ms, at most 49 ms allowed.",
        "6 pages, at least 7 required.",
    ]
    assert counts(result) == {"title-missing": 2, "title-too-long": 1, "description-missing": 2, "sitemap-missing": 1}
    assert {each.url for each in result.found} == {url("a"), url("b"), "https://x.example/1"}


async def test_a_part_of_the_pages_leaves_out_what_was_not_requested(tmp_path: Path) -> None:
    site = changed(SITE, gone=replace(OK, refused="robots.txt line 1: Disallow: /gone", found=("title-missing",)))
    name = await audited(tmp_path / "site.db", site)
    [result] = (await evaluate(name, "title-missing>10%")).exceeded
    assert "of 5 pages" in result


async def test_what_is_accepted_does_not_count(tmp_path: Path) -> None:
    name = await audited(tmp_path / "site.db", LATER, stray=STRAY)
    result = await evaluate(
        name, "error",
        suppress="title-*  https://a.example/a  # known\nsitemap-missing *  # there is none\n",
    )  # fmt: skip
    assert result.exceeded == ["severity error: 1 finding, none allowed."]
    assert counts(result) == {"title-missing": 1, "description-missing": 2}


async def test_only_what_is_not_in_the_baseline_counts(tmp_path: Path) -> None:
    before = await audited(tmp_path / "before.db", SITE, stray=STRAY)
    name = await audited(tmp_path / "site.db", LATER, stray={**STRAY, "https://x.example/2": "sitemap-missing"})
    result = await evaluate(name, "title-missing", "warning", "new-error", baseline=before)
    assert result.exceeded == [
        "title-missing: 1 finding, none allowed.",
        "severity warning or higher: 3 findings, none allowed.",
        "severity error: 2 new findings, none allowed.",
    ]
    assert counts(result) == {"title-missing": 1, "description-missing": 1, "sitemap-missing": 1}


async def test_a_list_of_findings_is_a_baseline_too(tmp_path: Path) -> None:
    name = await audited(tmp_path / "site.db", LATER, stray=STRAY)
    listed = [
        {"check": "title-missing", "url": url("b"), "subject": ""},
        {"check": "sitemap-missing", "url": "https://x.example/1", "subject": "https://x.example/1"},
    ]
    (tmp_path / "list.json").write_text(json.dumps({"findings": listed}))
    result = await evaluate(name, "error", baseline=str(tmp_path / "list.json"))
    assert result.exceeded == ["severity error: 1 finding, none allowed."]


async def test_an_earlier_run_can_be_the_baseline(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db")
    for baseline in (f"{name}@1", name):
        result = await evaluate(name, "error", "new", baseline=baseline)
        assert result.exceeded == ["severity error: 1 finding, none allowed.", "all checks: 2 new findings, none allowed."]


async def test_new_is_what_the_last_run_did_not_have(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db")
    result = await evaluate(name, "error", "new-error", "new-warning")
    assert result.exceeded == [
        "severity error: 2 findings, none allowed.",
        "severity error: 1 new finding, none allowed.",
        "severity warning or higher: 2 new findings, none allowed.",
    ]


@pytest.mark.parametrize(
    "options, result",
    [
        ({"fail_on": ("eror",)}, "Did you mean “error”?"),
        ({"fail_on": ("new",)}, "has nothing to compare with"),
        ({"baseline": "none.db"}, "Cannot read --baseline none.db: No such file or directory. Check the file name."),
        ({"baseline": "other.db@4"}, "Run 4 not found in other.db. Available runs: 1."),
        ({"baseline": "site.db"}, "--baseline site.db is the crawl itself. Use another crawl, or an earlier run of it"),
        ({"baseline": "broken.json"}, "--baseline broken.json is neither a crawl nor a list of findings"),
        ({"suppress": "none.txt"}, "Cannot read none.txt"),
    ],
    ids=str,
)  # fmt: skip
async def test_invalid_criteria_are_refused_before_anything_is_requested(
    options: dict[str, Any], result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await audited(tmp_path / "site.db", SITE)
    await audited(tmp_path / "other.db", SITE)
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(UsageError) as refused:
        await AuditCriteria.parse_async(AuditOptions(database="site.db", **options))
    assert result in str(refused.value)


async def test_a_crawl_that_will_be_repeated_has_something_to_compare_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = AuditOptions(database="site.db", fail_on=("new-error",))
    with pytest.raises(UsageError):
        await AuditCriteria.parse_async(options)
    await AuditCriteria.parse_async(replace(options, recrawl=True))
    await recrawled(tmp_path / "site.db")
    await AuditCriteria.parse_async(options)
    await AuditCriteria.parse_async(replace(options, baseline="site.db"))


def found(name: str, severity: str, count: int) -> CheckCount:
    return CheckCount(CheckTexts(1, name, "group", severity, f"Title of {name}", f"{name}の題"), count, "https://a.example/%0A")


def test_annotations_are_one_a_check_and_no_more_than_github_shows() -> None:
    many = [found(f"check-{number}", "error", number) for number in range(1, 13)]
    result = list(format_annotations([*many, found("mild", "warning", 7), found("small", "notice", 9)]))
    assert result[0] == "::error title=Title of check-12::12 findings (check-12), first https://a.example/%250A"
    assert "::warning title=Title of mild::7 findings (mild), first https://a.example/%250A" in result
    assert sum(line.startswith("::error") for line in result) == 10
    assert not [line for line in result if "small" in line]
    assert result[-1] == "::notice title=More checks::2 more checks have findings. The report lists all of them."
    out = io.StringIO()
    write_annotations([found("one", "error", 1)], out, lang="ja")
    assert out.getvalue() == "::error title=oneの題::問題 1 件（one）、最初のURL: https://a.example/%250A\n"
