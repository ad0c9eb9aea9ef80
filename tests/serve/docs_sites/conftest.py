"""One shelf of documentation sites for a module of tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.docs_sites.shelf import Shelf, filled
from tests.support.serving import Desk


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    desk = Desk(tmp_path_factory.mktemp("shelf") / "tadoru.db")
    yield filled(desk)
    desk.close()
