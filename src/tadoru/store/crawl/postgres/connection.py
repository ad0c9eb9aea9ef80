"""A connection to PostgreSQL for portable statements: it changes the style of parameters and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any

import psycopg
import psycopg_pool
from psycopg import sql as names
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import set_json_loads

from tadoru.errors import UsageError
from tadoru.store.crawl.connection import plain
from tadoru.store.crawl.postgres.crawl_url import CrawlUrl
from tadoru.store.errors import postgresql_error, translated

Values = Sequence[object] | Mapping[str, object]
_PARAMETER = re.compile(r"'(?:[^']|'')*'|\?|(?<!:):([a-z]\w*)|%")


@lru_cache(2_000)
def with_driver_parameters(statement: str) -> str:
    """The same statement, with the driver's parameters."""
    return _PARAMETER.sub(_replaced, statement)


def _replaced(found: re.Match[str]) -> str:
    if found[1]:
        return f"%({found[1]})s"
    return "%s" if found[0] == "?" else found[0].replace("%", "%%")


def plain_values(given: Values) -> Values:
    """Values that PostgreSQL can store."""
    if isinstance(given, Mapping):
        return {name: plain(value) for name, value in given.items()}
    return [plain(value) for value in given]


_AT_A_TIME = 2_000
# What an address may say otherwise.
DEFAULTS = {
    "connect_timeout": "10", "application_name": "tadoru", "keepalives_idle": "30", "keepalives_interval": "10",
    "keepalives_count": "3", "tcp_user_timeout": "60000",
}  # fmt: skip
_BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ"
# The server, too, notices that the other end is gone: a worker whose machine was cut off would hold its locks for hours.
SESSION_SETTINGS = (
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3; SET search_path TO {}, public"
)
_numbers = count(1)


def with_defaults(dsn: str, defaults: Mapping[str, str]) -> str:
    """An address with what it does not say itself; both its `options` and ours. Raises psycopg.ProgrammingError."""
    given = {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}
    options = " ".join(filter(None, (given.get("options", ""), defaults.get("options", ""))))
    return make_conninfo("", **{**defaults, **given, **({"options": options} if options else {})})


def _as_text(value: str | bytes) -> str:
    """JSON as it is: whoever asked for it reads it, as from a file."""
    return value if isinstance(value, str) else value.decode()


class PgConnection:
    """One connection, in a crawl's own schema, or in another."""

    def __init__(self, address: CrawlUrl, schema: str | None = None) -> None:
        self._schema = schema or address.schema
        self.shown = address.shown
        self.address = address
        self._link = self._opened()
        self.writes = False
        """In a transaction that writes, and reads little."""
        self._reader: psycopg.Connection[Any] | None = None
        self._streams: Counter[psycopg.Connection[Any]] = Counter()
        self._in_snapshot = False

    @property
    def is_streaming(self) -> bool:
        """Rows are being read that a commit would cut off."""
        return self._streams[self._link] > 0

    def _opened(self) -> psycopg.Connection[Any]:
        prepared = names.SQL(SESSION_SETTINGS).format(names.Identifier(self._schema))
        try:
            link = psycopg.connect(with_defaults(self.address.dsn, DEFAULTS), autocommit=True)
            link.execute(prepared)
            set_json_loads(_as_text, link)
        except psycopg.ProgrammingError:
            raise UsageError("Invalid database URL. Use postgresql://user@host/name?crawl=NAME.") from None
        except psycopg.Error as error:
            raise postgresql_error(error, self.shown) from error
        return link

    @property
    def driver(self) -> psycopg.Connection[Any]:
        """For what only PostgreSQL has, such as COPY."""
        return self._link

    @property
    def in_transaction(self) -> bool:
        return self._link.info.transaction_status in (psycopg.pq.TransactionStatus.INTRANS, psycopg.pq.TransactionStatus.INERROR)

    def execute(self, statement: str, values: Values = ()) -> PgRows:
        """Run a statement of the store; one that only reads waits until its rows are asked for."""
        if statement == "BEGIN":
            statement, self._in_snapshot = _BEGIN_SNAPSHOT, True
        elif statement in ("COMMIT", "ROLLBACK"):
            self._in_snapshot = False
        rows = PgRows(self, with_driver_parameters(statement), plain_values(values))
        if not statement.lstrip().startswith(("SELECT", "WITH")):
            rows.run()
        return rows

    def executemany(self, statement: str, rows: Iterable[Values]) -> None:
        """Run a statement for each row, without waiting for each answer."""
        given = [plain_values(row) for row in rows]
        if given:
            with translated(self.shown), self._link.cursor() as cursor:
                cursor.executemany(with_driver_parameters(statement), given)

    def run(self, text: str, values: Values = ()) -> psycopg.Cursor[Any]:
        """Run a statement that is PostgreSQL's own."""
        with translated(self.shown):
            return self._link.execute(text, values or None)

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        """One transaction; rolled back if its body raises."""
        self.run(begin)
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            if not self._link.closed and self.in_transaction:
                self.run("ROLLBACK")
            raise

    def streamed(self, text: str, values: Values) -> Iterator[Any]:
        """The rows of a statement by a cursor of the server: beside whatever is written meanwhile, on a connection of its own,
        unless it belongs to a transaction or reads what only this connection has."""
        is_here = self.in_transaction or "pg_temp." in text
        link = self._link if is_here else self._second()
        with translated(self.shown):
            if link.info.transaction_status is psycopg.pq.TransactionStatus.IDLE:
                link.execute(_BEGIN_SNAPSHOT)
            begun = link is not self._link or not self._in_snapshot
            self._streams[link] += 1
            try:
                with link.cursor(name=f"tadoru_{next(_numbers)}") as cursor:
                    cursor.itersize = _AT_A_TIME
                    cursor.execute(text, values or None)
                    yield from cursor
            finally:
                self._streams[link] -= 1
                if begun and not self._streams[link] and not link.closed:
                    link.execute("COMMIT")

    def _second(self) -> psycopg.Connection[Any]:
        if self._reader is None or self._reader.closed:
            self._reader = self._opened()
        return self._reader

    def copy(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Write many rows as fast as there is a way to."""
        with translated(self.shown), self._link.cursor() as cursor, cursor.copy(statement) as out:
            for row in rows:
                out.write_row(row)

    def create_function(self, *_given: object, **_named: object) -> None:
        raise UsageError("Only crawls in files can be compared with rewritten URLs. Copy the crawl to a file first.")

    def close(self) -> None:
        self._link.close()
        if self._reader is not None:
            self._reader.close()


class PgRows:
    """The result of a statement."""

    def __init__(self, link: PgConnection, text: str, values: Values) -> None:
        self._sql = link
        self._text, self._values = text, values
        self._cursor: psycopg.Cursor[Any] | None = None
        self._rows: Iterator[Any] | None = None

    def run(self) -> psycopg.Cursor[Any]:
        if self._cursor is None:
            self._cursor = self._sql.run(self._text, self._values)
        return self._cursor

    @property
    def rowcount(self) -> int:
        return self.run().rowcount

    def fetchone(self) -> Any:
        return self.run().fetchone()

    def fetchall(self) -> list[Any]:
        cursor = self.run()
        return cursor.fetchall() if cursor.description else []

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            is_small = self._cursor is not None or self._sql.writes
            self._rows = iter(self.run()) if is_small else self._sql.streamed(self._text, self._values)
        return next(self._rows)


def pool(**given: Any) -> psycopg_pool.AsyncConnectionPool:
    """Every request of the task engine is one statement: it needs no transaction around it, and no question before it whether the
    connection still lives. When it does not, the worker hears of it and begins anew."""
    return psycopg_pool.AsyncConnectionPool(**{**given, "check": None, "configure": _without_transactions})


async def _without_transactions(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
