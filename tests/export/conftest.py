"""The crawl that the exports are tested on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.export.crawls import audited


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    crawl = asyncio.run(audited(":memory:"))
    yield crawl
    asyncio.run(crawl.close())
