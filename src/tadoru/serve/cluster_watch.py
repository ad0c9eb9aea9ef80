"""The state of the cluster in the service's database, for the pages and the API.

Only a service on PostgreSQL can have a cluster. A snapshot is cached and read by one thread at a time, so that many open pages
cost the database no more than one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tadoru.clock import Clock
from tadoru.errors import StoreError
from tadoru.serve.service import Service
from tadoru.store.calendar.database import is_postgresql

if TYPE_CHECKING:
    from tadoru.store.cluster.records import ClusterStatus

CACHE_SECONDS = 2.0
"""Seconds for which a snapshot is reused, at least."""
PAUSE_FACTOR = 20
"""The pause after a snapshot, as a multiple of the time it took: reading takes at most a twentieth of the database's time."""
_making = threading.Lock()


class ClusterWatch:
    """Reads the state of a cluster on request, with a cache."""

    def __init__(self, database: str, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._turn = threading.Lock()
        self._seen: ClusterStatus | None = None
        self._until = -1.0

    def look(self) -> ClusterStatus | None:
        """The current or a cached snapshot; None if the database has no cluster. Raises StoreError."""
        with self._turn:
            began = self._clock.monotonic()
            if began >= self._until:
                self._seen = self._fresh()
                now = self._clock.monotonic()
                self._until = now + max(CACHE_SECONDS, (now - began) * PAUSE_FACTOR)
            return self._seen

    def _fresh(self) -> ClusterStatus | None:
        from tadoru.store.cluster.status import ClusterStatusReader

        view = ClusterStatusReader(self._database)
        try:
            return view.look() if view.is_there() else None
        finally:
            view.close()


def can_have_cluster(service: Service) -> bool:
    """Whether the database can hold a cluster."""
    return is_postgresql(service.store.db.database)


def cluster_status(service: Service) -> ClusterStatus | None:
    """The cluster in the service's database, or None. Raises StoreError."""
    if not can_have_cluster(service):
        return None
    with _making:
        if service.cluster is None:
            service.cluster = ClusterWatch(service.store.db.database, service.clock)
    return service.cluster.look()


def cluster_status_or_none(service: Service) -> ClusterStatus | None:
    """The cluster for a page that shows other things too: None after an error, which is logged."""
    try:
        return cluster_status(service)
    except StoreError as error:
        service.log.write("warning", str(error))
        return None
