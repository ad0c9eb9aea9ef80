"""The forms a crawl of links is shown in: text, json, csv, dot, html.

Every form is a pure function that writes to a text stream it is given. Forms are imported when they are asked for: the HTML page
brings its picture and its charts along, and a command that prints text should not wait for them.
"""

from __future__ import annotations

from typing import TextIO

from tadoru.errors import UsageError
from tadoru.jobs.links.report.figures import LinksReport

__all__ = ["LINKS_FORMATS", "LinksReport", "write_links_report"]

LINKS_FORMATS = ("text", "json", "csv", "dot", "html")


def write_links_report(report: LinksReport, form: str, out: TextIO, colour: bool = False) -> None:
    """Writes the report in one of FORMS; `colour` speaks to the text form only. Raises UsageError for another form."""
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
            raise UsageError(f"There is no form “{form}”; choose one of {', '.join(LINKS_FORMATS)}.")
