"""`tadoru report DB`: what an audit found, in the form that somebody or something reads best."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.log import printable

EXAMPLES = (
    ("tadoru report site.db", "the site in figures, and what was found"),
    ("tadoru report site.db --check response-client-error", "every page of a check, and where it is linked"),
    ("tadoru report site.db -f html -o report.html", "a page to read and to send"),
    ("tadoru report site.db -f html -o report.html --lang ja", "the same in Japanese"),
    ("tadoru report site.db -f sarif -o findings.sarif --baseline last.db", "for code scanning: what is new"),
)


@click.command(
    cls=DocumentedCommand, examples=EXAMPLES, short_help="Tell what an audit found.",
    sections={
        "Output": ["form", "output", "lang", "list_all"],
        "Only some of it": ["groups", "severity", "checks", "suppress", "baseline"],
    },
)  # fmt: skip
@click.argument("database", metavar="DB")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json", "html", "junit", "sarif", "markdown"]),
    help="The form; without it, what the name of --output says, or text.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", help="The language. [en]")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only checks of this group (repeatable).")
@click.option(
    "--severity", type=click.Choice(["error", "warning", "notice", "info"]), default="info",
    help="Only findings as grave as this, or graver.",
)  # fmt: skip
@click.option("--check", "checks", multiple=True, metavar="ID", help="Only this check (title-* for several), page by page.")
@click.option("--all", "list_all", is_flag=True, help="Every page of each check, not only the first ones.")
@click.option("--suppress", metavar="FILE", help="Leave out the findings that this file names as known.")
@click.option("--baseline", metavar="DB|FILE", help="With sarif: say what is new since this crawl or list.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing about what was written.")
def report(
    database: str, form: str | None, output: str | None, lang: str, groups: tuple[str, ...], severity: str,
    checks: tuple[str, ...], list_all: bool, suppress: str | None, baseline: str | None, quiet: bool,
) -> int:  # fmt: skip
    """Tell what an audit found: on the terminal, or as a file for people and programs."""
    from tadoru.errors import UsageError
    from tadoru.jobs.audit.report import ReportRequest, format_of_path, write_requested
    from tadoru.jobs.audit.report.check_filter import CheckFilter
    from tadoru.jobs.reporting.output import open_output, supports_colour
    from tadoru.model.finding import Severity

    to_file = output not in (None, "-")
    if to_file and output is not None:
        check_writable(Path(output), "--output")
        form = form or format_of_path(output)
    form = form or "text"
    if baseline is not None and form != "sarif":
        raise UsageError("--baseline is for --format sarif: `tadoru compare A B` tells what changed between two crawls.")
    order = ReportRequest(
        database=database,
        form=form,
        lang=lang,
        choice=CheckFilter(groups=groups, severity=Severity(severity), checks=checks),
        list_all=list_all or (form == "text" and bool(checks)),
        suppress=suppress,
        baseline=baseline,
    )
    with open_output(output if to_file else None) as out:
        notes = write_requested(order, out, colour=not to_file and supports_colour(out))
    if not quiet:
        for note in (*notes, *([f"Wrote {output}."] if to_file else [])):
            sys.stderr.write(printable(note) + "\n")
    return 0
