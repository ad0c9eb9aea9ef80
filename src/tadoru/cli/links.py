"""`tadoru links URL`: the command around the job. Checks what it was given before it asks anybody for anything."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable, read_seed_urls
from tadoru.cli.options import job_options, print_config, resolve_options, run_options
from tadoru.cli.progress import CrawlProgress
from tadoru.config.options import LinksOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import GateExceeded, Interrupted, NothingToCrawl, SeedUnreachable, TadoruError, UsageError
from tadoru.jobs.links.broken import LinkGates
from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.report.text import write_annotations
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.result_reader import stored_edges
from tadoru.jobs.links.suppressions import LinkSuppressions
from tadoru.jobs.reporting.formatting import format_count
from tadoru.jobs.reporting.output import open_output, supports_colour
from tadoru.jobs.suppressions import read_suppression_file


def _write_result(result: CrawlResult, options: LinksOptions, database: str, display: CrawlProgress) -> list[str]:
    """Write the report where it was asked for; the sentences of the gates that were exceeded."""
    result, accepted = _apply_suppressions(result, options, display)
    report = LinksReport(
        result=result,
        edges=lambda: stored_edges(database),
        broken=result.bad_links,
        show_external=options.include_external or options.check,
        checked=options.check or options.fragments or options.fail_on is not None,
        accepted=accepted,
    )
    to_file = options.output not in (None, "-")
    with open_output(options.output if to_file else None) as out:
        write_links_report(report, options.format, out, colour=not to_file and supports_colour(out))
    if to_file:
        display.note(f"Wrote {options.output}.")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        write_annotations(report.broken, sys.stderr)
    return LinkGates.parse(options.fail_on).exceeded(result) if options.fail_on else []


def _read_suppressions(options: LinksOptions) -> LinkSuppressions | None:
    """The file of `--suppress`. Raises UsageError."""
    if options.suppress is None:
        return None
    return LinkSuppressions.parse(read_suppression_file(options.suppress), options.suppress)


def _apply_suppressions(result: CrawlResult, options: LinksOptions, display: CrawlProgress) -> tuple[CrawlResult, int]:
    """The result without what is known, and how much that was."""
    suppressions = _read_suppressions(options)
    if suppressions is None:
        return result, 0
    outcome = suppressions.apply(result.bad_links)
    for entry in outcome.unused:
        display.note(f"{options.suppress}, line {entry.line}: nothing matched “{entry.text}”; it can go.")
    return result.with_bad_links(outcome.kept), outcome.suppressed


EXAMPLES = (
    ("tadoru links https://example.com", "the site as a tree"),
    ("tadoru links https://example.com --check --fail-on broken", "fail a build on broken links"),
    ("tadoru links https://example.com -f html -o links.html", "a page with a picture of the site"),
    ("tadoru links https://example.com --state site.db", "a crawl that can be resumed"),
)
MOST_USED = (
    "depth", "limit", "scope", "include", "exclude", "delay", "concurrency", "ignore_robots", "header", "check", "fragments",
    "ignore", "fail_on", "format", "output", "include_external", "state", "config_file", "verbose", "quiet",
)  # fmt: skip


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["links"], sections={"What to crawl": ["seed_file"]}, most_used=MOST_USED, examples=EXAMPLES,
    short_help="Map a site's links.",
)  # fmt: skip
@click.argument("urls", nargs=-1, metavar="URL")
@job_options("links", LinksOptions())
@click.option("--seed-file", metavar="FILE|-", help="With --list: read the URLs from a file, one a line.")
@run_options
def links(
    urls: tuple[str, ...], seed_file: str | None, dry_run: bool, config_file: str | None, show_config: bool, **values: Any
) -> int:
    """Crawl a site breadth-first and show how its pages link to each other."""
    options, settled = resolve_options("links", LinksOptions, values, config_file)
    if show_config:
        return print_config("links", options, settled)
    given = (*urls, *read_seed_urls(seed_file))
    if not given and settled.is_from_found("state") and settled.has_other_credentials():
        raise UsageError(
            f"{settled.sources['state']} in this folder names the crawl to resume, and credentials come from elsewhere: give the "
            f"URL or --state yourself, or name the file with --config."
        )
    _check(options, given)
    if dry_run:
        from tadoru.cli.dry_run import print_links_plan

        return print_links_plan(options, given, sys.stdout)
    return _run(options, given, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"])


def _check(options: LinksOptions, urls: tuple[str, ...]) -> None:
    """Everything that can be wrong with the command itself, before any network use."""
    from tadoru.jobs.crawl_setup import access_for
    from tadoru.jobs.links.broken import LinkGates
    from tadoru.jobs.links.run import broken_link_rules, build_scope
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import parse_typed_url

    starts = [parse_typed_url(url) for url in urls]
    if len(starts) > 1 and not options.list:
        raise UsageError("Give one URL to crawl from, or --list to request several and follow nothing.")
    if not starts and not (options.state and Path(options.state).is_file()):
        raise UsageError("There is no URL to start from: give one, such as https://example.com/.")
    build_scope(options, starts)
    broken_link_rules(options)
    access_for(options, Exemptions(), starts)
    _read_suppressions(options)
    if options.fail_on:
        LinkGates.parse(options.fail_on)
    for name, flag in ((options.output, "--output"), (options.state, "--state")):
        if name is not None and name != "-":
            check_writable(Path(name), flag)


def _run(options: LinksOptions, urls: tuple[str, ...], *, quiet: bool, verbose: int, log_format: str) -> int:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.clock import SystemClock
    from tadoru.jobs import launch
    from tadoru.jobs.links.run import prepare, read_result, read_start_state

    clock = SystemClock()
    with _database(options) as database:
        display = CrawlProgress(quiet=quiet, verbose=verbose, log_format=log_format, limit=options.limit, clock=clock)
        prepared = launch.run_loop(prepare(options, urls, database.name, durable=database.kept))
        if prepared.resumed:
            display.note(f"Going on with the crawl of {prepared.starts[0]}.")
        began = clock.monotonic()
        with display:
            ended = launch.run(prepared.plan, display.notify, display.watch)
        stopped = None
        if ended.stopped:
            stopped = "time limit" if ended.out_of_time else "interrupted"
        elif ended.limit_reached:
            stopped = f"limit of {format_count(options.limit, 'page')}"
        result = launch.run_loop(read_result(options, prepared, duration=clock.monotonic() - began, stopped=stopped))
        try:
            gates = _write_result(result, options, prepared.plan.database, display)
        except BrokenPipeError:
            raise
        except OSError as error:
            what = f"--output {options.output}" if options.output else "the result"
            why = error.strerror or error
            raise TadoruError(
                f"Could not write {what} ({why}): mend that, and run the same command again{database.keep()}."
            ) from None
        if stopped == "interrupted":
            raise Interrupted(
                f"Stopped after {format_count(result.total_processed, 'page')}; to go on, run the same command again{database.keep()}."
            )
        state = launch.run_loop(read_start_state(prepared))
        if state is not None and state.status == "error":
            kind = (state.error_type or "no answer").replace("_", " ")
            raise SeedUnreachable(f"{prepared.starts[0]} could not be reached ({kind}).")
        if state is not None:
            raise NothingToCrawl(f"Nothing could be crawled from {prepared.starts[0]}: {state.reason}.")
        if gates:
            raise GateExceeded(" ".join(gates))
    return 0


class _Database:
    """The crawl's file, and whether it stays."""

    def __init__(self, name: str, kept: bool) -> None:
        self.name = name
        self.kept = kept

    def keep(self) -> str:
        """Let it stay; what to add to the command to go on with it. Not the command itself: it may hold a password."""
        words = "" if self.kept else f" with --state {shlex.quote(self.name)}"
        self.kept = True
        return words


@contextmanager
def _database(options: LinksOptions) -> Iterator[_Database]:
    """`--state`, or a temporary file that goes away unless there is something to resume."""
    if options.state is not None:
        yield _Database(options.state, kept=True)
        return
    handle, name = tempfile.mkstemp(prefix="tadoru-links-", suffix=".db")
    os.close(handle)
    database = _Database(name, kept=False)
    try:
        yield database
    finally:
        if not database.kept:
            for suffix in ("", "-wal", "-shm"):
                Path(name + suffix).unlink(missing_ok=True)
