from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tadoru.store.crawl.records import RobotsRecord
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import HOST, TTL, done, external, lease, statuses, target, url
from tests.store.audited import CHECKS, OK, SITE, Page, audit, audited, changed, crawl
from tests.store.test_plans import plan
from tests.support.clock import FakeClock


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", FakeClock())
    yield store
    await store.close()


def rows(store: SqliteStore, statement: str) -> list[tuple[object, ...]]:
    return store.sql.execute(statement).fetchall()


def sound(store: SqliteStore) -> None:
    """The counters say what the tables say."""
    counted = {name: value for name, value in rows(store, "SELECT name, value FROM counters") if value}
    for status, number in rows(store, "SELECT status, count(*) FROM pages GROUP BY status"):
        assert counted.pop(status) == number, status
    assert not {"queued", "processing", "completed", "error", "skipped", "discovered"} & counted.keys()
    waiting = rows(store, "SELECT host_id, count(*) FROM pages WHERE status = 'queued' GROUP BY host_id")
    assert rows(store, "SELECT id, queued FROM hosts WHERE queued <> 0") == waiting


async def test_the_first_crawl_is_run_one_and_resuming_it_continues_it(store: SqliteStore) -> None:
    assert await store.runs.begin("crawl", {"limit": 5}, "1.0") == 1
    [running] = await store.runs.all()
    assert (running.ended_at, running.outcome, running.partial, running.kept) == (None, None, True, True)
    await store.runs.end(1, RunOutcome.INTERRUPTED, None)
    assert (await store.runs.all())[0].outcome == "interrupted"
    assert await store.runs.begin("crawl", {"limit": 9}, "1.1") == 1
    [again] = await store.runs.all()
    assert (again.ended_at, again.outcome, again.config, again.version) == (None, None, {"limit": 9}, "1.1")
    await store.runs.end(1, RunOutcome.COMPLETE, 81.5)
    [done] = await store.runs.all()
    assert (done.kind, done.score, done.partial, done.started_at) == ("crawl", 81.5, False, running.started_at)


async def test_a_recrawl_asks_for_every_page_of_the_site_again(store: SqliteStore) -> None:
    await audit(store, SITE)
    before = await statuses(store)
    assert await store.runs.begin_recrawl({}, "2.0") == 2
    assert set((await statuses(store)).values()) == {"queued"}
    sound(store)
    assert await crawl(store, SITE) == len(SITE)
    sound(store)
    assert await statuses(store) == before
    assert [run.kind for run in await store.runs.all()] == ["crawl", "recrawl"]


async def test_the_limit_of_a_recrawl_is_that_of_the_run(store: SqliteStore) -> None:
    await audit(store, SITE)
    assert (await store.frontier.counts()).counted == 5
    assert (await store.frontier.counts()).redirects == 1
    await store.runs.begin_recrawl({}, "2.0")
    counts = await store.frontier.counts()
    assert (counts.counted, counts.redirects, counts.completed, counts.queued) == (0, 0, 0, 6)
    await crawl(store, SITE, limit=2)
    assert (await store.frontier.counts()).counted == 2


async def test_what_people_watch_is_counted_from_nothing(store: SqliteStore) -> None:
    await audit(store, SITE)
    assert (await store.frontier.metrics()).statuses == {200: 4, 301: 1, 404: 1}
    await store.runs.begin_recrawl({}, "2.0")
    metrics = await store.frontier.metrics()
    assert (metrics.statuses, metrics.bytes, metrics.errors, metrics.responses) == ({}, 0, {}, {})


@pytest.mark.parametrize("ended", [None, RunOutcome.COMPLETE], ids=["still running or killed", "ended"])
async def test_a_run_that_is_not_over_is_finished_first(ended: RunOutcome | None, store: SqliteStore) -> None:
    await audit(store, SITE, limit=2, ended=RunOutcome.INTERRUPTED)
    assert await store.runs.begin_recrawl({}, "2.0") is None, "pages are waiting"
    worker = await store.frontier.join(TTL)
    while await lease(store, worker, 9):
        pass
    assert await store.runs.begin_recrawl({}, "2.0") is None, "pages are being requested"
    await store.frontier.leave(worker)
    await crawl(store, SITE)
    await store.runs.begin("crawl", {}, "2.0")
    if ended is not None:
        await store.runs.end(1, ended, None)
    assert await store.runs.begin_recrawl({}, "2.0") == (None if ended is None else 2)
    assert len(await store.runs.all()) == (1 if ended is None else 2)


async def test_a_crawl_at_its_limit_is_over_although_more_pages_are_known(store: SqliteStore) -> None:
    await audit(store, SITE, limit=2, ended=RunOutcome.LIMIT)
    assert await store.runs.begin_recrawl({}, "2.0", limit=3) is None, "a larger limit goes on"
    assert await store.runs.begin_recrawl({}, "2.0", limit=2) == 2
    sound(store)
    await crawl(store, SITE, limit=2)
    assert (await store.frontier.counts()).counted == 2


async def test_nothing_was_crawled_yet(store: SqliteStore) -> None:
    assert await store.runs.begin_recrawl({}, "2.0") is None
    assert await store.runs.all() == []


async def test_of_two_processes_that_recrawl_at_once_one_does_and_the_other_joins_it(tmp_path: Path) -> None:
    name = await audited(tmp_path / "site.db", SITE)
    stores = [SqliteStore(name, FakeClock()) for _ in range(4)]
    numbers = await asyncio.gather(*(store.runs.begin_recrawl({}, "2.0") for store in stores))
    assert sorted(numbers, key=str) == [2, None, None, None]
    assert await asyncio.gather(*(store.runs.begin("crawl", {}, "2.0") for store in stores)) == [2, 2, 2, 2]
    sound(stores[0])
    assert sum(await asyncio.gather(*(crawl(store, SITE) for store in stores))) == len(SITE)
    for store in stores:
        await store.close()


async def test_what_robots_refused_is_asked_about_again_and_what_was_not_wanted_is_not(store: SqliteStore) -> None:
    site = changed(SITE, a=replace(OK, refused="robots.txt line 2: Disallow: /a"), c=replace(OK, refused="trap: calendar"))
    await audit(store, changed(site, home=replace(OK, links=("a", "c"))))
    assert await statuses(store) == {"": "completed", "a": "skipped", "c": "skipped"}
    await store.runs.begin_recrawl({}, "2.0")
    assert await statuses(store) == {"": "queued", "a": "queued", "c": "skipped"}
    sound(store)


@pytest.mark.parametrize("externals", [False, True])
async def test_links_to_other_sites_are_tried_again_when_that_is_wanted(externals: bool, store: SqliteStore) -> None:
    await store.runs.begin("crawl", {}, "1.0")
    await store.frontier.add([external("there", check=True), target("")], seed=True)
    async with store.db.transaction() as sql:  # A seed is requested as a page; this one is only tried.
        sql.execute("UPDATE pages SET purpose = 'check', internal = 0 WHERE url = ?", (url("there", "b.example"),))
    worker = await store.frontier.join(TTL)
    [other] = await lease(store, worker, host="b.example")
    await store.frontier.finish(worker, [done(other)], max_depth=None)
    await store.frontier.leave(worker)
    await crawl(store, {"": OK})
    await store.runs.end(1, RunOutcome.COMPLETE, None)
    await store.runs.begin_recrawl({}, "2.0", externals=externals)
    found = await statuses(store)
    assert found == {"": "queued", url("there", "b.example"): "queued" if externals else "completed"}
    assert (await store.frontier.counts()).counted == 0
    sound(store)


async def test_a_redirect_that_turned_round_is_no_loop(store: SqliteStore) -> None:
    there = {"": replace(OK, links=("x", "y")), "x": Page(code=301, redirect="y"), "y": OK}
    back = {"": replace(OK, links=("x", "y")), "y": Page(code=301, redirect="x"), "x": OK}
    await audit(store, there)
    await audit(store, back, again=True)
    assert await statuses(store) == {"": "completed", "x": "completed", "y": "completed"}


async def test_resources_sitemaps_chores_and_robots_are_asked_again(store: SqliteStore) -> None:
    await audit(store, SITE)
    worker = await store.frontier.join(TTL)
    async with store.db.transaction() as sql:
        for number, status in enumerate(("completed", "error", "skipped", "discovered", "queued"), 1):
            values = (number, f"https://{HOST}/{number}.png", HOST, "image", 1, status, 3)
            sql.execute(
                "INSERT INTO resources(id, url, host, kind, internal, status, retry_count) VALUES (?, ?, ?, ?, ?, ?, ?)", values
            )
        sql.execute(
            "INSERT INTO sitemaps(id, url, level, named_by, status) VALUES (1, 'https://a.example/s.xml', 0, 'guess', 'read')"
        )
        sql.execute("INSERT INTO sitemap_entries VALUES (1, 1, NULL)")
    await store.tasks.claim(worker, "sitemaps")
    await store.tasks.finish("sitemaps")
    await store.robots.put(f"https://{HOST}", RobotsRecord(200, None, "", b"", 0.0))
    await store.frontier.leave(worker)
    await store.runs.begin_recrawl({}, "2.0")
    assert rows(store, "SELECT status, retry_count FROM resources ORDER BY id") == [
        ("queued", 0), ("queued", 0), ("queued", 0), ("discovered", 3), ("queued", 3),
    ]  # fmt: skip
    assert not await store.tasks.is_done("sitemaps")
    for table in ("sitemaps", "sitemap_entries", "robots"):
        assert rows(store, f"SELECT * FROM {table}") == [], table


async def test_only_the_last_few_runs_are_kept(store: SqliteStore) -> None:
    await audit(store, SITE)
    for number in range(2, 6):
        assert await store.runs.begin_recrawl({}, "2.0", keep=2) == number
        await crawl(store, SITE)
        await store.runs.end(number, RunOutcome.COMPLETE, float(number))
    assert [(run.number, run.kept, run.score) for run in await store.runs.all()] == [
        (1, False, 80.0), (2, False, 2.0), (3, True, 3.0), (4, True, 4.0), (5, True, 5.0),
    ]  # fmt: skip
    assert rows(store, "SELECT DISTINCT run_id FROM page_history UNION SELECT run_id FROM finding_history") == [(3,), (4,)]


async def test_a_crawl_from_before_there_were_runs_is_the_first(store: SqliteStore) -> None:
    await store.checks.install(CHECKS, "page")
    await store.frontier.add([target("")], seed=True)
    [unfinished] = await store.runs.all()
    assert (unfinished.number, unfinished.partial) == (1, True)
    await crawl(store, SITE)
    [whole] = await store.runs.all()
    assert (whole.number, whole.partial, whole.kept, whole.score) == (1, False, True, None)
    assert await store.runs.begin_recrawl({}, "2.0") == 2
    assert [(run.number, run.version, run.kept) for run in await store.runs.all()] == [(1, "", True), (2, "2.0", True)]


async def test_a_recrawl_looks_for_waiting_pages_by_their_index(store: SqliteStore) -> None:
    await audit(store, SITE)
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    await store.runs.begin_recrawl({}, "2.0")
    store.sql.set_trace_callback(None)
    [waiting] = [statement for statement in seen if statement.startswith("UPDATE hosts")]
    assert any("INDEX pages_frontier (host_id=?)" in step for step in plan(store, waiting))
    copied = [statement for statement in seen if "_history" in statement and statement.startswith("INSERT")]
    assert len(copied) == 2
    assert not [step for statement in copied for step in plan(store, statement) if "TEMP B-TREE" in step]
