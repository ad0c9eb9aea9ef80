"""Asynchronous connections to a crawl on PostgreSQL: what runs while a crawl runs never makes the event loop wait."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
import psycopg_pool
from psycopg import sql as names

from tadoru.store.crawl.connection import plain
from tadoru.store.crawl.postgres.connection import (
    DEFAULTS,
    SESSION_SETTINGS,
    Values,
    with_defaults,
)
from tadoru.store.crawl.postgres.crawl_url import CrawlUrl
from tadoru.store.errors import DeadlockVictim, translated

T = TypeVar("T")
Statement = tuple[str, Values]
AsyncLink = psycopg.AsyncConnection[Any]
ATTEMPTS = 8
"""How often a transaction is tried that PostgreSQL rolls back to resolve a deadlock."""
SIZE = 4
"""Connections: a batch of pages, a lease, a heartbeat and a slot do not wait for each other."""
IDLE = 60.0
"""Seconds after which a connection that is not used is closed."""
IN_TRANSACTION = 60.0
"""Seconds after which the server ends a transaction whose worker stands still: it would keep its locks."""


class PgPool:
    """The connections of one crawl, opened when they are needed, by the event loop that needs them."""

    def __init__(self, address: CrawlUrl, settings: str) -> None:
        self._address = address
        self._settings = settings
        self._idle_limit = IN_TRANSACTION
        self._pool: psycopg_pool.AsyncConnectionPool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def limit_transactions(self, seconds: float) -> None:
        """Let the server end transactions that stand still for so long."""
        if seconds != self._idle_limit:
            self._idle_limit = seconds
            await self.close()

    async def _opened(self) -> psycopg_pool.AsyncConnectionPool:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._loop is not loop:
            self._loop = loop
            self._pool = psycopg_pool.AsyncConnectionPool(
                with_defaults(self._address.dsn, DEFAULTS), kwargs={"autocommit": True}, configure=self._configure,
                min_size=0, max_size=SIZE, max_idle=IDLE, timeout=30.0, reconnect_timeout=30.0, open=False,
            )  # fmt: skip
            await self._pool.open()
        return self._pool

    async def _configure(self, link: AsyncLink) -> None:
        schema = names.Identifier(self._address.schema)
        await link.execute(names.SQL(SESSION_SETTINGS).format(schema))
        idle = max(1, round(self._idle_limit * 1000))
        # Everything asked here is found by an index. Of a table that is new or small, the planner would read every row, and hash
        # every URL of it, for each batch.
        await link.execute(f"{self._settings}; SET enable_seqscan TO off; SET idle_in_transaction_session_timeout TO {idle}")

    @asynccontextmanager
    async def link(self) -> AsyncIterator[AsyncLink]:
        """A connection, outside of a transaction."""
        with translated(self._address.shown):
            async with (await self._opened()).connection() as link:
                yield link

    async def run(self, *statements: Statement) -> list[Any]:
        """Run statements as one transaction in one round trip; the rows of the last. A victim of a deadlock is tried again."""

        async def once() -> list[Any]:
            async with self.link() as link:
                return (await together(link, statements))[-1]

        return await retried(once)

    @asynccontextmanager
    async def transaction(self, *first: Statement) -> AsyncIterator[AsyncLink]:
        """One transaction that begins with these statements."""
        async with self.link() as link:
            await together(link, [("BEGIN", ()), *first])
            try:
                yield link
                if link.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE:  # It may end with its last statements.
                    await link.execute("COMMIT")
            except BaseException:
                with suppress(psycopg.Error):
                    await link.execute("ROLLBACK")
                raise

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            await pool.close()


async def together(link: AsyncLink, statements: Sequence[Statement]) -> list[list[Any]]:
    """The rows of each of some statements, which make one round trip."""
    if len(statements) == 1:
        return [await _rows(await link.execute(statements[0][0], statements[0][1] or None))]
    async with link.pipeline():
        cursors = [await link.execute(text, values or None) for text, values in statements]
    return [await _rows(cursor) for cursor in cursors]


async def _rows(cursor: psycopg.AsyncCursor[Any]) -> list[Any]:
    return await cursor.fetchall() if cursor.description else []


async def retried(transaction: Callable[[], Awaitable[T]]) -> T:
    """Run a transaction again when it was the victim of a deadlock: nothing of it happened."""
    for _ in range(ATTEMPTS - 1):
        with suppress(DeadlockVictim):
            return await transaction()
        await asyncio.sleep(random.uniform(0.01, 0.1))  # Not the same for two that met.
    return await transaction()


async def copy(link: AsyncLink, table: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
    """Write many rows, the fastest way there is."""
    async with link.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as out:
        for row in rows:
            await out.write_row([plain(value) for value in row])
