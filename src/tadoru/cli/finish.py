"""After a `links` crawl: suppress what is known, write the result, annotate, and say which gates were exceeded."""

from __future__ import annotations

import os
import sys

from tadoru.cli.show import Display
from tadoru.jobs.links.gates import Gates
from tadoru.jobs.links.report import LinksReport, write
from tadoru.jobs.links.report.annotations import write_annotations
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.stream import stored_edges
from tadoru.jobs.links.suppress import Suppressions
from tadoru.jobs.report.output import in_colour, opened_output
from tadoru.jobs.suppressions import read_file
from tadoru.options import LinksOptions


def judge_and_write(result: CrawlResult, options: LinksOptions, database: str, display: Display) -> list[str]:
    """Write the report where it was asked for; the sentences of the gates that were exceeded."""
    result, accepted = _suppressed(result, options, display)
    report = LinksReport(
        result=result,
        edges=lambda: stored_edges(database),
        broken=result.bad_links,
        show_external=options.include_external or options.check,
        checked=options.check or options.fragments or options.fail_on is not None,
        accepted=accepted,
    )
    to_file = options.output not in (None, "-")
    with opened_output(options.output if to_file else None) as out:
        write(report, options.format, out, colour=not to_file and in_colour(out))
    if to_file:
        display.note(f"Wrote {options.output}.")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        write_annotations(report.broken, sys.stderr)
    return Gates.parse(options.fail_on).exceeded(result) if options.fail_on else []


def read_suppressions(options: LinksOptions) -> Suppressions | None:
    """The file of `--suppress`. Raises UsageError."""
    if options.suppress is None:
        return None
    return Suppressions.parse(read_file(options.suppress), options.suppress)


def _suppressed(result: CrawlResult, options: LinksOptions, display: Display) -> tuple[CrawlResult, int]:
    """The result without what is known, and how much that was."""
    suppressions = read_suppressions(options)
    if suppressions is None:
        return result, 0
    outcome = suppressions.apply(result.bad_links)
    for entry in outcome.unused:
        display.note(f"{options.suppress}, line {entry.line}: nothing matched “{entry.text}”; it can go.")
    return result.with_bad_links(outcome.kept), outcome.suppressed
