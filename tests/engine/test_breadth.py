"""What a crawl finds: every page once, at its shortest depth, the same whatever the timing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tadoru.engine.crawl import Crawler
from tests.support.crawling import by_path, crawl, set_up
from tests.support.site import Site


@pytest.mark.parametrize("engines", [1, 3])
async def test_every_page_of_a_tree_is_requested_once(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/60/3/0", concurrency=8)
        await setup.run(engines=engines)
        result = await setup.result()
    assert {site.hits(f"/tree/60/3/{page}") for page in range(60)} == {1}
    assert site.hits("/robots.txt") == 1
    assert len(result.internal_urls) == result.total_processed == result.total_found == 60
    assert (result.external_urls, result.failed_urls) == ((), ())
    assert all(info.status_code == 200 and info.title for info in result.internal_urls)


async def test_internal_external_and_failed_urls_are_told_apart() -> None:
    async with Site() as site:
        site.page("/", links=["/a", "/gone", "/down", "http://elsewhere.example/x", "mailto:me@example.com", "/a#part"])
        site.page("/a", links=["/", "https://elsewhere.example/y"])
        site.reply("/down", status=500)
        result = await crawl(site, ignore_robots=True, concurrency=1, exclude=("/down",))
    assert [(path, info.status_code) for path, info in by_path(site, result).items()] == [
        ("/", 200),
        ("/a", 200),
        ("/down", None),
        ("/gone", 404),
    ]
    assert by_path(site, result)["/down"].not_fetched == "excluded by pattern /down"
    assert [info.url for info in result.external_urls] == ["http://elsewhere.example/x", "https://elsewhere.example/y"]
    assert [(failed.url, failed.error_type, failed.parent_url) for failed in result.failed_urls] == [
        (site.url("/gone"), "http_404", site.url("/"))
    ]
    assert site.paths == ["/", "/a", "/gone"]


async def test_depth_is_the_shortest_path_even_when_the_long_one_is_found_first() -> None:
    async with Site() as site:
        site.page("/", links=["/short", "/long"])
        site.page("/long", links=["/long/2"])
        site.page("/long/2", links=["/goal"])
        site.page("/short", links=["/goal"])
        site.page("/goal", links=["/after"])
        site.page("/after", links=["/end"])
        gate = site.hold("/short")
        crawling = asyncio.create_task(crawl(site))
        await site.requested("/end")
        gate.release()
        depths = {path: info.depth for path, info in by_path(site, await crawling).items()}
    assert depths == {"/": 0, "/short": 1, "/long": 1, "/long/2": 2, "/goal": 2, "/after": 3, "/end": 4}


async def test_a_shorter_path_found_late_lets_in_what_was_too_deep() -> None:
    async with Site() as site:
        site.page("/", links=["/short", "/long"])
        site.page("/long", links=["/long/2"])
        site.page("/long/2", links=["/goal"])
        site.page("/short", links=["/goal"])
        site.page("/goal", links=["/inside"])
        site.page("/inside", links=["/outside"])
        gate = site.hold("/short")
        crawling = asyncio.create_task(crawl(site, depth=3))
        await site.requested("/goal")
        gate.release()
        pages = by_path(site, await crawling)
    assert (pages["/goal"].depth, pages["/inside"].depth, pages["/inside"].status_code) == (2, 3, 200)
    assert (pages["/outside"].depth, pages["/outside"].status_code) == (4, None)
    assert pages["/outside"].not_fetched == "deeper than the depth limit"
    assert site.hits("/outside") == 0
    assert site.hits("/goal") == 1


@pytest.mark.parametrize("late", ["/b", "/c", "/d"])
async def test_the_result_does_not_depend_on_which_page_answers_last(late: str) -> None:
    async def links_of(held: str | None) -> list[tuple[str, int, str | None, str]]:
        async with Site(port=port) as site:
            for path, targets in graph.items():
                site.page(path, links=targets)
            gate = site.hold(held) if held else None
            crawling = asyncio.create_task(crawl(site, concurrency=4))
            if gate is not None:
                # Everything that can be reached without the held page comes first.
                for path in ("/b", "/c", "/d"):
                    await site.requested(path)
                gate.release()
            result = await crawling
            return [(info.url, info.depth, info.parent_url, info.title) for info in result.internal_urls]

    graph = {"/": ["/d", "/c", "/b"], "/b": ["/x"], "/c": ["/x", "/y"], "/d": ["/y", "/x"], "/x": ["/z"], "/y": ["/z"], "/z": []}
    async with Site() as probe:
        port = probe.port
    assert await links_of(late) == await links_of(None)


async def test_pages_are_asked_for_level_by_level(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/40/3/0", concurrency=1, ignore_robots=True)
        await setup.run()
        depths = {info.url: info.depth for info in (await setup.result()).internal_urls}
        asked = [depths[site.url(path)] for path in site.paths]
    assert asked == sorted(asked)


async def test_pages_nested_without_end_are_read(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/nested/300", "/leaf/1"])
        pages = by_path(site, await crawl(site))
    assert pages["/leaf/0"].depth == 2


async def test_a_crawl_of_a_start_that_is_not_html_is_one_page() -> None:
    async with Site() as site:
        site.reply("/file.pdf", body=b"%PDF-1.7 <a href='/x'>", content_type="application/pdf")
        result = await crawl(site, "/file.pdf")
    assert [(info.status_code, info.content_type) for info in result.internal_urls] == [(200, "application/pdf")]


async def test_two_crawls_in_one_process_do_not_meet() -> None:
    async with Site() as one, Site() as two:
        first, second = await asyncio.gather(crawl(one, "/tree/30/2/0"), crawl(two, "/tree/20/2/0"))
    assert (first.total_processed, second.total_processed) == (30, 20)
    assert {info.url.startswith(one.base) for info in first.internal_urls} == {True}


async def test_a_crawl_can_run_twice_over_the_same_file_without_asking_again(tmp_path: Path) -> None:
    async with Site() as site:
        setup = await set_up(site, tmp_path, "/tree/10/2/0")
        await setup.run()
        before = len(site.requests)
        held: list[Crawler] = []
        (ended,) = await setup.run(on_created=held.append)
    assert len(site.requests) == before
    assert not ended.stopped
