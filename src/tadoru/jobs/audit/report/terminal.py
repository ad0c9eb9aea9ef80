"""The form for a terminal: the site in figures, what was found, and what to do next. Named checks are listed page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    Words,
    describe_crawl,
    describe_evidence,
    describe_exclusions,
    describe_inlink,
    describe_threshold,
    describe_unfinished,
    format_milliseconds,
    format_time_bound,
    response_class_names,
    site_name,
)
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.jobs.reporting.escape import readable_url, url_origin, url_shortener
from tadoru.jobs.reporting.formatting import display_width, pad_text
from tadoru.jobs.reporting.terminal import Palette
from tadoru.model.finding import Severity

_BAR = 32
_LABEL = 16
INLINKS = 10
_MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.NOTICE: "·", Severity.INFO: "i"}

Say = Callable[[str], None]


def write_text(report: AuditReport, out: TextIO, *, colour: bool = False) -> None:
    """Writes the summary, or with `list_all` every page of the chosen checks."""

    def say(line: str) -> None:
        # A GitHub log takes `##[...]` anywhere in a line for a command; a space makes it words again.
        out.write(line.rstrip().replace("##[", "## [") + "\n")

    paint = Palette(colour)
    _write_head(report.summary, report.words, paint, say)
    if report.list_all:
        _write_pages(report, paint, say)
    else:
        _write_figures(report.summary, report.words, paint, say)
        _write_findings(report, paint, say)
        _write_distributions(report.summary, report.words, paint, say)
    _write_end(report, paint, say)


def _write_head(summary: AuditSummary, words: Words, paint: Palette, say: Say) -> None:
    say(f"{paint.bold(site_name(summary))}  {paint.faint(readable_url(summary.crawl.start_url))}")
    say(paint.faint(describe_crawl(summary, words)))
    if warning := describe_unfinished(summary, words):
        say(paint.yellow(warning))


def _write_figures(summary: AuditSummary, words: Words, paint: Palette, say: Say) -> None:
    names = response_class_names(words)
    classes = [(names.get(name, name), count) for name, count in summary.classes.items() if count]
    reasons = [(words.named(INDEXABILITIES, reason), count) for reason, good, count in summary.indexability if not good]
    lines = [(words.score, _score(summary, words, paint))]
    lines.append((words.pages, _figures(summary.pages, classes)))
    lines.append((words.indexable, _figures(summary.indexable, reasons)))
    lines.append((words.links, f"{summary.links:>7,}"))
    lines += [(words.external, f"{summary.external:>7,}")] if summary.external else []
    say("")
    for label, text in lines:
        say(f"{pad_text(label, _LABEL)} {text}")


def _score(summary: AuditSummary, words: Words, paint: Palette) -> str:
    score = summary.score
    if score is None:
        return words.no_score
    colour = paint.green if score >= 75 else paint.yellow if score >= 50 else paint.red
    return f"{paint.bold(colour(words.score_of.format(score=f'{score:.0f}')))}  {words.grade(score)}"


def _figures(total: int, parts: Sequence[tuple[str, int]]) -> str:
    return f"{total:>7,}   {'   '.join(f'{name}: {count:,}' for name, count in parts)}"


def _write_findings(report: AuditReport, paint: Palette, say: Say) -> None:
    summary, words = report.summary, report.words
    short = url_shortener(url_origin(summary.crawl.start_url))
    width = max((display_width(words.check_text(result.check).title) for result in summary.found), default=0)
    if not summary.found:
        say(f"\n{words.nothing}")
    for severity in Severity:
        results = [result for result in summary.found if result.check.severity is severity]
        if results:
            say(f"\n{_coloured(severity, paint)(paint.bold(words.severities[severity][1]))} ({summary.count(severity):,})")
        for result in results:
            title = pad_text(words.check_text(result.check).title, width)
            say(f"  {_mark(severity, paint)} {result.count:>7,}  {title}  {paint.faint(result.check.id)}")
            for example in result.examples[:1]:
                say(paint.faint(f"              {short(example.row.url)}"))


def _coloured(severity: Severity, paint: Palette) -> Callable[[str], str]:
    return {Severity.ERROR: paint.red, Severity.WARNING: paint.yellow, Severity.NOTICE: paint.cyan}.get(severity, paint.faint)


def _mark(severity: Severity, paint: Palette) -> str:
    return _coloured(severity, paint)(_MARKS[severity])


def _write_distributions(summary: AuditSummary, words: Words, paint: Palette, say: Say) -> None:
    depths = limit_columns([(str(depth), count) for depth, count in summary.depths])
    if summary.unlinked:
        depths.append((words.unlinked, summary.unlinked))
    _write_bars(words.depth, depths, paint, say)
    times = summary.times
    if times.count:
        shares = zip((50, 90, 99), (times.p50, times.p90, times.p99), strict=True)
        told = "   ".join(f"p{share} {format_milliseconds(time)}" for share, time in shares)
        _write_bars(f"{words.times}  {paint.faint(told)}", _time_classes(summary), paint, say)


def _time_classes(summary: AuditSummary) -> list[tuple[str, int]]:
    """Each class of response times with its label."""
    labels = [*(f"≤ {format_time_bound(bound)}" for bound in TIME_BOUNDS), f"> {format_time_bound(TIME_BOUNDS[-1])}"]
    return list(zip(labels, summary.times.classes, strict=True))


def _write_bars(heading: str, bars: Sequence[tuple[str, int]], paint: Palette, say: Say) -> None:
    most = max((count for _, count in bars), default=0)
    if not most:
        return
    say(f"\n{paint.bold(heading)}")
    width = max(display_width(label) for label, _ in bars)
    for label, count in bars:
        bar = "█" * max(1 if count else 0, round(_BAR * count / most))
        say(f"  {pad_text(label, width, right=True)}  {paint.cyan(bar)}{' ' if bar else ''}{count:,}")


def _write_pages(report: AuditReport, paint: Palette, say: Say) -> None:
    """Every page of the chosen checks, with the links that lead to it."""
    words, short = report.words, url_shortener(url_origin(report.summary.crawl.start_url))
    if not report.summary.found:
        say(f"\n{words.nothing}")
    for result in report.summary.found:
        check, text = result.check, words.check_text(result.check)
        say(f"\n{_mark(check.severity, paint)} {paint.bold(text.title)} ({result.count:,})  {paint.faint(check.id)}")
        say(f"  {words.why}: {text.why}")
        say(f"  {words.fix}: {text.fix}")
        if check.threshold is not None:
            say(f"  {describe_threshold(check.threshold, words)}")
        for example in report.pages(result, INLINKS):
            for line in _page_lines(example, words, short, paint):
                say(line)
        if result.suppressed:
            say(paint.faint(f"  {_suppressed(result, words)}"))


def _page_lines(example: FindingExample, words: Words, short: Callable[[str], str], paint: Palette) -> Iterator[str]:
    yield f"\n  {short(example.row.url)}"
    if text := describe_evidence(example.row, words):
        yield f"      {text}"
    for link in example.inlinks:
        yield paint.faint(f"      ← {describe_inlink(link, short(link.source_url))}")
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield paint.faint(f"      ← {words.more.format(number=f'{hidden:,}')}")


def _suppressed(result: CheckResult, words: Words) -> str:
    told = words.suppressed_here.format(findings=words.count("finding", result.suppressed))
    return f"{told}: {'; '.join(result.reasons)}"


def _write_end(report: AuditReport, paint: Palette, say: Say) -> None:
    words = report.words
    notes = list(describe_exclusions(report.summary, words))
    if notes and not report.list_all:
        say(f"\n{paint.bold(words.traps)}")
        for note in notes:
            say(f"  {note}")
    if report.list_all or not report.summary.found:
        return
    say("")
    say(paint.faint(words.next_html.format(command=report.command("--format html -o report.html"))))
    first = report.summary.found[0].check.id
    say(paint.faint(words.next_check.format(command=report.command(f"--check {first}"))))
