"""After a `links` crawl: suppress what is known, write the result, annotate, and say which gates were exceeded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tadoru.cli.show import Display
from tadoru.errors import UsageError
from tadoru.jobs.links.gates import Gates
from tadoru.jobs.links.report import LinksReport, write
from tadoru.jobs.links.report.annotations import write_annotations
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.stream import stored_edges
from tadoru.jobs.links.suppress import Suppressions
from tadoru.options import LinksOptions


def judge_and_write(result: CrawlResult, options: LinksOptions, database: str, display: Display) -> list[str]:
    """Write the report where it was asked for; the sentences of the gates that were exceeded."""
    result = _suppressed(result, options, display)
    report = LinksReport(
        result=result,
        edges=lambda: stored_edges(database),
        broken=result.bad_links,
        show_external=options.include_external or options.check,
        checked=options.check or options.fragments or options.fail_on is not None,
    )
    to_file = options.output not in (None, "-")
    with opened_output(options.output if to_file else None) as out:
        write(report, options.format, out, colour=not to_file and out.isatty() and not os.environ.get("NO_COLOR"))
    if to_file:
        display.note(f"Wrote {options.output}.")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        write_annotations(report.broken, sys.stderr)
    return Gates.parse(options.fail_on).exceeded(result) if options.fail_on else []


def read_suppressions(options: LinksOptions) -> Suppressions | None:
    """The file of `--suppress`. Raises UsageError."""
    if options.suppress is None:
        return None
    try:
        text = Path(options.suppress).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"The suppression file {options.suppress} can not be read (not UTF-8 text).") from None
    except OSError as error:
        raise UsageError(f"The suppression file {options.suppress} can not be read ({error.strerror}).") from None
    return Suppressions.parse(text, options.suppress)


def _suppressed(result: CrawlResult, options: LinksOptions, display: Display) -> CrawlResult:
    suppressions = read_suppressions(options)
    if suppressions is None:
        return result
    outcome = suppressions.apply(result.bad_links)
    for entry in outcome.unused:
        display.note(f"{options.suppress}, line {entry.line}: nothing matched “{entry.text}”; it can go.")
    return result.with_bad_links(outcome.kept)


@contextmanager
def opened_output(name: str | None) -> Iterator[TextIO]:
    """stdout, or a file that appears whole or not at all."""
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name).resolve()
    # A pipe or a device is written to; putting a file in its place would destroy it.
    is_special = path.exists() and not path.is_file()
    unfinished = path if is_special else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as out:
            yield out
        if not is_special:
            unfinished.replace(path)
    finally:
        if not is_special:
            unfinished.unlink(missing_ok=True)
