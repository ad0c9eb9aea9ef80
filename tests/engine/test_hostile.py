"""Sites that misbehave: each misbehaviour ends in its named error, in time, and the pages around it are none the worse."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from tadoru.jobs.links.result import CrawlResult, FailedUrl
from tadoru.model.web import FailureKind
from tests.support.crawling import FastClock, by_path, set_up
from tests.support.hostile import BEHAVIOURS
from tests.support.site import Site

HEALTHY = [f"/leaf/{number}" for number in range(30)]
TIMEOUT = 0.5
TIMED_OUT = "timeout"
"""Whichever phase it is in: on a busy machine headers can be late as well. The phases are told apart in tests/fetch."""
FAILURES = {
    "drop": FailureKind.NETWORK,
    "reset": FailureKind.NETWORK,
    "never": TIMED_OUT,
    "partial": FailureKind.INCOMPLETE,
    "partial-reset": FailureKind.INCOMPLETE,
    "chunks": FailureKind.INCOMPLETE,
    "cut-chunks": FailureKind.INCOMPLETE,
    "endless": FailureKind.TOO_LARGE,
    "drip": TIMED_OUT,
    "drip-headers": TIMED_OUT,
    "bomb/8": FailureKind.TOO_LARGE,
    "not-gzip": FailureKind.BAD_ENCODING,
    "long-header": FailureKind.HEADERS_TOO_LARGE,
    "many-headers": FailureKind.HEADERS_TOO_LARGE,
    "heavy-headers": FailureKind.HEADERS_TOO_LARGE,
    "no-location": FailureKind.BAD_REDIRECT,
    "garbage": FailureKind.PROTOCOL,
}
"""Behaviours whose own URL fails."""
ANSWERS = {
    "busy": 200,
    "flap": 200,
    "charset": 200,
    "duplicates": 200,
    "no-content": 204,
    "not-modified": 304,
    "continues": 200,
    "old": 200,
    "huge": 200,
    "private": 302,
    "loop": 302,
    "chain": 301,
}
"""Behaviours that come to an answer after all."""


class SiteCrawl(NamedTuple):
    site: Site
    result: CrawlResult
    failed: dict[str, FailedUrl]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> SiteCrawl:
    """One crawl over everything at once."""

    async def run() -> SiteCrawl:
        async with Site() as site:
            bad = [f"/bad/{name}" for name in (*FAILURES, *ANSWERS)]
            site.page("/", links=[*bad, *HEALTHY])
            folder = tmp_path_factory.mktemp("hostile")
            setup = await set_up(site, folder, timeout=TIMEOUT, concurrency=16, max_response_size=1024 * 1024)
            await setup.run(clock=FastClock())
            result = await setup.result()
        return SiteCrawl(site, result, {failed.url.removeprefix(site.base): failed for failed in result.failed_urls})

    return asyncio.run(run())


def test_every_behaviour_is_crawled_here() -> None:
    assert {name.partition("/")[0] for name in (*FAILURES, *ANSWERS)} == set(BEHAVIOURS)


@pytest.mark.parametrize("name", FAILURES)
def test_it_ends_in_its_named_error(crawled: SiteCrawl, name: str) -> None:
    failed = crawled.failed[f"/bad/{name}"]
    assert failed.error_type == FAILURES[name] or (FAILURES[name] == TIMED_OUT and failed.error_type.endswith(TIMED_OUT))
    assert failed.error_message
    assert failed.parent_url == crawled.site.url("/")
    assert by_path(crawled.site, crawled.result)[f"/bad/{name}"].not_fetched is None


@pytest.mark.parametrize("name", ANSWERS)
def test_it_comes_to_an_answer(crawled: SiteCrawl, name: str) -> None:
    assert by_path(crawled.site, crawled.result)[f"/bad/{name}"].status_code == ANSWERS[name]
    assert f"/bad/{name}" not in crawled.failed


def test_the_healthy_pages_are_read_once_each(crawled: SiteCrawl) -> None:
    pages = by_path(crawled.site, crawled.result)
    assert {pages[path].status_code for path in HEALTHY} == {200}
    assert {crawled.site.hits(path) for path in HEALTHY} == {1}


def test_a_loop_and_an_endless_chain_of_redirects_are_named(crawled: SiteCrawl) -> None:
    (loop,) = (failed for failed in crawled.failed.values() if failed.error_type == FailureKind.REDIRECT_LOOP)
    assert "/bad/loop/" in loop.url
    assert crawled.failed["/bad/chain/10"].error_type == FailureKind.TOO_MANY_REDIRECTS
    assert crawled.site.hits("/bad/chain/9") == 0


def test_what_is_not_the_links_fault_is_not_called_broken(crawled: SiteCrawl) -> None:
    broken = {link.url.removeprefix(crawled.site.base) for link in crawled.result.broken_links}
    assert "/bad/endless" not in broken
    assert "/bad/bomb/8" not in broken
    assert {"/bad/drop", "/bad/loop", "/bad/chain", "/bad/never"} <= broken


@pytest.mark.parametrize("name", ["never", "drip", "drip-headers"])
async def test_a_slow_answer_is_given_up_when_its_time_is_over(tmp_path: Path, name: str) -> None:
    async with Site() as site:
        site.page("/", links=[f"/bad/{name}"])
        setup = await set_up(site, tmp_path, timeout=0.2, ignore_robots=True)
        await setup.run(clock=FastClock())
        asked = [seen.at for seen in site.requests if seen.path == f"/bad/{name}"]
    gaps = [after - before for before, after in itertools.pairwise(asked)]
    # The first within the timeout, the retries within twice of it; the rest is backoff on a clock that runs, and a busy machine.
    assert len(gaps) == 3
    assert max(gaps) < 25
