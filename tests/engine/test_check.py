"""`--check`: external links asked once and gently, broken links with every place that leads to them; fragments; list mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.config.options import LinksOptions
from tadoru.jobs.links.run import LinksCrawl, links_async
from tests.support.crawling import UNHURRIED, FastClock, by_path, crawl, set_up
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


async def test_an_external_link_is_asked_for_once_and_only_its_head() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=["/a", other.url("/x")])
        site.page("/a", links=[other.url("/x"), other.url("/x#part")])
        other.page("/x", links=["/never-followed"])
        result = await crawl(site, check=True, allow_private=True)
    assert [(seen.method, seen.path) for seen in other.requests] == [("GET", "/robots.txt"), ("HEAD", "/x")]
    assert [(info.url, info.status_code) for info in result.external_urls] == [(other.url("/x"), 200)]
    assert result.broken_links == ()


async def test_a_server_that_knows_no_head_is_asked_with_get() -> None:
    async def only_get(exchange: Exchange, _: str) -> None:
        await exchange.send(Reply(status=405 if exchange.seen.method == "HEAD" else 200, body=b"x" * 100))

    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/x"), other.url("/gone")])
        other.handle("/x", only_get)
        result = await crawl(site, check=True, allow_private=True, ignore_robots=True)
    assert {info.url: info.status_code for info in result.external_urls} == {other.url("/x"): 200, other.url("/gone"): 404}
    assert sorted((seen.path, seen.method) for seen in other.requests) == [
        ("/gone", "GET"), ("/gone", "HEAD"), ("/x", "GET"), ("/x", "HEAD"),
    ]  # fmt: skip


async def test_a_server_that_is_too_busy_for_head_is_not_asked_with_get_at_once(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/x")])
        other.reply("/x", status=429, headers={"Retry-After": "2"}, times=1)
        other.page("/x")
        setup = await set_up(site, tmp_path, check=True, allow_private=True, ignore_robots=True)
        await setup.run(clock=FastClock(50.0))
    assert [seen.method for seen in other.requests] == ["HEAD", "HEAD"]
    assert (other.requests[1].at - other.requests[0].at) * 50 >= 2


async def test_the_robots_txt_of_the_other_host_is_respected() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        other.robots("User-agent: *\nDisallow: /no\n")
        site.page("/", links=[other.url("/no")])
        result = await crawl(site, check=True, allow_private=True)
    assert [info.not_fetched for info in result.external_urls] == ["robots.txt line 2: Disallow: /no"]
    assert result.broken_links == ()
    assert other.hits("/no") == 0


@pytest.mark.parametrize("fragments", [False, True])
async def test_a_broken_link_is_reported_with_every_page_that_leads_to_it_or_with_every_link(fragments: bool) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        gone = other.url("/gone")
        site.html("/", f'<a href="/a">A</a> <a href="{gone}">the  old\n page</a> <a href="/missing"><img alt="a map"></a>')
        site.html("/a", f'<a href="/missing#x">here</a><a href="{gone}">there</a><a href="/missing">again</a>')
        result = await crawl(site, check=True, fragments=fragments, allow_private=True)
    again = [(site.url("/a"), "again", 2)] if fragments else []
    places = {
        link.url: [(source.page_url, source.anchor_text, source.position) for source in link.sources]
        for link in result.broken_links
    }
    assert places == {
        gone: [(site.url("/"), "the old page", 1), (site.url("/a"), "there", 1)],
        site.url("/missing"): [(site.url("/"), "a map", 2), (site.url("/a"), "here", 0), *again],
    }
    assert {link.error for link in result.broken_links} == {"404 Not Found"}


async def test_a_link_that_redirects_to_something_broken_is_the_broken_one() -> None:
    async with Site() as site:
        site.page("/", links=["/old"])
        site.redirect("/old", "/gone")
        result = await crawl(site, check=True)
    assert {link.url: link.error for link in result.broken_links} == {
        site.url("/old"): f"404 Not Found, after a redirect to {site.url('/gone')}",
    }
    assert [failed.url for failed in result.failed_urls] == [site.url("/gone")]


async def test_a_refusal_of_us_is_blocked_and_not_broken() -> None:
    async with Site() as site:
        site.page("/", links=["/members", "/accepted"])
        site.reply("/members", status=403)
        site.reply("/accepted", status=418)
        result = await crawl(site, check=True, accept="200..299,418")
    assert [link.url for link in result.blocked_links] == [site.url("/members")]
    assert result.broken_links == ()


async def test_a_missing_fragment_is_told_with_its_place() -> None:
    async with Site() as site:
        site.html("/", '<a href="/a#there">1</a><a href="/a#missing">2</a><a href="/a#top">3</a><a href="/a#caf%C3%A9">4</a>')
        site.html(
            "/a", '<h2 id="there">x</h2><h2 id="café">y</h2><a name="old"></a><a href="#old">self</a><a href="#no">self</a>'
        )
        result = await crawl(site, check=True, fragments=True)
    assert {link.url: [source.page_url for source in link.sources] for link in result.broken_links} == {
        site.url("/a#missing"): [site.url("/")],
        site.url("/a#no"): [site.url("/a")],
    }
    assert {link.kind for link in result.broken_links} == {"fragment"}


async def test_list_mode_requests_exactly_what_was_given(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/a", links=["/b", "/c"])
        site.redirect("/r", "/landed")
        site.page("/landed", links=["/d"])
        other.page("/x", links=["/y"])
        options = LinksOptions(**{**UNHURRIED, "list": True, "ignore_robots": True})
        given = [site.url("/a"), site.url("/r"), other.url("/x")]
        result = (await LinksCrawl(options, given, str(tmp_path / "list.db"), load=True).run()).result
    assert sorted(site.paths) == ["/a", "/landed", "/r"]
    assert other.paths == ["/x"]
    assert by_path(site, result)["/b"].not_fetched == "list mode: only the given URLs are requested"


async def test_without_check_external_links_are_only_listed() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/x")])
        result = await links_async(site.url(), **UNHURRIED, allow_private=True)
    assert [(info.url, info.status_code, info.parent_url) for info in result.external_urls] == [
        (other.url("/x"), None, site.url())
    ]
    assert other.connections == 0


async def test_an_id_with_percent_signs_is_found_by_the_fragment_that_spells_it() -> None:
    async with Site() as site:
        site.html("/", '<a href="/a#impl-Vec%3CT%3E">there</a> <a href="/a#none%3C">nowhere</a>')
        site.html("/a", '<p id="impl-Vec%3CT%3E">here</p>')
        result = await crawl(site, fragments=True)
    assert [link.url for link in result.broken_links] == [site.url("/a#none<")]


NEEDED = {
    "img": ["/img.png", "/set1.png", "/set2.png", "/poster.jpg"],
    "script": ["/app.js"],
    "style": ["/main.css", "/imported.css"],
    "css": ["/inline.png", "/background.png", "/attribute.png"],
    "iframe": ["/frame"],
    "media": ["/film.mp4", "/track.vtt"],
    "icon": ["/favicon.ico"],
    "manifest": ["/app.webmanifest"],
    "preview": ["/og.png"],
    "canonical": ["/canonical"],
    "alternate": ["/de"],
    "form": ["/search", "/signup"],
}


def everything_a_page_needs(site: Site) -> None:
    site.html(
        "/",
        "<head><script src=/app.js></script><link rel=stylesheet href=/here.css><link rel=stylesheet href=/main.css>"
        "<link rel='shortcut icon' href=/favicon.ico><link rel=manifest href=/app.webmanifest><link rel=preconnect href=/no>"
        "<meta property=og:image content=/og.png><link rel=canonical href=/canonical><link rel=alternate hreflang=de href=/de>"
        "<style>p { background: url(/inline.png) }</style></head>"
        "<img src=/img.png><img srcset='/set1.png 1x, /set2.png 2x'><video src=/film.mp4 poster=/poster.jpg>"
        "<track src=/track.vtt></video><iframe src=/frame></iframe><form action=/search></form>"
        "<form action=/signup method=post></form><form action=/login method=post></form>"
        "<p style='background: url(/attribute.png)'>",
    )
    style = "@import 'imported.css'; p { background: url(background.png) }"
    site.reply("/here.css", body=style, content_type="text/css")
    site.reply("/login", status=405)


@pytest.mark.parametrize("depth", [0, 3])
async def test_everything_that_a_page_needs_is_checked(depth: int) -> None:
    async with Site() as site:
        everything_a_page_needs(site)
        result = await crawl(site, check=True, depth=depth)
    found: dict[str, list[str]] = {}
    for link in result.broken_links:
        for source in link.sources:
            found.setdefault(source.kind or "", []).append(link.url.removeprefix(site.base))
    # Pages are not requested beyond the depth; a style sheet is part of the page.
    beyond = () if depth else ("iframe", "canonical", "alternate", "form")
    assert {kind: sorted(paths) for kind, paths in found.items()} == {
        kind: sorted(paths) for kind, paths in NEEDED.items() if kind not in beyond
    }
    assert {info.url for info in result.internal_urls if info.status_code == 200} == {site.url("/")}
    style = next(link for link in result.broken_links if link.url.endswith("/background.png"))
    assert [source.page_url for source in style.sources] == [site.url("/here.css")]


@pytest.mark.parametrize(
    "kinds, checked",
    [("all", set(NEEDED)), ("img,script", {"img", "script"}), ("-form,-css,-preview", set(NEEDED) - {"form", "css", "preview"})],
)
async def test_each_kind_of_reference_can_be_switched(kinds: str, checked: set[str]) -> None:
    async with Site() as site:
        everything_a_page_needs(site)
        result = await crawl(site, check=True, kinds=kinds)
        assert ("/og.png" in site.paths) == ("preview" in checked)
    assert {source.kind for link in result.broken_links for source in link.sources} == checked - (
        set() if "style" in checked else {"css"}
    )


async def test_without_check_only_links_are_requested() -> None:
    async with Site() as site:
        everything_a_page_needs(site)
        await crawl(site)
    assert set(site.paths) == {"/robots.txt", "/"}


async def test_a_resource_that_is_also_linked_is_reported_once_with_both_places() -> None:
    async with Site() as site:
        site.html("/", "<a href=/a.png>A</a><img src=/a.png>")
        result = await crawl(site, check=True)
    assert [[source.kind for source in link.sources] for link in result.broken_links] == [["a", "img"]]
