"""Statements that run all the time find their rows by an index, also in tables that the planner knows nothing of yet."""

from __future__ import annotations

import pytest

from tadoru.clock import SystemClock
from tadoru.store.crawl.postgres.database import FIND_TEXTS, FIND_URLS
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import LinkTarget, PageStatus


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
