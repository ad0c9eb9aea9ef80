"""The limits of a crawl: pages, depth and time, and for crawls of many hosts pages per host, hosts per domain and queued URLs.

The store counts, in the transaction that writes, so that any number of workers together stay within the limits. The engine stops.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits that the user set."""

    limit: int = 0
    """Maximum pages in total; 0 means no limit."""
    max_depth: int | None = None
    max_time: float | None = None
    """Seconds."""

    def leasable(self, counted: int, in_flight: int, wanted: int) -> int:
        """How many of the `wanted` requests may be leased, so that the limit is exact even if all requests in flight count."""
        if self.limit == 0:
            return wanted
        return max(0, min(wanted, self.limit - counted - in_flight))

    @staticmethod
    def fair_share(queued: int, workers: int) -> int:
        """The share of the queue for one worker, so that none is idle because another took everything."""
        return -(-queued // max(1, workers))

    def time_left(self, started: float, now: float) -> float | None:
        """Seconds until the time limit, never negative; None when there is no limit."""
        return None if self.max_time is None else max(0.0, self.max_time - (now - started))


QUEUE_DIVISOR = 10
"""One host may fill at most one tenth of the queue, so that a host with a million pages leaves space for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadthLimits:
    """Limits of a crawl of many hosts. 0 means no limit."""

    pages_per_host: int = 0
    """Maximum page requests to one host in a run; robots.txt and resources do not count."""
    hosts_per_domain: int = 0
    """Maximum hosts of one registrable domain."""
    queued: int = 0
    """Maximum queued URLs."""

    def __bool__(self) -> bool:
        return bool(self.pages_per_host or self.hosts_per_domain or self.queued)

    def leasable_at_host(self, requested: int, leased: int, wanted: int) -> int:
        """How many of the wanted pages of a host may be leased, so that the limit is exact even if all in flight count."""
        if not self.pages_per_host:
            return wanted
        return max(0, min(wanted, self.pages_per_host - requested - leased))

    def is_spent(self, requested: int) -> bool:
        """Whether the pages of a host have reached the limit."""
        return 0 < self.pages_per_host <= requested

    @property
    def queued_per_host(self) -> int:
        """Maximum queued URLs of one host."""
        return max(1, self.queued // QUEUE_DIVISOR) if self.queued else 0
