"""What every route works with: the database, the options, the clock and the log. Made by the command, or by a test."""

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
    """How sources are collected when somebody starts a run here."""
    clock: Clock = field(default_factory=SystemClock)
    log: Log = field(default_factory=lambda: Log(sys.stderr, SystemClock()))
    crawl_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the operator's configuration says of crawls, by job (`jobs.service_crawl.OPERATORS`)."""
    crawling: Dispatcher | None = None
    """Runs crawls, where the application does (`serve.crawl_runner`)."""
    collecting: SourceCollector | None = None
    """Collections that were started here; made with the first (`rest.running`)."""
    cluster: ClusterWatch | None = None
    """Looks at the cluster in the same database; made with the first look (`cluster_watch`)."""
    limits_table: str | None = None
    """Where the processes of one service count requests together (`access.shared_buckets`)."""
    at_end: list[Callable[[], None]] = field(default_factory=list)
    """Called when the service ends, before its database is closed."""

    def close(self) -> None:
        for call in self.at_end:
            call()
        self.store.close()


def service_of(request: Request) -> Service:
    """The service that a request is for; a FastAPI dependency."""
    service: Service = request.app.state.service
    return service


def request_origin(request: Request) -> str:
    """The address of the service as the world sees it, without a slash at its end: for links in feeds and pages."""
    configured = service_of(request).options.base_url
    return (configured or str(request.base_url)).rstrip("/")
