"""The search index of one documentation site: a SQLite file that can be deleted and rebuilt from the pages.

It stores the sections of each page, so that a page can be read from it too, and a full-text index without a copy of the text.
Sections and ranking are defined in `jobs/docs/search.py`.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from tadoru.store.errors import translated
from tadoru.store.search_terms import SearchTerms, indexed, is_single, quoted

_FORM = 0x7AD0_0106
"""The file's version, and that of `search_terms`: another one, and the index is made again."""
MAX_INDEXED = 1_000_000
"""Characters of a section whose words are in the index: of text without spaces each takes 20 bytes of memory meanwhile."""
_PATIENCE = 10.0
_MOST_IDLE, _CACHE_KIB = 4, 8192
_KNOWN = 3
"""Sections that must have a joined word (`checkout`) before it is looked for instead of its parts."""
_COMMON = 0.15
"""The share of the sections that have a term which is common."""
_LEAST_RARITY = 1e-6
"""As bm25() has it, for a term that most sections have."""
_SCHEMA = """
CREATE TABLE pages(id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, file TEXT NOT NULL,
    tokens INTEGER NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, crawled_at TEXT NOT NULL,
    crumbs TEXT NOT NULL, place INTEGER NOT NULL, lead TEXT NOT NULL, popularity REAL NOT NULL DEFAULT 0);
CREATE INDEX pages_by_file ON pages(file);
CREATE INDEX pages_by_number ON pages(number);
CREATE INDEX pages_by_place ON pages(place);
CREATE INDEX pages_by_id ON pages(id, url, title, popularity);
CREATE TABLE sections(id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, place INTEGER NOT NULL, level INTEGER NOT NULL,
    path TEXT NOT NULL, anchor TEXT, text TEXT NOT NULL);
CREATE UNIQUE INDEX sections_of_page ON sections(page_id, place);
CREATE INDEX sections_by_id ON sections(id, page_id);
CREATE TABLE names(name TEXT NOT NULL, target TEXT NOT NULL, page_id INTEGER NOT NULL,
    PRIMARY KEY (name, target, page_id)) WITHOUT ROWID;
CREATE INDEX names_of_page ON names(page_id);
CREATE TABLE vectors(page_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(title, path, text, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE about USING fts5(title, lead, links, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
_PAGE = "url, title, file, tokens, key, number, hash, crawled_at, crumbs, place"
_MOST_NAMES, _MOST_REPEATED, _MOST_NAMED = 20, 5, 2_000
"""Texts of links by which a page is found, how often one counts, and characters of them."""
# A heading says best what is below it, the title of the page what the page is about. Texts are read only of what is shown.
# By a call of bm25() only the best rows are sorted, by the column `rank` all.
_ROW = "s.id, p.url, p.title, p.popularity"
_OF_SECTION = """JOIN sections s INDEXED BY sections_by_id ON s.id = found.rowid
    JOIN pages p INDEXED BY pages_by_id ON p.id = s.page_id"""
_FIND = f"""SELECT {_ROW}, found.score FROM (SELECT rowid, bm25(words, 6.0, 6.0, 1.0) AS score FROM words
    WHERE words MATCH ? ORDER BY score LIMIT ?) AS found {_OF_SECTION} ORDER BY found.score, s.id"""
# What a page says first and what others call it says what it is about, as its title does.
_FIND_PAGES = f"""SELECT {_ROW}, found.score FROM (SELECT rowid, bm25(about, 5.0, 4.0, 1.0) AS score FROM about
    WHERE about MATCH ? ORDER BY score LIMIT ?) AS found JOIN pages p INDEXED BY pages_by_id ON p.id = found.rowid
    JOIN sections s INDEXED BY sections_of_page ON s.page_id = p.id AND s.place = 0 ORDER BY found.score, s.id"""
_SOME = "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?"
_COUNT = "SELECT count(*) FROM words WHERE words MATCH ?"
_COMPLETE = "SELECT rowid FROM words WHERE words MATCH ? LIMIT 2000"
_SCAN = f"""SELECT {_ROW}, 0.0
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE {{}} ORDER BY p.place, s.place LIMIT ?"""
_READ = """SELECT p.file, s.path, s.anchor, s.text, p.number, p.crumbs
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE s.id = ?"""
_READ_NEXT = """SELECT p.file, s.path, s.anchor, s.text, p.number, p.crumbs
    FROM sections heading JOIN sections s ON s.page_id = heading.page_id AND s.place > heading.place
    JOIN pages p ON p.id = s.page_id
    WHERE heading.id = ? AND heading.level > 0 AND s.level > heading.level AND instr(trim(s.text, char(10)), char(10)) > 0
    ORDER BY s.place LIMIT 1"""
_TEXT = "SELECT text FROM sections WHERE id = ?"
_AT = f"""SELECT {_ROW}, 0.0
    FROM sections s JOIN pages p ON p.id = s.page_id WHERE s.page_id = ? AND s.place = ?"""
_WITHOUT_VECTORS = "SELECT {} FROM pages p LEFT JOIN vectors v ON v.page_id = p.id WHERE v.page_id IS NULL"
_LINKED = "SELECT target, count(*) FROM names WHERE name = ? GROUP BY target"
_NAMES = """SELECT p.id, n.name, count(*) FROM names n JOIN pages p ON p.url = n.target
    GROUP BY p.id, n.name ORDER BY p.id, count(*) DESC, n.name"""
_LINKING_PAGES = "SELECT p.id, count(DISTINCT n.page_id) FROM names n JOIN pages p ON p.url = n.target GROUP BY p.id"
_SECTIONS = """SELECT s.level, s.path, s.anchor, s.text FROM pages p JOIN sections s ON s.page_id = p.id
    WHERE p.url = ? ORDER BY s.place"""
_HEADINGS = """SELECT p.url, s.level, s.path, s.anchor FROM sections s JOIN pages p ON p.id = s.page_id
    WHERE s.level > 0 ORDER BY s.page_id, s.place"""
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
    lead: str = ""
    """What it says first."""


class SearchHitRow(NamedTuple):
    """A section that matches; a lower rank is better."""

    id: int
    url: str
    title: str
    popularity: float
    """From 0 to 1, by the number of pages that link to its page."""
    rank: float
    is_complete: bool
    """Whether it has all terms of the query."""


class IndexMatches(NamedTuple):
    """What a query finds in an index."""

    how: str
    """`all` if some sections have all terms, `any` if none has, `text` without terms."""
    sections: list[SearchHitRow]
    pages: list[SearchHitRow]
    """The pages that are about the terms, each with its first section."""
    rarity: float = 1.0
    """How rare the terms are here: what ranks are relative to."""


@dataclass(frozen=True, slots=True)
class SectionText:
    """What is shown of a section that matches."""

    file: str
    path: tuple[str, ...]
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

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the index for several queries, for which the file is locked once."""
        with translated(str(self._path)):
            self._sql.execute("BEGIN")
            try:
                yield
            finally:
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
            f"INSERT INTO pages({_PAGE}, lead) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page.url, page.title, page.file, page.tokens, page.key, page.number, page.hash, page.crawled_at,
                json.dumps(page.crumbs, ensure_ascii=False), place, page.lead,
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

    def describe_pages(self) -> None:
        """Index what each page is about, from its opening and from the links of all others, after pages have changed."""
        names: dict[int, list[str]] = {}
        for page_id, name, number in self._sql.execute(_NAMES):
            found = names.setdefault(page_id, [])
            if len(found) < _MOST_NAMES:
                found.append(" ".join([name] * min(number, _MOST_REPEATED)))
        self._sql.execute("INSERT INTO about(about) VALUES ('delete-all')")
        pages = self._sql.execute("SELECT id, title, lead FROM pages").fetchall()
        rows = ((page_id, indexed(title), indexed(lead), indexed(" ".join(names.get(page_id, ()))[:_MOST_NAMED]))
                for page_id, title, lead in pages)  # fmt: skip
        self._sql.executemany("INSERT INTO about(rowid, title, lead, links) VALUES (?, ?, ?, ?)", rows)
        linked = dict(self._sql.execute(_LINKING_PAGES))
        most = math.log1p(max(linked.values(), default=1))
        self._sql.executemany(
            "UPDATE pages SET popularity = ? WHERE id = ?",
            ((math.log1p(linked.get(page_id, 0)) / most, page_id) for page_id, *_ in pages),
        )

    def optimize(self) -> None:
        """Merge the parts of the full-text index, which makes searches a third faster."""
        self._sql.execute("INSERT INTO words(words) VALUES ('optimize')")

    def find(self, query: SearchTerms, limit: int) -> IndexMatches:
        """The best sections and pages for a query."""
        with translated(str(self._path)):
            if not query.wanted:
                return IndexMatches("text", self._scan(query.literal, limit), [])
            if query.joined:
                query = query.joining([pair for pair in query.joined if self._is_known("".join(pair))])
            total = self._sql.execute("SELECT max(id) FROM sections").fetchone()[0] or 0
            counts = {term: self._sql.execute(_COUNT, (quoted(term),)).fetchone()[0] for term in query.wanted}
            rarity = sum(max(math.log((total - count + 0.5) / (count + 0.5)), _LEAST_RARITY) for count in counts.values())
            common = frozenset(term for term, count in counts.items() if count > _COMMON * total)
            for expression in _expressions(query, common):
                rows = self._sql.execute(_FIND, (expression, limit)).fetchall()
                if rows:
                    pages = self._sql.execute(_FIND_PAGES, (expression, limit)).fetchall()
                    complete = {number for (number,) in self._sql.execute(_COMPLETE, (query.expression(every=True),))}
                    how = "all" if complete else "any"
                    return IndexMatches(how, [_hit(row, complete) for row in rows], [_hit(row, ()) for row in pages], rarity)
            return IndexMatches("all", [], [])

    def _is_known(self, word: str) -> bool:
        """Whether several sections have a word."""
        return len(self._sql.execute(_SOME, (quoted(word), _KNOWN)).fetchall()) == _KNOWN

    def _scan(self, literal: tuple[str, ...], limit: int) -> list[SearchHitRow]:
        """Signs like `->` are in no index; they are looked for in the text itself."""
        if not literal:
            return []
        where = " AND ".join(["instr(s.text, ?) > 0"] * len(literal))
        return [_hit(row, ()) for row in self._sql.execute(_SCAN.format(where), (*literal, limit))]

    def read(self, section: int, *, below: bool) -> SectionText:
        """What is shown of a section; with `below`, of one that is nothing but a heading the first text below it."""
        row = self._sql.execute(_READ, (section,)).fetchone()
        if below and "\n" not in row[3].strip():
            row = self._sql.execute(_READ_NEXT, (section,)).fetchone() or row
        file, path, anchor, text, number, crumbs = row
        return SectionText(file, tuple(json.loads(path)), anchor, text, number, tuple(json.loads(crumbs)))

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


def _expressions(query: SearchTerms, common: frozenset[str]) -> Iterator[str]:
    """What is looked for until something is found: terms, related words, beginnings of words."""
    if not any(is_single(term) for term in query.wanted):
        if query.identifier or (len(query.wanted) == 1 and not query.related):
            yield query.expression(every=False)
        else:
            yield query.broad_expression(common)
            yield query.related_expression
    yield query.expression(every=False, prefix=True)


def _words(title: str, path: str, text: str) -> tuple[str, str, str]:
    return indexed(title), indexed(" ".join(json.loads(path))), indexed(text[:MAX_INDEXED])


def _page(row: tuple[Any, ...]) -> IndexedPage:
    url, title, file, tokens, key, number, digest, crawled_at, crumbs, place = row
    return IndexedPage(url, title, file, tokens, key, number, digest, crawled_at, tuple(json.loads(crumbs)), place)


def _hit(row: tuple[Any, ...], complete: Container[int]) -> SearchHitRow:
    section, url, title, popularity, rank = row
    return SearchHitRow(section, url, title, popularity, rank, section in complete)


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


def _connection_to_keep(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    sql = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_PATIENCE, check_same_thread=False)
    with suppress(sqlite3.DatabaseError):  # Whoever reads it sees that it is no database.
        sql.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return sql


class IdleConnections:
    """Connections for searches that are kept for the next one, with what SQLite has read and prepared; a few per process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: list[tuple[object, sqlite3.Connection]] = []
        atexit.register(self.close)

    @contextmanager
    def lent(self, path: Path) -> Iterator[DocsSearchIndex]:
        """The index in a file, to be read until its end: nothing of a result may be left unread."""
        with translated(str(path)):
            status = path.stat()
            key = (os.getpid(), str(path), status.st_dev, status.st_ino)  # A file that was replaced is opened again.
            sql = self._take(key) or _connection_to_keep(path)
            try:
                yield DocsSearchIndex(sql, path)
            except BaseException:
                sql.close()
                raise
            self._keep(key, sql)

    def _take(self, key: object) -> sqlite3.Connection | None:
        with self._lock:
            at = next((at for at, (known, _) in enumerate(self._idle) if known == key), None)
            return None if at is None else self._idle.pop(at)[1]

    def _keep(self, key: object, sql: sqlite3.Connection) -> None:
        with self._lock:
            self._idle.append((key, sql))
            # On Windows, a folder with an open file cannot be removed.
            while len(self._idle) > (0 if os.name == "nt" else _MOST_IDLE):
                self._idle.pop(0)[1].close()

    def close(self) -> None:
        """Close the connections that no search uses."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()


idle_connections = IdleConnections()


def is_current(path: Path) -> bool:
    """Whether there is an index of this form that can be read."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as sql:
            return DocsSearchIndex(sql, path).is_current()
    except sqlite3.DatabaseError:
        return False


def stored_headings(path: Path) -> dict[str, list[tuple[int, str, str | None]]]:
    """Level, text and fragment of the headings of each page, from an index of this or an earlier form that can be read."""
    found: dict[str, list[tuple[int, str, str | None]]] = {}
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as sql:
            for url, level, steps, anchor in sql.execute(_HEADINGS):
                found.setdefault(url, []).append((int(level), str(json.loads(steps)[-1]), anchor))
    except (sqlite3.DatabaseError, ValueError, IndexError, TypeError):
        return {}
    return found


def _prepare(sql: sqlite3.Connection) -> None:
    sql.execute("PRAGMA cache_size = -65536")  # large enough that readers are held up only by the commit
    sql.execute("BEGIN IMMEDIATE")
    if sql.execute("PRAGMA user_version").fetchone()[0] != _FORM:
        for name in ("about", "words", "names", "vectors", "sections", "pages"):
            sql.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in _SCHEMA.split(";"):
            sql.execute(statement)
        sql.execute(f"PRAGMA user_version = {_FORM}")
    sql.execute("COMMIT")
