"""A comparison as text, Markdown and JSON, and the messages that all formats use.

The JSON format lists every change while the crawls are read; the totals are at the end:

{"schema": "tadoru-comparison", "schema_version": 1, "before": {...}, "after": {...},
 "changes": [{"kind", "url", "before", "after"}, {"kind": "new-finding", "url", "check", "severity", "subject"}, ...],
 "totals": {kind: number}, "checks": [{"check", "severity", "group", "title", "before", "after", "new", "fixed", "gone"}, ...],
 "pages_before", "pages_after", "compared", "unseen", "twins"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from tadoru.clock import iso
from tadoru.errors import without_passwords
from tadoru.i18n.formats import format_utc
from tadoru.i18n.translation import N_, Translator
from tadoru.jobs.audit.compare import comparison
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    SEVERITIES,
    describe_hidden,
    format_page_count,
    translate_name,
)
from tadoru.jobs.audit.score import score_change
from tadoru.jobs.reporting.escape import clip, encode_json, escape_markdown, printable, readable_url
from tadoru.jobs.reporting.formatting import Palette, display_width, pad_text
from tadoru.model.finding import Severity
from tadoru.store.crawl.run_pages import CheckTexts

SCHEMA = "tadoru-comparison"
SCHEMA_VERSION = 1
MAX_TEXT = 80
"""Characters shown of a title or description."""
CHANGE_NAMES: Mapping[comparison.ChangeKind, str] = {
    comparison.ChangeKind.BROKEN: N_("Newly broken"),
    comparison.ChangeKind.REMOVED: N_("Removed pages"),
    comparison.ChangeKind.DEINDEXED: N_("No longer indexable"),
    comparison.ChangeKind.REDIRECTED: N_("Newly redirected"),
    comparison.ChangeKind.STATUS: N_("Status changed"),
    comparison.ChangeKind.FIXED: N_("Working again"),
    comparison.ChangeKind.ADDED: N_("Added pages"),
    comparison.ChangeKind.INDEXED: N_("Newly indexable"),
    comparison.ChangeKind.INDEXABILITY: N_("Not indexable for another reason"),
    comparison.ChangeKind.TITLE: N_("Title changed"),
    comparison.ChangeKind.DESCRIPTION: N_("Description changed"),
    comparison.ChangeKind.H1: N_("H1 changed"),
    comparison.ChangeKind.CANONICAL: N_("Canonical changed"),
    comparison.ChangeKind.ROBOTS: N_("Robots directives changed"),
    comparison.ChangeKind.CONTENT: N_("Content changed"),
    comparison.ChangeKind.DEPTH: N_("Depth changed"),
    comparison.ChangeKind.INLINKS: N_("Inlinks changed"),
    comparison.ChangeKind.SLOWER: N_("Slower"),
    comparison.ChangeKind.FASTER: N_("Faster"),
    comparison.ChangeKind.LARGER: N_("Larger"),
    comparison.ChangeKind.SMALLER: N_("Smaller"),
    comparison.ChangeKind.NEW_FINDING: N_("New findings"),
    comparison.ChangeKind.FIXED_FINDING: N_("Fixed findings"),
}
_IMPROVEMENTS = frozenset({comparison.ChangeKind.FIXED, comparison.ChangeKind.INDEXED})
_URLS = frozenset({comparison.ChangeKind.CANONICAL, comparison.ChangeKind.REDIRECTED})
_REASONS = frozenset({comparison.ChangeKind.DEINDEXED, comparison.ChangeKind.INDEXED, comparison.ChangeKind.INDEXABILITY})
_QUOTED = frozenset(
    {comparison.ChangeKind.TITLE, comparison.ChangeKind.DESCRIPTION, comparison.ChangeKind.H1, comparison.ChangeKind.ROBOTS}
)
_RESPONSES = {"no answer": N_("No response"), "not requested": N_("Not requested")}
_OUTCOMES = {
    "limit": N_("stopped at the page limit"),
    "time": N_("stopped at the time limit"),
    "interrupted": N_("interrupted"),
}


def describe_run(handle: RunHandle, pages: int, _: Translator) -> str:
    """A run in one line: database, number, date, pages, and why it is incomplete."""
    run = handle.run
    parts = [printable(handle.name), _("run {number}", number=run.number), format_utc(run.started_at, _.lang)]
    parts.append(format_page_count(pages, _))
    if run.partial:
        parts.append(_(_OUTCOMES.get(run.outcome or "", N_("not finished"))))
    return ", ".join(parts)


def check_title(check: CheckTexts, _: Translator) -> str:
    """The title of a check: its own translation if it has one, else the one of the catalogue."""
    own = check.title_ja if _.lang == "ja" else ""
    return printable(own or _(check.title))


def describe_change(change: comparison.PageChange, _: Translator) -> str:
    """The value before and after a change."""
    if change.kind is comparison.ChangeKind.ADDED:
        return _format_value(change.kind, change.after, _)
    if change.kind is comparison.ChangeKind.REMOVED:
        return _format_value(change.kind, change.before, _)
    return f"{_format_value(change.kind, change.before, _)} → {_format_value(change.kind, change.after, _)}"


def _format_value(kind: comparison.ChangeKind, value: comparison.ChangedValue, _: Translator) -> str:
    if value is None:
        return _("not linked") if kind is comparison.ChangeKind.DEPTH else _("none")
    if isinstance(value, int | float):
        return _format_number(kind, value, _)
    if kind in _REASONS:
        return translate_name(INDEXABILITIES, value, _)
    if kind in _QUOTED:
        return f"“{clip(printable(value), MAX_TEXT)}”"
    if value in _RESPONSES:
        return _(_RESPONSES[value])
    return readable_url(value) if kind in _URLS else printable(value)


def _format_number(kind: comparison.ChangeKind, value: float, _: Translator) -> str:
    count = round(value)
    match kind:
        case comparison.ChangeKind.SLOWER | comparison.ChangeKind.FASTER:
            return f"{_.number(count)} ms"
        case comparison.ChangeKind.LARGER | comparison.ChangeKind.SMALLER:
            return _.ngettext("{count} byte", "{count} bytes", count)
        case comparison.ChangeKind.INLINKS:
            return _.ngettext("{count} inlink", "{count} inlinks", count)
        case comparison.ChangeKind.CONTENT:
            return _.ngettext("{count} word", "{count} words", count)
        case comparison.ChangeKind.DEPTH:
            return _("depth {depth}", depth=_.number(count))
    return _.number(value)


def format_score_change(result: comparison.CrawlComparison, _: Translator) -> str:
    """`81.2 → 84.0 (+2.8)`."""
    was, now = result.before.run.score, result.after.run.score
    shown = [_("none") if score is None else f"{score:.1f}" for score in (was, now)]
    change = score_change(result.before.run, result.after.run)
    difference = f" ({change:+.1f})" if change is not None else ""
    return f"{shown[0]} → {shown[1]}{difference}"


def describe_limits(result: comparison.CrawlComparison, _: Translator) -> Iterator[str]:
    """What the comparison leaves out, and why."""
    if result.before.run.score_version != result.after.run.score_version:
        yield _("The scores were calculated in different ways and cannot be compared.")
    if result.before.run.partial:
        yield _("The first crawl is incomplete. Pages that only the second crawl has are not counted as added.")
    if result.after.run.partial:
        yield _("The second crawl is incomplete. Pages that only the first crawl has are not counted as removed.")
    if result.unseen:
        yield _.ngettext(
            "{count} page that only one crawl has was ignored.",
            "{count} pages that only one crawl has were ignored.",
            result.unseen,
        )
    if result.twins:
        yield _.ngettext(
            "{count} URL that --map made equal to another URL was ignored.",
            "{count} URLs that --map made equal to another URL were ignored.",
            result.twins,
        )


def write_text(result: comparison.CrawlComparison, _: Translator, out: TextIO, *, colour: bool = False) -> None:
    """Writes the comparison for a terminal."""
    out.writelines(f"{line.rstrip()}\n" for line in _text_lines(result, _, Palette(colour)))


def _text_lines(result: comparison.CrawlComparison, _: Translator, paint: Palette) -> Iterator[str]:
    facts = (
        (_.pgettext("comparison", "Before"), describe_run(result.before, result.pages_before, _)),
        (_.pgettext("comparison", "After"), describe_run(result.after, result.pages_after, _)),
        (_("Score"), format_score_change(result, _)),
    )
    width = max(display_width(name) for name, text in facts) + 2
    yield from (f"{paint.faint(pad_text(name, width))}{text}" for name, text in facts)
    yield from (paint.yellow(f"! {limit}") for limit in describe_limits(result, _))
    kinds = [kind for kind in comparison.ChangeKind if kind not in comparison.FINDING_CHANGES and result.counts[kind]]
    checks = result.changed_checks()
    if not kinds and not checks:
        yield from ("", _("No changes."))
    for kind in kinds:
        yield from ("", _heading(kind, result.counts[kind], _, paint))
        yield from _example_lines(result.examples[kind], result.counts[kind], _)
    if checks:
        heading = paint.bold(_("Finding changes"))
        yield from ("", f"{heading}  {describe_finding_totals(result, _)}")
        for change in checks:
            yield from _check_lines(change, _, paint)


def describe_finding_totals(result: comparison.CrawlComparison, _: Translator) -> str:
    """`3 new, 1 fixed`."""
    new, fixed = (
        _.number(result.counts[kind]) for kind in (comparison.ChangeKind.NEW_FINDING, comparison.ChangeKind.FIXED_FINDING)
    )
    return _("{new} new, {fixed} fixed", new=new, fixed=fixed)


def _heading(kind: comparison.ChangeKind, count: int, _: Translator, paint: Palette) -> str:
    name = f"{_(CHANGE_NAMES[kind])} ({_.number(count)})"
    return paint.red(name) if kind in comparison.REGRESSIONS else paint.green(name) if kind in _IMPROVEMENTS else paint.bold(name)


def _example_lines(changes: list[comparison.PageChange], count: int, _: Translator) -> Iterator[str]:
    for change in changes:
        yield f"  {readable_url(change.url)}  {describe_change(change, _)}"
    if count > len(changes):
        yield f"  {describe_hidden(count - len(changes), _)}"


def _check_lines(change: comparison.CheckChange, _: Translator, paint: Palette) -> Iterator[str]:
    severity = _(SEVERITIES[Severity(change.check.severity)])
    counts = []
    if change.new:
        counts.append(_("{count} new", count=_.number(change.new)))
    if change.fixed:
        counts.append(_("{count} fixed", count=_.number(change.fixed)))
    totals = f"{_.number(change.before)} → {_.number(change.after)}"
    yield f"  {severity}: {check_title(change.check, _)} ({change.check.id}): {', '.join(counts)}, {totals}"
    for example in change.examples:
        sign = paint.red("+") if example.kind is comparison.ChangeKind.NEW_FINDING else paint.green("−")
        subject = example.after if example.kind is comparison.ChangeKind.NEW_FINDING else example.before
        yield f"    {sign} {readable_url(example.url)}" + (f"  {readable_url(str(subject))}" if subject else "")
    hidden = change.new + change.fixed - len(change.examples)
    if hidden > 0:
        yield f"    {describe_hidden(hidden, _)}"


def write_markdown(result: comparison.CrawlComparison, _: Translator, out: TextIO) -> None:
    """Writes the comparison for a pull request or an issue."""
    out.writelines(f"{line}\n" for line in _markdown_lines(result, _))


def _markdown_lines(result: comparison.CrawlComparison, _: Translator) -> Iterator[str]:
    yield from ("## " + _("Crawl comparison"), "")
    before, after = describe_run(result.before, result.pages_before, _), describe_run(result.after, result.pages_after, _)
    yield "- **" + _.pgettext("comparison", "Before") + f"**: {escape_markdown(before)}"
    yield "- **" + _.pgettext("comparison", "After") + f"**: {escape_markdown(after)}"
    yield "- **" + _("Score") + f"**: {format_score_change(result, _)}"
    for limit in describe_limits(result, _):
        yield from ("", f"> {escape_markdown(limit)}")
    kinds = [kind for kind in comparison.ChangeKind if result.counts[kind]]
    if not kinds:
        yield from ("", _("No changes."))
        return
    yield from ("", "| " + _("Kind of change") + " | " + _("Count") + " |", "|---|---:|")
    yield from (f"| {_(CHANGE_NAMES[kind])} | {_.number(result.counts[kind])} |" for kind in kinds)
    for kind in kinds:
        if kind not in comparison.FINDING_CHANGES:
            yield from _section(_(CHANGE_NAMES[kind]), result.examples[kind], result.counts[kind], _)
    checks = result.changed_checks()
    if checks:
        yield from ("", "### " + _("Finding changes"), "")
        heads = (_("Severity"), _("Check"), _("New"), _("Fixed"), _("Before → after"))
        yield f"| {' | '.join(heads)} |"
        yield "|---|---|---:|---:|---:|"
        yield from (_row(change, _) for change in checks)


def _section(heading: str, changes: list[comparison.PageChange], count: int, _: Translator) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{heading} ({_.number(count)})</summary>", "")
    for change in changes:
        yield f"- {escape_markdown(readable_url(change.url))}: {escape_markdown(describe_change(change, _))}"
    if count > len(changes):
        yield f"- {describe_hidden(count - len(changes), _)}"
    yield from ("", "</details>")


def _row(change: comparison.CheckChange, _: Translator) -> str:
    severity = _(SEVERITIES[Severity(change.check.severity)])
    name = f"{escape_markdown(check_title(change.check, _))} (`{change.check.id}`)"
    new, fixed, before, after = map(_.number, (change.new, change.fixed, change.before, change.after))
    return f"| {severity} | {name} | {new} | {fixed} | {before} → {after} |"


class ComparisonJsonWriter:
    """Writes a comparison as JSON, change by change."""

    def __init__(self, before: RunHandle, after: RunHandle, severities: Mapping[str, str], out: TextIO) -> None:
        self._out = out
        self._severities = severities
        self._first = True
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "before": _run_json(before), "after": _run_json(after)}
        self._out.write(f"{encode_json(head)[:-1]},\n")
        self._out.write('"changes": [')

    def change(self, change: comparison.PageChange) -> None:
        """Writes a change."""
        self._out.write("\n" if self._first else ",\n")
        self._first = False
        self._out.write(encode_json(self._change_json(change)))

    def end(self, result: comparison.CrawlComparison, _: Translator) -> None:
        """Writes the totals."""
        tail = {
            "totals": {str(kind): result.counts[kind] for kind in comparison.ChangeKind},
            "checks": [
                {
                    "check": one.check.id, "severity": one.check.severity, "group": one.check.group,
                    "title": check_title(one.check, _), "before": one.before, "after": one.after, "new": one.new,
                    "fixed": one.fixed, "gone": one.gone,
                }
                for one in sorted(result.checks.values(), key=lambda one: one.check.id)
                if one.before or one.after
            ],
            "pages_before": result.pages_before, "pages_after": result.pages_after, "compared": result.compared,
            "unseen": result.unseen, "twins": result.twins,
        }  # fmt: skip
        self._out.write(f"\n],\n{encode_json(tail)[1:]}\n")

    def _change_json(self, change: comparison.PageChange) -> dict[str, Any]:
        if change.kind not in comparison.FINDING_CHANGES:
            return {"kind": str(change.kind), "url": change.url, "before": change.before, "after": change.after}
        subject = change.after if change.kind is comparison.ChangeKind.NEW_FINDING else change.before
        return {
            "kind": str(change.kind), "url": change.url, "check": change.check_id,
            "severity": self._severities[change.check_id], "subject": subject or "",
        }  # fmt: skip


def _run_json(handle: RunHandle) -> dict[str, Any]:
    run = handle.run
    return {
        "database": without_passwords(handle.name),
        "run": run.number,
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at) if run.ended_at else None,
        "outcome": run.outcome,
        "partial": run.partial,
        "score": run.score,
        "score_version": run.score_version,
    }
