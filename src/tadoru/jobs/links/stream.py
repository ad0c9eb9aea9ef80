"""Streaming a stored crawl into a report that writes synchronously."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from tadoru.clock import SystemClock
from tadoru.jobs.links.result import Edge
from tadoru.store.base import CrawlStore, LinkRow
from tadoru.store.open import open_store

T = TypeVar("T")
CHUNK = 1000


def stored_edges(database: str) -> Iterator[Edge]:
    """The links of a stored crawl, one after the other."""
    with asyncio.Runner() as runner:
        store = runner.run(_opened(database))
        try:
            links = store.links()
            while chunk := runner.run(_some(links)):
                yield from (Edge(link.source_url, link.target_url, link.text, link.rel) for link in chunk)
        finally:
            runner.run(store.close())


async def _opened(database: str) -> CrawlStore:
    return open_store(database, SystemClock())


async def _some(rows: AsyncIterator[LinkRow]) -> list[LinkRow]:
    chunk: list[LinkRow] = []
    async for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            break
    return chunk
