"""What `tadoru docs` is let in with, what it asks for, and what it leaves alone."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru
from tests.support.exchange import Exchange, Reply
from tests.support.handbook import PROSE, Handbook, crawl, doc, entries, index
from tests.support.site import Site

COOKIES = "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts3cret\n"
ACCESS = {
    "basic": (
        ["--auth-type", "basic", "--auth-username", "ada", "--auth-password", "s3cret"],
        "authorization", "Basic " + base64.b64encode(b"ada:s3cret").decode(),
    ),
    "bearer": (["--auth-type", "bearer", "--auth-token", "s3cret"], "authorization", "Bearer s3cret"),
    "api-key": (["--auth-type", "api-key", "--auth-header", "X-Key", "--auth-value", "s3cret"], "x-key", "s3cret"),
    "a cookie": (["--cookies", "cookies.txt"], "cookie", "session=s3cret"),
    "a header": (["-H", "X-Pass: s3cret"], "x-pass", "s3cret"),
}  # fmt: skip


@pytest.mark.parametrize("options, name, value", ACCESS.values(), ids=ACCESS)
def test_a_closed_site_is_opened_and_nobody_else_is_told_the_secret(
    options: list[str], name: str, value: str, tadoru: Tadoru, site: Site, elsewhere: Site
) -> None:
    async def guarded(exchange: Exchange, rest: str) -> None:
        if exchange.seen.headers.get(name) != value:
            await exchange.send(Reply(401))
        else:
            page = doc(f"Page {rest}", f"<p>{PROSE * 3}</p>", ["/", "/a", elsewhere.url("/")])
            await exchange.send(Reply(body=page.encode()))

    site.handle("/", guarded)
    site.handle("/a", guarded)
    elsewhere.html("/", doc("Elsewhere", f"<p>{PROSE}</p>"))
    (tadoru.folder / "cookies.txt").write_text(COOKIES, "utf-8")
    crawl(tadoru, site, *options, "--no-same-domain", "-q", "--allow-private", "-d", "1")
    out = tadoru.folder / "out"
    assert {"/", "/a"} <= entries(out, site).keys()
    # A cookie is given to a host whatever its port; everything else to one origin.
    assert elsewhere.requests
    assert name == "cookie" or all(seen.headers.get(name) != value for seen in elsewhere.requests)
    kept = b"".join(file.read_bytes() for file in out.rglob("*") if file.is_file())
    assert b"s3cret" not in kept, "a secret is not written down"


def test_credentials_are_not_kept_for_an_update(tadoru: Tadoru, site: Site) -> None:
    Handbook(site).write(2)
    crawl(tadoru, site, "--auth-type", "bearer", "--auth-token", "s3cret")
    done = tadoru("docs", "refresh", "out")
    assert done.code == 2
    assert "was crawled with credentials, which are not stored" in done.err


def test_robots_txt_that_forbids_the_start_is_exit_4_with_its_line(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.write(3)
    site.robots("User-agent: *\nDisallow: /part\nDisallow: /$\n")
    done = crawl(tadoru, site, "-q", code=4)
    refused = f"Nothing to crawl from {site.url('/')}: robots.txt line 3: Disallow: /$."
    assert done.sentence == f"{refused} If the site is yours, use --ignore-robots."
    assert set(site.paths) == {"/robots.txt"}
    assert not (tadoru.folder / "out" / "index.json").exists()
    crawl(tadoru, site, "--no-robots")
    assert len(entries(tadoru.folder / "out", site)) == 3


def test_what_robots_txt_forbids_is_not_asked_for_not_even_as_markdown(tadoru: Tadoru, site: Site) -> None:
    Handbook(site).write(4)
    site.robots("User-agent: Tadoru\nDisallow: /part-2\n")
    crawl(tadoru, site)
    assert "/part-2" not in entries(tadoru.folder / "out", site)
    assert not [path for path in site.paths if path.startswith("/part-2")]


def test_include_and_exclude_say_which_pages(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.page("/docs/", "Docs", links=["/docs/a", "/docs/b", "/blog/x"])
    for path in ("/docs/a", "/docs/b", "/blog/x"):
        book.page(path, path)
    crawl(tadoru, site, "--include", "/docs/", "--exclude", "/b$", path="/docs/")
    assert list(entries(tadoru.folder / "out", site)) == ["/docs/", "/docs/a"]
    assert not {"/docs/b", "/blog/x"} & set(site.paths)


VARIANTS = {
    "version": "/1.0/a", "language": "/ja/a", "print": "/print.html", "index": "/genindex.html", "source": "/_modules/k.html",
}  # fmt: skip


@pytest.fixture
def editions(site: Site) -> Site:
    """Documentation with an old version, another language, the whole book on one page, an index and listings of source."""
    book = Handbook(site)
    book.page("/", "Start", links=["/a", "/b", "/c", *VARIANTS.values()])
    for path in ("/a", "/b", "/c", *VARIANTS.values()):
        book.page(path, f"Page {path}")
    return site


def test_what_says_again_what_others_say_is_left_out(tadoru: Tadoru, editions: Site) -> None:
    done = crawl(tadoru, editions, "-v")
    assert set(entries(tadoru.folder / "out", editions)) == {"/", "/a", "/b", "/c"}
    assert not set(VARIANTS.values()) & set(editions.paths)
    assert done.code == 0


def test_each_kind_of_it_is_brought_back_by_name_and_all_by_all(tadoru: Tadoru, editions: Site) -> None:
    crawl(tadoru, editions, "--variants", "version", "--variants", "print")
    assert set(entries(tadoru.folder / "out", editions)) == {"/", "/a", "/b", "/c", "/1.0/a", "/print.html"}
    crawl(tadoru, editions, "--variants", "all", "-o", "all")
    assert set(entries(tadoru.folder / "all", editions)) == {"/", "/a", "/b", "/c", *VARIANTS.values()}


def test_a_start_in_an_old_version_and_another_language_wants_that(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    paths = ["/ja/1.0/", "/ja/1.0/a", "/ja/2.0/a", "/en/1.0/a"]
    for path in paths:
        book.page(path, f"Page {path}", links=paths)
    crawl(tadoru, site, path="/ja/1.0/")
    assert list(entries(tadoru.folder / "out", site)) == ["/ja/1.0/", "/ja/1.0/a"]


def test_the_pages_stand_in_the_order_of_the_menu_and_what_it_does_not_name_comes_after(tadoru: Tadoru, site: Site) -> None:
    menu = ["/zebra", "/apple", "/mango"]
    site.html("/", doc("Start", f"<p>{PROSE}</p>", menu))
    for path in menu:
        site.html(path, doc(path[1:].title(), f"<p>{PROSE}</p><p><a href='/appendix'>More</a></p>", ["/", *menu]))
    site.html("/appendix", doc("Appendix", f"<p>{PROSE}</p>", ["/", *menu]))
    crawl(tadoru, site, "-c", "8")
    assert list(entries(tadoru.folder / "out", site)) == ["/", *menu, "/appendix"]
    titles = [line for line in (tadoru.folder / "out" / "full.md").read_text("utf-8").splitlines() if line.startswith("# ")]
    assert titles == ["# Start", "# Zebra", "# Apple", "# Mango", "# Appendix"]
    assert [page["number"] for page in index(tadoru.folder / "out")["pages"]] == [1, 2, 3, 4, 5]


def test_files_that_are_not_wanted_are_left_out_and_links_lead_to_files(tadoru: Tadoru, site: Site) -> None:
    site.html("/", doc("Start", f"<p>{PROSE} Read <a href='/a#part'>A</a>.</p><pre>see {site.url('/a')}</pre>"))
    site.html("/a", doc("A", f"<p>{PROSE * 9}</p><h2 id='part'>Part</h2><p>{PROSE * 9}</p>"))
    crawl(tadoru, site, "--no-pages", "--no-merge", "--no-chunks")
    out = tadoru.folder / "out"
    assert {file.name for file in out.iterdir()} == {".tadoru", "SKILL.md", "index.json", "llms.txt"}
    crawl(tadoru, site, "--local-links", "--chunk-tokens", "120", "--diff")
    page = (out / "pages" / "page-001-index.md").read_text("utf-8")
    assert "[A](page-002-a.md#part)" in page
    assert f"see {site.url('/a')}" in page, "code is left alone"
    chunks = [file.read_text("utf-8") for file in sorted((out / "chunks").iterdir())]
    assert len(chunks) > 3
    assert all(chunk.startswith(f"> Source: {site.base}/") and "> Path: " in chunk for chunk in chunks)
    assert Path(out / "full.md").is_file()
