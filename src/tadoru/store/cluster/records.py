"""The status of a cluster, as the command, the page and the API show it. Needs no database driver."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from tadoru.store.crawl.browse import PublishedRecord


@dataclass(frozen=True, slots=True)
class WorkerStatus(PublishedRecord, published="ClusterWorker"):
    """A worker, as last reported."""

    name: str
    machine: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    hosts: int
    """Hosts it is crawling now."""
    pages: int
    """Pages since its start."""
    rate: float
    """Pages per second: recently, or since its start where only that is known; 0 if it is gone."""


@dataclass(frozen=True, slots=True)
class ClusterCrawlStatus(PublishedRecord, published="ClusterCrawl"):
    """A crawl of the cluster."""

    name: str
    job: str
    state: str
    """open, stopped, done or failed."""
    error: str
    """Reason of the failure."""
    added_at: datetime
    ended_at: datetime | None
    has_data: bool
    """False before its first result, or after its data was dropped."""
    done: int = 0
    queued: int = 0
    in_flight: int = 0
    errors: int = 0
    hosts_waiting: int = 0
    """Hosts with queued URLs; of an open crawl."""


@dataclass(frozen=True, slots=True)
class QueueStatus(PublishedRecord, published="ClusterQueue"):
    """The tasks by state."""

    waiting: int
    again: int
    """Failed and waiting for a retry."""
    running: int
    stalled: int
    """Started by a worker that is gone; others take them over."""
    failed: int
    """Failed permanently."""


@dataclass(frozen=True, slots=True)
class HostStatus(PublishedRecord, published="ClusterHost"):
    """A slow or failing host."""

    name: str
    crawl: str
    trouble: str
    """failed: a task failed; robots: no answer for its robots.txt, so that nothing is requested; slowed: it asked for it; or
    empty: configured to be slow."""
    queued: int | None
    gap: float | None
    """Seconds between two requests."""
    latency: float | None
    """Response time in seconds."""
    wait: float | None
    """Seconds until the next request."""
    attempts: int = 0
    """Failed tasks of this host."""


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """Workers, crawls, queue and hosts."""

    at: datetime
    """By the database's clock, as every other time here."""
    workers: tuple[WorkerStatus, ...]
    crawls: tuple[ClusterCrawlStatus, ...]
    """Those that are open first, then those that ended last."""
    queue: QueueStatus
    hosts: tuple[HostStatus, ...]
    """The worst first."""

    @property
    def alive(self) -> int:
        return sum(worker.is_alive for worker in self.workers)

    @property
    def rate(self) -> float:
        """Pages a second of all workers together."""
        return round(sum(worker.rate for worker in self.workers), 3)

    def document(self) -> dict[str, Any]:
        """As JSON says it; times stay times."""
        return asdict(self) | {"alive": self.alive, "rate": self.rate}
