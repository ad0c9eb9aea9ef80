"""Hosts, limits, singleton tasks, sitemaps and resources of a crawl in memory: the rules of the SQL modules without SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tadoru.clock import Clock
from tadoru.rules.budget import BreadthLimits
from tadoru.rules.pace import Pace
from tadoru.rules.scope import registrable_domain
from tadoru.store.crawl.queue_changes import AT_A_TIME
from tadoru.store.crawl.records import (
    FAILED_ROBOTS_AGE,
    HOST_SPENT,
    QUEUE_FULL,
    SHORTEST_WAIT,
    SUBDOMAINS,
    TRAPPED_HOST,
    HostState,
    PageStatus,
    ResourceLease,
    ResourceResult,
    ResourceUse,
    RobotsRecord,
    TrapRecord,
    UrlPurpose,
    Validators,
    longest_wait,
)
from tests.support.memory_store.pages import MemoryPage, MemoryPages


@dataclass(slots=True)
class MemoryHost:
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
    """Hosts and robots.txt answers of a crawl."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.known_hosts: dict[str, MemoryHost] = {}
        """In the order in which they became known."""
        self._robots: dict[str, tuple[RobotsRecord, float]] = {}
        """Answers, and when they were given."""
        self._claims: dict[str, tuple[int, float]] = {}
        """Who is asking, and until when that is believed."""

    def host(self, name: str) -> MemoryHost:
        """A host, made known when it is new."""
        found = self.known_hosts.get(name)
        if found is None:
            found = self.known_hosts[name] = MemoryHost(name, turn_at=self.clock.now())
        return found

    def free_slots(self, worker: int) -> None:
        """A worker is gone: its slots and claims are free. Its requests may have gone out just before."""
        now = self.clock.now()
        for host in self.known_hosts.values():
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
        held = self.known_hosts.get(host)
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


class MemoryLimits(MemoryHosts):
    """Hosts, and the limits of their pages."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._pages = MemoryPages()
        self.bounds = BreadthLimits()

    def bound(self, bounds: BreadthLimits) -> None:
        self.bounds = bounds

    async def take_up(self) -> int:
        for host in self.known_hosts.values():
            host.standing = host.standing or None
        for key, trap in self._pages.traps.items():
            if trap.why == SUBDOMAINS:
                self._pages.traps[key] = trap._replace(refused=0)
        spent = {host.name for host in self.known_hosts.values() if self.bounds.is_spent(host.asked)}
        reasons = (TRAPPED_HOST, QUEUE_FULL, HOST_SPENT)
        back = [page for page in self._skipped(*reasons) if page.reason != HOST_SPENT or page.host not in spent]
        return self._back(back)

    async def refill(self) -> int:
        room = self.bounds.queued - self._pages.tally[PageStatus.QUEUED]
        if room * 2 <= self.bounds.queued:
            return 0
        return self._back(sorted(self._skipped(QUEUE_FULL), key=_place)[: min(room, AT_A_TIME)])

    def _skipped(self, *reasons: str) -> Iterator[MemoryPage]:
        for page in self._pages.by_url.values():
            if page.status is PageStatus.SKIPPED and page.reason in reasons:
                yield page

    def _back(self, pages: list[MemoryPage]) -> int:
        for page in pages:
            page.reason = None
            self._pages.move(page, PageStatus.QUEUED)
        self.keep_within(self.known_hosts)
        return len(pages)

    def keep_within(self, names: Iterable[str]) -> None:
        """URLs were queued or answered at these hosts: skip what is too much."""
        if not self.bounds:
            return
        wanted = set(names)
        for name, host in self.known_hosts.items():
            if name in wanted and self._pages.queued[name] > 0:
                self._keep_host(host)
        over = self._pages.tally[PageStatus.QUEUED] - self.bounds.queued
        if self.bounds.queued and over > 0:
            self._skip(sorted(self._queued_pages(), key=_place)[-over:], QUEUE_FULL)

    def _keep_host(self, host: MemoryHost) -> None:
        waiting = sorted(self._queued_pages(host.name), key=_place)
        if self.bounds.hosts_per_domain and not self._stands(host):
            self._skip(waiting, TRAPPED_HOST)
            key = f"*.{registrable_domain(host.name)}"
            trap = self._pages.traps[key]
            self._pages.traps[key] = trap._replace(refused=trap.refused + len(waiting), example=f"https://{host.name}/")
        elif self.bounds.is_spent(host.asked):
            self._skip(waiting, HOST_SPENT)
        elif (over := self._pages.queued[host.name] - self.bounds.queued_per_host) > 0 and self.bounds.queued:
            self._skip(waiting[-over:], QUEUE_FULL)

    def _stands(self, host: MemoryHost) -> bool:
        if host.standing is None:
            key, example = f"*.{registrable_domain(host.name)}", f"https://{host.name}/"
            trap = self._pages.traps.get(key, TrapRecord(key, SUBDOMAINS, 0, 0, example))
            host.standing = trap.known < self.bounds.hosts_per_domain
            if host.standing:
                self._pages.traps[key] = trap._replace(known=trap.known + 1)
        return host.standing

    def _queued_pages(self, host: str | None = None) -> Iterator[MemoryPage]:
        for page in self._pages.by_url.values():
            if page.status is PageStatus.QUEUED and page.purpose is UrlPurpose.PAGE and host in (None, page.host):
                yield page

    def _skip(self, pages: list[MemoryPage], reason: str) -> None:
        for page in pages:
            page.reason = reason
            self._pages.move(page, PageStatus.SKIPPED)


def _place(page: MemoryPage) -> tuple[int, int]:
    return page.depth, page.number


@dataclass(slots=True)
class _Resource:
    number: int
    use: ResourceUse
    status: str
    owner: int | None = None
    not_before: float = 0.0
    retries: int = 0


class MemorySideWork:
    """Singleton tasks, sitemaps and resources."""

    clock: Clock

    def __init__(self) -> None:
        self._chores: dict[str, int | None] = {}
        self._done: set[str] = set()
        self._resources: dict[str, _Resource] = {}
        self._workers: dict[int, float] = {}
        """Until when each is believed to live."""

    async def claim_task(self, worker: int, name: str) -> bool:
        if worker not in self._workers or name in self._done or self._chores.setdefault(name, worker) not in (None, worker):
            return False
        self._chores[name] = worker
        return True

    async def finish_task(self, name: str) -> None:
        self._done.add(name)

    async def is_task_done(self, name: str) -> bool:
        return name in self._done

    async def validators(self, page_id: int) -> Validators:
        return Validators(None, None)

    def use_resources(self, uses: Sequence[ResourceUse]) -> None:
        for use in uses:
            status = "queued" if use.wanted else "discovered"
            self._resources.setdefault(use.url, _Resource(len(self._resources) + 1, use, status))

    async def lease_resources(self, worker: int, count: int, *, budget: int) -> list[ResourceLease]:
        room = min(count, budget - self._taken()) if worker in self._workers else 0
        waiting = [one for one in self._waiting() if one.not_before <= self.clock.now()][: max(0, room)]
        for one in waiting:
            one.status, one.owner = "processing", worker
        return [ResourceLease(one.number, one.use.url, one.use.host, one.retries) for one in waiting]

    async def finish_resources(self, worker: int, results: Sequence[ResourceResult]) -> None:
        by_number = {one.number: one for one in self._resources.values()}
        for result in results:
            one = by_number[result.resource_id]
            if one.owner != worker:
                continue
            one.owner = None
            if result.again_after is not None:
                one.status, one.retries, one.not_before = "queued", one.retries + 1, self.clock.now() + result.again_after
            else:
                one.status = result.status

    async def resources_wait(self, *, budget: int) -> float | None:
        if any(one.owner is not None for one in self._resources.values()):
            return 0.05
        waiting = self._waiting()
        if not waiting or self._taken() >= budget:
            return None
        return max(0.0, min(one.not_before for one in waiting) - self.clock.now())

    def drop_side_work(self, worker: int) -> None:
        """A worker is gone: what it had is free again."""
        for name, owner in self._chores.items():
            if owner == worker:
                self._chores[name] = None
        for one in self._resources.values():
            if one.owner == worker:
                one.status, one.owner = "queued", None

    def _taken(self) -> int:
        return sum(one.status not in ("queued", "discovered") for one in self._resources.values())

    def _waiting(self) -> list[_Resource]:
        return [one for one in self._resources.values() if one.status == "queued"]
