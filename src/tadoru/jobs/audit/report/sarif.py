"""The SARIF 2.1.0 format, for code scanning: a rule for each check and a result for each finding, streamed.

Suppressed findings are included and marked with their reason. With a baseline each result is marked as new or unchanged, and
findings that only the baseline has are listed as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.report.audit_report import AuditReport, FindingKey, ReportedFinding
from tadoru.jobs.audit.report.json_report import encode_json
from tadoru.jobs.audit.report.messages import describe_evidence, describe_threshold, translate_check
from tadoru.jobs.audit.report.summary import CheckResult
from tadoru.jobs.reporting.escape import printable
from tadoru.model.finding import Severity
from tadoru.version import PROJECT_URL, VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note", Severity.INFO: "note"}
FINGERPRINT = "tadoru/v1"
_NOT_IN_URI = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")


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
        "rules": [_rule(result, report.translate) for result in report.summary.results],
    }
    yield "tool", {"driver": driver}
    yield "language", {"en": "en-US", "ja": "ja-JP"}[report.translate.lang]
    yield "columnKind", "unicodeCodePoints"
    yield "automationDetails", {"id": f"tadoru/audit/{encode_uri(crawl.start_url)}"}
    invocation: dict[str, Any] = {"executionSuccessful": crawl.outcome == "complete"}
    for name, moment in (("startTimeUtc", crawl.started), ("endTimeUtc", crawl.ended)):
        if moment is not None:
            invocation[name] = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    yield "invocations", [invocation]
    yield "properties", {"score": report.summary.score, "pages": report.summary.pages}


def _rule(result: CheckResult, _: Translator) -> dict[str, Any]:
    check = result.check
    title, why, fix = translate_check(check, _)
    why_heading, fix_heading = _("Why it matters"), _("How to fix it")
    markdown = f"**{why_heading}**\n\n{why}\n\n**{fix_heading}**\n\n{fix}"
    if check.threshold is not None:
        markdown += f"\n\n{describe_threshold(check.threshold, _)}"
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
    numbers = {result.number: index for index, result in enumerate(report.summary.results)}
    for finding in report.findings():
        yield _result(report, finding, numbers[finding.row.check_number])
    if report.baseline is not None:
        indexes = {result.check.id: index for index, result in enumerate(report.summary.results)}
        for key in report.baseline.all_keys():
            if key[1] in indexes and not report.store.findings.has_finding(key):
                yield _absent(report, key, indexes[key[1]])


def _result(report: AuditReport, finding: ReportedFinding, index: int) -> dict[str, Any]:
    row, check = finding.row, finding.result.check
    key = (row.url, check.id, row.subject)
    title, text = translate_check(check, report.translate).title, describe_evidence(row, report.translate)
    found = _sarif_result(key, index, f"{title}: {text}" if text else title, LEVELS[check.severity])
    if report.baseline is not None:
        found["baselineState"] = "unchanged" if key in report.baseline else "new"
    if finding.entry is not None:
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.entry.reason}]
    if row.data:
        found["properties"] = {"data": row.data}
    return found


def _absent(report: AuditReport, key: FindingKey, index: int) -> dict[str, Any]:
    check = report.summary.results[index].check
    return _sarif_result(key, index, translate_check(check, report.translate).title, LEVELS[check.severity]) | {
        "baselineState": "absent"
    }


def _sarif_result(key: FindingKey, index: int, message: str, level: str) -> dict[str, Any]:
    url, check_id, _ = key
    return {
        "ruleId": check_id,
        "ruleIndex": index,
        "level": level,
        "message": {"text": printable(message)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": encode_uri(url)}}}],
        "fingerprints": {FINGERPRINT: sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()},
    }


def encode_uri(text: str) -> str:
    """A valid URI: characters that a URI cannot contain are percent-encoded."""
    escaped = _NOT_IN_URI.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", escaped)
