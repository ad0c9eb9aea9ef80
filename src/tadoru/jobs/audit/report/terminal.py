"""The text format for a terminal: the site in figures, findings, and what to do next. Named checks are listed page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.report import messages
from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, AuditSummary, FindingExample
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.jobs.reporting.escape import readable_url, url_origin, url_shortener
from tadoru.jobs.reporting.formatting import Palette, display_width, pad_text
from tadoru.model.finding import Severity

_BAR = 32
_LABEL = 16
_NUMBER = 7
INLINKS = 10
_MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.NOTICE: "·", Severity.INFO: "i"}

WriteLine = Callable[[str], None]


def write_text(report: AuditReport, out: TextIO, *, colour: bool = False) -> None:
    """Writes the summary, or with `list_all` all pages of the chosen checks."""

    def write_line(line: str) -> None:
        # A GitHub log takes `##[...]` anywhere in a line for a command, unless there is a space in it.
        out.write(line.rstrip().replace("##[", "## [") + "\n")

    paint = Palette(colour)
    summary = report.summary
    write_line(f"{paint.bold(messages.site_name(summary))}  {paint.faint(readable_url(summary.crawl.start_url))}")
    write_line(paint.faint(messages.describe_crawl(summary, report.translate)))
    if warning := messages.describe_unfinished(summary, report.translate):
        write_line(paint.yellow(warning))
    if report.list_all:
        _write_pages(report, paint, write_line)
    else:
        _write_figures(report.summary, report.translate, paint, write_line)
        _write_findings(report, paint, write_line)
        _write_distributions(report.summary, report.translate, paint, write_line)
    _write_end(report, paint, write_line)


def _write_figures(summary: AuditSummary, _: Translator, paint: Palette, write_line: WriteLine) -> None:
    classes = [(messages.response_class_name(name, _), count) for name, count in summary.classes.items() if count]
    reasons = [
        (messages.translate_name(messages.INDEXABILITIES, reason, _), count)
        for reason, is_indexable, count in summary.indexability
        if not is_indexable
    ]
    lines = [
        (_("Health score"), _score(summary, _, paint)),
        (_("Pages"), _figures(summary.pages, classes, _)),
        (_("Indexable"), _figures(summary.indexable, reasons, _)),
        (_("Links"), _.number(summary.links).rjust(_NUMBER)),
    ]
    if summary.external:
        lines.append((_("External URLs"), _.number(summary.external).rjust(_NUMBER)))
    write_line("")
    for label, text in lines:
        write_line(f"{pad_text(label, _LABEL)} {text}")


def _score(summary: AuditSummary, _: Translator, paint: Palette) -> str:
    score = summary.score
    if score is None:
        return _("No score yet. It is calculated when the crawl ends.")
    colour = paint.green if score >= 75 else paint.yellow if score >= 50 else paint.red
    shown = _("{score} of 100", score=f"{score:.0f}")
    return f"{paint.bold(colour(shown))}  {messages.score_grade(score, _)}"


def _figures(total: int, parts: Sequence[tuple[str, int]], _: Translator) -> str:
    return f"{_.number(total).rjust(_NUMBER)}   {'   '.join(f'{name}: {_.number(count)}' for name, count in parts)}"


def _write_findings(report: AuditReport, paint: Palette, write_line: WriteLine) -> None:
    summary, _ = report.summary, report.translate
    short = url_shortener(url_origin(summary.crawl.start_url))
    titles = {result.number: messages.translate_check(result.check, _).title for result in summary.found}
    width = max(map(display_width, titles.values()), default=0)
    if not summary.found:
        write_line("\n" + _("No issues found."))
    for severity in Severity:
        results = [result for result in summary.found if result.check.severity is severity]
        if results:
            heading = _colour_of(severity, paint)(paint.bold(_(messages.SEVERITY_HEADINGS[severity])))
            write_line(f"\n{heading} ({_.number(summary.count(severity))})")
        for result in results:
            title, count = pad_text(titles[result.number], width), _.number(result.count).rjust(_NUMBER)
            write_line(f"  {_mark(severity, paint)} {count}  {title}  {paint.faint(result.check.id)}")
            for example in result.examples[:1]:
                write_line(paint.faint(f"              {short(example.row.url)}"))


def _colour_of(severity: Severity, paint: Palette) -> Callable[[str], str]:
    return {Severity.ERROR: paint.red, Severity.WARNING: paint.yellow, Severity.NOTICE: paint.cyan}.get(severity, paint.faint)


def _mark(severity: Severity, paint: Palette) -> str:
    return _colour_of(severity, paint)(_MARKS[severity])


def _write_distributions(summary: AuditSummary, _: Translator, paint: Palette, write_line: WriteLine) -> None:
    depths = limit_columns([(str(depth), count) for depth, count in summary.depths])
    if summary.unlinked:
        depths.append((_("not linked"), summary.unlinked))
    _write_bars(_("Clicks from the start page"), depths, _, paint, write_line)
    times = summary.times
    if times.count:
        shares = zip((50, 90, 99), (times.p50, times.p90, times.p99), strict=True)
        percentiles = "   ".join(f"p{share} {messages.format_milliseconds(time)}" for share, time in shares)
        _write_bars(_("Response times") + f"  {paint.faint(percentiles)}", _time_classes(summary), _, paint, write_line)


def _time_classes(summary: AuditSummary) -> list[tuple[str, int]]:
    """Each class of response times with its label."""
    labels = [
        *(f"≤ {messages.format_time_bound(bound)}" for bound in TIME_BOUNDS),
        f"> {messages.format_time_bound(TIME_BOUNDS[-1])}",
    ]
    return list(zip(labels, summary.times.classes, strict=True))


def _write_bars(heading: str, bars: Sequence[tuple[str, int]], _: Translator, paint: Palette, write_line: WriteLine) -> None:
    largest = max((count for label, count in bars), default=0)
    if not largest:
        return
    write_line(f"\n{paint.bold(heading)}")
    width = max(display_width(label) for label, count in bars)
    for label, count in bars:
        bar = "█" * max(1 if count else 0, round(_BAR * count / largest))
        write_line(f"  {pad_text(label, width, align_right=True)}  {paint.cyan(bar)}{' ' if bar else ''}{_.number(count)}")


def _write_pages(report: AuditReport, paint: Palette, write_line: WriteLine) -> None:
    """All pages of the chosen checks, with their inlinks."""
    _, short = report.translate, url_shortener(url_origin(report.summary.crawl.start_url))
    if not report.summary.found:
        write_line("\n" + _("No issues found."))
    for result in report.summary.found:
        check, text = result.check, messages.translate_check(result.check, _)
        count = _.number(result.count)
        write_line(f"\n{_mark(check.severity, paint)} {paint.bold(text.title)} ({count})  {paint.faint(check.id)}")
        write_line("  " + _("Why it matters") + f": {text.why}")
        write_line("  " + _("How to fix it") + f": {text.fix}")
        if check.threshold is not None:
            write_line(f"  {messages.describe_threshold(check.threshold, _)}")
        for line in messages.describe_groups(result, short, _):
            write_line(f"  {line}")
        for example in report.pages(result, INLINKS):
            for line in _page_lines(example, _, short, paint):
                write_line(line)
        if result.suppressed:
            write_line(paint.faint(f"  {messages.describe_suppressed(result, _)}"))


def _page_lines(example: FindingExample, _: Translator, short: Callable[[str], str], paint: Palette) -> Iterator[str]:
    yield f"\n  {short(example.row.url)}"
    if text := messages.describe_evidence(example.row, _):
        yield f"      {text}"
    for link in example.inlinks:
        yield paint.faint(f"      ← {messages.describe_inlink(link, short(link.source_url))}")
    hidden = example.inlink_count - len(example.inlinks)
    if hidden > 0:
        yield paint.faint(f"      ← {messages.describe_hidden(hidden, _)}")


def _write_end(report: AuditReport, paint: Palette, write_line: WriteLine) -> None:
    _ = report.translate
    notes = list(messages.describe_exclusions(report.summary, _))
    if notes and not report.list_all:
        write_line("\n" + paint.bold(_("Excluded")))
        for note in notes:
            write_line(f"  {note}")
    skipped = list(describe_skipped_checks(report.summary.not_judged, _))
    if skipped and not report.list_all:
        write_line("\n" + paint.bold(_("Not judged")))
        for note in skipped:
            write_line(f"  {note}")
    if report.list_all or not report.summary.found:
        return
    write_line("")
    write_line(paint.faint(_("Shareable report: {command}", command=report.command("--format html -o report.html"))))
    command = report.command(f"--check {report.summary.found[0].check.id}")
    write_line(paint.faint(_("All pages of a check, with their inlinks: {command}", command=command)))
