"""The command and the sites that the acceptance tests set it on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.calendar import Calendar
from tests.acceptance.command import Tadoru
from tests.support.postgres import server
from tests.support.site import Site


@pytest.fixture
def tadoru(tmp_path: Path) -> Tadoru:
    """The command, in a folder of its own."""
    return Tadoru(tmp_path)


@pytest.fixture
def site() -> Iterator[Site]:
    """The site a person crawls."""
    with Site() as serving:
        yield serving


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    """Another site: its port makes it one."""
    with Site() as serving:
        yield serving


@pytest.fixture
def calendar(tadoru: Tadoru) -> Calendar:
    """The events commands on a database of their own."""
    return Calendar(tadoru)


@pytest.fixture
def address() -> Iterator[str]:
    """A new database of PostgreSQL."""
    made = server().new_database()
    yield made
    server().drop(made)
