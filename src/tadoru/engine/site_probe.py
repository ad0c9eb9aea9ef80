"""The survey: what a job asks a site before it crawls it. One worker asks, once; the others wait for what it learnt.

Done before any page is read, so that every page is read by the same rules whichever comes first. What was learnt is kept with the
crawl: a later run goes by it, and asks nothing again.
"""

from __future__ import annotations

import json

from tadoru.engine.context import CrawlContext
from tadoru.engine.job import SiteProbingJob
from tadoru.engine.page_fetch import PageFetch

TASK_NAME = META_KEY = "survey"
POLL = 0.05


class SiteProbe:
    """Asks for a job."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch) -> None:
        self._context = context
        self._store = context.store
        self._page_fetch = page_fetch

    async def run(self, job: SiteProbingJob) -> None:
        """Let the job know its site, from the store or from the site itself."""
        while not (known := await self._store.get_meta(META_KEY)):
            if await self._store.claim_task(self._context.worker, TASK_NAME):
                await self._store.set_meta(META_KEY, json.dumps(await self._ask(job), ensure_ascii=False))
                await self._store.finish_task(TASK_NAME)
            else:
                await self._context.clock.sleep(POLL)
        surveyed = job.surveyed(json.loads(known))
        self._context.job = surveyed
        if isinstance(surveyed, SiteProbingJob):
            self._context.url_filter.set_refusal(surveyed.refusal)
            await self._store.add([self._context.url_filter.named(url) for url in surveyed.extra()], seed=False, depth=1)

    async def _ask(self, job: SiteProbingJob) -> dict[str, object]:
        flow = job.survey()
        try:
            ask = next(flow)
            while True:
                ask = flow.send(await self._page_fetch.ask(ask))
        except StopIteration as end:
            found: dict[str, object] = end.value
            return found
