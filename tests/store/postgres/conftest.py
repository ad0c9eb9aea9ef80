"""A server and a crawl of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.pg_crawls import crawl_on
from tests.support.postgres import PostgresServer, server


@pytest.fixture
def postgres() -> PostgresServer:
    return server()


@pytest.fixture
def crawl(postgres: PostgresServer) -> Iterator[str]:
    """The address of a new crawl."""
    with crawl_on(postgres) as address:
        yield address
