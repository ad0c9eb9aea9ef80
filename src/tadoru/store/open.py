"""Opening a store by its name: a file, `:memory:` (SQLite without a file), or `memory:` (plain Python)."""

from __future__ import annotations

from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.store.base import CrawlStore
from tadoru.store.database import LOCK_PATIENCE
from tadoru.store.memory import MemoryStore
from tadoru.store.sqlite import SqliteStore


def open_store(name: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> CrawlStore:
    """The crawl kept under a name; made when it is not there.

    `durable` False is for a file nobody will open again; `patience`: seconds to wait for another program's lock.
    """
    if name == "memory:":
        return MemoryStore(clock)
    return SqliteStore(name, clock, durable=durable, patience=patience)


def open_audit(name: str, clock: Clock, *, patience: float = LOCK_PATIENCE) -> SqliteStore:
    """The crawl of an audit; made when it is not there."""
    return SqliteStore(name, clock, patience=patience)


def open_existing(name: str, clock: Clock) -> SqliteStore:
    """A crawl that must be there. Raises UsageError."""
    path = Path(name)
    if not path.is_file() or not path.stat().st_size:
        raise UsageError(f"There is no crawl in {name}: give the database that `tadoru audit` wrote.")
    return SqliteStore(name, clock)
