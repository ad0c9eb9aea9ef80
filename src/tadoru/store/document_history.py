"""What a documentation site said before, and what its runs changed: read from the database of its crawl, by whoever shows it.

A crawl may be at work on the file meanwhile, so that it is only ever read, and never brought to another format: a file of an
older one has nothing to tell.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tadoru.store.database import APPLICATION_ID, translated

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
    WHERE c.run_id = ? ORDER BY c.kind, n.number, c.url LIMIT ?"""
_COUNTS = "SELECT kind, count(*) FROM document_changes WHERE run_id = ? GROUP BY kind"
_LATEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Version:
    """What a page said for a while."""

    id: int
    """0 for what it says now."""
    title: str
    hash: str
    since: datetime
    until: datetime | None
    """None while it says so."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page that a run found added, changed or gone."""

    kind: str
    url: str
    title: str
    number: int | None
    has_earlier: bool
    """There is an earlier version to compare with."""


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What one run found different from the run before."""

    run: int
    at: datetime
    counts: dict[str, int]
    """By kind."""
    pages: tuple[PageChange, ...]
    """As many as were asked for: added, changed, removed."""


class DocumentHistory:
    """The open history of one site."""

    def __init__(self, sql: sqlite3.Connection | None) -> None:
        self._sql = sql

    def changes(self, *, runs: int, pages: int, before: int | None = None) -> list[RunChanges]:
        """The changes of the last runs that changed something, the newest first; `before` is the last run that was seen."""
        if self._sql is None:
            return []
        numbers = self._sql.execute(_RUNS, (before if before is not None else _LATEST, runs)).fetchall()
        return [self._run(number, pages) for (number,) in numbers]

    def _run(self, run: int, most: int) -> RunChanges:
        assert self._sql is not None
        rows = self._sql.execute(_CHANGES, (run, most)).fetchall()
        found = tuple(PageChange(kind, url, title, number, bool(has)) for kind, url, title, _, number, has in rows)
        at = (
            rows[0][3]
            if rows
            else self._sql.execute("SELECT min(at) FROM document_changes WHERE run_id = ?", (run,)).fetchone()[0]
        )
        return RunChanges(run, _moment(at), dict(self._sql.execute(_COUNTS, (run,))), found)

    def versions(self, number: int) -> list[Version]:
        """What the page with a number says now, if it is there, and what it said before, the newest first."""
        if self._sql is None or (page := self._sql.execute(_PAGE, (number,)).fetchone()) is None:
            return []
        rows = [*self._sql.execute(_NOW, page), *self._sql.execute(_EARLIER, page)]
        return [
            Version(id_, title, digest, _moment(since), _moment(until) if until else None)
            for id_, title, digest, since, until in rows
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


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@contextmanager
def history(path: Path) -> Iterator[DocumentHistory]:
    """The history in a crawl's database; an empty one where there is none. Raises StoreError for a file that can not be read."""
    if not path.is_file():
        yield DocumentHistory(None)
        return
    with (
        translated(str(path)),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_PATIENCE, isolation_level=None)) as sql,
    ):
        sql.execute("PRAGMA query_only = 1")  # not mode=ro: a reader of a file in WAL mode may have to make the files beside it
        ours = sql.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        yield DocumentHistory(sql if ours and sql.execute("PRAGMA user_version").fetchone()[0] >= FORMAT else None)
