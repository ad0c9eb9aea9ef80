"""What is worth asking again, how often, and how long after: on a clock that runs fast, so that nothing waits."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from tadoru.engine.notifications import HostSlowed, PageFailed, PageRetried
from tadoru.model.web import FailureKind
from tests.support.crawling import FastClock, Setup, set_up
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


class SiteCrawl(NamedTuple):
    setup: Setup
    site: Site
    gaps: list[float]
    """Between the requests for the page in question, in the crawl's own seconds."""


async def _crawl_one(site: Site, folder: Path, path: str, speed: float = 200.0) -> SiteCrawl:
    site.page("/", links=[path])
    setup = await set_up(site, folder, ignore_robots=True)
    await setup.run(clock=FastClock(speed))
    asked = [seen.at * speed for seen in site.requests if seen.path == path]
    return SiteCrawl(setup, site, [after - before for before, after in itertools.pairwise(asked)])


async def _code(crawled: SiteCrawl, path: str) -> int | None:
    (info,) = (info for info in (await crawled.setup.result()).internal_urls if info.url == crawled.site.url(path))
    return info.status_code


async def test_429_is_asked_again_no_sooner_than_retry_after_says(tmp_path: Path) -> None:
    async with Site() as site:
        crawled = await _crawl_one(site, tmp_path, "/bad/busy/3/7")
        assert await _code(crawled, "/bad/busy/3/7") == 200
    assert len(crawled.gaps) == 3
    assert min(crawled.gaps) >= 7
    assert [notice.kind for notice in crawled.setup.told(PageRetried)] == ["http_429"] * 3
    assert min(notice.after for notice in crawled.setup.told(PageRetried)) >= 7
    assert min(notice.pause for notice in crawled.setup.told(HostSlowed) if notice.pause) >= 7


async def test_429_for_the_fourth_time_stands(tmp_path: Path) -> None:
    async with Site() as site:
        crawled = await _crawl_one(site, tmp_path, "/bad/busy/9/1")
        assert await _code(crawled, "/bad/busy/9/1") == 429
        result = await crawled.setup.result()
    assert len(crawled.gaps) == 3
    assert [(failed.error_type, failed.blocked) for failed in result.failed_urls] == [("http_429", True)]
    assert result.total_processed == 2


@pytest.mark.parametrize("failures, code, asked", [(1, 200, 2), (2, 200, 3), (3, 503, 3)])
async def test_a_flapping_page_gets_two_more_tries(tmp_path: Path, failures: int, code: int, asked: int) -> None:
    async with Site() as site:
        crawled = await _crawl_one(site, tmp_path, f"/bad/flap/{failures}")
        assert await _code(crawled, f"/bad/flap/{failures}") == code
    assert site.hits(f"/bad/flap/{failures}") == asked
    assert min(crawled.gaps) >= 0.5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 501])
async def test_what_would_only_be_said_again_is_not_asked_again(tmp_path: Path, status: int) -> None:
    async with Site() as site:
        site.reply("/p", status=status)
        crawled = await _crawl_one(site, tmp_path, "/p")
        assert await _code(crawled, "/p") == status
    assert site.hits("/p") == 1
    assert crawled.setup.told(PageRetried) == []


async def test_a_dropped_connection_is_tried_three_more_times_with_growing_pauses(tmp_path: Path) -> None:
    async with Site() as site:
        crawled = await _crawl_one(site, tmp_path, "/bad/partial")
    assert site.hits("/bad/partial") == 4
    retried = crawled.setup.told(PageRetried)
    assert [notice.kind for notice in retried] == [FailureKind.INCOMPLETE] * 3
    for number, (notice, gap) in enumerate(zip(retried, crawled.gaps, strict=True)):
        assert 2**number * 0.5 <= notice.after < 2**number * 1.5
        assert gap >= notice.after
    assert [notice.kind for notice in crawled.setup.told(PageFailed)] == [FailureKind.INCOMPLETE]


async def test_a_page_that_comes_after_two_broken_answers_is_read(tmp_path: Path) -> None:
    async with Site() as site:
        site.reply("/p", status=500, times=2)
        site.page("/p", links=["/leaf/1"])
        crawled = await _crawl_one(site, tmp_path, "/p")
        assert await _code(crawled, "/leaf/1") == 200
        result = await crawled.setup.result()
    assert result.failed_urls == ()
    assert site.hits("/p") == 3


async def test_every_failed_attempt_is_written_down(tmp_path: Path) -> None:
    async with Site() as site:
        crawled = await _crawl_one(site, tmp_path, "/bad/flap/2")
        store = crawled.setup.store(FastClock())
        rows = store.sql.execute("SELECT url, error_type FROM crawl_errors").fetchall()
        await store.close()
    assert rows == [(site.url("/bad/flap/2"), "http_503")] * 2


async def test_other_pages_go_on_while_one_waits_for_its_retry(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/p", *(f"/leaf/{number}" for number in range(20))])
        site.reply("/p", status=500, times=1)
        site.page("/p")
        setup = await set_up(site, tmp_path, ignore_robots=True, concurrency=1)
        # Slow enough that all the others fit into its pause on a busy machine.
        await setup.run(clock=FastClock(2.0))
    assert site.paths.index("/p") == 1
    assert site.paths[-1] == "/p"
    assert len(site.paths) == 23


async def test_an_unreachable_host_is_a_named_failure_after_one_retry(tmp_path: Path) -> None:
    async with Site() as site:
        pass
    setup = await set_up(site, tmp_path)
    await setup.run(clock=FastClock())
    (failed,) = (await setup.result()).failed_urls
    assert failed.error_type == FailureKind.REFUSED
    assert len(setup.told(PageFailed)) == 1


async def test_an_answer_that_was_too_slow_is_given_twice_the_time(tmp_path: Path) -> None:
    async def slow(exchange: Exchange, _: str) -> None:
        await asyncio.sleep(0.6)
        await exchange.send(Reply(body=b"<title>at last</title>"))

    async with Site() as site:
        site.handle("/p", slow)
        setup = await set_up(site, tmp_path, "/p", ignore_robots=True, timeout=0.4)
        await setup.run(clock=FastClock())
        result = await setup.result()
    assert [info.title for info in result.internal_urls] == ["at last"]
    assert setup.told(PageRetried)[0].kind == FailureKind.RESPONSE_TIMEOUT
