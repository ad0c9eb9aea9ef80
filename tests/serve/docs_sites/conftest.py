"""One shelf of documentation sites for a module of tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.docs_sites.docs_harness import DocsHarness, filled
from tests.support.serving import ServiceHarness


@pytest.fixture(scope="module")
def docs_harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocsHarness]:
    harness = ServiceHarness(tmp_path_factory.mktemp("shelf") / "tadoru.db")
    yield filled(harness)
    harness.close()
