"""A result whose URLs stay in the store says the same as one that was loaded."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from tadoru.errors import StoreError
from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.result import CrawlResult
from tadoru.jobs.links.result_reader import stored_edges
from tests.support.crawling import FastClock, Setup, crawl, set_up
from tests.support.site import Site


@pytest.fixture
def crawled(tmp_path: Path) -> Setup:
    async def run() -> Setup:
        async with Site() as site:
            site.page("/", links=["/tree/30/3/0", "/old", "/gone", "/bad/garbage", "http://elsewhere.example/", "/bad/loop"])
            site.redirect("/old", "/older")
            site.redirect("/older", "/gone")
            setup = await set_up(site, tmp_path, ignore_robots=True, limit=30)
            await setup.run(clock=FastClock())
            return setup

    return asyncio.run(run())


def both(setup: Setup) -> tuple[CrawlResult, CrawlResult]:
    loaded = asyncio.run(setup.result())
    stored = asyncio.run(replace(setup, links=replace(setup.links, load=False)).result())
    return loaded, stored


def test_stored_urls_are_the_loaded_ones_each_time_they_are_read(crawled: Setup) -> None:
    loaded, stored = both(crawled)
    assert tuple(stored.internal_urls) == tuple(stored.internal_urls) == loaded.internal_urls
    assert tuple(stored.external_urls) == loaded.external_urls
    assert (len(stored.internal_urls), len(stored.external_urls)) == (len(tuple(loaded.internal_urls)), 1)
    assert stored.redirects == loaded.redirects
    assert next(iter(loaded.internal_urls)) in stored.internal_urls
    assert next(iter(loaded.internal_urls)) not in stored.external_urls


def test_reading_may_stop_in_the_middle(crawled: Setup) -> None:
    _, stored = both(crawled)
    assert next(iter(stored.internal_urls)).depth == 0
    assert len(list(stored.internal_urls)) == len(stored.internal_urls)


@pytest.mark.parametrize("form", ["text", "json", "csv", "dot", "html"])
def test_every_form_is_the_same_from_the_store(crawled: Setup, form: str) -> None:
    written = []
    for result in both(crawled):
        out = StringIO()
        edges = lambda: stored_edges(crawled.database)  # noqa: E731 - one line, used once
        write_links_report(LinksReport(result, edges, result.bad_links, show_external=True, checked=True), form, out)
        written.append(out.getvalue())
    assert written[0] == written[1]
    assert written[0]


def test_the_json_form_reads_back_as_the_result(crawled: Setup) -> None:
    loaded, stored = both(crawled)
    assert CrawlResult.from_dict(json.loads(json.dumps(stored.to_dict()))) == loaded


async def test_a_crawl_whose_file_was_removed_meanwhile_is_an_error_and_not_an_empty_site(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        setup = await set_up(site, tmp_path)
        await setup.run()
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"crawl.db{suffix}").unlink(missing_ok=True)
        with pytest.raises(StoreError, match=r"crawl\.db was removed or replaced during the crawl"):
            await setup.result()


async def test_a_resumed_crawl_took_the_time_of_all_its_runs(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        state = str(tmp_path / "crawl.db")
        first = await crawl(site, state=state)
        second = await crawl(site, state=state)
    assert second.crawl_duration >= first.crawl_duration > 0
