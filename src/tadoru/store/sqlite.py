"""The SQLite store: the rooms `Frontier`, `Hosts` and `Reader` over one `Database`."""

from __future__ import annotations

from tadoru.store.frontier import Frontier
from tadoru.store.hosts import Hosts
from tadoru.store.read import Reader


class SqliteStore(Frontier, Hosts, Reader):
    """A crawl in one SQLite file. Any number of processes may open it at once."""
