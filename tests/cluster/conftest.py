"""The cluster that a test works with, and a town of many hosts for it to crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru
from tests.cluster.harness import ClusterHarness, cluster_on
from tests.support.planted_server import ProxiedSite
from tests.support.postgres import server


@pytest.fixture
def tadoru(tmp_path: Path) -> Tadoru:
    return Tadoru(tmp_path)


@pytest.fixture
def town(tmp_path: Path) -> Iterator[ProxiedSite]:
    with ProxiedSite(tmp_path, "bakery.example") as serving:
        yield serving


@pytest.fixture
def harness(tadoru: Tadoru, town: ProxiedSite) -> Iterator[ClusterHarness]:
    with cluster_on(server(), tadoru, town.environment) as working:
        yield working
