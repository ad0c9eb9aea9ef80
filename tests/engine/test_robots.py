"""robots.txt in a running crawl: asked once, obeyed by its status and its lines, and its pace kept."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from tadoru.engine.notifications import PageRefused
from tests.support.crawling import FastClock, by_path, crawl, set_up
from tests.support.site import Site


async def test_a_disallowed_page_is_not_requested_and_the_line_that_forbids_it_is_told() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /private\nAllow: /private/open\n")
        site.page("/", links=["/private/secret", "/private/open", "/public"])
        site.page("/private/open")
        site.page("/public")
        pages = by_path(site, await crawl(site))
    assert pages["/private/secret"].not_fetched == "robots.txt line 2: Disallow: /private"
    assert (pages["/private/open"].status_code, pages["/public"].status_code) == (200, 200)
    assert site.hits("/private/secret") == 0


async def test_our_own_group_counts_and_that_of_others_does_not() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /\n\nUser-agent: tadoru\nDisallow: /not-you\n\nUser-agent: Other\nDisallow: /ok\n")
        site.page("/", links=["/not-you", "/ok"])
        site.page("/ok")
        pages = by_path(site, await crawl(site))
    assert (pages["/"].status_code, pages["/ok"].status_code, pages["/not-you"].status_code) == (200, 200, None)


GROUPS = "User-agent: *\nDisallow: /all\n\nUser-agent: MyBot\nDisallow: /mine\n\nUser-agent: Googlebot\nDisallow: /google\n"


@pytest.mark.parametrize(
    "options, refused",
    [
        ({}, "/all"),
        ({"user_agent": "MyBot/1.0 (+https://example.com/)"}, "/mine"),
        ({"user_agent": "Mozilla/5.0 (compatible; mybot/2.1; +https://example.com/)"}, "/mine"),
        ({"header": ("User-Agent: MyBot/3",)}, "/mine"),
        ({"user_agent": "MyBot/1.0", "robots_agent": "Googlebot"}, "/google"),
        ({"user_agent": "MyBot/1.0", "robots_agent": "Another"}, "/all"),
    ],
    ids=["our own", "a user agent", "compatible", "a header", "another crawler", "a crawler without a group"],
)
async def test_the_product_token_of_the_user_agent_that_is_sent_chooses_the_group(options: dict[str, Any], refused: str) -> None:
    async with Site() as site:
        site.robots(GROUPS)
        site.page("/", links=["/all", "/mine", "/google"])
        for path in ("/all", "/mine", "/google"):
            site.page(path)
        await crawl(site, **options)
    assert {"/all", "/mine", "/google"} - set(site.paths) == {refused}


async def test_a_robots_file_is_tried_instead_of_that_of_the_site_and_of_no_other(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /new\n", encoding="utf-8")
    async with Site() as site, Site() as other:
        site.robots("User-agent: *\nDisallow: /old\n")
        other.robots("User-agent: *\nDisallow: /\n")
        site.page("/", links=["/old", "/new", other.url("/x")])
        site.page("/old")
        await crawl(site, robots_file=str(tmp_path / "robots.txt"), check=True, allow_private=True)
    assert set(site.paths) == {"/", "/old"}
    assert other.paths == ["/robots.txt"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_robots_txt_that_is_not_there_forbids_nothing(status: int) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /\n", status=status)
        site.page("/")
        assert by_path(site, await crawl(site))["/"].status_code == 200


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_is_left_alone(tmp_path: Path, status: int) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nAllow: /\n", status=status)
        site.page("/")
        setup = await set_up(site, tmp_path)
        await setup.run(clock=FastClock())
        pages = by_path(site, await setup.result())
    reason = f"robots.txt returned status {status}, which means everything is disallowed"
    assert pages["/"].not_fetched == reason
    assert site.hits("/") == 0
    assert site.hits("/robots.txt") == (4 if status == 429 else 3)
    assert [notice.reason for notice in setup.told(PageRefused)] == [reason]


async def test_a_robots_txt_that_recovers_is_believed(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("", status=503, times=1)
        site.robots("User-agent: *\nDisallow: /no\n")
        site.page("/", links=["/no"])
        setup = await set_up(site, tmp_path)
        await setup.run(clock=FastClock())
        pages = by_path(site, await setup.result())
    assert (pages["/"].status_code, pages["/no"].status_code) == (200, None)


@pytest.mark.parametrize("behaviour", ["drop", "never"])
async def test_a_robots_txt_that_cannot_be_had_forbids_everything(tmp_path: Path, behaviour: str) -> None:
    async with Site() as site:
        site.misbehave("/robots.txt", behaviour)
        site.page("/")
        setup = await set_up(site, tmp_path, timeout=0.2)
        await setup.run(clock=FastClock())
        pages = by_path(site, await setup.result())
    assert pages["/"].not_fetched is not None
    assert pages["/"].not_fetched.startswith("robots.txt could not be read")
    assert site.hits("/") == 0


async def test_redirects_of_robots_txt_are_followed_to_the_rules() -> None:
    async with Site() as site:
        site.redirect("/robots.txt", "/moved.txt", status=301)
        site.redirect("/moved.txt", "/rules.txt")
        site.reply("/rules.txt", body="User-agent: *\nDisallow: /no\n", content_type="text/plain")
        site.page("/", links=["/no"])
        pages = by_path(site, await crawl(site))
    assert pages["/no"].not_fetched == "robots.txt line 2: Disallow: /no"
    assert site.paths[:3] == ["/robots.txt", "/moved.txt", "/rules.txt"]


@pytest.mark.parametrize("behaviour", ["loop", "chain", "no-location"])
async def test_a_robots_txt_that_redirects_to_nowhere_forbids_nothing(behaviour: str) -> None:
    async with Site() as site:
        site.misbehave("/robots.txt", behaviour)
        site.page("/")
        assert by_path(site, await crawl(site))["/"].status_code == 200


@pytest.mark.parametrize(
    "target, kind",
    [
        ("http://169.254.169.254/latest", "blocked_address"),
        ("http://nowhere.invalid/robots.txt", "dns_failure"),
        ("http://127.0.0.1:1/robots.txt", "blocked_address"),
    ],
)
async def test_a_robots_txt_elsewhere_that_cannot_be_had_is_no_failure_of_the_pages(
    tmp_path: Path, target: str, kind: str
) -> None:
    async with Site() as site:
        site.redirect("/robots.txt", target)
        site.page("/")
        setup = await set_up(site, tmp_path)
        await setup.run(clock=FastClock())
        result = await setup.result()
    reason = f"robots.txt could not be read ({kind}), which means everything is disallowed"
    assert by_path(site, result)["/"].not_fetched == reason
    assert result.failed_urls == ()
    assert site.paths[0] == "/robots.txt"
    assert site.hits("/") == 0


async def test_only_the_first_500_kib_of_a_robots_txt_count() -> None:
    padding = "# nothing to see here, only words that fill the file\n"
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /early\n" + padding * (500 * 1024 // len(padding) + 1) + "Disallow: /late\n")
        site.page("/", links=["/early", "/late"])
        site.page("/late")
        pages = by_path(site, await crawl(site))
    assert (pages["/early"].status_code, pages["/late"].status_code) == (None, 200)


async def test_pages_wait_for_a_slow_robots_txt() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /no\n")
        site.page("/", links=["/no"])
        gate = site.hold("/robots.txt")
        crawling = asyncio.create_task(crawl(site))
        await site.requested("/robots.txt")
        assert site.paths == ["/robots.txt"]
        gate.release()
        assert by_path(site, await crawling)["/no"].status_code is None


async def test_robots_txt_is_asked_for_once_by_all_engines_of_a_crawl(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /tree/60/3/7\n")
        setup = await set_up(site, tmp_path, "/tree/60/3/0", concurrency=8)
        await setup.run(engines=4)
    assert site.hits("/robots.txt") == 1
    assert site.hits("/tree/60/3/7") == 0


async def test_robots_ignored_on_request_are_not_even_asked_for() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /\n")
        site.page("/", links=["/a"])
        site.page("/a")
        result = await crawl(site, ignore_robots=True)
    assert result.total_processed == 2
    assert site.hits("/robots.txt") == 0


async def test_the_crawl_delay_is_kept_between_requests() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nCrawl-delay: 0.2\n")
        await crawl(site, "/tree/5/4/0", concurrency=8)
        asked = [seen.at for seen in site.requests[1:]]
    assert len(asked) == 5
    # A request that the site sees late makes one gap shorter, but not all of them together.
    assert min(after - before for before, after in itertools.pairwise(asked)) > 0.05
    assert asked[-1] - asked[0] > 3.5 * 0.2


async def test_a_crawl_delay_beyond_a_minute_counts_as_a_minute(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nCrawl-delay: 86400\n")
        setup = await set_up(site, tmp_path, "/tree/2/1/0")
        clock = FastClock(1000.0)
        await setup.run(clock=clock)
        assert 60 <= clock.monotonic() < 86400
        (host,) = (row for row in setup.store(clock).sql.execute("SELECT gap, base FROM hosts"))
    assert host == (60.0, 60.0)
    assert site.hits("/tree/2/1/1") == 1


async def test_the_start_being_disallowed_leaves_nothing_but_the_reason() -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /\n")
        result = await crawl(site)
    assert result.total_processed == 0
    assert [info.not_fetched for info in result.internal_urls] == ["robots.txt line 2: Disallow: /"]
