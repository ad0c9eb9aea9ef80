"""Opening a store by its name: a file, or `:memory:`."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.base import CrawlStore
from tadoru.store.sqlite import SqliteStore


def open_store(name: str, clock: Clock, *, durable: bool = True) -> CrawlStore:
    """The crawl kept under a name; made when it is not there. `durable` False is for a file nobody will open again."""
    return SqliteStore(name, clock, durable=durable)
