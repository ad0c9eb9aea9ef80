"""The JUnit format, for build servers: a test suite for each group of checks, a test case for each check.

Errors and warnings fail a test case and list the affected pages. Notices and infos are written to its output. A test case whose
findings are all suppressed is skipped, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TextIO
from xml.sax.saxutils import escape as escape_text
from xml.sax.saxutils import quoteattr

from tadoru.i18n.translation import Translator
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
from tadoru.jobs.reporting.escape import readable_url
from tadoru.model.finding import Severity

INLINKS = 3
FAILING = (Severity.ERROR, Severity.WARNING)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(report: AuditReport, out: TextIO) -> None:
    """Writes the document, by group in the order of the catalogue."""
    summary = report.summary
    results = sorted(summary.results, key=lambda result: result.number)
    order = {group: number for number, group in enumerate(dict.fromkeys(result.check.group for result in results))}
    results.sort(key=lambda result: order[result.check.group])
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites {_attributes(name='tadoru audit', **_counts(results))}>\n")
    for group, members in groupby(results, key=lambda result: result.check.group):
        out.writelines(_suite(report, group, list(members)))
    out.write("</testsuites>\n")


def _suite(report: AuditReport, group: str, results: list[CheckResult]) -> Iterator[str]:
    summary = report.summary
    started = summary.crawl.started
    stamp = f"{started:%Y-%m-%dT%H:%M:%S}" if started is not None else "1970-01-01T00:00:00"
    name = translate_name(GROUPS, group, report.translate)
    yield f"  <testsuite {_attributes(name=name, **_counts(results), time=0, timestamp=stamp, hostname=site_name(summary))}>\n"
    yield f"    <properties>{_properties(summary)}</properties>\n"
    for result in results:
        yield from _case(report, result)
    yield "  </testsuite>\n"


def _properties(summary: AuditSummary) -> str:
    score = f"{summary.score:.1f}" if summary.score is not None else ""
    pairs = (("start_url", summary.crawl.start_url), ("pages", summary.pages), ("score", score))
    return "".join(f"<property {_attributes(name=name, value=value)}/>" for name, value in pairs)


def _counts(results: list[CheckResult]) -> dict[str, int]:
    return {
        "tests": len(results),
        "failures": sum(_fails(result) for result in results),
        "errors": 0,
        "skipped": sum(_is_skipped(result) for result in results),
    }


def _fails(result: CheckResult) -> bool:
    return result.count > 0 and result.check.severity in FAILING


def _is_skipped(result: CheckResult) -> bool:
    return not result.count and result.suppressed > 0


def _case(report: AuditReport, result: CheckResult) -> Iterator[str]:
    check = result.check
    title = translate_check(check, report.translate).title
    yield f"    <testcase {_attributes(name=f'{title} ({check.id})', classname=f'tadoru.{check.group}', time=0)}"
    if not result.count and not result.suppressed:
        yield "/>\n"
        return
    yield ">\n"
    if _is_skipped(result):
        yield f"      <skipped {_attributes(message='; '.join(result.reasons))}/>\n"
    elif _fails(result):
        message = f"{title}: {format_finding_count(result.count, report.translate)}"
        yield f"      <failure {_attributes(message=message, type=str(check.severity))}>"
        yield from map(_text, _lines(report, result))
        yield "</failure>\n"
    else:
        yield "      <system-out>"
        yield from map(_text, _lines(report, result))
        yield "</system-out>\n"
    yield "    </testcase>\n"


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


def _attributes(**values: object) -> str:
    return " ".join(f"{name}={quoteattr(_clean(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return escape_text(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
