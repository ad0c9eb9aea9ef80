"""Link reports as text, JSON, CSV, DOT and HTML.

A format is a function that writes to a text stream. Formats are imported when they are used, so that printing text does not wait
for the HTML page.
"""

from __future__ import annotations

from typing import TextIO

from tadoru.errors import UsageError, quoted
from tadoru.jobs.links.report.figures import LinksReport

__all__ = ["LINKS_FORMATS", "LinksReport", "write_links_report"]

LINKS_FORMATS = ("text", "json", "csv", "dot", "html")


def write_links_report(report: LinksReport, form: str, out: TextIO, colour: bool = False) -> None:
    """Writes the report in one of `LINKS_FORMATS`; `colour` applies to text only. Raises UsageError for another format."""
    match form:
        case "text":
            from tadoru.jobs.links.report.text import write_text

            write_text(report, out, colour=colour)
        case "json":
            from tadoru.jobs.links.report.data_formats import write_json

            write_json(report, out)
        case "csv":
            from tadoru.jobs.links.report.data_formats import write_csv

            write_csv(report, out)
        case "dot":
            from tadoru.jobs.links.report.data_formats import write_dot

            write_dot(report, out)
        case "html":
            from tadoru.jobs.links.report.html import write_html

            write_html(report, out)
        case _:
            raise UsageError(
                "Unknown format {form}. Choose one of {formats}.", form=quoted(form), formats=", ".join(LINKS_FORMATS)
            )
