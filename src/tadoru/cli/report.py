"""`tadoru report DB`: the report of an audit, for the terminal or as a file; `tadoru compare A B`: what changed between two."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.output import LANGUAGES, _, current_language, translate_text
from tadoru.errors import GateExceeded, UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.jobs.audit.compare.job import CompareRequest


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


COMPARE_EXAMPLES = (
    ("tadoru compare site.db", "changes of the last recrawl"),
    ("tadoru compare site.db@1 site.db@3", "two runs of a crawl"),
    ("tadoru compare old.db new.db --fail-on regressions", "fail a build on regressions"),
    (r"tadoru compare live.db staging.db --map staging\.=www.", "a site under two host names"),
    ("tadoru compare old.db new.db -f html -o changes.html", "a shareable report"),
)
FORMS = ("text", "json", "markdown", "html")
MOST_SHOWN = 10_000


@click.command(
    cls=DocumentedCommand, examples=COMPARE_EXAMPLES, short_help="Compare two crawls.",
)  # fmt: skip
@click.argument("names", nargs=-1, metavar="DB[@RUN] [DB[@RUN]]")
@click.option("-f", "--format", "form", type=click.Choice(FORMS), default="text", help="Output format. [text]")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of the report.")
@click.option(
    "--map", "maps", multiple=True, metavar="REGEX=REPLACEMENT",
    help="Rewrite URLs before matching them (repeatable); write \\x3d for an equals sign in the expression.",
)  # fmt: skip
@click.option(
    "--fail-on", multiple=True, metavar="WHAT",
    help="Exit with status 10 if exceeded: regressions, new-error, broken, removed>5, score>2 … (repeatable).",
)  # fmt: skip
@click.option(
    "-n", "--examples", type=click.IntRange(0, MOST_SHOWN), metavar="N",
    help="Maximum examples per kind; json has all. [20; html: 200]",
)  # fmt: skip
def compare(
    names: tuple[str, ...], form: str, output: str | None, lang: str | None, maps: tuple[str, ...], fail_on: tuple[str, ...],
    examples: int | None,
) -> None:  # fmt: skip
    """Compare two crawls: pages, their content and metrics, and findings.

    A crawl is a database of `tadoru audit`, or an earlier run in it as DB@RUN. With one database, its last two runs are compared.
    """
    if not 1 <= len(names) <= 2:
        raise UsageError("Give one database, to compare its last two runs, or two: tadoru compare old.db new.db.")
    to_file = output not in (None, "-")
    if output is not None and to_file:
        check_writable(Path(output), "--output")
    from tadoru.jobs.audit.compare.job import CompareRequest
    from tadoru.jobs.launch import run_loop

    shown = examples if examples is not None else 200 if form == "html" else 20
    colour = not to_file and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    order = CompareRequest(
        names=names, maps=maps, form=form, lang=lang or current_language(), shown=shown, fail_on=fail_on, colour=colour
    )
    exceeded = run_loop(_write(order, output if to_file else None))
    if to_file:
        sys.stderr.write(_("Wrote {file}.", file=output) + "\n")
    if exceeded:
        message = " ".join(map(translate_text, exceeded))
        raise GateExceeded(message)


async def _write(order: CompareRequest, output: str | None) -> list[str]:
    from tadoru.clock import SystemClock
    from tadoru.jobs.audit.compare.job import CompareJob
    from tadoru.jobs.reporting.output import open_output

    job = await CompareJob.open(order, SystemClock())
    try:
        with open_output(output) as out:
            return await job.write(out)
    finally:
        await job.close()
