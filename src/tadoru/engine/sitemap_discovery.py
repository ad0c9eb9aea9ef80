"""Reading a site's sitemaps while it is crawled: one worker does it, once the start has said which site this is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice

from tadoru.engine.context import CrawlContext
from tadoru.engine.notifications import SitemapRead
from tadoru.engine.page_fetch import PageFetch
from tadoru.engine.request_flow import follow_redirects
from tadoru.model.web import Request
from tadoru.parse.sitemap import MAX_BYTES, SitemapFile, SitemapSearch
from tadoru.rules.url import canonical, origin
from tadoru.store.crawl.interface import NamedPage, SitemapRecord

TASK_NAME = "sitemaps"
PAGES_PER_TRANSACTION = 2_000
"""Pages made known in one transaction: others want to write too."""
POLL, LONGEST_POLL = 0.05, 2.0
MAX_SITES = 20


class SitemapDiscovery:
    """Finds what links do not lead to."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch, found: Callable[[], None]) -> None:
        """`found` is called whenever there may be more to crawl."""
        self._context = context
        self._policy = context.policy
        self._store = context.store
        self._clock = context.clock
        self._url_filter = context.url_filter
        self._page_fetch = page_fetch
        self._found = found

    async def run(self) -> None:
        """Read them all, or return when they have been read. While another worker is at it, be ready to take over."""
        if await self._store.is_task_done(TASK_NAME):
            return
        pause = POLL
        while await self._store.has_open_seeds() and not await self._is_limit_reached():
            await self._clock.sleep(pause)
            pause = min(pause * 1.1, LONGEST_POLL)  # Of many starts some are asked late, and looking for them costs something.
        if not await self._store.has_answered_seeds():
            return  # The start is excluded, forbidden or down: the site is left alone.
        while not await self._store.claim_task(self._context.worker, TASK_NAME):
            if await self._store.is_task_done(TASK_NAME):
                return
            await self._clock.sleep(POLL)
        await self._search()
        await self._store.finish_task(TASK_NAME)
        self._found()

    async def _is_limit_reached(self) -> bool:
        """A start may be behind the limit: it will not be answered."""
        counts = await self._store.counts()
        return not self._policy.budget.room(counts.counted, 0, 1)

    async def _search(self) -> None:
        origins = list(dict.fromkeys(origin(site) for site in islice(self._url_filter.scope.sites, MAX_SITES)))
        named = [(url, "option") for url in self._policy.sitemap_urls]
        closed = set()
        for site in origins if self._policy.obey_robots else ():
            rules = (await self._page_fetch.robots.ask(site)).rules
            if not self._policy.sitemap_urls:
                named += [(url, "robots.txt") for url in rules.sitemaps]
            if not rules.allows(f"{site}/sitemap.xml").allowed:
                closed.add(site)
        # A sitemap that somebody named may be asked for; one that we guess is a URL like any other.
        search = SitemapSearch(named, origins if named else [site for site in origins if site not in closed])
        template = Request(url="", timeout=self._policy.timeout, max_bytes=MAX_BYTES)
        while (url := search.next()) is not None:
            file = search.take(await follow_redirects(self._page_fetch.send_politely, url, template))
            await self._keep(file)
            await asyncio.sleep(0)

    async def _keep(self, file: SitemapFile) -> None:
        sitemap = file.sitemap
        record = SitemapRecord(
            url=file.url,
            level=file.level,
            named_by=file.named_by,
            status=file.status,
            kind=sitemap.kind if sitemap else None,
            status_code=file.status_code,
            bytes=file.bytes,
            urls=len(sitemap.entries) if sitemap else 0,
            problems=file.problems,
        )
        number = await self._store.put_sitemap(record)
        entries = iter(sitemap.entries if sitemap else ())
        while chunk := list(islice(entries, PAGES_PER_TRANSACTION)):
            urls = ((canonical(entry.url), entry.lastmod) for entry in chunk)
            below = self._policy.sitemap_below
            pages = [
                NamedPage(self._url_filter.named(url), lastmod)
                for url, lastmod in urls
                if url is not None and url.startswith(below)
            ]
            await self._store.name_pages(number, pages)
            self._found()
        if file.status != "absent":
            self._context.notify(SitemapRead(url=file.url, urls=record.urls, problem=file.problems[0] if file.problems else ""))
