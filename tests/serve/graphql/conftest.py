"""The calendar of the REST tests, asked with GraphQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.serve.api.conftest import fill
from tests.serve.api.crawled import crawl_a_site
from tests.serve.api.test_reviews import asked
from tests.support.serving import ServiceHarness

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    """A filled calendar; GraphQL changes nothing of it."""
    made = ServiceHarness(tmp_path_factory.mktemp("graphql") / "events.db")
    fill(made)
    asked(made, 4, 5)
    crawl_a_site(made)
    yield made
    made.close()


def ask(client: TestClient, query: str, status: int = 200, **variables: Any) -> dict[str, Any]:
    """What a query is answered."""
    told = client.post("/graphql", json={"query": query, "variables": variables})
    assert told.status_code == status, told.text
    body: dict[str, Any] = told.json()
    return body
