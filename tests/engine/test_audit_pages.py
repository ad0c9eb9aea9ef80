"""What an audit keeps of each answer, in the columns that people query: the faults of other crawlers, one test each."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.auditing import Audit
from tests.support.crawling import FastClock
from tests.support.generated_sites import FILLER
from tests.support.site import Site


async def audited(site: Site, folder: Path, *paths: str, **options: Any) -> Audit:
    """The audit of a site from its start, or from these."""
    audit = Audit(site, folder)
    await audit.run(*(paths or ("/",)), **options)
    return audit


# -- answers ------------------------------------------------------------------------------------------------------------


async def test_a_404_is_completed_and_a_503_after_its_retries_too(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/gone", "/down"])
        site.reply("/down", status=503, body="<h1>down</h1>")
        audit = await audited(site, tmp_path, clock=FastClock())
        assert site.hits("/down") == 3
    assert audit.select("url, status, status_code, retry_count FROM pages ORDER BY url") == [
        ("/", "completed", 200, 0),
        ("/down", "completed", 503, 2),
        ("/gone", "completed", 404, 0),
    ]
    assert audit.column("error_type FROM crawl_errors") == ["http_503"] * 2
    assert audit.select("url, check_id FROM findings WHERE check_group = 'responses' ORDER BY url") == [
        ("/down", "response-server-error"),
        ("/gone", "response-client-error"),
    ]


async def test_retry_after_is_obeyed(tmp_path: Path) -> None:
    speed = 200.0
    async with Site() as site:
        site.page("/", links=["/bad/busy/2/30"])
        audit = await audited(site, tmp_path, clock=FastClock(speed))
        asked = [seen.at * speed for seen in site.requests if seen.path == "/bad/busy/2/30"]
    assert len(asked) == 3
    assert min(asked[1] - asked[0], asked[2] - asked[1]) >= 30
    assert audit.one("status, status_code, retry_count FROM pages WHERE url LIKE '%busy%'") == ("completed", 200, 2)


async def test_a_timeout_is_retried_and_then_an_error(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/silent"])
        site.misbehave("/silent", "never")
        audit = await audited(site, tmp_path, limit=1)
        await audit.run(clock=FastClock(), timeout=0.2)
        assert site.hits("/silent") == 4
    assert audit.one("status, status_code, last_error_type, retry_count FROM pages WHERE url LIKE '%silent'") == (
        "error", None, "response_timeout", 3,
    )  # fmt: skip
    assert audit.column("check_id FROM findings WHERE url LIKE '%silent'") == ["response-missing"]
    assert audit.one("indexability FROM audited_pages WHERE url LIKE '%silent'") == ("no response",)


async def test_a_body_without_an_end_is_given_up_at_the_limit(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/bad/endless"])
        audit = await audited(site, tmp_path, max_response_size=100_000)
    assert audit.one("status, last_error_type FROM pages WHERE url LIKE '%endless'") == ("error", "response_too_large")


async def test_every_hop_of_a_redirect_is_kept(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/old"])
        site.redirect("/old", "/newer", 301)
        site.redirect("/newer", "/new", 302)
        site.page("/new")
        audit = await audited(site, tmp_path)
    assert audit.select("start_url, hop, url, status_code, target_url FROM redirect_hops WHERE start_url LIKE '%/old'") == [
        ("/old", 1, "/old", 301, "/newer"),
        ("/old", 2, "/newer", 302, "/new"),
    ]
    assert audit.select("url, target_url, target_status_code FROM redirects ORDER BY url") == [
        ("/newer", "/new", 200),
        ("/old", "/newer", 302),
    ]
    assert dict(audit.select("url, depth FROM audited_pages")) == {"/": 0, "/old": 1, "/newer": 1, "/new": 1}
    assert dict(audit.select("url, indexability FROM audited_pages"))["/old"] == "redirected"


@pytest.mark.parametrize("field, kept", [
    ("Wed, 21 Oct 2015 07:28:00 GMT", "2015-10-21 07:28:00"),
    ("Wed, 21 Oct 2015 07:28:00 +0900", "2015-10-20 22:28:00"),
    ("Wednesday, 21-Oct-15 07:28:00 GMT", "2015-10-21 07:28:00"),
    ("yesterday", None),
], ids=["as it should be", "another zone", "the old form", "no date"])  # fmt: skip
async def test_last_modified_is_a_time_that_sqlite_understands(tmp_path: Path, field: str, kept: str | None) -> None:
    async with Site() as site:
        site.page("/", headers={"Last-Modified": field})
        audit = await audited(site, tmp_path)
    assert audit.one("last_modified, datetime(last_modified) FROM completed_pages") == (kept, kept)
    assert audit.column("value FROM response_headers WHERE name = 'last-modified'") == [field]


async def test_times_are_kept_apart_and_only_where_they_happened(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.page("/a")
        audit = await audited(site, tmp_path, concurrency=1)
    first, second = audit.select("dns_ms, connect_ms, tls_ms, ttfb_ms, download_time_ms FROM pages ORDER BY url")
    assert first[2] is second[2] is None, "there was no TLS"
    assert second[0] is second[1] is None, "the connection was still there"
    assert all(value is not None and value >= 0 for value in (*first[3:], *second[3:]))


async def test_header_fields_are_kept_in_order_and_the_values_of_cookies_are_not(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", headers=(("X-Note", "one"), ("Set-Cookie", "sid=s3cret; HttpOnly"), ("X-Note", "two")))
        audit = await audited(site, tmp_path)
    fields = audit.select("name, value FROM response_headers WHERE name IN ('x-note', 'set-cookie') ORDER BY position")
    assert fields == [("x-note", "one"), ("set-cookie", "sid=…; HttpOnly"), ("x-note", "two")]
    assert b"s3cret" not in audit.database.read_bytes()


# -- pages --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("charset, content_type", [
    ("iso-8859-1", "text/html; charset=iso-8859-1"),
    ("iso-8859-1", "text/html"),
    ("shift_jis", "text/html; charset=Shift_JIS"),
    ("euc-jp", "text/html"),
], ids=["latin-1 by its header", "latin-1 by its meta", "Shift_JIS by its header", "EUC-JP by its meta"])  # fmt: skip
async def test_titles_are_decoded_as_browsers_do(tmp_path: Path, charset: str, content_type: str) -> None:
    title = "Crème brûlée" if charset.startswith("iso") else "リンクを辿る"
    text = f'<html><head><meta charset="{charset}"><title>{title}</title></head><body><a href="/a">{title}</a></body></html>'
    async with Site() as site:
        site.reply("/", body=text.encode(charset), content_type=content_type)
        audit = await audited(site, tmp_path)
    assert audit.one("title FROM completed_pages WHERE url LIKE '%/'") == (title,)
    assert audit.column("anchor_text FROM links") == [title]
    assert audit.one("title_length FROM page_details WHERE page_id = 1") == (len(title),)


async def test_the_base_element_decides_where_links_lead(tmp_path: Path) -> None:
    async with Site() as site:
        site.html("/", '<html><head><base href="/docs/"></head><body><a href="a">A</a></body></html>')
        audit = await audited(site, tmp_path)
        assert site.hits("/docs/a") == 1
    assert audit.column("target_url FROM links") == ["/docs/a"]


async def test_the_title_of_a_drawing_is_not_the_page_s(tmp_path: Path) -> None:
    drawing = "<svg><title>A loaf</title></svg>"
    async with Site() as site:
        site.html("/", f"<html><head><title>Bread</title></head><body>{drawing}<a href='/bare'>x</a></body></html>")
        site.html("/bare", f"<html><body>{drawing}</body></html>")
        audit = await audited(site, tmp_path)
    assert dict(audit.select("url, title FROM completed_pages")) == {"/": "Bread", "/bare": None}
    assert "/bare" in audit.column("url FROM findings WHERE check_id = 'title-missing'")


async def test_a_canonical_may_have_other_words_in_its_rel(tmp_path: Path) -> None:
    async with Site() as site:
        site.html("/", '<html><head><link rel="nofollow Canonical" href="/c"></head><body></body></html>')
        audit = await audited(site, tmp_path)
    assert audit.one("canonical_url FROM completed_pages") == ("/c",)
    assert audit.one("indexability FROM audited_pages WHERE status = 'completed'") == ("canonicalised",)


async def test_canonical_and_robots_of_the_header_have_columns_of_their_own(tmp_path: Path) -> None:
    headers = (("Link", '</h>; rel="canonical"'), ("X-Robots-Tag", "noindex"), ("X-Robots-Tag", "googlebot: nofollow"))
    page = '<html><head><link rel="canonical" href="/c"><meta name="robots" content="noarchive"></head><body></body></html>'
    async with Site() as site:
        site.html("/", page, headers=headers)
        audit = await audited(site, tmp_path)
    assert audit.one("canonical_html, canonical_http FROM canonicals") == ("/c", "/h")
    assert audit.one("meta_robots, x_robots_tag, indexability FROM audited_pages WHERE status = 'completed'") == (
        "noarchive", "noindex, googlebot: nofollow", "noindex",
    )  # fmt: skip
    assert sorted(audit.select("source, agent, name FROM directives")) == [
        ("header", "googlebot", "nofollow"),
        ("header", "robots", "noindex"),
        ("meta", "robots", "noarchive"),
    ]


async def test_x_robots_tag_counts_also_where_there_is_no_page(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/paper.pdf"])
        site.reply("/paper.pdf", body=b"%PDF-1.7", content_type="application/pdf", headers={"X-Robots-Tag": "noindex"})
        audit = await audited(site, tmp_path)
    assert audit.one("x_robots_tag, indexability FROM audited_pages WHERE url LIKE '%.pdf'") == ("noindex", "noindex")


BOTS = [
    ("googlebot", ["/file", "/header", "/meta"]),
    ("none", []),
    ("bingbot", ["/bing"]),
    ("googlebot,bingbot", ["/bing", "/file", "/header", "/meta"]),
]


@pytest.mark.parametrize("bots, hidden", BOTS)
async def test_directives_for_the_chosen_crawlers_count(tmp_path: Path, bots: str, hidden: list[str]) -> None:
    async with Site() as site:
        site.page("/", links=["/meta", "/header", "/file", "/bing", "/other"])
        site.page("/meta", body='<meta name="Googlebot" content="noindex">')
        site.page("/header", headers={"X-Robots-Tag": "googlebot: noindex"})
        site.reply("/file", body="%PDF-1.7", content_type="application/pdf", headers={"X-Robots-Tag": "googlebot: none"})
        site.page("/bing", body='<meta name="bingbot" content="noindex">')
        site.page("/other", headers={"X-Robots-Tag": "otherbot: noindex"})
        audit = await audited(site, tmp_path, search_bots=bots)
    assert audit.column("url FROM audited_pages WHERE indexability = 'noindex' ORDER BY url") == hidden


async def test_the_nofollow_of_a_chosen_crawler_counts_for_the_links_of_the_page(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.page("/a", links=["/b"], body='<meta name="googlebot" content="nofollow">')
        site.page("/b", links=["/"])
        audit = await audited(site, tmp_path)
    assert audit.column("meta_robots FROM pages WHERE url LIKE '%/a'") == ["googlebot: nofollow"]
    assert audit.column("url FROM findings WHERE check_id = 'inlinks-nofollow-only'") == ["/b"]


async def test_the_text_has_a_hash_and_the_body_another(tmp_path: Path) -> None:
    async with Site() as site:
        site.html("/", f"<html><body><a href='/b'>b</a>{FILLER}</body></html>")
        site.html("/b", f"<html><!-- a comment --><body><a href='/c'>b</a>{FILLER}</body></html>")
        site.html("/c", "<html><body><a href='/'>b</a><p>Something else.</p></body></html>")
        audit = await audited(site, tmp_path)
        raw = f"<html><body><a href='/b'>b</a>{FILLER}</body></html>".encode()
    hashes = {url: (text, body) for url, text, body in audit.select("url, content_hash, body_hash FROM audited_pages")}
    assert hashes["/"][0] == hashes["/b"][0] != hashes["/c"][0]
    assert len({body for _, body in hashes.values()}) == 3
    assert hashes["/"][1] == hashlib.sha256(raw).hexdigest()
    assert len(hashes["/"][0]) == 64


async def test_links_keep_their_texts_and_relations_each_time(tmp_path: Path) -> None:
    page = '<a href="/a" rel="Nofollow  sponsored">First</a><a href="/a">Second</a><map><area href="/b" alt="Area"></map>'
    async with Site() as site:
        site.html("/", f"<html><body>{page}<a href='https://elsewhere.example/'>Out</a></body></html>")
        audit = await audited(site, tmp_path)
    columns = "target_url, anchor_text, link_type, rel_attribute, kind"
    assert audit.select(f"{columns} FROM links ORDER BY position") == [
        ("/a", "First", "internal", "nofollow sponsored", "a"),
        ("/a", "Second", "internal", "", "a"),
        ("/b", "Area", "internal", "", "area"),
        ("https://elsewhere.example/", "Out", "external", "", "a"),
    ]
    assert audit.statuses()["https://elsewhere.example/"] == "discovered"


async def test_values_are_extracted_as_asked(tmp_path: Path) -> None:
    ways = ("price=css:.price", "sku=regex:SKU-(\\d+)", "head=xpath://h1/text()")
    async with Site() as site:
        site.html("/", '<html><body><h1>Rye</h1><b class="price">4.80</b><b class="price">5.20</b> SKU-17</body></html>')
        audit = await audited(site, tmp_path, extract=ways)
    assert sorted(audit.select("name, value FROM extractions")) == [
        ("head", "Rye"), ("price", "4.80"), ("price", "5.20"), ("sku", "17"),
    ]  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
async def test_bodies_are_kept_on_request_only(tmp_path: Path, kept: bool) -> None:
    async with Site() as site:
        site.html("/", "<html><body>Bread</body></html>")
        audit = await audited(site, tmp_path, store_bodies=kept)
    assert [zlib.decompress(body) for body in audit.column("body FROM bodies")] == (
        [b"<html><body>Bread</body></html>"] if kept else []
    )


# -- the crawl ----------------------------------------------------------------------------------------------------------


async def test_the_crawl_says_when_and_how_it_was_made(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/")
        audit = await audited(site, tmp_path)
        meta = dict(audit.select("key, value FROM crawl_meta"))
        assert json.loads(meta["starts"]) == ["/"]
    assert meta["job"] == "audit"
    assert {"config", "version", "started_at", "finished_at", "scope", "seconds"} <= set(meta)
    assert audit.one("datetime(value) IS NOT NULL FROM crawl_meta WHERE key = 'started_at'") == (1,)
    assert audit.one("kind, outcome, ended_at IS NOT NULL FROM runs") == ("crawl", "complete", 1)


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_robots_txt_that_fails_forbids_everything(tmp_path: Path, status: int) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        site.robots("", status=status)
        audit = await audited(site, tmp_path, sitemap="auto")
        assert set(site.paths) == {"/robots.txt"}
    assert audit.one("status FROM pages") == ("skipped",)
    assert audit.one("indexability FROM audited_pages") == ("blocked by robots.txt",)


async def test_patterns_decide_before_any_network_use(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a"])
        audit = await audited(site, tmp_path, sitemap="auto", exclude=("/$",))
        assert site.paths == []
    assert audit.one("status, skip_reason FROM pages") == ("skipped", "excluded by pattern /$")


async def test_only_what_is_included_is_requested_and_the_start(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a", "/b"])
        audit = await audited(site, tmp_path, include=("/a",))
        assert set(site.paths) == {"/robots.txt", "/", "/a"}
    assert audit.statuses()["/b"] == "skipped"


async def test_what_the_patterns_exclude_is_known_and_never_requested(tmp_path: Path) -> None:
    async with Site() as site:
        site.page("/", links=["/a", "/private/b", "/c.pdf"])
        site.page("/a", links=["/private/d"])
        audit = await audited(site, tmp_path, exclude=("/private/", r"\.pdf$"))
        assert set(site.paths) == {"/robots.txt", "/", "/a"}
    assert audit.statuses() == {
        "/": "completed", "/a": "completed", "/private/b": "skipped", "/c.pdf": "skipped", "/private/d": "skipped",
    }  # fmt: skip


@pytest.mark.parametrize("concurrency", [1, 10, 100])
@pytest.mark.parametrize("engines", [1, 3])
async def test_a_limit_is_exact_at_any_concurrency(tmp_path: Path, concurrency: int, engines: int) -> None:
    async with Site() as site:
        audit = await audited(site, tmp_path, "/dense/90/30/0", limit=20, concurrency=concurrency, engines=engines)
        assert len([path for path in site.paths if path != "/robots.txt"]) == 20
    assert audit.one("count(*) FROM completed_pages") == (20,)


@pytest.mark.parametrize("named", [True, False], ids=["with its URL", "without"])
async def test_a_crawl_that_was_cut_short_goes_on_to_its_end(tmp_path: Path, named: bool) -> None:
    start = "/tree/40/3/0"
    async with Site() as site:
        audit = await audited(site, tmp_path, start, limit=7)
        assert audit.one("count(*) FROM completed_pages") == (7,)
        await audit.run(*([start] if named else []))
        assert max(site.hits(path) for path in site.paths) == 1
    assert audit.one("count(*) FROM completed_pages") == (40,)
    assert set(audit.statuses().values()) == {"completed"}
