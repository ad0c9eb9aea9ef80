"""The SARIF 2.1.0 form, for code scanning: a rule for each check, a result for each finding, written as it is read.

What is suppressed is there too, marked as such with its reason. With a baseline every result says whether it is new, and what has
gone since is told as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, TextIO

from tadoru.jobs.audit.report.audit_report import AuditReport, ReportedFinding
from tadoru.jobs.audit.report.json_report import encode_json
from tadoru.jobs.audit.report.messages import Words, describe_evidence, describe_threshold
from tadoru.jobs.audit.report.summary import CheckResult
from tadoru.jobs.reporting.escape import printable
from tadoru.model.finding import Severity
from tadoru.version import PROJECT_URL, VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note", Severity.INFO: "note"}
FINGERPRINT = "tadoru/v1"
_NOT_IN_URI = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")

FindingKey = tuple[str, str, str]
"""URL, check, subject: what makes a finding the same in two crawls."""


def write_sarif(report: AuditReport, out: TextIO) -> None:
    """Writes the log, one result a line."""
    out.write(f'{{\n  "$schema": {encode_json(SCHEMA)},\n  "version": "2.1.0",\n  "runs": [{{\n')
    for name, value in _properties(report):
        out.write(f"    {encode_json(name)}: {encode_json(value)},\n")
    out.write('    "results": ')
    separator, end = "[\n", "[]"
    for result in _results(report):
        out.write(f"{separator}      {encode_json(result)}")
        separator, end = ",\n", "\n    ]"
    out.write(f"{end}\n  }}]\n}}\n")


def _properties(report: AuditReport) -> Iterator[tuple[str, Any]]:
    crawl = report.summary.crawl
    driver = {
        "name": "Tadoru",
        "semanticVersion": VERSION,
        "informationUri": PROJECT_URL,
        "rules": [_rule(result, report.words) for result in report.summary.results],
    }
    yield "tool", {"driver": driver}
    yield "language", {"en": "en-US", "ja": "ja-JP"}[report.words.lang]
    yield "columnKind", "unicodeCodePoints"
    yield "automationDetails", {"id": f"tadoru/audit/{encode_uri(crawl.start_url)}"}
    invocation: dict[str, Any] = {"executionSuccessful": crawl.outcome == "complete"}
    for name, moment in (("startTimeUtc", crawl.started), ("endTimeUtc", crawl.ended)):
        if moment is not None:
            invocation[name] = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    yield "invocations", [invocation]
    yield "properties", {"score": report.summary.score, "pages": report.summary.pages}


def _rule(result: CheckResult, words: Words) -> dict[str, Any]:
    check = result.check
    title, why, fix = words.check_text(check)
    markdown = f"**{words.why}**\n\n{why}\n\n**{words.fix}**\n\n{fix}"
    if check.threshold is not None:
        markdown += f"\n\n{describe_threshold(check.threshold, words)}"
    return {
        "id": check.id,
        "name": check.id.title().replace("-", ""),
        "shortDescription": {"text": title},
        "fullDescription": {"text": why},
        "help": {"text": f"{why} {fix}", "markdown": markdown},
        "defaultConfiguration": {"level": LEVELS[check.severity]},
        "properties": {"tags": ["seo", check.group], "severity": check.severity},
    }


def _results(report: AuditReport) -> Iterator[dict[str, Any]]:
    numbers = {result.number: place for place, result in enumerate(report.summary.results)}
    for told in report.findings():
        yield _result(report, told, numbers[told.row.check_number])
    if report.baseline is not None:
        places = {result.check.id: place for place, result in enumerate(report.summary.results)}
        for key in report.baseline.gone():
            if key[1] in places and not report.store.has_finding(key):
                yield _absent(report, key, places[key[1]])


def _result(report: AuditReport, told: ReportedFinding, place: int) -> dict[str, Any]:
    row, check = told.row, told.result.check
    key = (row.url, check.id, row.subject)
    title, text = report.words.check_text(check).title, describe_evidence(row, report.words)
    found = _outline(key, place, f"{title}: {text}" if text else title, LEVELS[check.severity])
    if report.baseline is not None:
        found["baselineState"] = "unchanged" if key in report.baseline else "new"
    if told.entry is not None:
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": told.entry.reason}]
    if row.data:
        found["properties"] = {"data": row.data}
    return found


def _absent(report: AuditReport, key: FindingKey, place: int) -> dict[str, Any]:
    check = report.summary.results[place].check
    return _outline(key, place, report.words.check_text(check).title, LEVELS[check.severity]) | {"baselineState": "absent"}


def _outline(key: FindingKey, place: int, message: str, level: str) -> dict[str, Any]:
    url, check_id, _ = key
    return {
        "ruleId": check_id,
        "ruleIndex": place,
        "level": level,
        "message": {"text": printable(message)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": encode_uri(url)}}}],
        "fingerprints": {FINGERPRINT: sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()},
    }


def encode_uri(text: str) -> str:
    """A valid URI, whatever the text: what a URI can not hold is written in bytes."""
    escaped = _NOT_IN_URI.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", escaped)
