"""The cluster over REST, on a real PostgreSQL that holds the calendar and the cluster, and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tadoru.serve.api.cluster import ClusterOut
from tadoru.serve.roles import Role
from tadoru.serve.service import CACHE_SECONDS, ClusterWatch
from tests.support.clock import FakeClock
from tests.support.clusters import SampleCluster, cluster_on, fill
from tests.support.postgres import server
from tests.support.serving import ServiceHarness

CLUSTER = "/api/v1/cluster"


@pytest.fixture(scope="module")
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        fill(made)
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def harness(seen: SampleCluster, clock: FakeClock) -> Iterator[ServiceHarness]:
    made = ServiceHarness(seen.database, clock=clock)
    yield made
    made.close()


def test_the_cluster_is_told_as_it_is_described(harness: ServiceHarness) -> None:
    told = harness.viewer.get(CLUSTER)
    assert told.status_code == 200
    found = ClusterOut.model_validate(told.json(), strict=False)
    assert (found.is_there, found.alive, found.queue.stalled) == (True, 2, 1)
    assert [one.name for one in found.workers] == ["attic-1", "den-1", "den-2"]
    assert [(one.name, one.state, one.done) for one in found.crawls] == [("shops", "open", 10), ("docs", "done", 2)]
    assert [one.trouble for one in found.hosts] == ["failed", "robots", "slowed"]
    assert told.json()["at"].endswith("Z")


def test_only_a_key_that_reads_crawls_sees_the_cluster(harness: ServiceHarness) -> None:
    assert harness.anybody.get(CLUSTER).status_code == 401
    assert harness.client(Role.PUBLIC, "events:read").get(CLUSTER).status_code == 403
    assert harness.client(Role.PUBLIC, "crawls:read").get(CLUSTER).status_code == 200


def test_many_who_ask_cost_the_database_one_look(harness: ServiceHarness, seen: SampleCluster, clock: FakeClock) -> None:
    before = harness.viewer.get(CLUSTER)
    number = seen.worker("late", "den")
    try:
        again = harness.viewer.get(CLUSTER, headers={"if-none-match": before.headers["etag"]})
        assert again.status_code == 304
        clock.advance(CACHE_SECONDS)
        assert [one["name"] for one in harness.viewer.get(CLUSTER).json()["workers"]] == ["attic-1", "den-1", "den-2", "late"]
    finally:
        seen.cluster.leave(number)


def test_the_longer_a_look_takes_the_longer_it_is_kept(seen: SampleCluster) -> None:
    class Slow(FakeClock):
        """A second passes whenever somebody asks for the time."""

        def monotonic(self) -> float:
            self.advance(1)
            return super().monotonic()

    clock = Slow()
    watch = ClusterWatch(seen.database, clock)
    first = watch.look()
    clock.advance(15)
    assert watch.look() is first
    clock.advance(5)
    assert watch.look() is not first


def test_a_database_without_a_cluster_has_none(harness: ServiceHarness, seen: SampleCluster) -> None:
    seen.sql("ALTER SCHEMA tadoru_cluster RENAME TO elsewhere")
    try:
        told = harness.viewer.get(CLUSTER)
        assert told.status_code == 200
        assert ClusterOut.model_validate(told.json(), strict=False).is_there is False
    finally:
        seen.sql("ALTER SCHEMA elsewhere RENAME TO tadoru_cluster")


def test_on_sqlite_there_is_none(shown: ServiceHarness) -> None:
    told = shown.viewer.get(CLUSTER)
    assert told.status_code == 200
    found = ClusterOut.model_validate(told.json(), strict=False)
    assert (found.is_there, found.at, found.workers) == (False, None, [])


def test_a_cluster_that_can_not_be_read_is_told_without_the_database_address(
    harness: ServiceHarness, seen: SampleCluster
) -> None:
    seen.sql("ALTER TABLE tadoru_cluster.workers RENAME TO hands")
    try:
        told = harness.viewer.get(CLUSTER)
        assert (told.status_code, told.json()["detail"]) == (503, "The database is unavailable. Try again later.")
    finally:
        seen.sql("ALTER TABLE tadoru_cluster.hands RENAME TO workers")
