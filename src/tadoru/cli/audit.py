"""`tadoru audit [URL...]`: validates its input before any request, runs or resumes the crawl, and reports what was found."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_database_name, check_writable, read_seed_urls
from tadoru.cli.options import describe_stored_options, job_options, print_config, resolve_options, run_options
from tadoru.cli.output import _, translate_text
from tadoru.config.options import JOB_SETTINGS, AuditOptions
from tadoru.config.resolve import CREDENTIALS, ResolvedConfig, shown_values
from tadoru.errors import BrowserMissing, GateExceeded, Interrupted, UsageError, without_passwords
from tadoru.extras import not_installed

if TYPE_CHECKING:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.jobs.crawl_setup import PreparedCrawl

EXAMPLES = (
    ("tadoru audit https://example.com", "report its problems; the crawl is in ./tadoru.db"),
    ("tadoru audit -d site.db", "resume a crawl"),
    ("tadoru audit -d site.db --recrawl", "crawl again and look for changes"),
    ("tadoru audit https://example.com --report report.html", "a shareable report"),
    ("tadoru audit example.com --fail-on error --baseline last.db", "fail a build on new errors"),
)
MOST_USED = (
    "depth", "limit", "scope", "include", "exclude", "recrawl", "sitemap", "delay", "concurrency", "ignore_robots",
    "render", "check_external", "fail_on", "baseline", "database", "report", "config_file", "verbose", "quiet",
)  # fmt: skip


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["audit"], sections={"Scope": ["seed_file"], "Output": ["detach"]},
    most_used=MOST_USED, examples=EXAMPLES, short_help="Crawl a site into a database and report its problems.",
)  # fmt: skip
@click.argument("urls", nargs=-1, metavar="[URL]")
@job_options("audit")
@click.option("--seed-file", metavar="FILE|-", help="Read additional start URLs from a file, one per line.")
@click.option("--detach", is_flag=True, help="Hand the crawl to the workers of the cluster (`tadoru worker`).")
@run_options
def audit(
    urls: tuple[str, ...],
    seed_file: str | None,
    detach: bool,
    dry_run: bool,
    config_file: str | None,
    show_config: bool,
    **values: Any,
) -> int:
    """Crawl a site into a database and report its problems. Without a URL, resume the crawl in the database."""
    options, settled = resolve_options("audit", AuditOptions, values, config_file, lambda options: options.database)
    if show_config:
        return print_config("audit", options, settled)
    given = _start_urls(urls, seed_file, options, settled)
    _check(options, given)
    if dry_run:
        from tadoru.cli.dry_run import print_plan

        return print_plan(options, given, sys.stdout)
    if detach:
        return _hand_to_cluster(options, given, quiet=values["quiet"])
    again = describe_stored_options("audit", settled)
    return _run(options, given, again, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"])


def _start_urls(urls: tuple[str, ...], seed_file: str | None, options: AuditOptions, settled: ResolvedConfig) -> tuple[str, ...]:
    """The start URLs: arguments and the seed file, or else the configuration."""
    if seed_file == "":
        raise UsageError("--seed-file needs a file name, or - for stdin.")
    typed = (*urls, *read_seed_urls(seed_file))
    if seed_file is not None and not typed:
        raise UsageError("The seed file {file} contains no URLs.", file=seed_file)
    source = settled.sources.get("seed_urls")
    if typed:
        return (*typed, *options.seed_urls) if source == "flag" else typed
    if settled.is_from_discovered_file("seed_urls") and settled.has_other_credentials():
        raise UsageError(
            "{file} in this folder names the start URL, but credentials come from outside this file. Pass the URL on the command "
            "line, or name the file with --config.",
            file=source,
        )
    if not options.seed_urls and Path(options.database).is_file() and _is_discovered_database(settled):
        raise UsageError(
            "The crawl in {database} was only discovered in this folder, but credentials come from the environment. Pass the "
            "URL, or name the crawl with --database.",
            database=options.database,
        )
    return options.seed_urls


def _is_discovered_database(settled: ResolvedConfig) -> bool:
    """Whether a database that nobody named would decide where credentials of the environment are sent."""
    found = "database" not in settled.sources or settled.is_from_discovered_file("database")
    elsewhere = {"default", "flag", settled.file.name if settled.file is not None else "default"}
    return found and any(settled.sources.get(name, "default") not in elsewhere for name in CREDENTIALS)


def _check(options: AuditOptions, urls: tuple[str, ...]) -> None:
    """Validate options and arguments before any request."""
    from tadoru.jobs.audit.criteria import AuditCriteria
    from tadoru.jobs.audit.run import build_job
    from tadoru.jobs.crawl_setup import access_for, build_scope, read_robots_file
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import parse_typed_url
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    check_database_name(options.database)
    database = Path(options.database)
    starts = [parse_typed_url(url) for url in urls]
    is_file = not is_postgresql(options.database)
    if not starts and is_file and not database.is_file():
        raise UsageError(
            "Start URL missing, and no crawl in {database}. Give a URL, such as https://example.com/.", database=options.database
        )
    build_job(options, build_scope(options, starts))
    access_for(options, Exemptions(), starts)
    read_robots_file(options)
    AuditCriteria.parse(options)
    if is_file:
        check_writable(database, "--database")
    if options.report:
        from tadoru.jobs.audit.report import format_of_path

        for name in options.report:
            format_of_path(name)
            check_writable(Path(name), "--report")


def _run(options: AuditOptions, urls: tuple[str, ...], again: str, *, quiet: bool, verbose: int, log_format: str) -> int:
    from tadoru.cli.progress import CrawlProgress, check_start_urls, run_with_progress
    from tadoru.jobs.audit.run import AuditCrawl

    display = CrawlProgress(options, quiet=quiet, verbose=verbose, log_format=log_format)
    crawl = AuditCrawl(options, urls, shown_values(options, "audit"), note=display.note)
    finished = run_with_progress(crawl, display, lambda prepared: _report_start(options, prepared, again, display))
    if finished.is_interrupted:
        raise Interrupted("Stopped. To resume, rerun the command (the crawl is in {database}).", database=options.database)
    check_start_urls(finished.start)
    if not finished.is_complete:
        display.note(
            _(
                "Another process is still crawling into {database} and will report the findings.",
                database=without_passwords(options.database),
            )
        )
        return 0
    return _report_result(options, display, quiet=quiet)


def _hand_to_cluster(options: AuditOptions, urls: tuple[str, ...], *, quiet: bool) -> int:
    """Create the crawl and submit it to the workers of its database."""
    from tadoru.jobs import launch
    from tadoru.jobs.audit.run import AuditCrawl
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql, parse

    if not is_postgresql(options.database):
        raise UsageError("--detach needs a crawl on PostgreSQL. Give --database 'postgresql://…?crawl=NAME'.")
    if options.report or options.fail_on:
        raise UsageError("--report and --fail-on need a finished crawl. Omit --detach, or run `tadoru report` later.")
    try:
        from tadoru.cluster.queue import submit_crawl
    except ModuleNotFoundError:
        raise UsageError(not_installed("a cluster", "cluster")) from None
    launch.run_loop(submit_crawl(AuditCrawl(options, urls, shown_values(options, "audit"))))
    if not quiet:
        place = parse(options.database)
        sys.stderr.write(
            _(
                "Submitted {crawl} to the workers. `tadoru cluster status` shows its progress, `tadoru report` its findings.",
                crawl=place.crawl,
            )
            + "\n"
        )
    return 0


def _report_start(options: AuditOptions, prepared: PreparedCrawl, again: str, display: CrawlProgress) -> None:
    from tadoru.cli.progress import note_start

    note_start(prepared, display, recrawl=options.recrawl)
    if again:
        display.note(again)
    if prepared.lacks_credentials:
        display.note(_("An earlier run used credentials, which are not stored. Pass them again, or pages may be refused."))
    if prepared.nothing_to_do:
        display.note(_("Nothing to crawl: {reason}.", reason=prepared.nothing_to_do))


def _report_result(options: AuditOptions, display: CrawlProgress, *, quiet: bool) -> int:
    """Print the summary, write reports, and apply the gates."""
    from tadoru.jobs.audit.report import ReportRequest, print_summary, write_report, write_requested
    from tadoru.jobs.reporting.output import append_step_summary

    if not quiet:
        for note in print_summary(options.database, sys.stdout, lang=options.lang, suppress=options.suppress):
            display.note(note)
    for name in options.report:
        write_report(name, options.database, lang=options.lang, suppress=options.suppress, baseline=options.baseline)
        display.note(_("Wrote {file}.", file=name))
    summary = ReportRequest(database=options.database, form="markdown", lang=options.lang, suppress=options.suppress)
    append_step_summary(lambda out: write_requested(summary, out))
    exceeded = _exceeded_gates(options)
    missing = _missing_browser(options.database) if options.render != "never" else ""
    if exceeded:
        message = " ".join(map(translate_text, exceeded))
        raise GateExceeded(message)
    if missing:
        raise BrowserMissing(missing)
    return 0


def _exceeded_gates(options: AuditOptions) -> list[str]:
    """The messages of the gates that were exceeded; writes annotations in a GitHub workflow."""
    from tadoru.jobs.reporting.output import is_github_workflow

    annotate = is_github_workflow()
    if not options.fail_on and not annotate:
        return []
    from tadoru.jobs.audit.criteria import AuditCriteria
    from tadoru.jobs.audit.report.build_reports import write_annotations

    verdict = AuditCriteria.parse(options).evaluate(options.database)
    if annotate:
        write_annotations(verdict.found, sys.stderr, lang=options.lang)
    return verdict.exceeded


def _missing_browser(database: str) -> str:
    """The message about pages that need a browser which is not installed; empty if there are none."""
    from tadoru.clock import SystemClock
    from tadoru.store.crawl.open import open_existing

    store = open_existing(database, SystemClock())
    with closing(store.sql):
        urls, reason = store.checks.unrendered(10)
    return _("{reason} Crawled without it: {urls}.", reason=reason, urls=", ".join(urls)) if urls else ""
