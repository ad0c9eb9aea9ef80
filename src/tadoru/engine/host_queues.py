"""One queue of leased URLs for each host that this process crawls, the order in which the queues send, and which hosts those are.

A queue with a gap between requests sends one request at a time, when the host's slot in the store is free; a queue without a gap
sends immediately. Both have at most as many requests in flight as the window of their host allows (`rules.request_window`). All
times are of the monotonic clock and are compared within one process only.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from math import inf

from tadoru.model.web import Failure, FailureKind
from tadoru.rules import request_window
from tadoru.rules.pace import GIVE_UP_AFTER, MAX_SILENCE_HOLD, Pace
from tadoru.store.crawl.caches import BoundedCache
from tadoru.store.crawl.records import HostState, Lease

HOST_BATCH = 16
"""Hosts that are added or released at a time."""
SILENT_POLL = 0.25
"""Seconds after which a silent host looks again for one of the places that silent hosts may take."""
SILENCES = frozenset(
    {
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.RESPONSE_TIMEOUT,
        FailureKind.DOWNLOAD_TIMEOUT,
        FailureKind.NETWORK,
        FailureKind.REFUSED,
        FailureKind.PROXY,
    }
)
"""Failures with which a host, or the way to it, does not respond. The others say something about one page or one name."""


class HostHealth:
    """Whether the requests of this process to a host come back."""

    __slots__ = ("answered_at", "failure", "in_flight", "postponed", "postponed_until", "silent_since", "slowed_at", "window")

    def __init__(self) -> None:
        self.window = request_window.RequestWindow()
        self.in_flight = 0
        """Requests for pages or resources that are not answered."""
        self.answered_at = -inf
        """When the host last responded."""
        self.slowed_at = -inf
        """When the host was last slowed down: requests sent before say nothing new about it."""
        self.silent_since: float | None = None
        """When the first request was sent to which, and since which, nothing came back."""
        self.failure: Failure | None = None
        """The last failure of a silent host."""
        self.postponed: Failure | None = None
        """What checks of links to the host fail with, after it asked to wait for long."""
        self.postponed_until = -inf

    def is_silence(self, failure: Failure, began: float) -> bool:
        """Whether a request that failed shows that the host is silent: nothing came back since it began."""
        return failure.kind in SILENCES and began >= self.answered_at and began >= self.slowed_at

    def has_place(self, share: int, concurrency: int) -> bool:
        """Whether one more request to the host may start."""
        return self.in_flight < request_window.limit(self.window, share=share, concurrency=concurrency)

    def has_given_up(self, now: float) -> bool:
        """Whether URLs of the host fail without a request: it was silent for too long, and just now again."""
        if self.silent_since is None or self.window.silences < request_window.MAX_SILENCES:
            return False
        return self.slowed_at - self.silent_since >= GIVE_UP_AFTER and now - self.slowed_at < MAX_SILENCE_HOLD


class HostQueue:
    """The leased URLs of one host and its state in this process."""

    __slots__ = (
        "started",
        "due",
        "health",
        "host",
        "idle_since",
        "in_flight",
        "leaving",
        "pace",
        "leases",
        "scheduled",
        "sending",
        "opened_at",
    )

    def __init__(self, host: str, health: HostHealth, opened_at: float = 0.0) -> None:
        self.host = host
        self.health = health
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
        self.scheduled = False
        self.idle_since = 0.0

    @property
    def is_paced(self) -> bool:
        return self.pace is None or self.pace.gap > 0

    @property
    def is_empty(self) -> bool:
        return not self.leases and not self.in_flight


class HostQueues:
    """All queues, the order in which they are due, and the places that their requests take."""

    def __init__(self, capacity: int, concurrency: int) -> None:
        self.by_host: dict[str, HostQueue] = {}
        self.busy = 0
        """Requests started and not yet committed."""
        self.concurrency = concurrency
        self._capacity = capacity
        self._share = concurrency
        """The fair share of a host with work, as of the last look."""
        self._active = 0
        """How many hosts had work then."""
        self._health: BoundedCache[str, HostHealth] = BoundedCache(max(1_000, capacity * 2))
        self._silent: set[str] = set()
        """The hosts with a queue that do not respond."""
        self._heap: list[tuple[float, int, HostQueue]] = []
        self._count = 0

    def add(self, leases: list[Lease], hosts: dict[str, HostState], now: float) -> None:
        """Put newly leased URLs into their queues."""
        for state in hosts.values():
            queue = self.by_host.get(state.host)
            if queue is None:
                queue = self.by_host[state.host] = HostQueue(state.host, self.health(state.host), now)
                if queue.health.silent_since is not None:
                    self._silent.add(state.host)
            queue.pace = state.pace
            queue.due = max(queue.due, now + state.wait) if state.wait and not queue.sending else queue.due
        for lease in leases:
            queue = self.by_host[lease.host]
            self._active += queue.is_empty
            queue.leases.append(lease)
        self._share = request_window.fair_share(self.concurrency, self._active)
        for state in hosts.values():
            self.schedule(self.by_host[state.host])

    def schedule(self, queue: HostQueue) -> None:
        """Put a queue into the order of due queues, if it has something to send and is not there yet."""
        if queue.leases and not queue.scheduled and not (queue.sending and queue.is_paced) and self._has_place(queue):
            queue.scheduled = True
            self._count += 1
            heapq.heappush(self._heap, (queue.due, self._count, queue))

    def pop_due(self, now: float) -> HostQueue | None:
        """The next queue that may send now, removed from the order."""
        while self._heap and self._heap[0][0] <= now:
            queue = heapq.heappop(self._heap)[2]
            queue.scheduled = False
            if queue.host in self._silent and queue.due <= now and not self._has_silent_place():
                queue.due = now + SILENT_POLL
            if queue.due <= now and queue.leases and self._has_place(queue):
                return queue
            self.schedule(queue)  # It was postponed after it was scheduled, or has lost its place.
        return None

    def health(self, host: str) -> HostHealth:
        """What is known of a host that has a queue, or of any other."""
        queue = self.by_host.get(host)
        if queue is not None:
            return queue.health
        health = self._health.get(host)
        if health is None:
            health = self._health[host] = HostHealth()
        return health

    def _has_place(self, queue: HostQueue) -> bool:
        return queue.health.has_place(self._share, self.concurrency)

    def _has_silent_place(self) -> bool:
        """Whether one more request to a silent host may start: all of them together take at most half of the places."""
        taken = sum(self.by_host[host].in_flight for host in self._silent)
        return taken < max(1, self.concurrency // 2)

    def mark_answered(self, queue: HostQueue, now: float) -> None:
        """Something came back from a host."""
        health = queue.health
        health.answered_at = now
        health.silent_since = health.failure = None
        self._silent.discard(queue.host)
        free = self.concurrency - self.busy
        health.window = request_window.after_answer(health.window, in_flight=health.in_flight, share=self._share, free=free)

    def mark_silent(self, queue: HostQueue, failure: Failure, began: float, now: float) -> None:
        """A request failed and nothing else came back since it began."""
        health = queue.health
        health.window = request_window.after_silence(health.window)
        health.silent_since = began if health.silent_since is None else health.silent_since
        health.failure, health.slowed_at = failure, now
        if queue.host in self.by_host:
            self._silent.add(queue.host)

    def given_up(self, now: float) -> list[HostQueue]:
        """The queues whose leases fail without a request."""
        return [queue for host in self._silent if (queue := self.by_host[host]).health.has_given_up(now)]

    def clear(self) -> None:
        """Forget all waiting leases: other workers own them now."""
        for queue in self.by_host.values():
            queue.leases.clear()

    def forget(self, host: str) -> None:
        """Drop the queue of a host of which nothing is held."""
        self.by_host.pop(host, None)
        self._silent.discard(host)

    def next_due(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def wants(self, paced_depth: int, free_depth: int) -> dict[str, int]:
        """How many more leases each queue can take: none until it is half empty."""
        wanted = {}
        self._active = 0
        for host, queue in self.by_host.items():
            self._active += not queue.is_empty
            depth = paced_depth if queue.is_paced else free_depth
            free = depth - len(queue.leases)
            wanted[host] = free if free * 2 > depth and not queue.leaving else 0
        self._share = request_window.fair_share(self.concurrency, self._active)
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
                self.forget(host)

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
