"""The Markdown format, for a pull request or an issue: figures, a table of checks, and the first pages of each check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.report import messages
from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.escape import (
    clip,
    escape_markdown,
    markdown_code,
    markdown_link,
    printable,
    url_origin,
    url_shortener,
)
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import Inlink

INLINKS = 3
MAX_CHARACTERS = 45_000
"""Maximum size of all lists of pages: a comment on a pull request may have 65,536 characters, including the table of checks."""
_SIGNS = {Severity.ERROR: "🔴", Severity.WARNING: "🟠", Severity.NOTICE: "🔵", Severity.INFO: "⚪"}


def write_markdown(report: AuditReport, out: TextIO) -> None:
    """Writes the document; lists of pages are streamed."""
    _, summary = report.translate, report.summary
    title = _("Audit of {site}", site=messages.site_name(summary))
    out.write(f"## {escape_markdown(title)}\n\n")
    out.writelines(f"{line}\n" for line in _figures(summary, _))
    if not summary.found:
        out.write("\n" + _("No issues found.") + "\n")
        return
    heads = (_("Severity"), _("Check"), _("Group"), _("Count"))
    out.write(f"\n| {' | '.join(heads)} |\n|---|---|---|---:|\n")
    for result in summary.found:
        out.write(_row(result, _))
    available, left = MAX_CHARACTERS, 0
    for result in summary.found:
        if report.list_all:
            out.writelines(_pages(report, result))
            continue
        block = "".join(_pages(report, result))
        available -= len(block)
        left += available < 0
        out.write(block if available >= 0 else "")
    if left:
        more = _.ngettext("{count} more check. To list everything, run:", "{count} more checks. To list everything, run:", left)
        out.write(f"\n{more} {markdown_code(report.command('--all'))}\n")
    out.writelines(f"\n{escape_markdown(note)}\n" for note in messages.describe_exclusions(summary, _))
    if summary.not_judged:
        out.write("\n### " + _("Not judged") + "\n\n")
        out.writelines(f"- {escape_markdown(note)}\n" for note in describe_skipped_checks(summary.not_judged, _))


def _figures(summary: AuditSummary, _: Translator) -> Iterator[str]:
    if crawl := messages.describe_crawl(summary, _):
        yield f"{escape_markdown(crawl)}\n"
    if warning := messages.describe_unfinished(summary, _):
        yield f"> ⚠️ {escape_markdown(warning)}\n"
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


def _row(result: CheckResult, _: Translator) -> str:
    check, title = result.check, escape_markdown(messages.translate_check(result.check, _).title)
    group = escape_markdown(messages.translate_name(messages.GROUPS, check.group, _))
    return (
        f"| {_SIGNS[check.severity]} {_(messages.SEVERITIES[check.severity])} | {title} | {group} | {_.number(result.count)} |\n"
    )


def _pages(report: AuditReport, result: CheckResult) -> Iterator[str]:
    _, check = report.translate, result.check
    text = messages.translate_check(check, _)
    short = url_shortener(url_origin(report.summary.crawl.start_url))
    heading = f"{_SIGNS[check.severity]} {escape_markdown(text.title)} ({_.number(result.count)})"
    yield f"\n<details><summary>{heading}</summary>\n\n"
    yield f"{escape_markdown(text.why)} {escape_markdown(text.fix)}\n\n"
    for line in messages.describe_groups(result, short, _):
        yield f"{escape_markdown(line)}\n\n"
    for example in report.pages(result, INLINKS):
        yield f"- {markdown_link(example.row.url, short(example.row.url))}"
        if evidence := messages.describe_evidence(example.row, _):
            yield f" – {escape_markdown(evidence)}"
        yield from _inlinks(example, _, short)
        yield "\n"
    if hidden := report.hidden(result):
        yield f"\n{messages.describe_hidden_before_command(hidden, _)} {markdown_code(report.command(f'--check {check.id}'))}\n"
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
    text = escape_markdown(clip(printable(link.text), 80))
    return f"{markdown_link(link.source_url, short(link.source_url))}{f' “{text}”' if text else ''}"
