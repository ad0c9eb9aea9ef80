"""The loop on a store that lives in memory: the same crawl, without a file."""

from __future__ import annotations

from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.job import CrawlPolicy
from tadoru.engine.url_filter import UrlFilter
from tadoru.jobs.launch import NetworkAccess, build_fetcher
from tadoru.jobs.links.job import LinksJob
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import Budget
from tadoru.rules.scope import Scope
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tests.support.memory_store.store import MemoryStore
from tests.support.site import Site

Found = list[tuple[str, str, int, int | None, str | None, str | None]]


async def _crawl(site: Site, start: str, store: CrawlStore) -> Found:
    scope = Scope(sites=(start,))
    job, policy = LinksJob(scope=scope), CrawlPolicy(delay=0.0, concurrency=4, budget=Budget(max_depth=3))
    await store.frontier.add([UrlFilter(scope, check_external=False, follow=True, trap_cap=0).start_target(start)], seed=True)
    fetcher = build_fetcher(NetworkAccess(user_agent="Tadoru/test", exemptions=Exemptions.for_urls([start])), 4)
    try:
        clock = SystemClock()
        await Crawler(job=job, policy=policy, store=store, fetcher=fetcher, clock=clock, notify=lambda _: None).run()
        await store.graph.settle()
        return [
            (page.url, page.status, page.depth, page.status_code, page.title, page.parent_url)
            async for page in store.graph.pages()
        ]
    finally:
        await fetcher.close()
        await store.close()


async def test_both_stores_come_to_the_same_crawl(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/dense/60/6/0", "/old", "/gone", "http://elsewhere.example/"])
        site.redirect("/old", "/dense/60/6/5")
        found = [
            await _crawl(site, site.url(), store)
            for store in (open_store(str(tmp_path / "crawl.db"), SystemClock()), MemoryStore(SystemClock()))
        ]
    assert found[0] == found[1]
    assert len(found[0]) > 20
