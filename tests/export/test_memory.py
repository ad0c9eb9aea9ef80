"""Twice the pages take no more memory: every form streams."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.export.crawls import exported
from tests.support.clock import FakeClock

FEW, MANY = 1100, 2200
ROOM = 300_000
"""Bytes that the number of pages may not be worth: a tenth of what they would take."""
WHEN = "2024-01-01 00:00:00.000"


def crawl_of(path: Path, number: int) -> SqliteStore:
    """So many pages, each with a link, a finding, a body and two kilobytes of title."""
    store = SqliteStore(str(path), FakeClock(), durable=False)
    sql, pages = store.sql, range(1, number + 1)
    sql.execute("BEGIN")
    sql.executemany(
        "INSERT INTO pages(id, url, status, host_id, depth, added_at, crawled_at, status_code, content_type, title) "
        f"VALUES (?, ?, 'completed', 1, 1, '{WHEN}', '{WHEN}', 200, 'text/html', ?)",
        [(page, f"https://a.example/{page}", f"{page:02000}") for page in pages],
    )
    sql.executemany(
        "INSERT INTO page_details(page_id, indexable, indexability, body_hash, headers) VALUES (?, 1, 'indexable', ?, '[]')",
        [(page, f"{page // 2}") for page in pages],
    )
    sql.executemany("INSERT INTO bodies VALUES (?, ?)", [(page, zlib.compress(b"x" * 2000)) for page in pages])
    sql.executemany("INSERT INTO link_relations VALUES (?, 0, ?, 'a', 0, 0, 0, 0)", [(page, page) for page in pages])
    sql.execute("COMMIT")
    return store


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SqliteStore]]:
    folder = tmp_path_factory.mktemp("crawls")
    stores = [crawl_of(folder / f"{number}.db", number) for number in (FEW, MANY)]
    yield stores
    for store in stores:
        asyncio.run(store.close())


def peak(store: SqliteStore, form: str, output: Path, **order: object) -> int:
    tracemalloc.start()
    try:
        exported(store, form, output, **order)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "xlsx", "sitemap", "warc"])
def test_memory_does_not_grow_with_the_pages(form: str, crawls: list[SqliteStore], tmp_path: Path) -> None:
    few, many = crawls
    peak(few, form, tmp_path / "first")  # What is imported is not counted.
    assert peak(many, form, tmp_path / "many") < peak(few, form, tmp_path / "few") + ROOM


def test_a_graph_holds_what_it_draws_and_nothing_else(crawls: list[SqliteStore], tmp_path: Path) -> None:
    few, many = crawls
    peak(few, "dot", tmp_path / "first", limit_nodes=100)
    assert peak(many, "dot", tmp_path / "many", limit_nodes=100) < peak(few, "dot", tmp_path / "few", limit_nodes=100) + ROOM
    assert peak(many, "dot", tmp_path / "all", limit_nodes=MANY) > peak(many, "dot", tmp_path / "many", limit_nodes=100) + ROOM
