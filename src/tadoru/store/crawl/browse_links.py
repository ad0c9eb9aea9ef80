"""Lists the links of a crawl: all, those of a page, those to a page, or broken ones.

Links are stored by source. Once a crawl has ended there is an index by target too (`reader.settle`); until then a query by target
scans the links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tadoru.store.crawl.browse_pages import containing
from tadoru.store.crawl.connection import CrawlConnection
from tadoru.store.crawl.database import translated
from tadoru.store.crawl.dialect import SqlDialect
from tadoru.store.cursors import Key, decode_cursor, encode_cursor

_COLUMNS = """SELECT r.source_id, s.url, r.target_id, t.url, a.text, rel.text, f.text, r.kind, r.position, t.internal, t.status,
    t.status_code"""
_THE_REST = """{join} texts a ON a.id = r.text_id {join} texts rel ON rel.id = r.rel_id {join} texts f ON f.id = r.fragment_id"""
_BROKEN = "(t.status = 'error' OR t.status_code >= 400)"
# Texts are stored once each: what is looked for in them is looked for there, and not at every link.
_NOFOLLOW = "SELECT id FROM texts WHERE ' ' || text || ' ' {like} '% nofollow %'"
_CONTAINS = """(r.target_id IN (SELECT id FROM pages WHERE url {like} ? ESCAPE '\\')
    OR r.text_id IN (SELECT id FROM texts WHERE text {like} ? ESCAPE '\\'))"""
# Joined in order, so that SQLite goes the way that is written here whatever it believes about the number of rows.
_BY_SOURCE = f"""FROM link_relations r {{by}} {{join}} pages t ON t.id = r.target_id {{join}} pages s ON s.id = r.source_id
    {_THE_REST}"""
_BY_TARGET = f"""FROM pages t {{by_id}} {{join}} link_relations r {{by}} ON r.target_id = t.id
    {{join}} pages s ON s.id = r.source_id {_THE_REST}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFilter:
    """Which links to list; None or empty means any."""

    source: int | None = None
    target: int | None = None
    internal: bool | None = None
    """Whether they stay on the site."""
    broken: bool = False
    """Only those whose target does not answer, or with an error."""
    nofollow: bool | None = None
    q: str = ""
    """In the URL of the target, or in the text of the link."""


class LinkListRow(NamedTuple):
    """A link in a list."""

    source_id: int
    source_url: str
    target_id: int
    target_url: str
    anchor: str
    rel: str
    fragment: str
    kind: str
    position: int
    internal: bool
    target_status: str
    target_code: int | None


class LinkBrowser:
    """Reads lists of links."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    def link_lines(
        self, chosen: LinkFilter, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[LinkListRow], str | None]:
        """Links by source and position, broken ones by target where there is an index of these; and where the list goes on."""
        d = self._db.dialect
        by_index = (chosen.broken or chosen.target is not None) and chosen.source is None and self.has_link_index()
        by_target = by_index and chosen.target is None
        keys = ["t.id"] * by_target + ["r.source_id", "r.position"]
        order = "links by target" if by_target else "links by source"
        by = d.indexed_by("links_by_target") if by_index else d.by_id
        tables = (_BY_TARGET if by_target else _BY_SOURCE).format(by=by, by_id=d.by_id, join=d.join_in_order)
        conditions, values = _conditions(chosen, d)
        if cursor:
            conditions.append(f"({', '.join(keys)}) > ({', '.join('?' * len(keys))})")
            values += decode_cursor(cursor, order, (int,) * len(keys))
        statement = f"{_COLUMNS} {tables} WHERE {' AND '.join(conditions) or 'true'} ORDER BY {', '.join(keys)} LIMIT ?"
        with translated(self._db.path):
            rows = self._db.sql.execute(statement, (*values, limit + 1)).fetchall()
        lines = [_line(row) for row in rows[:limit]]
        return lines, encode_cursor(order, _key(lines[-1], len(keys))) if len(rows) > limit else None

    def link_total(self, *, to: int | None = None, of: int | None = None) -> int | None:
        """How many links lead to a page, or away from it; None while nobody has counted."""
        with translated(self._db.path):
            if to is None:
                row = self._db.sql.execute("SELECT count(*) FROM link_relations WHERE source_id = ?", (of,)).fetchone()
                return int(row[0])
            row = self._db.sql.execute("SELECT inlinks FROM page_scores WHERE page_id = ?", (to,)).fetchone()
            if row is None and self.has_link_index():
                row = self._db.sql.execute("SELECT count(*) FROM link_relations WHERE target_id = ?", (to,)).fetchone()
        return row[0] if row else None

    def has_link_index(self) -> bool:
        """Whether links can be found by their targets."""
        with translated(self._db.path):
            return self._db.sql.execute(self._db.dialect.index_exists("links_by_target")).fetchone() is not None


def _conditions(chosen: LinkFilter, dialect: SqlDialect) -> tuple[list[str], list[Any]]:
    found: list[tuple[str, list[Any]]] = []
    if chosen.source is not None:
        found.append(("r.source_id = ?", [chosen.source]))
    if chosen.target is not None:
        found.append(("r.target_id = ?", [chosen.target]))
    if chosen.internal is not None:
        found.append(("t.internal = ?", [chosen.internal]))
    if chosen.broken:
        found.append((_BROKEN, []))
    if chosen.nofollow is not None:
        found.append((f"r.rel_id {'' if chosen.nofollow else 'NOT '}IN ({_NOFOLLOW.format(like=dialect.like)})", []))
    if chosen.q:
        found.append((_CONTAINS.format(like=dialect.like), [containing(chosen.q)] * 2))
    return [condition for condition, _ in found], [value for _, values in found for value in values]


def _line(row: tuple[Any, ...]) -> LinkListRow:
    line = LinkListRow._make(row)
    return line._replace(internal=bool(line.internal))


def _key(line: LinkListRow, keys: int) -> tuple[Key, ...]:
    return (line.target_id, line.source_id, line.position)[3 - keys :]
