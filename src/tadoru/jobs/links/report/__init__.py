"""Link reports as text, JSON, CSV, DOT and HTML, and for builds as SARIF, JUnit, Markdown and GitLab's code quality report.

A format is a function that writes to a text stream. Formats are imported when they are used, so that printing text does not wait
for the HTML page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TextIO

from tadoru.errors import UsageError, quoted
from tadoru.jobs.links.report.figures import LinksReport
from tadoru.jobs.reporting import output
from tadoru.jobs.reporting.output import CODE_QUALITY_ENDINGS, open_output

__all__ = ["LINKS_FORMATS", "LinksReport", "links_format_of_path", "write_links_report", "write_report_file"]


@dataclass(frozen=True, slots=True)
class LinksFormat:
    """A format: the function that writes it, and the ends of its file names."""

    function: str
    endings: tuple[str, ...]


LINKS_FORMATS: dict[str, LinksFormat] = {
    "text": LinksFormat("text:write_text", (".txt",)),
    "json": LinksFormat("data_formats:write_json", (".json",)),
    "csv": LinksFormat("data_formats:write_csv", (".csv",)),
    "dot": LinksFormat("data_formats:write_dot", (".dot", ".gv")),
    "html": LinksFormat("html:write_html", (".html", ".htm")),
    "sarif": LinksFormat("build_reports:write_sarif", (".sarif",)),
    "junit": LinksFormat("build_reports:write_junit", (".xml",)),
    "markdown": LinksFormat("build_reports:write_markdown", (".md", ".markdown")),
    "codequality": LinksFormat("build_reports:write_code_quality", CODE_QUALITY_ENDINGS),
}


def links_format_of_path(path: str) -> str:
    """The format that a file name stands for. Raises UsageError."""
    return output.format_of_path(path, {name: each.endings for name, each in LINKS_FORMATS.items()})


def write_report_file(report: LinksReport, path: str) -> None:
    """Writes the report to a file in the format of its name."""
    with open_output(path) as out:
        write_links_report(report, links_format_of_path(path), out)


def write_links_report(report: LinksReport, form: str, out: TextIO, colour: bool = False) -> None:
    """Writes the report in one of `LINKS_FORMATS`; `colour` applies to text only. Raises UsageError for another format."""
    if form not in LINKS_FORMATS:
        raise UsageError("Unknown format {form}. Choose one of {formats}.", form=quoted(form), formats=", ".join(LINKS_FORMATS))
    module, _, name = LINKS_FORMATS[form].function.partition(":")
    write: Callable[..., None] = getattr(import_module(f"{__name__}.{module}"), name)
    write(report, out, **({"colour": colour} if form == "text" else {}))
