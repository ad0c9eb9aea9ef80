"""`tadoru links URL`: validates its input before any request, runs the crawl, writes the result and applies `--fail-on`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable, read_start_arguments
from tadoru.cli.options import describe_stored_options, job_options, print_config, resolve_options, run_options
from tadoru.cli.output import _, current_language, ngettext, translate_text
from tadoru.config.options import JOB_SETTINGS, LinksOptions
from tadoru.errors import GateExceeded, Interrupted, Message, TadoruError, UsageError

if TYPE_CHECKING:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.jobs.crawl_setup import PreparedCrawl
    from tadoru.jobs.links.local_input import LocalInput
    from tadoru.jobs.links.report import LinksReport
    from tadoru.jobs.links.result import CrawlResult
    from tadoru.jobs.links.suppressions import LinkSuppressions


def _write_result(
    result: CrawlResult, options: LinksOptions, database: str, local: LocalInput | None, display: CrawlProgress
) -> list[str]:
    """Write the result to its destination; returns the messages of the gates that were exceeded."""
    from tadoru.jobs.links.broken import LinkGates
    from tadoru.jobs.links.report import LinksReport, write_links_report, write_report_file
    from tadoru.jobs.links.result_reader import stored_edges
    from tadoru.jobs.reporting.output import open_output, supports_colour

    result, accepted = _apply_suppressions(result, options, display)
    report = LinksReport(
        result=result,
        edges=lambda: stored_edges(database) if local is None else local.edges(stored_edges(database)),
        broken=result.bad_links,
        show_external=options.include_external or options.check,
        checked=local is not None or options.check or options.fragments or options.fail_on is not None,
        accepted=accepted,
        lang=current_language(),
    )
    to_file = options.output not in (None, "-")
    with open_output(options.output if to_file else None) as out:
        write_links_report(report, options.format, out, colour=not to_file and supports_colour(out))
    if to_file:
        display.note(_("Wrote {file}.", file=options.output))
    if options.write_suppressions:
        _write_suppressions(report, options.write_suppressions, display)
    for name in options.report:
        write_report_file(report, name)
        display.note(_("Wrote {file}.", file=name))
    _report_to_github(report)
    return LinkGates.parse(options.fail_on).exceeded(result) if options.fail_on else []


def _write_suppressions(report: LinksReport, name: str, display: CrawlProgress) -> None:
    from tadoru.jobs.links.suppressions import add_suppressions

    count = add_suppressions(name, report.broken)
    display.note(
        ngettext(
            "Added {count} link to {file}. Fill in its reason.",
            "Added {count} links to {file}. Fill in their reasons.",
            count,
            file=name,
        )
        if count
        else _("{file} has all links that do not work.", file=name)
    )


def _report_to_github(report: LinksReport) -> None:
    """In a GitHub workflow: annotations, and the summary of the step."""
    from tadoru.jobs.reporting.output import append_step_summary, is_github_workflow

    if is_github_workflow():
        from tadoru.jobs.links.report.build_reports import write_annotations, write_markdown

        write_annotations(report.broken, sys.stderr, lang=report.lang)
        append_step_summary(lambda out: write_markdown(report, out))


def _read_suppressions(options: LinksOptions) -> LinkSuppressions | None:
    """The suppressions of `--suppress`. Raises UsageError."""
    if options.suppress is None:
        return None
    from tadoru.jobs.links.suppressions import LinkSuppressions
    from tadoru.jobs.suppressions import read_suppression_file

    return LinkSuppressions.parse(read_suppression_file(options.suppress), options.suppress)


def _apply_suppressions(result: CrawlResult, options: LinksOptions, display: CrawlProgress) -> tuple[CrawlResult, int]:
    """The result without suppressed links, and their number."""
    suppressions = _read_suppressions(options)
    if suppressions is None:
        return result, 0
    outcome = suppressions.apply(result.bad_links)
    for entry in outcome.unused:
        display.note(
            _(
                "{file}, line {line}: “{text}” matched nothing and can be removed.",
                file=options.suppress,
                line=entry.line,
                text=entry.text,
            )
        )
    for entry in suppressions.entries:
        if entry.lacks_reason:
            display.note(_("{file}, line {line}: fill in the reason.", file=options.suppress, line=entry.line))
    return result.with_bad_links(outcome.kept), outcome.suppressed


EXAMPLES = (
    ("tadoru links https://example.com", "tree of links"),
    ("tadoru links https://example.com --check --fail-on broken", "fail a build on broken links"),
    ("tadoru links ./public --report links.sarif", "check a folder, for code scanning"),
    ("tadoru links README.md 'docs/**/*.md' --check", "check Markdown files"),
    ("tadoru links https://example.com -f html -o links.html", "report with a site graph"),
    ("tadoru links https://example.com --state site.db", "keep the crawl to resume it"),
)
MOST_USED = (
    "depth", "limit", "scope", "include", "exclude", "delay", "concurrency", "ignore_robots", "check", "fragments",
    "fail_on", "format", "output", "report", "state", "config_file", "verbose", "quiet",
)  # fmt: skip


@click.command(
    cls=DocumentedCommand,
    groups=JOB_SETTINGS["links"],
    sections={"Scope": ["seed_file"]},
    most_used=MOST_USED,
    examples=EXAMPLES,
    short_help="Map the links of a site and find broken ones.",
)
@click.argument("urls", nargs=-1, metavar="URL|FOLDER|FILE|-")
@job_options("links")
@click.option("--seed-file", metavar="FILE|-", help="URLs or files to check, one per line of this file; implies --list.")
@run_options
def links(
    urls: tuple[str, ...], seed_file: str | None, dry_run: bool, config_file: str | None, show_config: bool, **values: Any
) -> int:
    """Show how the pages of a site are linked, or check the links of a folder or of files."""
    options, settled = resolve_options("links", LinksOptions, values, config_file, lambda options: options.state)
    if show_config:
        return print_config("links", options, settled)
    given, is_listed = read_start_arguments(urls, seed_file, files=True)
    if is_listed:
        options = replace(options, list=True)
    if not given and settled.is_from_discovered_file("state") and settled.has_other_credentials():
        raise UsageError(
            "{file} in this folder names the crawl to resume, but credentials come from outside this file. Pass the URL or "
            "--state on the command line, or name the file with --config.",
            file=settled.sources["state"],
        )
    if not given and not (options.state and Path(options.state).is_file()):
        raise UsageError("Start URL missing. Give one, such as https://example.com/.")
    from tadoru.jobs.links.local_input import find_local_input

    local = find_local_input(given, options)
    _check(options, given, local)
    if dry_run:
        from tadoru.cli.dry_run import print_plan

        return print_plan(options, given, sys.stdout, is_local=local is not None)
    again = describe_stored_options("links", settled)
    return _run(options, given, local, again, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"])


def _check(options: LinksOptions, urls: tuple[str, ...], local: LocalInput | None) -> None:
    """Validate options and arguments before any request."""
    from tadoru.jobs.crawl_setup import access_for, build_scope, read_robots_file
    from tadoru.jobs.links.broken import LinkGates
    from tadoru.jobs.links.report import links_format_of_path
    from tadoru.jobs.links.run import broken_link_rules, read_checks
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import parse_typed_url

    starts = [parse_typed_url(url) for url in urls] if local is None else [local.root_url]
    if len(starts) > 1 and not options.list:
        raise UsageError("Give a single start URL, or --list to request several URLs without following links.")
    build_scope(options, starts)
    read_robots_file(options)
    broken_link_rules(options)
    access_for(options, Exemptions(), starts)
    _read_suppressions(options)
    if options.fail_on:
        LinkGates.parse(options.fail_on)
    if options.cache:
        read_checks(options.cache, 0.0)
    for name in options.report:
        links_format_of_path(name)
        check_writable(Path(name), "--report")
    for file, flag in (
        (options.output, "--output"),
        (options.state, "--state"),
        (options.cache, "--cache"),
        (options.write_suppressions, "--write-suppressions"),
    ):
        if file is not None and file != "-":
            check_writable(Path(file), flag)


def _run(
    options: LinksOptions,
    urls: tuple[str, ...],
    local: LocalInput | None,
    again: str,
    *,
    quiet: bool,
    verbose: int,
    log_format: str,
) -> int:
    from tadoru.cli.progress import CrawlProgress, check_start_urls, note_start, run_with_progress
    from tadoru.jobs.links.run import LinksCrawl

    with _database(options) as database:
        display = CrawlProgress(options, quiet=quiet, verbose=verbose, log_format=log_format)

        def report_start(prepared: PreparedCrawl) -> None:
            note_start(prepared, display, recrawl=options.recrawl)
            if again:
                display.note(again)

        crawl = LinksCrawl(options, urls, database.name, durable=database.kept, local=local)
        finished = run_with_progress(crawl, display, report_start)
        result = finished.result
        if options.format == "text" and options.output is None and not options.report:
            check_start_urls(finished.start, finished.prepared.starts[0])  # Before a summary of nothing.
        try:
            gates = _write_result(result, options, database.name, local, display)
        except BrokenPipeError:
            raise
        except OSError as error:
            what = f"--output {options.output}" if options.output else Message("the result")
            why = error.strerror or error
            raise TadoruError(
                "Cannot write {output} ({reason}). Fix the cause, then rerun the command{state}.",
                output=what, reason=why, state=database.keep(),
            ) from None  # fmt: skip
        if finished.is_interrupted:
            raise Interrupted(
                "Stopped after {pages}. To resume, rerun the command{state}.",
                pages=ngettext("{count} page", "{count} pages", result.total_processed), state=database.keep(),
            )  # fmt: skip
        check_start_urls(finished.start, finished.prepared.starts[0])
        if gates:
            message = " ".join(map(translate_text, gates))
            raise GateExceeded(message)
    return 0


@dataclass
class _Database:
    """The file of the crawl, and whether it is kept."""

    name: str
    kept: bool

    def keep(self) -> str:
        """Keep the file; returns what to add to the command to resume. Not the command itself: it may contain a password."""
        words = "" if self.kept else _(" with --state {file}", file=shlex.quote(self.name))
        self.kept = True
        return words


@contextmanager
def _database(options: LinksOptions) -> Iterator[_Database]:
    """`--state`, or a temporary file that is deleted unless the crawl can be resumed."""
    if options.state is not None:
        yield _Database(options.state, kept=True)
        return
    import tempfile  # Late: help does not need it.

    handle, name = tempfile.mkstemp(prefix="tadoru-links-", suffix=".db")
    os.close(handle)
    database = _Database(name, kept=False)
    try:
        yield database
    finally:
        if not database.kept:
            for suffix in ("", "-wal", "-shm"):
                Path(name + suffix).unlink(missing_ok=True)
