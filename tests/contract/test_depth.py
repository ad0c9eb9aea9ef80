"""Depth is the shortest path from a start, whatever came first; and the depth limit goes by it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import TOO_DEEP, Lease, PageStatus
from tests.contract.crawls import TTL, crawl, depths, done, lease, lease_one, rows, started, statuses, target, without_file

Graph = Mapping[str, frozenset[str]]
NODES = [f"n{number}" for number in range(9)]
graphs = st.dictionaries(st.sampled_from(NODES), st.frozensets(st.sampled_from(NODES), max_size=4), max_size=len(NODES))
redirect_maps = st.dictionaries(st.sampled_from(NODES[1:]), st.sampled_from(NODES), max_size=4)
backends = pytest.mark.parametrize("name", ["memory", "sqlite"])


def distances(graph: Graph, redirects: Mapping[str, str], max_depth: int | None) -> dict[str, int]:
    """Breadth first, a redirect being no step: what a crawl must find, and how far away."""
    found = {"n0": 0}
    work = deque(["n0"])
    while work:
        node = work.popleft()
        near = found[node]
        if max_depth is not None and near > max_depth:
            continue
        steps = [(redirects[node], near)] if node in redirects else [(other, near + 1) for other in graph.get(node, ())]
        for other, depth in steps:
            if depth < found.get(other, 99):
                found[other] = depth
                (work.appendleft if depth == near else work.append)(other)
    return found


@backends
@given(graph=graphs, redirects=redirect_maps, max_depth=st.sampled_from([None, 0, 1, 2, 3]), data=st.data())
def test_depth_is_the_shortest_path_whatever_the_order_of_answers(
    name: str, graph: Graph, redirects: dict[str, str], max_depth: int | None, data: st.DataObject
) -> None:
    async def run() -> None:
        store = without_file(name)
        await store.frontier.add([target("n0")], seed=True)
        await crawl(
            store,
            graph,
            redirects=redirects,
            max_depth=max_depth,
            choose=lambda held: data.draw(st.integers(0, len(held) - 1), label="finished next"),
        )
        expected = distances(graph, redirects, max_depth)
        assert await depths(store) == expected
        asked = {path for path, page in (await rows(store)).items() if page.status in ("completed", "error")}
        assert asked == {node for node, depth in expected.items() if max_depth is None or depth <= max_depth}
        await store.close()

    asyncio.run(run())


@backends
@given(graph=graphs, redirects=redirect_maps, data=st.data())
def test_parents_are_the_same_whatever_the_order_of_answers(
    name: str, graph: Graph, redirects: dict[str, str], data: st.DataObject
) -> None:
    async def parents(shuffled: bool) -> dict[str, str | None]:
        store = without_file(name)
        await store.frontier.add([target("n0")], seed=True)
        await crawl(
            store, graph, redirects=redirects, choose=lambda held: data.draw(st.integers(0, len(held) - 1)) if shuffled else 0
        )
        await store.graph.settle()
        found = {path: page.parent_url for path, page in (await rows(store)).items()}
        await store.graph.settle()
        assert {path: page.parent_url for path, page in (await rows(store)).items()} == found
        await store.close()
        return found

    found = asyncio.run(parents(shuffled=True))
    assert found == asyncio.run(parents(shuffled=False))
    for node in found:
        seen = [node]
        while (parent := found[seen[-1]]) is not None:
            seen.append(parent.rpartition("/")[2])
            assert len(seen) <= len(found), f"the parents of {node} run in a circle"
        assert seen[-1] == "n0"


async def test_what_lies_behind_a_page_comes_closer_with_it(store: CrawlStore) -> None:
    await store.frontier.add([target("start")], seed=True)
    graph = {"start": ["shortcut", "a"], "a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "shortcut": ["c"]}
    before: list[dict[str, int]] = []

    def shortcut_last(held: Sequence[Lease]) -> int:
        others = [place for place, got in enumerate(held) if not got.url.endswith("shortcut")]
        return others[0] if others else 0

    await crawl(store, graph, choose=shortcut_last, watch=before.append)
    assert before[-2] == {"start": 0, "shortcut": 1, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert before[-1] == {"start": 0, "shortcut": 1, "a": 1, "b": 2, "c": 2, "d": 3, "e": 4}


async def test_a_page_that_came_closer_while_it_was_leased_gives_its_links_the_true_depth(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("page")], seed=False, depth=7)
    await store.frontier.add([target("start")], seed=True)
    start, page = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(start, "page")], max_depth=None)
    await store.frontier.finish(worker, [done(page, "child")], max_depth=2)
    assert await depths(store) == {"start": 0, "page": 1, "child": 2}
    assert (await statuses(store))["child"] == "queued"


async def test_a_page_that_came_closer_while_it_was_leased_redirects_at_the_true_depth(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("page")], seed=False, depth=7)
    await store.frontier.add([target("start")], seed=True)
    start, page = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(start, "page")], max_depth=None)
    await store.frontier.finish(worker, [done(page, redirect="onward")], max_depth=1)
    assert (await depths(store))["onward"] == 1
    assert (await statuses(store))["onward"] == "queued"


async def test_what_a_page_led_to_comes_closer_with_it_even_if_both_are_written_at_once(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("page")], seed=False, depth=7)
    await store.frontier.add([target("start")], seed=True)
    start, page = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(page, "child"), done(start, "page")], max_depth=None)
    assert await depths(store) == {"start": 0, "page": 1, "child": 2}


async def test_the_target_of_a_redirect_comes_closer_with_the_page_that_redirects(store: CrawlStore) -> None:
    worker = await store.frontier.join(TTL)
    await store.frontier.add([target("page")], seed=False, depth=7)
    await store.frontier.add([target("start")], seed=True)
    start, page = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(page, redirect="onward")], max_depth=None)
    await store.frontier.finish(worker, [done(start, "page")], max_depth=None)
    assert await depths(store) == {"start": 0, "page": 1, "onward": 1}


async def test_pages_past_the_depth_limit_are_known_and_skipped(store: CrawlStore) -> None:
    await store.frontier.add([target("start")], seed=True)
    await crawl(store, {"start": ["a"], "a": ["b"], "b": ["c"]}, max_depth=1)
    assert await statuses(store) == {"start": "completed", "a": "completed", "b": "skipped"}
    assert (await rows(store))["b"].skip_reason == TOO_DEEP


async def test_a_page_skipped_as_too_deep_returns_when_a_shorter_path_appears(store: CrawlStore) -> None:
    worker = await started(store, "start")
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "a", "b")], max_depth=2)
    a, b = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(a, "aa")], max_depth=2)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "deep")], max_depth=2)
    assert (await statuses(store))["deep"] == "skipped"
    assert (await store.frontier.counts()).queued == 0
    await store.frontier.finish(worker, [done(b, "deep")], max_depth=2)
    got = await lease_one(store, worker)
    assert (got.url.rpartition("/")[2], got.depth) == ("deep", 2)
    assert (await rows(store))["deep"].skip_reason is None
    assert (await store.frontier.counts()).skipped == 0


async def test_a_page_skipped_for_another_reason_does_not_return(store: CrawlStore) -> None:
    worker = await started(store, "start")
    excluded = target("excluded", status=PageStatus.SKIPPED, reason="excluded")
    await store.frontier.add([excluded], seed=False, depth=5)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), excluded)], max_depth=None)
    found = (await rows(store))["excluded"]
    assert (found.status, found.depth, found.skip_reason) == ("skipped", 1, "excluded")


async def test_a_larger_depth_limit_queues_what_was_too_deep(store: CrawlStore) -> None:
    await store.frontier.add([target("start")], seed=True)
    graph = {"start": ["a"], "a": ["b"], "b": ["c"], "c": ["d"]}
    await crawl(store, graph, max_depth=1)
    assert await store.frontier.widen(1) == 0
    assert await store.frontier.widen(2) == 1
    assert await store.frontier.widen(2) == 0
    await crawl(store, graph, max_depth=2)
    assert await statuses(store) == {"start": "completed", "a": "completed", "b": "completed", "c": "skipped"}
    assert await store.frontier.widen(None) == 1
    await crawl(store, graph)
    assert (await store.frontier.counts()).completed == 5
