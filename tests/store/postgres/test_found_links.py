"""The links that lead to a page, and the graph: reports and exports read them of a crawl on PostgreSQL as of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import CompletedOutcome, PageFacts
from tests.contract.crawls import crawl, decided, lease_one, rows, started, target, to, url
from tests.support.clock import FakeClock
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import server


@pytest.fixture(params=["sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CrawlDatabase]:
    clock = FakeClock()
    with ExitStack() as stack:
        is_file = request.param == "sqlite"
        opened = open_store(str(tmp_path / "crawl.db") if is_file else stack.enter_context(crawl_on(server(), clock)), clock)
        yield opened
        await opened.close()


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "killed"])
async def test_the_links_to_a_page_are_found_also_when_nobody_has_made_an_index(store: CrawlDatabase, settled: bool) -> None:
    await store.frontier.add([target("s")], seed=True)
    await crawl(store, {"s": ["a", "b"], "a": ["b"]})
    if settled:
        await store.graph.settle()
    page = (await rows(store))["b"].page_id
    assert [(link.source_url, link.text) for link in store.findings.inlinks(page, 9)] == [
        (url("s"), f"to {url('b')}"),
        (url("a"), f"to {url('b')}"),
    ]


async def test_the_graph_has_each_target_once_and_says_which_is_nofollow(store: CrawlDatabase) -> None:
    worker = await started(store, "s")
    lease = await lease_one(store, worker)
    a, b, a_again, b_again = to("a", "b", "a", "b")
    links = [
        a._replace(rel="nofollow", position=0), b._replace(rel="external NoFollow", position=1), a_again._replace(position=2),
        b_again._replace(rel="nofollow", position=3),
    ]  # fmt: skip
    await store.frontier.finish(
        worker,
        [CompletedOutcome(lease=lease, facts=PageFacts(status_code=200), links=links, targets=decided("a", "b"))],
        max_depth=None,
    )
    found = {name: row.page_id for name, row in (await rows(store)).items()}
    edges = {target_id: bool(nofollow) for target_id, nofollow in store.export.graph_edges(found["s"])}
    assert edges == {found["a"]: False, found["b"]: True}
