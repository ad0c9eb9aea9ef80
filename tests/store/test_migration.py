"""A file of an older format is brought to the present one when it is opened: all or nothing, and everything in it stays."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.model.finding import Finding
from tadoru.store.crawl.records import CompletedOutcome, CrawlCounts, PageFacts, PageRecords
from tadoru.store.crawl.sqlite.database import SCHEMA_VERSION
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, lease_one, statuses, url
from tests.store.test_details import CHECK
from tests.support.clock import FakeClock
from tests.support.old_crawls import make_file

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
FINDINGS = """
INSERT INTO checks(number, id, scope, check_group, severity, title, why, fix, title_ja, why_ja, fix_ja) VALUES
    (1, 'security-hsts-short', 'page', 'security', 'info', '', '', '', '', '', ''),
    (2, 'url-http', 'page', 'urls', 'warning', '', '', '', '', '', ''),
    (3, 'title-missing', 'page', 'titles', 'error', '', '', '', '', '', '');
INSERT INTO page_details(page_id, indexable, indexability) VALUES (1, true, 'indexable');
INSERT INTO page_findings(page_id, check_number, detail, data) VALUES
    (1, 1, 'max-age=5', '{"seconds": 5}'), (1, 2, '☃', NULL), (1, 3, '', NULL);
"""
"""Two findings on a page that are about the whole site since, and one that is not."""
FACTS = {"security-hsts-short": ["max-age=5", {"seconds": 5}], "url-http": ["☃", {}]}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of format 1."""
    path = tmp_path / "crawl.db"
    make_file(path, 1, ROWS)
    return path


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as sql:
        return sql.execute("SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name").fetchall()


def columns(path: Path) -> Iterator[tuple[object, ...]]:
    """Each column with its type, its default and its place in the primary key; a key is never empty."""
    with closing(sqlite3.connect(path)) as sql:
        for _, table, _ in schema(path):
            for number, name, kind, required, default, key, hidden in sql.execute(f"PRAGMA table_xinfo('{table}')"):
                yield table, number, name, kind, bool(required or key), default, key, hidden


def keys(path: Path) -> Iterator[object]:
    """Each index with its columns, and the tables whose rows are stored in their key."""
    with closing(sqlite3.connect(path)) as sql:
        for kind, table, _ in schema(path):
            if kind == "table":
                for index in sorted(sql.execute(f"PRAGMA index_list('{table}')"), key=lambda one: str(one[1])):
                    yield table, index[1:], sql.execute(f"PRAGMA index_xinfo('{index[1]}')").fetchall()
        yield sql.execute("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY 1").fetchall()


def texts(path: Path) -> dict[str, str]:
    """Indexes and views as they are written, and the conditions of tables."""
    with closing(sqlite3.connect(path)) as sql:
        found = sql.execute("SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    parts = {
        name: "".join(re.findall(r"\bCHECK \(.*?'\)|AUTOINCREMENT", text, re.DOTALL)) if kind == "table" else text
        for name, kind, text in found
    }
    same = "CASE WHEN f.page_id THEN", "CASE WHEN f.page_id <> 0 THEN"  # A view of format 2, in other words since.
    return {name: re.sub(r"\s+", "", text.replace(*same)) for name, text in parts.items()}


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
async def test_an_older_file_becomes_what_a_new_one_would_be(version: int, tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    make_file(old, version, ROWS)
    for path in (old, new):
        await SqliteStore(str(path), FakeClock()).close()
    assert schema(old) == schema(new)
    assert list(columns(old)) == list(columns(new))
    assert list(keys(old)) == list(keys(new))
    assert texts(old) == texts(new)
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


async def test_facts_of_the_whole_site_are_read_from_the_findings_of_pages_that_are_not_requested_again(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    make_file(path, 5, ROWS + FINDINGS)
    store = SqliteStore(str(path), FakeClock())
    assert list(store.analysis.site_view(likeness=0.9).site_facts()) == [(1, FACTS)]
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
