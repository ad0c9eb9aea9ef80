"""`tadoru compare A B`: the command around the comparison of two crawls."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.errors import GateExceeded, UsageError

if TYPE_CHECKING:
    from tadoru.jobs.audit.compare.job import CompareRequest

EXAMPLES = (
    ("tadoru compare site.db", "what the last re-crawl found changed"),
    ("tadoru compare site.db@1 site.db@3", "two of its runs"),
    ("tadoru compare old.db new.db --fail-on regressions", "fail a build when something broke"),
    (r"tadoru compare live.db staging.db --map staging\.=www.", "one site under two names"),
    ("tadoru compare old.db new.db -f html -o changes.html", "a page to send to somebody"),
)
FORMS = ("text", "json", "markdown", "html")
MOST_SHOWN = 10_000


@click.command(
    cls=DocumentedCommand, examples=EXAMPLES, short_help="Say what changed between two crawls.",
)  # fmt: skip
@click.argument("names", nargs=-1, metavar="DB[@RUN] [DB[@RUN]]")
@click.option("-f", "--format", "form", type=click.Choice(FORMS), default="text", help="How to show it. [text]")
@click.option("-o", "--output", metavar="FILE", help="Write it to this file.")
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", help="The language. [en]")
@click.option(
    "--map", "maps", multiple=True, metavar="REGEX=REPLACEMENT",
    help="Rewrite the URLs of both before matching them (repeatable); an equals sign in the expression is \\x3d.",
)  # fmt: skip
@click.option(
    "--fail-on", multiple=True, metavar="WHAT",
    help="Exit 10 when exceeded: regressions, new-error, broken, removed>5, score>2 … (repeatable).",
)  # fmt: skip
@click.option(
    "-n", "--examples", type=click.IntRange(0, MOST_SHOWN), metavar="N",
    help="How many of each kind to show [20, html 200]; json has them all.",
)  # fmt: skip
def compare(
    names: tuple[str, ...], form: str, output: str | None, lang: str, maps: tuple[str, ...], fail_on: tuple[str, ...],
    examples: int | None,
) -> int:  # fmt: skip
    """Say what changed between two crawls: pages, their texts and figures, and findings.

    Each crawl is a database of `tadoru audit`, or an earlier run of one as DB@RUN. One database alone is its last two runs.
    """
    if not 1 <= len(names) <= 2:
        raise UsageError("Give one database, for its last two runs, or two to compare: tadoru compare old.db new.db.")
    to_file = output not in (None, "-")
    if output is not None and to_file:
        check_writable(Path(output), "--output")
    from tadoru.jobs.audit.compare.job import CompareRequest
    from tadoru.jobs.launch import run_loop

    shown = examples if examples is not None else 200 if form == "html" else 20
    colour = not to_file and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    order = CompareRequest(names=names, maps=maps, form=form, lang=lang, shown=shown, fail_on=fail_on, colour=colour)
    exceeded = run_loop(_write(order, output if to_file else None))
    if to_file:
        sys.stderr.write(f"Wrote {output}.\n")
    if exceeded:
        raise GateExceeded(" ".join(exceeded))
    return 0


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
