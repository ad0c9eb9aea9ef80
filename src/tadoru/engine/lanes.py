"""Lanes: one queue of leased URLs for each host this process is asking, and which of them may send next.

A lane with a gap sends one request at a time, when its store slot is free; a lane without one sends as many as there is room for.
All times here are the monotonic clock's: they are compared within one process only.
"""

from __future__ import annotations

import heapq
from collections import deque

from tadoru.rules.pace import Pace
from tadoru.store.base import HostState, Lease

AT_ONCE = 16
"""Hosts that come, and go, at a time."""


class Lane:
    """One host, as this process sees it."""

    __slots__ = (
        "begun",
        "due",
        "host",
        "idle_since",
        "in_flight",
        "leaving",
        "pace",
        "queue",
        "scheduled",
        "sending",
        "since",
        "struck_at",
    )

    def __init__(self, host: str, since: float = 0.0) -> None:
        self.host = host
        self.since = since
        """When it got its place."""
        self.begun = 0
        """Requests since then."""
        self.leaving = False
        """It had its turn: it takes nothing more, and goes when what is in flight is written."""
        self.queue: deque[Lease] = deque()
        self.pace: Pace | None = None
        self.due = 0.0
        self.in_flight = 0
        self.sending: Lease | None = None
        """The request of a paced lane that has its turn and is not sent yet."""
        self.struck_at = 0.0
        """When the host last asked for patience."""
        self.scheduled = False
        self.idle_since = 0.0

    @property
    def is_paced(self) -> bool:
        return self.pace is None or self.pace.gap > 0

    @property
    def is_empty(self) -> bool:
        return not self.queue and not self.in_flight


class Lanes:
    """All lanes, and the order in which they are due."""

    def __init__(self, capacity: int) -> None:
        self.by_host: dict[str, Lane] = {}
        self._capacity = capacity
        self._heap: list[tuple[float, int, Lane]] = []
        self._count = 0

    def take(self, leases: list[Lease], hosts: dict[str, HostState], now: float) -> None:
        """Put newly leased URLs into their lanes."""
        for state in hosts.values():
            lane = self.by_host.get(state.host) or self.by_host.setdefault(state.host, Lane(state.host, now))
            lane.pace = state.pace
            lane.due = max(lane.due, now + state.wait) if state.wait and not lane.sending else lane.due
        for lease in leases:
            self.by_host[lease.host].queue.append(lease)
        for state in hosts.values():
            self.schedule(self.by_host[state.host])

    def schedule(self, lane: Lane) -> None:
        """Line a lane up, if it has something to send and is not lined up already."""
        if lane.queue and not lane.scheduled and not (lane.sending and lane.is_paced):
            lane.scheduled = True
            self._count += 1
            heapq.heappush(self._heap, (lane.due, self._count, lane))

    def pop_due(self, now: float) -> Lane | None:
        """The next lane that may send now, taken out of the line."""
        while self._heap and self._heap[0][0] <= now:
            lane = heapq.heappop(self._heap)[2]
            lane.scheduled = False
            if lane.due <= now and lane.queue:
                return lane
            self.schedule(lane)  # It was put off after it had lined up.
        return None

    def empty(self) -> None:
        """Forget every URL that waits: they are somebody else's now."""
        for lane in self.by_host.values():
            lane.queue.clear()

    def forget(self, host: str) -> None:
        """A host that is asked no more, and of which nothing is held."""
        self.by_host.pop(host, None)

    def next_due(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def wants(self, paced_depth: int, free_depth: int) -> dict[str, int]:
        """How many more URLs each lane would like to hold: none until it is half empty."""
        wanted = {}
        for host, lane in self.by_host.items():
            depth = paced_depth if lane.is_paced else free_depth
            room = depth - len(lane.queue)
            wanted[host] = room if room * 2 > depth and not lane.leaving else 0
        return wanted

    def room_for_hosts(self) -> int:
        return max(0, self._capacity - len(self.by_host))

    def past_their_turn(self, now: float, turn: float) -> list[Lane]:
        """When there is no room for other hosts: the lanes that had theirs for long enough, the longest first, a few at a time.

        A lane that sent nothing did not have its turn, unless its host wants to be left alone.
        """
        if self.room_for_hosts():
            return []
        over = [
            lane
            for lane in self.by_host.values()
            if now - lane.since >= turn and not lane.leaving and (lane.begun or lane.due - now >= turn)
        ]
        return sorted(over, key=lambda lane: lane.since)[:AT_ONCE]

    def drop_idle(self, now: float, patience: float) -> None:
        """Forget lanes that have had nothing to do for a while, so that other hosts find room: at once when there is none."""
        if len(self.by_host) < self._capacity // 2:
            return
        patience = patience if self.room_for_hosts() else 0.0
        for host, lane in list(self.by_host.items()):
            if not lane.is_empty:
                lane.idle_since = 0.0
            elif not lane.idle_since:
                lane.idle_since = now
            elif (now - lane.idle_since > patience or lane.leaving) and not lane.scheduled:
                del self.by_host[host]

    @property
    def waiting(self) -> int:
        return sum(len(lane.queue) for lane in self.by_host.values())
