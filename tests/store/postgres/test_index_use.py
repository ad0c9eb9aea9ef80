"""Statements that run all the time find their rows by an index, also in tables that the planner knows nothing of yet."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tadoru.clock import SystemClock
from tadoru.model.web import Link, LinkKind
from tadoru.store.crawl.postgres.database import FIND_TEXTS, FIND_URLS
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import CompletedOutcome, LinkTarget, PageFacts, PageStatus


@pytest.mark.parametrize("statement", [FIND_URLS, FIND_TEXTS])
async def test_known_urls_and_texts_are_found_by_their_index(crawl: str, statement: str) -> None:
    store = PostgresStore(crawl, SystemClock())
    try:
        targets = [LinkTarget(f"https://a.example/{n}", "a.example", PageStatus.QUEUED) for n in range(2_000)]
        await store.frontier.add(targets, seed=False)
        plan = await store.db.pool.run((f"EXPLAIN {statement}", ['["https://a.example/1"]']))
    finally:
        await store.close()
    assert "Seq Scan" not in "\n".join(line for (line,) in plan)


async def test_parents_are_found_by_the_index_of_links_in_a_crawl_without_statistics(crawl: str) -> None:
    # All links of 1,500 pages for each of 1,500 others take half a minute, by the index it is well below a second.
    store = PostgresStore(f"{crawl}&options=-c%20statement_timeout%3D15s", SystemClock())
    targets = [LinkTarget(f"https://a.example/{n}", "a.example", PageStatus.QUEUED) for n in range(3_001)]

    async def crawl_all(links: Sequence[LinkTarget], each: int) -> None:
        leased = await store.frontier.lease(worker, {"a.example": 3_000}, new_hosts=0, per_host=0, limit=0)
        outcomes = [
            CompletedOutcome(
                lease=lease,
                facts=PageFacts(status_code=200),
                links=[Link(links[(at + n) % len(links)].url, LinkKind.A, "", "", n, "") for n in range(each)],
                targets={one.url: one for one in (links[(at + n) % len(links)] for n in range(each))},
            )
            for at, lease in enumerate(leased.leases)
        ]
        for at in range(0, len(outcomes), 100):
            await store.frontier.finish(worker, outcomes[at : at + 100], max_depth=None)

    try:
        await store.frontier.add(targets[:1], seed=True)
        worker = await store.frontier.join(600.0)
        await crawl_all(targets[1:1_501], each=1_500)
        await crawl_all(targets[1_501:], each=30)
        await store.graph.settle()
        assert len([page async for page in store.graph.pages() if page.parent_url is not None]) == 3_000
    finally:
        await store.close()
