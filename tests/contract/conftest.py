"""The backends that keep the contract. A new one is added here, and every test of this folder then runs on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tadoru.store.calendar.store import open_calendar
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tests.support.clock import FakeClock
from tests.support.memory_store.store import MemoryStore
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import PostgresServer, server

Open = Callable[[], CrawlStore]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def handles(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Open]:
    """Opens one more handle on one and the same crawl: what a second process would have."""
    opened: list[CrawlStore] = []
    name = str(tmp_path / "crawl.db")
    if request.param == "postgresql":
        name = request.getfixturevalue("pg_crawl")

    def handle() -> CrawlStore:
        if request.param == "memory" and opened:
            return opened[0]
        opened.append(MemoryStore(clock) if request.param == "memory" else open_store(name, clock))
        return opened[-1]

    yield handle
    for store in opened:
        await store.close()


@pytest.fixture
def pg_crawl(postgres: PostgresServer, clock: FakeClock) -> Iterator[str]:
    """The address of a new crawl on a PostgreSQL whose clock is the test's."""
    with crawl_on(postgres, clock) as address:
        yield address


@pytest.fixture
def store(handles: Open) -> CrawlStore:
    return handles()


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    return server()


@pytest.fixture(scope="session")
def ready_made(postgres: PostgresServer) -> str:
    """A database with its tables, to copy: migrating each time would cost more than the tests."""
    address = postgres.new_database()
    open_calendar(address, FakeClock()).close()
    return address.partition("@/")[2].partition("?")[0]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new database."""
    if request.param == "sqlite":
        yield str(tmp_path / "events.db")
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    address = postgres.new_database(request.getfixturevalue("ready_made"))
    yield address
    postgres.drop(address)
