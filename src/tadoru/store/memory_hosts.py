"""The politeness half of the store in memory: paces, slots, robots answers. The same rules as `hosts`, told without SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tadoru.clock import Clock
from tadoru.rules.pace import Pace
from tadoru.store.base import FAILED_ROBOTS_AGE, SHORTEST_WAIT, HostState, RobotsRecord, longest_wait


@dataclass(slots=True)
class Host:
    """One host."""

    name: str
    pace: Pace | None = None
    next_at: float = 0.0
    slot_owner: int | None = None
    slot_until: float = 0.0
    asked: int = 0
    leased: int = 0
    turn_at: float = 0.0
    standing: bool | None = None

    @property
    def gap(self) -> float:
        return 0.0 if self.pace is None else self.pace.gap

    def state(self, now: float) -> HostState:
        return HostState(self.name, self.pace, min(max(0.0, self.next_at - now), longest_wait(self.gap)))


class MemoryHosts:
    """Hosts and robots of a crawl."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.hosts: dict[str, Host] = {}
        """In the order in which they became known."""
        self._robots: dict[str, tuple[RobotsRecord, float]] = {}
        """Answers, and when they were given."""
        self._claims: dict[str, tuple[int, float]] = {}
        """Who is asking, and until when that is believed."""

    def host(self, name: str) -> Host:
        """A host, made known when it is new."""
        found = self.hosts.get(name)
        if found is None:
            found = self.hosts[name] = Host(name, turn_at=self.clock.now())
        return found

    def free_slots(self, worker: int) -> None:
        """A worker is gone: its slots and claims are free. Its requests may have gone out just before."""
        now = self.clock.now()
        for host in self.hosts.values():
            if host.slot_owner == worker:
                host.slot_owner, host.next_at = None, max(host.next_at, now + host.gap)
        self._claims = {origin: claim for origin, claim in self._claims.items() if claim[0] != worker}

    async def take_slot(self, worker: int, host: str, hold: float) -> float:
        held, now = self.host(host), self.clock.now()
        wait = held.next_at - now
        if wait > longest_wait(held.gap):
            wait, held.next_at = held.gap, now + held.gap
        if held.slot_owner is not None and held.slot_until > now:
            return max(wait, SHORTEST_WAIT, min(held.slot_until - now, held.gap / 4))
        if wait > 0:
            return wait
        held.slot_owner, held.slot_until = worker, now + hold
        return 0.0

    async def sent(self, worker: int, host: str) -> None:
        held = self.hosts.get(host)
        if held is not None:
            held.next_at = max(held.next_at, self.clock.now() + held.gap)
            held.slot_owner = None if held.slot_owner == worker else held.slot_owner

    async def begin_pace(self, host: str, pace: Pace) -> Pace:
        held = self.host(host)
        if held.pace is None:
            held.pace = replace(pace, latency=None, baseline=None, strikes=0)
        elif held.pace.base < pace.base:
            held.pace = replace(held.pace, gap=max(held.gap, pace.gap), base=pace.base)
        return held.pace

    async def set_pace(self, host: str, pace: Pace, pause: float = 0.0) -> None:
        held = self.host(host)
        base = 0.0 if held.pace is None else held.pace.base
        held.pace = replace(pace, gap=max(pace.gap, base), base=max(pace.base, base))
        if pause > 0:
            held.next_at = max(held.next_at, self.clock.now() + pause)

    async def claim_robots(self, worker: int, origin: str, *, hold: float, max_age: float) -> RobotsRecord | bool:
        now = self.clock.now()
        if origin in self._robots:
            record, at = self._robots[origin]
            if now - at <= (max_age if record.is_settled else min(max_age, FAILED_ROBOTS_AGE)):
                return record._replace(age=now - at)
            del self._robots[origin]
        elif origin in self._claims and self._claims[origin][1] > now:
            return False
        self._claims[origin] = (worker, now + hold)
        return True

    async def forget_failed_robots(self) -> None:
        self._robots = {origin: held for origin, held in self._robots.items() if held[0].is_settled}

    async def put_robots(self, origin: str, record: RobotsRecord) -> None:
        self._robots[origin] = (record, self.clock.now() - record.age)
        self._claims.pop(origin, None)
