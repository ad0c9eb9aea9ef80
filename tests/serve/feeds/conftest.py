"""The calendar of the tests of `rest`, for who subscribes to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.api.conftest import fill
from tests.support.serving import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "events.db")
    fill(desk)
    yield desk
    desk.close()
