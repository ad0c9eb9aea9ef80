"""A site on loopback, and a service that may crawl it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.crawl_runner.house import House
from tests.support.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def house(tmp_path: Path, site: Site) -> Iterator[House]:
    house = House(tmp_path, site)
    yield house
    house.close()


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[House]:
    """A service whose operator allows no private address: the default."""
    house = House(tmp_path)
    yield house
    house.close()
