"""One crawl on PostgreSQL: its schema, its connections, its transactions and its clock.

What runs all the time (leases, slots, outcomes of pages) uses the asynchronous pool, beside all other workers: such a transaction
has the crawl's lock in common with the others. What changes the whole crawl (another scope, a new run, the results of the site)
is written by `write`, alone unless it says otherwise, with a connection of its own in a thread. Readers of reports and exports
use that connection synchronously, in a process or thread of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.store.crawl.caches import TextCache
from tadoru.store.crawl.connection import POSTGRESQL, CrawlConnection, json_text, plain
from tadoru.store.crawl.postgres.connection import PgConnection, plain_values, with_driver_parameters
from tadoru.store.crawl.postgres.crawl_url import parse
from tadoru.store.crawl.postgres.migrations import FORMAT, WRITING, format_of, migrate
from tadoru.store.crawl.postgres.pool import PgPool, Statement, retried
from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE

_FIND_HOSTS = "SELECT name, id FROM hosts WHERE name = ANY(%s::text[])"
# By name: two workers that meet the same hosts wait for each other, and never each for the other.
_NEW_HOSTS = """INSERT INTO hosts(name, turn_at) SELECT name, shared_now() FROM unnest(%s::text[]) AS given(name)
    WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.name = given.name) ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING"""
FIND_URLS = """SELECT p.url, p.id, p.depth FROM json_array_elements_text(%s::json) AS wanted(url)
    JOIN pages p ON md5(p.url)::uuid = md5(wanted.url)::uuid"""
FIND_TEXTS = """SELECT t.text, t.id FROM json_array_elements_text(%s::json) AS wanted(text)
    JOIN texts t ON md5(t.text)::uuid = md5(wanted.text)::uuid"""
_NEW_TEXTS = """INSERT INTO texts(text) SELECT text FROM json_array_elements_text(%s::json) AS n(text)
    ORDER BY md5(text)::uuid ON CONFLICT ((md5(text)::uuid)) DO NOTHING"""
_COUNT = """INSERT INTO counters(name, value) SELECT name, delta FROM unnest(%s::text[], %s::bigint[]) AS changed(name, delta)
    ORDER BY name COLLATE "C" ON CONFLICT (worker, name) DO UPDATE SET value = counters.value + EXCLUDED.value"""
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


class PgDatabase(CrawlConnection):
    """The connections to a crawl, with caches of what it has numbered."""

    dialect = POSTGRESQL
    sql: PgConnection
    clock: SharedClock

    def __init__(
        self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE, new: bool = True
    ) -> None:
        address = parse(path)
        super().__init__(address.shown, clock)
        self.clock = SharedClock(clock)
        self._alone = asyncio.Lock()
        self.sql = PgConnection(address)
        try:
            self._prepare_schema(address.schema, new=new)
            commits = self._value("SHOW synchronous_commit") if durable else "off"
            # Leases and slots are worth nothing after a crash of the server. Responses are: their transactions are durable.
            settings = f"SET synchronous_commit TO off; SET jit TO off; SET lock_timeout TO '{max(1, round(patience * 1000))}ms'"
            self.sql.run(settings)
        except BaseException:
            self.sql.close()
            raise
        self.pool = PgPool(address, settings)
        lasting = f"SELECT set_config('synchronous_commit', '{commits}', true)"
        lock = f"({WRITING}, hashtext(current_schema()))"
        self.beginning: Sequence[Statement] = ((f"SELECT pg_advisory_xact_lock_shared{lock}, ({lasting})", ()),)
        """How a transaction begins that writes beside others."""
        self.beginning_alone = f"SELECT pg_advisory_xact_lock{lock}, ({lasting})"
        """How one begins that writes alone."""

    def _prepare_schema(self, schema: str, *, new: bool) -> None:
        found = format_of(self.sql, schema)
        if found is None and not new:
            raise UsageError("No crawl in {path}. Choose the database of an audit.", path=self.path)
        if found is None or found < FORMAT:
            migrate(self.sql, schema)
        self.clock.set(self._value("SELECT shared_now()"))

    def _value(self, text: str, *values: object) -> Any:
        row = self.sql.run(text, values).fetchone()
        assert row is not None
        return row[0]

    async def read(self, body: Callable[[PgConnection], T]) -> T:
        """What `body` reads, in a thread."""
        async with self._alone:
            return await _in_thread(lambda: body(self.sql))

    async def write(self, body: Callable[[PgConnection], T], *, beside: bool = False) -> T:
        """Run `body` in a thread, as one transaction, alone or beside others. A victim of a deadlock is run again."""
        beginning = self.beginning[0][0] if beside else self.beginning_alone

        async def once() -> T:
            async with self._alone:
                return await _in_thread(lambda: self._written(body, beginning))

        return await retried(once)

    def _written(self, body: Callable[[PgConnection], T], beginning: str) -> T:
        sql = self.sql
        assert not sql.is_streaming, "Rows are being read: end that before writing."
        self._changed.clear()
        try:
            with sql.transaction():
                sql.run(beginning)
                sql.writes = True
                result = body(sql)
                if changed := sorted((name, delta) for name, delta in self._changed.items() if delta):
                    sql.run(_COUNT, [[name for name, _ in changed], [delta for _, delta in changed]])
        except BaseException:
            self.forget_cached()
            raise
        finally:
            sql.writes = False
        return result

    async def batches(self, statement: str, values: Sequence[object] = ()) -> AsyncIterator[list[Any]]:
        """The rows of a query, many at a time, as they were when the first were read."""
        rows = self.sql.streamed(with_driver_parameters(statement), plain_values(values))
        try:
            while batch := await _in_thread(lambda: list(islice(rows, 1_000))):
                yield batch
        finally:
            await _in_thread(cast(Generator[Any, None, None], rows).close)

    def count(self, sql: object, deltas: Mapping[str, int]) -> None:
        """Add to counters, all of them when `write` ends, so that they are locked for a moment only."""
        for name, delta in deltas.items():
            self._changed[name] += delta

    async def know_hosts(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of hosts; new ones are added."""
        numbers, missing = _cached(self.host_ids, names)
        if missing:
            stored = {name: str(plain(name)) for name in missing}
            wanted = sorted(set(stored.values()))
            found = dict(await self.pool.run((_FIND_HOSTS, [wanted])))
            if len(found) < len(wanted):
                await self.pool.run((_NEW_HOSTS, [wanted]))
                found = dict(await self.pool.run((_FIND_HOSTS, [wanted])))
            self._remember(self.host_ids, numbers, {name: found[as_stored] for name, as_stored in stored.items()})
        return numbers

    async def know_texts(self, texts: Iterable[str]) -> dict[str, int]:
        """The numbers of texts; new ones are added. What the database cannot hold of a text is stored without it."""
        numbers, missing = _cached(self.texts, texts)
        if missing:
            stored = {text: str(plain(text)) for text in missing}
            wanted = json_text(sorted(set(stored.values())))
            found = dict(await self.pool.run((FIND_TEXTS, [wanted])))
            if new := sorted({text for text in stored.values() if text not in found}):
                await self.pool.run((_NEW_TEXTS, [json_text(new)]))
                found = dict(await self.pool.run((FIND_TEXTS, [wanted])))
            self._remember(self.texts, numbers, {text: found[as_stored] for text, as_stored in stored.items()})
        return numbers

    async def know_urls(self, urls: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Numbers and depths of those URLs that are known."""
        found, missing = _cached(self.known, urls)
        if missing:
            rows = await self.pool.run((FIND_URLS, [json_text(missing)]))
            self._remember(self.known, found, {url: (number, depth) for url, number, depth in rows})
        return found

    @staticmethod
    def _remember(cache: TextCache[T], found: dict[str, T], more: dict[str, T]) -> None:
        cache.add(more)
        found |= more

    async def know_checks(self, check_ids: Iterable[str]) -> None:
        """Have the numbers of checks at hand."""
        if any(check_id not in self._checks for check_id in check_ids):
            self._checks = dict(await self.pool.run(("SELECT id, number FROM checks", ())))

    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Write many rows of a table as they are, in a transaction; how many."""
        count = 0

        def counted() -> Iterator[list[object]]:
            nonlocal count
            for row in rows:
                count += 1
                yield [plain(value) for value in row]

        self.sql.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN", counted())
        if columns[0] in ("id", "number"):
            self._go_on_counting(table, columns[0])
        return count

    def _go_on_counting(self, table: str, column: str) -> None:
        """New rows get numbers behind those that were written as they are."""
        name = self._value("SELECT pg_get_serial_sequence(%s, %s)", f'"{self.sql.address.schema}".{table}', column)
        if name is not None:
            self.sql.run(f"SELECT setval(%s, greatest((SELECT max({column}) FROM {table}), 1))", [name])

    async def close(self) -> None:
        await self.pool.close()
        self.sql.close()


async def _in_thread(work: Callable[[], T]) -> T:
    """What blocking work returns. It is waited for even when the caller is cancelled: the connection is its own until then."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        task.exception()  # Nobody is left who could be told.
        raise


def _cached(cache: TextCache[T], keys: Iterable[str]) -> tuple[dict[str, T], list[str]]:
    """What a cache has of some keys, and the keys that it does not have."""
    found: dict[str, T] = {}
    missing: dict[str, None] = {}
    for key in keys:
        value = cache.get(key)
        if value is None:
            missing[key] = None
        else:
            found[key] = value
    return found, list(missing)
