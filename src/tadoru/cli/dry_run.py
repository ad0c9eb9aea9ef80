"""`--dry-run`: the plan in words. Nothing is requested."""

from __future__ import annotations

from typing import TextIO

from tadoru.config.options import AuditOptions, CrawlOptions, DocsOptions, LinksOptions
from tadoru.errors import without_passwords
from tadoru.jobs.audit.run import bounds_for
from tadoru.jobs.audit.run import build_scope as audit_scope
from tadoru.jobs.docs.run import build_scope as docs_scope
from tadoru.jobs.docs.run import site_folder
from tadoru.jobs.launch import pick_processes
from tadoru.jobs.links.run import build_scope
from tadoru.jobs.reporting.formatting import format_count
from tadoru.rules.scope import Scope
from tadoru.rules.url import host_key, parse_typed_url

MAX_LISTED_URLS = 10
"""Starts that are listed one by one."""
SCOPES = {
    "host": "pages of {site}",
    "domain": "pages of the whole domain of {site}",
    "path": "pages of {site} below the start's path",
    "all": "pages of every host that is linked to",
}
SITEMAPS = {
    "auto": "read, and the pages they name are crawled too",
    "only": "the pages they name are crawled, and nothing else",
    "off": "left alone",
}
RENDERING = {
    "auto": "pages that are empty without one",
    "always": "every page",
    "never": "no page",
}


def print_links_plan(options: LinksOptions, urls: tuple[str, ...], out: TextIO) -> int:
    """Say what a crawl with these options would do."""
    starts = [parse_typed_url(url) for url in urls]
    for label, words in _links_plan(options, starts):
        out.write(f"{label:<12} {words}\n")
    out.write("Nothing was requested.\n")
    return 0


def print_audit_plan(options: AuditOptions, urls: tuple[str, ...], out: TextIO) -> int:
    """The same for an audit."""
    starts = [parse_typed_url(url) for url in urls]
    for label, words in _audit_plan(options, starts):
        out.write(f"{label:<12} {words}\n")
    out.write("Nothing was requested.\n")
    return 0


def print_docs_plan(options: DocsOptions, url: str, out: TextIO) -> int:
    """The same for a documentation site."""
    for label, words in _docs_plan(options, parse_typed_url(url)):
        out.write(f"{label:<12} {words}\n")
    out.write("Nothing was requested.\n")
    return 0


def _docs_plan(options: DocsOptions, start: str) -> list[tuple[str, str]]:
    rows = [("start", start), *_requests(options, docs_scope(options, start), [start], listed=False)]
    kinds = ", ".join(options.variants) or "none"
    rows.append(("variants", f"{kinds} of other versions, other languages, books on one page, indexes, source listings"))
    rows.append(("sitemaps", SITEMAPS[options.sitemap]))
    rows.append(("Markdown", "the site's own where it is complete" if options.own_markdown else "made from every page"))
    rows.append(("browser", RENDERING[options.render]))
    rows.append(("folder", str(site_folder(options, start))))
    return rows


def _links_plan(options: LinksOptions, starts: list[str]) -> list[tuple[str, str]]:
    rows = _start_urls(starts) or [("resume", str(options.state))]
    rows += _requests(options, build_scope(options, starts), starts, listed=options.list)
    rows.append(("external", "requested once each, to see that they answer" if options.check else "recorded, not requested"))
    rows.append(("result", f"{options.format} to {options.output or 'stdout'}"))
    if options.state:
        rows.append(("state", f"kept in {options.state}"))
    return rows


def _audit_plan(options: AuditOptions, starts: list[str]) -> list[tuple[str, str]]:
    rows = _start_urls(starts) or [("resume", without_passwords(options.database))]
    rows += _requests(options, audit_scope(options, starts), starts, listed=options.list)
    external = options.check_external
    rows.append(("external", "requested once each, to see that they answer" if external else "recorded, not requested"))
    rows += _bounds(options)
    rows.append(("sitemaps", "left alone" if options.list else SITEMAPS[options.sitemap]))
    rows.append(("resources", f"at most {options.resources} are tried after the pages" if options.resources else "not tried"))
    rows.append(("browser", RENDERING[options.render]))
    rows.append(("database", without_passwords(options.database)))
    rows += [("fails on", gate) for gate in options.fail_on]
    return rows + [("report", name) for name in options.report]


def _start_urls(starts: list[str]) -> list[tuple[str, str]]:
    rows = [("start", start) for start in starts[:MAX_LISTED_URLS]]
    return [*rows, ("", f"and {len(starts) - MAX_LISTED_URLS} more")] if len(starts) > MAX_LISTED_URLS else rows


def _bounds(options: AuditOptions) -> list[tuple[str, str]]:
    bounds = bounds_for(options)
    requests, hosts = format_count(bounds.pages_per_host or 0, "request"), format_count(bounds.hosts_per_domain or 0, "host")
    rows = [
        ("per host", f"at most {requests} for pages", bounds.pages_per_host),
        ("per domain", f"at most {hosts}, and those that were named", bounds.hosts_per_domain),
        ("queue", f"at most {format_count(bounds.queued or 0, 'URL')}; the rest is put off", bounds.queued),
    ]
    return [(label, words) for label, words, bound in rows if bound]


def _requests(options: CrawlOptions, scope: Scope, starts: list[str], *, listed: bool) -> list[tuple[str, str]]:
    if listed:
        rows = [("requests", "exactly these URLs; nothing is followed")]
    else:
        rows = [
            ("requests", SCOPES[scope.mode].format(site=host_key(starts[0]) if starts else "the stored site")),
            ("depth", "no limit" if options.depth is None else f"at most {format_count(options.depth, 'link')} from the start"),
        ]
    rows += [("only", f"URLs that match {pattern}") for pattern in options.include]
    rows += [("never", f"URLs that match {pattern}") for pattern in options.exclude]
    rows.append(("limit", format_count(options.limit, "page") if options.limit else "no limit"))
    rows.append(("pace", _pace(options)))
    rows.append(("robots.txt", "ignored" if options.ignore_robots else "obeyed, as Tadoru"))
    return rows


def _pace(options: CrawlOptions) -> str:
    count = pick_processes(options.processes, options.delay)
    processes = f", {count} processes" if count > 1 else ""
    if not options.delay:
        return f"no delay, {format_count(options.concurrency, 'request')} in flight{processes}"
    words = f"a request every {options.delay:g} s to a host, {options.concurrency} in flight at most{processes}"
    if options.limit:
        words += f"; at least {options.limit * options.delay / 60:.1f} min for {format_count(options.limit, 'page')}"
    return words
