"""The JUnit format, for build servers: a test suite for each group of checks, a test case for each check.

Errors and warnings fail a test case and list the affected pages. Notices and infos are written to its output. A test case whose
findings are all suppressed is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    describe_evidence,
    describe_hidden,
    describe_hidden_before_command,
    describe_inlink,
    format_finding_count,
    site_name,
    translate_check,
    translate_name,
)
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.build_formats import JunitCase, JunitSuite, write_junit_suites
from tadoru.jobs.reporting.escape import readable_url
from tadoru.model.finding import Severity

INLINKS = 3
FAILING = (Severity.ERROR, Severity.WARNING)


def write_junit(report: AuditReport, out: TextIO) -> None:
    """Writes the document, by group in the order of the catalogue."""
    summary = report.summary
    results = sorted(summary.results, key=lambda result: result.number)
    order = {group: number for number, group in enumerate(dict.fromkeys(result.check.group for result in results))}
    results.sort(key=lambda result: order[result.check.group])
    groups = groupby(results, key=lambda result: result.check.group)
    write_junit_suites("tadoru audit", [_suite(report, group, list(members)) for group, members in groups], out)


def _suite(report: AuditReport, group: str, results: list[CheckResult]) -> JunitSuite:
    summary = report.summary
    started = summary.crawl.started
    return JunitSuite(
        name=translate_name(GROUPS, group, report.translate),
        timestamp=f"{started:%Y-%m-%dT%H:%M:%S}" if started is not None else "1970-01-01T00:00:00",
        hostname=site_name(summary),
        properties=_properties(summary, report.translate),
        cases=[_case(report, result) for result in results],
    )


def _properties(summary: AuditSummary, _: Translator) -> dict[str, object]:
    score = f"{summary.score:.1f}" if summary.score is not None else ""
    figures = {"start_url": summary.crawl.start_url, "pages": summary.pages, "score": score}
    return figures | {f"not_judged.{at}": text for at, text in enumerate(describe_skipped_checks(summary.not_judged, _), 1)}


def _case(report: AuditReport, result: CheckResult) -> JunitCase:
    check = result.check
    title = translate_check(check, report.translate).title
    name, class_name = f"{title} ({check.id})", f"tadoru.{check.group}"
    if not result.count and not result.suppressed:
        return JunitCase(name=name, class_name=class_name)
    if not result.count:
        return JunitCase(name=name, class_name=class_name, outcome="skipped", message="; ".join(result.reasons))
    if check.severity not in FAILING:
        return JunitCase(name=name, class_name=class_name, outcome="noted", lines=_lines(report, result))
    return JunitCase(
        name=name,
        class_name=class_name,
        outcome="failed",
        message=f"{title}: {format_finding_count(result.count, report.translate)}",
        type=str(check.severity),
        lines=_lines(report, result),
    )


def _lines(report: AuditReport, result: CheckResult) -> Iterator[str]:
    _, check = report.translate, result.check
    text = translate_check(check, _)
    why, fix = _("Why it matters"), _("How to fix it")
    yield f"{why}: {text.why}\n{fix}: {text.fix}\n"
    for example in report.pages(result, INLINKS):
        yield from _page(example, _)
    if hidden := report.hidden(result):
        yield f"{describe_hidden_before_command(hidden, _)} {report.command(f'--check {check.id}')}\n"


def _page(example: FindingExample, _: Translator) -> Iterator[str]:
    text = describe_evidence(example.row, _)
    yield f"\n{readable_url(example.row.url)}{f'  {text}' if text else ''}\n"
    for link in example.inlinks:
        yield f"    ← {describe_inlink(link, readable_url(link.source_url))}\n"
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield f"    ← {describe_hidden(hidden, _)}\n"
