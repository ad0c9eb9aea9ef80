"""A crawl in one SQLite file."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.database import LOCK_PATIENCE, Database
from tadoru.store.crawl.frontier import SqliteFrontier
from tadoru.store.crawl.hosts import SqliteHosts, SqliteRobots


class SqliteStore(CrawlDatabase):
    """A crawl in one SQLite file. Any number of processes may open it at once."""

    def __init__(self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE) -> None:
        db = Database(path, clock, durable=durable, patience=patience)
        super().__init__(db, frontier=SqliteFrontier(db), hosts=SqliteHosts(db), robots=SqliteRobots(db))
        self.db: Database = db
