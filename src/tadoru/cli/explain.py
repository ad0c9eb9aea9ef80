"""`tadoru explain URL`: would it be crawled, and which rule says so?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tadoru.cli.options import GroupedCommand, effective, job_options
from tadoru.errors import UsageError
from tadoru.log import printable
from tadoru.options import AuditOptions, DocsOptions, LinksOptions
from tadoru.settings import JOBS

USED = (
    "scope", "include", "exclude", "delay", "timeout", "ignore_robots", "user_agent", "allow_private", "subdomains",
    "trap_limit", "strip_tracking", "strip_sessions", "proxy", "insecure", "check", "state",
)  # fmt: skip
OPTIONS: dict[str, type[LinksOptions] | type[AuditOptions] | type[DocsOptions]] = {
    "links": LinksOptions,
    "audit": AuditOptions,
    "docs": DocsOptions,
}


@click.command(
    cls=GroupedCommand, groups=JOBS["links"] + JOBS["audit"] + JOBS["docs"],
    short_help="Say why a URL would or would not be crawled.",
    examples=(("tadoru explain https://example.com/private/", "scope, robots.txt and pace for one URL"),),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip
@click.argument("url")
@click.option("--job", type=click.Choice(list(OPTIONS)), default="links", help="Which job's rules.")
@click.option("--start", metavar="URL", help="The start of the crawl; the URL's own site when left out.")
@click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@job_options("links", LinksOptions(), only=USED)
@job_options("audit", AuditOptions(), only=("database", "follow_external_hosts", "check_external"))
@job_options("docs", DocsOptions(), only=("output", "same_domain", "variants", "language"))
def explain(url: str, job: str, start: str | None, config_file: str | None, as_json: bool, **values: Any) -> int:
    """Say whether a URL would be crawled, and which rule decides. Asks only for robots.txt."""
    options: LinksOptions | AuditOptions | DocsOptions
    options, _ = effective(job, OPTIONS[job], values, config_file)
    stored = values.get("state") or values.get("database")
    if stored is not None and not Path(stored).is_file():
        raise UsageError(f"There is no crawl in {stored}: check --{'state' if values.get('state') else 'database'}.")
    from tadoru.jobs.explain import explain_url
    from tadoru.jobs.launch import run_loop

    answer = run_loop(explain_url(url, start, options))
    if as_json:
        json.dump(answer.to_dict(), sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    else:
        for label, words in answer.rows.items():
            sys.stdout.write(f"{label:<10} {printable(words)}\n")
        sys.stdout.write(f"→ {'crawled' if answer.crawled else 'not crawled'}: {printable(answer.because)}\n")
    return 0
