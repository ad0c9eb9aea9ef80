"""A crawl in a schema of PostgreSQL."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.depths import PgGraph, PgLimits
from tadoru.store.crawl.postgres.frontier import PgFrontier, PgHosts
from tadoru.store.crawl.sqlite.database import LOCK_PATIENCE


class PostgresStore(CrawlDatabase):
    """A crawl in a schema of PostgreSQL. Any number of processes, on any machines, may open it at once."""

    def __init__(
        self, path: str, clock: Clock, *, durable: bool = True, patience: float = LOCK_PATIENCE, new: bool = True
    ) -> None:
        db = PgDatabase(path, clock, durable=durable, patience=patience, new=new)
        super().__init__(db, frontier=PgFrontier(db), hosts=PgHosts(db))
        self.db: PgDatabase = db
        self.limits = PgLimits(db)
        self.graph = PgGraph(db)
