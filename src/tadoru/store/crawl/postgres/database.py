"""One crawl on PostgreSQL: its schema, its transactions, and its clock.

There are two kinds of transactions. Decisions over the whole crawl (numbers of pages, shortest paths) are written by one
process at a time: `transaction`, with asynchronous waiting. What concerns a host, a worker or some pages is one statement that
locks only these rows: `at_once`. Rows of several tables are locked in one order (workers, pages, hosts by number, counters by name),
so that no deadlock can arise.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from tadoru.clock import Clock
from tadoru.errors import StoreError, UsageError
from tadoru.store.crawl.database import LOCK_PATIENCE, Database
from tadoru.store.crawl.dialect import POSTGRESQL
from tadoru.store.crawl.metrics import read_counters
from tadoru.store.crawl.postgres.connection import DeadlockVictim, PgConnection, Values
from tadoru.store.crawl.postgres.crawl_url import parse
from tadoru.store.crawl.postgres.dialect import plain
from tadoru.store.crawl.postgres.migrations import FORMAT, WRITING, format_of, migrate

ATTEMPTS = 8
"""How often a transaction is tried that PostgreSQL sacrifices to others."""
_COUNT = """INSERT INTO counters(name, value) SELECT name, delta FROM unnest(%s::text[], %s::bigint[]) AS moved(name, delta)
    ORDER BY name COLLATE "C" ON CONFLICT (worker, name) DO UPDATE SET value = counters.value + EXCLUDED.value"""
_HOSTS = "SELECT name, id FROM hosts WHERE name = ANY(%s::text[])"
_NEW_HOSTS = """INSERT INTO hosts(name, turn_at) SELECT name, shared_now() FROM unnest(%s::text[]) AS given(name)
    WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.name = given.name) ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING"""
T = TypeVar("T")


class SharedClock:
    """The database's time, extrapolated between two reads of it."""

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
    """A connection with its caches, below the parts of the store."""

    is_postgresql = True
    dialect = POSTGRESQL

    def __init__(
        self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE, new: bool = True
    ) -> None:
        address = parse(path)
        self.link = PgConnection(address)
        self.shared = SharedClock(clock)
        self._begin_state(address.shown, self.shared, patience)
        self._moved: defaultdict[str, int] = defaultdict(int)
        """Counters that this transaction moves: all of them at its end, so that they are locked for a moment only."""
        self.sql = cast(sqlite3.Connection, self.link)
        try:
            self._prepare_schema(address.schema, new=new)
            self._commits = self._value("SHOW synchronous_commit") if durable else "off"
            # Who leases and who may send is worth nothing after a crash of the server. Responses are: `transaction` is durable.
            self.link.run(
                f"SET synchronous_commit TO off; SET jit TO off; SET lock_timeout TO '{max(1, round(patience * 1000))}ms'"
            )
        except BaseException:
            self.link.close()
            raise

    def _prepare_schema(self, schema: str, *, new: bool) -> None:
        found = format_of(self.link, schema)
        if found is None and not new:
            raise UsageError("No crawl in {path}. Choose the database of an audit.", path=self.path)
        if found is None or found < FORMAT:
            migrate(self.link, schema)
        self._look_at_clock()

    def _look_at_clock(self) -> None:
        self.shared.set(self._value("SELECT shared_now()"))

    def _value(self, text: str, *values: object) -> Any:
        row = self.link.run(text, values).fetchone()
        assert row is not None
        return row[0]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[sqlite3.Connection]:
        """One transaction that writes, alone. Rolled back, and everything cached forgotten, when its body raises."""
        await self._begin()
        try:
            self.link.writes = True
            try:
                yield self.sql
                self._commit()
            except BaseException:
                self.forget_cached()
                if not self.link.driver.closed and self.link.in_transaction:
                    self.link.run("ROLLBACK")
                raise
            finally:
                self.link.writes = False
                self._moved.clear()
        finally:
            self._turn.release()

    def _commit(self) -> None:
        moved = sorted((name, delta) for name, delta in self._moved.items() if delta)
        counted = [(_COUNT, [[name for name, _ in moved], [delta for _, delta in moved]])] if moved else []
        self.link.together(*counted, ("COMMIT", ()))

    async def _begin(self) -> None:
        """Take this process's turn, and the crawl's. Between two attempts others of this process have theirs."""
        pause, waited = 0.001, 0.0
        key = f"pg_try_advisory_xact_lock({WRITING}, hashtext(current_schema()))"
        text = f"BEGIN; SELECT {key}, shared_now(), set_config('synchronous_commit', '{self._commits}', true)"
        while True:
            await self._turn.acquire()
            try:
                assert not self.link.is_streaming, "Rows are being read: end that before writing."
                is_ours, now, _ = self.link.script(text)
                if is_ours:
                    self.shared.set(now)
                    return
                self.link.run("ROLLBACK")
            except BaseException:
                self._turn.release()
                raise
            self._turn.release()
            if waited > self._patience:
                raise StoreError(
                    "The crawl {path} is locked by another process. Close that process and rerun the command.", path=self.path
                )
            await self.clock.sleep(pause)
            waited += pause
            pause = min(pause * 1.5, 0.02)

    async def at_once(self, *statements: tuple[str, Values]) -> list[Any]:
        """A transaction of one round trip beside all others; the rows of its last statement."""
        for left in reversed(range(ATTEMPTS)):
            async with self._turn:
                assert not self.link.is_streaming, "Rows are being read: end that before writing."
                try:
                    return self.link.together(*statements)[-1]
                except DeadlockVictim:
                    if not left:
                        raise
        raise AssertionError

    async def retried(self, transaction: Callable[[], Awaitable[T]]) -> T:
        """Run a transaction of `transaction` again when it was sacrificed: nothing of it happened."""
        for _ in range(ATTEMPTS - 1):
            try:
                return await transaction()
            except DeadlockVictim:
                continue
        return await transaction()

    def host_id(self, name: str) -> int:
        if name not in self.host_ids:
            self.know_hosts([name])
        return self.host_ids[name]

    def know_hosts(self, names: Iterable[str]) -> None:
        """Have the numbers of many hosts at hand. Inside `transaction` or not: others may make the same hosts known meanwhile."""
        missing = sorted({name for name in names if name not in self.host_ids})
        if not missing:
            return
        found = self.link.run(_HOSTS, [missing]).fetchall()
        if len(found) < len(missing):
            self.link.run(_NEW_HOSTS, [missing])
            found = self.link.run(_HOSTS, [missing]).fetchall()
        self.host_ids.add(dict(found))

    def count(self, sql: sqlite3.Connection, deltas: Mapping[str, int]) -> None:
        for name, delta in deltas.items():
            self._moved[name] += delta

    def counter(self, sql: sqlite3.Connection, name: str) -> int:
        return read_counters(sql, name).get(name, 0) + self._moved[name]

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
