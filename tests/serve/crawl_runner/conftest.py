"""A site on loopback, and a service that may crawl it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.crawl_runner.runner import RunnerHarness
from tests.support.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def runner(tmp_path: Path, site: Site) -> Iterator[RunnerHarness]:
    runner = RunnerHarness(tmp_path, site)
    yield runner
    runner.close()


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[RunnerHarness]:
    """A service whose operator allows no private address: the default."""
    runner = RunnerHarness(tmp_path)
    yield runner
    runner.close()
