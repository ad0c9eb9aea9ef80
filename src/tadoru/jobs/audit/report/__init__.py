"""The forms an audit is told in: text, json, html, junit, sarif, markdown.

A form is a function that writes an `AuditReport` to a text stream. Forms are imported when they are asked for, so that a command
which prints text does not wait for the HTML page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TextIO

from tadoru.clock import Clock, SystemClock
from tadoru.errors import UsageError, without_passwords
from tadoru.jobs.audit.report.audit_report import AuditReport, open_baseline
from tadoru.jobs.audit.report.check_filter import CheckFilter
from tadoru.jobs.audit.report.messages import LANGUAGES
from tadoru.jobs.audit.report.summary import ReportExtent, read_summary
from tadoru.jobs.audit.run import analyse_stopped_crawl
from tadoru.jobs.audit.suppressions import FindingSuppressions
from tadoru.jobs.reporting.output import open_output, supports_colour
from tadoru.store.crawl.open import open_existing

__all__ = ["REPORT_FORMATS", "ReportRequest", "format_of_path", "print_summary", "write_report", "write_requested"]


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A form: where its function is, which files it is for, and how much it shows."""

    function: str
    endings: tuple[str, ...]
    extent: ReportExtent
    lists_all: bool = False
    """Whether it can list every page of each check."""


REPORT_FORMATS: dict[str, ReportFormat] = {
    "text": ReportFormat("terminal:write_text", (".txt",), ReportExtent(examples=1, lists=False), lists_all=True),
    "json": ReportFormat("json_form:write_json", (".json",), ReportExtent()),
    "html": ReportFormat("html:write_html", (".html", ".htm"), ReportExtent(examples=100, inlinks=3, graph=True)),
    "junit": ReportFormat("junit:write_junit", (".xml",), ReportExtent(examples=100, inlinks=3, lists=False), lists_all=True),
    "sarif": ReportFormat("sarif:write_sarif", (".sarif",), ReportExtent(lists=False)),
    "markdown": ReportFormat(
        "markdown:write_markdown", (".md", ".markdown"), ReportExtent(examples=10, inlinks=3, lists=False), lists_all=True
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """A report as a person asks for it."""

    database: str
    form: str = "text"
    lang: str = "en"
    choice: CheckFilter = CheckFilter()
    list_all: bool = False
    suppress: str | None = None
    baseline: str | None = None


def format_of_path(path: str) -> str:
    """The form that a file's name asks for. Raises UsageError."""
    ending = Path(path).suffix.lower()
    for name, form in REPORT_FORMATS.items():
        if ending in form.endings:
            return name
    known = ", ".join(form.endings[0] for form in REPORT_FORMATS.values())
    raise UsageError(f"What form {path} shall have can not be told from its name: let it end in one of {known}.")


def write_requested(order: ReportRequest, out: TextIO, *, colour: bool = False) -> list[str]:
    """Writes a report; what there is to say about its suppression file. Raises UsageError before anything is written."""
    return asyncio.run(_write(order, out, SystemClock(), colour=colour))


def write_report(path: str, database: str, *, lang: str = "en", suppress: str | None = None, baseline: str | None = None) -> None:
    """Writes a report to a file, in the form that its name asks for."""
    with open_output(path) as out:
        write_requested(
            ReportRequest(database=database, form=format_of_path(path), lang=lang, suppress=suppress, baseline=baseline), out
        )


def print_summary(database: str, out: TextIO, *, lang: str = "en", suppress: str | None = None) -> list[str]:
    """Writes the summary for a terminal; what there is to say about the suppression file."""
    return write_requested(ReportRequest(database=database, lang=lang, suppress=suppress), out, colour=supports_colour(out))


async def _write(order: ReportRequest, out: TextIO, clock: Clock, *, colour: bool) -> list[str]:
    suppressions = FindingSuppressions.read(order.suppress)
    form = REPORT_FORMATS[order.form]
    if order.list_all and not form.lists_all:
        others = ", ".join(name for name, each in REPORT_FORMATS.items() if each.lists_all)
        raise UsageError(f"--all is for {others}: {_WHY_NOT_ALL[order.form]}")
    words = LANGUAGES[order.lang]
    store = open_existing(order.database, clock)
    try:
        await analyse_stopped_crawl(store)
        async with open_baseline(order.baseline, store, clock) as baseline:
            with store.one_moment():
                catalogue = store.stored_checks()
                if not catalogue:
                    raise UsageError(f"{order.database} holds no audit: `tadoru audit URL -d FILE` makes one.")
                chosen = order.choice.of(catalogue)
                extent = ReportExtent(lists=False) if order.list_all else form.extent
                report = AuditReport(
                    summary=await read_summary(store, chosen, suppressions, extent),
                    words=words,
                    database=without_passwords(order.database),
                    store=store,
                    suppressions=suppressions,
                    list_all=order.list_all,
                    baseline=baseline,
                )
                _function(form)(report, out, **({"colour": colour} if order.form == "text" else {}))
    finally:
        await store.close()
    return [words.unused.format(file=suppressions.name, line=entry.line, text=entry.text) for entry in report.summary.unused]


_WHY_NOT_ALL = {
    "json": "the JSON form has every finding anyway.",
    "sarif": "the SARIF form has every finding anyway.",
    "html": "the page stays small enough to be opened, and names the command that lists the rest.",
}


def _function(form: ReportFormat) -> Callable[..., None]:
    module, _, name = form.function.partition(":")
    function: Callable[..., None] = getattr(import_module(f"{__name__}.{module}"), name)
    return function
