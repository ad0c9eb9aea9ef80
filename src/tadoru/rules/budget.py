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
