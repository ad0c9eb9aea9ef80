"""Whole crawls, copied from a file to PostgreSQL, back, or to another of the same kind: every row of every table.

A copy is made into a crawl that is empty, in one transaction, of the crawl as it was at one moment. Leases and slots are not
copied: whoever holds them works on the original, and what was in flight is queued again in the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tadoru.errors import UsageError
from tadoru.store.postgres.dialect import COLUMNS
from tadoru.store.sqlite import SqliteStore

Progress = Callable[[str, int], None]
_TRUTHS = frozenset({"internal", "is_seed", "indexable"})
_NOT_COPIED = frozenset({"workers"})
_LEASED = (
    "UPDATE pages SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE resources SET status = 'queued', owner = NULL WHERE owner IS NOT NULL",
    "UPDATE chores SET owner = NULL WHERE owner IS NOT NULL",
    "UPDATE hosts SET slot_owner = NULL",
    "DELETE FROM robots WHERE owner IS NOT NULL",
)
_WAITING = "UPDATE hosts SET queued = (SELECT count(*) FROM pages WHERE host_id = hosts.id AND status = 'queued')"


def _unheard(_table: str, _rows: int) -> None:
    """Nobody is told."""


async def move_crawl(since: SqliteStore, to: SqliteStore, progress: Progress = _unheard) -> Mapping[str, int]:
    """Copy everything; rows by table. Raises UsageError when there is something already."""
    counts: dict[str, int] = {}
    with since.one_moment():
        async with to.write() as sql:
            if any(sql.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in ("pages", "crawl_meta")):
                raise UsageError(f"There is a crawl in {to.path} already: copy into a new one.")
            sql.execute("DELETE FROM texts")
            for table, columns in COLUMNS.items():
                if table not in _NOT_COPIED:
                    counts[table] = to.put_rows(table, columns, _rows(since, table, columns))
                    progress(table, counts[table])
            for statement in (*_LEASED, _WAITING):
                sql.execute(statement)
            _recount(to)
    return counts


def _rows(store: SqliteStore, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    truths = frozenset(at for at, column in enumerate(columns) if column in _TRUTHS)
    for row in store.sql.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        yield tuple(bool(one) if at in truths and one is not None else one for at, one in enumerate(row)) if truths else row


def _recount(to: SqliteStore) -> None:
    """What was in flight is queued again, and counted as that."""
    rows = dict(to.sql.execute("SELECT name, value FROM counters WHERE name = 'processing'").fetchall())
    held = rows.get("processing", 0)
    to.count({"processing": -held, "queued": held})
