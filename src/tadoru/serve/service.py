"""The context of every route: database, options, clock and log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi import Request

from tadoru.clock import Clock, SystemClock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.log import Log
from tadoru.store.service import ServiceStore

if TYPE_CHECKING:
    from tadoru.serve.api.source_actions import SourceCollector
    from tadoru.serve.cluster_watch import ClusterWatch
    from tadoru.serve.crawl_runner.dispatcher import Dispatcher


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
    """Looks at the cluster in the same database; made with the first look (`cluster_watch`)."""
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
