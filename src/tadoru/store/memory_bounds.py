"""Bounds in memory: the same rules as `bounding`, told without SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tadoru.clock import Clock
from tadoru.rules.bounds import Bounds
from tadoru.rules.scope import domain_of
from tadoru.store.base import HOST_SPENT, QUEUE_FULL, SUBDOMAINS, TRAPPED_HOST, PageStatus, Purpose, TrapRecord
from tadoru.store.bounding import AT_A_TIME
from tadoru.store.memory_hosts import Host, MemoryHosts
from tadoru.store.memory_pages import Page, Pages


class MemoryBounds(MemoryHosts):
    """Hosts, and what keeps their pages within bounds."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._pages = Pages()
        self.bounds = Bounds()

    def bound(self, bounds: Bounds) -> None:
        self.bounds = bounds

    async def take_up(self) -> int:
        for host in self.hosts.values():
            host.standing = host.standing or None
        for key, trap in self._pages.traps.items():
            if trap.why == SUBDOMAINS:
                self._pages.traps[key] = trap._replace(refused=0)
        spent = {host.name for host in self.hosts.values() if self.bounds.is_spent(host.asked)}
        reasons = (TRAPPED_HOST, QUEUE_FULL, HOST_SPENT)
        back = [page for page in self._skipped(*reasons) if page.reason != HOST_SPENT or page.host not in spent]
        return self._back(back)

    async def refill(self) -> int:
        room = self.bounds.queued - self._pages.tally[PageStatus.QUEUED]
        if room * 2 <= self.bounds.queued:
            return 0
        return self._back(sorted(self._skipped(QUEUE_FULL), key=_place)[: min(room, AT_A_TIME)])

    def _skipped(self, *reasons: str) -> Iterator[Page]:
        for page in self._pages.by_url.values():
            if page.status is PageStatus.SKIPPED and page.reason in reasons:
                yield page

    def _back(self, pages: list[Page]) -> int:
        for page in pages:
            page.reason = None
            self._pages.move(page, PageStatus.QUEUED)
        self.keep_within(self.hosts)
        return len(pages)

    def keep_within(self, names: Iterable[str]) -> None:
        """URLs were queued or answered at these hosts: skip what is too much."""
        if not self.bounds:
            return
        wanted = set(names)
        for name, host in self.hosts.items():
            if name in wanted and self._pages.queued[name] > 0:
                self._keep_host(host)
        over = self._pages.tally[PageStatus.QUEUED] - self.bounds.queued
        if self.bounds.queued and over > 0:
            self._skip(sorted(self._queued_pages(), key=_place)[-over:], QUEUE_FULL)

    def _keep_host(self, host: Host) -> None:
        waiting = sorted(self._queued_pages(host.name), key=_place)
        if self.bounds.hosts_per_domain and not self._stands(host):
            self._skip(waiting, TRAPPED_HOST)
            key = f"*.{domain_of(host.name)}"
            trap = self._pages.traps[key]
            self._pages.traps[key] = trap._replace(refused=trap.refused + len(waiting), example=f"https://{host.name}/")
        elif self.bounds.is_spent(host.asked):
            self._skip(waiting, HOST_SPENT)
        elif (over := self._pages.queued[host.name] - self.bounds.queued_per_host) > 0 and self.bounds.queued:
            self._skip(waiting[-over:], QUEUE_FULL)

    def _stands(self, host: Host) -> bool:
        if host.standing is None:
            key, example = f"*.{domain_of(host.name)}", f"https://{host.name}/"
            trap = self._pages.traps.get(key, TrapRecord(key, SUBDOMAINS, 0, 0, example))
            host.standing = trap.known < self.bounds.hosts_per_domain
            if host.standing:
                self._pages.traps[key] = trap._replace(known=trap.known + 1)
        return host.standing

    def _queued_pages(self, host: str | None = None) -> Iterator[Page]:
        for page in self._pages.by_url.values():
            if page.status is PageStatus.QUEUED and page.purpose is Purpose.PAGE and host in (None, page.host):
                yield page

    def _skip(self, pages: list[Page], reason: str) -> None:
        for page in pages:
            page.reason = reason
            self._pages.move(page, PageStatus.SKIPPED)


def _place(page: Page) -> tuple[int, int]:
    return page.depth, page.number
