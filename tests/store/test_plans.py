"""How SQLite finds things: nothing that a crawl does all the time may look at every page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tadoru.rules.pace import start
from tadoru.store.crawl.records import FailedOutcome, Outcome, RefusedOutcome, RetryOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, done, lease, started, target, trapped
from tests.support.clock import FakeClock

LARGE = ("pages", "link_relations", "texts", "hosts", "robots", "traps", "crawl_errors", "page_anchors")


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", FakeClock())
    yield store
    await store.close()


def plan(store: SqliteStore, statement: str) -> list[str]:
    return [row[3] for row in store.sql.execute(f"EXPLAIN QUERY PLAN {statement}")]


def scans(steps: list[str]) -> list[str]:
    """The steps that read a whole table, whatever they call it. The hosts that have URLs are read in order, up to a number."""
    found = [step.split() for step in steps if step.startswith("SCAN")]
    return [" ".join(step) for step in found if step[1] in (*LARGE, "p", "r", "s", "t") and "hosts_waiting" not in step]


async def test_a_lease_goes_by_the_frontier(store: SqliteStore) -> None:
    worker = await started(store, "x")
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    await lease(store, worker)
    store.sql.set_trace_callback(None)
    [taking] = [statement for statement in seen if "SET status = 'processing'" in statement]
    steps = plan(store, taking)
    assert any("USING INDEX pages_frontier (host_id=?)" in step for step in steps)
    assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")]


async def test_nothing_that_a_crawl_does_all_the_time_reads_a_whole_table(store: SqliteStore) -> None:
    worker = await started(store, *map(str, range(20)))
    await store.graph.settle()
    store.sql.execute("ANALYZE")
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    leases = (await store.frontier.lease(worker, {HOST: 9}, new_hosts=3, per_host=2, limit=0)).leases
    await store.hosts.begin_pace(HOST, start(1.0, None))
    await store.hosts.take_slot(worker, HOST, 9.0)
    await store.hosts.sent(worker, HOST)
    await store.hosts.set_pace(HOST, start(1.0, None), 3.0)
    await store.robots.claim(worker, HOST, hold=1.0, max_age=1.0)
    outcomes: list[Outcome] = [
        done(leases[0], "new", "19", trapped("day", cap=1)),
        done(leases[1], redirect="onward"),
        FailedOutcome(lease=leases[2], kind="k", message="m"),
        RetryOutcome(lease=leases[3], after=1.0, kind="k", message="m"),
        RefusedOutcome(lease=leases[4], reason="r"),
    ]
    await store.frontier.finish(worker, outcomes, max_depth=3)
    await store.frontier.add([target("new")], seed=True)
    await store.frontier.renew(worker, TTL)
    await store.frontier.counts()
    await store.frontier.leave(worker)
    store.sql.set_trace_callback(None)
    statements = [statement for statement in seen if not statement.startswith(("BEGIN", "COMMIT", "--"))]
    assert len(statements) > 30
    # `leave` looks for slots and claims among all hosts, once in a worker's life.
    frequent = [
        statement for statement in statements if "slot_owner = NULL" not in statement and "DELETE FROM robots" not in statement
    ]
    assert {statement: found for statement in frequent if (found := scans(plan(store, statement)))} == {}


async def test_links_are_read_in_order_without_sorting_them(store: SqliteStore) -> None:
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    _ = [link async for link in store.graph.links()]
    store.sql.set_trace_callback(None)
    assert not [step for step in plan(store, seen[0]) if "TEMP B-TREE" in step]


async def test_a_settled_crawl_finds_the_links_to_a_page_by_index(store: SqliteStore) -> None:
    await store.graph.settle()
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    _ = [link async for link in store.graph.links_to([1])]
    store.sql.set_trace_callback(None)
    steps = plan(store, seen[0])
    assert any("links_by_target (target_id=?)" in step for step in steps)
    assert scans(steps) == []


async def test_settling_looks_for_a_parent_among_the_links_to_a_page_and_not_among_all_pages(store: SqliteStore) -> None:
    await store.graph.settle()
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    await store.graph.settle()
    store.sql.set_trace_callback(None)
    (by_link,) = (statement for statement in seen if "link_relations r" in statement)
    steps = plan(store, by_link)
    assert any("SEARCH r USING COVERING INDEX links_by_target (target_id=?)" in step for step in steps)
    assert not any("pages_in_order" in step for step in steps)


def test_a_scan_would_be_seen() -> None:
    assert scans(["SCAN pages", "SEARCH p USING INDEX x", "SCAN counters"]) == ["SCAN pages"]
