"""A crawl in memory, in plain Python: for tests, for small uses, and as the reference for the other backends.

Nothing is kept after `close`. Workers of one process share the object; no method yields in the middle, so each is a transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

from tadoru.clock import Clock, to_datetime
from tadoru.model.web import FailureKind, Link
from tadoru.rules.budget import Budget
from tadoru.store.crawl.metrics import CrawlMetrics, error_counter, measure, read, status_counter
from tadoru.store.crawl.records import (
    NOT_ARRIVED,
    TOO_DEEP,
    UNLINKED,
    CompletedOutcome,
    CrawlCounts,
    FailedOutcome,
    HostState,
    Lease,
    LeaseBatch,
    LinkRow,
    LinkTarget,
    NamedPage,
    Outcome,
    PageRow,
    PageStatus,
    RefusedOutcome,
    RetryOutcome,
    SitemapRecord,
    TrapRecord,
    UnchangedOutcome,
    UrlPurpose,
)
from tadoru.store.crawl.rescope import Decide
from tests.support.memory_store.hosts import MemoryLimits, MemorySideWork
from tests.support.memory_store.pages import MemoryPage


class MemoryStore(MemoryLimits, MemorySideWork):
    """The whole interface over dictionaries."""

    def __init__(self, clock: Clock) -> None:
        MemoryLimits.__init__(self, clock)
        MemorySideWork.__init__(self)
        self._sitemaps: dict[str, int] = {}
        self._joined = 0
        self._meta: dict[str, str] = {}
        self._measured: Counter[str] = Counter()
        self._as_parts()

    def _as_parts(self) -> None:
        """The parts of the contract, which are all this object."""
        self.frontier: Any = SimpleNamespace(
            join=self.join,
            renew=self.renew,
            leave=self.leave,
            recover=self.recover,
            add=self.add,
            add_named=self.add_named,
            widen=self.widen,
            finish=self.finish,
            counts=self.counts,
            lease=self.lease,
            has_open_seeds=self.has_open_seeds,
            has_answered_seeds=self.has_answered_seeds,
            metrics=self.metrics,
        )
        self.limits: Any = SimpleNamespace(refill=self.refill, set=self.bound, requeue=self.take_up)
        self.hosts: Any = SimpleNamespace(
            take_slot=self.take_slot,
            sent=self.sent,
            begin_pace=self.begin_pace,
            set_pace=self.set_pace,
            lower_paces=self.lower_paces,
        )
        self.robots: Any = SimpleNamespace(claim=self.claim_robots, forget_failed=self.forget_failed_robots, put=self.put_robots)
        self.meta: Any = SimpleNamespace(get=self.get_meta, set=self.set_meta, change=self.change_meta)
        self.tasks: Any = SimpleNamespace(claim=self.claim_task, finish=self.finish_task, is_done=self.is_task_done)
        self.sitemaps: Any = SimpleNamespace(put=self.put_sitemap)
        self.resources: Any = SimpleNamespace(lease=self.lease_resources, finish=self.finish_resources, wait=self.resources_wait)
        self.graph: Any = SimpleNamespace(
            settle=self.settle,
            pages=self.pages,
            links=self.links,
            links_to=self.links_to,
            fragment_links=self.fragment_links,
            traps=self.traps,
            validators=self.validators,
        )
        self.rescope: Any = SimpleNamespace(reconsider=self.reconsider)

    async def join(self, ttl: float) -> int:
        self._joined += 1
        self._workers[self._joined] = self.clock.now() + ttl
        return self._joined

    async def renew(self, worker: int, ttl: float) -> bool:
        if worker not in self._workers:
            return False
        self._workers[worker] = self.clock.now() + ttl
        return True

    async def leave(self, worker: int) -> None:
        self._take_back(worker)

    async def recover(self, living: int = 0) -> int:
        now = self.clock.now()
        gone = [worker for worker, until in self._workers.items() if until < now and worker != living]
        return sum(self._take_back(worker) for worker in gone)

    def _take_back(self, worker: int) -> int:
        held = [page for page in self._pages.by_url.values() if page.owner == worker]
        for page in held:
            page.owner = None
            self._pages.move(page, PageStatus.QUEUED)
            self.known_hosts[page.host].leased -= page.purpose is UrlPurpose.PAGE
        self.keep_within(self.known_hosts)
        self.free_slots(worker)
        self.drop_side_work(worker)
        self._workers.pop(worker, None)
        return len(held)

    async def add(self, targets: Sequence[LinkTarget], *, seed: bool, depth: int = 0) -> int:
        before = len(self._pages.by_url)
        for target in tuple(targets):
            self._know(target, depth, None, depth, seed=seed)
        self.keep_within(self.known_hosts)
        return len(self._pages.by_url) - before

    def _know(
        self,
        target: LinkTarget,
        depth: int,
        parent: MemoryPage | None,
        max_depth: int | None,
        *,
        hops: int = 0,
        seed: bool = False,
    ) -> MemoryPage:
        host = self.host(target.host)
        host.standing = True if seed else host.standing
        return self._pages.know(target, depth, parent, now=self.clock.now(), max_depth=max_depth, hops=hops, seed=seed)

    async def widen(self, max_depth: int | None) -> int:
        deep = [page for page in self._pages.by_url.values() if page.status is PageStatus.SKIPPED and page.reason == TOO_DEEP]
        within = [page for page in deep if max_depth is None or page.depth <= max_depth]
        for page in within:
            page.reason = None
            self._pages.move(page, PageStatus.QUEUED)
        self.keep_within(self.known_hosts)
        return len(within)

    async def lower_paces(self, delay: float) -> None:
        for host in [] if self._workers else self.known_hosts.values():
            if host.pace is not None and host.pace.base > delay:
                host.pace = replace(host.pace, base=delay, gap=host.gap if host.pace.strikes else delay)

    async def reconsider(self, decide: Decide, *, max_depth: int | None) -> int:
        asked = [(page, decide(page.url, page.seed)) for page in self._pages.by_url.values()]
        moved = sum(self._pages.reconsider(page, target, max_depth) for page, target in asked if target is not None)
        self.keep_within(self.known_hosts)
        return moved

    async def lease(self, worker: int, wants: Mapping[str, int], *, new_hosts: int, per_host: int, limit: int) -> LeaseBatch:
        counts, now = await self.counts(), self.clock.now()
        budget = Budget(limit=limit)
        room = min(
            budget.leasable(counts.counted, counts.processing, sum(wants.values()) + new_hosts * per_host),
            budget.fair_share(counts.queued, len(self._workers) if new_hosts else 1),
        )
        if not counts.queued or not room or worker not in self._workers:
            return LeaseBatch([], {})
        others = [host for host in self.known_hosts.values() if host.name not in wants and self._pages.has_due(host.name, now)]
        others = [host for host in others if self.bounds.leasable_at_host(host.asked, host.leased, 1)]
        others.sort(key=lambda host: max(host.next_at, host.turn_at))
        leases: list[Lease] = []
        hosts: dict[str, HostState] = {}
        for host in [self.known_hosts[name] for name in wants if name in self.known_hosts] + others[: max(0, new_hosts)]:
            hosts[host.name] = host.state(now)
            want = min(wants.get(host.name, per_host), room - len(leases))
            want = self.bounds.leasable_at_host(host.asked, host.leased, want)
            pages = list(self._pages.take(host.name, want, now))
            leases += [self._lease(worker, page) for page in pages]
            host.turn_at = now if pages else host.turn_at
            host.leased += sum(page.purpose is UrlPurpose.PAGE for page in pages)
        return LeaseBatch(leases, hosts)

    def _lease(self, worker: int, page: MemoryPage) -> Lease:
        page.owner = worker
        self._pages.move(page, PageStatus.PROCESSING)
        return Lease(page.number, page.url, page.host, page.depth, page.hops, page.retries, page.purpose, page.seed)

    async def finish(self, worker: int, outcomes: Sequence[Outcome], *, max_depth: int | None) -> int:
        # Whatever can fail does so here, before anything is changed.
        read = [(outcome, tuple(outcome.links) if isinstance(outcome, CompletedOutcome) else ()) for outcome in outcomes]
        recorded = sum(self._record(worker, outcome, links, max_depth) for outcome, links in read)
        self.keep_within(self.known_hosts)
        return recorded

    def _record(self, worker: int, outcome: Outcome, links: Sequence[Link], max_depth: int | None) -> bool:
        page = self._pages.by_number.get(outcome.lease.page_id)
        if page is None or page.owner != worker:
            return False
        page.owner = None
        if page.purpose is UrlPurpose.PAGE:
            self.known_hosts[page.host].leased -= 1
            self.known_hosts[page.host].asked += _was_asked(outcome)
        if isinstance(outcome, CompletedOutcome | FailedOutcome | RefusedOutcome):
            page.forget()
        if isinstance(outcome, CompletedOutcome):
            self._complete(page, outcome, links, max_depth)
            self.use_resources(outcome.resources)
        elif isinstance(outcome, UnchangedOutcome):
            page.crawled, page.error = self.clock.now(), (None, None)
            self._pages.move(page, PageStatus.COMPLETED)
            self._pages.tally["counted" if page.redirect is None else "redirects"] += 1
            self._measured[status_counter(304)] += 1
        elif isinstance(outcome, FailedOutcome):
            self._fail(page, outcome.kind, outcome.message)
        elif isinstance(outcome, RefusedOutcome):
            page.reason, page.error = outcome.reason, (None, None)
            self._pages.move(page, PageStatus.SKIPPED)
        else:
            page.not_before = 0.0
            if isinstance(outcome, RetryOutcome):
                page.not_before = self.clock.now() + outcome.after if outcome.after else 0.0
                page.retries, page.error = page.retries + 1, (outcome.kind, outcome.message)
                self._measured[error_counter(outcome.kind)] += 1
            self._pages.move(page, PageStatus.QUEUED)
        return True

    async def has_open_seeds(self) -> bool:
        return self._has_seed(PageStatus.QUEUED, PageStatus.PROCESSING)

    async def has_answered_seeds(self) -> bool:
        return self._has_seed(PageStatus.COMPLETED)

    def _has_seed(self, *statuses: PageStatus) -> bool:
        return any(page.seed and page.status in statuses for page in self._pages.by_url.values())

    async def put_sitemap(self, record: SitemapRecord) -> int:
        return self._sitemaps.setdefault(record.url, len(self._sitemaps) + 1)

    async def add_named(self, sitemap: int, pages: Sequence[NamedPage]) -> int:
        before = len(self._pages.by_url)
        for named in pages:
            page = self._know(named.target, UNLINKED, None, None)
            is_left_out = page.status is PageStatus.DISCOVERED or page.reason == TOO_DEEP
            if named.target.status is PageStatus.QUEUED and page.internal and is_left_out:
                page.reason = None
                self._pages.move(page, PageStatus.QUEUED)
        self.keep_within(self.known_hosts)
        return len(self._pages.by_url) - before

    def _fail(self, page: MemoryPage, kind: str, message: str) -> None:
        page.crawled, page.error = self.clock.now(), (kind, message)
        self._pages.tally["counted"] += 1
        self._pages.move(page, PageStatus.ERROR)
        self._measured[error_counter(kind)] += 1

    def _complete(self, page: MemoryPage, outcome: CompletedOutcome, links: Sequence[Link], max_depth: int | None) -> None:
        page.crawled, page.facts, page.error = self.clock.now(), outcome.facts, (None, None)
        measure(self._measured, outcome.facts)
        if outcome.left_out:
            self._measured[error_counter(FailureKind.PAGE_LIMIT)] += len(outcome.left_out)
        # No longer leased, before a redirect to itself looks at it.
        self._pages.move(page, PageStatus.COMPLETED)
        if outcome.redirect is not None:
            page.redirect = self._know(outcome.redirect, page.depth, page, max_depth, hops=page.hops + 1, seed=page.seed)
            if _leads_back(page):
                self._fail(page, FailureKind.REDIRECT_LOOP, f"The redirects from {page.url} lead back to it.")
                return
        self._pages.tally["counted" if outcome.redirect is None else "redirects"] += 1
        for link in links:
            page.links[link.position] = (self._know(outcome.targets[link.url], page.depth + 1, page, max_depth), link)
        page.anchors = None if outcome.anchors is None else frozenset(outcome.anchors)

    async def counts(self) -> CrawlCounts:
        return CrawlCounts(**{str(name): number for name, number in self._pages.tally.items()})

    async def metrics(self) -> CrawlMetrics:
        return read({**asdict(await self.counts()), **self._measured}, len(self._workers))

    async def get_meta(self, key: str) -> str | None:
        return self._meta.get(key)

    async def set_meta(self, key: str, value: str) -> None:
        self._meta[key] = value

    async def change_meta(self, key: str, change: Callable[[str | None], str]) -> str:
        self._meta[key] = change(self._meta.get(key))
        return self._meta[key]

    async def settle(self) -> None:
        self._pages.settle()

    async def pages(self) -> AsyncIterator[PageRow]:
        for page in sorted(self._pages.by_url.values(), key=lambda page: (page.depth, page.url)):
            yield _page_row(page)

    async def links(self) -> AsyncIterator[LinkRow]:
        for source, target, link in self._links():
            yield _link_row(source, target, link)

    async def links_to(self, page_ids: Sequence[int]) -> AsyncIterator[LinkRow]:
        for number in page_ids:
            for source, target, link in self._links():
                if target.number == number:
                    yield _link_row(source, target, link)

    async def fragment_links(self) -> AsyncIterator[tuple[LinkRow, bool]]:
        for source, target, link in sorted(self._links(), key=lambda found: found[1].url):
            if link.fragment and target.anchors is not None:
                yield _link_row(source, target, link), link.fragment in target.anchors

    def _links(self) -> list[tuple[MemoryPage, MemoryPage, Link]]:
        """Every link by source and position."""
        sources = sorted((page for page in self._pages.by_url.values() if page.links), key=lambda page: page.url)
        return [(source, *source.links[position]) for source in sources for position in sorted(source.links)]

    async def traps(self) -> list[TrapRecord]:
        cut = [trap for trap in self._pages.traps.values() if trap.refused]
        return sorted(cut, key=lambda trap: (-trap.refused, trap.key))

    def release_memory(self) -> None:
        """Nothing is cached."""

    async def close(self) -> None:
        """Nothing to close: the crawl lives as long as the object."""


def _leads_back(page: MemoryPage) -> bool:
    """Whether the redirects of a page lead back to it. They may also lead into a loop that was there before."""
    seen: set[int] = set()
    step = page.redirect
    while step is not None and step is not page and step.number not in seen:
        seen.add(step.number)
        step = step.redirect
    return step is page


def _was_asked(outcome: Outcome) -> bool:
    """Whether a request was made. One that is tried again counts too, unless it did not arrive."""
    if isinstance(outcome, RetryOutcome):
        return outcome.kind not in NOT_ARRIVED
    return isinstance(outcome, CompletedOutcome | UnchangedOutcome | FailedOutcome)


def _page_row(page: MemoryPage) -> PageRow:
    facts = page.facts
    timed = facts is not None and facts.ttfb_ms is not None and facts.download_time_ms is not None
    return PageRow(
        page_id=page.number,
        url=page.url,
        internal=page.internal,
        purpose=str(page.purpose),
        status=str(page.status),
        depth=page.depth,
        parent_url=page.parent.url if page.parent else None,
        status_code=facts.status_code if facts else None,
        content_type=facts.content_type if facts else None,
        title=facts.title if facts else None,
        redirect_url=page.redirect.url if page.redirect else None,
        skip_reason=page.reason,
        error_type=page.error[0],
        error_message=page.error[1],
        added_at=to_datetime(page.added),
        crawled_at=to_datetime(page.crawled) if page.crawled is not None else None,
        response_ms=(facts.ttfb_ms or 0.0) + (facts.download_time_ms or 0.0) if facts and timed else None,
    )


def _link_row(source: MemoryPage, target: MemoryPage, link: Link) -> LinkRow:
    return LinkRow(source.url, target.url, link.text, link.rel, str(link.kind), link.position, link.fragment)
