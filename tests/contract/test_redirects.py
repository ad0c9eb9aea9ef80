"""Redirects that never arrive end in an error with a name."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.interface import CrawlStore
from tests.contract.crawls import crawl, done, lease, lease_one, row, rows, started, statuses, target, url


@pytest.mark.parametrize("length", [1, 2, 3, 10, 60])
async def test_a_redirect_loop_ends_in_an_error(store: CrawlStore, length: int) -> None:
    await store.frontier.add([target("0")], seed=True)
    await crawl(store, {}, redirects={str(n): str((n + 1) % length) for n in range(length)})
    found = await rows(store)
    assert [page.status for page in found.values()].count("error") == 1
    last = found[str(length - 1)]
    assert (last.status, last.error_type) == ("error", "redirect_loop")
    assert last.error_message == f"The redirects from {url(str(length - 1))} lead back to it."
    counts = await store.frontier.counts()
    assert (counts.error, counts.counted, counts.redirects, counts.queued, counts.processing) == (1, 1, length - 1, 0, 0)


@pytest.mark.parametrize("length", [1, 2, 5])
async def test_redirects_that_lead_into_a_loop_are_ordinary(store: CrawlStore, length: int) -> None:
    redirects = {str(n): str((n + 1) % length) for n in range(length)}
    await store.frontier.add([target("0"), target("outside")], seed=True)
    await crawl(store, {}, redirects=redirects | {"outside": "0"})
    assert (await row(store, "outside")).status == "completed"
    assert list((await statuses(store)).values()).count("error") == 1


async def test_a_page_that_is_linked_and_redirected_to_is_asked_once(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, y = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, "page"), done(y, redirect="page")], max_depth=None)
    got = await lease_one(store, worker)
    assert (got.url, got.depth) == (url("page"), 0)
    assert await lease(store, worker) == []


async def test_a_typed_start_stays_one_when_another_redirects_to_it(store: CrawlStore) -> None:
    worker = await started(store, "x", "y")
    x, _ = await lease(store, worker, 2)
    await store.frontier.finish(worker, [done(x, redirect="y")], max_depth=None)
    await store.graph.settle()
    found = await row(store, "y")
    assert (found.parent_url, found.status) == (None, "processing")
