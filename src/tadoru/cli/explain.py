"""`tadoru explain URL`: shows whether a URL would be crawled, and which rule decides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import job_options, resolve_options
from tadoru.cli.output import _, format_option, translate_text, write_json
from tadoru.config.options import CRAWL_JOBS, JOB_SETTINGS
from tadoru.errors import UsageError
from tadoru.log import printable

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
