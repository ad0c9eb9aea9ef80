"""The JUnit form, for build servers: a suite for each group of checks, a case for each check.

Errors and warnings fail a case, with the pages they are on. What is merely worth improving, or good to know, does not: it is told
in the case's output. A case whose findings are all suppressed is skipped, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TextIO
from xml.sax.saxutils import escape as escape_text
from xml.sax.saxutils import quoteattr

from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import GROUPS, Words, describe_evidence, describe_inlink, site_name
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.escape import readable_url
from tadoru.model.finding import Severity

INLINKS = 3
FAILING = (Severity.ERROR, Severity.WARNING)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(report: AuditReport, out: TextIO) -> None:
    """Writes the document, group by group in the order of the catalogue."""
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
    words, summary = report.words, report.summary
    started = summary.crawl.started
    stamp = f"{started:%Y-%m-%dT%H:%M:%S}" if started is not None else "1970-01-01T00:00:00"
    name = words.named(GROUPS, group)
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
    words, check = report.words, result.check
    title = words.check_text(check).title
    yield f"    <testcase {_attributes(name=f'{title} ({check.id})', classname=f'tadoru.{check.group}', time=0)}"
    if not result.count and not result.suppressed:
        yield "/>\n"
        return
    yield ">\n"
    if _is_skipped(result):
        yield f"      <skipped {_attributes(message='; '.join(result.reasons))}/>\n"
    elif _fails(result):
        message = f"{title}: {words.count('finding', result.count)}"
        yield f"      <failure {_attributes(message=message, type=str(check.severity))}>"
        yield from map(_text, _lines(report, result))
        yield "</failure>\n"
    else:
        yield "      <system-out>"
        yield from map(_text, _lines(report, result))
        yield "</system-out>\n"
    yield "    </testcase>\n"


def _lines(report: AuditReport, result: CheckResult) -> Iterator[str]:
    words, check = report.words, result.check
    yield f"{words.why}: {words.check_text(check).why}\n{words.fix}: {words.check_text(check).fix}\n"
    for example in report.pages(result, INLINKS):
        yield from _page(example, words)
    if hidden := report.hidden(result):
        yield f"{words.more_command.format(number=f'{hidden:,}')} {report.command(f'--check {check.id}')}\n"


def _page(example: FindingExample, words: Words) -> Iterator[str]:
    text = describe_evidence(example.row, words)
    yield f"\n{readable_url(example.row.url)}{f'  {text}' if text else ''}\n"
    for link in example.inlinks:
        yield f"    ← {describe_inlink(link, readable_url(link.source_url))}\n"
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield f"    ← {words.more.format(number=f'{hidden:,}')}\n"


def _attributes(**values: object) -> str:
    return " ".join(f"{name}={quoteattr(_clean(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return escape_text(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
