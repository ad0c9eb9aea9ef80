"""What the parts of a crawl share in one process. A module of its own, because five modules of the engine need it."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.engine.job import CrawlJob, CrawlPolicy
from tadoru.engine.notifications import Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.fetch.base import Fetcher, Renderer
from tadoru.store.crawl.interface import CrawlStore


@dataclass(slots=True, kw_only=True)
class CrawlContext:
    """The job, policy and resources of a crawl in one process."""

    job: CrawlJob
    policy: CrawlPolicy
    store: CrawlStore
    fetcher: Fetcher
    clock: Clock
    notify: Notify
    url_filter: UrlFilter
    renderer: Renderer | None = None
    worker: int = 0
    """The number of this worker in the store; it changes when the worker was declared dead and joins again."""
    stopping: bool = False
