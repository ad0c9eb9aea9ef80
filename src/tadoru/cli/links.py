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

from tadoru.cli.help import GroupedCommand
from tadoru.cli.inputs import check_writable, read_seeds
from tadoru.cli.options import effective, job_options, print_config, running_options
from tadoru.errors import GateExceeded, Interrupted, NothingToCrawl, SeedUnreachable, TadoruError, UsageError
from tadoru.jobs.report.words import counted
from tadoru.options import LinksOptions
from tadoru.settings import JOBS

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
    cls=GroupedCommand, groups=JOBS["links"], sections={"What to crawl": ["seed_file"]}, most_used=MOST_USED, examples=EXAMPLES,
    short_help="Map a site's links.",
)  # fmt: skip
@click.argument("urls", nargs=-1, metavar="URL")
@job_options("links", LinksOptions())
@click.option("--seed-file", metavar="FILE|-", help="With --list: read the URLs from a file, one a line.")
@running_options
def links(
    urls: tuple[str, ...], seed_file: str | None, dry_run: bool, config_file: str | None, show_config: bool, **values: Any
) -> int:
    """Crawl a site breadth-first and show how its pages link to each other."""
    options, settled = effective("links", LinksOptions, values, config_file)
    if show_config:
        return print_config("links", options, settled)
    given = (*urls, *read_seeds(seed_file))
    if not given and settled.is_from_found("state") and settled.has_other_credentials():
        raise UsageError(
            f"{settled.sources['state']} in this folder names the crawl to resume, and credentials come from elsewhere: give the "
            f"URL or --state yourself, or name the file with --config."
        )
    _check(options, given)
    if dry_run:
        from tadoru.cli.plan import print_plan

        return print_plan(options, given, sys.stdout)
    return _run(options, given, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"])


def _check(options: LinksOptions, urls: tuple[str, ...]) -> None:
    """Everything that can be wrong with the command itself, before any network use."""
    from tadoru.cli.finish import read_suppressions
    from tadoru.jobs.access import access_for
    from tadoru.jobs.links.gates import Gates
    from tadoru.jobs.links.run import build_scope, judging
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import typed

    starts = [typed(url) for url in urls]
    if len(starts) > 1 and not options.list:
        raise UsageError("Give one URL to crawl from, or --list to request several and follow nothing.")
    if not starts and not (options.state and Path(options.state).is_file()):
        raise UsageError("There is no URL to start from: give one, such as https://example.com/.")
    build_scope(options, starts)
    judging(options)
    access_for(options, Exemptions(), starts)
    read_suppressions(options)
    if options.fail_on:
        Gates.parse(options.fail_on)
    for name, flag in ((options.output, "--output"), (options.state, "--state")):
        if name is not None and name != "-":
            check_writable(Path(name), flag)


def _run(options: LinksOptions, urls: tuple[str, ...], *, quiet: bool, verbose: int, log_format: str) -> int:
    from tadoru.cli.finish import judge_and_write
    from tadoru.cli.show import Display
    from tadoru.clock import SystemClock
    from tadoru.jobs import launch
    from tadoru.jobs.links.run import prepare, read_result, starts_of

    clock = SystemClock()
    with _database(options) as database:
        display = Display(quiet=quiet, verbose=verbose, log_format=log_format, limit=options.limit, clock=clock)
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
            stopped = f"limit of {counted(options.limit, 'page')}"
        result = launch.run_loop(read_result(options, prepared, duration=clock.monotonic() - began, stopped=stopped))
        try:
            gates = judge_and_write(result, options, prepared.plan.database, display)
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
                f"Stopped after {counted(result.total_processed, 'page')}; to go on, run the same command again{database.keep()}."
            )
        state = launch.run_loop(starts_of(prepared))
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
