"""A crawl in one SQLite file, for workers and for readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from tadoru.clock import Clock, SystemClock
from tadoru.errors import UsageError
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE, SCHEMA_VERSION, Database
from tadoru.store.crawl.sqlite.frontier import SqliteFrontier, SqliteHosts
from tadoru.store.errors import is_read_only


class SqliteStore(CrawlDatabase):
    """A crawl in one SQLite file. Any number of processes may open it at once."""

    def __init__(self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> None:
        db = Database(path, clock, durable=durable, patience=patience)
        super().__init__(db, frontier=SqliteFrontier(db), hosts=SqliteHosts(db))
        self.db: Database = db


T = TypeVar("T")


class CrawlNotReadable(UsageError):
    """The file has no crawl: it has not started, or was deleted."""


class ReadOnlyDatabase(Database):
    """A connection to a crawl for reading; writing raises StoreError."""

    patience = 5.0
    """Seconds to wait while a file is being made or recovered, which is the only time that a reader waits."""

    def __init__(self, path: Path | str) -> None:
        file = Path(path)
        if not file.is_file() or not file.stat().st_size:
            raise CrawlNotReadable("No data for this crawl: it has not started, or its file was deleted.")
        super().__init__(str(file), SystemClock(), patience=self.patience)

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._opened("mode=ro")
        except sqlite3.OperationalError as error:
            # To read a file in WAL mode SQLite makes others beside it, and cannot in a folder that nobody may write to. Without
            # them it is safe to read only when there are none: then nobody is writing, and nothing waits to be taken over.
            if not is_read_only(error) or any(Path(self.path + end).exists() for end in ("-wal", "-shm")):
                raise
        return self._opened("mode=ro&immutable=1")

    def _opened(self, how: str) -> sqlite3.Connection:
        name = f"file:{quote(str(Path(self.path).absolute()))}?{how}"
        # A stream may be read by one thread after the other.
        sql = sqlite3.connect(name, uri=True, isolation_level=None, timeout=self._patience, check_same_thread=False)
        try:
            sql.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
        except BaseException:
            sql.close()
            raise
        return sql

    def _prepare(self, durable: bool) -> None:
        if self._is_empty():
            raise CrawlNotReadable("This crawl is being created. Try again in a moment.")
        self._check_origin()
        if self._format() < SCHEMA_VERSION:
            raise CrawlNotReadable(
                "This crawl was written by an older Tadoru. Run `tadoru report` on its file once to upgrade it."
            )
        self.sql.execute("PRAGMA cache_size = -16384")


class NotesDatabase(ReadOnlyDatabase):
    """A connection that reads only what is noted about a crawl, whatever its format; it changes nothing."""

    patience = 0.5

    def _prepare(self, durable: bool) -> None:
        self._check_origin()

    def notes(self) -> dict[str, str]:
        """What is noted about the crawl; nothing while it is being made."""
        return {} if self._is_empty() else dict(self.rows("SELECT key, value FROM crawl_meta"))


class ReadOnlyCrawl(CrawlDatabase):
    """A crawl for reading; writing raises StoreError."""

    def __init__(self, path: Path | str) -> None:
        db = ReadOnlyDatabase(path)
        super().__init__(db, frontier=SqliteFrontier(db), hosts=SqliteHosts(db))
        self.db: Database = db

    def copy_to(self, path: Path) -> None:
        """A copy of the whole file as it is at one moment, complete in itself."""
        from tadoru.store.copy_crawl import copy_crawl  # It knows calendars too, and imports SQLAlchemy for them.

        copy_crawl(Path(self.path), path)


@contextmanager
def looking_at(path: Path | str) -> Iterator[ReadOnlyCrawl]:
    """A crawl, all of it as it is at one moment. Raises CrawlNotReadable, StoreError."""
    crawl = ReadOnlyCrawl(path)
    with closing(crawl.sql), crawl.snapshot():
        yield crawl


def at_once(reading: Coroutine[Any, Any, T]) -> T:
    """What a coroutine of the store returns that only reads: it never waits for anything, so no loop is needed."""
    try:
        reading.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    reading.close()
    raise RuntimeError("A coroutine that was to read at once waits for something.")
