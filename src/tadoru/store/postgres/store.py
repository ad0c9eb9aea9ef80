"""The PostgreSQL store: the rooms of the store over one `PgDatabase`."""

from __future__ import annotations

from tadoru.store.batch import Batch
from tadoru.store.postgres.learning import PgBatch
from tadoru.store.postgres.leasing import PgBounded, PgFrontier
from tadoru.store.postgres.pacing import PgHosts
from tadoru.store.sqlite import SqliteStore


class PostgresStore(PgFrontier, PgBounded, PgHosts, SqliteStore):
    """A crawl in a schema of PostgreSQL. Any number of processes, on any machines, may open it at once."""

    # Not by URL: one that is longer than a page of an index holds could not be stored.
    _INDEXES = SqliteStore._INDEXES[:2]
    _TIDY = "ANALYZE"
    _says_within = True

    def batch(self, worker: int, max_depth: int | None) -> Batch:
        return PgBatch(self, worker, max_depth)
