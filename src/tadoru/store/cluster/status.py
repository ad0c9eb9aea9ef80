"""The status of a cluster at one moment, as the command, the page and the API show it. Needs no database driver."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class WorkerStatus(NamedTuple):
    """A worker, as it last reported."""

    name: str
    machine: str
    pid: int
    version: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    hosts: int
    """That it asks now."""
    pages: int
    """Since it started."""
    rate: float
    """Pages a second: lately, or since it started where that is all that is known. Nought of one that is gone."""


class ClusterCrawlStatus(NamedTuple):
    """A crawl of the cluster, running or finished."""

    name: str
    job: str
    state: str
    """`open`, `stopped`, `done` or `failed`."""
    error: str
    added_at: datetime
    ended_at: datetime | None
    has_data: bool
    """False when nothing was written for it yet, or its data was dropped."""
    done: int = 0
    queued: int = 0
    in_flight: int = 0
    errors: int = 0
    hosts_waiting: int = 0


class QueueStatus(NamedTuple):
    """The numbers of queued tasks by state."""

    waiting: int
    again: int
    """Failed, and waiting to be tried once more."""
    running: int
    stalled: int
    """Begun by a worker that is gone: others will take them."""
    failed: int
    """Given up."""


class HostStatus(NamedTuple):
    """A host that is slowed down or has a problem."""

    name: str
    crawl: str
    trouble: str
    """`failed`: a piece of work on it failed. `robots`: its robots.txt gives no answer, so that nothing is asked.
    `slowed`: it asked for patience. Empty: it is asked slowly because that is what was said."""
    queued: int | None
    gap: float | None
    """Seconds between two requests."""
    latency: float | None
    """Seconds that an answer takes."""
    wait: float | None
    """Seconds until it may be asked again."""
    attempts: int = 0
    """How often a piece of work on it failed."""


class ClusterStatus(NamedTuple):
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
        return {
            "at": self.at,
            "workers": [worker._asdict() for worker in self.workers],
            "crawls": [crawl._asdict() for crawl in self.crawls],
            "queue": self.queue._asdict(),
            "hosts": [host._asdict() for host in self.hosts],
            "alive": self.alive,
            "rate": self.rate,
        }
