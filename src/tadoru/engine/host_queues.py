"""One queue of leased URLs for each host that this process crawls, the order in which the queues send, and which hosts those are.

A queue with a gap between requests sends one request at a time, when the host's slot in the store is free; a queue without a gap
sends as many as the concurrency allows. All times are of the monotonic clock and are compared within one process only.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable

from tadoru.rules.pace import Pace
from tadoru.store.crawl.interface import HostState, Lease

HOST_BATCH = 16
"""Hosts that are added or released at a time."""


class HostQueue:
    """The leased URLs of one host and its state in this process."""

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
        """When the queue was opened."""
        self.started = 0
        """Requests started since then."""
        self.leaving = False
        """Its turn is over: it takes no more leases, and is dropped when the requests in flight are written."""
        self.leases: deque[Lease] = deque()
        self.pace: Pace | None = None
        self.due = 0.0
        self.in_flight = 0
        self.sending: Lease | None = None
        """The request of a paced queue that has the slot and is not sent yet."""
        self.throttled_at = 0.0
        """When the host last answered 429 or 503."""
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

    def add(self, leases: list[Lease], hosts: dict[str, HostState], now: float) -> None:
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
        """Put a queue into the order of due queues, if it has something to send and is not there yet."""
        if queue.leases and not queue.scheduled and not (queue.sending and queue.is_paced):
            queue.scheduled = True
            self._count += 1
            heapq.heappush(self._heap, (queue.due, self._count, queue))

    def pop_due(self, now: float) -> HostQueue | None:
        """The next queue that may send now, removed from the order."""
        while self._heap and self._heap[0][0] <= now:
            queue = heapq.heappop(self._heap)[2]
            queue.scheduled = False
            if queue.due <= now and queue.leases:
                return queue
            self.schedule(queue)  # It was postponed after it was scheduled.
        return None

    def clear(self) -> None:
        """Forget all waiting leases: other workers own them now."""
        for queue in self.by_host.values():
            queue.leases.clear()

    def forget(self, host: str) -> None:
        """Drop the queue of a host of which nothing is held."""
        self.by_host.pop(host, None)

    def next_due(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def wants(self, paced_depth: int, free_depth: int) -> dict[str, int]:
        """How many more leases each queue can take: none until it is half empty."""
        wanted = {}
        for host, queue in self.by_host.items():
            depth = paced_depth if queue.is_paced else free_depth
            free = depth - len(queue.leases)
            wanted[host] = free if free * 2 > depth and not queue.leaving else 0
        return wanted

    def free_places(self) -> int:
        return max(0, self._capacity - len(self.by_host))

    def expired(self, now: float, turn: float) -> list[HostQueue]:
        """If no place is free for other hosts: the queues that were open for long enough, the longest first, a few at a time.

        A queue that sent nothing has not had its turn, unless its host is paused.
        """
        if self.free_places():
            return []
        over = [
            queue
            for queue in self.by_host.values()
            if now - queue.opened_at >= turn and not queue.leaving and (queue.started or queue.due - now >= turn)
        ]
        return sorted(over, key=lambda queue: queue.opened_at)[:HOST_BATCH]

    def drop_idle(self, now: float, seconds: float) -> None:
        """Drop queues that were idle for a while, so that other hosts get a place: immediately when no place is free."""
        if len(self.by_host) < self._capacity // 2:
            return
        seconds = seconds if self.free_places() else 0.0
        for host, queue in list(self.by_host.items()):
            if not queue.is_empty:
                queue.idle_since = 0.0
            elif not queue.idle_since:
                queue.idle_since = now
            elif (now - queue.idle_since > seconds or queue.leaving) and not queue.scheduled:
                del self.by_host[host]

    @property
    def waiting(self) -> int:
        return sum(len(queue.leases) for queue in self.by_host.values())


class HostAssignment:
    """The hosts that a cluster worker assigns to one process. Without an assignment a process takes any host."""

    def __init__(self) -> None:
        self._hosts: dict[str, asyncio.Event] = {}
        """Each host with the event that is set when it has nothing left to request."""
        self._releasing: dict[str, asyncio.Event] = {}
        self._wake: Callable[[], None] = lambda: None

    def on_change(self, wake: Callable[[], None]) -> None:
        """Call `wake` when a host is assigned or released."""
        self._wake = wake

    # ---- for the cluster worker
    def assign(self, host: str) -> asyncio.Event:
        """Crawl a host from now on. The event is set when the host is idle or the process ends."""
        self._hosts[host] = idle = asyncio.Event()
        self._wake()
        return idle

    async def release(self, host: str) -> None:
        """Stop crawling a host; returns when the requests in flight are written and the other leases are released."""
        if self._hosts.pop(host, None) is None:
            return
        self._releasing[host] = released = asyncio.Event()
        self._wake()
        await released.wait()

    # ---- for the crawl loop
    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self._hosts)

    @property
    def releasing(self) -> frozenset[str]:
        return frozenset(self._releasing)

    def mark_released(self, host: str) -> None:
        """No lease of the host is held any more."""
        if (released := self._releasing.pop(host, None)) is not None:
            released.set()

    def mark_idle(self, host: str) -> None:
        """Nothing of the host is waiting for now."""
        if host in self._hosts:
            self._hosts[host].set()

    def close(self) -> None:
        """Set all events: the process ends."""
        for event in (*self._hosts.values(), *self._releasing.values()):
            event.set()
        self._hosts.clear()
        self._releasing.clear()
