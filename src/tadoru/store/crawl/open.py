"""Opens a store by name: a file, a PostgreSQL URL, or `:memory:` (SQLite without a file)."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import StoreError, UsageError
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.postgres.crawl_url import is_postgresql, parse
from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE
from tadoru.store.crawl.sqlite.store import CrawlNotReadable, NotesDatabase, ReadOnlyCrawl, SqliteStore
from tadoru.store.errors import is_read_only


def open_store(name: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> CrawlDatabase:
    """The crawl kept under a name; made when it is not there.

    `durable` False is for a file nobody will open again; `patience`: seconds to wait for another program's lock.
    """
    if is_postgresql(name):
        from tadoru.store.crawl.postgres.store import PostgresStore

        return PostgresStore(name, clock, durable=durable, patience=patience)
    return SqliteStore(name, clock, durable=durable, patience=patience)


async def open_beside(name: str, clock: Clock, *, durable: bool = True, new: bool = True) -> CrawlDatabase:
    """The same while an event loop runs, which does not wait for a server; with `new` False, the crawl must be there."""

    def opened() -> CrawlDatabase:
        return open_store(name, clock, durable=durable) if new else open_existing(name, clock)

    return await asyncio.to_thread(opened) if is_postgresql(name) else opened()


def is_same_crawl(one: str, other: str) -> bool:
    """Whether two names are those of one crawl. A password does not matter."""
    if is_postgresql(one) or is_postgresql(other):
        return is_postgresql(one) and is_postgresql(other) and parse(one).shown == parse(other).shown
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def is_there(name: str, clock: Clock) -> bool:
    """Whether there is a crawl under a name."""
    if not is_postgresql(name):
        return Path(name).is_file() and Path(name).stat().st_size > 0
    try:
        store = open_existing(name, clock)
    except UsageError:
        return False
    store.sql.close()
    return True


def read_notes(name: str, clock: Clock) -> dict[str, str]:
    """What is noted about a crawl; nothing when none can be read. A file is not changed, whatever its format."""
    try:
        if is_postgresql(name):
            store = open_existing(name, clock)
            with closing(store.sql):
                return store.meta.all()
        db = NotesDatabase(name)
        with closing(db.sql):
            return db.notes()
    except (StoreError, UsageError):
        return {}  # Whoever opens it for writing reports the reason.


def open_existing(name: str, clock: Clock) -> CrawlDatabase:
    """A crawl that must be there; to be read only, where its file cannot be written. Raises UsageError."""
    if is_postgresql(name):
        from tadoru.store.crawl.postgres.store import PostgresStore

        return PostgresStore(name, clock, new=False)
    path = Path(name)
    if not path.is_file() or not path.stat().st_size:
        raise UsageError("No crawl in {path}. Choose the database of an audit.", path=name)
    try:
        return SqliteStore(name, clock)
    except StoreError as error:
        if not is_read_only(error.__cause__):
            raise
        try:
            return ReadOnlyCrawl(path)
        except CrawlNotReadable:  # It is of an older format, and must be written before it can be read.
            raise error from None
