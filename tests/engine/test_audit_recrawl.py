"""Asking a site again for what changed: nothing is sent twice without need, and nothing of the old is left where there is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tadoru.engine.crawl import Crawler
from tests.support.auditing import Audit
from tests.support.exchange import Exchange, Reply
from tests.support.generated_sites import document
from tests.support.site import Site

MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"


class EditableSite:
    """Pages that answer 304 to whoever has their present state, and can be changed."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sent: list[str] = []
        """Paths that were sent in full."""
        self._states: dict[str, tuple[str, bytes]] = {}

    def plant(self, path: str, *links: str, title: str = "", body: str = "", by: str = "etag") -> None:
        """A page, or what becomes of it."""
        text = document(title or f"Page {path}", links, body)
        version = MODIFIED if by == "modified" else f'"{hash(text)}"'
        self._states[path] = (version, text)
        self.site.handle(path, lambda exchange, _: self._answer(exchange, path, by))

    def plant_ten(self) -> None:
        """A start page with nine links, and their targets."""
        self.plant("/", *(f"/{number}" for number in range(9)))
        for number in range(9):
            self.plant(f"/{number}")

    async def _answer(self, exchange: Exchange, path: str, by: str) -> None:
        version, text = self._states[path]
        name, asked = ("Last-Modified", "if-modified-since") if by == "modified" else ("ETag", "if-none-match")
        headers = ((name, version),) if by in ("etag", "modified") else ()
        if headers and exchange.seen.headers.get(asked) == version:
            await exchange.send(Reply(status=304, headers=headers, content_type=""))
        else:
            self.sent.append(path)
            await exchange.send(Reply(body=text, headers=headers))


def kept(audit: Audit) -> dict[str, Any]:
    """Everything about a crawl but its times and the order it was made in."""
    return {
        "pages": sorted(audit.select("url, status, status_code, title, content_hash, depth FROM pages")),
        "links": sorted(audit.select("source_url, target_url, anchor_text FROM links")),
        "findings": sorted(audit.select("url, check_id, detail FROM findings")),
        "headings": sorted(audit.select("url, level, text FROM headings")),
    }


async def test_unchanged_pages_are_asked_for_and_not_sent(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a", "/b")
        editable.plant("/a", by="modified")
        editable.plant("/b", by="nothing")
        await audit.run("/")
        before = kept(audit)
        editable.sent.clear()
        await audit.run(recrawl=True)
        asked = {seen.path: seen.headers for seen in site.requests[-3:]}
        assert editable.sent == ["/b"], "it does not say what it is"
        assert asked["/"]["if-none-match"].startswith('"')
        assert asked["/a"]["if-modified-since"] == MODIFIED
        assert not {"if-none-match", "if-modified-since"} & set(asked["/b"])
    assert kept(audit) == before
    assert audit.select("id, kind, outcome FROM runs") == [(1, "crawl", "complete"), (2, "recrawl", "complete")]


async def test_a_first_crawl_asks_for_everything(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/")
        await audit.run("/", recrawl=True)
        assert not {"if-none-match", "if-modified-since"} & set(site.requests[-1].headers)


async def test_a_changed_page_is_replaced_and_its_new_links_are_followed(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a")
        editable.plant("/a", "/old", title="Rye bread", body="<h2>Crust</h2><img src='/x.png'>")
        editable.plant("/old")
        await audit.run("/")
        assert "/a" in audit.column("url FROM findings WHERE check_id = 'image-alt-missing'")
        editable.plant("/a", "/new", title="Wheat bread")
        editable.plant("/new")
        await audit.run(recrawl=True)
    assert dict(audit.select("url, title FROM completed_pages")) == {
        "/": "Page /", "/a": "Wheat bread", "/old": "Page /old", "/new": "Page /new",
    }  # fmt: skip
    assert sorted(audit.select("source_url, target_url FROM links")) == [("/", "/a"), ("/a", "/new")]
    assert audit.column("text FROM headings WHERE url LIKE '%/a'") == ["Wheat bread"]
    assert audit.column("url FROM findings WHERE check_id = 'image-alt-missing'") == []
    assert audit.select("resource_url FROM page_resources") == []
    assert dict(audit.select("url, inlinks FROM audited_pages"))["/old"] == 0


async def test_a_page_that_vanished_is_a_404(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a")
        editable.plant("/a", "/b", title="Rye bread", body="<h2>Crust</h2>")
        editable.plant("/b")
        await audit.run("/")
        site.reply("/a", status=404, body="<html><title>No</title></html>")
        site.handle("/a", lambda exchange, _: exchange.send(Reply(status=404)))
        await audit.run(recrawl=True)
    assert audit.one("status, status_code, title FROM pages WHERE url LIKE '%/a'") == ("completed", 404, None)
    assert audit.column("url FROM headings WHERE url LIKE '%/a'") == []
    assert audit.column("source_url FROM links") == ["/"]
    assert "response-client-error" in audit.column("check_id FROM findings WHERE url LIKE '%/a'")


async def test_a_page_that_was_deleted_with_every_link_to_it_is_gone_and_no_fault(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a", "/b")
        editable.plant("/a", title="Rye bread")
        editable.plant("/b")
        await audit.run("/")
        editable.plant("/", "/b")
        for path in ("/a", "/b"):  # The page that says that there is no page links to itself, as many do.
            site.reply(path, status=404, body=document("No", (path, "/a")))
        await audit.run(recrawl=True)
        assert audit.column("url FROM findings WHERE check_id = 'response-client-error'") == ["/b"]
        assert audit.column("url FROM audited_pages ORDER BY url") == ["/", "/b"]
        assert audit.column("url FROM findings WHERE url LIKE '%/a'") == []
        # Whoever looks at the run before still finds it, and it is asked for again, in case that it came back.
        assert audit.one(
            "status_code FROM page_history WHERE run_id = 1 AND page_id = (SELECT id FROM pages WHERE url LIKE '%/a')"
        )
        editable.plant("/a", title="Wheat bread")
        await audit.run(recrawl=True)
    assert audit.one("status_code, title FROM audited_pages WHERE url LIKE '%/a'") == (200, "Wheat bread")


@pytest.mark.parametrize("how", ["a link", "a redirect", "a sitemap", "a canonical", "an alternate", "the start"])
async def test_a_page_that_is_gone_and_still_named_stays_a_fault(tmp_path: Path, how: str) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a", "/other")
        editable.plant("/a")
        editable.plant("/other")
        starts = ("/", "/a") if how == "the start" else ("/",)
        await audit.run(*starts)
        site.reply("/a", status=404, body=document("No", ()))
        head = {"a canonical": "<link rel=canonical href=/a>", "an alternate": "<link rel=alternate hreflang=de href=/a>"}
        editable.plant("/", "/other", *(["/a"] if how == "a link" else []))
        site.reply("/other", body=f"<!doctype html><title>Other</title>{head.get(how, '')}<p>Bread")
        if how == "a redirect":
            site.redirect("/other", "/a")
        if how == "a sitemap":
            site.sitemap("/sitemap.xml", ["/a"])
        await audit.run(recrawl=True, sitemap="auto" if how == "a sitemap" else "off")
    assert audit.column("url FROM findings WHERE check_id = 'response-client-error'") == ["/a"]


async def test_a_page_that_is_gone_comes_back_as_a_fault_when_a_new_start_leads_to_it(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a")
        editable.plant("/a")
        await audit.run("/")
        editable.plant("/")
        site.reply("/a", status=404, body=document("No", ()))
        await audit.run(recrawl=True)
        assert audit.column("url FROM findings WHERE check_id = 'response-client-error'") == []
        editable.plant("/new", "/a")
        await audit.run("/new")
    assert audit.column("url FROM findings WHERE check_id = 'response-client-error'") == ["/a"]
    assert audit.one("value FROM counters WHERE name = 'counted'") == (3,)


async def test_a_page_that_came_back_has_no_findings_of_its_absence(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a")
        await audit.run("/")
        assert "response-client-error" in audit.column("check_id FROM findings WHERE url LIKE '%/a'")
        editable.plant("/a")
        await audit.run(recrawl=True)
    assert audit.one("status_code FROM pages WHERE url LIKE '%/a'") == (200,)
    assert "response-client-error" not in set(audit.column("check_id FROM findings"))


async def test_what_robots_txt_forbids_today_is_skipped_and_what_it_forbade_is_asked_for(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a", "/b")
        editable.plant("/a", "/c")
        editable.plant("/b")
        editable.plant("/c")
        site.robots("User-agent: *\nDisallow: /b\n")
        await audit.run("/")
        assert audit.statuses()["/b"] == "skipped"
        site.robots("User-agent: *\nDisallow: /a\n")
        await audit.run(recrawl=True)
    assert audit.statuses() == {"/": "completed", "/a": "skipped", "/b": "completed", "/c": "completed"}
    assert sorted(audit.select("source_url, target_url FROM links")) == [("/", "/a"), ("/", "/b")]
    assert dict(audit.select("url, check_id FROM findings WHERE check_id = 'response-blocked-by-robots'")) == {
        "/a": "response-blocked-by-robots"
    }


async def test_a_page_that_moved_since_and_moved_back_is_no_loop(tmp_path: Path) -> None:
    async with Site() as site:
        audit = Audit(site, tmp_path)
        site.page("/", links=["/a", "/b"])
        site.page("/a")
        site.redirect("/b", "/a", 301)
        await audit.run("/")
        site.redirect("/a", "/b", 301)
        site.handle("/b", lambda exchange, _: exchange.send(Reply(body=document("B", ()))))
        site.handle("/a", lambda exchange, _: exchange.send(Reply(status=301, headers=(("Location", "/b"),))))
        await audit.run(recrawl=True)
    assert dict(audit.select("url, status FROM pages")) == {"/": "completed", "/a": "completed", "/b": "completed"}
    assert audit.select("url, target_url FROM redirects") == [("/a", "/b")]


async def test_the_past_is_kept_to_compare_with(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", "/a")
        editable.plant("/a", title="Rye bread")
        await audit.run("/")
        findings = audit.one("count(*) FROM page_findings")
        editable.plant("/a", title="Wheat bread")
        await audit.run(recrawl=True)
    past = "p.url, h.status_code, h.title FROM page_history h JOIN pages p ON p.id = h.page_id WHERE h.run_id = 1 ORDER BY p.url"
    assert audit.select(past) == [("/", 200, "Page /"), ("/a", 200, "Rye bread")]
    assert audit.one("count(*) FROM finding_history WHERE run_id = 1") == findings


async def test_a_limit_counts_the_pages_of_this_run(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant_ten()
        await audit.run("/", limit=4)
        first = len(site.requests)
        await audit.run(limit=4)
        assert len(site.requests) == first, "it is reached"
        await audit.run(recrawl=True, limit=4)
        asked = [seen for seen in site.requests[first:] if seen.path != "/robots.txt"]
        assert len({seen.path for seen in asked}) == len(asked) == 4
        assert all("if-none-match" in seen.headers for seen in asked)
    assert audit.one("count(*) FROM completed_pages") == (4,)


async def test_a_crawl_that_its_limit_cut_short_is_finished_before_it_is_repeated(tmp_path: Path) -> None:
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant_ten()
        await audit.run("/", limit=4)
        await audit.run(recrawl=True, limit=6)
        assert max(site.hits(path) for path in site.paths) == 1, "the last run goes on first"
    assert audit.one("count(*) FROM completed_pages") == (6,)
    assert audit.column("kind FROM runs") == ["crawl"]


async def test_sitemaps_are_read_again(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        site.sitemap("/sitemap.xml", ["/", "/old"])
        audit = Audit(site, tmp_path)
        await audit.run("/", sitemap="auto")
        assert sorted(audit.column("url FROM sitemap_urls")) == ["/", "/old"]
        site.sitemap("/sitemap.xml", ["/", "/new"])
        await audit.run(recrawl=True, sitemap="auto")
    assert sorted(audit.column("url FROM sitemap_urls")) == ["/", "/new"]
    assert audit.statuses() == {"/": "completed", "/old": "completed", "/new": "completed"}


def stopped_after(site: Site, count: int) -> Callable[[Crawler], None]:
    """Stops a crawl once so many more requests were seen."""
    limit = len(site.requests) + count

    def on_created(crawl: Crawler) -> None:
        async def watch() -> None:
            while len(site.requests) < limit:
                await site.news()
            crawl.stop()

        site.in_background(watch())

    return on_created


@pytest.mark.parametrize("asked", [{"recrawl": True}, {}], ids=["by the same command", "by going on"])
async def test_a_recrawl_that_was_stopped_is_finished_first(tmp_path: Path, asked: dict[str, Any]) -> None:
    paths = [f"/{number}" for number in range(30)]
    async with Site() as site:
        editable, audit = EditableSite(site), Audit(site, tmp_path)
        editable.plant("/", *paths)
        for path in paths:
            editable.plant(path)
        await audit.run("/")
        before = kept(audit)
        first = len(site.requests)
        ended = await audit.run(recrawl=True, concurrency=2, on_created=stopped_after(site, 10))
        assert ended.stopped
        assert audit.one("count(*) > 0 FROM pages WHERE status = 'queued'") == (1,)
        await audit.run(**asked)
        again = [seen for seen in site.requests[first:] if seen.path != "/robots.txt"]
        assert sorted(seen.path for seen in again) == sorted(["/", *paths]), "each once in both parts together"
        assert all("if-none-match" in seen.headers for seen in again)
    assert kept(audit) == before
    assert audit.select("id, outcome FROM runs") == [(1, "complete"), (2, "complete")]
