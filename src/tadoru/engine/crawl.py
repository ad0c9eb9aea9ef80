"""The crawl loop: lease, filter, pace, fetch, handle, store.

Each process runs one `Crawler`; several crawlers on one store work on the same crawl. A URL counts as one of the `concurrency`
requests until its outcome is committed, so a killed process loses at most that many answers, which are then requested again.
Outcomes that are ready at the same time are written in one transaction.

A job may make requests before a site is crawled (`SiteProbe`), so that all pages are read by the same rules, whichever comes
first. One worker makes them once; the result is stored with the crawl, and later runs use it without another request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.engine.host_queues import HOST_BATCH, HostAssignment, HostQueue, HostQueues
from tadoru.engine.job import CrawlContext, CrawlJob, CrawlPolicy, SiteProbingJob
from tadoru.engine.notifications import LeasesRecovered, Notify
from tadoru.engine.page_fetch import PageFetch
from tadoru.engine.request_flow import Expiry, HostTurn
from tadoru.engine.resources import ResourceChecker
from tadoru.engine.sitemap_discovery import SitemapDiscovery
from tadoru.engine.url_filter import UrlFilter
from tadoru.fetch.base import Fetcher, MayRequest, Renderer, WaitForTurn
from tadoru.rules.scope import Scope
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.records import Lease, Outcome, ReleasedOutcome

PROBE_TASK = PROBE_META = "survey"
"""Stored in the database."""
PROBE_POLL = 0.05


class SiteProbe:
    """Runs the probe of a job."""

    def __init__(self, context: CrawlContext, page_fetch: PageFetch) -> None:
        self._context = context
        self._store = context.store
        self._page_fetch = page_fetch

    async def run(self, job: SiteProbingJob) -> None:
        """Give the job the result of its probe, from the store or from the site."""
        while not (known := await self._store.meta.get(PROBE_META)):
            if await self._store.tasks.claim(self._context.worker, PROBE_TASK):
                await self._store.meta.set(PROBE_META, json.dumps(await self._run_probe(job), ensure_ascii=False))
                await self._store.tasks.finish(PROBE_TASK)
            else:
                await self._context.clock.sleep(PROBE_POLL)
        probed = job.with_probe_result(json.loads(known))
        self._context.job = probed
        if isinstance(probed, SiteProbingJob):
            self._context.url_filter.set_refusal(probed.skip_reason)
            await self._store.frontier.add(
                [self._context.url_filter.sitemap_target(url) for url in probed.extra_urls()], seed=False, depth=1
            )

    async def _run_probe(self, job: SiteProbingJob) -> dict[str, object]:
        flow = job.probe()
        try:
            request = next(flow)
            while True:
                request = flow.send(await self._page_fetch.fetch_extra(request))
        except StopIteration as end:
            found: dict[str, object] = end.value
            return found


MAX_HOSTS = 256
"""Hosts that one process crawls at the same time."""
HOST_TURN = 10.0
"""Seconds after which a host is replaced by a waiting one, when all places are taken."""
SHORTEST_POLL, LONGEST_POLL = 0.003, 0.25
"""Seconds between two looks of an idle process for work that a sibling found."""
RECOVERY_INTERVAL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOutcome:
    """Why a crawl returned."""

    stopped: bool
    """Stopped before its work was done: by the user, or by the time limit."""
    out_of_time: bool = False
    limit_reached: bool = False


class Crawler:
    """The part of a crawl that one process does."""

    def __init__(
        self,
        *,
        job: CrawlJob,
        policy: CrawlPolicy,
        store: CrawlStore,
        fetcher: Fetcher,
        clock: Clock,
        notify: Notify,
        assignment: HostAssignment | None = None,
    ) -> None:
        self._policy = policy
        self._store = store
        store.limits.set(policy.bounds)
        self._clock = clock
        self._notify = notify
        self._url_filter = UrlFilter(
            job.scope,
            check_external=job.check_external,
            follow=job.follow,
            trap_cap=policy.trap_cap,
            refuse=job.skip_reason if isinstance(job, SiteProbingJob) else None,
        )
        self._context = CrawlContext(
            job=job, policy=policy, store=store, fetcher=fetcher, clock=clock, notify=notify, url_filter=self._url_filter
        )
        self._queues = HostQueues(MAX_HOSTS, policy.concurrency)
        self._page_fetch = PageFetch(self._context, self._queues)
        self._wake = asyncio.Event()
        self._assignment = assignment
        if assignment is not None:
            assignment.on_change(self._wake.set)
        self._sitemaps = SitemapDiscovery(self._context, self._page_fetch, self._wake.set)
        self._resources = ResourceChecker(self._context, self._page_fetch, self._queues)
        self._sitemap_task: asyncio.Task[None] | None = None
        self._outcomes: list[tuple[HostQueue, Outcome]] = []
        self._group = asyncio.TaskGroup()
        self._has_outcomes = asyncio.Event()
        self._out_of_time = False
        self._poll = SHORTEST_POLL
        self._recovered_at = 0.0
        self._scope_text: str | None = None
        self._leases_lost = False
        """Whether this worker was declared dead and has joined again: the leases in the queues now belong to other workers."""

    def stop(self) -> None:
        """Start no more requests; `run` returns when those in flight are written. Leases that only wait are released."""
        self._context.stopping = True
        self._page_fetch.interrupt()
        self._wake.set()

    def render_with(self, make: Callable[[WaitForTurn, MayRequest], Renderer]) -> Renderer:
        """Render pages that need it with this browser, which waits for each host's turn and obeys robots.txt."""
        self._context.renderer = make(self._page_fetch.wait_turn, self._page_fetch.may_request)
        return self._context.renderer

    @property
    def is_reading_sitemaps(self) -> bool:
        """Whether sitemaps are being read, here or by a worker that this process would take over from."""
        return self._sitemap_task is not None and not self._sitemap_task.done()

    @property
    def utilization(self) -> float:
        """The share of the allowed concurrent requests that is in use, from 0 to 1."""
        return self._queues.busy / self._policy.concurrency

    async def run(self) -> CrawlOutcome:
        """Crawl until nothing is left, the budget is spent, or `stop` is called. Raises what the store or `notify` raised."""
        await self._join()
        try:
            async with self._group:
                helpers = [self._group.create_task(self._write()), self._group.create_task(self._keep_alive())]
                await self._probe_site()
                if self._policy.sitemaps:
                    self._sitemap_task = self._group.create_task(self._sitemaps.run())
                    helpers.append(self._sitemap_task)
                limit_reached = await self._dispatch()
                await self._drain()
                if self._assignment is not None:
                    self._release_hosts()
                await self._resources.run()
                for helper in helpers:
                    helper.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if self._assignment is not None:
                self._assignment.close()
            await self._page_fetch.close()
            await self._store.frontier.leave(self._context.worker)
        return CrawlOutcome(stopped=self._context.stopping, out_of_time=self._out_of_time, limit_reached=limit_reached)

    async def _probe_site(self) -> None:
        """Probe the site before the first page, for a job that needs it. In its own task: `stop` cancels tasks that only wait."""
        job = self._context.job
        if isinstance(job, SiteProbingJob):
            probe = self._group.create_task(SiteProbe(self._context, self._page_fetch).run(job))
            await asyncio.wait([probe])
            if not probe.cancelled() and (error := probe.exception()) is not None:
                raise error

    async def _dispatch(self) -> bool:
        """Start requests until the crawl ends. True when the page limit ended it."""
        started = self._clock.monotonic()
        while not self._context.stopping:
            now = self._clock.monotonic()
            left = self._policy.budget.time_left(started, now)
            if left is not None and left <= 0:
                self._out_of_time = True
                self.stop()
                break
            self._wake.clear()
            await self._recover(now)
            if self._assignment is not None:
                self._release_hosts()
            await self._start_due()
            leased = await self._lease_more()
            if leased:
                await self._start_due()
            elif not self._queues.busy and not self._queues.waiting:
                ended = await self._is_crawl_over()
                if ended is not None:
                    return ended
            await self._wait(left)
        return False

    async def _start_due(self) -> None:
        """Start every request that may start now."""
        while self._queues.busy < self._policy.concurrency and not self._context.stopping:
            if self._leases_lost:
                self._leases_lost = False
                self._queues.clear()
            now = self._clock.monotonic()
            queue = self._queues.pop_due(now)
            if queue is None:
                return
            # A queue that has just sent goes behind those that have been due for longer.
            queue.due = max(queue.due, now if await self._start(queue) else now + SHORTEST_POLL)
            self._queues.schedule(queue)

    async def _start(self, queue: HostQueue) -> bool:
        """Start the next request of a queue. False when its host's slot is not free yet."""
        lease = queue.leases[0]
        is_ready = self._page_fetch.is_ready(queue, lease)
        outcome = self._page_fetch.known_outcome(lease) or (self._page_fetch.refusal(lease) if is_ready else None)
        turn: HostTurn | None = None
        if outcome is None and queue.is_paced:
            if is_ready and queue.pace is not None:
                taken = await self._page_fetch.take_turn(queue.host, queue.pace.gap, lambda: self._sent(queue, lease))
                if not isinstance(taken, HostTurn):
                    queue.due = self._clock.monotonic() + taken
                    return False
                turn = taken
            queue.sending = lease
        queue.leases.popleft()
        self._queues.busy += 1
        queue.in_flight += 1
        queue.started += 1
        if outcome is not None:
            self._finished(queue, outcome)
        else:
            self._begin(queue, lease, turn)
        return True

    def _begin(self, queue: HostQueue, lease: Lease, turn: HostTurn | None) -> None:
        queue.health.in_flight += 1
        self._group.create_task(self._process(queue, lease, turn))

    async def _process(self, queue: HostQueue, lease: Lease, turn: HostTurn | None) -> None:
        outcome: Outcome
        try:
            outcome = await self._page_fetch.fetch(queue, lease, turn=turn, on_sent=lambda: self._sent(queue, lease))
        except asyncio.CancelledError:
            if not self._context.stopping:
                raise
            outcome = ReleasedOutcome(lease=lease)
        finally:
            queue.health.in_flight -= 1
        self._sent(queue, lease)
        self._finished(queue, outcome)

    def _finished(self, queue: HostQueue, outcome: Outcome) -> None:
        self._outcomes.append((queue, outcome))
        # A transaction costs time: pages that are about to be parsed join it, up to half the concurrency.
        if not self._page_fetch.unread or len(self._outcomes) * 2 >= self._policy.concurrency:
            self._has_outcomes.set()

    def _sent(self, queue: HostQueue, lease: Lease) -> None:
        """The request of a queue was sent, or will not be: its next one may wait for the host's slot."""
        if queue.sending is lease:
            queue.sending = None
            queue.due = self._clock.monotonic() + (queue.pace.gap if queue.pace else 0.0)
            self._queues.schedule(queue)
            self._wake.set()

    def _release_hosts(self) -> None:
        """Release the leases of hosts that are being released, and report those of which nothing is held any more."""
        assert self._assignment is not None
        for host in self._assignment.releasing:
            queue = self._queues.by_host.get(host)
            if queue is not None and not queue.is_empty:
                self._release_leases(queue)
            else:
                self._queues.forget(host)
                self._assignment.mark_released(host)

    def _release_leases(self, queue: HostQueue) -> None:
        while queue.leases:
            self._queues.busy += 1
            queue.in_flight += 1
            self._finished(queue, ReleasedOutcome(lease=queue.leases.popleft()))

    def _fail_unresponsive(self) -> None:
        """Fail the waiting leases of hosts that have been silent for too long: each would take a timeout to fail by itself."""
        for queue in self._queues.given_up(self._clock.monotonic()):
            while queue.leases:
                self._queues.busy += 1
                queue.in_flight += 1
                self._finished(queue, self._page_fetch.unresponsive_outcome(queue, queue.leases.popleft()))

    def _rotate_hosts(self) -> None:
        """Replace hosts that had their turn, so that each host gets one however many there are."""
        now = self._clock.monotonic()
        if self._assignment is None:
            for queue in self._queues.expired(now, HOST_TURN):
                queue.leaving = True
                self._release_leases(queue)
        self._queues.drop_idle(now, 5.0)

    async def _lease_more(self) -> bool:
        self._fail_unresponsive()
        self._rotate_hosts()
        free_depth = min(64, max(4, self._policy.concurrency * 2))
        wants = self._queues.wants(2, free_depth)
        places = self._queues.free_places()
        if self._assignment is not None:
            hosts = self._assignment.hosts
            wants, places = {host: wants.get(host, min(4, free_depth)) for host in hosts}, 0
        if not any(wants.values()) and not places:
            return False
        leased = await self._store.frontier.lease(
            self._context.worker,
            wants,
            new_hosts=min(places, HOST_BATCH),
            per_host=min(4, free_depth),
            limit=self._policy.budget.limit,
        )
        now = self._clock.monotonic()
        self._queues.add(leased.leases, leased.hosts, now)
        if self._assignment is not None:
            for host in wants:
                queue = self._queues.by_host.get(host)
                if wants[host] and (queue is None or queue.is_empty):
                    self._assignment.mark_idle(host)
        if leased.leases:
            self._poll = SHORTEST_POLL
            # After the lease: a worker that added these pages has stored the moved scope before.
            await self._refresh_scope()
        return bool(leased.leases)

    async def _refresh_scope(self) -> None:
        """A sibling may have found that the start URL redirects to another host."""
        text = await self._store.meta.get("scope")
        if text is not None and text != self._scope_text:
            self._scope_text = text
            self._url_filter.change_scope(Scope.from_dict(json.loads(text)))

    async def _is_crawl_over(self) -> bool | None:
        """True: over because of the page limit; False: everything is done; None: siblings or retries may still bring more."""
        if self._assignment is not None:
            return None
        if self._sitemap_task is not None and not self._sitemap_task.done():
            return None
        counts = await self._store.frontier.counts()
        if counts.processing == 0:
            if counts.queued == 0:
                if await self._store.limits.refill():
                    return None
                counts = await self._store.frontier.counts()  # A sibling may have queued more meanwhile.
                return None if counts.queued or counts.processing else False
            if not self._policy.budget.leasable(counts.counted, 0, 1):
                return True
        return None

    async def _recover(self, now: float) -> None:
        """From time to time, also while there is work: a dead worker may hold the slot or the robots.txt that others wait for."""
        if now - self._recovered_at >= RECOVERY_INTERVAL or not self._recovered_at:
            self._recovered_at = now
            count = await self._store.frontier.recover(self._context.worker)
            if count:
                self._notify(LeasesRecovered(count=count))
            await self._store.limits.refill()

    async def _wait(self, left: float | None) -> None:
        """Wait until something happens, a queue is due, or it is time to look again."""
        has_capacity = self._queues.busy < self._policy.concurrency
        timeout = LONGEST_POLL
        if has_capacity:
            due = self._queues.next_due()
            timeout = self._poll if due is None else min(max(0.0, due - self._clock.monotonic()), LONGEST_POLL)
            if due is None:
                self._poll = min(self._poll * 1.5, LONGEST_POLL)
        if left is not None:
            timeout = min(timeout, left)
        with suppress(TimeoutError):
            # Not wait_for: that of Python 3.11 loses a cancellation that comes together with the wake.
            async with asyncio.timeout(timeout):
                await self._wake.wait()

    async def _write(self) -> None:
        """Commit outcomes, as many at a time as there are."""
        while True:
            await self._has_outcomes.wait()
            await asyncio.sleep(0)
            self._has_outcomes.clear()
            batch, self._outcomes = self._outcomes, []
            await self._store.frontier.finish(
                self._context.worker, [outcome for _, outcome in batch], max_depth=self._policy.budget.max_depth
            )
            for queue, _ in batch:
                queue.in_flight -= 1
                self._queues.schedule(queue)
            self._queues.busy -= len(batch)
            self._wake.set()

    async def _drain(self) -> None:
        """Wait for the requests in flight and for their commit."""
        while self._queues.busy:
            self._wake.clear()
            await self._wake.wait()

    async def _keep_alive(self) -> None:
        while True:
            await self._clock.sleep(self._policy.lease_ttl / 4)
            lease = Expiry(self._clock, self._policy.lease_ttl)
            if await self._store.frontier.renew(self._context.worker, self._policy.lease_ttl):
                self._context.lease = lease
            else:
                await self._join()
                self._leases_lost = True

    async def _join(self) -> None:
        lease = Expiry(self._clock, self._policy.lease_ttl)
        self._context.worker = await self._store.frontier.join(self._policy.lease_ttl)
        self._context.lease = lease
