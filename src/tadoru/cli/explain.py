"""`tadoru explain URL`: would it be crawled, and which rule says so?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import job_options, resolve_options
from tadoru.cli.output import format_option, write_json
from tadoru.config.options import AuditOptions, DocsOptions, LinksOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import UsageError
from tadoru.log import printable

LINKS_SETTINGS = (
    "scope", "include", "exclude", "delay", "timeout", "ignore_robots", "user_agent", "allow_private", "subdomains",
    "trap_limit", "strip_tracking", "strip_sessions", "proxy", "insecure", "check", "state",
)  # fmt: skip
MOST_USED = (
    "scope",
    "include",
    "exclude",
    "delay",
    "ignore_robots",
    "user_agent",
    "state",
    "database",
    "output",
    "job",
    "start",
    "config_file",
    "form",
)
OPTION_TYPES: dict[str, type[LinksOptions] | type[AuditOptions] | type[DocsOptions]] = {
    "links": LinksOptions,
    "audit": AuditOptions,
    "docs": DocsOptions,
}


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["links"] + JOB_SETTINGS["audit"] + JOB_SETTINGS["docs"],
    short_help="Say why a URL would or would not be crawled.", most_used=MOST_USED,
    examples=(
        ("tadoru explain https://example.com/private/", "scope, robots.txt and pace for one URL"),
        ("tadoru explain https://example.com/a --job audit -d site.db", "in the crawl that is in site.db"),
    ),
)  # fmt: skip
@click.argument("url")
@click.option("--job", type=click.Choice(list(OPTION_TYPES)), default="links", help="Which job's rules.")
@click.option("--start", metavar="URL", help="The start of the crawl; the URL's own site when left out.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
@format_option("text", "json", or_json=True)
@job_options("links", LinksOptions(), only=LINKS_SETTINGS)
@job_options("audit", AuditOptions(), only=("database", "follow_external_hosts", "check_external"))
@job_options("docs", DocsOptions(), only=("output", "same_domain", "variants", "language"))
def explain(url: str, job: str, start: str | None, config_file: str | None, form: str, **values: Any) -> int:
    """Say whether a URL would be crawled, and which rule decides. Asks only for robots.txt."""
    options: LinksOptions | AuditOptions | DocsOptions
    options, _ = resolve_options(job, OPTION_TYPES[job], values, config_file)
    stored = values.get("state") or values.get("database")
    if stored is not None and not Path(stored).is_file():
        raise UsageError(f"There is no crawl in {stored}: check --{'state' if values.get('state') else 'database'}.")
    from tadoru.jobs.explain import explain_url
    from tadoru.jobs.launch import run_loop

    answer = run_loop(explain_url(url, start, options))
    if form == "json":
        write_json(answer.to_dict())
    else:
        for label, words in answer.rows.items():
            sys.stdout.write(f"{label:<10} {printable(words)}\n")
        sys.stdout.write(f"→ {'crawled' if answer.crawled else 'not crawled'}: {printable(answer.because)}\n")
    return 0
