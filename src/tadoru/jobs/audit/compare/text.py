"""The comparison for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from tadoru.jobs.audit.compare.changes import FINDINGS, WORSE, Change, Kind
from tadoru.jobs.audit.compare.comparison import CheckChange, Comparison
from tadoru.jobs.audit.compare.texts import Sentences
from tadoru.jobs.report.escape import readable_url
from tadoru.jobs.report.palette import Palette
from tadoru.jobs.report.words import columns, padded
from tadoru.model.finding import Severity

_GOOD = frozenset({Kind.FIXED, Kind.INDEXED})


def write_text(result: Comparison, say: Sentences, out: TextIO, *, colour: bool = False) -> None:
    out.writelines(f"{line.rstrip()}\n" for line in _lines(result, say, Palette(colour)))


def score_change(result: Comparison, say: Sentences) -> str:
    """`81.2 → 84.0 (+2.8)`."""
    was, now = result.before.run.score, result.after.run.score
    shown = [say.no_score if score is None else f"{score:.1f}" for score in (was, now)]
    difference = f" ({now - was:+.1f})" if was is not None and now is not None else ""
    return f"{shown[0]} → {shown[1]}{difference}"


def remarks(result: Comparison, say: Sentences) -> Iterator[str]:
    """What a reader must know before believing the rest."""
    if result.before.run.partial:
        yield say.partial_before
    if result.after.run.partial:
        yield say.partial_after
    if result.unseen:
        yield say.unseen.format(pages=say.words.count("page", result.unseen))
    if result.twins:
        yield say.twins.format(urls=say.words.count("url", result.twins))


def _lines(result: Comparison, say: Sentences, paint: Palette) -> Iterator[str]:
    facts = (
        (say.before, say.side(result.before, result.pages_before)),
        (say.after, say.side(result.after, result.pages_after)),
        (say.score, score_change(result, say)),
    )
    width = max(columns(name) for name, _ in facts) + 2
    yield from (f"{paint.faint(padded(name, width))}{words}" for name, words in facts)
    yield from (paint.yellow(f"! {remark}") for remark in remarks(result, say))
    kinds = [kind for kind in Kind if kind not in FINDINGS and result.counts[kind]]
    checks = result.changed_checks()
    if not kinds and not checks:
        yield from ("", say.nothing)
    for kind in kinds:
        yield from ("", _heading(kind, result.counts[kind], say, paint))
        yield from _examples(result.examples[kind], result.counts[kind], say)
    if checks:
        counts = {"new": f"{result.counts[Kind.NEW_FINDING]:,}", "fixed": f"{result.counts[Kind.FIXED_FINDING]:,}"}
        yield from ("", f"{paint.bold(say.findings)}  {say.findings_lead.format(**counts)}")
        for change in checks:
            yield from _check(change, say, paint)


def _heading(kind: Kind, count: int, say: Sentences, paint: Palette) -> str:
    name = f"{say.kinds[kind]} ({count:,})"
    return paint.red(name) if kind in WORSE else paint.green(name) if kind in _GOOD else paint.bold(name)


def _examples(changes: list[Change], count: int, say: Sentences) -> Iterator[str]:
    for change in changes:
        yield f"  {readable_url(change.url)}  {say.values(change)}"
    if count > len(changes):
        yield f"  {say.more.format(number=f'{count - len(changes):,}')}"


def _check(change: CheckChange, say: Sentences, paint: Palette) -> Iterator[str]:
    severity = say.words.severities[Severity(change.check.severity)][0]
    counts = [f"{number:,} {word}" for number, word in ((change.new, say.new), (change.fixed, say.fixed)) if number]
    totals = f"{change.before:,} → {change.after:,}"
    yield f"  {severity}: {say.check_title(change.check)} ({change.check.id}): {', '.join(counts)}, {totals}"
    for example in change.examples:
        sign = paint.red("+") if example.kind is Kind.NEW_FINDING else paint.green("−")
        subject = example.after if example.kind is Kind.NEW_FINDING else example.before
        yield f"    {sign} {readable_url(example.url)}" + (f"  {readable_url(str(subject))}" if subject else "")
    hidden = change.new + change.fixed - len(change.examples)
    if hidden > 0:
        yield f"    {say.more.format(number=f'{hidden:,}')}"
