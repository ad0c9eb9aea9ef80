"""The backends that keep the contract. A new one is added here, and every test of this folder then runs on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tadoru.store.base import CrawlStore
from tadoru.store.open import open_store
from tests.support.clock import FakeClock

Open = Callable[[], CrawlStore]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def handles(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Open]:
    """Opens one more handle on one and the same crawl: what a second process would have."""
    opened: list[CrawlStore] = []

    def handle() -> CrawlStore:
        if request.param == "memory" and opened:
            return opened[0]
        opened.append(open_store("memory:" if request.param == "memory" else str(tmp_path / "crawl.db"), clock))
        return opened[-1]

    yield handle
    for store in opened:
        await store.close()


@pytest.fixture
def store(handles: Open) -> CrawlStore:
    return handles()
