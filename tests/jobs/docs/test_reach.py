"""How far a crawl of documentation goes: depth, sitemaps, scope and limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import NothingToCrawl, SeedUnreachable
from tests.support.handbook import PROSE, Handbook, doc, entries, index, read
from tests.support.site import Site

NOT_DEEP = {"exclude": ("/a/b",)}
REACH: dict[str, tuple[dict[str, Any], set[str]]] = {
    "by default also what a sitemap names below the start": (NOT_DEEP, {"/docs/", "/docs/a", "/docs/named"}),
    "without sitemaps only links": ({"sitemap": "off", **NOT_DEEP}, {"/docs/", "/docs/a"}),
    "sitemaps only": ({"sitemap": "only", **NOT_DEEP}, {"/docs/", "/docs/named", "/other"}),
    "the start alone": ({"depth": 0}, {"/docs/"}),
    "below the start's path": ({"scope": "path", "depth": 5}, {"/docs/", "/docs/a", "/docs/a/b"}),
}


@pytest.fixture
def manual(book: Handbook) -> Handbook:
    book.page("/docs/", "Docs", links=["/docs/a", "/blog"])
    book.page("/docs/a", "A", links=["/docs/a/b"])
    book.page("/docs/a/b", "B")
    book.page("/docs/named", "Named")
    book.page("/other", "Other")
    book.site.sitemap("/sitemap.xml", ["/docs/named", "/other"])
    return book


@pytest.mark.parametrize("options, found", REACH.values(), ids=REACH)
def test_what_is_read(options: dict[str, Any], found: set[str], site: Site, manual: Handbook, out: Path) -> None:
    read(site, out, "/docs/", **options)
    assert set(entries(out, site)) == found


def test_a_limit_is_exact_and_what_it_left_out_is_not_lost(site: Site, book: Handbook, out: Path) -> None:
    book.write(10)
    assert read(site, out, limit=4).pages == 4
    assert read(site, out).pages == 10
    assert len([path for path in site.paths if path.startswith("/part-") and not path.endswith(".md")]) == 9, "each once"


def test_a_start_that_moved_to_another_host_is_that_site_from_then_on(site: Site, out: Path) -> None:
    with Site() as other:
        site.redirect("/", other.url("/docs/"), status=301)
        other.html("/docs/", doc("Docs", f"<p>{PROSE}</p>", ["/docs/a"]))
        other.html("/docs/a", doc("A", f"<p>{PROSE}</p>"))
        read(site, out, allow_private=True)
        assert [page["url"] for page in index(out)["pages"]] == [other.url("/docs/"), other.url("/docs/a")]


def test_the_same_page_under_two_names_is_one(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/index.html", "/a", "/a.md"])
    book.page("/index.html", "Start", links=["/index.html", "/a", "/a.md"])
    book.page("/a", "A")
    book.file("/a.md", f"# A\n\nA. {PROSE * 4}\n", "text/markdown")
    read(site, out)
    assert list(entries(out, site)) == ["/", "/a"]


def test_a_canonical_address_elsewhere_neither_drops_nor_renames_a_page(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/a"], head='<link rel="canonical" href="https://elsewhere.example/">')
    book.page("/a", "A", head='<link rel="canonical" href="file:///home/me/a.html">')
    read(site, out)
    assert list(entries(out, site)) == ["/", "/a"]


def test_a_start_that_is_no_page_is_said_so(site: Site, out: Path) -> None:
    for path, status, kind, words in (
        ("/gone", 404, "text/html", "the status code is 404"),
        ("/paper", 200, "application/pdf", "the response .application/pdf. has no text"),
        ("/empty", 200, "text/html", "the response .text/html. has no text"),
    ):
        site.reply(path, status=status, content_type=kind, body=b"%PDF" if "pdf" in kind else b"")
        with pytest.raises(NothingToCrawl, match=words):
            read(site, out.with_name(path[1:]), path)
        assert not (out.with_name(path[1:]) / "index.json").exists()


def test_a_start_that_was_down_is_looked_at_again_as_if_for_the_first_time(site: Site, book: Handbook, out: Path) -> None:
    site.misbehave("/", "drop")
    book.file("/index.md", f"# Start\n\nBy hand. {PROSE * 4}\n", "text/markdown")
    with pytest.raises(SeedUnreachable):
        read(site, out, retries=0)
    book.page("/", "Start")
    read(site, out, diff=True)
    assert entries(out, site)["/"]["source"] == "markdown"
