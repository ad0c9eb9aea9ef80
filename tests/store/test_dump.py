"""How SQLite reads for exports: in order without sorting, each table once, and one moment of a crawl that goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, done, target
from tests.export.crawls import audited
from tests.support.clock import FakeClock

EVERYTHING = ExportSelection(codes=((200, 299),), statuses=("error",), internal=True, url="*", severities=("error",))


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    crawl = await audited(":memory:")
    crawl.sql.execute("ANALYZE")
    # Plans are made for a large crawl.
    crawl.sql.execute("UPDATE sqlite_stat1 SET stat = '1000000' || substr(stat || ' ', instr(stat || ' ', ' '))")
    crawl.sql.execute("ANALYZE sqlite_schema")
    yield crawl
    await crawl.close()


def plan(store: SqliteStore, reading: Callable[[], object]) -> list[str]:
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    reading()
    store.sql.set_trace_callback(None)
    # Which names were extracted is asked apart, and there are few of them.
    selects = [each for each in seen if each.startswith("SELECT") and not each.startswith("SELECT DISTINCT e.key")]
    assert selects
    return [row[3] for statement in selects for row in store.sql.execute(f"EXPLAIN QUERY PLAN {statement}")]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("filtered", [False, True], ids=["all", "filtered"])
async def test_a_table_is_read_once_through_and_never_sorted(name: str, filtered: bool, store: SqliteStore) -> None:
    table = TABLES[name]
    usable = filtered and table.asked is not None and table.judged is not None
    steps = plan(store, lambda: list(store.export.dump(name, EVERYTHING if usable else ExportSelection()).rows))
    if name == "redirect_hops":  # The exception, and said so where it is defined.
        return
    assert not [step for step in steps if "TEMP B-TREE" in step]
    scans = [step for step in steps if step.startswith("SCAN") and "VIRTUAL TABLE" not in step and step != "SCAN checks"]
    assert len(scans) == 1, steps


async def test_the_pages_of_a_sitemap_are_read_in_order(store: SqliteStore) -> None:
    steps = plan(store, lambda: list(store.export.sitemap_pages()))
    assert steps == ["SCAN p USING INDEX sqlite_autoindex_pages_1", "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"]


async def test_the_links_of_a_page_are_found_by_their_key(store: SqliteStore) -> None:
    steps = plan(store, lambda: list(store.export.graph_edges(1)))
    assert steps[0] == "SEARCH r USING PRIMARY KEY (source_id=?)"
    assert not [step for step in steps if step.startswith("SCAN")]


async def test_an_export_sees_one_moment_of_a_crawl_that_goes_on(tmp_path: Path) -> None:
    reading = await audited(tmp_path / "x.db")
    writing = SqliteStore(str(tmp_path / "x.db"), FakeClock())
    with reading.snapshot():
        before = list(reading.export.dump("pages", ExportSelection()).rows)
        await writing.frontier.add([target("later")], seed=True)
        worker = await writing.frontier.join(TTL)
        [lease] = (await writing.frontier.lease(worker, {HOST: 1}, new_hosts=0, per_host=0, limit=0)).leases
        await writing.frontier.finish(worker, [done(lease, "more")], max_depth=None)
        assert list(reading.export.dump("pages", ExportSelection()).rows) == before
    assert len(list(reading.export.dump("pages", ExportSelection()).rows)) == len(before) + 2
    await writing.close()
    await reading.close()


async def test_a_crawl_that_was_never_audited_has_pages_too() -> None:
    store = SqliteStore(":memory:", FakeClock())
    await store.frontier.add([target("x")], seed=True)
    with store.snapshot():
        [row] = store.export.dump("pages", ExportSelection()).rows
        assert {
            name: len(list(store.export.dump(name, ExportSelection()).rows)) for name in TABLES if name != "pages"
        } == dict.fromkeys([name for name in TABLES if name != "pages"], 0)
    assert row[0] == "https://a.example/x"
    assert store.export.start_url() == "https://a.example/x"
    await store.close()


async def test_damaged_header_fields_are_a_sentence() -> None:
    store = await audited(":memory:")
    store.sql.execute("UPDATE page_details SET headers = '[1]'")
    with pytest.raises(StoreError, match=r"cannot read the header fields of https://a\.example/a"):
        list(store.export.stored_pages())
    await store.close()
