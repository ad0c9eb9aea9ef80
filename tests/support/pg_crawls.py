"""Crawls on a real PostgreSQL whose clock a test can move: time is the database's there, so it is the database that is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from tadoru.store.crawl.postgres.store import PostgresStore
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer

_numbers = count(1)
_address: dict[int, str] = {}


def database_of(server: PostgresServer) -> str:
    """One database for all crawls of a test process: a crawl is a schema."""
    if server.pid not in _address:
        _address[server.pid] = server.new_database()
    return _address[server.pid]


@contextmanager
def crawl_on(server: PostgresServer, clock: FakeClock | None = None) -> Iterator[str]:
    """The address of a crawl of its own; with a clock, its time is that clock's."""
    database = database_of(server)
    name = f"t{next(_numbers)}"
    address = f"{database}&crawl={name}"
    with server.connect(database.partition("@/")[2].partition("?")[0]) as sql:
        if clock is not None:
            store = PostgresStore(address, clock)
            store.db.sql.close()

            def tell() -> None:
                function = f'"crawl_{name}".shared_now() RETURNS DOUBLE PRECISION LANGUAGE sql'
                sql.execute(f"CREATE OR REPLACE FUNCTION {function} AS $$ SELECT {clock.now()!r}::double precision $$")

            clock.on_change = tell
            tell()
        try:
            yield address
        finally:
            sql.execute(f'DROP SCHEMA IF EXISTS "crawl_{name}" CASCADE')
