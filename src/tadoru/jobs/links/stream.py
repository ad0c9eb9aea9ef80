"""Streaming a stored crawl into a report that writes synchronously: a million URLs pass through, and none stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TypeVar

from tadoru.clock import SystemClock
from tadoru.jobs.links.collect import Odd, url_info
from tadoru.jobs.links.result import Edge, UrlInfo
from tadoru.store.base import CrawlStore
from tadoru.store.open import open_store

T = TypeVar("T")
CHUNK = 1000


def stored_edges(database: str) -> Iterator[Edge]:
    """The links of a stored crawl, one after the other."""
    for link in _streamed(database, lambda store: store.links()):
        yield Edge(link.source_url, link.target_url, link.text, link.rel)


def stored_urls(database: str, odd: Odd) -> tuple[Collection[UrlInfo], Collection[UrlInfo]]:
    """The internal and the external URLs of a stored crawl that has been surveyed."""
    return StoredUrls(database, odd, True, odd.internal), StoredUrls(database, odd, False, odd.external)


@dataclass(frozen=True)
class StoredUrls(Collection[UrlInfo]):
    """The URLs of one kind, read anew each time they are gone through. Not for use inside an event loop."""

    database: str
    odd: Odd
    internal: bool
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[UrlInfo]:
        if self.count:
            for row in _streamed(self.database, lambda store: store.pages()):
                if row.internal is self.internal:
                    yield url_info(row, self.odd)

    def __contains__(self, info: object) -> bool:
        return any(info == other for other in self)


def _streamed(database: str, rows: Callable[[CrawlStore], AsyncIterator[T]]) -> Iterator[T]:
    with asyncio.Runner() as runner:
        store = runner.run(_opened(database))
        try:
            source = rows(store)
            while chunk := runner.run(_some(source)):
                yield from chunk
        finally:
            runner.run(store.close())


async def _opened(database: str) -> CrawlStore:
    return open_store(database, SystemClock())


async def _some(rows: AsyncIterator[T]) -> list[T]:
    chunk: list[T] = []
    async for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            break
    return chunk
