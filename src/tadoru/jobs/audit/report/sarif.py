"""The formats with one result for each finding: SARIF, with a rule for each check, and GitLab's code quality report.

In SARIF, suppressed findings are included and marked with their reason. With a baseline each result is marked as new or
unchanged, and findings that only the baseline has are listed as absent.

GitHub's workflow annotations are one per check, because GitHub shows at most ten errors and ten warnings per step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from tadoru.i18n.translation import Translator, translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.criteria import CheckCount
from tadoru.jobs.audit.report.audit_report import AuditReport, FindingKey, ReportedFinding
from tadoru.jobs.audit.report.messages import describe_evidence, describe_threshold, translate_check
from tadoru.jobs.audit.report.summary import CheckResult
from tadoru.jobs.reporting.build_formats import (
    ResultPlace,
    SarifRun,
    code_quality_issue,
    sarif_result,
    write_json_list,
    write_sarif_log,
)
from tadoru.jobs.reporting.escape import printable
from tadoru.jobs.reporting.output import limit_annotations, workflow_command
from tadoru.model.finding import Severity

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note", Severity.INFO: "note"}
_CODE_QUALITY = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTICE: "info", Severity.INFO: "info"}


def write_sarif(report: AuditReport, out: TextIO) -> None:
    """Writes the log, one result a line."""
    crawl = report.summary.crawl
    invocation: dict[str, Any] = {"executionSuccessful": crawl.outcome == "complete"}
    for name, moment in (("startTimeUtc", crawl.started), ("endTimeUtc", crawl.ended)):
        if moment is not None:
            invocation[name] = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    run = SarifRun(
        id=f"audit/{crawl.start_url}",
        lang=report.translate.lang,
        rules=[_rule(result, report.translate) for result in report.summary.results],
        invocation=invocation,
        properties={
            "score": report.summary.score,
            "pages": report.summary.pages,
            "notJudged": list(describe_skipped_checks(report.summary.not_judged, report.translate)),
        },
    )
    write_sarif_log(run, _results(report), out)


def write_code_quality(report: AuditReport, out: TextIO) -> None:
    """Writes GitLab's code quality report: the findings that are not suppressed, with their pages as paths."""
    write_json_list((_issue(report, finding) for finding in report.findings() if finding.entry is None), out)
    out.write("\n")


def _issue(report: AuditReport, finding: ReportedFinding) -> dict[str, Any]:
    row, check = finding.row, finding.result.check
    key = (row.url, check.id, row.subject)
    message = _message(finding, report.translate)
    return code_quality_issue(check.id, _CODE_QUALITY[check.severity], message, ResultPlace(row.url), key)


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
    found = _sarif_result(key, index, _message(finding, report.translate), LEVELS[check.severity])
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
    return sarif_result(check_id, index, level, message, ResultPlace(url), key)


def _message(finding: ReportedFinding, _: Translator) -> str:
    title, text = translate_check(finding.result.check, _).title, describe_evidence(finding.row, _)
    return f"{title}: {text}" if text else title


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def write_annotations(found: Iterable[CheckCount], out: TextIO, *, lang: str = "en") -> None:
    """Write an annotation for each check with errors or warnings, and a notice with the number of checks beyond the limit."""
    out.writelines(line + "\n" for line in format_annotations(found, lang))


def format_annotations(found: Iterable[CheckCount], lang: str = "en") -> Iterator[str]:
    """The workflow commands, checks with the most findings first."""
    _ = translator(lang)

    def annotations() -> Iterator[tuple[str, str]]:
        for each in sorted(found, key=lambda each: (-each.count, each.check.id)):
            if level := _LEVELS.get(Severity(each.check.severity)):
                title = printable((each.check.title_ja if lang == "ja" else "") or each.check.title)
                text = _.ngettext(
                    "{count} finding ({check}), first {url}",
                    "{count} findings ({check}), first {url}",
                    each.count,
                    check=each.check.id,
                    url=printable(each.url),
                )
                yield level, workflow_command(level, title, text)

    def more(count: int) -> str:
        text = _.ngettext(
            "{count} more check has findings. The report lists all of them.",
            "{count} more checks have findings. The report lists all of them.",
            count,
        )
        return workflow_command("notice", _("More checks"), text)

    return limit_annotations(annotations(), more)
