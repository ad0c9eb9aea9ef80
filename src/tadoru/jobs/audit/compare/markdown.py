"""The comparison as Markdown, for a pull request or a ticket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from tadoru.jobs.audit.compare.changes import FINDINGS, Change, Kind
from tadoru.jobs.audit.compare.comparison import CheckChange, Comparison
from tadoru.jobs.audit.compare.text import remarks, score_change
from tadoru.jobs.audit.compare.texts import Sentences
from tadoru.jobs.audit.report.markdown import plain
from tadoru.jobs.report.escape import readable_url
from tadoru.model.finding import Severity


def write_markdown(result: Comparison, say: Sentences, out: TextIO) -> None:
    out.writelines(f"{line}\n" for line in _lines(result, say))


def _lines(result: Comparison, say: Sentences) -> Iterator[str]:
    yield from (f"## {say.over}", "")
    yield f"- **{say.before}**: {plain(say.side(result.before, result.pages_before))}"
    yield f"- **{say.after}**: {plain(say.side(result.after, result.pages_after))}"
    yield f"- **{say.score}**: {score_change(result, say)}"
    for remark in remarks(result, say):
        yield from ("", f"> {plain(remark)}")
    kinds = [kind for kind in Kind if result.counts[kind]]
    if not kinds:
        yield from ("", say.nothing)
        return
    yield from ("", f"| {say.changes} | {say.number} |", "|---|---:|")
    yield from (f"| {say.kinds[kind]} | {result.counts[kind]:,} |" for kind in kinds)
    for kind in kinds:
        if kind not in FINDINGS:
            yield from _section(say.kinds[kind], result.examples[kind], result.counts[kind], say)
    checks = result.changed_checks()
    if checks:
        yield from ("", f"### {say.findings}", "")
        yield f"| {say.severity} | {say.check} | {say.new} | {say.fixed} | {say.totals} |"
        yield "|---|---|---:|---:|---:|"
        yield from (_row(change, say) for change in checks)


def _section(heading: str, changes: list[Change], count: int, say: Sentences) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{heading} ({count:,})</summary>", "")
    for change in changes:
        yield f"- {plain(readable_url(change.url))}: {plain(say.values(change))}"
    if count > len(changes):
        yield f"- {say.more.format(number=f'{count - len(changes):,}')}"
    yield from ("", "</details>")


def _row(change: CheckChange, say: Sentences) -> str:
    severity = say.words.severities[Severity(change.check.severity)][0]
    name = f"{plain(say.check_title(change.check))} (`{change.check.id}`)"
    return f"| {severity} | {name} | {change.new:,} | {change.fixed:,} | {change.before:,} → {change.after:,} |"
