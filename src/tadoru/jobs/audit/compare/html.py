"""A comparison as one self-contained HTML file without scripts. The template is `compare.html`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.compare import report_formats
from tadoru.jobs.audit.compare.comparison import FINDING_CHANGES, REGRESSIONS, ChangeKind, CrawlComparison
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES, describe_limits, describe_run
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.audit.report.messages import SEVERITIES
from tadoru.jobs.audit.score import score_change
from tadoru.jobs.reporting.escape import printable
from tadoru.jobs.reporting.html_templates import write_template
from tadoru.model.finding import Severity

_IMPROVEMENTS = frozenset({ChangeKind.FIXED, ChangeKind.INDEXED, ChangeKind.FASTER})
_CARDS = (
    ChangeKind.BROKEN,
    ChangeKind.REMOVED,
    ChangeKind.ADDED,
    ChangeKind.FIXED,
    ChangeKind.NEW_FINDING,
    ChangeKind.FIXED_FINDING,
)


def write_html(result: CrawlComparison, _: Translator, out: TextIO) -> None:
    """Writes the page."""
    change = score_change(result.before.run, result.after.run)
    write_template(
        "compare.html",
        _.lang,
        out,
        has_script=False,
        title=_title(result, _),
        about="",
        cards=[
            ("broken" if kind in REGRESSIONS or kind is ChangeKind.NEW_FINDING else "", _(CHANGE_NAMES[kind]), count, "")
            for kind, count in ((kind, result.counts[kind]) for kind in _CARDS)
        ],
        verdict="unread" if not change else "ok" if change > 0 else "broken",
        runs=[
            (_.pgettext("comparison", "Before"), _describe(result.before, result.pages_before, _)),
            (_.pgettext("comparison", "After"), _describe(result.after, result.pages_after, _)),
        ],
        limits=list(describe_limits(result, _)),
        changes=[
            (
                "broken" if kind in REGRESSIONS else "ok" if kind in _IMPROVEMENTS else "unread",
                _(CHANGE_NAMES[kind]),
                result.counts[kind],
                result.examples.get(kind, []),
            )
            for kind in ChangeKind
            if kind not in FINDING_CHANGES and result.counts[kind]
        ],
        result=result,
        severities={severity: _(SEVERITIES[severity]) for severity in Severity},
        messages=report_formats,
        translate=_,
    )


def _title(result: CrawlComparison, _: Translator) -> str:
    names = [printable(_file_name(handle)) for handle in (result.before, result.after)]
    if names[0] == names[1]:
        names = [f"{name}@{handle.run.number}" for name, handle in zip(names, (result.before, result.after), strict=True)]
    return _("Comparison of {before} and {after}", before=names[0], after=names[1])


def _file_name(handle: RunHandle) -> str:
    """The name of the database without its folder, which is private."""
    return Path(handle.name).name


def _describe(handle: RunHandle, pages: int, _: Translator) -> str:
    return describe_run(replace(handle, name=_file_name(handle)), pages, _)
