"""The Python API: `tadoru.links` from a plain thread, `links_async` in a loop, and what either says when it is called wrongly."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tadoru
from tadoru.engine.notifications import CrawlNotification, PageDone
from tadoru.errors import StoreError, UsageError
from tests.support.crawling import UNHURRIED
from tests.support.site import Site


def test_links_is_a_plain_function() -> None:
    with Site() as site:
        result = tadoru.links(site.url("/tree/12/3/0"), **UNHURRIED)
    assert isinstance(result, tadoru.CrawlResult)
    assert result.total_processed == len(result.internal_urls) == 12
    assert tadoru.CrawlResult.from_dict(result.to_dict()) == result


def test_links_works_in_threads_side_by_side() -> None:
    with Site() as site, ThreadPoolExecutor(2) as pool:
        sizes = list(pool.map(lambda n: tadoru.links(site.url(f"/tree/{n}/3/0"), **UNHURRIED).total_processed, (7, 11)))
    assert sizes == [7, 11]


async def test_links_inside_a_running_loop_says_what_to_call_instead() -> None:
    with pytest.raises(UsageError, match="links_async"):
        tadoru.links("http://127.0.0.1:1/")


async def test_notices_come_while_the_crawl_runs() -> None:
    notices: list[CrawlNotification] = []
    async with Site() as site:
        await tadoru.links_async(site.url("/tree/5/2/0"), notify=notices.append, **UNHURRIED)
    assert sorted(notice.depth for notice in notices if isinstance(notice, PageDone)) == [0, 1, 1, 2, 2]


async def test_a_crawl_that_is_cancelled_goes_on_from_its_state(tmp_path: Path) -> None:
    state = str(tmp_path / "state.db")
    async with Site() as site:
        gate = site.hold("/tree/30/3/5")
        crawling = asyncio.create_task(tadoru.links_async(site.url("/tree/30/3/0"), state=state, **UNHURRIED))
        await site.requested("/tree/30/3/5")
        crawling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await crawling
        gate.release()
        result = await tadoru.links_async(site.url("/tree/30/3/0"), state=state, **UNHURRIED)
    assert result.total_processed == 30
    assert site.hits("/tree/30/3/0") == 1


async def test_the_temporary_files_go_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with Site() as site:
        await tadoru.links_async(site.url("/tree/3/2/0"), **UNHURRIED)
        gate = site.hold("/leaf/1")
        crawling = asyncio.create_task(tadoru.links_async(site.url("/leaf/1"), **UNHURRIED))
        await site.requested("/leaf/1")
        crawling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await crawling
        gate.release()
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - in a loop, but nothing else is in it any more


@pytest.mark.parametrize(
    "url, options, words",
    [
        ("http://127.0.0.1:1/", {"dept": 3}, "did you mean “depth”"),
        ("http://127.0.0.1:1/", {"scope": "galaxy"}, "scope"),
        ("http://127.0.0.1:1/", {"exclude": ("(",)}, "exclude"),
        ("http://127.0.0.1:1/", {"auth_type": "basic"}, "auth-username"),
        ("http://127.0.0.1:1/", {"header": ("no colon",)}, "header"),
        ("http://127.0.0.1:1/", {"concurrency": 0}, "concurrency"),
        ("http://127.0.0.1:1/", {"delay": -1.0}, "delay"),
        ("http://127.0.0.1:1/", {"timeout": 0}, "timeout"),
        ("http://127.0.0.1:1/", {"limit": -1}, "limit"),
        ("http://exa mple/", {}, "exa mple"),
        ("ftp://example.com/", {}, "ftp"),
        ("", {}, "URL"),
    ],
)
async def test_a_call_that_is_wrong_is_refused_before_anything_is_requested(
    url: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        await tadoru.links_async(url, **options)


async def test_a_state_file_of_another_crawl_is_refused(tmp_path: Path) -> None:
    state = str(tmp_path / "state.db")
    async with Site() as site:
        await tadoru.links_async(site.url("/leaf/1"), state=state, **UNHURRIED)
        with pytest.raises(UsageError, match="contains the crawl of"):
            await tadoru.links_async(site.url("/leaf/2"), state=state, **UNHURRIED)


async def test_a_state_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "notes.txt"
    state.write_text("not a database, and longer than the header of one would be: " * 20)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        await tadoru.links_async("http://127.0.0.1:1/", state=str(state))
