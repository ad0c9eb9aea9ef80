"""One real crawl of each kind for all tests that only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs import audit_crawls
from tests.support.crawled import crawl_links, crawl_twice


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was audited twice."""
    return crawl_twice(tmp_path_factory.mktemp("audited"))


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same site as `tadoru links` sees it."""
    return crawl_links(tmp_path_factory.mktemp("linked"))


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of 240 invented pages, judged by the whole catalogue."""
    return audit_crawls.large(tmp_path_factory.mktemp("many") / "crawl.db", 240)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same while it runs: nothing was settled yet."""
    return audit_crawls.large(tmp_path_factory.mktemp("running") / "crawl.db", 120, settled=False)
