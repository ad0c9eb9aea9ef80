"""The search index of one documentation site: a SQLite file that can be deleted and rebuilt from the pages.

It stores the sections of each page, so that a page can be read from it too, and a full-text index without a copy of the text.
Sections and ranking are defined in `jobs/docs/search.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tadoru.store.errors import translated
from tadoru.store.search_terms import SearchTerms, indexed, is_single

_FORM = 0x7AD0_0104
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
CREATE TABLE names(name TEXT NOT NULL, target TEXT NOT NULL, page_id INTEGER NOT NULL,
    PRIMARY KEY (name, target, page_id)) WITHOUT ROWID;
CREATE INDEX names_of_page ON names(page_id);
CREATE TABLE vectors(page_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(title, path, text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
_PAGE = "url, title, file, tokens, key, number, hash, crawled_at, crumbs, place"
# A heading says best what is below it, the title of the page what the page is about. Texts are read only of what is shown.
# By a call of bm25() only the best rows are sorted, by the column `rank` all.
_FIND = """SELECT s.id, p.url, p.title, s.path, found.score, s.place
    FROM (SELECT rowid AS section, bm25(words, 6.0, 6.0, 1.0) AS score FROM words
        WHERE words MATCH ? ORDER BY score LIMIT ?) AS found
    JOIN sections s ON s.id = found.section JOIN pages p ON p.id = s.page_id ORDER BY found.score, p.place, s.place"""
_COMPLETE = "SELECT rowid FROM words WHERE words MATCH ? LIMIT 2000"
_SCAN = """SELECT s.id, p.url, p.title, s.path, 0.0, s.place
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE {} ORDER BY p.place, s.place LIMIT ?"""
_READ = """SELECT p.file, s.anchor, s.text, p.number, p.crumbs FROM sections s JOIN pages p ON p.id = s.page_id WHERE s.id = ?"""
_TEXT = "SELECT text FROM sections WHERE id = ?"
_AT = """SELECT s.id, p.url, p.title, s.path, 0.0, s.place
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE s.page_id = ? AND s.place = ?"""
_WITHOUT_VECTORS = "SELECT {} FROM pages p LEFT JOIN vectors v ON v.page_id = p.id WHERE v.page_id IS NULL"
_LINKED = "SELECT target, count(*) FROM names WHERE name = ? GROUP BY target"
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


class SearchHitRow(NamedTuple):
    """A section that matches; a lower rank is better."""

    id: int
    url: str
    title: str
    heading: str
    path: str
    """As JSON."""
    rank: float
    is_complete: bool
    """Whether it has all terms of the query."""
    is_lead: bool
    """Whether its page begins with it."""


@dataclass(frozen=True, slots=True)
class SectionText:
    """What is shown of a section that matches."""

    file: str
    anchor: str | None
    text: str
    number: int
    crumbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VectorSource:
    """A page whose vectors are to be computed."""

    page_id: int
    title: str
    sql: sqlite3.Connection

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Path, as JSON, and the beginning of the text of each section."""
        query = "SELECT path, substr(text, 1, 2000) FROM sections WHERE page_id = ? ORDER BY place"
        return self.sql.execute(query, (self.page_id,)).fetchall()


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

    def put(
        self, page: IndexedPage, place: int, sections: Iterable[IndexedSection], names: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Add a page, or put it in the place of what was known of it; `names` are those it gives other pages by its links."""
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
        self._sql.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", ((*name, page_id) for name in names))

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
        for table in ("names", "vectors"):
            self._sql.execute(f"DELETE FROM {table} WHERE page_id = (SELECT id FROM pages WHERE url = ?)", (url,))
        self._sql.execute("DELETE FROM pages WHERE url = ?", (url,))

    def optimize(self) -> None:
        """Merge the parts of the full-text index, which makes searches a third faster."""
        self._sql.execute("INSERT INTO words(words) VALUES ('optimize')")

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

    def read(self, section: int) -> SectionText:
        """What is shown of a section."""
        file, anchor, text, number, crumbs = self._sql.execute(_READ, (section,)).fetchone()
        return SectionText(file, anchor, text, number, tuple(json.loads(crumbs)))

    def text(self, section: int) -> str:
        """The text of a section."""
        return str(self._sql.execute(_TEXT, (section,)).fetchone()[0])

    def lacks_vectors(self) -> bool:
        """Whether there are pages without vectors."""
        with translated(str(self._path)):
            return self._sql.execute(_WITHOUT_VECTORS.format("1") + " LIMIT 1").fetchone() is not None

    def without_vectors(self) -> list[VectorSource]:
        """The pages without vectors; their texts are read one page at a time."""
        found = self._sql.execute(_WITHOUT_VECTORS.format("p.id, p.title")).fetchall()
        return [VectorSource(page_id, title, self._sql) for page_id, title in found]

    def put_vectors(self, page_id: int, data: bytes) -> None:
        """Keep the vectors of a page."""
        self._sql.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (page_id, data))

    def vectors(self) -> Iterator[tuple[int, bytes]]:
        """The vectors of each page that has some."""
        return iter(self._sql.execute("SELECT page_id, data FROM vectors ORDER BY page_id"))

    def sections_at(self, places: Mapping[int, int]) -> dict[int, SearchHitRow]:
        """A section of each of some pages, by its place; pages by their number in the index, as far as they are there."""
        rows = ((page_id, self._sql.execute(_AT, (page_id, place)).fetchone()) for page_id, place in places.items())
        return {page_id: _hit(row, ()) for page_id, row in rows if row}

    def linked(self, name: str) -> dict[str, int]:
        """The pages that other pages link to by a name, and how many do."""
        return dict(self._sql.execute(_LINKED, (name,)))

    def is_current(self) -> bool:
        """Whether it can be read and has this form."""
        try:
            return bool(self._sql.execute("PRAGMA user_version").fetchone()[0] == _FORM)
        except sqlite3.DatabaseError:
            return False

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
    section, url, title, path, rank, place = row
    return SearchHitRow(section, url, title, _last_heading(path), path, rank, section in complete, place == 0)


@lru_cache(4096)
def _last_heading(path: str) -> str:
    steps = json.loads(path)
    return steps[-1] if steps else ""


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
            return DocsSearchIndex(sql, path).is_current()
    except sqlite3.DatabaseError:
        return False


def _prepare(sql: sqlite3.Connection) -> None:
    sql.execute("PRAGMA cache_size = -65536")  # large enough that readers are held up only by the commit
    sql.execute("BEGIN IMMEDIATE")
    if sql.execute("PRAGMA user_version").fetchone()[0] != _FORM:
        for name in ("words", "names", "vectors", "sections", "pages"):
            sql.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in _SCHEMA.split(";"):
            sql.execute(statement)
        sql.execute(f"PRAGMA user_version = {_FORM}")
    sql.execute("COMMIT")
