"""The context of every route: database, options, clock and log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi import Request

from tadoru.clock import Clock, SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.errors import StoreError
from tadoru.log import Log
from tadoru.store.calendar.database import is_postgresql
from tadoru.store.service import ServiceStore

if TYPE_CHECKING:
    from tadoru.serve.api.source_actions import SourceCollector
    from tadoru.serve.crawl_runner.dispatcher import Dispatcher
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


@dataclass(slots=True, kw_only=True)
class Service:
    """One service on one database."""

    store: ServiceStore
    options: ServeOptions = field(default_factory=ServeOptions)
    events: EventsOptions = field(default_factory=EventsOptions)
    """Options of the runs that are started in this service."""
    clock: Clock = field(default_factory=SystemClock)
    log: Log = field(default_factory=lambda: Log(sys.stderr, SystemClock()))
    crawl_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The operator's defaults for crawls, by job (`jobs.service_crawl.OPERATORS`)."""
    crawling: Dispatcher | None = None
    """Runs crawls, if the application does so (`serve.crawl_runner`)."""
    collecting: SourceCollector | None = None
    """Collections that were started here; made with the first (`serve.api.source_actions`)."""
    cluster: ClusterWatch | None = None
    """Looks at the cluster in the same database; made with the first look."""
    limits_table: str | None = None
    """Where the processes of one service count requests together (`serve.auth.rate_limits`)."""
    at_end: list[Callable[[], None]] = field(default_factory=list)
    """Called at shutdown, before the database is closed."""

    def close(self) -> None:
        for call in self.at_end:
            call()
        self.store.close()


def service_of(request: Request) -> Service:
    """The service of a request; a FastAPI dependency."""
    service: Service = request.app.state.service
    return service


def request_origin(request: Request) -> str:
    """The public base URL of the service without a trailing slash, for links in feeds and pages."""
    configured = service_of(request).options.base_url
    return (configured or str(request.base_url)).rstrip("/")
