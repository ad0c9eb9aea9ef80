"""A file of an older format is brought to the present one when it is opened: all or nothing, and everything in it stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.model.finding import Finding
from tadoru.store.crawl.database import APPLICATION_ID, SCHEMA_VERSION
from tadoru.store.crawl.interface import CompletedOutcome, CrawlCounts, PageFacts
from tadoru.store.crawl.records import PageRecords
from tadoru.store.crawl.sqlite import SqliteStore
from tests.contract.crawls import HOST, TTL, lease_one, statuses, url
from tests.store.test_details import CHECK
from tests.support.clock import FakeClock

ROWS = f"""
INSERT INTO hosts(id, name, queued, next_at) VALUES (1, '{HOST}', 1, 0);
INSERT INTO pages(id, url, status, host_id, depth, is_seed, added_at, status_code, title, crawled_at) VALUES
    (1, '{url("")}', 'completed', 1, 0, 1, '2024-01-01 00:00:00.000', 200, 'Start ☃', '2024-01-01 00:00:01.000'),
    (2, '{url("a")}', 'queued', 1, 1, 0, '2024-01-01 00:00:01.000', NULL, NULL, NULL);
INSERT INTO texts(id, text) VALUES (1, 'to a'), (2, 'nofollow');
INSERT INTO link_relations VALUES (1, 0, 2, 'a', 1, 2, 0);
INSERT INTO page_anchors VALUES (1, 'top');
INSERT INTO crawl_errors(url, error_type, error_message, occurred_at) VALUES ('{url("a")}', 'http_503', '', '2024-01-01');
INSERT INTO crawl_meta VALUES ('job', 'links'), ('starts', '["{url("")}"]');
INSERT INTO counters VALUES ('completed', 1), ('counted', 1), ('queued', 1);
"""
"""A crawl as format 1 kept it."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of format 1, made by the script of that format."""
    path = tmp_path / "crawl.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        sql.executescript(resources.files("tadoru.store.crawl").joinpath("sql", "0001_crawl.sql").read_text("utf-8"))
        sql.executescript(ROWS)
        sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        sql.execute("PRAGMA user_version = 1")
    return path


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as sql:
        return sql.execute("SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name").fetchall()


def columns(path: Path) -> Iterator[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as sql:
        for _, name, _ in schema(path):
            yield from ((name, *column) for column in sql.execute(f"PRAGMA table_xinfo('{name}')"))


async def test_an_older_file_becomes_what_a_new_one_would_be(old: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    for path in (old, new):
        await SqliteStore(str(path), FakeClock()).close()
    assert schema(old) == schema(new)
    assert list(columns(old)) == list(columns(new))
    with closing(sqlite3.connect(old)) as sql:
        assert sql.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_everything_in_an_older_file_stays(old: Path) -> None:
    store = SqliteStore(str(old), FakeClock())
    assert await statuses(store) == {"": "completed", "a": "queued"}
    assert await store.frontier.counts() == CrawlCounts(completed=1, counted=1, queued=1)
    assert await store.meta.get("job") == "links"
    assert [(link.source_url, link.target_url, link.text, link.rel) async for link in store.graph.links()] == [
        (url(""), url("a"), "to a", "nofollow")
    ]
    assert store.sql.execute("SELECT source_url, target_url, link_type FROM links").fetchall() == [
        (url(""), url("a"), "internal")
    ]
    assert store.sql.execute("SELECT url, title FROM completed_pages").fetchall() == [(url(""), "Start ☃")]
    assert store.sql.execute("SELECT error_type FROM crawl_errors").fetchall() == [("http_503",)]
    await store.close()


async def test_a_crawl_goes_on_after_it_was_migrated(old: Path) -> None:
    store = SqliteStore(str(old), FakeClock())
    await store.checks.install([CHECK], "page")
    worker = await store.frontier.join(TTL)
    records = PageRecords(indexable=True, indexability="indexable", findings=(Finding(CHECK.id, url("a")),))
    answer = CompletedOutcome(lease=await lease_one(store, worker), facts=PageFacts(status_code=200), records=records)
    assert await store.frontier.finish(worker, [answer], max_depth=None) == 1
    assert store.sql.execute("SELECT url, check_id FROM findings").fetchall() == [(url("a"), CHECK.id)]
    assert store.sql.execute("SELECT url, indexability FROM audited_pages ORDER BY url").fetchall() == [
        (url(""), None),
        (url("a"), "indexable"),
    ]
    await store.close()


async def test_a_file_is_migrated_once_whoever_opens_it_first(old: Path) -> None:
    first, second = SqliteStore(str(old), FakeClock()), SqliteStore(str(old), FakeClock())
    assert await statuses(first) == await statuses(second)
    await first.close()
    await second.close()


def test_a_migration_that_fails_changes_nothing(old: Path) -> None:
    with closing(sqlite3.connect(old)) as sql:
        sql.execute("CREATE TABLE chores(name)")  # Near the end of the script, where most of it is done.
        sql.commit()
    before = schema(old), list(columns(old))
    with pytest.raises(StoreError, match="table chores already exists"):
        SqliteStore(str(old), FakeClock())
    assert (schema(old), list(columns(old))) == before
    with closing(sqlite3.connect(old)) as sql:
        assert sql.execute("PRAGMA user_version").fetchone() == (1,)
        assert sql.execute("SELECT count(*) FROM pages").fetchone() == (2,)
