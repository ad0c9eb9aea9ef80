"""The calendar of the tests of `rest`, for who subscribes to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.api.conftest import fill
from tests.support.serving import ServiceHarness


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[ServiceHarness]:
    harness = ServiceHarness(tmp_path / "events.db")
    fill(harness)
    yield harness
    harness.close()
