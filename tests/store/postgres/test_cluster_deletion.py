"""Deleting a crawl of a cluster: all of it, only it, and only when nobody works on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.store.cluster.status import ClusterStatusReader
from tadoru.store.crawl.postgres.store import PostgresStore
from tests.support.clusters import SampleCluster, cluster_on, ran
from tests.support.postgres import server


@pytest.fixture
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        made.crawl("shops", "a.example")
        made.crawl("docs", "b.example")
        made.put_slices("shops", "a.example")
        made.put_slices("docs", "b.example")
        yield made


@pytest.fixture
def view(seen: SampleCluster) -> Iterator[ClusterStatusReader]:
    with closing(ClusterStatusReader(seen.database)) as opened:
        yield opened


def left(seen: SampleCluster) -> tuple[list[str], list[str], list[str]]:
    """The crawls in the list, the schemas, and the crawls of queued tasks."""
    with psycopg.connect(seen.database, autocommit=True) as sql:
        schemas = sql.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'crawl\\_%' ORDER BY 1").fetchall()
        tasks = sql.execute("SELECT DISTINCT args ->> 'crawl' FROM tadoru_cluster.procrastinate_jobs ORDER BY 1").fetchall()
    return sorted(one.name for one in seen.cluster.crawls()), [row[0] for row in schemas], [row[0] for row in tasks]


BOTH = (["docs", "shops"], ["crawl_docs", "crawl_shops"], ["docs", "shops"])
ONLY_DOCS = (["docs"], ["crawl_docs"], ["docs"])


@pytest.mark.parametrize("state", ["done", "failed", "stopped"])
def test_a_crawl_that_ended_is_deleted_with_everything_and_the_others_stay(
    state: str, seen: SampleCluster, view: ClusterStatusReader
) -> None:
    seen.cluster.end_crawl("shops", state)
    view.check_deletion("shops")
    assert left(seen) == BOTH
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_an_open_crawl_is_not_deleted(seen: SampleCluster, view: ClusterStatusReader) -> None:
    for refused in (view.check_deletion, view.delete):
        with pytest.raises(UsageError, match="is open"):
            refused("shops")
    view.stop("shops")
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_a_crawl_whose_tables_are_gone_is_deleted_though_it_is_open(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.sql("DROP SCHEMA crawl_shops CASCADE")
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_a_crawl_of_which_a_table_is_gone_is_deleted_and_keeps_nobody_from_the_status(
    seen: SampleCluster, view: ClusterStatusReader
) -> None:
    seen.sql("DROP TABLE crawl_shops.hosts CASCADE")
    assert {one.name: one.has_data for one in view.look().crawls} == {"shops": False, "docs": True}
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_a_crawl_that_was_forgotten_is_deleted(seen: SampleCluster, view: ClusterStatusReader) -> None:
    view.stop("shops")
    view.forget("shops")
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_a_crawl_that_workers_have_is_not_deleted_until_they_are_gone(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.begin_slice("a.example")
    seen.cluster.end_crawl("shops", "stopped")
    with pytest.raises(UsageError, match="Workers still process crawl shops"):
        view.delete("shops")
    assert left(seen) == BOTH
    seen.sql("UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '1 hour'")
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


def test_a_crawl_that_another_command_works_on_is_not_deleted(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.cluster.end_crawl("shops", "stopped")

    async def work() -> None:
        store = PostgresStore(seen.address("shops"), SystemClock())
        worker = await store.frontier.join(3600.0)
        with pytest.raises(UsageError, match="Workers still process crawl shops"):
            view.delete("shops")
        await store.frontier.leave(worker)
        await store.close()

    ran(work())
    view.delete("shops")
    assert left(seen) == ONLY_DOCS


@pytest.mark.parametrize("name", ["none", "shops" + "x" * 80, 'shops" CASCADE; --'])
def test_a_crawl_that_is_not_there_is_not_found(name: str, seen: SampleCluster, view: ClusterStatusReader) -> None:
    with pytest.raises(UsageError, match="not found in the cluster"):
        view.delete(name)
    assert left(seen) == BOTH


def test_a_schema_of_something_else_is_not_deleted(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.sql("CREATE SCHEMA crawl_mine; CREATE TABLE crawl_mine.counters(name text)")
    with pytest.raises(UsageError, match="not found in the cluster"):
        view.delete("mine")
    assert "crawl_mine" in left(seen)[1]
