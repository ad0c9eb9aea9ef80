"""Sitemaps as seeds: what they name is crawled after what links lead to, and both are told apart."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.auditing import Audit
from tests.support.generated_sites import sitemap
from tests.support.site import Site


def shop(site: Site) -> None:
    """A start, a page behind it, and one that only the sitemap knows."""
    site.page("/", links=["/a"])
    site.page("/a", links=["/deep"])
    site.page("/deep")
    site.page("/lonely", links=["/behind"])
    site.page("/behind")


async def test_pages_of_the_sitemap_are_crawled_last_and_have_no_depth(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.sitemap("/sitemap.xml", ["/", "/a", "/lonely"])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", concurrency=1)
        pages = [path for path in site.paths if path not in ("/robots.txt", "/sitemap.xml")]
        # A page of the sitemap may have been leased together with "/a", before "/deep" was known.
        assert [path for path in pages if path != "/deep"] == ["/", "/a", "/lonely", "/behind"]
        assert "/deep" in pages
    assert dict(audit.select("url, depth FROM audited_pages")) == {
        "/": 0, "/a": 1, "/deep": 2, "/lonely": None, "/behind": None,
    }  # fmt: skip
    assert sorted(audit.select("sitemap_url, url FROM sitemap_urls")) == [
        ("/sitemap.xml", "/"), ("/sitemap.xml", "/a"), ("/sitemap.xml", "/lonely"),
    ]  # fmt: skip
    assert audit.column("url FROM findings WHERE check_id = 'page-orphan'") == ["/lonely", "/behind"]


async def test_only_the_sitemap_means_that_no_link_is_followed(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.sitemap("/sitemap.xml", ["/a", "/lonely"])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="only")
        assert set(site.paths) == {"/robots.txt", "/sitemap.xml", "/", "/a", "/lonely"}
    assert audit.statuses()["/deep"] == "discovered"


async def test_without_sitemaps_none_is_asked_for(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.robots(f"Sitemap: {site.url('/sitemap.xml')}\n")
        site.sitemap("/sitemap.xml", ["/lonely"])
        await Audit(site, tmp_path).run("/", sitemap="off")
        assert set(site.paths) == {"/robots.txt", "/", "/a", "/deep"}


async def test_an_index_named_by_robots_txt_is_followed_also_where_it_is_packed(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.robots(f"Sitemap: {site.url('/index.xml')}\n")
        site.sitemap("/index.xml", ["/one.xml.gz", "/two.xml"], index=True)
        packed = gzip.compress(sitemap([site.url("/lonely")]), mtime=0)
        site.reply("/one.xml.gz", body=packed, content_type="application/gzip")
        site.sitemap("/two.xml", ["/a"])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto")
        assert site.hits("/sitemap.xml") == 0, "nobody named it"
    assert audit.select("url, level, named_by, status, kind, urls FROM sitemaps ORDER BY url") == [
        ("/index.xml", 0, "robots.txt", "read", "index", 0),
        ("/one.xml.gz", 1, "/index.xml", "read", "urlset", 1),
        ("/two.xml", 1, "/index.xml", "read", "urlset", 1),
    ]
    assert audit.statuses()["/lonely"] == "completed"


async def test_a_sitemap_can_be_named_by_the_person(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.sitemap("/mine.xml", ["/lonely"])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", sitemap_url=(site.url("/mine.xml"),))
    assert audit.select("url, named_by, status FROM sitemaps") == [("/mine.xml", "option", "read")]
    assert audit.statuses()["/lonely"] == "completed"


async def test_a_sitemap_that_is_not_there_is_no_fault_unless_somebody_named_it(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto")
        assert audit.select("url, status, status_code FROM sitemaps") == [("/sitemap.xml", "absent", 404)]
        site.robots(f"Sitemap: {site.url('/named.xml')}\n")
        await audit.run(recrawl=True, sitemap="auto")
    assert audit.select("url, status, status_code FROM sitemaps") == [("/named.xml", "failed", 404)]


async def test_robots_txt_and_patterns_hold_for_what_a_sitemap_names(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        site.robots("User-agent: *\nDisallow: /secret\n")
        site.sitemap("/sitemap.xml", ["/secret", "/draft/1", "/fine", "https://elsewhere.example/x"])
        site.page("/fine")
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", exclude=("/draft/",))
        assert set(site.paths) == {"/robots.txt", "/sitemap.xml", "/", "/fine"}
    assert audit.statuses() == {
        "/": "completed", "/secret": "skipped", "/draft/1": "skipped", "/fine": "completed",
        "https://elsewhere.example/x": "discovered",
    }  # fmt: skip


async def test_a_guessed_sitemap_that_robots_txt_forbids_is_not_asked_for(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        site.robots("User-agent: *\nDisallow: /sitemap\n")
        await Audit(site, tmp_path).run("/", sitemap="auto")
        assert set(site.paths) == {"/robots.txt", "/"}


async def test_the_sitemap_is_that_of_the_site_the_start_moved_to(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as moved:
        site.redirect("/", moved.url("/"))
        moved.page("/")
        moved.sitemap("/sitemap.xml", ["/lonely"])
        moved.page("/lonely")
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", allow_private=True)
        assert moved.hits("/lonely") == 1
        assert "/sitemap.xml" not in site.paths


@pytest.mark.parametrize("engines", [1, 3])
async def test_sitemaps_are_read_once_by_all_engines_together(tmp_path: Path, engines: int) -> None:
    async with Site() as site:
        site.page("/", links=[f"/leaf/{number}" for number in range(30)])
        site.sitemap("/sitemap.xml", [f"/leaf/{number}" for number in range(20, 60)])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", engines=engines)
        assert site.hits("/sitemap.xml") == 1
        assert max(site.hits(path) for path in site.paths) == 1
    assert audit.one("count(*) FROM completed_pages") == (61,)
    assert audit.one("count(*) FROM sitemap_entries") == (40,)


async def test_a_limit_is_exact_with_a_sitemap_too(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/leaf/0"])
        site.sitemap("/sitemap.xml", [f"/leaf/{number}" for number in range(50)])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto", limit=10, engines=2)
        assert len([path for path in site.paths if path.startswith("/leaf/") or path == "/"]) == 10
    assert audit.one("count(*) FROM completed_pages") == (10,)


async def test_a_slow_sitemap_holds_up_no_page_and_the_crawl_waits_for_it(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.sitemap("/sitemap.xml", ["/lonely"])
        gate = site.hold("/sitemap.xml")
        audit = Audit(site, tmp_path)

        async def release() -> None:
            await site.requested("/deep")
            gate.release()

        site.in_background(release())
        await audit.run("/", sitemap="auto", timeout=20.0)
    assert audit.statuses()["/lonely"] == "completed"


async def test_list_mode_asks_for_the_given_urls_and_nothing_else(tmp_path: Path) -> None:
    async with Site() as site:
        shop(site)
        site.sitemap("/sitemap.xml", ["/lonely"])
        audit = Audit(site, tmp_path)
        await audit.run("/", "/lonely", list=True, sitemap="auto")
        assert set(site.paths) == {"/robots.txt", "/", "/lonely"}
    assert audit.statuses() == {"/": "completed", "/lonely": "completed", "/a": "discovered", "/behind": "discovered"}
