"""The search index of one documentation site: a SQLite file that can be deleted and rebuilt from the pages.

It stores the sections of each page, so that a page can be read from it too, and a full-text index without a copy of the text.
Sections and ranking are defined in `jobs/docs/search.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadoru.store.errors import translated
from tadoru.store.search_terms import SearchTerms, indexed, is_single

_FORM = 0x7AD0_0103
"""The file's version, and that of `search_terms`: another one, and the index is made again."""
MAX_INDEXED = 1_000_000
"""Characters of a section whose words are in the index: of text without spaces each takes 20 bytes of memory meanwhile."""
_PATIENCE = 10.0
_SCHEMA = """
CREATE TABLE pages(id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, file TEXT NOT NULL,
    tokens INTEGER NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, crawled_at TEXT NOT NULL,
    crumbs TEXT NOT NULL, place INTEGER NOT NULL);
CREATE INDEX pages_by_file ON pages(file);
CREATE INDEX pages_by_number ON pages(number);
CREATE INDEX pages_by_place ON pages(place);
CREATE TABLE sections(id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, place INTEGER NOT NULL, level INTEGER NOT NULL,
    path TEXT NOT NULL, anchor TEXT, text TEXT NOT NULL);
CREATE UNIQUE INDEX sections_of_page ON sections(page_id, place);
CREATE VIRTUAL TABLE words USING fts5(title, path, text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
_PAGE = "url, title, file, tokens, key, number, hash, crawled_at, crumbs, place"
# A heading says best what is below it, the title of the page what the page is about.
_FIND = """SELECT p.url, p.title, p.file, s.path, s.anchor, s.text, found.score, p.number, s.id, s.place, p.crumbs
    FROM (SELECT rowid AS section, rank AS score FROM words
        WHERE words MATCH ? AND rank MATCH 'bm25(6.0, 6.0, 1.0)' ORDER BY rank LIMIT ?) AS found
    JOIN sections s ON s.id = found.section JOIN pages p ON p.id = s.page_id ORDER BY found.score, p.place, s.place"""
_COMPLETE = "SELECT rowid FROM words WHERE words MATCH ? LIMIT 2000"
_SCAN = """SELECT p.url, p.title, p.file, s.path, s.anchor, s.text, 0.0, p.number, s.id, s.place, p.crumbs
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE {} ORDER BY p.place, s.place LIMIT ?"""
_SECTIONS = """SELECT s.level, s.path, s.anchor, s.text FROM pages p JOIN sections s ON s.page_id = p.id
    WHERE p.url = ? ORDER BY s.place"""
_FORGET = "INSERT INTO words(words, rowid, title, path, text) VALUES ('delete', ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class IndexedSection:
    """A part of a page below one heading."""

    level: int
    path: tuple[str, ...]
    anchor: str | None
    text: str


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page in the index."""

    url: str
    title: str
    file: str
    tokens: int
    key: str = ""
    """Everything the index depends on, as a hash: the same key, nothing to do."""
    number: int = 0
    hash: str = ""
    """SHA-256 of its Markdown."""
    crawled_at: str = ""
    """When it last changed."""
    crumbs: tuple[str, ...] = ()
    """Where the site itself files it."""
    place: int = 0
    """In reading order, from 1; given by whoever puts it in."""


@dataclass(frozen=True, slots=True)
class SearchHitRow:
    """A section that matches; a lower rank is better."""

    url: str
    title: str
    file: str
    path: tuple[str, ...]
    anchor: str | None
    text: str
    rank: float
    number: int
    is_complete: bool
    """Whether it has all terms of the query."""
    is_lead: bool
    """Whether its page begins with it."""
    crumbs: tuple[str, ...] = ()


class DocsSearchIndex:
    """An open index."""

    def __init__(self, sql: sqlite3.Connection, path: Path) -> None:
        self._sql = sql
        self._path = path

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Everything inside or nothing."""
        with translated(str(self._path)):
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._sql.execute("ROLLBACK")
                raise
            self._sql.execute("COMMIT")

    def keys(self) -> dict[str, str]:
        """The key of each page that is in the index."""
        return dict(self._sql.execute("SELECT url, key FROM pages"))

    def put(self, page: IndexedPage, place: int, sections: Iterable[IndexedSection]) -> None:
        """Add a page, or put it in the place of what was known of it."""
        self.drop(page.url)
        page_id = self._sql.execute(
            f"INSERT INTO pages({_PAGE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page.url, page.title, page.file, page.tokens, page.key, page.number, page.hash, page.crawled_at,
                json.dumps(page.crumbs, ensure_ascii=False), place,
            ),
        ).lastrowid  # fmt: skip
        for at, section in enumerate(sections):
            path = json.dumps(section.path, ensure_ascii=False)
            row = self._sql.execute(
                "INSERT INTO sections(page_id, place, level, path, anchor, text) VALUES (?, ?, ?, ?, ?, ?)",
                (page_id, at, section.level, path, section.anchor, section.text),
            ).lastrowid
            words = _words(page.title, path, section.text)
            self._sql.execute("INSERT INTO words(rowid, title, path, text) VALUES (?, ?, ?, ?)", (row, *words))

    def move(self, url: str, place: int) -> None:
        """Note where a page stands in reading order now."""
        self._sql.execute("UPDATE pages SET place = ? WHERE url = ? AND place <> ?", (place, url, place))

    def drop(self, url: str) -> None:
        """Forget a page."""
        rows = self._sql.execute(
            "SELECT s.id, p.title, s.path, s.text FROM pages p JOIN sections s ON s.page_id = p.id WHERE p.url = ?", (url,)
        ).fetchall()
        self._sql.executemany(_FORGET, ((row, *_words(title, path, text)) for row, title, path, text in rows))
        self._sql.executemany("DELETE FROM sections WHERE id = ?", ((row[0],) for row in rows))
        self._sql.execute("DELETE FROM pages WHERE url = ?", (url,))

    def find(self, query: SearchTerms, limit: int) -> tuple[str, list[SearchHitRow]]:
        """The best sections and how they were found: `all` if some have all terms, `any` if none has, `text` without terms."""
        with translated(str(self._path)):
            if not query.wanted:
                return "text", self._scan(query.literal, limit)
            whole = not any(is_single(term) for term in query.wanted)
            for prefix in (False, True) if whole else (True,):
                rows = self._sql.execute(_FIND, (query.expression(every=False, prefix=prefix), limit)).fetchall()
                if rows:
                    every = query.expression(every=True, prefix=prefix)
                    complete = {number for (number,) in self._sql.execute(_COMPLETE, (every,))}
                    return "all" if complete else "any", [_hit(row, complete) for row in rows]
            return "all", []

    def _scan(self, literal: tuple[str, ...], limit: int) -> list[SearchHitRow]:
        """Signs like `->` are in no index; they are looked for in the text itself."""
        if not literal:
            return []
        where = " AND ".join(["instr(s.text, ?) > 0"] * len(literal))
        return [_hit(row, ()) for row in self._sql.execute(_SCAN.format(where), (*literal, limit))]

    def page(self, name: str) -> IndexedPage | None:
        """A page by its URL or its file."""
        return self._one(f"SELECT {_PAGE} FROM pages WHERE url = ?1 OR file = ?1 ORDER BY url = ?1 DESC LIMIT 1", name)

    def numbered(self, number: int) -> IndexedPage | None:
        """A page by its number."""
        return self._one(f"SELECT {_PAGE} FROM pages WHERE number = ? ORDER BY place LIMIT 1", number)

    def before(self, place: int) -> IndexedPage | None:
        """The page that is read before a place."""
        return self._one(f"SELECT {_PAGE} FROM pages WHERE place < ? ORDER BY place DESC LIMIT 1", place)

    def after(self, place: int) -> IndexedPage | None:
        """The page that is read after a place."""
        return self._one(f"SELECT {_PAGE} FROM pages WHERE place > ? ORDER BY place LIMIT 1", place)

    def pages(self, *, after: int = 0, limit: int = -1) -> Iterator[IndexedPage]:
        """Pages in reading order, those behind a place; all when no limit is given."""
        rows = self._sql.execute(f"SELECT {_PAGE} FROM pages WHERE place > ? ORDER BY place, url LIMIT ?", (after, limit))
        return map(_page, rows)

    def number_of(self, url: str) -> int | None:
        """The number of the page at an address."""
        row = self._sql.execute("SELECT number FROM pages WHERE url = ?", (url,)).fetchone()
        return row[0] if row else None

    def _one(self, query: str, value: str | int) -> IndexedPage | None:
        row = self._sql.execute(query, (value,)).fetchone()
        return _page(row) if row else None

    def sections(self, url: str) -> list[IndexedSection]:
        """A page in its sections; their texts joined are the page."""
        rows = self._sql.execute(_SECTIONS, (url,))
        return [IndexedSection(level, tuple(json.loads(path)), anchor, text) for level, path, anchor, text in rows]


def _words(title: str, path: str, text: str) -> tuple[str, str, str]:
    return indexed(title), indexed(" ".join(json.loads(path))), indexed(text[:MAX_INDEXED])


def _page(row: tuple[Any, ...]) -> IndexedPage:
    url, title, file, tokens, key, number, digest, crawled_at, crumbs, place = row
    return IndexedPage(url, title, file, tokens, key, number, digest, crawled_at, tuple(json.loads(crumbs)), place)


def _hit(row: tuple[Any, ...], complete: Container[int]) -> SearchHitRow:
    url, title, file, path, anchor, text, rank, number, section, place, crumbs = row
    found, above = tuple(json.loads(path)), tuple(json.loads(crumbs))
    return SearchHitRow(url, title, file, found, anchor, text, rank, number, section in complete, place == 0, above)


@contextmanager
def opened(path: Path, *, writable: bool = False) -> Iterator[DocsSearchIndex]:
    """The index in a file. To write, a file of another form is emptied first; to read, it must be of this one."""
    with translated(str(path)):
        if writable and not path.exists():
            path.touch(mode=path.parent.stat().st_mode & 0o666)  # As private as its folder.
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if writable else 'ro'}"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_PATIENCE)) as sql:
            if writable:
                _prepare(sql)
            yield DocsSearchIndex(sql, path)


def is_current(path: Path) -> bool:
    """Whether there is an index of this form that can be read."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as sql:
            return bool(sql.execute("PRAGMA user_version").fetchone()[0] == _FORM)
    except sqlite3.DatabaseError:
        return False


def _prepare(sql: sqlite3.Connection) -> None:
    sql.execute("PRAGMA cache_size = -65536")  # large enough that readers are held up only by the commit
    sql.execute("BEGIN IMMEDIATE")
    if sql.execute("PRAGMA user_version").fetchone()[0] != _FORM:
        for name in ("words", "sections", "pages"):
            sql.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in _SCHEMA.split(";"):
            sql.execute(statement)
        sql.execute(f"PRAGMA user_version = {_FORM}")
    sql.execute("COMMIT")
