"""The PostgreSQL store: the parts of the store over one `PgDatabase`."""

from __future__ import annotations

from tadoru.store.crawl.page_writer import PageWriter
from tadoru.store.crawl.postgres.frontier import PgCrawlLimits, PgFrontier
from tadoru.store.crawl.postgres.hosts import PgHosts
from tadoru.store.crawl.postgres.page_writer import PgPageWriter
from tadoru.store.crawl.sqlite import SqliteStore


class PostgresStore(PgFrontier, PgCrawlLimits, PgHosts, SqliteStore):
    """A crawl in a schema of PostgreSQL. Any number of processes, on any machines, may open it at once."""

    # Not by URL: one that is longer than a page of an index holds could not be stored.
    _INDEXES = SqliteStore._INDEXES[:2]
    _TIDY = "ANALYZE"
    _says_within = True

    def batch(self, worker: int, max_depth: int | None) -> PageWriter:
        return PgPageWriter(self, worker, max_depth)
