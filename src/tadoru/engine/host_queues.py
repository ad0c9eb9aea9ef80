"""Lanes: one queue of leased URLs for each host this process is asking, and which of them may send next.

A queue with a gap sends one request at a time, when its store slot is free; a queue without one sends as many as there is room for.
All times here are the monotonic clock's: they are compared within one process only.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable

from tadoru.rules.pace import Pace
from tadoru.store.crawl.interface import HostState, Lease

HOST_BATCH = 16
"""Hosts that come, and go, at a time."""


class HostQueue:
    """One host, as this process sees it."""

    __slots__ = (
        "started",
        "due",
        "host",
        "idle_since",
        "in_flight",
        "leaving",
        "pace",
        "leases",
        "scheduled",
        "sending",
        "opened_at",
        "throttled_at",
    )

    def __init__(self, host: str, opened_at: float = 0.0) -> None:
        self.host = host
        self.opened_at = opened_at
        """When it got its place."""
        self.started = 0
        """Requests since then."""
        self.leaving = False
        """It had its turn: it takes nothing more, and goes when what is in flight is written."""
        self.leases: deque[Lease] = deque()
        self.pace: Pace | None = None
        self.due = 0.0
        self.in_flight = 0
        self.sending: Lease | None = None
        """The request of a paced queue that has its turn and is not sent yet."""
        self.throttled_at = 0.0
        """When the host last asked for patience."""
        self.scheduled = False
        self.idle_since = 0.0

    @property
    def is_paced(self) -> bool:
        return self.pace is None or self.pace.gap > 0

    @property
    def is_empty(self) -> bool:
        return not self.leases and not self.in_flight


class HostQueues:
    """All queues, and the order in which they are due."""

    def __init__(self, capacity: int) -> None:
        self.by_host: dict[str, HostQueue] = {}
        self._capacity = capacity
        self._heap: list[tuple[float, int, HostQueue]] = []
        self._count = 0

    def take(self, leases: list[Lease], hosts: dict[str, HostState], now: float) -> None:
        """Put newly leased URLs into their queues."""
        for state in hosts.values():
            queue = self.by_host.get(state.host) or self.by_host.setdefault(state.host, HostQueue(state.host, now))
            queue.pace = state.pace
            queue.due = max(queue.due, now + state.wait) if state.wait and not queue.sending else queue.due
        for lease in leases:
            self.by_host[lease.host].leases.append(lease)
        for state in hosts.values():
            self.schedule(self.by_host[state.host])

    def schedule(self, queue: HostQueue) -> None:
        """Line a queue up, if it has something to send and is not lined up already."""
        if queue.leases and not queue.scheduled and not (queue.sending and queue.is_paced):
            queue.scheduled = True
            self._count += 1
            heapq.heappush(self._heap, (queue.due, self._count, queue))

    def pop_due(self, now: float) -> HostQueue | None:
        """The next queue that may send now, taken out of the line."""
        while self._heap and self._heap[0][0] <= now:
            queue = heapq.heappop(self._heap)[2]
            queue.scheduled = False
            if queue.due <= now and queue.leases:
                return queue
            self.schedule(queue)  # It was put off after it had lined up.
        return None

    def empty(self) -> None:
        """Forget every URL that waits: they are somebody else's now."""
        for queue in self.by_host.values():
            queue.leases.clear()

    def forget(self, host: str) -> None:
        """A host that is asked no more, and of which nothing is held."""
        self.by_host.pop(host, None)

    def next_due(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def wants(self, paced_depth: int, free_depth: int) -> dict[str, int]:
        """How many more URLs each queue would like to hold: none until it is half empty."""
        wanted = {}
        for host, queue in self.by_host.items():
            depth = paced_depth if queue.is_paced else free_depth
            room = depth - len(queue.leases)
            wanted[host] = room if room * 2 > depth and not queue.leaving else 0
        return wanted

    def free_places(self) -> int:
        return max(0, self._capacity - len(self.by_host))

    def expired(self, now: float, turn: float) -> list[HostQueue]:
        """When there is no room for other hosts: the queues that had theirs for long enough, the longest first, a few at a time.

        A queue that sent nothing did not have its turn, unless its host wants to be left alone.
        """
        if self.free_places():
            return []
        over = [
            queue
            for queue in self.by_host.values()
            if now - queue.opened_at >= turn and not queue.leaving and (queue.started or queue.due - now >= turn)
        ]
        return sorted(over, key=lambda queue: queue.opened_at)[:HOST_BATCH]

    def drop_idle(self, now: float, patience: float) -> None:
        """Forget queues that have had nothing to do for a while, so that other hosts find room: at once when there is none."""
        if len(self.by_host) < self._capacity // 2:
            return
        patience = patience if self.free_places() else 0.0
        for host, queue in list(self.by_host.items()):
            if not queue.is_empty:
                queue.idle_since = 0.0
            elif not queue.idle_since:
                queue.idle_since = now
            elif (now - queue.idle_since > patience or queue.leaving) and not queue.scheduled:
                del self.by_host[host]

    @property
    def waiting(self) -> int:
        return sum(len(queue.leases) for queue in self.by_host.values())


class HostAssignment:
    """The hosts of one process, as those who add and remove them see it, and as the loop does."""

    def __init__(self) -> None:
        self._hosts: dict[str, asyncio.Event] = {}
        """Each host with what tells that there is nothing left to ask it."""
        self._leaving: dict[str, asyncio.Event] = {}
        self._wake: Callable[[], None] = lambda: None

    def on_change(self, wake: Callable[[], None]) -> None:
        """Who is to be woken when a host joins or leaves."""
        self._wake = wake

    # ---- for those who decide
    def join(self, host: str) -> asyncio.Event:
        """May be asked from now on. The event is set when there is nothing to ask it for now, or the process ends."""
        self._hosts[host] = spent = asyncio.Event()
        self._wake()
        return spent

    async def leave(self, host: str) -> None:
        """Ask it no more; returns when what was in flight is written and the rest is given back."""
        if self._hosts.pop(host, None) is None:
            return
        self._leaving[host] = gone = asyncio.Event()
        self._wake()
        await gone.wait()

    # ---- for the loop
    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self._hosts)

    @property
    def leaving(self) -> frozenset[str]:
        return frozenset(self._leaving)

    def left(self, host: str) -> None:
        """Nothing of it is held any more."""
        if (gone := self._leaving.pop(host, None)) is not None:
            gone.set()

    def spent(self, host: str) -> None:
        """There is nothing to ask it for now."""
        if host in self._hosts:
            self._hosts[host].set()

    def close(self) -> None:
        """The process asks nobody any more."""
        for event in (*self._hosts.values(), *self._leaving.values()):
            event.set()
        self._hosts.clear()
        self._leaving.clear()
