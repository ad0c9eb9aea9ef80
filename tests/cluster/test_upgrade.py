"""An older and a newer worker side by side: whose tables they are, what each of them leaves alone, and when one has to wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from tadoru.cluster.queue import engine_schema, options_from_shared, prepare_schema, shared_options
from tadoru.config.options import AuditOptions
from tadoru.errors import NewerFormat, StoreError
from tadoru.store.cluster.registry import ClusterRegistry
from tadoru.store.cluster.schema import TaskEngineSchema
from tests.support.clusters import linked
from tests.support.postgres import server

TODAY = engine_schema()


@pytest.fixture
def database() -> Iterator[str]:
    address = server().new_database()
    yield address
    server().drop(address)


@pytest.fixture
def cluster(database: str) -> Iterator[ClusterRegistry]:
    found = ClusterRegistry(database)
    yield found
    found.close()


@pytest.fixture
def sql(database: str) -> Iterator[Connection[Any]]:
    """What only another version does, and what came of it."""
    with linked(database) as link:
        yield link


def tomorrow(*names: str) -> TaskEngineSchema:
    """The task engine of a later version, with these changes more; each makes a table of its name."""
    changes = tuple(f"99.00.00_{name}.sql" for name in names)
    return TODAY._replace(changes=(*TODAY.changes, *changes), read=lambda name: f"CREATE TABLE made_by_{name[9:-4]} ()")


def made(sql: Connection[Any]) -> set[str]:
    rows = sql.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'made_by_%'").fetchall()
    return {row[0].removeprefix("made_by_") for row in rows}


def test_preparing_again_changes_nothing(cluster: ClusterRegistry, sql: Connection[Any]) -> None:
    prepare_schema(cluster)
    before = sql.execute("SELECT * FROM cluster_format").fetchall()
    prepare_schema(cluster)
    assert sql.execute("SELECT * FROM cluster_format").fetchall() == before


def test_every_change_of_the_task_engine_leads_to_its_tables(
    cluster: ClusterRegistry, database: str, sql: Connection[Any]
) -> None:
    for change in TODAY.changes:
        sql.execute(TODAY.read(change)) if change > TODAY.changes[0] else _first(sql, change)
    text = """SELECT table_name, column_name, data_type FROM information_schema.columns
        WHERE table_schema = 'tadoru_cluster' AND table_name LIKE 'procrastinate%' ORDER BY 1, 2"""
    by_changes = sql.execute(text).fetchall()
    sql.execute("DROP SCHEMA tadoru_cluster CASCADE")
    prepare_schema(cluster)
    assert by_changes == sql.execute(text).fetchall()


def _first(sql: Connection[Any], change: str) -> None:
    sql.execute("CREATE SCHEMA tadoru_cluster")
    sql.execute(TODAY.read(change))


def test_a_newer_program_makes_the_changes_that_are_missing_in_order_and_once(
    cluster: ClusterRegistry, sql: Connection[Any]
) -> None:
    prepare_schema(cluster)
    for _ in range(2):
        cluster.prepare(tomorrow("01_pre_a", "50_post_b"))
    assert made(sql) == {"01_pre_a", "50_post_b"}


def test_a_change_that_older_programs_cannot_bear_waits_until_they_are_gone(
    cluster: ClusterRegistry, database: str, sql: Connection[Any]
) -> None:
    prepare_schema(cluster)
    old = cluster.register("old", "den", 1, "0.1.0")
    newer = ClusterRegistry(database)
    newer.prepare(tomorrow("01_pre_a", "50_post_b"))
    assert made(sql) == {"01_pre_a"}
    prepare_schema(cluster)  # The older worker finds its way back after a restart of the database.
    cluster.leave(old)
    newer.prepare(tomorrow("01_pre_a", "50_post_b"))
    newer.close()
    assert made(sql) == {"01_pre_a", "50_post_b"}
    with pytest.raises(NewerFormat, match=r"was set up by a newer Tadoru\. Upgrade Tadoru"):
        prepare_schema(cluster)


def test_two_versions_too_far_apart_are_not_mixed(cluster: ClusterRegistry, database: str, sql: Connection[Any]) -> None:
    prepare_schema(cluster)
    cluster.register("old", "den", 1, "0.1.0")
    newer = ClusterRegistry(database)
    with pytest.raises(StoreError, match="Stop them, then start this one"):
        newer.prepare(tomorrow("01_pre_a", "50_post_b", "51_pre_c"))
    newer.close()
    assert made(sql) == set(), "all or nothing"
    prepare_schema(cluster)


@pytest.mark.parametrize("readable_by, is_refused", [(1, False), (2, True)])
def test_tables_of_a_newer_format_are_used_as_far_as_they_say(
    readable_by: int, is_refused: bool, cluster: ClusterRegistry, sql: Connection[Any]
) -> None:
    prepare_schema(cluster)
    sql.execute("UPDATE cluster_format SET version = 2, readable_by = %s", [readable_by])
    if is_refused:
        with pytest.raises(NewerFormat):
            prepare_schema(cluster)
    else:
        prepare_schema(cluster)
    assert sql.execute("SELECT version FROM cluster_format").fetchall() == [(2,)]


def test_tables_without_a_format_are_taken_over(cluster: ClusterRegistry, sql: Connection[Any]) -> None:
    prepare_schema(cluster)
    cluster.put_crawl("site", "audit", {})
    sql.execute("DROP TABLE cluster_format")
    sql.execute("ALTER TABLE workers DROP COLUMN engine")
    prepare_schema(cluster)
    assert cluster.crawl("site").state == "open"
    assert cluster.register("new", "den", 1, "0.1.0")


def test_what_another_version_calls_otherwise_is_left_out_of_a_crawl() -> None:
    shared = shared_options(AuditOptions(delay=3.0, depth=4))
    assert options_from_shared({**shared, "shiny": True}, "postgresql://db/x") == options_from_shared(shared, "postgresql://db/x")
    del shared["depth"]
    found = options_from_shared(shared, "postgresql://db/x")
    assert (found.delay, found.depth) == (3.0, AuditOptions().depth)
