"""Pages that a sitemap names: known, asked for after all that links lead to, and closer as soon as a link does."""

from __future__ import annotations

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import UNLINKED, CrawlCounts, NamedPage, PageStatus, SitemapRecord
from tests.contract.crawls import depths, done, external, lease, lease_one, row, started, statuses, target, url

SITEMAP = SitemapRecord(url("sitemap.xml"), 0, "robots.txt", "read", "urlset", 200, 500, 3, ())


def named(*paths: str) -> list[NamedPage]:
    return [NamedPage(target(path), None) for path in paths]


async def test_a_sitemap_keeps_its_number(store: CrawlStore) -> None:
    number = await store.sitemaps.put(SITEMAP)
    other = await store.sitemaps.put(SITEMAP._replace(url=url("other.xml")))
    assert other != number
    assert await store.sitemaps.put(SITEMAP._replace(urls=9)) == number


async def test_pages_that_only_a_sitemap_names_come_after_all_others(store: CrawlStore) -> None:
    worker = await started(store, "x")
    number = await store.sitemaps.put(SITEMAP)
    assert await store.frontier.add_named(number, named("lonely", "x")) == 1
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=None)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "b")], max_depth=None)
    assert [each.url for each in await lease(store, worker, 9)] == [url("b"), url("lonely")]
    assert await depths(store) == {"x": 0, "a": 1, "b": 2, "lonely": UNLINKED}


async def test_a_page_that_is_named_stays_as_near_as_it_is(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=None)
    assert await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("a", "x")) == 0
    assert await depths(store) == {"x": 0, "a": 1}


async def test_a_link_to_a_page_that_a_sitemap_named_brings_it_close(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("a"))
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=None)
    assert await depths(store) == {"x": 0, "a": 1}
    assert (await lease_one(store, worker)).depth == 1


async def test_a_page_that_brings_others_close_keeps_all_its_links(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("a", "b"))
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(y, "p", "q"), done(x, "p", "a", "b", "q")], max_depth=None)
    assert [(link.source_url, link.target_url) async for link in store.graph.links()] == [
        *((url("x"), url(path)) for path in ("p", "a", "b", "q")),
        *((url("y"), url(path)) for path in ("p", "q")),
    ]


async def test_what_lies_behind_an_unlinked_page_comes_close_with_it(store: CrawlStore) -> None:
    worker = await started(store, "x")
    [start] = await lease(store, worker)
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("a"))
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "behind")], max_depth=None)
    assert (await depths(store))["behind"] == UNLINKED + 1
    await store.frontier.finish(worker, [done(start, "a")], max_depth=None)
    assert await depths(store) == {"x": 0, "a": 1, "behind": 2}


async def test_a_depth_limit_does_not_keep_out_what_a_sitemap_names(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("lonely"))
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=0)
    assert await statuses(store) == {"x": "completed", "a": "skipped", "lonely": "queued"}
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "behind")], max_depth=0)
    assert (await statuses(store))["behind"] == "skipped"


async def test_pages_that_were_named_keep_what_the_rules_decided(store: CrawlStore) -> None:
    refused = NamedPage(target("private", status=PageStatus.SKIPPED, reason="excluded by pattern private"), None)
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), [refused, NamedPage(external("e"), "2024-02-03")])
    found = await row(store, "private")
    assert (found.status, found.skip_reason) == ("skipped", "excluded by pattern private")
    assert (await row(store, "https://b.example/e")).status == "discovered"
    assert (await store.frontier.counts()).queued == 0


async def test_a_page_that_was_only_discovered_is_queued_when_a_sitemap_names_it(store: CrawlStore) -> None:
    worker = await started(store, "x")
    unfollowed = target("a", status=PageStatus.DISCOVERED, reason="list mode")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), unfollowed, external("e"))], max_depth=None)
    pages = [*named("a"), NamedPage(external("e"), None)]
    assert await store.frontier.add_named(await store.sitemaps.put(SITEMAP), pages) == 0
    found = await row(store, "a")
    assert (found.status, found.skip_reason, found.depth) == ("queued", None, 1)
    assert (await row(store, "https://b.example/e")).status == "discovered"
    assert await store.frontier.counts() == CrawlCounts(completed=1, counted=1, queued=1, discovered=1)
    assert (await lease_one(store, worker)).url == url("a")


async def test_a_page_that_was_too_deep_is_queued_when_a_sitemap_names_it(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a")], max_depth=0)
    assert await lease(store, worker) == []
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("a"))
    assert [(each.url, each.depth) for each in await lease(store, worker)] == [(url("a"), 1)]
    assert await store.frontier.counts() == CrawlCounts(completed=1, counted=1, processing=1)


async def test_parents_of_unlinked_pages_are_none(store: CrawlStore) -> None:
    worker = await started(store, "x")
    await store.frontier.add_named(await store.sitemaps.put(SITEMAP), named("lonely"))
    x, lonely = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x), done(lonely, "behind")], max_depth=None)
    await store.frontier.finish(worker, [done(await lease_one(store, worker))], max_depth=None)
    await store.graph.settle()
    assert (await row(store, "lonely")).parent_url is None
    assert (await row(store, "behind")).parent_url == url("lonely")
