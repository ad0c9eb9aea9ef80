"""A worker that stands still between its turn and its request.

`python -m tests.engine.late_worker DATABASE URL GAP LEASE`. It resolves the name of the host when it has the host's slot and has
not sent anything, and stops itself there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.job import CrawlPolicy
from tadoru.fetch.http import HttpFetcher
from tadoru.jobs.links.job import LinksJob
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Scope
from tadoru.store.crawl.open import open_store


async def stand_still(host: str) -> Sequence[str]:
    os.kill(os.getpid(), signal.SIGSTOP)
    return ["127.0.0.1"]


async def main(database: str, start: str, gap: float, lease: float) -> None:
    clock = SystemClock()
    store = open_store(database, clock)
    fetcher = HttpFetcher(user_agent="late", exemptions=Exemptions(allow_all=True), resolver=stand_still)
    policy = CrawlPolicy(delay=gap, lease_ttl=lease, obey_robots=False)
    job = LinksJob(scope=Scope(sites=(start,)))
    await Crawler(job=job, policy=policy, store=store, fetcher=fetcher, clock=clock, notify=lambda _: None).run()
    await fetcher.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3], *map(float, sys.argv[3:5])))
