"""How much a crawl may do: pages, depth, time. Who counts is the store; who stops is the engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits a person set."""

    limit: int = 0
    """Pages in all; 0 is no limit."""
    max_depth: int | None = None
    max_time: float | None = None
    """Seconds."""

    def room(self, counted: int, in_flight: int, wanted: int) -> int:
        """How many of the `wanted` requests may be leased, so that even if all in flight count the limit is exact."""
        if self.limit == 0:
            return wanted
        return max(0, min(wanted, self.limit - counted - in_flight))

    @staticmethod
    def fair_share(queued: int, workers: int) -> int:
        """A worker's part of what is queued: while that is little, none shall idle because another took it all."""
        return -(-queued // max(1, workers))

    def time_left(self, started: float, now: float) -> float | None:
        """Seconds until time is up, never negative; None when there is no such limit."""
        return None if self.max_time is None else max(0.0, self.max_time - (now - started))


QUEUE_DIVISOR = 10
"""One host may have this part of the places in the queue: a host with a million pages leaves room for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadthLimits:
    """Each 0 is no bound."""

    pages_per_host: int = 0
    """Requests for pages of one host in a run; robots.txt and the parts of pages do not count."""
    hosts_per_domain: int = 0
    """Hosts of one registrable domain whose pages are asked for."""
    queued: int = 0
    """URLs that wait at a time."""

    def __bool__(self) -> bool:
        return bool(self.pages_per_host or self.hosts_per_domain or self.queued)

    def room_at_host(self, asked: int, leased: int, wanted: int) -> int:
        """How many of the wanted pages of a host may be leased, so that even if all in flight count the bound is exact."""
        if not self.pages_per_host:
            return wanted
        return max(0, min(wanted, self.pages_per_host - asked - leased))

    def is_spent(self, asked: int) -> bool:
        """Whether a host was asked as often as it may be."""
        return 0 < self.pages_per_host <= asked

    @property
    def queued_per_host(self) -> int:
        """URLs of one host that wait at a time."""
        return max(1, self.queued // QUEUE_DIVISOR) if self.queued else 0
