"""The pages of a crawl in memory: known URLs, their states, and their depths.

The same rules as `page_writer` without SQL: simple enough to explain them, and the oracle of the contract's differential test.
Leases and time are in `memory`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tadoru.model.web import Link
from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.records import TOO_DEEP, LinkTarget, PageFacts, PageStatus, TrapRecord, UrlPurpose
from tadoru.store.crawl.rescope import stands_elsewhere

QUEUED, SKIPPED = PageStatus.QUEUED, PageStatus.SKIPPED


@dataclass(slots=True, kw_only=True)
class MemoryPage:
    """One URL."""

    number: int
    url: str
    host: str
    status: PageStatus
    depth: int
    purpose: UrlPurpose
    internal: bool
    seed: bool
    hops: int
    parent: MemoryPage | None
    reason: str | None
    added: float
    redirect: MemoryPage | None = None
    owner: int | None = None
    not_before: float = 0.0
    retries: int = 0
    crawled: float | None = None
    facts: PageFacts | None = None
    error: tuple[str | None, str | None] = (None, None)
    links: dict[int, tuple[MemoryPage, Link]] = field(default_factory=dict)
    """By position."""
    anchors: frozenset[str] | None = None

    def forget(self) -> None:
        """It may have been requested before: what was kept of it then goes."""
        self.crawled = self.facts = self.anchors = None
        self.links.clear()


class MemoryPages:
    """Every known URL, with the frontier of each host and the counters."""

    def __init__(self) -> None:
        self.by_url: dict[str, MemoryPage] = {}
        self.by_number: dict[int, MemoryPage] = {}
        self.tally: Counter[str] = Counter()
        self.traps: dict[str, TrapRecord] = {}
        self._frontier: dict[str, list[tuple[int, int]]] = {}
        """By host a heap of (depth, number). Entries that no longer hold are skipped when they come up."""
        self.queued: Counter[str] = Counter()
        """By host."""

    def move(self, page: MemoryPage, status: PageStatus) -> None:
        """Give a page its new status; the only way a status changes."""
        self.tally[page.status] -= 1
        self.tally[status] += 1
        if status is QUEUED and page.status is not QUEUED:
            heappush(self._frontier.setdefault(page.host, []), (page.depth, page.number))
        self.queued[page.host] += (status is QUEUED) - (page.status is QUEUED)
        page.status = status

    def take(self, host: str, number: int, now: float) -> Iterator[MemoryPage]:
        """Up to so many queued pages of a host that may be asked for now, shallowest first, out of the frontier."""
        heap, waiting = self._frontier.get(host, []), []
        last = None
        while heap and number > 0:
            entry = heappop(heap)
            page = self.by_number[entry[1]]
            # A page that left the queue and came back is there twice, one after the other.
            if page.status is not QUEUED or page.depth != entry[0] or entry == last:
                continue
            last = entry
            if page.not_before > now:
                waiting.append(entry)
                continue
            number -= 1
            yield page
        for entry in waiting:
            heappush(heap, entry)

    def has_due(self, host: str, now: float) -> bool:
        """Whether a host has a queued page that may be asked for now."""
        due = (self.by_number[number] for _, number in self._frontier.get(host, []))
        return any(page.status is QUEUED and page.not_before <= now for page in due)

    def know(
        self,
        target: LinkTarget,
        depth: int,
        parent: MemoryPage | None,
        *,
        now: float,
        max_depth: int | None,
        hops: int = 0,
        seed: bool = False,
    ) -> MemoryPage:
        """A URL's page, made known when it is new, brought closer when this way to it is shorter."""
        page = self.by_url.get(target.url)
        if page is None:
            return self._insert(target, depth, parent, now, max_depth, hops, seed)
        if seed:
            self._promote(page, target, hops)
        if depth < page.depth:
            self._lower(page, depth, parent, max_depth)
        return page

    def _insert(
        self, target: LinkTarget, depth: int, parent: MemoryPage | None, now: float, max_depth: int | None, hops: int, seed: bool
    ) -> MemoryPage:
        status, reason = self._admit(target, depth, max_depth, seed)
        page = MemoryPage(
            number=len(self.by_number) + 1,
            url=target.url,
            host=target.host,
            status=PageStatus.DISCOVERED,
            depth=depth,
            purpose=target.purpose,
            internal=target.internal,
            seed=seed,
            hops=hops,
            parent=parent,
            reason=reason or None,
            added=now,
        )
        self.by_url[page.url] = self.by_number[page.number] = page
        self.tally[page.status] += 1
        self.move(page, status)
        return page

    def _admit(self, target: LinkTarget, depth: int, max_depth: int | None, seed: bool) -> tuple[PageStatus, str]:
        if target.status is QUEUED:
            if max_depth is not None and depth > max_depth and target.purpose is UrlPurpose.PAGE:
                return SKIPPED, TOO_DEEP
            if target.trap is not None and not seed and not self._within_trap(target.url, target.trap):
                return SKIPPED, f"trap: {target.trap.why}"
        return target.status, target.reason

    def _within_trap(self, url: str, trap: TrapPattern) -> bool:
        record = self.traps.get(trap.key, TrapRecord(trap.key, trap.why, 0, 0, url))
        within = record.known < trap.cap
        refused, example = (record.refused, record.example) if within else (record.refused + 1, url)
        self.traps[trap.key] = TrapRecord(trap.key, record.why, record.known + 1, refused, example)
        return within and (trap.outer is None or self._within_trap(url, trap.outer))

    def _promote(self, page: MemoryPage, target: LinkTarget, hops: int) -> None:
        if hops == 0 or not page.seed:
            page.hops = hops
        if hops == 0:
            page.parent = None
        page.seed = True
        if target.status is QUEUED and page.status in (PageStatus.DISCOVERED, SKIPPED, QUEUED):
            page.purpose, page.internal, page.reason = UrlPurpose.PAGE, True, None
            self.move(page, QUEUED)
        elif target.status is QUEUED and page.status is PageStatus.ERROR and hops == 0:
            page.retries, page.not_before = 0, 0.0
            self.move(page, QUEUED)
            self.tally["counted"] -= 1

    def _lower(self, page: MemoryPage, depth: int, parent: MemoryPage | None, max_depth: int | None) -> None:
        """Bring a page closer, and all that it leads to, as far as that shortens anything."""
        work: deque[tuple[MemoryPage, int, MemoryPage | None]] = deque([(page, depth, parent)])
        while work:
            page, near, source = work.popleft()
            if page.depth <= near:
                continue
            page.depth, page.parent = near, source
            if page.status is QUEUED:
                heappush(self._frontier[page.host], (near, page.number))
            elif page.status is SKIPPED and page.reason == TOO_DEEP and (max_depth is None or near <= max_depth):
                page.reason = None
                self.move(page, QUEUED)
            if page.redirect is not None:
                work.appendleft((page.redirect, near, page))
            work.extend((target, near + 1, page) for target, _ in page.links.values() if target.depth > near + 1)

    def reconsider(self, page: MemoryPage, target: LinkTarget, max_depth: int | None) -> bool:
        """Put a page where the rules of today want it; whether it stood elsewhere."""
        was = page.status
        if was is PageStatus.PROCESSING or (was in (PageStatus.COMPLETED, PageStatus.ERROR) and page.purpose is UrlPurpose.PAGE):
            return False
        if not stands_elsewhere(was, page.purpose, page.internal, page.reason, target):
            return False
        status, reason = target.status, target.reason
        if status is QUEUED and was is not QUEUED:
            status, reason = self._admit(target, page.depth, max_depth, page.seed)
        if was in (PageStatus.COMPLETED, PageStatus.ERROR):
            self.tally["counted" if page.redirect is None or was is PageStatus.ERROR else "redirects"] -= 1
        page.reason, page.purpose, page.internal = reason or None, target.purpose, target.internal
        page.not_before, page.retries, page.redirect, page.error = 0.0, 0, None, (None, None)
        if status is not QUEUED:
            page.forget()
        self.move(page, status)
        return True

    def settle(self) -> None:
        """Every page's parent becomes the first by name on a shortest path; links before redirects, redirects step by step."""
        ordered = sorted(self.by_url.values(), key=_name)
        nearest: dict[int, MemoryPage] = {}
        for source in ordered:
            for target, _ in source.links.values():
                if target.depth == source.depth + 1:
                    nearest.setdefault(target.number, source)
        onward = {page.redirect.number for page in ordered if page.redirect is not None and page.redirect.depth == page.depth}
        for page in ordered:
            if not page.seed or page.hops > 0:
                page.parent = nearest.get(page.number)
                page.hops = -1 if page.parent is None and page.number in onward else 0
        step = [page for page in ordered if page.hops == 0]
        while step:
            step = sorted(self._settle_step(step), key=_name)
            rest = [page for page in ordered if page.hops < 0]
            if not step and rest:  # A loop that was added by hand has no beginning.
                step = [min(rest, key=lambda page: (page.depth, page.url))]
                step[0].hops = 0

    @staticmethod
    def _settle_step(step: list[MemoryPage]) -> Iterator[MemoryPage]:
        """The pages without a parent that these redirect to."""
        for source in step:
            target = source.redirect
            if target is not None and target.hops < 0 and target.depth == source.depth:
                target.parent, target.hops = source, source.hops + 1
                yield target


def _name(page: MemoryPage) -> str:
    return page.url
