"""Crawls that are copied from one kind of store to another: every row arrives, and the copy can be gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import UsageError
from tadoru.store.copy_crawl import move_crawl
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import open_store
from tests.contract.crawls import done, lease, lease_one, started, target, url
from tests.support.clock import FakeClock
from tests.support.pg_crawls import crawl_on
from tests.support.postgres import PostgresServer

KINDS = ("sqlite", "postgresql")
POSTGRESQL_ONLY = {"crawl_format", "depth_changes"}
"""Tables for what SQLite keeps in the head of its file, and for what only several writers need."""


class Made:
    """Opens new crawls of either kind."""

    def __init__(self, folder: Path, server: PostgresServer, clock: FakeClock, stack: ExitStack) -> None:
        self._folder, self._server, self._clock, self._stack = folder, server, clock, stack
        self.opened: list[CrawlDatabase] = []

    def __call__(self, kind: str) -> CrawlDatabase:
        name = str(self._folder / f"{len(self.opened)}.db")
        if kind == "postgresql":
            name = self._stack.enter_context(crawl_on(self._server, self._clock))
        self.opened.append(open_store(name, self._clock))
        return self.opened[-1]


@pytest.fixture
def made(tmp_path: Path, postgres: PostgresServer, clock: FakeClock) -> Iterator[Made]:
    with ExitStack() as stack:
        opens = Made(tmp_path, postgres, clock, stack)
        yield opens
        for store in opens.opened:
            store.sql.close()


def tables(store: CrawlDatabase) -> dict[str, list[str]]:
    """The columns of each table."""
    found: dict[str, list[str]] = {}
    for table, column in store.sql.execute(store.db.dialect.columns).fetchall():
        found.setdefault(table, []).append(column)
    return found


def content(store: CrawlDatabase) -> dict[str, list[Any]]:
    """Every row of every table but those that are a database's own."""
    found = {}
    for table, columns in tables(store).items():
        if table not in {"workers", *POSTGRESQL_ONLY}:
            shared = ", ".join(one for one in sorted(columns) if (table, one) != ("counters", "worker"))
            rows = store.sql.execute(f"SELECT {shared} FROM {table}").fetchall()
            found[table] = sorted((tuple(int(one) if isinstance(one, bool) else one for one in row) for row in rows), key=repr)
    return found


async def filled(store: CrawlDatabase) -> CrawlDatabase:
    """A crawl with something of most kinds, and nothing in flight."""
    worker = await started(store, "x")
    await store.meta.set("starts", '["日本"]')
    await store.frontier.finish(worker, [done(await lease_one(store, worker), "y", "z", "w")], max_depth=2)
    await store.frontier.finish(worker, [done(await lease_one(store, worker), redirect=target("moved"))], max_depth=2)
    await store.frontier.leave(worker)
    return store


@pytest.mark.parametrize("back", KINDS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_copy_holds_every_row_there_and_back(kind: str, back: str, made: Made) -> None:
    original = await filled(made("sqlite"))
    copy, again = made(kind), made(back)
    counts = await move_crawl(original, copy)
    assert counts["pages"] == 5
    await move_crawl(copy, again)
    assert content(again) == content(copy) == content(original)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_copy_is_gone_on_with_where_the_original_stood(kind: str, made: Made) -> None:
    original = made("sqlite")
    worker = await started(original, "x")
    await original.frontier.finish(worker, [done(await lease_one(original, worker), "y", "z")], max_depth=None)
    assert len(await lease(original, worker, 2)) == 2, "what is in flight when it is copied"
    copy = made(kind)
    await move_crawl(original, copy)
    assert (await copy.frontier.counts()).queued == 2
    new = await copy.frontier.join(60)
    found = await lease(copy, new, 5)
    assert {one.url for one in found} == {url("y"), url("z")}
    await copy.frontier.finish(new, [done(found[0], "new"), done(found[1])], max_depth=None)
    assert (await copy.frontier.counts()).queued == 1
    assert (await original.frontier.counts()).processing == 2, "the original is as it was"


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_copied_over_a_crawl_that_is_there(kind: str, made: Made) -> None:
    original, other = await filled(made("sqlite")), await filled(made(kind))
    before = content(other)
    with pytest.raises(UsageError, match="already has a crawl"):
        await move_crawl(original, other)
    assert content(other) == before


def test_both_kinds_have_the_same_tables_and_columns(made: Made) -> None:
    in_file, in_database = ({name: set(columns) for name, columns in tables(made(kind)).items()} for kind in KINDS)
    in_database["counters"].discard("worker")
    assert in_database.keys() - in_file.keys() == POSTGRESQL_ONLY
    assert {name: in_database[name] for name in in_file} == in_file
