"""What the parts of a crawl database use of their connection, and the words in which the two databases differ."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tadoru.clock import Clock
from tadoru.rules.budget import BreadthLimits
from tadoru.store.crawl.caches import TextCache
from tadoru.store.errors import translated


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """One database's words."""

    name: str
    join_in_order: str
    """A join that keeps the order of its tables. Without it, SQLite may choose a worse one."""
    by_id: str
    """After a table: it is read by its primary key."""
    by_url: str
    """After `pages`: it is read in the order of its URLs."""
    greatest: str
    least: str
    json_list: str
    """A table function: key and value of each item of a JSON array."""
    json_fields: str
    """A table function: key and value of each field of a JSON object."""
    json_array: str
    json_group_array: str

    def indexed_by(self, index: str) -> str:
        """After a table: it is read by this index."""
        return f"INDEXED BY {index}" if self.name == "sqlite" else ""

    def is_text(self, column: str, value: str) -> str:
        """Whether a text of any length is the given one. PostgreSQL finds long texts by their hash."""
        return f"{column} = {value}" if self.name == "sqlite" else f"md5({column})::uuid = md5({value})::uuid"

    def unique_text(self, column: str) -> str:
        """A column of long texts in the target of ON CONFLICT."""
        return column if self.name == "sqlite" else f"(md5({column})::uuid)"

    def matches_glob(self, column: str, pattern: str) -> str:
        """Whether a text fits a pattern with * and ?."""
        return f"{column} GLOB {pattern}" if self.name == "sqlite" else f"glob_matches({column}, {pattern})"

    def json_field(self, column: str, name: str) -> str:
        """A field of a JSON object as text."""
        return f"json_extract({column}, '$.{name}')" if self.name == "sqlite" else f"({column}::json ->> '{name}')"

    def json_item(self, column: str, place: int) -> str:
        """An item of a JSON array as text."""
        return f"json_extract({column}, '$[{place}]')" if self.name == "sqlite" else f"json_item({column}, {place})"

    @property
    def all_rows(self) -> str:
        """At the end of a subquery: SQLite runs it once, and does not merge it into the outer query."""
        return "LIMIT -1" if self.name == "sqlite" else ""

    @property
    def locked_rows(self) -> str:
        """At the end of a query: its rows are locked, after waiting for those that another transaction has locked."""
        return "" if self.name == "sqlite" else "FOR UPDATE"

    @property
    def unlocked_rows(self) -> str:
        """At the end of a subquery: its rows are locked, and those that another transaction has locked are left out."""
        return "" if self.name == "sqlite" else "FOR UPDATE SKIP LOCKED"

    @property
    def living_worker(self) -> str:
        """A query with one row if a worker was not declared dead; then it is not until this transaction ends."""
        return f"SELECT 1 FROM workers WHERE id = ? {'' if self.name == 'sqlite' else 'FOR KEY SHARE'}"

    @property
    def update_statistics(self) -> str:
        """A statement for the planner, after many rows have changed."""
        return "PRAGMA optimize" if self.name == "sqlite" else "ANALYZE pages, link_relations, page_details, page_findings"

    def take_turn(self, name: str) -> str:
        """A query that waits while another transaction of this crawl has asked the same. SQLite has only one that writes."""
        if self.name == "sqlite":
            return "SELECT 1"
        return f"SELECT pg_advisory_xact_lock(hashtext('tadoru {name}'), hashtext(current_schema()))"

    @property
    def like(self) -> str:
        """Whether a text fits a pattern with % and _; the case of ASCII letters does not matter."""
        return "LIKE" if self.name == "sqlite" else "ILIKE"

    @property
    def without_rowid(self) -> str:
        """After a new table: its rows are stored in its primary key."""
        return "WITHOUT ROWID" if self.name == "sqlite" else ""

    @property
    def columns(self) -> str:
        """A query for table and column of every column, in their order."""
        if self.name == "sqlite":
            return """SELECT m.name, c.name FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' ORDER BY m.name, c.cid"""
        return """SELECT t.table_name, c.column_name FROM information_schema.tables t
            JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
            WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY t.table_name, c.ordinal_position"""

    def index_exists(self, index: str) -> str:
        """A query with one row if an index exists."""
        if self.name == "sqlite":
            return f"SELECT 1 FROM sqlite_schema WHERE name = '{index}'"
        return f"SELECT 1 FROM pg_class WHERE oid = to_regclass('{index}')"


SQLITE = SqlDialect(
    "sqlite", "CROSS JOIN", "NOT INDEXED", "INDEXED BY sqlite_autoindex_pages_1", "max", "min", "json_each", "json_each",
    "json_array", "json_group_array",
)  # fmt: skip
POSTGRESQL = SqlDialect(
    "postgresql", "JOIN", "", "", "greatest", "least", "json_list", "json_fields", "json_build_array", "json_agg"
)


T = TypeVar("T")
Values = Sequence[Any] | Mapping[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=list).encode


def json_text(value: object) -> str:
    """A value as JSON that both databases can store, and take apart in a query."""
    text = _encode(value)
    if "\\u0000" in text or (not text.isascii() and plain(text) is not text):
        text = _encode(_plain_parts(value))
    return text


def _plain_parts(value: object) -> object:
    if isinstance(value, Mapping):
        return {plain(key): _plain_parts(one) for key, one in value.items()}
    return [_plain_parts(one) for one in value] if isinstance(value, list | tuple | AbstractSet) else plain(value)


def plain(value: object) -> object:
    """What a text of PostgreSQL cannot hold is replaced: NUL, and halves of surrogate pairs."""
    if not isinstance(value, str):
        return value
    if "\x00" in value:
        value = value.replace("\x00", "\ufffd")
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-8", "replace").decode()
    return value if type(value) is str else str(value)


def listed(numbers: Iterable[int]) -> str:
    """Numbers as a statement lists them; none are nothing that anything is equal to."""
    return ", ".join(str(int(number)) for number in numbers) or "NULL"


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

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Values = ..., /) -> SqlRows: ...

    def executemany(self, statement: str, rows: Iterable[Values], /) -> object: ...

    def create_function(self, name: str, narg: int, func: Callable[[str], str], /, *, deterministic: bool = ...) -> None:
        """Let statements call a function of this program. Only SQLite can: PostgreSQL raises UsageError."""
        ...

    def close(self) -> None: ...


class CrawlConnection(ABC):
    """A connection to a crawl database, with caches of what it has numbered."""

    dialect: SqlDialect
    sql: SqlConnection
    """For readers that are synchronous, in a process or thread of their own."""

    def __init__(self, path: str, clock: Clock) -> None:
        self.path = path
        """The file, or the URL without its password."""
        self.clock = clock
        self.bounds = BreadthLimits()
        """The limits that everything written through this connection keeps."""
        self.known: TextCache[tuple[int, int]] = TextCache(100_000)
        """url → (id, depth) of URLs met lately: most links of a page lead to these."""
        self.texts: TextCache[int] = TextCache(50_000)
        self.host_ids: TextCache[int] = TextCache(50_000)
        self.resource_ids: TextCache[int] = TextCache(50_000)
        self._checks: dict[str, int] = {}
        self._changed: defaultdict[str, int] = defaultdict(int)
        """Counters that the transaction of `write` has changed and not written yet."""

    def release_memory(self) -> None:
        """Drop what is only cached."""
        self.forget_cached()

    @abstractmethod
    async def write(self, body: Callable[[SqlConnection], T], *, beside: bool = False) -> T:
        """Run `body` as one transaction. It may run in another thread, and again if the database rolled it back.

        `beside`: others may write meanwhile, because it locks what it changes; otherwise it is alone.
        """

    @abstractmethod
    async def read(self, body: Callable[[SqlConnection], T]) -> T:
        """What `body` reads. It may run in another thread."""

    @abstractmethod
    def batches(self, statement: str, values: Sequence[object] = ()) -> AsyncIterator[list[Any]]:
        """The rows of a query, many at a time, as they were when the first were read."""

    @abstractmethod
    def count(self, sql: SqlConnection, deltas: Mapping[str, int]) -> None:
        """Add to counters, in the transaction of `sql`. A counter may have several rows: the sum is its value."""

    @abstractmethod
    def put_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
        """Write many rows of a table as they are, in a transaction; how many."""

    @abstractmethod
    async def close(self) -> None: ...

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """The rows of a query, for readers that are synchronous."""
        with translated(self.path):
            return self.sql.execute(statement, values).fetchall()

    def stream(self, statement: str, values: Values = ()) -> Iterator[Any]:
        """The rows of a query one after the other, for readers that are synchronous."""
        with translated(self.path):
            for row in self.sql.execute(statement, values):  # noqa: UP028 - it would close a cursor whose database is closed
                yield row

    def counter(self, sql: SqlConnection, name: str) -> int:
        """The value of a counter, as the transaction of `sql` has changed it."""
        (total,) = sql.execute("SELECT coalesce(sum(value), 0) FROM counters WHERE name = ?", (name,)).fetchone()
        return int(total) + self._changed[name]

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

    def check_number(self, check_id: str) -> int:
        """The number of a check in the catalogue of this crawl."""
        if check_id not in self._checks:
            self._checks = dict(self.sql.execute("SELECT id, number FROM checks").fetchall())
        return self._checks[check_id]

    def forget_cached(self) -> None:
        """Empty the caches."""
        for cache in (self.known, self.texts, self.host_ids, self.resource_ids):
            cache.clear()


class CrawlPart:
    """A part of a crawl database: reads or writes one subject over its connection."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db
