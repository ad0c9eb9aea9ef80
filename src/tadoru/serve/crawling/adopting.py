"""Crawls that were made on the command line, added to a service by their path: it shows them, and can go on with them.

Only somebody at the machine, or an admin, may say a path. The files stay where they are, also when the crawl is removed.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.jobs.docs.run import database_in
from tadoru.serve.crawling.saying import counted_of
from tadoru.store.access.values import By
from tadoru.store.base import Counts
from tadoru.store.crawls.values import CrawlState, ServedCrawl
from tadoru.store.open import open_existing
from tadoru.store.service import ServiceStore

JOBS = ("audit", "links", "docs")
MOST = 10_000


def adopt(store: ServiceStore, given: str, by: By, name: str = "") -> ServedCrawl:
    """Add the crawl at a path: a database of `audit` or `links`, or the folder of a documentation site. Raises UsageError."""
    path = Path(given).absolute()
    file = database_in(path) if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise UsageError(
            f"{path} is no folder that `tadoru docs` wrote: give the folder of one site, or the database of a crawl."
        )
    job, starts, counts = asyncio.run(_about(file))
    if job not in JOBS or (job == "docs") != path.is_dir():
        raise UsageError(f"{path} holds no crawl that can be added: give a database of `tadoru audit` or `tadoru links`.")
    if any(one.place == str(path) for one in store.crawls(limit=MOST)):
        raise UsageError(f"{path} is among the crawls already: `tadoru serve crawls list` shows them.")
    state = CrawlState.STOPPED if counts.queued + counts.processing else CrawlState.FINISHED
    return store.add_crawl(name or starts[0], job, starts, {}, by, place=str(path), state=state, progress=counted_of(counts))


async def _about(file: Path) -> tuple[str, list[str], Counts]:
    """The job of a crawl, its starts, and how far it came."""
    store = open_existing(str(file), SystemClock())
    try:
        job, starts = await store.get_meta("job"), json.loads(await store.get_meta("starts") or "[]")
        counts = await store.counts()
    finally:
        await store.close()
    if not job or not starts:
        raise UsageError(f"{file} holds no crawl yet: let it begin with `tadoru audit` first.")
    return job, starts, counts
