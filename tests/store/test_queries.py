"""The names that people query a crawl by: tables, views and columns as they are documented, with the values that belong there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tadoru.store.crawl.records import CompletedOutcome, FailedOutcome, PageFacts, RetryOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import decided, done, external, lease, lease_one, started, to, url
from tests.support.clock import FakeClock

COLUMNS = {
    "pages": "id url status added_at processing_started_at status_code title meta_description meta_robots canonical_url "
    "content_hash ttfb_ms download_time_ms response_size_bytes content_type content_length last_modified server content_encoding "
    "crawled_at retry_count last_error_type last_error_message",
    "links": "source_url target_url anchor_text link_type rel_attribute crawled_at",
    "crawl_errors": "id url error_type error_message occurred_at",
    "crawl_meta": "key value",
    "completed_pages": "id url status_code title meta_description meta_robots canonical_url content_hash ttfb_ms "
    "download_time_ms response_size_bytes content_type content_length last_modified server content_encoding "
    "crawled_at",
    "queue_status": "status count oldest_item newest_item",
}


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", FakeClock())
    yield store
    await store.close()


@pytest.mark.parametrize("name", COLUMNS)
async def test_the_documented_columns_are_there(store: SqliteStore, name: str) -> None:
    columns = [column[0] for column in store.sql.execute(f"SELECT * FROM {name}").description]
    assert set(COLUMNS[name].split()) <= set(columns)


async def test_completed_pages_shows_what_was_answered(store: SqliteStore) -> None:
    facts = PageFacts(
        status_code=200,
        title="T",
        meta_description="D",
        meta_robots="noindex",
        canonical_url="https://a.example/c",
        content_hash="ff",
        dns_ms=1.0,
        connect_ms=2.0,
        tls_ms=3.0,
        ttfb_ms=4.0,
        download_time_ms=5.0,
        response_size_bytes=6,
        content_type="text/html",
        content_length=7,
        last_modified="2024-01-01 00:00:00",
        server="s",
        content_encoding="br",
    )
    worker = await started(store, "x", "y")
    await store.frontier.finish(worker, [CompletedOutcome(lease=await lease_one(store, worker), facts=facts)], max_depth=None)
    columns = COLUMNS["completed_pages"].replace("id url ", "").replace(" crawled_at", "")
    [found] = store.sql.execute(f"SELECT {', '.join(columns.split())} FROM completed_pages").fetchall()
    assert found == tuple(getattr(facts, name) for name in columns.split())
    assert store.sql.execute("SELECT dns_ms, connect_ms, tls_ms FROM pages WHERE status = 'completed'").fetchall() == [
        (1.0, 2.0, 3.0)
    ]


async def test_links_tells_internal_from_external(store: SqliteStore) -> None:
    worker = await started(store, "x")
    links = [link._replace(rel="nofollow", text="Here") for link in to("y", external("z"))]
    got = await lease_one(store, worker)
    await store.frontier.finish(
        worker,
        [CompletedOutcome(lease=got, facts=PageFacts(status_code=200), links=links, targets=decided("y", external("z")))],
        max_depth=None,
    )
    rows = store.sql.execute(
        "SELECT source_url, target_url, anchor_text, link_type, rel_attribute, crawled_at FROM links ORDER BY position"
    )
    when = "2023-11-14 22:13:20.000"
    assert rows.fetchall() == [
        (url("x"), url("y"), "Here", "internal", "nofollow", when),
        (url("x"), url("z", "b.example"), "Here", "external", "nofollow", when),
    ]


async def test_queue_status_counts_and_dates(store: SqliteStore) -> None:
    worker = await started(store, "x", "y", "z")
    await store.frontier.finish(worker, [done(await lease_one(store, worker))], max_depth=None)
    await lease(store, worker)
    found = store.sql.execute("SELECT status, count, oldest_item, newest_item FROM queue_status ORDER BY status").fetchall()
    when = "2023-11-14 22:13:20.000"
    assert found == [("completed", 1, when, when), ("processing", 1, when, when), ("queued", 1, when, when)]


async def test_every_error_of_a_page_is_kept_with_its_time(store: SqliteStore) -> None:
    worker = await started(store, "x")
    await store.frontier.finish(
        worker, [RetryOutcome(lease=await lease_one(store, worker), after=0.0, kind="http_503", message="busy")], max_depth=None
    )
    await store.frontier.finish(
        worker, [FailedOutcome(lease=await lease_one(store, worker), kind="tls_error", message="expired")], max_depth=None
    )
    errors = store.sql.execute(
        "SELECT url, error_type, error_message, datetime(occurred_at) FROM crawl_errors ORDER BY id"
    ).fetchall()
    when = "2023-11-14 22:13:20"
    assert errors == [(url("x"), "http_503", "busy", when), (url("x"), "tls_error", "expired", when)]
    page = store.sql.execute("SELECT retry_count, last_error_type, last_error_message, status FROM pages").fetchall()
    assert page == [(1, "tls_error", "expired", "error")]


async def test_meta_is_a_table_of_keys_and_values(store: SqliteStore) -> None:
    await store.meta.set("job", "links")
    assert store.sql.execute("SELECT key, value FROM crawl_meta").fetchall() == [("job", "links")]
