"""Reading a crawl: what reports are made of, in an order that does not depend on timing."""

from __future__ import annotations

from tadoru.model.web import Link
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import CompletedOutcome, PageFacts
from tests.contract.crawls import crawl, decided, done, external, lease, lease_one, rows, started, target, to, url


async def test_pages_come_by_depth_then_url(store: CrawlStore) -> None:
    await store.frontier.add([target("z")], seed=True)
    await crawl(store, {"z": ["c", "b"], "c": ["a"]})
    assert [page.url async for page in store.graph.pages()] == [url("z"), url("b"), url("c"), url("a")]


async def test_an_empty_crawl_reads_as_nothing(store: CrawlStore) -> None:
    assert [page async for page in store.graph.pages()] == []
    assert [link async for link in store.graph.links()] == []
    assert [link async for link in store.graph.fragment_links()] == []
    assert await store.graph.traps() == []
    await store.graph.settle()


async def test_links_come_by_source_and_position(store: CrawlStore) -> None:
    await store.frontier.add([target("s")], seed=True)
    await crawl(store, {"s": ["z", "a"], "a": ["z", "s"], "z": ["s"]}, choose=lambda held: len(held) - 1)
    found = [(link.source_url, link.target_url, link.position) async for link in store.graph.links()]
    assert found == [
        (url("a"), url("z"), 0),
        (url("a"), url("s"), 1),
        (url("s"), url("z"), 0),
        (url("s"), url("a"), 1),
        (url("z"), url("s"), 0),
    ]


async def test_links_to_given_pages_are_found(store: CrawlStore) -> None:
    await store.frontier.add([target("s")], seed=True)
    await crawl(store, {"s": ["a", "b", "a"], "a": ["b"]})
    await store.graph.settle()
    found = await rows(store)
    wanted = [found["b"].page_id, found["a"].page_id]
    assert [(link.source_url, link.target_url, link.text) async for link in store.graph.links_to(wanted)] == [
        (url("a"), url("b"), f"to {url('b')}"),
        (url("s"), url("b"), f"to {url('b')}"),
        (url("s"), url("a"), f"to {url('a')}"),
        (url("s"), url("a"), f"to {url('a')}"),
    ]
    assert [link async for link in store.graph.links_to([found["s"].page_id])] == []


async def test_several_links_to_one_target_are_kept_each(store: CrawlStore) -> None:
    worker = await started(store, "s")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a", "a", "s")], max_depth=None)
    assert [(link.target_url, link.position) async for link in store.graph.links()] == [
        (url("a"), 0),
        (url("a"), 1),
        (url("s"), 2),
    ]
    assert (await store.frontier.counts()).known == 2


def jump(path: str, fragment: str, position: int) -> Link:
    return to(path)[0]._replace(fragment=fragment, position=position)


async def test_fragments_are_looked_up_among_the_anchors_of_their_page(store: CrawlStore) -> None:
    worker = await started(store, "s")
    facts = PageFacts(status_code=200)
    links = [
        jump("b", "gone", 0),
        jump("a", "here", 1),
        jump("a", "gone", 2),
        jump("a", "", 3),
        jump("unread", "x", 4),
        jump("s", "top", 5),
    ]
    got = await lease_one(store, worker)
    await store.frontier.finish(
        worker,
        [CompletedOutcome(lease=got, facts=facts, links=links, targets=decided(*links), anchors=["top", "end"])],
        max_depth=None,
    )
    a_and_b = {got.url: got for got in await lease(store, worker, 9)}
    await store.frontier.finish(
        worker,
        [
            CompletedOutcome(lease=a_and_b[url("b")], facts=facts, anchors=[]),
            CompletedOutcome(
                lease=a_and_b[url("a")],
                facts=facts,
                links=[jump("b", "gone", 0)],
                targets=decided("b"),
                anchors=["here", "there"],
            ),
        ],
        max_depth=None,
    )
    await store.graph.settle()
    assert [(link.source_url, link.target_url, link.fragment, there) async for link, there in store.graph.fragment_links()] == [
        (url("s"), url("a"), "here", True),
        (url("s"), url("a"), "gone", False),
        (url("a"), url("b"), "gone", False),
        (url("s"), url("b"), "gone", False),
        (url("s"), url("s"), "top", True),
    ]


async def test_the_parent_is_the_first_by_name_on_a_shortest_path(store: CrawlStore) -> None:
    worker = await started(store, "start")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "b", "a")], max_depth=None)
    b, a = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(b, "page")], max_depth=None)
    await store.frontier.finish(worker, [done(a, "page", "start")], max_depth=None)
    await store.graph.settle()
    found = await rows(store)
    assert found["page"].parent_url == url("a")
    assert found["start"].parent_url is None


async def test_a_link_is_a_better_parent_than_a_redirect(store: CrawlStore) -> None:
    worker = await started(store, "start")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "old", "new")], max_depth=None)
    old, _ = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(old, redirect="new")], max_depth=None)
    await store.graph.settle()
    assert (await rows(store))["new"].parent_url == url("start")


async def test_of_two_redirects_the_first_by_name_is_the_parent(store: CrawlStore) -> None:
    worker = await started(store, "start")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "b", "a")], max_depth=None)
    b, a = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(b, redirect="page"), done(a, redirect="page")], max_depth=None)
    await store.graph.settle()
    assert (await rows(store))["page"].parent_url == url("a")


async def test_external_pages_are_marked(store: CrawlStore) -> None:
    worker = await started(store, "s")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), external("e"), "i")], max_depth=None)
    found = await rows(store)
    assert (found["https://b.example/e"].internal, found["https://b.example/e"].status) == (False, "discovered")
    assert found["i"].internal


async def test_a_crawl_can_be_read_while_it_is_written(store: CrawlStore) -> None:
    worker = await started(store, *(f"s{n}" for n in range(5)))
    seen = []
    async for page in store.graph.pages():
        seen.append(page.url)
        await store.frontier.finish(worker, [done(await lease_one(store, worker), f"of-{len(seen)}")], max_depth=None)
        if len(seen) == 5:
            break
    assert seen == [url(f"s{n}") for n in range(5)]
    assert (await store.frontier.counts()).completed == 5
