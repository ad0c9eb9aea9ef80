"""Requests that a job makes before a site is crawled. One worker makes them once; the others wait for the result.

They come before the first page, so that all pages are read by the same rules, whichever comes first. The result is stored with
the crawl, and later runs use it without another request.
"""

from __future__ import annotations

import json

from tadoru.engine.job import CrawlContext, SiteProbingJob
from tadoru.engine.page_fetch import PageFetch

TASK_NAME = META_KEY = "survey"
"""Stored in the database."""
POLL_INTERVAL = 0.05


class SiteProbe:
    """Runs the probe of a job."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch) -> None:
        self._context = context
        self._store = context.store
        self._page_fetch = page_fetch

    async def run(self, job: SiteProbingJob) -> None:
        """Give the job the result of its probe, from the store or from the site."""
        while not (known := await self._store.meta.get(META_KEY)):
            if await self._store.tasks.claim(self._context.worker, TASK_NAME):
                await self._store.meta.set(META_KEY, json.dumps(await self._run_probe(job), ensure_ascii=False))
                await self._store.tasks.finish(TASK_NAME)
            else:
                await self._context.clock.sleep(POLL_INTERVAL)
        probed = job.with_probe_result(json.loads(known))
        self._context.job = probed
        if isinstance(probed, SiteProbingJob):
            self._context.url_filter.set_refusal(probed.skip_reason)
            await self._store.frontier.add(
                [self._context.url_filter.sitemap_target(url) for url in probed.extra_urls()], seed=False, depth=1
            )

    async def _run_probe(self, job: SiteProbingJob) -> dict[str, object]:
        flow = job.probe()
        try:
            request = next(flow)
            while True:
                request = flow.send(await self._page_fetch.fetch_extra(request))
        except StopIteration as end:
            found: dict[str, object] = end.value
            return found
