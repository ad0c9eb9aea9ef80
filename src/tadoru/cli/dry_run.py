"""`--dry-run`: prints what a crawl would do, without a request; `tadoru explain URL`: whether a URL would be crawled, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import job_options, resolve_options
from tadoru.cli.output import N_, _, format_option, ngettext, translate_text, write_json
from tadoru.config.options import CRAWL_JOBS, JOB_SETTINGS, AuditOptions, CrawlOptions, DocsOptions, LinksOptions
from tadoru.errors import UsageError, without_passwords
from tadoru.jobs.reporting.formatting import pad_text
from tadoru.log import printable
from tadoru.rules.url import host_key, parse_typed_url

MAX_LISTED_URLS = 10
"""Start URLs that are listed; of the others only the count is shown."""
SCOPES = {
    "host": N_("pages of {site}"),
    "domain": N_("pages of the whole domain of {site}"),
    "path": N_("pages of {site} below the path of the start URL"),
    "all": N_("pages of all linked hosts"),
}
SITEMAPS = {
    "auto": N_("their URLs are crawled too"),
    "only": N_("only their URLs are crawled"),
    "off": N_("ignored"),
}
RENDERING = {
    "auto": N_("for pages that need it"),
    "always": N_("for all pages"),
    "never": N_("not used"),
}
Rows = list[tuple[str, str]]


def print_plan(
    options: LinksOptions | AuditOptions | DocsOptions, urls: Sequence[str], out: TextIO, *, is_local: bool = False
) -> int:
    """Print what a crawl with these options would do; `is_local`: the URLs are names of files."""
    starts = [parse_typed_url(url) if not is_local else url for url in urls]
    match options:
        case LinksOptions() if is_local:
            rows = [*_start_urls(starts), *_links_results(options)]
        case LinksOptions():
            rows = _links_plan(options, starts)
        case AuditOptions():
            rows = _audit_plan(options, starts)
        case DocsOptions():
            rows = _docs_plan(options, starts[0])
    for label, text in rows:
        out.write(f"{pad_text(label, 12)} {text}\n")
    out.write(_("Nothing was requested.") + "\n")
    return 0


def _docs_plan(options: DocsOptions, start: str) -> Rows:
    from tadoru.jobs.docs.run import site_folder  # Late, like all jobs here: the plan of one needs no other.

    kinds = ", ".join(options.variants) or _("none")
    markdown = _("the site's own where it is complete") if options.own_markdown else _("converted from each page")
    return [
        (_("start"), start),
        *_requests(options, [start], listed=False),
        (_("duplicates"), _("{kinds} of: other versions, other languages, single-page editions, indexes, sources", kinds=kinds)),
        (_("sitemaps"), _(SITEMAPS[options.sitemap])),
        ("Markdown", markdown),
        (_("browser"), _(RENDERING[options.render])),
        (_("folder"), str(site_folder(options, start))),
    ]


def _links_plan(options: LinksOptions, starts: list[str]) -> Rows:
    rows = _start_urls(starts) or [(_("resume"), str(options.state))]
    return [*rows, *_requests(options, starts, listed=options.list), *_links_results(options)]


def _links_results(options: LinksOptions) -> Rows:
    rows = [(_("external"), _external(options.check))]
    rows.append((_("result"), _("{format} to {file}", format=options.format, file=options.output or "stdout")))
    if options.state:
        rows.append((_("state"), _("kept in {file}", file=options.state)))
    return rows


def _audit_plan(options: AuditOptions, starts: list[str]) -> Rows:
    rows = _start_urls(starts) or [(_("resume"), without_passwords(options.database))]
    rows += _requests(options, starts, listed=options.list)
    rows.append((_("external"), _external(options.check_external)))
    rows += _bounds(options)
    rows.append((_("sitemaps"), _("ignored") if options.list else _(SITEMAPS[options.sitemap])))
    resources = (
        _("at most {count}, checked after the pages", count=f"{options.resources:,}") if options.resources else _("not checked")
    )
    rows.append((_("resources"), resources))
    rows.append((_("browser"), _(RENDERING[options.render])))
    rows.append((_("database"), without_passwords(options.database)))
    rows += [(_("fails on"), gate) for gate in options.fail_on]
    return rows + [(_("report"), name) for name in options.report]


def _external(checked: bool) -> str:
    return _("checked with one request each") if checked else _("recorded, not requested")


def _start_urls(starts: list[str]) -> Rows:
    rows = [(_("start"), start) for start in starts[:MAX_LISTED_URLS]]
    more = len(starts) - MAX_LISTED_URLS
    return [*rows, ("", _("and {count} more", count=f"{more:,}"))] if more > 0 else rows


def _bounds(options: AuditOptions) -> Rows:
    from tadoru.jobs.audit.run import bounds_for

    bounds = bounds_for(options)
    rows: Rows = []
    if bounds.pages_per_host:
        rows.append((_("per host"), ngettext("at most {count} page", "at most {count} pages", bounds.pages_per_host)))
    if bounds.hosts_per_domain:
        text = ngettext(
            "at most {count} host, and the hosts of start URLs", "at most {count} hosts, and the hosts of start URLs",
            bounds.hosts_per_domain,
        )  # fmt: skip
        rows.append((_("per domain"), text))
    if bounds.queued:
        rows.append(
            (_("queue"), ngettext("at most {count} URL; others wait", "at most {count} URLs; others wait", bounds.queued))
        )
    return rows


def _requests(options: CrawlOptions, starts: list[str], *, listed: bool) -> Rows:
    from tadoru.jobs.crawl_setup import build_scope

    if listed:
        rows = [(_("requests"), _("only these URLs; no links are followed"))]
    else:
        site = host_key(starts[0]) if starts else _("the stored site")
        depth = (
            _("no limit")
            if options.depth is None
            else ngettext("at most {count} link from the start URL", "at most {count} links from the start URL", options.depth)
        )
        rows = [(_("requests"), _(SCOPES[build_scope(options, starts).mode], site=site)), (_("depth"), depth)]
    rows += [(_("include"), _("URLs that match {pattern}", pattern=pattern)) for pattern in options.include]
    rows += [(_("exclude"), _("URLs that match {pattern}", pattern=pattern)) for pattern in options.exclude]
    rows.append((_("limit"), ngettext("{count} page", "{count} pages", options.limit) if options.limit else _("no limit")))
    rows.append((_("pace"), _pace(options)))
    rows.append(("robots.txt", _robots(options)))
    return rows


def _robots(options: CrawlOptions) -> str:
    from tadoru.jobs.crawl_setup import robots_token

    if options.ignore_robots:
        return _("ignored")
    agent = robots_token(options)
    return (
        _("{file} is obeyed, as {agent}", file=options.robots_file, agent=agent)
        if options.robots_file
        else _("obeyed, as {agent}", agent=agent)
    )


def _pace(options: CrawlOptions) -> str:
    from tadoru.jobs.launch import pick_processes

    parts = []
    if options.delay:
        parts.append(_("one request per host every {seconds} s", seconds=f"{options.delay:g}"))
    else:
        parts.append(_("no delay"))
    parts.append(ngettext("{count} request in flight", "{count} requests in flight", options.concurrency))
    processes = pick_processes(options.processes, options.delay)
    if processes > 1:
        parts.append(ngettext("{count} process", "{count} processes", processes))
    if options.delay and options.limit:
        pages = ngettext("{count} page", "{count} pages", options.limit)
        parts.append(_("at least {minutes} min for {pages}", minutes=f"{options.limit * options.delay / 60:.1f}", pages=pages))
    return ", ".join(parts)


LINKS_SETTINGS = (
    "scope", "include", "exclude", "delay", "timeout", "ignore_robots", "user_agent", "robots_agent", "robots_file",
    "allow_private", "subdomains", "trap_limit", "strip_tracking", "strip_sessions", "proxy", "insecure", "check", "state",
)  # fmt: skip
STORED_IN = {"links": "state", "audit": "database"}
"""The option that names the crawl of a job."""
MOST_USED = (
    "scope", "include", "exclude", "delay", "ignore_robots", "user_agent", "state", "database", "output", "job", "start",
    "config_file", "form",
)  # fmt: skip


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["links"] + JOB_SETTINGS["audit"] + JOB_SETTINGS["docs"],
    short_help="Show whether a URL would be crawled, and why.", most_used=MOST_USED,
    examples=(
        ("tadoru explain https://example.com/private/", "scope, robots.txt and pace of a URL"),
        ("tadoru explain https://example.com/a --job audit -d site.db", "in the crawl of site.db"),
    ),
)  # fmt: skip
@click.argument("url")
@click.option("--job", type=click.Choice(["links", "audit", "docs"]), default="links", help="Job whose rules apply.")
@click.option("--start", metavar="URL", help="Start URL of the crawl; default: the site of the URL.")
@click.option("--config", "config_file", metavar="FILE", help="Configuration file.")
@format_option("text", "json", or_json=True)
@job_options("links", only=LINKS_SETTINGS)
@job_options("audit", only=("database", "follow_external_hosts", "check_external"))
@job_options("docs", only=("output", "same_domain", "variants", "language"))
def explain(url: str, job: str, start: str | None, config_file: str | None, form: str, **values: Any) -> None:
    """Show whether a URL would be crawled, and which rule decides. Requests only robots.txt."""
    options, _settled = resolve_options(
        job, CRAWL_JOBS[job], values, config_file, lambda options: getattr(options, STORED_IN.get(job, ""), None)
    )
    stored = values.get("state") or values.get("database")
    if stored is not None and not Path(stored).is_file():
        option = "--state" if values.get("state") else "--database"
        raise UsageError("No crawl in {database}. Check {option}.", database=stored, option=option)
    from tadoru.jobs.explain import explain_url
    from tadoru.jobs.launch import run_loop

    answer = run_loop(explain_url(url, start, options))
    if form == "json":
        write_json(answer.to_dict())
    else:
        for label, words in answer.rows.items():
            sys.stdout.write(f"{label:<10} {printable(translate_text(words))}\n")
        because = printable(translate_text(answer.because))
        line = _("→ crawled: {reason}", reason=because) if answer.crawled else _("→ not crawled: {reason}", reason=because)
        sys.stdout.write(line + "\n")
