"""Audit reports as text, JSON, HTML, JUnit, SARIF, Markdown and for GitLab's code quality.

A format is a function that writes an `AuditReport` to a text stream. Formats are imported when they are used, so that printing
text does not wait for the HTML page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TextIO

from tadoru.clock import Clock, SystemClock
from tadoru.errors import UsageError, without_passwords
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.report.audit_report import AuditReport, open_baseline
from tadoru.jobs.audit.report.check_filter import CheckFilter
from tadoru.jobs.audit.report.summary import ReportExtent, read_summary
from tadoru.jobs.audit.suppressions import FindingSuppressions
from tadoru.jobs.reporting import output
from tadoru.jobs.reporting.output import CODE_QUALITY_ENDINGS, open_output, supports_colour
from tadoru.store.crawl.open import open_existing

__all__ = ["REPORT_FORMATS", "ReportRequest", "format_of_path", "print_summary", "write_report", "write_requested"]


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format: the function that writes it, its file name extensions, and how much it shows."""

    function: str
    extensions: tuple[str, ...]
    extent: ReportExtent
    lists_all: bool = False
    """Whether it can list every page of each check."""


REPORT_FORMATS: dict[str, ReportFormat] = {
    "text": ReportFormat("terminal:write_text", (".txt",), ReportExtent(examples=1, lists=False), lists_all=True),
    "json": ReportFormat("json_report:write_json", (".json",), ReportExtent()),
    "html": ReportFormat("html:write_html", (".html", ".htm"), ReportExtent(examples=100, inlinks=3, graph=True)),
    "junit": ReportFormat(
        "build_reports:write_junit", (".xml",), ReportExtent(examples=100, inlinks=3, lists=False), lists_all=True
    ),
    "sarif": ReportFormat("build_reports:write_sarif", (".sarif",), ReportExtent(lists=False)),
    "markdown": ReportFormat(
        "build_reports:write_markdown", (".md", ".markdown"), ReportExtent(examples=10, inlinks=3, lists=False), lists_all=True
    ),
    "codequality": ReportFormat("build_reports:write_code_quality", CODE_QUALITY_ENDINGS, ReportExtent(lists=False)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """Which report to write."""

    database: str
    form: str = "text"
    lang: str = "en"
    check_filter: CheckFilter = CheckFilter()
    list_all: bool = False
    suppress: str | None = None
    baseline: str | None = None


def format_of_path(path: str) -> str:
    """The format that the extension of a file name stands for. Raises UsageError."""
    return output.format_of_path(path, {name: each.extensions for name, each in REPORT_FORMATS.items()})


def write_requested(request: ReportRequest, out: TextIO, *, colour: bool = False) -> list[str]:
    """Writes a report and returns notes about its suppression file. Raises UsageError before anything is written."""
    return asyncio.run(_write(request, out, SystemClock(), colour=colour))


def write_report(path: str, database: str, *, lang: str = "en", suppress: str | None = None, baseline: str | None = None) -> None:
    """Writes a report to a file in the format of its extension."""
    with open_output(path) as out:
        write_requested(
            ReportRequest(database=database, form=format_of_path(path), lang=lang, suppress=suppress, baseline=baseline), out
        )


def print_summary(database: str, out: TextIO, *, lang: str = "en", suppress: str | None = None) -> list[str]:
    """Writes the summary for a terminal and returns notes about the suppression file."""
    return write_requested(ReportRequest(database=database, lang=lang, suppress=suppress), out, colour=supports_colour(out))


async def _write(request: ReportRequest, out: TextIO, clock: Clock, *, colour: bool) -> list[str]:
    suppressions = FindingSuppressions.read(request.suppress)
    report_format = REPORT_FORMATS[request.form]
    if request.list_all and not report_format.lists_all:
        raise _cannot_list_all(request.form)
    from tadoru.jobs.audit.run import analyse_stopped_crawl  # Late: names and formats of reports do not need the crawler.

    store = open_existing(request.database, clock)
    try:
        await analyse_stopped_crawl(store)
        async with open_baseline(request.baseline, store, clock) as baseline:
            with store.snapshot():
                catalogue = store.findings.stored_checks()
                if not catalogue:
                    raise UsageError(
                        "{database} contains no audit. Create one with `tadoru audit URL -d FILE`.", database=request.database
                    )
                chosen = request.check_filter.select(catalogue)
                extent = ReportExtent(lists=False) if request.list_all else report_format.extent
                report = AuditReport(
                    summary=await read_summary(store, chosen, suppressions, extent),
                    translate=translator(request.lang),
                    database=without_passwords(request.database),
                    store=store,
                    suppressions=suppressions,
                    list_all=request.list_all,
                    baseline=baseline,
                )
                _writer(report_format)(report, out, **({"colour": colour} if request.form == "text" else {}))
    finally:
        await store.close()
    return _notes(report)


def _notes(report: AuditReport) -> list[str]:
    return [
        report.translate.gettext(
            "{file}, line {line}: “{text}” matched nothing and can be removed.",
            file=report.suppressions.name,
            line=entry.line,
            text=entry.text,
        )
        for entry in report.summary.unused
    ]


def _cannot_list_all(form: str) -> UsageError:
    formats = ", ".join(name for name, each in REPORT_FORMATS.items() if each.lists_all)
    if form == "html":
        return UsageError(
            "--all is available for {formats}. An HTML page with all findings would be too large to open; it shows the command "
            "that lists them.",
            formats=formats,
        )
    return UsageError("--all is available for {formats}. The format {form} always has all findings.", formats=formats, form=form)


def _writer(report_format: ReportFormat) -> Callable[..., None]:
    module, _, name = report_format.function.partition(":")
    function: Callable[..., None] = getattr(import_module(f"{__name__}.{module}"), name)
    return function
