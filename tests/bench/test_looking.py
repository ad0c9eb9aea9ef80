"""Looking for hosts that want a slice costs the same however many wait: it goes along an index."""

from __future__ import annotations

from tadoru.clock import SystemClock
from tadoru.cluster import queue
from tadoru.store.cluster import registry as tables
from tadoru.store.cluster.registry import ClusterRegistry, slice_prefix
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import LinkTarget, PageStatus
from tests.support.clusters import linked
from tests.support.postgres import server

HOSTS = 3_000


async def test_a_look_goes_along_the_index_of_hosts_that_wait() -> None:
    database = server().new_database()
    cluster = ClusterRegistry(database)
    try:
        queue.prepare_schema(cluster)
        store = PostgresStore(f"{database}&crawl=wide", SystemClock())
        names = [f"host-{number}.example" for number in range(HOSTS)]
        await store.frontier.add([LinkTarget(f"https://{name}/", name, PageStatus.QUEUED) for name in names], seed=False)
        text = tables._WAITING.format(crawl='"crawl_wide"')
        values = {"prefix": slice_prefix("wide"), "most": 20}
        with linked(database) as link:
            plan = "\n".join(row[0] for row in link.execute(f"EXPLAIN (ANALYZE, TIMING off) {text}", values).fetchall())
        await store.close()
        assert "hosts_waiting" in plan
        assert "Seq Scan on hosts" not in plan
        assert len(cluster.waiting_hosts("wide", 20)) == 20
    finally:
        cluster.close()
        server().drop(database)
