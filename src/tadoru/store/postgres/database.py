"""One crawl on PostgreSQL: its schema, its transactions, and its clock.

One transaction writes to a crawl at a time, as in a file: the numbers of pages, the shortest paths and the limits are decided by
looking at all of it. Who has to wait for it waits asynchronously.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, cast

from tadoru.clock import Clock
from tadoru.errors import StoreError, UsageError
from tadoru.store.database import LOCK_PATIENCE, Database
from tadoru.store.postgres.address import parse
from tadoru.store.postgres.connection import PgConnection
from tadoru.store.postgres.dialect import plain

FORMATS = ("0001_crawl.sql", "0002_audit.sql", "0003_docs.sql", "0004_document_versions.sql")
"""One script for each format, each applied to what the one before it left."""
FUNCTIONS = "0000_functions.sql"
READABLE_BY = 1
"""The oldest format whose programs can work on a crawl of this one: old and new workers stand side by side while all are
updated."""


class SharedClock:
    """The database's time between two looks at it; waiting is this process's own affair."""

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._ahead = 0.0

    def set(self, now: float) -> None:
        self._ahead = now - self._own.monotonic()

    def now(self) -> float:
        return self._own.monotonic() + self._ahead

    def monotonic(self) -> float:
        return self._own.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._own.sleep(seconds)


class PgDatabase(Database):
    """A connection with its caches, under the rooms of the store."""

    def __init__(
        self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE, new: bool = True
    ) -> None:
        address = parse(path)
        self.link = PgConnection(address)
        self.shared = SharedClock(clock)
        self._begin_state(address.shown, self.shared, patience)
        self.sql = cast(sqlite3.Connection, self.link)
        try:
            self._prepare_schema(address.schema, new=new)
            if not durable:
                self.link.run("SET synchronous_commit TO off")
        except BaseException:
            self.link.close()
            raise

    def _prepare_schema(self, schema: str, *, new: bool) -> None:
        found = self._format_of(schema)
        if found is None and not new:
            raise UsageError(f"There is no crawl in {self.path}: give the database that `tadoru audit` wrote.")
        if found is None or found < len(FORMATS):
            self._migrate_schema(schema)
        self._look_at_clock()

    def _format_of(self, schema: str) -> int | None:
        known = self.link.run("SELECT to_regclass(%s)", [f'"{schema}".crawl_format']).fetchone()
        if known is None or known[0] is None:
            return None
        version, readable_by = self.link.run("SELECT version, readable_by FROM crawl_format").fetchone() or (0, 0)
        if readable_by > len(FORMATS):
            raise StoreError(f"{self.path} was written by a newer Tadoru (format {version}): update Tadoru to read it.")
        return int(version)

    def _migrate_schema(self, schema: str) -> None:
        """Bring a new or an older crawl to the present format, all or nothing, unless another process was faster."""
        folder = resources.files("tadoru.store").joinpath("sql", "postgresql")
        run = self.link.run
        run("BEGIN")
        try:
            run("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [MIGRATING, schema])
            run(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            found = self._format_of(schema)
            if found is None:
                run("CREATE TABLE crawl_format (version INTEGER NOT NULL, readable_by INTEGER NOT NULL)")
                run("INSERT INTO crawl_format VALUES (0, 0)")
                run(folder.joinpath(FUNCTIONS).read_text(encoding="utf-8"))
            for script in FORMATS[found or 0 :]:
                run(folder.joinpath(script).read_text(encoding="utf-8"))
            run(
                "UPDATE crawl_format SET version = %s, readable_by = %s WHERE version < %s",
                [len(FORMATS), READABLE_BY, len(FORMATS)],
            )
            run("COMMIT")
        except BaseException:
            if not self.link.driver.closed and self.link.in_transaction:
                run("ROLLBACK")
            raise

    def _look_at_clock(self) -> None:
        self.shared.set(self._value("SELECT shared_now()"))

    def _value(self, text: str, *values: object) -> Any:
        row = self.link.run(text, values).fetchone()
        assert row is not None
        return row[0]

    @asynccontextmanager
    async def write(self) -> AsyncIterator[sqlite3.Connection]:
        """One transaction that writes, alone. Rolled back, and everything cached forgotten, when its body raises."""
        async with self._turn:
            assert not self.link.is_streaming, "Rows are being read: end that before writing."
            await self._begin()
            self.link.writes = True
            try:
                yield self.sql
                self.link.run("COMMIT")
            except BaseException:
                self._forget()
                if not self.link.driver.closed and self.link.in_transaction:
                    self.link.run("ROLLBACK")
                raise
            finally:
                self.link.writes = False

    async def _begin(self) -> None:
        pause, waited = 0.001, 0.0
        while True:
            self.link.run("BEGIN")
            key = "pg_try_advisory_xact_lock(%s, hashtext(current_schema()))"
            is_ours, now = self.link.run(f"SELECT {key}, shared_now()", [WRITING]).fetchone() or (False, 0.0)
            if is_ours:
                self.shared.set(now)
                return
            self.link.run("ROLLBACK")
            if waited > self._patience:
                raise StoreError(f"The crawl {self.path} is locked by another program: close it there and run this again.")
            await self.clock.sleep(pause)
            waited += pause
            pause = min(pause * 1.5, 0.02)

    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        count = 0

        def counted() -> Iterator[list[object]]:
            nonlocal count
            for row in rows:
                count += 1
                yield [plain(value) for value in row]

        self.link.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN", counted())
        if columns[0] in ("id", "number"):
            self._go_on_counting(table, columns[0])
        return count

    def _go_on_counting(self, table: str, column: str) -> None:
        """New rows get numbers behind those that were written as they are."""
        name = self._value("SELECT pg_get_serial_sequence(%s, %s)", f'"{self.link.address.schema}".{table}', column)
        if name is not None:
            self.link.run(f"SELECT setval(%s, greatest((SELECT max({column}) FROM {table}), 1))", [name])

    async def close(self) -> None:
        self.link.close()


WRITING, MIGRATING = 0x7AD0_0010, 0x7AD0_0011
"""Advisory locks: who writes to a crawl, who brings it to another format."""
