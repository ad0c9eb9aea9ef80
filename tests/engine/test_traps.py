"""Sites without an end: cut off, told, and the crawl ends by itself."""

from __future__ import annotations

import pytest

from tests.support.crawling import by_path, crawl
from tests.support.exchange import Exchange, Reply
from tests.support.generated_sites import document
from tests.support.site import Site


async def facets(exchange: Exchange, rest: str) -> None:
    """Every page leads to itself with one more choice made."""
    chosen = len(exchange.seen.path)
    links = [f"/shop/?color={n}x{chosen}&size={n}y&brand={n}z{chosen}" for n in range(20)]
    await exchange.send(Reply(body=document("Shop", links)))


async def endless_list(exchange: Exchange, rest: str) -> None:
    """A list without a last page, under a session id that is new on each."""
    page = int(exchange.seen.path.partition("page=")[2].partition("&")[0] or 0)
    links = [f"/list/?page={page + step}&sid={exchange.seen.at:.6f}{step}" for step in (1, 2, 3)]
    await exchange.send(Reply(body=document("List", links)))


async def test_an_endless_list_under_ever_new_sessions_is_cut_off_too() -> None:
    async with Site() as site:
        site.handle("/list/*", endless_list)
        result = await crawl(site, "/list/", trap_limit=10, concurrency=8, ignore_robots=True)
    assert len(site.requests) == 10 + 1
    assert site.url("/list/?page={number}&sid={session}") in {trap.pattern for trap in result.traps}


@pytest.mark.parametrize(
    "path, why",
    [("/calendar/2024/1", "calendar"), ("/session/0", "session id"), ("/shop/", "facets")],
    ids=["calendar", "session ids", "facets"],
)
async def test_an_endless_site_is_cut_off_and_told(path: str, why: str) -> None:
    async with Site() as site:
        site.handle("/shop/*", facets)
        site.page("/", links=[path, "/leaf/1", "/leaf/2"])
        result = await crawl(site, trap_limit=25, concurrency=8, ignore_robots=True)
    assert {trap.reason for trap in result.traps} == {why}
    assert all(trap.skipped for trap in result.traps)
    assert len(site.requests) < 300
    assert by_path(site, result)["/leaf/2"].status_code == 200


async def test_the_cap_of_a_trap_is_exact() -> None:
    async with Site() as site:
        result = await crawl(site, "/calendar/2024/1", trap_limit=12, ignore_robots=True)
    # The start was named by a person, and belongs to no trap.
    assert len(site.requests) == 12 + 1
    assert [(trap.pattern, trap.skipped) for trap in result.traps] == [(site.url("/calendar/{date}"), 2)]


async def test_paths_that_only_grow_are_refused_by_their_shape() -> None:
    async with Site() as site:
        result = await crawl(site, "/grow/", concurrency=8, ignore_robots=True)
    refused = [info.not_fetched for info in result.internal_urls if info.not_fetched]
    assert refused
    assert all(reason.startswith("trap: ") for reason in refused)
    assert len(site.requests) < 200


@pytest.mark.parametrize("path", ["/calendar/2024/1", "/session/0", "/grow/"])
async def test_with_traps_switched_off_only_the_limit_ends_it(path: str) -> None:
    async with Site() as site:
        result = await crawl(site, path, trap_limit=0, limit=250, concurrency=8, ignore_robots=True)
    assert len(site.requests) == 250
    assert result.traps == ()
    assert result.stopped == "limit of 250 pages"


async def test_ordinary_pages_are_in_no_trap() -> None:
    async with Site() as site:
        result = await crawl(site, "/tree/80/4/0", trap_limit=5)
    assert result.traps == ()
    assert result.total_processed == 80
