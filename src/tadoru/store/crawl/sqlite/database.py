"""One SQLite file: opening, transactions, format version, and error messages.

There is one connection per process, used on the event loop: each statement is short, and a thread would compete with the
parser for the interpreter lock at every row. Only waiting for the transaction of another process is asynchronous.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, TypeVar

from tadoru.clock import Clock, to_datetime
from tadoru.errors import NewerFormat
from tadoru.store.crawl.connection import SQLITE, CrawlConnection, SqlConnection
from tadoru.store.crawl.scripts import pending_scripts
from tadoru.store.errors import CRAWL_FILE, is_busy, not_a_crawl, translated

T = TypeVar("T")
SCHEMA_VERSION = 7
"""The format of a file: that of `schema.py`, and of the last step in `sql/upgrade/sqlite`."""
LOCK_PATIENCE = 30.0
"""Seconds to wait for another program's transaction before giving up."""
HOSTS_AT_ONCE = 64
ROWS_AT_ONCE = 1_000
_NEW_HOST = "INSERT INTO hosts(name, turn_at) VALUES (?, ?) RETURNING id"
_FIND_HOSTS = f"SELECT name, id FROM hosts WHERE name IN ({', '.join('?' * HOSTS_AT_ONCE)})"


def stamp(seconds: float) -> str:
    """Epoch seconds as the text a SQLite user expects: UTC, sortable, understood by its date functions."""
    return to_datetime(seconds).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


class Database(CrawlConnection):
    """A connection to a file."""

    dialect = SQLITE
    sql: sqlite3.Connection

    def __init__(self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> None:
        super().__init__(path, clock)
        self._patience = patience
        self._turn = asyncio.Lock()
        with translated(path):
            self.sql = self._connect()
            try:
                self._prepare(durable)
            except BaseException:
                self.sql.close()
                raise

    def release_memory(self) -> None:
        super().release_memory()
        self.sql.execute("PRAGMA shrink_memory")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=self._patience, cached_statements=256)

    def _prepare(self, durable: bool) -> None:
        sql = self.sql
        self._check_origin()  # Before anything is written: somebody else's file stays as it is.
        sql.execute(f"PRAGMA synchronous = {'NORMAL' if durable else 'OFF'}")
        self._switch_to_wal()
        sql.execute("PRAGMA wal_autocheckpoint = 4000")
        sql.execute("PRAGMA cache_size = -32768")
        if self._format() < SCHEMA_VERSION:
            self._migrate()
        sql.execute("PRAGMA busy_timeout = 0")  # From here on waiting is asynchronous.

    def _switch_to_wal(self) -> None:
        """SQLite does not wait for others here, and two that switch at once may both fail: so wait for them, and try again."""
        for last in (*[False] * 99, True):
            try:
                self.sql.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or last:
                    raise
            self.sql.execute("BEGIN IMMEDIATE")
            self.sql.execute("COMMIT")

    def _is_empty(self) -> bool:
        return not self.sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]

    def _format(self) -> int:
        number: int = self.sql.execute("PRAGMA user_version").fetchone()[0]
        return number

    def _migrate(self) -> None:
        """Bring a new or an older file to the present format, all or nothing, unless another process was faster."""
        sql = self.sql
        sql.execute("BEGIN IMMEDIATE")
        try:
            for script in pending_scripts(SQLITE, self._format()):
                for statement in _statements(script):
                    sql.execute(statement)
            sql.execute(f"PRAGMA application_id = {CRAWL_FILE}")
            sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            sql.execute("COMMIT")
        except BaseException:
            if sql.in_transaction:
                sql.execute("ROLLBACK")
            raise

    def _check_origin(self) -> None:
        """Refuse a file that is somebody else's, or newer than this program."""
        if self._is_empty():
            return
        if (found := self.sql.execute("PRAGMA application_id").fetchone()[0]) != CRAWL_FILE:
            raise not_a_crawl(self.path, found)
        if self._format() > SCHEMA_VERSION:
            raise NewerFormat(
                "{path} was written by a newer Tadoru (format {format}). Upgrade Tadoru to read it.",
                path=self.path,
                format=self._format(),
            )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[sqlite3.Connection]:
        """One transaction that writes. Rolled back, and everything cached forgotten, when its body raises."""
        async with self._turn:
            with translated(self.path):
                await self._begin()
                try:
                    yield self.sql
                    self.sql.execute("COMMIT")
                except BaseException:
                    self.forget_cached()
                    if self.sql.in_transaction:
                        self.sql.execute("ROLLBACK")
                    raise

    async def write(self, body: Callable[[SqlConnection], T], *, beside: bool = False) -> T:
        """One transaction that writes; `body` is given the connection. Whoever writes to a file is alone."""
        async with self.transaction() as sql:
            return body(sql)

    async def read(self, body: Callable[[SqlConnection], T]) -> T:
        """What `body` reads with the connection."""
        with translated(self.path):
            return body(self.sql)

    async def batches(self, statement: str, values: Sequence[object] = ()) -> AsyncIterator[list[Any]]:
        """The rows of a query, many at a time."""
        with translated(self.path):
            rows = iter(self.sql.execute(statement, values))
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                yield batch

    async def _begin(self) -> None:
        pause, waited = 0.001, 0.0
        while True:
            try:
                self.sql.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or waited > self._patience:
                    raise
            await self.clock.sleep(pause)
            waited += pause
            pause = min(pause * 1.5, 0.02)

    def host_id(self, name: str) -> int:
        """The number of a host, made known when it is new. Call inside `transaction`."""
        found = self.host_ids.get(name)
        if found is None:
            row = self.sql.execute("SELECT id FROM hosts WHERE name = ?", (name,)).fetchone()
            if row is None:
                row = self.sql.execute(_NEW_HOST, (name, self.clock.now())).fetchone()
            found = self.host_ids[name] = row[0]
        return found

    def know_hosts(self, names: Iterable[str]) -> None:
        """Have the numbers of many hosts at hand. Call inside `transaction`."""
        wanted = list(dict.fromkeys(name for name in names if name not in self.host_ids))
        for start in range(0, len(wanted), HOSTS_AT_ONCE):
            chunk = wanted[start : start + HOSTS_AT_ONCE]
            given = [*chunk, *[None] * (HOSTS_AT_ONCE - len(chunk))]
            found: dict[str, int] = dict(self.sql.execute(_FIND_HOSTS, given).fetchall())
            if len(found) < len(chunk):
                fresh = [(name, self.clock.now()) for name in chunk if name not in found]
                self.sql.executemany("INSERT INTO hosts(name, turn_at) VALUES (?, ?)", fresh)
                found = dict(self.sql.execute(_FIND_HOSTS, given).fetchall())
            self.host_ids.add(found)

    def count(self, sql: SqlConnection, deltas: Mapping[str, int]) -> None:
        """Add to counters. Call inside `transaction`."""
        sql.executemany(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = counters.value + excluded.value",
            [(name, delta) for name, delta in deltas.items() if delta],
        )

    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Write many rows of a table as they are; how many. Call inside `transaction`."""
        before = self.sql.total_changes
        marks = ", ".join("?" * len(columns))
        self.sql.executemany(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", rows)
        return self.sql.total_changes - before

    async def close(self) -> None:
        self.sql.close()


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would end the transaction they must share."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
