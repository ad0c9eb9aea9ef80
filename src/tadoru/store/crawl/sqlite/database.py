"""One SQLite file: opening, transactions, format version, and error messages.

There is one connection per process, used on the event loop: each statement is short, and a thread would compete with the
parser for the interpreter lock at every row. Only waiting for the transaction of another process is asynchronous.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import Any, TypeVar

from tadoru.clock import Clock, to_datetime
from tadoru.errors import NewerFormat, StoreError
from tadoru.i18n.translation import N_
from tadoru.rules.budget import BreadthLimits
from tadoru.store.crawl.caches import TextCache
from tadoru.store.crawl.connection import SQLITE, SqlConnection

T = TypeVar("T")
APPLICATION_ID = 0x7AD0_0001
"""Marks a SQLite file as a Tadoru crawl."""
SCHEMA_VERSION = 5
"""The format of a file: that of `schema.py`, and of the last step in `sql/upgrade/sqlite`."""
SQL: Traversable = resources.files("tadoru.store.crawl").joinpath("sql")
"""The scripts of both databases."""
LOCK_PATIENCE = 30.0
"""Seconds to wait for another program's transaction before giving up."""
HOSTS_AT_ONCE = 64
ROWS_AT_ONCE = 1_000
_NEW_HOST = "INSERT INTO hosts(name, turn_at) VALUES (?, ?) RETURNING id"
_FIND_HOSTS = f"SELECT name, id FROM hosts WHERE name IN ({', '.join('?' * HOSTS_AT_ONCE)})"


def stamp(seconds: float) -> str:
    """Epoch seconds as the text a SQLite user expects: UTC, sortable, understood by its date functions."""
    return to_datetime(seconds).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def listed(numbers: Iterable[int]) -> str:
    """Numbers as a statement lists them; none are nothing that anything is equal to."""
    return ", ".join(str(int(number)) for number in numbers) or "NULL"


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Translates the errors of SQLite into StoreError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(_message(error), path=path, reason=error) from error


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY")


def is_read_only(error: BaseException | None) -> bool:
    """Is it that the file, or the folder that it is in, cannot be written?"""
    return str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))


def _message(error: sqlite3.DatabaseError) -> str:
    """The message for an error, with `path` and `reason` as values."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_NOTADB"):
        return N_("{path} is not a SQLite database. Choose another file, or remove this one.")
    if name.startswith("SQLITE_CORRUPT"):
        return N_("The database {path} is damaged ({reason}). Restore a copy, or start a new crawl with another file.")
    if name.startswith("SQLITE_FULL") or name.startswith("SQLITE_IOERR"):
        return N_("Cannot write to the database {path} ({reason}). Free some disk space and rerun the command.")
    if is_read_only(error):
        return N_("Cannot open the database {path} for writing. Check the folder and its permissions.")
    if name.startswith("SQLITE_BUSY"):
        return N_("The database {path} is locked by another process. Close that process and rerun the command.")
    return N_("The database {path} failed: {reason}.")


class Database:
    """A connection with its caches; the parts of a `CrawlDatabase` are built on it."""

    is_postgresql = False
    dialect = SQLITE

    def __init__(self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> None:
        self._begin_state(path, clock, patience)
        with translated(path):
            self.sql = self._connect()
            try:
                self._prepare(durable)
            except BaseException:
                self.sql.close()
                raise

    def _begin_state(self, path: str, clock: Clock, patience: float) -> None:
        self.path = path
        self.clock = clock
        self._patience = patience
        self.bounds = BreadthLimits()
        self.known: TextCache[tuple[int, int]] = TextCache(100_000)
        """url → (id, depth) of URLs met lately: most links of a page lead to these."""
        self.texts: TextCache[int] = TextCache(50_000)
        self.host_ids: TextCache[int] = TextCache(50_000)
        self.resource_ids: TextCache[int] = TextCache(50_000)
        self._checks: dict[str, int] = {}
        self._turn = asyncio.Lock()

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
                if not _is_busy(error) or last:
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
            for script in pending_scripts("sqlite", self._format()):
                for statement in _statements(script):
                    sql.execute(statement)
            sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
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
        if self.sql.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError("{path} is a SQLite database, but not a Tadoru crawl. Choose another file.", path=self.path)
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
                if not _is_busy(error) or waited > self._patience:
                    raise
            await self.clock.sleep(pause)
            waited += pause
            pause = min(pause * 1.5, 0.02)

    def forget_cached(self) -> None:
        """Empty the caches."""
        self.known.clear()
        self.texts.clear()
        self.host_ids.clear()
        self.resource_ids.clear()

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

    def check_number(self, check_id: str) -> int:
        """The number of a check of the catalogue this crawl is judged by."""
        if check_id not in self._checks:
            self._checks = dict(self.sql.execute("SELECT id, number FROM checks"))
        return self._checks[check_id]

    def count(self, sql: SqlConnection, deltas: Mapping[str, int]) -> None:
        """Add to counters. Call inside `transaction`."""
        sql.executemany(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = counters.value + excluded.value",
            [(name, delta) for name, delta in deltas.items() if delta],
        )

    def counter(self, sql: SqlConnection, name: str) -> int:
        """A counter as this transaction has changed it. Call inside `transaction`."""
        row = sql.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
        return row[0] if row else 0

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside shows the crawl as it was at one moment, also while it goes on."""
        with translated(self.path):
            self.sql.execute("BEGIN")
            try:
                yield
            finally:
                if self.sql.in_transaction:
                    self.sql.execute("ROLLBACK")

    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Write many rows of a table as they are; how many. Call inside `transaction`."""
        before = self.sql.total_changes
        marks = ", ".join("?" * len(columns))
        self.sql.executemany(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", rows)
        return self.sql.total_changes - before

    async def close(self) -> None:
        self.sql.close()


def pending_scripts(database: str, found: int, folder: Traversable = SQL) -> list[str]:
    """The scripts that a crawl of format `found` needs (0: there is none), for `sqlite` or `postgresql`, in order."""
    if not found:
        return [folder.joinpath(f"{database}.sql").read_text(encoding="utf-8")]
    steps = sorted(folder.joinpath("upgrade", database).iterdir(), key=lambda step: step.name)
    return [step.read_text(encoding="utf-8") for step in steps if int(step.name[:4]) > found]


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would end the transaction they must share."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
