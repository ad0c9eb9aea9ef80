"""What a crawl left behind: the weight of its database for each page and each link, and the table of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

HEAD = ("crawler", "MB", "pages", "links", "pairs", "KB/page", "B/link", "B/pair", "link MB", "B/link in them", "after s",
        "whole pages/s", "largest MB")  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredSize:
    """A database, closed and its journal written into it."""

    bytes: int
    pages: int
    links: int
    pairs: int
    """Distinct pairs of page and target, fragments left out."""
    link_bytes: int = 0
    """Of the tables and indexes that hold the links; 0 where SQLite does not tell."""


def weigh(file: Path, *, pages: str, links: str, pairs: str, tables: Sequence[str]) -> StoredSize:
    """Count by these queries; `tables` are those that hold the links."""
    if not file.exists():
        return StoredSize(0, 0, 0, 0)
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        known, rows, distinct = (sql.execute(query).fetchone()[0] for query in (pages, links, pairs))
        return StoredSize(file.stat().st_size, known, rows, distinct, _of_tables(sql, tables))


def _of_tables(sql: sqlite3.Connection, tables: Sequence[str]) -> int:
    owned = "SELECT name FROM sqlite_schema WHERE tbl_name IN (SELECT value FROM json_each(?))"
    names = ", ".join(f'"{name}"' for name in tables)
    try:
        found = sql.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({owned})", (f"[{names}]",)).fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    return int(found or 0)


def cells(name: str, kept: StoredSize, *, after: str, whole: str, largest: int) -> tuple[str, ...]:
    """A row of the table."""

    def each(bytes_: int, count: int) -> str:
        return f"{bytes_ / count:,.0f}" if bytes_ and count else ""

    return (
        name, f"{kept.bytes / 1e6:.1f}", f"{kept.pages:,}", f"{kept.links:,}", f"{kept.pairs:,}",
        f"{kept.bytes / kept.pages / 1e3:.1f}" if kept.pages else "", each(kept.bytes, kept.links), each(kept.bytes, kept.pairs),
        f"{kept.link_bytes / 1e6:.1f}" if kept.link_bytes else "", each(kept.link_bytes, kept.links), after, whole,
        f"{largest / 1e6:.0f}",
    )  # fmt: skip
