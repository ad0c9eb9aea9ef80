"""What the parts of a crawl database use of their connection: the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from tadoru.clock import Clock
from tadoru.rules.budget import BreadthLimits
from tadoru.store.crawl.dialect import SqlDialect

T = TypeVar("T")
Values = Sequence[Any] | Mapping[str, Any]


class SqlRows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __next__(self) -> Any: ...


class SqlConnection(Protocol):
    """What portable statements are run with: a connection of SQLite, or one to PostgreSQL that changes the parameter style."""

    def execute(self, statement: str, values: Values = ..., /) -> SqlRows: ...

    def executemany(self, statement: str, rows: Iterable[Values], /) -> object: ...

    def create_function(self, name: str, narg: int, func: Callable[[str], str], /, *, deterministic: bool = ...) -> None:
        """Let statements call a function of this program. Only SQLite can: PostgreSQL raises UsageError."""
        ...

    def close(self) -> None: ...


class CrawlConnection(Protocol):
    """A connection to a crawl database."""

    bounds: BreadthLimits
    """The limits that everything written through this connection keeps."""

    @property
    def path(self) -> str:
        """The file, or the URL without its password."""
        ...

    @property
    def clock(self) -> Clock: ...

    @property
    def dialect(self) -> SqlDialect: ...

    @property
    def sql(self) -> SqlConnection:
        """For readers that are synchronous, in a process or thread of their own."""
        ...

    async def write(self, body: Callable[[SqlConnection], T]) -> T:
        """Run `body` as one transaction. It may run in another thread, and again if the database rolled it back."""
        ...

    async def read(self, body: Callable[[SqlConnection], T]) -> T:
        """What `body` reads. It may run in another thread."""
        ...

    def batches(self, statement: str, values: Sequence[object] = ()) -> AsyncIterator[list[Any]]:
        """The rows of a query, many at a time, as they were when the first were read."""
        ...

    def count(self, sql: SqlConnection, deltas: Mapping[str, int]) -> None:
        """Add to counters, in the transaction of `sql`. A counter may have several rows: the sum is its value."""
        ...

    def counter(self, sql: SqlConnection, name: str) -> int:
        """The value of a counter, as the transaction of `sql` has changed it."""
        ...

    def check_number(self, check_id: str) -> int:
        """The number of a check in the catalogue of this crawl."""
        ...

    def one_moment(self) -> AbstractContextManager[None]:
        """All that is read inside shows the crawl as it was at one moment, also while it goes on."""
        ...

    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Write many rows of a table as they are, in a transaction; how many."""
        ...

    def forget_cached(self) -> None:
        """Empty the caches."""
        ...

    async def close(self) -> None: ...
