"""What the parts of one process's share of a crawl have in common: who they work for, and with what."""

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
    """One process's share."""

    job: CrawlJob
    policy: CrawlPolicy
    store: CrawlStore
    fetcher: Fetcher
    clock: Clock
    notify: Notify
    url_filter: UrlFilter
    renderer: Renderer | None = None
    worker: int = 0
    """Its number in the store; another one after it was declared dead."""
    stopping: bool = False
