"""One real crawl of each kind for all tests that only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs import audit_crawls


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of 240 invented pages, judged by the whole catalogue."""
    return audit_crawls.large(tmp_path_factory.mktemp("many") / "crawl.db", 240)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same while it runs: nothing was settled yet."""
    return audit_crawls.large(tmp_path_factory.mktemp("running") / "crawl.db", 120, settled=False)
