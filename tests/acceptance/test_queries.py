"""Every query in the documents runs against a real audit, finds what it promises, and uses only what is documented."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.database import public
from tests.acceptance.command import CHECKOUT, Tadoru
from tests.support.site import Site

DOCUMENTS = ("README.md", *sorted(f"docs/how-to/{page.name}" for page in (CHECKOUT / "docs/how-to").glob("*.md")))
FENCED = re.compile(r"^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)
QUERIES = [
    pytest.param(query, id=f"{name} line {text[: match.start()].count(chr(10)) + 2}")
    for name in DOCUMENTS
    for text in [(CHECKOUT / name).read_text("utf-8")]
    for match in FENCED.finditer(text)
    for query in [match[1]]
]
PICTURE = '<img src="/broken.png"><h2>Part</h2>'
ARTICLE = '<script type="application/ld+json">{"@type": "Article", "headline": "News"}</script>'


def define(site: Site) -> None:
    """A small site with something to find for every query."""
    site.robots(f"User-agent: *\nDisallow: /secret\nSitemap: {site.url('/sitemap.xml')}\n")
    site.reply("/sitemap.xml", body=_sitemap(site, "/", "/alone", "/gone"), headers={"Content-Type": "application/xml"})
    site.reply(
        "/",
        body=_page(
            "Home", ["/a", "/b", "/c", "/d", "/r1", "/loop", "/gone", "/secret", "/end", "//other.invalid/x"], more=ARTICLE
        ),
    )
    alternates = f'<link rel="alternate" hreflang="ja" href="{site.url("/b")}">'
    for path in ("/a", "/b"):
        site.reply(path, body=_page("Twins", ["/"], more=alternates if path == "/a" else "", text="The same words. " * 30))
    words = [f"word{number}" for number in range(300)]
    for path in ("/c", "/d"):
        site.reply(path, body=_page(path, ["/"], text=" ".join([*words, path])))
    site.reply("/alone", body=_page("Alone", ["/"]))
    site.reply("/end", body=_page("End", [], more=PICTURE), headers={"Cache-Control": "max-age=60", "Content-Type": "text/html"})
    site.redirect("/loop", "/pool")
    site.redirect("/pool", "/loop")
    site.redirect("/r1", "/r2")
    site.redirect("/r2", "/a")


def _page(title: str, links: list[str], *, more: str = "", text: str = "") -> str:
    anchors = "".join(f'<a href="{link}">to {link}</a>' for link in links)
    head = f"<title>{title}</title>{more if more.startswith('<link') else ''}"
    return f"<!doctype html><html lang=en><head>{head}</head><body><h1>{title}</h1><p>{text}</p>{anchors}{more}</body></html>"


def _sitemap(site: Site, *paths: str) -> str:
    entries = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sqlite3.Connection, str]]:
    """The site audited twice, and changed in between; its address."""
    folder = tmp_path_factory.mktemp("queries")
    tadoru = Tadoru(folder)
    with Site() as site:
        define(site)
        options = ("-d", "x.db", "--delay", "0", "--extract", "part=css:h2", "-q")
        assert (done := tadoru("audit", site.url("/"), *options)).code == 0, done.err
        site.reply("/alone", body=_page("", ["/"]))
        assert (done := tadoru("audit", "--recrawl", *options)).code == 0, done.err
        sql = sqlite3.connect(folder / "x.db")
        yield sql, site.base
        sql.close()


def test_there_are_queries() -> None:
    assert len(QUERIES) >= 25


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_something(query: str, database: tuple[sqlite3.Connection, str]) -> None:
    sql, base = database
    assert sql.execute(query.replace("https://example.com", base)).fetchall()


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_uses_only_what_is_documented(query: str, database: tuple[sqlite3.Connection, str]) -> None:
    sql, _ = database
    used: set[tuple[str, str]] = set()

    def note(action: int, table: str | None, column: str | None, _: str | None, inside: str | None) -> int:
        if action == sqlite3.SQLITE_READ and inside is None and table and column:
            used.add((table, column))
        return sqlite3.SQLITE_OK

    sql.set_authorizer(note)
    try:
        sql.execute(f"EXPLAIN {query}")
    finally:
        sql.set_authorizer(None)
    documented = public()
    assert used
    assert [name for name in used if name[1] not in documented.get(name[0], {})] == []


def test_the_queries_of_the_crawl_itself_would_be_noticed(database: tuple[sqlite3.Connection, str]) -> None:
    assert "hosts" not in public()
    assert "status" in public()["pages"]


def test_the_documents_lead_somewhere() -> None:
    for name in ("docs/how-to/query.md", "docs/how-to/export.md", "docs/reference/database.md"):
        folder = (CHECKOUT / name).parent
        targets = re.findall(r"\]\(([^)#\s]+)", (CHECKOUT / name).read_text("utf-8"))
        assert targets
        assert [target for target in targets if not Path(folder, target).exists()] == []
