"""`tadoru report DB`: the report of an audit, as text for the terminal or as a file in several formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.output import LANGUAGES, _, current_language, translate_text
from tadoru.log import printable

EXAMPLES = (
    ("tadoru report site.db", "summary and findings"),
    ("tadoru report site.db --check response-client-error", "all pages of a check, with their inlinks"),
    ("tadoru report site.db -f html -o report.html", "a shareable report"),
    ("tadoru report site.db -f html -o report.html --lang ja", "in Japanese"),
    ("tadoru report site.db -f sarif -o findings.sarif --baseline last.db", "new findings, for code scanning"),
)


@click.command(
    cls=DocumentedCommand, examples=EXAMPLES, short_help="Print an audit report.",
    sections={
        "Output": ["form", "output", "lang", "list_all"],
        "Filters": ["groups", "severity", "checks", "suppress", "baseline"],
    },
)  # fmt: skip
@click.argument("database", metavar="DB")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json", "html", "junit", "sarif", "markdown", "codequality"]),
    help="Output format; default: by the name of --output, or text.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of the report.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only checks of this group (repeatable).")
@click.option(
    "--severity", type=click.Choice(["error", "warning", "notice", "info"]), default="info",
    help="Only findings of this severity or higher.",
)  # fmt: skip
@click.option("--check", "checks", multiple=True, metavar="ID", help="Only this check (title-* for several), with all pages.")
@click.option("--all", "list_all", is_flag=True, help="List all pages of each check, not only the first.")
@click.option("--suppress", metavar="FILE", help="Omit the accepted findings in this file.")
@click.option("--baseline", metavar="DB|FILE", help="With sarif: mark what is new since this crawl or list.")
@click.option("-q", "--quiet", is_flag=True, help="No messages.")
def report(
    database: str, form: str | None, output: str | None, lang: str | None, groups: tuple[str, ...], severity: str,
    checks: tuple[str, ...], list_all: bool, suppress: str | None, baseline: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Print the report of an audit on the terminal, or write it to a file."""
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
        raise UsageError("--baseline needs --format sarif; to compare two crawls, run `tadoru compare A B`.")
    order = ReportRequest(
        database=database,
        form=form,
        lang=lang or current_language(),
        check_filter=CheckFilter(groups=groups, severity=Severity(severity), checks=checks),
        list_all=list_all or (form == "text" and bool(checks)),
        suppress=suppress,
        baseline=baseline,
    )
    with open_output(output if to_file else None) as out:
        notes = write_requested(order, out, colour=not to_file and supports_colour(out))
    if not quiet:
        for note in (*notes, *([_("Wrote {file}.", file=output)] if to_file else [])):
            sys.stderr.write(printable(translate_text(note)) + "\n")
