"""`tadoru audit [URL...]`: the command around the job. Checks what it was given before it asks anybody for anything."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_database_name, check_writable, read_seed_urls
from tadoru.cli.options import job_options, print_config, resolve_options, run_options
from tadoru.config.options import AuditOptions
from tadoru.config.resolve import CREDENTIALS, ResolvedConfig, describe_options
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import BrowserMissing, GateExceeded, Interrupted, NothingToCrawl, SeedUnreachable, UsageError
from tadoru.extras import not_installed

if TYPE_CHECKING:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.jobs.audit.run import PreparedAudit

EXAMPLES = (
    ("tadoru audit https://example.com", "its problems, kept in ./tadoru.db"),
    ("tadoru audit -d site.db", "go on with a crawl"),
    ("tadoru audit -d site.db --recrawl", "ask again, for what changed"),
    ("tadoru audit https://example.com --report report.html", "a page to send to somebody"),
    ("tadoru audit example.com --fail-on error --baseline last.db", "fail a build on new errors"),
)
MOST_USED = (
    "depth", "limit", "scope", "include", "exclude", "recrawl", "sitemap", "delay", "concurrency", "ignore_robots",
    "render", "check_external", "fail_on", "baseline", "database", "report", "config_file", "verbose", "quiet",
)  # fmt: skip


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["audit"], sections={"What to crawl": ["seed_file"], "Output": ["detach"]},
    most_used=MOST_USED, examples=EXAMPLES, short_help="Find every problem of a site.",
)  # fmt: skip
@click.argument("urls", nargs=-1, metavar="[URL]")
@job_options("audit", AuditOptions())
@click.option("--seed-file", metavar="FILE|-", help="Read more URLs to start from, one a line.")
@click.option("--detach", is_flag=True, help="Leave the crawl to the workers of the database (`tadoru worker`).")
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
    """Crawl a site into a database and say what is wrong with it. Without a URL, go on with the crawl in the database."""
    options, settled = resolve_options("audit", AuditOptions, values, config_file)
    if show_config:
        return print_config("audit", options, settled)
    given = _start_urls(urls, seed_file, options, settled)
    _check(options, given)
    if dry_run:
        from tadoru.cli.dry_run import print_audit_plan

        return print_audit_plan(options, given, sys.stdout)
    if detach:
        return _hand_to_cluster(options, given, settled, quiet=values["quiet"])
    return _run(options, given, settled, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"])


def _start_urls(urls: tuple[str, ...], seed_file: str | None, options: AuditOptions, settled: ResolvedConfig) -> tuple[str, ...]:
    """Where to start: arguments and the seed file; otherwise what the configuration says."""
    if seed_file == "":
        raise UsageError("--seed-file needs the name of a file, or - for stdin.")
    typed = (*urls, *read_seed_urls(seed_file))
    if seed_file is not None and not typed:
        raise UsageError(f"The seed file {seed_file} names no URL.")
    source = settled.sources.get("seed_urls")
    if typed:
        return (*typed, *options.seed_urls) if source == "flag" else typed
    if settled.is_from_found("seed_urls") and settled.has_other_credentials():
        raise UsageError(
            f"{source} in this folder names where to start, and credentials come from elsewhere: give the URL yourself, "
            f"or name the file with --config."
        )
    if not options.seed_urls and Path(options.database).is_file() and _is_discovered_database(settled):
        raise UsageError(
            f"The crawl in {options.database} was only found in this folder, and credentials come from the environment: give the "
            f"URL, or name the crawl with --database."
        )
    return options.seed_urls


def _is_discovered_database(settled: ResolvedConfig) -> bool:
    """Whether a database that nobody named would say where credentials of the environment go."""
    found = "database" not in settled.sources or settled.is_from_found("database")
    elsewhere = {"default", "flag", settled.file.name if settled.file is not None else "default"}
    return found and any(settled.sources.get(name, "default") not in elsewhere for name in CREDENTIALS)


def _check(options: AuditOptions, urls: tuple[str, ...]) -> None:
    """Everything that can be wrong with the command itself, before any network use."""
    from tadoru.jobs.audit.criteria import AuditCriteria
    from tadoru.jobs.audit.run import build_job, build_scope
    from tadoru.jobs.crawl_setup import access_for
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import parse_typed_url
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql

    check_database_name(options.database)
    database = Path(options.database)
    starts = [parse_typed_url(url) for url in urls]
    is_file = not is_postgresql(options.database)
    if not starts and is_file and not database.is_file():
        raise UsageError(
            f"There is no URL to start from, and no crawl in {options.database}: give a URL, such as https://example.com/."
        )
    build_job(options, build_scope(options, starts))
    access_for(options, Exemptions(), starts)
    AuditCriteria.parse(options)
    if is_file:
        check_writable(database, "--database")
    if options.report:
        from tadoru.jobs.audit.report import format_of_path

        for name in options.report:
            format_of_path(name)
            check_writable(Path(name), "--report")


def _run(
    options: AuditOptions, urls: tuple[str, ...], settled: ResolvedConfig, *, quiet: bool, verbose: int, log_format: str
) -> int:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.clock import SystemClock
    from tadoru.jobs import launch
    from tadoru.jobs.audit.run import finish, prepare

    clock = SystemClock()
    display = CrawlProgress(quiet=quiet, verbose=verbose, log_format=log_format, limit=options.limit, clock=clock)
    config = {name: entry["value"] for name, entry in describe_options(AuditOptions, options, settled, "audit").items()}
    prepared = launch.run_loop(prepare(options, urls, config))
    _report_start(options, prepared, display)
    began = clock.monotonic()
    if prepared.nothing_to_do:
        display.note(f"Nothing to crawl: {prepared.nothing_to_do}.")
        from tadoru.engine.crawl import CrawlOutcome

        ended = CrawlOutcome(stopped=False, limit_reached=True)
    else:
        with display:
            ended = launch.run(prepared.plan, display.notify, display.watch)
    analysed = launch.run_loop(finish(options, prepared, ended, clock.monotonic() - began, display.note))
    if ended.stopped and not ended.out_of_time:
        raise Interrupted(f"Stopped; to go on, run the same command again (the crawl is in {options.database}).")
    _check_start_urls(prepared)
    if not analysed:
        display.note(f"Another process is still crawling into {options.database}: it will say what was found.")
        return 0
    return _report_result(options, display, quiet=quiet)


def _hand_to_cluster(options: AuditOptions, urls: tuple[str, ...], settled: ResolvedConfig, *, quiet: bool) -> int:
    """Set the crawl up, and put it where the workers of its database find it."""
    from tadoru.jobs import launch
    from tadoru.store.crawl.postgres.crawl_url import is_postgresql, parse

    if not is_postgresql(options.database):
        raise UsageError("Only a crawl on PostgreSQL can be left to workers: give --database 'postgresql://…?crawl=NAME'.")
    if options.report or options.fail_on:
        raise UsageError("--report and --fail-on need the end of the crawl: leave --detach out, or ask `tadoru report` later.")
    try:
        from tadoru.cluster.submission import submit_crawl
    except ModuleNotFoundError:
        raise UsageError(not_installed("a cluster", "cluster")) from None
    config = {name: entry["value"] for name, entry in describe_options(AuditOptions, options, settled, "audit").items()}
    launch.run_loop(submit_crawl(options, urls, config))
    if not quiet:
        place = parse(options.database)
        sys.stderr.write(
            f"The crawl {place.crawl} is for the workers now: `tadoru cluster status` shows how far it is, "
            f"`tadoru report` what was found.\n"
        )
    return 0


def _report_start(options: AuditOptions, prepared: PreparedAudit, display: CrawlProgress) -> None:
    if prepared.recrawl:
        display.note(f"Crawling {prepared.starts[0]} again (run {prepared.run}).")
    elif options.recrawl and prepared.resumed:
        display.note(f"The last crawl of {prepared.starts[0]} is not finished: going on with it first.")
    elif prepared.resumed:
        display.note(f"Going on with the crawl of {prepared.starts[0]}.")
    if prepared.lacks_credentials:
        display.note("An earlier run signed in to the site. Credentials are not kept: give them again, or it may refuse pages.")


def _check_start_urls(prepared: PreparedAudit) -> None:
    """When nothing could be crawled, say why."""
    from tadoru.jobs import launch
    from tadoru.jobs.audit.run import read_start_state

    state = launch.run_loop(read_start_state(prepared))
    if state is None:
        return
    if state.status == "error":
        kind = (state.error_type or "no answer").replace("_", " ")
        raise SeedUnreachable(f"{state.url} could not be reached ({kind}).")
    raise NothingToCrawl(f"Nothing could be crawled from {state.url}: {state.reason}.")


def _report_result(options: AuditOptions, display: CrawlProgress, *, quiet: bool) -> int:
    """The summary, the report, and the gates."""
    from tadoru.jobs.audit.report import print_summary, write_report

    if not quiet:
        for note in print_summary(options.database, sys.stdout, lang=options.lang, suppress=options.suppress):
            display.note(note)
    for name in options.report:
        write_report(name, options.database, lang=options.lang, suppress=options.suppress, baseline=options.baseline)
        display.note(f"Wrote {name}.")
    exceeded = _exceeded_gates(options)
    missing = _missing_browser(options.database) if options.render != "never" else ""
    if exceeded:
        raise GateExceeded(" ".join(exceeded))
    if missing:
        raise BrowserMissing(missing)
    return 0


def _exceeded_gates(options: AuditOptions) -> list[str]:
    """The sentences of the gates that were exceeded; annotations, where a workflow shows them."""
    annotate = os.environ.get("GITHUB_ACTIONS") == "true"
    if not options.fail_on and not annotate:
        return []
    from tadoru.jobs.audit.annotations import write_annotations
    from tadoru.jobs.audit.criteria import AuditCriteria

    verdict = AuditCriteria.parse(options).evaluate(options.database)
    if annotate:
        write_annotations(verdict.found, sys.stderr, lang=options.lang)
    return verdict.exceeded


def _missing_browser(database: str) -> str:
    """What to say about pages that needed a browser which is not there; empty when there are none."""
    from tadoru.clock import SystemClock
    from tadoru.store.crawl.open import open_existing

    store = open_existing(database, SystemClock())
    with closing(store.sql):
        urls, reason = store.unrendered(10)
    return f"{reason} Read without it: {', '.join(urls)}." if urls else ""
