"""The formats for builds: SARIF, with a rule for each check, GitLab's code quality report, JUnit, Markdown, and annotations.

In SARIF, suppressed findings are included and marked with their reason. With a baseline each result is marked as new or
unchanged, and findings that only the baseline has are listed as absent.

GitHub's workflow annotations are one per check, because GitHub shows at most ten errors and ten warnings per step.

JUnit has a test suite for each group of checks and a test case for each check. Errors and warnings fail a test case and list the
affected pages. Notices and infos are written to its output. A test case whose findings are all suppressed is skipped, with the
reason.

Markdown is for a pull request or an issue: figures, a table of checks, and the first pages of each check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, TextIO

from tadoru.i18n.translation import Translator, translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.criteria import CheckCount
from tadoru.jobs.audit.report import messages
from tadoru.jobs.audit.report.audit_report import AuditReport, FindingKey, ReportedFinding
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting import build_formats, escape
from tadoru.jobs.reporting.output import limit_annotations, workflow_command
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import Inlink

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note", Severity.INFO: "note"}
_CODE_QUALITY = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTICE: "info", Severity.INFO: "info"}


def write_sarif(report: AuditReport, out: TextIO) -> None:
    """Writes the log, one result a line."""
    crawl = report.summary.crawl
    invocation: dict[str, Any] = {"executionSuccessful": crawl.outcome == "complete"}
    for name, moment in (("startTimeUtc", crawl.started), ("endTimeUtc", crawl.ended)):
        if moment is not None:
            invocation[name] = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
    run = build_formats.SarifRun(
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
    build_formats.write_sarif_log(run, _results(report), out)


def write_code_quality(report: AuditReport, out: TextIO) -> None:
    """Writes GitLab's code quality report: the findings that are not suppressed, with their pages as paths."""
    build_formats.write_json_list((_issue(report, finding) for finding in report.findings() if finding.entry is None), out)
    out.write("\n")


def _issue(report: AuditReport, finding: ReportedFinding) -> dict[str, Any]:
    row, check = finding.row, finding.result.check
    key = (row.url, check.id, row.subject)
    message = _message(finding, report.translate)
    return build_formats.code_quality_issue(
        check.id, _CODE_QUALITY[check.severity], message, build_formats.ResultPlace(row.url), key
    )


def _rule(result: CheckResult, _: Translator) -> dict[str, Any]:
    check = result.check
    title, why, fix = messages.translate_check(check, _)
    why_heading, fix_heading = _("Why it matters"), _("How to fix it")
    markdown = f"**{why_heading}**\n\n{why}\n\n**{fix_heading}**\n\n{fix}"
    if check.threshold is not None:
        markdown += f"\n\n{messages.describe_threshold(check.threshold, _)}"
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
    return _sarif_result(key, index, messages.translate_check(check, report.translate).title, LEVELS[check.severity]) | {
        "baselineState": "absent"
    }


def _sarif_result(key: FindingKey, index: int, message: str, level: str) -> dict[str, Any]:
    url, check_id, _ = key
    return build_formats.sarif_result(check_id, index, level, message, build_formats.ResultPlace(url), key)


def _message(finding: ReportedFinding, _: Translator) -> str:
    title, text = messages.translate_check(finding.result.check, _).title, messages.describe_evidence(finding.row, _)
    return f"{title}: {text}" if text else title


def write_annotations(found: Iterable[CheckCount], out: TextIO, *, lang: str = "en") -> None:
    """Write an annotation for each check with errors or warnings, and a notice with the number of checks beyond the limit."""
    out.writelines(line + "\n" for line in format_annotations(found, lang))


def format_annotations(found: Iterable[CheckCount], lang: str = "en") -> Iterator[str]:
    """The workflow commands, checks with the most findings first."""
    _ = translator(lang)

    def annotations() -> Iterator[tuple[str, str]]:
        for each in sorted(found, key=lambda each: (-each.count, each.check.id)):
            if (level := LEVELS[Severity(each.check.severity)]) != "note":
                title = escape.printable((each.check.title_ja if lang == "ja" else "") or each.check.title)
                text = _.ngettext(
                    "{count} finding ({check}), first {url}",
                    "{count} findings ({check}), first {url}",
                    each.count,
                    check=each.check.id,
                    url=escape.printable(each.url),
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


INLINKS = 3
FAILING = (Severity.ERROR, Severity.WARNING)


def write_junit(report: AuditReport, out: TextIO) -> None:
    """Writes the document, by group in the order of the catalogue."""
    summary = report.summary
    results = sorted(summary.results, key=lambda result: result.number)
    order = {group: number for number, group in enumerate(dict.fromkeys(result.check.group for result in results))}
    results.sort(key=lambda result: order[result.check.group])
    groups = groupby(results, key=lambda result: result.check.group)
    build_formats.write_junit_suites("tadoru audit", [_suite(report, group, list(members)) for group, members in groups], out)


def _suite(report: AuditReport, group: str, results: list[CheckResult]) -> build_formats.JunitSuite:
    summary = report.summary
    started = summary.crawl.started
    return build_formats.JunitSuite(
        name=messages.translate_name(messages.GROUPS, group, report.translate),
        timestamp=f"{started:%Y-%m-%dT%H:%M:%S}" if started is not None else "1970-01-01T00:00:00",
        hostname=messages.site_name(summary),
        properties=_suite_properties(summary, report.translate),
        cases=[_case(report, result) for result in results],
    )


def _suite_properties(summary: AuditSummary, _: Translator) -> dict[str, object]:
    score = f"{summary.score:.1f}" if summary.score is not None else ""
    figures = {"start_url": summary.crawl.start_url, "pages": summary.pages, "score": score}
    return figures | {f"not_judged.{at}": text for at, text in enumerate(describe_skipped_checks(summary.not_judged, _), 1)}


def _case(report: AuditReport, result: CheckResult) -> build_formats.JunitCase:
    check = result.check
    title = messages.translate_check(check, report.translate).title
    name, class_name = f"{title} ({check.id})", f"tadoru.{check.group}"
    if not result.count and not result.suppressed:
        return build_formats.JunitCase(name=name, class_name=class_name)
    if not result.count:
        return build_formats.JunitCase(name=name, class_name=class_name, outcome="skipped", message="; ".join(result.reasons))
    if check.severity not in FAILING:
        return build_formats.JunitCase(name=name, class_name=class_name, outcome="noted", lines=_case_lines(report, result))
    return build_formats.JunitCase(
        name=name,
        class_name=class_name,
        outcome="failed",
        message=f"{title}: {messages.format_finding_count(result.count, report.translate)}",
        type=str(check.severity),
        lines=_case_lines(report, result),
    )


def _case_lines(report: AuditReport, result: CheckResult) -> Iterator[str]:
    _, check = report.translate, result.check
    text = messages.translate_check(check, _)
    why, fix = _("Why it matters"), _("How to fix it")
    yield f"{why}: {text.why}\n{fix}: {text.fix}\n"
    for example in report.pages(result, INLINKS):
        yield from _page_lines(example, _)
    if hidden := report.hidden(result):
        yield f"{messages.describe_hidden_before_command(hidden, _)} {report.command(f'--check {check.id}')}\n"


def _page_lines(example: FindingExample, _: Translator) -> Iterator[str]:
    text = messages.describe_evidence(example.row, _)
    yield f"\n{escape.readable_url(example.row.url)}{f'  {text}' if text else ''}\n"
    for link in example.inlinks:
        yield f"    ← {messages.describe_inlink(link, escape.readable_url(link.source_url))}\n"
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield f"    ← {messages.describe_hidden(hidden, _)}\n"


MAX_CHARACTERS = 45_000
"""Maximum size of all lists of pages: a comment on a pull request may have 65,536 characters, including the table of checks."""
_SIGNS = {Severity.ERROR: "🔴", Severity.WARNING: "🟠", Severity.NOTICE: "🔵", Severity.INFO: "⚪"}


def write_markdown(report: AuditReport, out: TextIO) -> None:
    """Writes the document; lists of pages are streamed."""
    _, summary = report.translate, report.summary
    title = _("Audit of {site}", site=messages.site_name(summary))
    out.write(f"## {escape.escape_markdown(title)}\n\n")
    out.writelines(f"{line}\n" for line in _figures(summary, _))
    if not summary.found:
        out.write("\n" + _("No issues found.") + "\n")
        return
    heads = (_("Severity"), _("Check"), _("Group"), _("Count"))
    out.write(f"\n| {' | '.join(heads)} |\n|---|---|---|---:|\n")
    for result in summary.found:
        out.write(_table_row(result, _))
    available, left = MAX_CHARACTERS, 0
    for result in summary.found:
        if report.list_all:
            out.writelines(_page_list(report, result))
            continue
        block = "".join(_page_list(report, result))
        available -= len(block)
        left += available < 0
        out.write(block if available >= 0 else "")
    if left:
        more = _.ngettext("{count} more check. To list everything, run:", "{count} more checks. To list everything, run:", left)
        out.write(f"\n{more} {escape.markdown_code(report.command('--all'))}\n")
    out.writelines(f"\n{escape.escape_markdown(note)}\n" for note in messages.describe_exclusions(summary, _))
    if summary.not_judged:
        out.write("\n### " + _("Not judged") + "\n\n")
        out.writelines(f"- {escape.escape_markdown(note)}\n" for note in describe_skipped_checks(summary.not_judged, _))


def _figures(summary: AuditSummary, _: Translator) -> Iterator[str]:
    if crawl := messages.describe_crawl(summary, _):
        yield f"{escape.escape_markdown(crawl)}\n"
    if warning := messages.describe_unfinished(summary, _):
        yield f"> ⚠️ {escape.escape_markdown(warning)}\n"
    score = _("No score yet. It is calculated when the crawl ends.")
    if summary.score is not None:
        score = "**" + _("{score} of 100", score=f"{summary.score:.0f}") + f"** ({messages.score_grade(summary.score, _)})"
    classes = ", ".join(
        f"{messages.response_class_name(name, _)}: {_.number(count)}" for name, count in summary.classes.items() if count
    )
    counts = ", ".join(f"{_(messages.SEVERITY_HEADINGS[severity])}: {_.number(summary.count(severity))}" for severity in Severity)
    yield "- " + _("Health score") + f": {score}"
    yield "- " + _("Pages") + f": {_.number(summary.pages)} ({classes})"
    yield "- " + _("Indexable") + f": {_.number(summary.indexable)}"
    yield "- " + _("Findings") + f": {counts}"


def _table_row(result: CheckResult, _: Translator) -> str:
    check, title = result.check, escape.escape_markdown(messages.translate_check(result.check, _).title)
    group = escape.escape_markdown(messages.translate_name(messages.GROUPS, check.group, _))
    return (
        f"| {_SIGNS[check.severity]} {_(messages.SEVERITIES[check.severity])} | {title} | {group} | {_.number(result.count)} |\n"
    )


def _page_list(report: AuditReport, result: CheckResult) -> Iterator[str]:
    _, check = report.translate, result.check
    text = messages.translate_check(check, _)
    short = escape.url_shortener(escape.url_origin(report.summary.crawl.start_url))
    heading = f"{_SIGNS[check.severity]} {escape.escape_markdown(text.title)} ({_.number(result.count)})"
    yield f"\n<details><summary>{heading}</summary>\n\n"
    yield f"{escape.escape_markdown(text.why)} {escape.escape_markdown(text.fix)}\n\n"
    for line in messages.describe_groups(result, short, _):
        yield f"{escape.escape_markdown(line)}\n\n"
    for example in report.pages(result, INLINKS):
        yield f"- {escape.markdown_link(example.row.url, short(example.row.url))}"
        if evidence := messages.describe_evidence(example.row, _):
            yield f" – {escape.escape_markdown(evidence)}"
        yield from _inlinks(example, _, short)
        yield "\n"
    if hidden := report.hidden(result):
        command = escape.markdown_code(report.command(f"--check {check.id}"))
        yield f"\n{messages.describe_hidden_before_command(hidden, _)} {command}\n"
    yield "\n</details>\n"


def _inlinks(example: FindingExample, _: Translator, short: Callable[[str], str]) -> Iterator[str]:
    if not example.inlinks:
        return
    yield "  \n  " + _("Linked from") + ": "
    yield ", ".join(_inlink(link, short) for link in example.inlinks)
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield f" {messages.describe_hidden(hidden, _)}"


def _inlink(link: Inlink, short: Callable[[str], str]) -> str:
    text = escape.escape_markdown(escape.clip(escape.printable(link.text), 80))
    return f"{escape.markdown_link(link.source_url, short(link.source_url))}{f' “{text}”' if text else ''}"
