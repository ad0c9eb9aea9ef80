"""What an audit stores of a generated site and of Debian's manuals, compared row by row with lxml and urllib.

`tests/jobs/test_audit_checks.py` and `tests/parse/test_page.py` show the same on pages of a few lines.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from bench.site import build
from tests.support.auditing import Audit
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

MANUALS = (
    "python3-doc/html", "nodejs/api", "valgrind/html", "libxslt1-dev/html", "git/html", "sqlite3/html", "cmake-data/html",
    "libtasn1-doc/reference",
)  # fmt: skip
"""Folders of `/usr/share/doc`; those that are installed are read."""
DOC = Path("/usr/share/doc")
GENERATED = "generated"
MOST = 700
"""Pages of one manual."""


def installed() -> list[str]:
    return [name for name in MANUALS if (DOC / name).is_dir() and any((DOC / name).glob("*.html"))]


def rows(pages: dict[str, bytes], base: str) -> Iterator[tuple[str, str, str]]:
    """Everything that the reader of the test sees: the page, the kind of the fact, and the fact."""
    for path, body in pages.items():
        parser = html.HTMLParser(encoding="utf-8")
        tree = html.document_fromstring(body, parser=parser)
        url = base + path
        titles = tree.xpath("//head/title")
        yield path, "title", " ".join(titles[0].text_content().split()) if titles else ""
        for heading in tree.xpath("//h1"):
            yield path, "h1", " ".join(heading.text_content().split())
        for image in tree.xpath("//img"):
            yield path, "image", " ".join(image.get("alt").split()) if image.get("alt") is not None else "-"
        for link in tree.xpath("//a[@href]"):
            target, fragment = urldefrag(urljoin(url, (link.get("href") or "").strip()))
            target += "" if urlsplit(target).path or urlsplit(target).query else "/"
            if urlsplit(target).scheme in ("http", "https") and ".." not in target:
                yield path, "link", f"{unquote(target)}#{unquote(fragment)}"


def stored(audit: Audit, base: str) -> Iterator[tuple[str, str, str]]:
    with closing(sqlite3.connect(audit.database)) as sql:
        page = "FROM pages p JOIN page_details d ON d.page_id = p.id WHERE p.status_code = 200 AND d.word_count IS NOT NULL"
        for url, title in sql.execute(f"SELECT p.url, coalesce(p.title, '') {page}"):
            yield url.removeprefix(base), "title", title
        for url, text in sql.execute("SELECT url, text FROM headings WHERE level = 1"):
            yield url.removeprefix(base), "h1", text
        for url, alt in sql.execute("SELECT url, alt FROM images"):
            yield url.removeprefix(base), "image", alt if alt is not None else "-"
        links = "SELECT source_url, target_url, fragment FROM links WHERE kind = 'a'"
        for source, target, fragment in sql.execute(links):
            yield source.removeprefix(base), "link", f"{unquote(target)}#{unquote(fragment or '')}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [GENERATED, *installed()])
async def test_what_is_stored_is_what_an_independent_reader_sees(name: str, tmp_path: Path) -> None:
    """The smaller tests are those of `tests/parse/test_page.py`."""
    folder = build(tmp_path / "built", 40, seed=1).root if name == GENERATED else (DOC / name).resolve()

    async def file(exchange: Exchange, _: str) -> None:
        path = folder / unquote(exchange.seen.path.partition("?")[0]).lstrip("/")
        is_page = path.suffix == ".html" and path.is_file() and folder in path.resolve().parents
        await exchange.send(Reply(200, path.read_bytes()) if is_page else Reply(404, b"", "text/plain"))

    async with Site() as site:
        site.handle("/*", file)
        names = ("index.html", *sorted(one.name for one in folder.glob("*.html")))
        index = next(entry for entry in names if (folder / entry).is_file())
        audit = Audit(site, tmp_path)
        options: dict[str, Any] = {"limit": MOST, "fragments": True}
        await audit.run(f"/{index}", **options)
        base = site.base
        crawled = audit.column("url FROM audited_pages WHERE status_code = 200 AND word_count IS NOT NULL")
        read = {path: (folder / unquote(path).lstrip("/").partition("?")[0]).read_bytes() for path in crawled}
        ours = Counter(_bounded(stored(audit, base)))
        theirs = Counter(_bounded(rows(read, base)))
    assert len(read) > 3
    for kind in ("title", "h1", "image", "link"):
        found = Counter({row: count for row, count in ours.items() if row[1] == kind})
        seen = Counter({row: count for row, count in theirs.items() if row[1] == kind})
        both = (found & seen).total()
        precision, recall = both / max(1, found.total()), both / max(1, seen.total())
        only = [*(found - seen)][:3], [*(seen - found)][:3]
        assert min(precision, recall) >= (0.999 if seen else 0), (kind, precision, recall, only)


def _bounded(found: Iterator[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Texts as an audit stores them: cut, and without the sign that links to a heading."""
    for path, kind, text in found:
        yield path, kind, text[:200].rstrip(" \xa0¶#§🔗") if kind == "h1" else text[:200]
