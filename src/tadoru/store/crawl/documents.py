"""The pages of a documentation site as Markdown, their earlier versions, and what each run changed."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tadoru.store.crawl.connection import CrawlPart, SqlConnection, json_text
from tadoru.store.crawl.records import DocumentRecord, PageRecords, parse_utc
from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE
from tadoru.store.crawl.sqlite.database import stamp as moment
from tadoru.store.errors import CRAWL_FILE, translated

FORMAT = 4
"""The first format of a crawl's file in which versions are kept."""
_PATIENCE = 10.0
_PAGE = "SELECT p.id FROM document_numbers n JOIN pages p ON p.url = n.url WHERE n.number = ?"
_NOW = "SELECT 0, title, hash, changed_at, NULL FROM documents WHERE page_id = ?"
_EARLIER = """SELECT id, title, hash, changed_at, replaced_at FROM document_versions WHERE page_id = ? ORDER BY id DESC"""
_RUNS = "SELECT DISTINCT run_id FROM document_changes WHERE run_id < ? ORDER BY run_id DESC LIMIT ?"
_CHANGES = """SELECT c.kind, c.url, c.title, c.at, n.number,
        EXISTS (SELECT 1 FROM document_versions v JOIN pages p ON p.id = v.page_id WHERE p.url = c.url)
    FROM document_changes c LEFT JOIN document_numbers n ON n.url = c.url
    WHERE c.run_id = ? ORDER BY c.kind, coalesce(n.number, 0), c.url LIMIT ?"""
_COUNTS = "SELECT kind, count(*) FROM document_changes WHERE run_id = ? GROUP BY kind"
_LATEST = 1 << 62


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The text of a page during some time."""

    id: int
    """0 for what it says now."""
    title: str
    hash: str
    since: datetime
    until: datetime | None
    """None while it says so."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A page that a run found added, changed or removed."""

    kind: str
    url: str
    title: str
    number: int | None
    has_earlier: bool
    """There is an earlier version to compare with."""


@dataclass(frozen=True, slots=True)
class DocumentRunChanges:
    """The differences of one run from the run before."""

    run: int
    at: datetime
    counts: dict[str, int]
    """By kind."""
    pages: tuple[DocumentChange, ...]
    """As many as were asked for: added, changed, removed."""


class DocumentHistory:
    """The open history of one site."""

    def __init__(self, sql: sqlite3.Connection | None) -> None:
        self._sql = sql

    def changes(self, *, runs: int, pages: int, before: int | None = None) -> list[DocumentRunChanges]:
        """The changes of the last runs that changed something, the newest first; `before` is the last run that was seen."""
        if self._sql is None:
            return []
        numbers = self._sql.execute(_RUNS, (before if before is not None else _LATEST, runs)).fetchall()
        return [self._run(number, pages) for (number,) in numbers]

    def _run(self, run: int, most: int) -> DocumentRunChanges:
        assert self._sql is not None
        rows = self._sql.execute(_CHANGES, (run, most)).fetchall()
        found = tuple(DocumentChange(kind, url, title, number, bool(has)) for kind, url, title, _, number, has in rows)
        at = (
            rows[0][3]
            if rows
            else self._sql.execute("SELECT min(at) FROM document_changes WHERE run_id = ?", (run,)).fetchone()[0]
        )
        return DocumentRunChanges(run, parse_utc(at), dict(self._sql.execute(_COUNTS, (run,))), found)

    def versions(self, number: int) -> list[DocumentVersion]:
        """What the page with a number says now, if it is there, and what it said before, the newest first."""
        if self._sql is None or (page := self._sql.execute(_PAGE, (number,)).fetchone()) is None:
            return []
        rows = [*self._sql.execute(_NOW, page), *self._sql.execute(_EARLIER, page)]
        return [
            DocumentVersion(id_, title, digest, parse_utc(since), parse_utc(until)) for id_, title, digest, since, until in rows
        ]

    def text(self, number: int, version: int) -> str | None:
        """The Markdown of a version of a page; version 0 is what it says now."""
        if self._sql is None or (page := self._sql.execute(_PAGE, (number,)).fetchone()) is None:
            return None
        if version:
            query, values = "SELECT markdown FROM document_versions WHERE page_id = ? AND id = ?", (*page, version)
        else:
            query, values = "SELECT markdown FROM documents WHERE page_id = ?", page
        row = self._sql.execute(query, values).fetchone()
        return zlib.decompress(row[0]).decode() if row else None


@contextmanager
def open_history(path: Path) -> Iterator[DocumentHistory]:
    """The history in a crawl's database; an empty one where there is none. Raises StoreError for a file that cannot be read."""
    if not path.is_file():
        yield DocumentHistory(None)
        return
    with (
        translated(str(path)),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None)) as sql,
    ):
        sql.execute("PRAGMA query_only = 1")  # not mode=ro: a reader of a file in WAL mode may have to make the files beside it
        ours = sql.execute("PRAGMA application_id").fetchone()[0] == CRAWL_FILE
        yield DocumentHistory(sql if ours and sql.execute("PRAGMA user_version").fetchone()[0] >= FORMAT else None)


_PUT = """INSERT INTO documents(page_id, title, markdown, hash, changed_at, source, generator, language, version, confidence,
        metadata, headings, breadcrumbs, menu_id, next_url, prev_url)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM menus WHERE menus.hash = ?), ?, ?)
    ON CONFLICT(page_id) DO UPDATE SET title = excluded.title, markdown = excluded.markdown, hash = excluded.hash,
        changed_at = CASE WHEN documents.hash = excluded.hash THEN documents.changed_at ELSE excluded.changed_at END,
        source = excluded.source,
        generator = excluded.generator, language = excluded.language, version = excluded.version,
        confidence = excluded.confidence, metadata = excluded.metadata, headings = excluded.headings,
        breadcrumbs = excluded.breadcrumbs, menu_id = excluded.menu_id, next_url = excluded.next_url,
        prev_url = excluded.prev_url"""
# What is about to be replaced; the text is compressed already, and copied as it is.
_KEEP = """INSERT INTO document_versions(page_id, title, markdown, hash, changed_at, replaced_at)
    SELECT page_id, title, markdown, hash, changed_at, ? FROM documents WHERE page_id = ? AND hash <> ?"""
_FORGET = """DELETE FROM document_versions WHERE page_id = ? AND id NOT IN
    (SELECT id FROM document_versions WHERE page_id = ? ORDER BY id DESC LIMIT ?)"""
_NOTE = """INSERT INTO document_changes(run_id, url, kind, title, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_id, {url}) DO UPDATE SET kind = excluded.kind, title = excluded.title, at = excluded.at"""
_FORGET_RUNS = """DELETE FROM document_changes WHERE run_id NOT IN
    (SELECT run_id FROM document_changes GROUP BY run_id ORDER BY run_id DESC LIMIT ?)"""
MOST_VERSIONS = 5
"""Of a page, beside the one it has now."""
MOST_RUNS = 50
"""Whose changes are kept."""
_OF_A_PAGE = ("documents", "specifications", "offered_documents")
_MENU = "INSERT INTO menus(hash, urls) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PUT_SPECIFICATION = """INSERT INTO specifications(page_id, content_type, body) VALUES (?, ?, ?)
    ON CONFLICT(page_id) DO UPDATE SET content_type = excluded.content_type, body = excluded.body"""
_PUT_OFFERED = "INSERT INTO offered_documents(url, page_id, markdown) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
# What pages, redirects and sitemaps lead to from the starts. PostgreSQL allows one recursive term, and SQLite has no LATERAL.
_REACHED = """WITH RECURSIVE reached(id) AS (
        SELECT id FROM pages WHERE is_seed OR (parent_id IS NULL AND internal AND depth < 1000)
        UNION SELECT page_id FROM sitemap_entries
        UNION {step}
    ) SELECT id FROM reached"""
_STEPS = {
    "sqlite": """SELECT r.target_id FROM reached JOIN link_relations r ON r.source_id = reached.id
        UNION SELECT p.redirect_id FROM reached JOIN pages p ON p.id = reached.id WHERE p.redirect_id IS NOT NULL""",
    "postgresql": """SELECT step.id FROM reached CROSS JOIN LATERAL (
            SELECT r.target_id AS id FROM link_relations r WHERE r.source_id = reached.id
            UNION ALL SELECT p.redirect_id FROM pages p WHERE p.id = reached.id AND p.redirect_id IS NOT NULL) AS step""",
}
_PLACES = """SELECT p.id, p.url, p.depth, d.next_url, d.prev_url, d.hash, d.title
    FROM documents d JOIN pages p ON p.id = d.page_id WHERE p.internal ORDER BY p.depth, p.url"""
_MENUS = """SELECT m.urls FROM menus m JOIN (
        SELECT d.menu_id AS id, min(p.depth) AS depth, min(p.url) AS url FROM documents d JOIN pages p ON p.id = d.page_id
        WHERE d.menu_id IS NOT NULL GROUP BY d.menu_id
    ) s ON s.id = m.id ORDER BY s.depth, s.url, m.hash"""
# A page that was kept though it did not answer as one, or not to the browser it needs, said nothing of where it leads.
_UNSURE = """SELECT 1 FROM pages p LEFT JOIN documents d ON d.page_id = p.id LEFT JOIN page_details x ON x.page_id = p.id
    WHERE p.status IN ('queued', 'processing')
    OR (d.page_id IS NOT NULL
        AND (p.status <> 'completed' OR p.status_code >= 300 OR {failed} <> ''))
    OR (p.is_seed AND (p.status <> 'completed' OR p.status_code >= 400))
    OR EXISTS (SELECT 1 FROM sitemaps WHERE status = 'failed' AND coalesce(status_code, 0) NOT IN (200, 404, 410)) LIMIT 1"""
_DOCUMENT = """SELECT p.url, p.depth, d.title, d.markdown, d.hash, d.changed_at, d.source, d.generator, d.language, d.version,
    d.metadata, d.headings, d.breadcrumbs, x.etag, x.last_modified_field, n.number, o.markdown
    FROM documents d JOIN pages p ON p.id = d.page_id LEFT JOIN page_details x ON x.page_id = p.id
    LEFT JOIN document_numbers n ON {numbered} LEFT JOIN offered_documents o ON {offered} WHERE d.page_id = ?"""
_LINKS = """SELECT t.url FROM link_relations r JOIN pages t ON t.id = r.target_id
    WHERE r.source_id = ? AND t.internal GROUP BY t.url ORDER BY min(r.position)"""


class DocumentPlace(NamedTuple):
    """The position of a page on the site, from which the reading order is computed."""

    page_id: int
    url: str
    depth: int
    next_url: str | None
    prev_url: str | None
    hash: str
    title: str


class DocumentRow(NamedTuple):
    """A page as it is stored."""

    url: str
    depth: int
    title: str
    markdown: str
    hash: str
    changed_at: float
    """Epoch seconds."""
    source: str
    generator: str | None
    language: str | None
    version: str | None
    metadata: dict[str, Any]
    headings: list[tuple[int, str, str | None]]
    breadcrumbs: list[str]
    etag: str | None
    last_modified: str | None
    number: int
    offered: str | None
    """The same page as another file of the site gives it."""
    links: tuple[str, ...]


def statements(page: int, records: PageRecords, stamp: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    """What writes a page as documentation, or that it is none any more: statements with their values, one after the other."""
    if records.drops_document:
        yield from _version_kept(page, "", stamp)
        for table in _OF_A_PAGE:
            yield f"DELETE FROM {table} WHERE page_id = ?", (page,)
    if records.document is not None:
        yield from _document_put(page, records.document, stamp)
    if (found := records.specification) is not None:
        yield _PUT_SPECIFICATION, (page, found.content_type, zlib.compress(found.body, 6))
    if records.offered:
        yield "DELETE FROM offered_documents WHERE page_id = ?", (page,)
        for one in records.offered:
            # Another page may have offered it before: the last one counts.
            yield "DELETE FROM offered_documents WHERE url = ?", (one.url,)
            yield _PUT_OFFERED, (one.url, page, zlib.compress(one.markdown.encode(), 6))


def _document_put(page: int, record: DocumentRecord, stamp: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    markdown = record.markdown.encode()
    digest = sha256(markdown).hexdigest()
    yield from _version_kept(page, digest, stamp)
    menu = "\n".join(record.navigation).encode()
    menu_hash = sha256(menu).hexdigest() if menu else None
    if menu:
        yield _MENU, (menu_hash, zlib.compress(menu, 6))
    values = (
        page, record.title, zlib.compress(markdown, 6), digest, stamp, record.source,
        record.generator, record.language, record.version, record.confidence, json_text(record.metadata),
        json_text(record.headings), json_text(record.breadcrumbs), menu_hash, record.next_url, record.prev_url,
    )  # fmt: skip
    yield _PUT, values


def _version_kept(page: int, digest: str, stamp: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Keep what a page said, when that is not what it says now; of many versions the newest."""
    yield _KEEP, (stamp, page, digest)
    yield _FORGET, (page, page, MOST_VERSIONS)


class DocumentStore(CrawlPart):
    """Reads and writes the pages of a documentation site."""

    def places(self) -> list[DocumentPlace]:
        """Every page that belongs to the site today, by depth and URL.

        A page that nothing leads to any more is gone, but only once every page has said what it leads to.
        """
        places = [DocumentPlace(*row) for row in self._db.stream(_PLACES)]
        if self._db.rows(_UNSURE.format(failed=self._db.dialect.json_field("x.rendering", "failed"))):
            return places
        reached = {page for (page,) in self._db.stream(_REACHED.format(step=_STEPS[self._db.dialect.name]))}
        return [place for place in places if place.page_id in reached]

    def outdated(self, most: int) -> list[tuple[str, str]]:
        """The pages whose last request failed while an earlier version of them is kept: URLs and causes, in order."""
        rows = self._db.rows(
            """SELECT p.url, p.status_code, p.last_error_type FROM documents d JOIN pages p ON p.id = d.page_id
            WHERE p.status = 'error' OR p.status_code >= 400 ORDER BY p.url LIMIT ?""",
            (most,),
        )
        return [(url, f"HTTP {code}" if code and code >= 400 else kind or "") for url, code, kind in rows]

    def menus(self) -> Iterator[list[str]]:
        """The menus that pages show, those of the shallowest pages first."""
        return (zlib.decompress(urls).decode().split("\n") for (urls,) in self._db.stream(_MENUS))

    async def number(self, urls: Iterable[str]) -> None:
        """Give each page that has none a number, in this order. A number is never given twice."""
        wanted = list(urls)

        def given(sql: SqlConnection) -> None:
            (last,) = sql.execute("SELECT coalesce(max(number), 0) FROM document_numbers").fetchone()
            known = {url for (url,) in sql.execute("SELECT url FROM document_numbers")}
            new = enumerate((url for url in wanted if url not in known), last + 1)
            sql.executemany("INSERT INTO document_numbers(number, url) VALUES (?, ?)", list(new))

        await self._db.write(given)

    def read(self, pages: Sequence[int]) -> Iterator[DocumentRow]:
        """The pages with these numbers of the store, in this order."""
        is_text = self._db.dialect.is_text
        statement = _DOCUMENT.format(numbered=is_text("n.url", "p.url"), offered=is_text("o.url", "p.url"))
        for page in pages:
            (row,) = self._db.rows(statement, (page,))
            yield _row(row, tuple(url for (url,) in self._db.rows(_LINKS, (page,))))

    def note_changes(self, run: int, changes: Iterable[tuple[str, str, str]], now: float) -> None:
        """Keep what a run found: kind (`added`, `changed` or `removed`), URL and title of each page. Said twice, it is kept once.

        It waits for others as it stands, for it is called while files are written, when no worker is left: to a crawl in a file.
        """
        rows = [(run, url, kind, title, moment(now)) for kind, url, title in changes]
        with translated(self._db.path):
            self._db.sql.execute(f"PRAGMA busy_timeout = {int(LOCK_PATIENCE * 1000)}")
            try:
                self._db.sql.execute("BEGIN IMMEDIATE")
                try:
                    self._db.sql.executemany(_NOTE.format(url=self._db.dialect.unique_text("url")), rows)
                    self._db.sql.execute(_FORGET_RUNS, (MOST_RUNS,))
                    self._db.sql.execute("COMMIT")
                except BaseException:
                    self._db.sql.execute("ROLLBACK")
                    raise
            finally:
                self._db.sql.execute("PRAGMA busy_timeout = 0")

    def specifications(self) -> Iterator[tuple[str, str, bytes]]:
        """URL, media type and body of each specification, by URL."""
        query = "SELECT p.url, s.content_type, s.body FROM specifications s JOIN pages p ON p.id = s.page_id ORDER BY p.url"
        return ((url, content_type, zlib.decompress(body)) for url, content_type, body in self._db.stream(query))


def _row(row: tuple[Any, ...], links: tuple[str, ...]) -> DocumentRow:
    url, depth, title, markdown, digest, changed, *about, metadata, headings, breadcrumbs, etag, modified, number, offered = row
    source, generator, language, version = about
    return DocumentRow(
        url=url,
        depth=depth,
        title=title,
        markdown=zlib.decompress(markdown).decode(),
        hash=digest,
        changed_at=parse_utc(changed).timestamp(),
        source=source,
        generator=generator,
        language=language,
        version=version,
        metadata=json.loads(metadata),
        headings=[(level, text, anchor) for level, text, anchor in json.loads(headings)],
        breadcrumbs=json.loads(breadcrumbs),
        etag=etag,
        last_modified=modified,
        number=number,
        offered=zlib.decompress(offered).decode() if offered is not None else None,
        links=links,
    )
