"""How SQLite finds what an audit writes and asks for all the time: never by reading a whole table."""

from __future__ import annotations

from tadoru.store.crawl.records import FailedOutcome, NamedPage, ResourceResult, SitemapRecord
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import lease_one, started, target, to, url
from tests.store.test_details import PICTURE, PLAIN, RECORDS, SCRIPT, answered, store

__all__ = ["store"]

LARGE = (
    "pages", "link_relations", "texts", "page_details", "page_findings", "page_hreflang", "page_items", "page_anchors", "bodies",
    "resources", "resource_uses", "sitemap_entries",
)  # fmt: skip


async def test_nothing_that_an_audit_does_all_the_time_reads_a_whole_table(store: SqliteStore) -> None:
    worker = await started(store, *map(str, range(20)))
    await answered(store, worker, RECORDS, links=to("x"), resources=(PICTURE, SCRIPT))
    await store.graph.settle()
    store.sql.execute("ANALYZE")
    await store.runs.begin_recrawl({}, "1", limit=1)
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    for number in range(3):
        await store.graph.validators(number + 1)
        await answered(store, worker, RECORDS, links=to("x", "y"), resources=(PICTURE, SCRIPT))
    got = await lease_one(store, worker)
    await store.frontier.finish(worker, [FailedOutcome(lease=got, kind="k", message="m", records=PLAIN)], max_depth=None)
    for _ in range(2):
        tried = await store.resources.lease(worker, 1, budget=9)
        results = [ResourceResult(resource_id=one.resource_id, status="completed") for one in tried]
        await store.resources.finish(worker, results)
    await store.tasks.claim(worker, "c")
    number = await store.sitemaps.put(SitemapRecord(url("s.xml"), 0, "guess", "read", "urlset", 200, 1, 1, ()))
    await store.frontier.add_named(number, [NamedPage(target("named"), None), NamedPage(target("x"), None)])
    await store.frontier.metrics()
    store.sql.set_trace_callback(None)
    statements = [one for one in seen if not one.startswith(("BEGIN", "COMMIT", "--"))]
    assert len(statements) > 40
    scans = {one: found for one in statements if (found := _scans(store, one))}
    assert scans == {}


def _scans(store: SqliteStore, statement: str) -> list[str]:
    """The steps that read a whole table; those of a worker's leave, and those up to a number, are not among them."""
    steps = [row[3].split() for row in store.sql.execute(f"EXPLAIN QUERY PLAN {statement}")]
    whole = [" ".join(step) for step in steps if step[0] == "SCAN" and step[1] in LARGE]
    return [step for step in whole if "resources_waiting" not in step]
