"""`tadoru copy FROM TO`: a crawl from a file to PostgreSQL, or back."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.inputs import check_writable
from tadoru.cli.options import GroupedCommand
from tadoru.errors import UsageError


@click.command(
    cls=GroupedCommand, short_help="Copy a crawl to another database.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        ("tadoru copy site.db 'postgresql://me@localhost/sites?crawl=site'", "from a file to a server"),
        ("tadoru copy 'postgresql://me@localhost/sites?crawl=site' site.db", "and back"),
    ),
)  # fmt: skip
@click.argument("since", metavar="FROM")
@click.argument("to", metavar="TO")
def copy(since: str, to: str) -> int:
    """Copy a crawl into a new database of either kind, losing nothing; it can be gone on with there.

    The crawl may be running: the copy is of one moment, and what was in flight then is queued again in it. For the calendar there
    is `tadoru events copy`.
    """
    from tadoru.clock import SystemClock
    from tadoru.jobs.launch import run_loop
    from tadoru.store.moving import move_crawl
    from tadoru.store.open import is_same_crawl, open_audit, open_existing
    from tadoru.store.postgres.address import is_postgresql

    if is_same_crawl(since, to):
        raise UsageError("A crawl can not be copied into itself: name another database.")
    if not is_postgresql(to):
        check_writable(Path(to), "TO")
    clock = SystemClock()

    async def work() -> None:
        old = open_existing(since, clock)
        try:
            new = open_audit(to, clock)
            try:
                counts = await move_crawl(old, new)
                sys.stderr.write(f"Copied {counts['pages']:,} URLs and {counts['link_relations']:,} links into {new.path}.\n")
            finally:
                await new.close()
        finally:
            await old.close()

    run_loop(work())
    return 0
