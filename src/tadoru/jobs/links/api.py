"""The Python API: `tadoru.links(url, …) -> CrawlResult`, and its twin for a running event loop."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.engine.notices import Notice, Notify
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.called import checked
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.run import prepare, read_result
from tadoru.jobs.report.words import counted
from tadoru.options import LinksOptions


def links(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """Map the links of a site. Options are those of `tadoru links` (`depth=2, delay=0.5, check=True, …`).

    What a site does wrong is in the result; a `tadoru.errors.UsageError` means that the call itself was wrong.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(links_async(url, notify=notify, **options))
    raise UsageError("links() was called where an event loop is running: await links_async() there.")


async def links_async(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """The same, awaited. Cancelling it stops the crawl; with `state=FILE` it can be gone on with."""
    chosen = checked("links", LinksOptions, options)
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        database = chosen.state or str(Path(folder) / "links.db")
        prepared = await prepare(chosen, [url], database, durable=chosen.state is not None)
        began = clock.monotonic()
        ended = await launch.crawl(prepared.plan, notify or _silent)
        stopped = None
        if ended.stopped:
            stopped = "time limit" if ended.out_of_time else "interrupted"
        elif ended.limit_reached:
            stopped = f"limit of {counted(chosen.limit, 'page')}"
        return await read_result(chosen, prepared, duration=clock.monotonic() - began, stopped=stopped, load=True)


def _silent(notice: Notice) -> None:
    """Nobody is watching."""
