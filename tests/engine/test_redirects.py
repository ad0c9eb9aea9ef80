"""Redirects, hop by hop: each hop is a page of the crawl, and where it leads is decided anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.engine.notifications import SiteMoved
from tadoru.model.web import FailureKind
from tadoru.rules.budget import Budget
from tests.support.crawling import FastClock, by_path, crawl, set_up
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_chain_of_redirects_is_followed_and_each_status_kept(status: int) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.redirect("/a", "/b", status)
        site.redirect("/b", "/c?x=1", status)
        site.page("/c", links=["/d"])
        site.page("/d")
        pages = by_path(site, await crawl(site))
    assert {path: info.status_code for path, info in pages.items()} == {
        **{"/": 200, "/a": status, "/b": status, "/c?x=1": 200, "/d": 200}
    }
    assert pages["/a"].redirect_to == pages["/b"].redirect_to == site.url("/c?x=1")
    assert {path: info.depth for path, info in pages.items()} == {"/": 0, "/a": 1, "/b": 1, "/c?x=1": 1, "/d": 2}


async def test_a_redirect_target_that_is_linked_as_well_is_requested_once() -> None:
    async with Site() as site:
        site.page("/", links=["/old", "/new", "/older"])
        site.redirect("/old", "/new")
        site.redirect("/older", "/new")
        site.page("/new")
        result = await crawl(site, concurrency=8)
    assert site.hits("/new") == 1
    assert len(result.redirects) == 2


async def test_redirects_do_not_count_against_the_limit() -> None:
    async with Site() as site:
        site.page("/", links=[f"/r{number}" for number in range(5)])
        for number in range(5):
            site.redirect(f"/r{number}", f"/leaf/{number}")
        result = await crawl(site, limit=4)
    assert sum(info.status_code == 200 for info in result.internal_urls) == 4


async def test_a_page_that_redirects_to_itself_is_a_loop() -> None:
    async with Site() as site:
        site.page("/", links=["/me"])
        site.redirect("/me", "/me")
        result = await crawl(site)
    assert [(failed.url, failed.error_type) for failed in result.failed_urls] == [(site.url("/me"), FailureKind.REDIRECT_LOOP)]
    assert site.hits("/me") == 1


async def test_redirects_that_lead_back_are_a_loop_wherever_they_are_entered() -> None:
    async with Site() as site:
        site.page("/", links=["/x", "/y", "/z"])
        site.redirect("/x", "/y")
        site.redirect("/y", "/z")
        site.redirect("/z", "/x")
        result = await crawl(site)
    (failed,) = result.failed_urls
    assert failed.error_type == FailureKind.REDIRECT_LOOP
    assert {link.url for link in result.broken_links} == {site.url(path) for path in ("/x", "/y", "/z")}
    assert [site.hits(path) for path in ("/x", "/y", "/z")] == [1, 1, 1]


async def test_a_redirect_to_another_host_is_recorded_and_not_followed() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=["/away"])
        site.redirect("/away", other.url("/landing"))
        result = await crawl(site, allow_private=True)
    assert by_path(site, result)["/away"].redirect_to == other.url("/landing")
    assert [(info.url, info.status_code) for info in result.external_urls] == [(other.url("/landing"), None)]
    assert other.requests == []


async def test_only_the_typed_host_and_port_are_exempt_from_the_address_guard() -> None:
    async with Site() as site, Site() as neighbour:
        site.page("/", links=["/to-neighbour", "/to-metadata", "/fine"])
        site.redirect("/to-neighbour", neighbour.url("/secret"))
        site.redirect("/to-metadata", "http://169.254.169.254/latest/")
        site.page("/fine")
        result = await crawl(site, check=True)
    assert {(failed.url, failed.error_type) for failed in result.failed_urls} == {
        (neighbour.url("/secret"), FailureKind.BLOCKED_ADDRESS),
        ("http://169.254.169.254/latest/", FailureKind.BLOCKED_ADDRESS),
    }
    assert neighbour.connections == 0
    assert by_path(site, result)["/fine"].status_code == 200


async def test_a_start_that_redirects_to_another_host_makes_that_host_the_site(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", other.url("/home"), 301)
        other.page("/home", links=["/inside", site.url("/back")])
        other.page("/inside")
        setup = await set_up(site, tmp_path, allow_private=True)
        await setup.run()
        result = await setup.result()
    assert [(info.url, info.status_code) for info in result.internal_urls] == [
        (site.url("/"), 301),
        (other.url("/home"), 200),
        (other.url("/inside"), 200),
    ]
    assert [info.url for info in result.external_urls] == [site.url("/back")]
    assert [(notice.old, notice.new) for notice in setup.told(SiteMoved)] == [(site.url("/"), other.url("/home"))]


async def test_the_site_moves_also_when_the_start_redirects_on_its_own_host_first() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", "/en/")
        site.redirect("/en/", other.url("/en/"))
        other.redirect("/en/", "/en/home")
        other.page("/en/home", links=["/en/more"])
        other.page("/en/more")
        result = await crawl(site, allow_private=True)
    assert other.hits("/en/more") == 1
    assert result.external_urls == ()


async def test_a_start_that_moves_within_its_host_takes_the_path_scope_along() -> None:
    async with Site() as site:
        site.redirect("/docs/", "/en/docs/")
        site.page("/en/docs/", links=["/en/docs/a", "/blog"])
        site.page("/en/docs/a")
        result = await crawl(site, "/docs/", scope="path")
    assert {path: info.status_code for path, info in by_path(site, result).items()} == {
        **{"/docs/": 302, "/en/docs/": 200, "/en/docs/a": 200, "/blog": None}
    }


async def test_engines_that_did_not_see_the_move_go_by_it(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", other.url("/tree/40/3/0"))
        setup = await set_up(site, tmp_path, allow_private=True, concurrency=4)
        await setup.run(budget=Budget(limit=1))
        assert other.hits("/tree/40/3/0") == 1
        await setup.run()  # with the scope from before the move
        result = await setup.result()
    assert len(result.internal_urls) == 41
    assert result.external_urls == ()


async def test_a_resumed_crawl_stays_on_the_site_it_moved_to(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", other.url("/tree/20/3/0"))
        setup = await set_up(site, tmp_path, allow_private=True, limit=5)
        await setup.run()
        again = await set_up(site, tmp_path, allow_private=True)
        await again.run()
        result = await again.result()
    assert len(result.internal_urls) == 21
    assert other.hits("/tree/20/3/0") == 1


async def test_a_start_that_redirects_to_itself_with_a_cookie_is_asked_again_with_it() -> None:
    async def wants_cookie(exchange: Exchange, _: str) -> None:
        if exchange.seen.headers.get("cookie") == "seen=1; lang=ja":
            await exchange.send(Reply(body=b"<title>welcome</title><a href='/in'>in</a>"))
        else:
            cookies = (("Set-Cookie", "seen=1; Path=/; HttpOnly"), ("Set-Cookie", "lang=ja"))
            await exchange.send(Reply(status=302, headers=(("Location", "/"), *cookies)))

    async with Site() as site:
        site.handle("/", wants_cookie)
        site.page("/in")
        pages = by_path(site, await crawl(site))
    assert (pages["/"].status_code, pages["/"].title, pages["/in"].status_code) == (200, "welcome", 200)
    assert "cookie" not in site.requests[-1].headers


async def test_a_page_that_never_takes_its_own_cookie_is_a_loop() -> None:
    async with Site() as site:
        site.reply("/", status=302, headers={"Location": "/", "Set-Cookie": "a=b"})
        result = await crawl(site)
    assert [failed.error_type for failed in result.failed_urls] == [FailureKind.REDIRECT_LOOP]
    assert site.hits("/") == 2


async def test_a_redirect_out_of_a_disallowed_place_is_decided_by_robots_again(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /no\n")
        site.page("/", links=["/go"])
        site.redirect("/go", "/no/entry")
        setup = await set_up(site, tmp_path)
        await setup.run(clock=FastClock())
        pages = by_path(site, await setup.result())
    assert pages["/no/entry"].not_fetched == "robots.txt line 2: Disallow: /no"
    assert site.hits("/no/entry") == 0


async def test_a_redirect_with_retry_after_puts_the_host_off() -> None:
    async with Site() as site:
        site.page("/", links=["/soon", "/leaf/1", "/leaf/2"])
        site.reply("/soon", status=302, headers={"Location": "/then", "Retry-After": "0.3"})
        site.page("/then")
        await crawl(site, concurrency=1, ignore_robots=True)
    soon = site.paths.index("/soon")
    assert sorted(site.paths[soon + 1 :]) == ["/leaf/1", "/leaf/2", "/then"]
    assert site.requests[soon + 1].at - site.requests[soon].at >= 0.29
