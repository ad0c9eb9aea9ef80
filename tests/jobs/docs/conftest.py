"""The site and the folder that the tests of the docs job read it into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.handbook import Handbook
from tests.support.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on loopback."""
    with Site() as serving:
        yield serving


@pytest.fixture
def book(site: Site) -> Handbook:
    """Its pages, still to be written."""
    return Handbook(site)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where they are read into."""
    return tmp_path / "out"
