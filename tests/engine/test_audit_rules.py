"""Other options on the same database: the rules of the run that is going on hold, for everything that was not requested yet."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.auditing import Audit
from tests.support.site import Site


def two(site: Site, other: Site) -> None:
    """A site that links to another one, whose pages link to each other."""
    site.page("/", links=["/a", other.url("/x")])
    site.page("/a")
    other.page("/", links=["/x"])
    other.page("/x", links=["/y"])
    other.page("/y")


async def test_a_page_that_was_another_site_s_is_crawled_when_that_site_joins(tmp_path: Path) -> None:
    async with Site() as site, Site() as other:
        two(site, other)
        audit = Audit(site, tmp_path)
        await audit.run("/")
        await Audit(other, tmp_path).run("/")
        assert sorted(other.paths) == ["/", "/robots.txt", "/x", "/y"]
        assert site.hits("/a") == 1, "what was crawled stays"
    assert set(audit.column("internal FROM pages")) == {1}
    assert set(audit.column("status FROM pages")) == {"completed"}


async def test_the_sitemaps_of_a_site_that_joins_are_read(tmp_path: Path) -> None:
    async with Site() as site, Site() as other:
        site.page("/")
        other.page("/")
        other.page("/unlinked")
        other.sitemap("/sitemap.xml", [other.url("/unlinked")])
        await Audit(site, tmp_path).run("/", sitemap="auto")
        await Audit(other, tmp_path).run("/", sitemap="auto")
        assert other.hits("/unlinked") == 1


async def test_a_start_that_moved_brings_in_what_another_start_had_led_to(tmp_path: Path) -> None:
    async with Site() as site, Site() as old, Site() as new:
        site.page("/", links=[new.url("/x")])
        old.redirect("/", new.url("/"))
        new.page("/", links=["/x"])
        new.page("/x")
        await Audit(site, tmp_path).run("/", allow_private=True)
        assert new.paths == [], "not a site of this crawl"
        await Audit(old, tmp_path).run("/", allow_private=True)
        assert new.hits("/x") == 1


@pytest.mark.parametrize("recrawl", [True, False], ids=["asked again", "gone on with"])
async def test_links_to_other_sites_are_tried_once_that_is_wanted(tmp_path: Path, recrawl: bool) -> None:
    async with Site() as site, Site() as other:
        two(site, other)
        site.html("/a", f'<title>a</title><img src="{other.url("/logo.png")}" alt="x">')
        other.reply("/logo.png", body=b"\x89PNG", content_type="image/png")
        audit = Audit(site, tmp_path)
        await audit.run("/", allow_private=True)
        assert other.paths == []
        await audit.run(allow_private=True, check_external=True, recrawl=recrawl, resources=10)
        assert sorted({(seen.method, seen.path) for seen in other.requests}) == [
            ("GET", "/robots.txt"), ("HEAD", "/logo.png"), ("HEAD", "/x"),
        ]  # fmt: skip


EXCLUDE: dict[str, Any] = {"exclude": ("/private",)}


async def test_what_is_excluded_from_a_recrawl_is_not_requested_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/private", "/b"])
        site.page("/private", links=["/b"])
        site.page("/b")
        audit = Audit(site, tmp_path)
        await audit.run("/")
        await audit.run(recrawl=True, **EXCLUDE)
        assert (site.hits("/private"), site.hits("/b")) == (1, 2)
        assert audit.one("status, title, status_code FROM pages WHERE url LIKE '%private'") == ("skipped", None, None)
        assert audit.select("1 FROM page_details d JOIN pages p ON p.id = d.page_id WHERE p.status = 'skipped'") == []
        assert audit.select("1 FROM findings WHERE url LIKE '%private'") == []
        assert audit.select("1 FROM links WHERE source_url LIKE '%private'") == []
        await audit.run(recrawl=True)
        assert site.hits("/private") == 2, "nothing excludes it any more"


async def test_what_waits_is_not_requested_when_it_is_excluded_now(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/private", "/b"])
        site.page("/b")
        audit = Audit(site, tmp_path)
        await audit.run("/", limit=1)
        await audit.run(**EXCLUDE)
        assert (site.hits("/private"), site.hits("/b")) == (0, 1)


async def test_a_sitemap_that_is_given_is_read_instead_of_those_of_robots_txt(tmp_path: Path) -> None:
    async with Site() as site:
        site.robots(f"Sitemap: {site.url('/theirs.xml')}")
        site.page("/")
        site.page("/mine")
        site.sitemap("/mine.xml", [site.url("/mine")])
        await Audit(site, tmp_path).run("/", sitemap="auto", sitemap_url=(site.url("/mine.xml"),))
        assert (site.hits("/mine.xml"), site.hits("/mine"), site.hits("/theirs.xml")) == (1, 1, 0)


async def test_a_start_behind_the_limit_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        site.page("/2")
        audit = Audit(site, tmp_path)
        ended = await audit.run("/", "/2", limit=1, sitemap="auto")
        assert ended.limit_reached
        assert site.hits("/sitemap.xml") == 1
    assert sorted(audit.statuses().values()) == ["completed", "queued"]


@pytest.mark.parametrize("late", ["sitemap", "link"])
async def test_a_page_of_a_sitemap_is_requested_however_deep_links_to_it_are(tmp_path: Path, late: str) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.page("/a", links=["/deep"])
        site.page("/deep")
        site.sitemap("/sitemap.xml", [site.url("/deep")])
        held = site.hold("/sitemap.xml" if late == "sitemap" else "/a")

        async def let_go() -> None:
            await site.requested("/a")
            await site.requested("/sitemap.xml")
            held.release()

        site.in_background(let_go())
        audit = Audit(site, tmp_path)
        await audit.run("/", depth=1, sitemap="auto")
        assert site.hits("/deep") == 1
    assert audit.one("depth FROM pages WHERE url = ?", site.url("/deep")) == (2,)


async def test_what_is_crawled_while_somebody_else_analyses_is_analysed_too(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.page("/late", links=["/gone"])
        audit = Audit(site, tmp_path)
        await audit.run("/")

        def said_by_another(_: object) -> None:
            with closing(sqlite3.connect(audit.database)) as sql, sql:
                sql.execute("UPDATE crawl_meta SET value = '2030-01-01 00:00:00' WHERE key = 'analysed'")

        await audit.run("/late", on_created=said_by_another)
    assert ("/gone", "response-client-error") in audit.select("url, check_id FROM findings")


async def test_the_threshold_of_a_site_wide_check_is_shown_as_it_was_chosen(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        audit = Audit(site, tmp_path)
        await audit.run("/", threshold=("security-hsts-short=7", "page-deep=9"))
    chosen = audit.select("id, threshold FROM checks WHERE id IN ('security-hsts-short', 'page-deep') ORDER BY id")
    assert chosen == [("page-deep", 9.0), ("security-hsts-short", 7.0)]
