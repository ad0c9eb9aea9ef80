"""A run reads the same whether it is the last one or an earlier one, in the order of its URLs, and nothing is sorted for it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tadoru.store.crawl.records import PageStatus
from tadoru.store.crawl.run_pages import PageState, StrayFinding
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import external, target, url
from tests.store.audited import OK, SITE, Page, audit, changed, crawl
from tests.store.test_plans import plan
from tests.support.clock import FakeClock

STRAYS = {"https://a.example/sitemap.xml": "sitemap-missing", "https://a.example/z.png": "duplicate-title"}


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", FakeClock())
    yield store
    await store.close()


async def states(store: SqliteStore, run: int | None = None) -> dict[str, PageState]:
    return {state.url.removeprefix(url("")): state async for state in store.run_pages.page_states(run)}


async def strays(store: SqliteStore, run: int | None = None) -> list[StrayFinding]:
    return [stray async for stray in store.run_pages.stray_findings(run)]


async def test_an_earlier_run_reads_as_it_did_when_it_was_the_last(store: SqliteStore) -> None:
    refused = replace(OK, refused="robots.txt line 2: Disallow: /c", found=("canonicalised",))
    await audit(store, changed(SITE, c=refused, b=Page(code=None)), stray=STRAYS)
    pages, others, totals = await states(store), await strays(store), await store.run_pages.check_totals(None)
    assert len(pages) == len(SITE)
    assert len(others) == len(STRAYS)
    assert totals
    await audit(store, changed(SITE, a=replace(OK, title="Another", found=())), again=True)
    assert await states(store, 1) == pages
    assert await strays(store, 1) == others
    assert await store.run_pages.check_totals(1) == totals
    assert await states(store) != pages


async def test_a_page_has_everything_that_can_be_compared(store: SqliteStore) -> None:
    await audit(store, SITE)
    page = (await states(store))["a"]
    assert page == PageState(
        key=url("a"), url=url("a"), status="completed", status_code=200, title="Page A", description="A description",
        h1="A heading", indexability="indexable", content_hash="some text", word_count=100, depth=1, response_ms=50.0,
        size=5000, inlinks=1, findings='[[2,""]]',
    )  # fmt: skip
    assert (await states(store))["old"].redirect_url == url("a")


async def test_pages_come_in_the_order_of_their_urls(store: SqliteStore) -> None:
    await audit(store, {"": replace(OK, links=("Z", "é", "b/1", "a", "b"))})
    seen = [state.url async for state in store.run_pages.page_states(None)]
    assert seen == sorted(seen)
    assert len(seen) == 6


async def test_rewritten_urls_come_in_their_own_order(store: SqliteStore) -> None:
    await audit(store, {"": replace(OK, links=("a", "b", "c"))}, stray=STRAYS)
    turned = {"a": "3", "b": "2", "c": "1"}

    def rewrite(address: str) -> str:
        return re.sub(r"[abc]$", lambda found: turned[found[0]], address)

    seen = [(state.key, state.url) async for state in store.run_pages.page_states(None, rewrite)]
    assert seen == [(url(""), url("")), (url("1"), url("c")), (url("2"), url("b")), (url("3"), url("a"))]
    keys = [stray.key async for stray in store.run_pages.stray_findings(None, lambda address: address[::-1])]
    assert keys == sorted(name[::-1] for name in STRAYS)


async def test_what_an_earlier_answer_said_is_not_said_of_a_page_that_does_not_answer_now(store: SqliteStore) -> None:
    await audit(store, SITE)
    await audit(store, changed(SITE, a=Page(code=None), old=Page(code=None)), again=True)
    now = await states(store)
    assert now["a"] == PageState(key=url("a"), url=url("a"), status="error", indexability="no response", depth=1)
    assert now["old"].redirect_url is None


async def test_a_page_that_only_a_sitemap_names_has_no_depth(store: SqliteStore) -> None:
    await audit(store, SITE)
    async with store.db.transaction() as sql:
        sql.execute("UPDATE pages SET depth = 1000 WHERE url = ?", (url("c"),))
    assert (await states(store))["c"].depth is None
    assert (await states(store))["a"].depth == 1


async def test_findings_about_pages_of_other_sites_and_pages_that_were_not_requested_are_strays(store: SqliteStore) -> None:
    await audit(store, SITE, stray=STRAYS)
    known = PageStatus.DISCOVERED
    await store.frontier.add([external("there"), target("later", status=known)], seed=False)
    numbers = {name: store.db.check_number(name) for name in ("title-missing", "canonicalised")}
    async with store.db.transaction() as sql:
        for address, name, subject in ((url("there", "b.example"), "title-missing", "x"), (url("later"), "canonicalised", "")):
            (page,) = sql.execute("SELECT id FROM pages WHERE url = ?", (address,)).fetchone()
            sql.execute("INSERT INTO page_findings VALUES (?, ?, ?, '', NULL)", (page, numbers[name], subject))
    assert [found[1:] for found in await strays(store)] == [
        (url("later"), "canonicalised", ""),
        ("https://a.example/sitemap.xml", "sitemap-missing", ""),
        ("https://a.example/z.png", "duplicate-title", ""),
        (url("there", "b.example"), "title-missing", "x"),
    ]


async def test_findings_of_pages_that_wait_to_be_asked_again_are_none_of_this_run(store: SqliteStore) -> None:
    await audit(store, SITE)
    assert await store.runs.begin_recrawl({}, "2.0") == 2
    assert await strays(store) == []
    await crawl(store, SITE, most=1)
    assert (list(await states(store)), await strays(store)) == ([""], [])
    await store.runs.end(2, RunOutcome.LIMIT, None)
    assert await store.runs.begin_recrawl({}, "3.0", limit=1) == 3
    assert (list(await states(store, 2)), await strays(store, 2)) == ([""], [])


@pytest.mark.parametrize("share, expected", [(0.5, 20.0), (0.9, 40.0), (0.25, 10.0), (0.01, 10.0), (1.0, 40.0)], ids=str)
async def test_a_percentile_is_the_time_that_so_many_kept(share: float, expected: float, store: SqliteStore) -> None:
    assert await store.run_pages.response_time(share) is None
    times = {"": replace(OK, links=("a", "b", "c"), ms=10.0), "a": replace(OK, ms=20.0), "b": replace(OK, ms=30.0)}
    await audit(store, {**times, "c": replace(OK, ms=40.0)})
    assert await store.run_pages.response_time(share) == expected


@pytest.mark.parametrize("run", [None, 1], ids=["the last run", "an earlier run"])
async def test_pages_are_read_by_the_index_of_urls_and_not_sorted(run: int | None, store: SqliteStore) -> None:
    await audit(store, SITE)
    await audit(store, SITE, again=True)
    await store.graph.settle()
    store.sql.execute("ANALYZE")
    seen: list[str] = []
    store.sql.set_trace_callback(seen.append)
    assert await states(store, run)
    _ = await strays(store, run)
    store.sql.set_trace_callback(None)
    pages, others = seen
    steps = plan(store, pages)
    assert any(re.match("SCAN p USING (COVERING )?INDEX sqlite_autoindex_pages_1", step) for step in steps)
    assert not [step for step in steps if "TEMP B-TREE" in step]
    assert [step for step in plan(store, others) if step.startswith("SCAN")] in (["SCAN f"], [])
