"""Reads the sitemaps of a site during the crawl. One worker does it, once the start URL has been answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice

from tadoru.engine.job import CrawlContext
from tadoru.engine.notifications import SitemapRead
from tadoru.engine.page_fetch import PageFetch
from tadoru.engine.request_flow import follow_redirects
from tadoru.model.web import Request
from tadoru.parse.sitemap import MAX_BYTES, SitemapFile, SitemapSearch
from tadoru.rules.url import canonical, origin
from tadoru.store.crawl.records import NamedPage, SitemapRecord

TASK_NAME = "sitemaps"
PAGES_PER_TRANSACTION = 2_000
"""Pages written in one transaction, so that other workers can write in between."""
MIN_POLL, MAX_POLL = 0.05, 2.0
MAX_SITES = 20


class SitemapDiscovery:
    """Finds pages that are listed in sitemaps."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch, on_found: Callable[[], None]) -> None:
        """`on_found` is called whenever there may be more to crawl."""
        self._context = context
        self._policy = context.policy
        self._store = context.store
        self._clock = context.clock
        self._url_filter = context.url_filter
        self._page_fetch = page_fetch
        self._on_found = on_found

    async def run(self) -> None:
        """Read all sitemaps, or return when they have been read. While another worker reads them, be ready to take over."""
        if await self._store.tasks.is_done(TASK_NAME):
            return
        pause = MIN_POLL
        while await self._store.frontier.has_open_seeds() and not await self._is_limit_reached():
            await self._clock.sleep(pause)
            pause = min(pause * 1.1, MAX_POLL)  # With many start URLs some are requested late, and each look costs time.
        if not await self._store.frontier.has_answered_seeds():
            return  # The start URL is excluded, disallowed or down: send nothing else to the site.
        while not await self._store.tasks.claim(self._context.worker, TASK_NAME):
            if await self._store.tasks.is_done(TASK_NAME):
                return
            await self._clock.sleep(MIN_POLL)
        await self._search()
        await self._store.tasks.finish(TASK_NAME)
        self._on_found()

    async def _is_limit_reached(self) -> bool:
        """Whether the page limit is reached: start URLs beyond it are never answered."""
        counts = await self._store.frontier.counts()
        return not self._policy.budget.leasable(counts.counted, 0, 1)

    async def _search(self) -> None:
        origins = list(dict.fromkeys(origin(site) for site in islice(self._url_filter.scope.sites, MAX_SITES)))
        named = [(url, "option") for url in self._policy.sitemap_urls]
        disallowed = set()
        for site in origins if self._policy.obey_robots else ():
            rules = (await self._page_fetch.robots.get(site)).rules
            if not self._policy.sitemap_urls:
                named += [(url, "robots.txt") for url in rules.sitemaps]
            if not rules.allows(f"{site}/sitemap.xml").allowed:
                disallowed.add(site)
        # A sitemap that robots.txt or the user names may be requested; a guessed URL has to be allowed like any other.
        search = SitemapSearch(named, origins if named else [site for site in origins if site not in disallowed])
        template = Request(url="", timeout=self._policy.timeout, max_bytes=MAX_BYTES)
        while (url := search.next()) is not None:
            file = search.take(await follow_redirects(self._page_fetch.send_politely, url, template))
            await self._store_file(file)
            await asyncio.sleep(0)

    async def _store_file(self, file: SitemapFile) -> None:
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
        number = await self._store.sitemaps.put(record)
        entries = iter(sitemap.entries if sitemap else ())
        while chunk := list(islice(entries, PAGES_PER_TRANSACTION)):
            urls = ((canonical(entry.url), entry.lastmod) for entry in chunk)
            below = self._policy.sitemap_below
            pages = [
                NamedPage(self._url_filter.sitemap_target(url), lastmod)
                for url, lastmod in urls
                if url is not None and url.startswith(below)
            ]
            await self._store.frontier.add_named(number, pages)
            self._on_found()
        if file.status != "absent":
            self._context.notify(SitemapRead(url=file.url, urls=record.urls, problem=file.problems[0] if file.problems else ""))
