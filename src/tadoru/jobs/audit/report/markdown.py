"""The Markdown form, for a pull request or an issue: figures, a table of what was found, and the first pages of each check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TextIO

from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    Words,
    describe_crawl,
    describe_evidence,
    describe_exclusions,
    describe_unfinished,
    response_class_names,
    site_name,
)
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import Inlink

INLINKS = 3
MAX_CHARACTERS = 45_000
"""What the lists of pages may take together: a comment on a pull request has room for 65,536, the table of checks included."""
_SIGNS = {Severity.ERROR: "🔴", Severity.WARNING: "🟠", Severity.NOTICE: "🔵", Severity.INFO: "⚪"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$@:-])")
_NOT_IN_LINK = re.compile(r"[\s<>()\\\"'`|*_~\[\]]")


def write_markdown(report: AuditReport, out: TextIO) -> None:
    """Writes the document, page lists as they are read."""
    words, summary = report.words, report.summary
    out.write(f"## {escape_markdown(words.title.format(site=site_name(summary)))}\n\n")
    out.writelines(f"{line}\n" for line in _figures(summary, words))
    if not summary.found:
        out.write(f"\n{words.nothing}\n")
        return
    out.write(f"\n| {words.severity} | {words.check} | {words.group} | {words.found} |\n|---|---|---|---:|\n")
    for result in summary.found:
        out.write(_row(result, words))
    room, left = MAX_CHARACTERS, 0
    for result in summary.found:
        if report.list_all:
            out.writelines(_pages(report, result))
            continue
        block = "".join(_pages(report, result))
        room -= len(block)
        left += room < 0
        out.write(block if room >= 0 else "")
    if left:
        out.write(f"\n{words.more_command.format(number=words.count('check', left))} {_code(report.command('--all'))}\n")
    out.writelines(f"\n{escape_markdown(note)}\n" for note in describe_exclusions(summary, words))


def escape_markdown(text: str) -> str:
    """Text of a stranger that Markdown shows as it is: no markup, no HTML, and nobody is mentioned."""
    return _SPECIAL.sub(r"\\\1", printable(text)).replace("\\@", "&#64;").replace("\\<", "&lt;").replace("\\&", "&amp;")


def _figures(summary: AuditSummary, words: Words) -> Iterator[str]:
    if told := describe_crawl(summary, words):
        yield f"{escape_markdown(told)}\n"
    if warning := describe_unfinished(summary, words):
        yield f"> ⚠️ {escape_markdown(warning)}\n"
    score = words.no_score
    if summary.score is not None:
        score = f"**{words.score_of.format(score=f'{summary.score:.0f}')}** ({words.grade(summary.score)})"
    names = response_class_names(words)
    classes = ", ".join(f"{names.get(name, name)}: {count:,}" for name, count in summary.classes.items() if count)
    counts = ", ".join(f"{words.severities[severity][1]}: {summary.count(severity):,}" for severity in Severity)
    yield f"- {words.score}: {score}"
    yield f"- {words.pages}: {summary.pages:,} ({classes})"
    yield f"- {words.indexable}: {summary.indexable:,}"
    yield f"- {words.findings}: {counts}"


def _row(result: CheckResult, words: Words) -> str:
    check = result.check
    severity = f"{_SIGNS[check.severity]} {words.severities[check.severity][0]}"
    group = escape_markdown(words.named(GROUPS, check.group))
    return f"| {severity} | {escape_markdown(words.check_text(check).title)} | {group} | {result.count:,} |\n"


def _pages(report: AuditReport, result: CheckResult) -> Iterator[str]:
    words, check = report.words, result.check
    short = url_shortener(url_origin(report.summary.crawl.start_url))
    yield f"\n<details><summary>{_SIGNS[check.severity]} {escape_markdown(words.check_text(check).title)} ({result.count:,})</summary>\n\n"
    yield f"{escape_markdown(words.check_text(check).why)} {escape_markdown(words.check_text(check).fix)}\n\n"
    for example in report.pages(result, INLINKS):
        yield f"- {_link(example.row.url, short(example.row.url))}"
        if text := describe_evidence(example.row, words):
            yield f" – {escape_markdown(text)}"
        yield from _inlinks(example, words, short)
        yield "\n"
    if hidden := report.hidden(result):
        yield f"\n{words.more_command.format(number=f'{hidden:,}')} {_code(report.command(f'--check {check.id}'))}\n"
    yield "\n</details>\n"


def _inlinks(example: FindingExample, words: Words, short: Callable[[str], str]) -> Iterator[str]:
    if not example.inlinks:
        return
    yield f"  \n  {words.linked_from}: "
    yield ", ".join(_inlink(link, short) for link in example.inlinks)
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield f" {words.more.format(number=f'{hidden:,}')}"


def _inlink(link: Inlink, short: Callable[[str], str]) -> str:
    text = escape_markdown(clip(printable(link.text), 80))
    return f"{_link(link.source_url, short(link.source_url))}{f' “{text}”' if text else ''}"


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', '')}`"


def _link(url: str, name: str) -> str:
    """A link, if it is one that may safely be followed."""
    shown = escape_markdown(clip(name, 100))
    if not url.lower().startswith(("http://", "https://")):
        return shown
    target = _NOT_IN_LINK.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), url)
    return f"[{shown}](<{printable(target)}>)"
