"""Pages that a re-crawl finds broken and that nothing names any more: put away, taken up again, counted right all the while."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.crawl_database import CrawlDatabase
from tests.contract.conftest import Open
from tests.contract.crawls import statuses, url
from tests.store.audited import Page, audit

pytestmark = pytest.mark.parametrize("handles", ["sqlite", "postgresql"], indirect=True)  # What is in memory is crawled once.
BEFORE = {"": Page(links=["a", "b"]), "a": Page(), "b": Page(links=["a"])}
AFTER = {"": Page(links=["b"]), "a": Page(code=404, links=["a"]), "b": Page()}


@pytest.fixture
def store(handles: Open) -> CrawlDatabase:
    opened = handles()
    assert isinstance(opened, CrawlDatabase)
    return opened


async def purposes(store: CrawlDatabase) -> dict[str, str]:
    return {page.url.removeprefix(url("")): page.purpose async for page in store.graph.pages()}


async def test_nothing_is_put_away_after_a_first_crawl(store: CrawlDatabase) -> None:
    await audit(store, AFTER)
    assert await store.stale_pages.retire() == 0


async def test_what_is_broken_and_named_nowhere_is_put_away_and_asked_for_by_the_next_run(store: CrawlDatabase) -> None:
    await audit(store, BEFORE)
    await audit(store, AFTER, again=True)
    before = await store.frontier.counts()
    assert (await store.stale_pages.retire(), await store.stale_pages.retire()) == (1, 0)
    assert await purposes(store) == {"": "page", "a": "gone", "b": "page"}
    assert await store.frontier.counts() == before
    assert [page.url async for page in store.run_pages.page_states(None)] == [url(""), url("b")]
    assert [page.url async for page in store.run_pages.page_states(1)] == [url(""), url("a"), url("b")]
    assert await store.runs.begin_recrawl({}, "9.9") == 3
    assert await purposes(store) == {"": "page", "a": "page", "b": "page"}
    assert set((await statuses(store)).values()) == {"queued"}


async def test_what_was_put_away_is_taken_up_when_more_is_about_to_be_read(store: CrawlDatabase) -> None:
    await audit(store, BEFORE)
    await audit(store, AFTER, again=True)
    assert await store.stale_pages.recall() == 0
    await store.stale_pages.retire()
    assert await store.stale_pages.recall() == 1
    counts = await store.frontier.counts()
    assert (counts.queued, counts.completed, counts.counted) == (1, 2, 2)
    assert (await statuses(store))["a"] == "queued"


async def test_what_something_names_is_kept(store: CrawlDatabase) -> None:
    await audit(store, BEFORE)
    await audit(store, {**AFTER, "b": Page(canonical=url("a"))}, again=True)
    assert await store.stale_pages.retire() == 0
