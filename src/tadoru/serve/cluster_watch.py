"""The cluster in the service's own database, looked at for the pages and the interface.

Only a service on PostgreSQL can have one. A look is kept for a moment and taken by one thread at a time, so that any number of
open pages cost the database no more than one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tadoru.clock import Clock
from tadoru.errors import StoreError
from tadoru.serve.service import Service
from tadoru.store.calendar.database import is_postgresql

if TYPE_CHECKING:
    from tadoru.store.cluster.status import ClusterStatus

CACHE_SECONDS = 2.0
"""Seconds for which a look is good enough."""
PAUSE_FACTOR = 20
"""How many times as long as a look took the next one is put off: the database spends a twentieth of its time on it at most."""
_making = threading.Lock()


class ClusterWatch:
    """Looks at a cluster when it is asked, and not too often."""

    def __init__(self, database: str, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._turn = threading.Lock()
        self._seen: ClusterStatus | None = None
        self._until = -1.0

    def look(self) -> ClusterStatus | None:
        """The cluster, a moment ago at most; None when the database has none. Raises StoreError."""
        with self._turn:
            began = self._clock.monotonic()
            if began >= self._until:
                self._seen = self._fresh()
                now = self._clock.monotonic()
                self._until = now + max(CACHE_SECONDS, (now - began) * PAUSE_FACTOR)
            return self._seen

    def _fresh(self) -> ClusterStatus | None:
        from tadoru.store.cluster.status_reader import ClusterStatusReader

        view = ClusterStatusReader(self._database)
        try:
            return view.look() if view.is_there() else None
        finally:
            view.close()


def can_have_cluster(service: Service) -> bool:
    """Whether the database is one that a cluster can be in."""
    return is_postgresql(service.store.database)


def cluster_status(service: Service) -> ClusterStatus | None:
    """The cluster in the service's database, if there is one. Raises StoreError."""
    if not can_have_cluster(service):
        return None
    with _making:
        if service.cluster is None:
            service.cluster = ClusterWatch(service.store.database, service.clock)
    return service.cluster.look()


def cluster_status_or_none(service: Service) -> ClusterStatus | None:
    """The same for a page that is about more: what cannot be seen is left out, and the log says why."""
    try:
        return cluster_status(service)
    except StoreError as error:
        service.log.write("warning", str(error))
        return None
