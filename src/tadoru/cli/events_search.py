"""`tadoru events search-sync`: bring a search engine up to date with the calendar."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from typing import Any

import click

from tadoru.cli.events import Place
from tadoru.cli.help import GroupedCommand
from tadoru.cli.options import job_options
from tadoru.errors import UsageError
from tadoru.jobs.report.words import counted
from tadoru.options import EventsOptions
from tadoru.settings import JOBS

_OWN = tuple(setting.name for setting in JOBS["events"] if setting.name.startswith("search_"))


@click.command(
    "search-sync", cls=GroupedCommand, groups=JOBS["events"], short_help="Bring a search engine up to date.",
    examples=(
        ("tadoru events search-sync --search-engine meilisearch --search-url http://127.0.0.1:7700", "what changed"),
        ("tadoru events search-sync --full", "everything, into a new index that then takes the old one's place"),
    ),
)  # fmt: skip
@click.option("--full", is_flag=True, help="Tell it everything anew, while the old index is still searched.")
@click.option("--forget", is_flag=True, help="Note nothing for this engine any more; its index stays as it is.")
@job_options("events", EventsOptions(), _OWN)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.pass_obj
def search_sync(place: Place, /, full: bool, forget: bool, quiet: bool, **given: Any) -> int:
    """Tell a search engine what changed in the calendar since it was last told, or everything when it knows nothing yet."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.search.engine import engine_for
    from tadoru.jobs.events.search.sync import sync_once

    options = place.options(given)
    engine = engine_for(options)
    if engine is None:
        raise UsageError("No search engine is configured: give --search-engine and --search-url.")
    with closing(engine), place.open(options) as store:
        if forget:
            known = store.forget_target(engine.name)
            sys.stdout.write("Nothing is noted for it any more.\n" if known else "Nothing was noted for it.\n")
            return 0
        done = asyncio.run(sync_once(store, engine, SystemClock(), whole=full, archived=options.search_archived))
    if done is None:
        sys.stderr.write("tadoru: Another worker is telling this engine already; what it leaves is told the next time.\n")
        return 1
    if not quiet:
        how = "The whole calendar" if done.is_whole else "What changed"
        sys.stdout.write(f"{how}: {counted(done.put, 'event')} told, {done.removed:,} removed.\n")
    return 0
