"""What pages are made of, tried once the pages are done: by HEAD where that works, within the budget, as robots.txt allows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tadoru.engine.notifications import HostSlowed
from tests.support.auditing import Audit
from tests.support.crawling import FastClock
from tests.support.exchange import Exchange, Reply
from tests.support.generated_sites import document
from tests.support.site import Site

IMAGE: dict[str, Any] = {"body": b"\x89PNG", "content_type": "image/png"}


def page(site: Site, path: str, *images: str, links: tuple[str, ...] = ()) -> None:
    pictures = "".join(f'<img src="{image}" alt="x" width="1" height="1">' for image in images)
    site.reply(path, body=document(f"Page {path}", links, pictures))


async def test_resources_are_tried_after_the_pages_and_each_once(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", "/a.png", "/b.png", links=("/two",))
        page(site, "/two", "/a.png")
        for path in ("/a.png", "/b.png"):
            site.reply(path, **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=100)
        asked = [(seen.method, seen.path) for seen in site.requests]
        assert asked[:3] == [("GET", "/robots.txt"), ("GET", "/"), ("GET", "/two")]
        assert sorted(asked[3:]) == [("HEAD", "/a.png"), ("HEAD", "/b.png")]
    assert audit.select("url, status, status_code, content_type, content_length FROM resources ORDER BY url") == [
        ("/a.png", "completed", 200, "image/png", 4),
        ("/b.png", "completed", 200, "image/png", 4),
    ]
    assert sorted(audit.select("url, resource_url, kind FROM page_resources")) == [
        ("/", "/a.png", "img"), ("/", "/b.png", "img"), ("/two", "/a.png", "img"),
    ]  # fmt: skip
    assert audit.column("url FROM completed_pages ORDER BY url") == ["/", "/two"], "a resource is no page"


@pytest.mark.parametrize("engines", [1, 3])
async def test_the_budget_is_exact(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        page(site, "/", *(f"/{number}.png" for number in range(40)))
        for number in range(40):
            site.reply(f"/{number}.png", **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=13, engines=engines)
        assert len([path for path in site.paths if path.endswith(".png")]) == 13
    assert dict(audit.select("status, count(*) FROM resources GROUP BY status")) == {"completed": 13, "queued": 27}


async def test_none_are_tried_when_none_are_wanted(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", "/a.png")
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=0)
        assert site.hits("/a.png") == 0
    assert audit.column("url FROM resources") == ["/a.png"], "known all the same"


async def test_what_robots_txt_forbids_is_not_tried(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots("User-agent: *\nDisallow: /private\n")
        page(site, "/", "/private/a.png")
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9)
        assert site.hits("/private/a.png") == 0
    [(status, reason)] = audit.select("status, skip_reason FROM resources")
    assert (status, "Disallow: /private" in reason) == ("skipped", True)


async def test_a_server_that_knows_no_head_is_asked_again_by_get(tmp_path: Path) -> None:
    async def no_head(exchange: Exchange, _: str) -> None:
        await exchange.send(Reply(status=405 if exchange.seen.method == "HEAD" else 200, content_type="image/png"))

    async with Site() as site:
        page(site, "/", "/a.png")
        site.handle("/a.png", no_head)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9)
        assert [seen.method for seen in site.requests if seen.path == "/a.png"] == ["HEAD", "GET"]
    assert audit.one("status, status_code FROM resources") == ("completed", 200)


async def test_redirects_of_resources_are_followed_to_their_end(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", "/old.png", "/loop.png")
        site.redirect("/old.png", "/new.png")
        site.reply("/new.png", **IMAGE)
        site.redirect("/loop.png", "/loop.png")
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9)
    assert audit.select("url, status, status_code, final_url, last_error_type FROM resources ORDER BY url") == [
        ("/loop.png", "error", None, None, "redirect_loop"),
        ("/old.png", "completed", 200, "/new.png", None),
    ]


async def test_a_redirect_of_a_resource_does_not_lead_to_what_robots_txt_forbids(tmp_path: Path) -> None:
    async with Site() as site, Site() as other:
        other.robots("User-agent: *\nDisallow: /private\n")
        page(site, "/", "/old.png")
        site.redirect("/old.png", other.url("/private/a.png"))
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, allow_private=True)
        assert other.paths == ["/robots.txt"]
    [(status, reason)] = audit.select("status, skip_reason FROM resources")
    assert (status, "Disallow: /private" in reason) == ("skipped", True)


async def test_a_host_that_has_enough_of_resources_is_asked_for_them_slowly(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", *(f"/{number}.png" for number in range(4)))
        site.reply("/0.png", status=429, headers={"Retry-After": "30"}, times=1)
        site.reply("/0.png", **IMAGE)
        for number in range(1, 4):
            site.reply(f"/{number}.png", **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, concurrency=1, clock=FastClock())
    assert [(slow.gap, slow.pause) for slow in audit.told(HostSlowed)] == [(0.5, 30.0)]
    assert set(audit.column("status_code FROM resources")) == {200}


async def test_the_crawl_delay_of_a_host_of_resources_is_kept(tmp_path: Path) -> None:
    async with Site() as site, Site() as other:
        other.robots("User-agent: *\nCrawl-delay: 7\n")
        other.reply("/a.png", **IMAGE)
        page(site, "/", other.url("/a.png"))
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, allow_private=True, check_external=True, clock=FastClock())
        assert audit.one("gap, base FROM hosts WHERE name = ?", f"127.0.0.1:{other.port}") == (7.0, 7.0)


async def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", "/a.png")
        site.reply("/a.png", status=503, times=1)
        site.reply("/a.png", **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, clock=FastClock())
        assert [seen.method for seen in site.requests if seen.path == "/a.png"] == ["HEAD", "HEAD"]
    assert audit.one("status, status_code, retry_count FROM resources") == ("completed", 200, 1)


async def test_resources_of_others_are_tried_only_where_external_links_are(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        other.reply("/a.png", **IMAGE)
        other.page("/page")
        page(site, "/", other.url("/a.png"), links=(other.url("/page"),))
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, allow_private=True)
        assert other.paths == []
        assert audit.one("status, internal FROM resources") == ("discovered", 0)


async def test_external_links_are_tried_on_request_and_are_no_pages(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        other.page("/fine", links=["/further"])
        other.reply("/a.png", **IMAGE)
        page(site, "/", other.url("/a.png"), links=(other.url("/fine"), other.url("/gone")))
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=9, check_external=True, allow_private=True)
        methods = {(seen.method, seen.path) for seen in other.requests}
        assert methods == {
            ("GET", "/robots.txt"), ("HEAD", "/fine"), ("HEAD", "/gone"), ("GET", "/gone"), ("HEAD", "/a.png"),
        }  # fmt: skip
        assert audit.column("url FROM completed_pages") == ["/"]
        rows = audit.select("url, status, status_code, purpose, internal FROM pages WHERE internal = 0 ORDER BY url")
        assert rows == [
            (other.url("/fine"), "completed", 200, "check", 0),
            (other.url("/gone"), "completed", 404, "check", 0),
        ]
    assert audit.select("url, check_id FROM findings WHERE check_id LIKE 'link-external%'") == [("/", "link-external-broken")]


async def test_styles_scripts_frames_and_media_are_resources_and_alternates_are_not(tmp_path: Path) -> None:
    markup = (
        '<link rel="stylesheet" href="/s.css"><link rel="icon" href="/i.ico"><link rel="alternate" hreflang="de" href="/de">'
        '<link rel="canonical" href="/"><script src="/j.js"></script><iframe src="/frame"></iframe>'
        '<video src="/v.mp4"></video><img srcset="/one.png 1x, /two.png 2x" src="/one.png" alt="">'
    )
    async with Site() as site:
        site.html("/", f"<html><head><title>T</title></head><body>{markup}</body></html>")
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=0)
    assert dict(audit.select("url, kind FROM resources")) == {
        "/s.css": "link", "/i.ico": "link", "/j.js": "script", "/frame": "iframe", "/v.mp4": "media", "/one.png": "img",
        "/two.png": "img",
    }  # fmt: skip


async def test_a_picture_that_links_to_itself_is_a_resource_too(tmp_path: Path) -> None:
    async with Site() as site:
        site.html("/", '<title>T</title><img src="/z.png" alt=""><a href="/large.png"><img src="/large.png" alt="large"></a>')
        site.reply("/large.png", **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=0)
    assert audit.select("resource_url, kind FROM page_resources ORDER BY position") == [("/z.png", "img"), ("/large.png", "img")]


async def test_a_crawl_that_was_stopped_before_its_resources_goes_on_with_them(tmp_path: Path) -> None:
    async with Site() as site:
        page(site, "/", "/a.png", "/b.png")
        site.reply("/a.png", **IMAGE)
        site.reply("/b.png", **IMAGE)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=1)
        await audit.run(resources=2)
        assert sorted(path for path in site.paths if path.endswith(".png")) == ["/a.png", "/b.png"]
    assert audit.column("status FROM resources") == ["completed"] * 2


def with_head(html: bytes, markup: str) -> bytes:
    return html.replace(b"</head>", f"{markup}</head>".encode(), 1)


async def test_urls_that_pages_declare_are_requested_after_the_pages_though_no_link_leads_there(tmp_path: Path) -> None:
    heads = {
        "/": "",
        "/canonical": '<link rel="canonical" href="/gone">',
        "/moved": '<link rel="canonical" href="/old">',
        "/hreflang": '<link rel="alternate" hreflang="de" href="/de/gone"><link rel="alternate" hreflang="fr" href="/fr/old">',
        "/series": '<link rel="next" href="/series/2">',
    }
    async with Site() as site:
        for path, head in heads.items():
            site.reply(path, body=with_head(document(f"Page {path}", [*heads], ""), head))
        for path in ("/old", "/fr/old"):
            site.redirect(path, "/", status=301)
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=100)
        assert not any(seen.method == "GET" and seen.path == "/old" for seen in site.requests)
    assert "/gone" not in audit.statuses(), "a check is no page"
    rows = "url, check_id FROM findings WHERE check_id LIKE '%-to-error' OR check_id LIKE '%-to-redirect' ORDER BY url, check_id"
    assert audit.select(rows) == [
        ("/canonical", "canonical-to-error"), ("/hreflang", "hreflang-to-error"), ("/hreflang", "hreflang-to-redirect"),
        ("/moved", "canonical-to-redirect"), ("/series", "pagination-to-error"),
    ]  # fmt: skip


async def test_declared_urls_are_requested_within_the_budget_and_the_scope(tmp_path: Path) -> None:
    declared = "".join(f'<link rel="alternate" hreflang="de-{n}" href="/de/{n}">' for n in range(9))
    elsewhere = '<link rel="canonical" href="https://other.example/"><link rel="next" href="/hidden/2">'
    async with Site() as site:
        site.reply("/", body=with_head(document("Page", [], ""), declared + elsewhere))
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=4, exclude=("/hidden/",))
        asked = {seen.path for seen in site.requests if seen.path not in ("/", "/robots.txt")}
    assert len(asked) == 4
    assert all(path.startswith("/de/") for path in asked)


EXTERNAL: dict[str, Any] = {"resources": 20, "check_external": True, "allow_private": True}


async def test_an_external_host_that_asks_to_wait_for_an_hour_is_left_alone_and_not_waited_for(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        paths = [f"/{number}" for number in range(5)]
        for path in (*paths, "/a.png"):
            other.reply(path, status=503, headers={"Retry-After": "3600"})
        page(site, "/", other.url("/a.png"), links=tuple(map(other.url, paths)))
        audit = Audit(site, tmp_path)
        await asyncio.wait_for(audit.run("/", concurrency=1, **EXTERNAL), 60)
        assert [seen.method for seen in other.requests if seen.path in paths] == ["HEAD"]
    errors = audit.select("status, last_error_type FROM pages WHERE NOT internal")
    assert errors == [("error", "bot_blocked")] * 5
    assert audit.select("status, last_error_type FROM resources") == [("error", "bot_blocked")]
    assert audit.select("check_id FROM findings WHERE check_id LIKE '%-broken'") == []


async def test_a_cookie_that_an_external_page_asks_for_is_sent_back(tmp_path: Path) -> None:
    async def gate(exchange: Exchange, _: str) -> None:
        path = exchange.seen.path
        if "seen=1" in exchange.seen.headers.get("cookie", ""):
            await exchange.send(Reply(200, b"<title>In</title>"))
            return
        target = path if path == "/gate" else f"/consent?return={path}"
        await exchange.send(Reply(302, b"", headers=(("Location", target), ("Set-Cookie", "seen=1; Path=/"))))

    async with Site() as site, Site(host="127.0.0.2") as other:
        other.handle("/gate", gate)
        other.handle("/shop", gate)
        page(site, "/", links=(other.url("/gate"), other.url("/shop")))
        audit = Audit(site, tmp_path)
        await audit.run("/", **EXTERNAL)
    assert audit.select("status, status_code FROM pages WHERE NOT internal") == [("completed", 200)] * 2


async def test_missing_fragments_of_external_pages_are_found_by_one_request_each(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        other.html("/guide", '<title>Guide</title><h1 id="start">Start</h1><p id="user-content-usage">Usage</p>')
        other.page("/plain")
        fragments = ("start", "usage", "L10-L20", "gone")
        page(site, "/", links=(*(other.url(f"/guide#{name}") for name in fragments), other.url("/plain")))
        audit = Audit(site, tmp_path)
        await audit.run("/", fragments=True, **EXTERNAL)
        assert [seen.method for seen in other.requests if seen.path == "/guide"] == ["HEAD", "GET"]
        assert [seen.method for seen in other.requests if seen.path == "/plain"] == ["HEAD"]
        broken = audit.select("url, detail FROM findings WHERE check_id = 'link-broken-fragment'")
        assert broken == [("/", other.url("/guide#gone"))]


async def test_images_of_scripts_styles_and_previews_are_checked(tmp_path: Path) -> None:
    async with Site() as site:
        site.reply("/there.png", **IMAGE)
        site.html(
            "/",
            """<!doctype html><title>Images</title><meta property="og:image" content="/preview.png">
            <style>.a { background: url(/sheet.png) } @font-face { src: url("/type.woff2") }</style>
            <img src="/there.png" data-src="/lazy.png" alt="Lazy"><div style="background: url('/back.png')">Words</div>""",
        )
        audit = Audit(site, tmp_path)
        await audit.run("/", resources=20)
    assert audit.select("check_id, url FROM findings WHERE check_id LIKE '%-broken' ORDER BY 1, 2") == [
        *(("image-broken", f"/{name}.png") for name in ("back", "lazy", "preview", "sheet")),
        ("resource-broken", "/type.woff2"),
    ]
