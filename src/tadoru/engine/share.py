"""What the parts of one process's share of a crawl have in common: who they work for, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.engine.gate import Gate
from tadoru.engine.job import Job, Policy
from tadoru.engine.notices import Notify
from tadoru.fetch.base import Fetcher, Renderer
from tadoru.store.base import CrawlStore


@dataclass(slots=True, kw_only=True)
class Share:
    """One process's share."""

    job: Job
    policy: Policy
    store: CrawlStore
    fetcher: Fetcher
    clock: Clock
    notify: Notify
    gate: Gate
    renderer: Renderer | None = None
    worker: int = 0
    """Its number in the store; another one after it was declared dead."""
    stopping: bool = False
