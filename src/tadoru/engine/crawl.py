"""The loop: lease, gate, pace, fetch, handle, store. One `Crawl` in one process; several on one store make one crawl together.

A URL holds its place among the `concurrency` requests until what came of it is committed, so a killed process loses at most that
many answers, and they are asked for again. Answers that arrive together are written together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.engine.gate import Gate
from tadoru.engine.job import Job, Policy, Surveyor
from tadoru.engine.lanes import AT_ONCE, Lane, Lanes
from tadoru.engine.notices import LeasesRecovered, Notify
from tadoru.engine.resources import ResourceRound
from tadoru.engine.roster import Roster
from tadoru.engine.scout import Scout
from tadoru.engine.share import Share
from tadoru.engine.survey import Survey
from tadoru.engine.visit import Visit
from tadoru.fetch.base import Allow, Before, Fetcher, Renderer
from tadoru.rules.scope import Scope
from tadoru.store.base import CrawlStore, Lease, Outcome, Released

LANES = 256
"""Hosts asked at a time by one process."""
TURN = 10.0
"""Seconds after which a host makes room for others, when there is none."""
SHORTEST_POLL, LONGEST_POLL = 0.003, 0.25
"""How often an idle process looks whether a sibling found work."""
RECOVERY_EVERY = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Why a crawl returned."""

    stopped: bool
    """Stopped before its work was done: by the person, or by the time limit."""
    out_of_time: bool = False
    limit_reached: bool = False


class Crawl:
    """One process's share of a crawl."""

    def __init__(
        self,
        *,
        job: Job,
        policy: Policy,
        store: CrawlStore,
        fetcher: Fetcher,
        clock: Clock,
        notify: Notify,
        roster: Roster | None = None,
    ) -> None:
        self._policy = policy
        self._store = store
        store.bound(policy.bounds)
        self._clock = clock
        self._notify = notify
        self._gate = Gate(
            job.scope,
            check_external=job.check_external,
            follow=job.follow,
            trap_cap=policy.trap_cap,
            refuse=job.refusal if isinstance(job, Surveyor) else None,
        )
        self._share = Share(job=job, policy=policy, store=store, fetcher=fetcher, clock=clock, notify=notify, gate=self._gate)
        self._visit = Visit(self._share)
        self._wake = asyncio.Event()
        self._roster = roster
        if roster is not None:
            roster.on_change(self._wake.set)
        self._scout = Scout(self._share, self._visit, self._wake.set)
        self._resources = ResourceRound(self._share, self._visit)
        self._scouting: asyncio.Task[None] | None = None
        self._lanes = Lanes(LANES)
        self._busy = 0
        """Requests begun and not yet committed."""
        self._outcomes: list[tuple[Lane, Outcome]] = []
        self._group = asyncio.TaskGroup()
        self._answered = asyncio.Event()
        self._out_of_time = False
        self._poll = SHORTEST_POLL
        self._recovered_at = 0.0
        self._scope_text: str | None = None
        self._lost = False
        """Declared dead, and joined again: what the lanes hold is no longer ours."""

    def stop(self) -> None:
        """Begin no more requests; `run` returns when those in flight are written. What only waits for its turn is given back."""
        self._share.stopping = True
        self._visit.interrupt()
        self._wake.set()

    def render_with(self, make: Callable[[Before, Allow], Renderer]) -> Renderer:
        """Give pages that want it to a browser; it is told when it may send, and whether."""
        self._share.renderer = make(self._visit.wait_turn, self._visit.may_request)
        return self._share.renderer

    @property
    def is_scouting(self) -> bool:
        """Whether sitemaps are being read, here or by somebody this process would take over from."""
        return self._scouting is not None and not self._scouting.done()

    @property
    def use(self) -> float:
        """How many of the places for requests are taken, from 0 to 1."""
        return self._busy / self._policy.concurrency

    async def run(self) -> Ended:
        """Work until nothing is left, the budget is spent, or `stop` is called. Raises what the store or a listener raised."""
        self._share.worker = await self._store.join(self._policy.lease_ttl)
        try:
            async with self._group:
                helpers = [self._group.create_task(self._write()), self._group.create_task(self._keep_alive())]
                await self._survey()
                if self._policy.sitemaps:
                    self._scouting = self._group.create_task(self._scout.run())
                    helpers.append(self._scouting)
                limit_reached = await self._feed()
                await self._drain()
                if self._roster is not None:
                    self._let_go()
                await self._resources.run()
                for helper in helpers:
                    helper.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if self._roster is not None:
                self._roster.close()
            await self._visit.close()
            await self._store.leave(self._share.worker)
        return Ended(stopped=self._share.stopping, out_of_time=self._out_of_time, limit_reached=limit_reached)

    async def _survey(self) -> None:
        """Before the first page, for a job that needs it. A task of its own: who is asked to stop cancels what only waits."""
        job = self._share.job
        if isinstance(job, Surveyor):
            asking = self._group.create_task(Survey(self._share, self._visit).run(job))
            await asyncio.wait([asking])
            if not asking.cancelled() and (error := asking.exception()) is not None:
                raise error

    async def _feed(self) -> bool:
        """Keep requests going. True when the limit ended it."""
        started = self._clock.monotonic()
        while not self._share.stopping:
            now = self._clock.monotonic()
            left = self._policy.budget.time_left(started, now)
            if left is not None and left <= 0:
                self._out_of_time = True
                self.stop()
                break
            self._wake.clear()
            await self._recover(now)
            if self._roster is not None:
                self._let_go()
            await self._start_due()
            leased = await self._lease_more()
            if leased:
                await self._start_due()
            elif not self._busy and not self._lanes.waiting:
                ended = await self._nothing_left()
                if ended is not None:
                    return ended
            await self._rest(left)
        return False

    async def _start_due(self) -> None:
        """Begin every request that may begin now."""
        while self._busy < self._policy.concurrency and not self._share.stopping:
            if self._lost:
                self._lost = False
                self._lanes.empty()
            now = self._clock.monotonic()
            lane = self._lanes.pop_due(now)
            if lane is None:
                return
            # A lane that has just sent goes behind those that have been due for longer.
            lane.due = max(lane.due, now if await self._start(lane) else now + SHORTEST_POLL)
            self._lanes.schedule(lane)

    async def _start(self, lane: Lane) -> bool:
        """Begin the next request of a lane. False when its host's slot is not free yet."""
        lease = lane.queue[0]
        is_ready = self._visit.is_ready(lane, lease)
        refusal = self._visit.refusal(lease) if is_ready else None
        if refusal is None and lane.is_paced:
            if is_ready and lane.pace is not None:
                wait = await self._store.take_slot(self._share.worker, lane.host, self._visit.hold(lane.pace))
                if wait > 0:
                    lane.due = self._clock.monotonic() + wait
                    return False
            lane.sending = lease
        lane.queue.popleft()
        self._busy += 1
        lane.in_flight += 1
        lane.begun += 1
        if refusal is not None:
            self._finished(lane, refusal)
        else:
            self._begin(lane, lease, took_slot=is_ready and lane.is_paced)
        return True

    def _begin(self, lane: Lane, lease: Lease, *, took_slot: bool) -> None:
        self._group.create_task(self._process(lane, lease, took_slot))

    async def _process(self, lane: Lane, lease: Lease, took_slot: bool) -> None:
        outcome: Outcome
        try:
            outcome = await self._visit.visit(lane, lease, took_slot=took_slot, on_sent=lambda: self._sent(lane, lease))
        except asyncio.CancelledError:
            if not self._share.stopping:
                raise
            outcome = Released(lease=lease)
        self._sent(lane, lease)
        self._finished(lane, outcome)

    def _finished(self, lane: Lane, outcome: Outcome) -> None:
        self._outcomes.append((lane, outcome))
        # A transaction has its price: what is about to be read is written together with this, up to half of what there may be.
        if not self._visit.unread or len(self._outcomes) * 2 >= self._policy.concurrency:
            self._answered.set()

    def _sent(self, lane: Lane, lease: Lease) -> None:
        """The request of a lane is out, or will not go out: the next one may line up for its slot."""
        if lane.sending is lease:
            lane.sending = None
            lane.due = self._clock.monotonic() + (lane.pace.gap if lane.pace else 0.0)
            self._lanes.schedule(lane)
            self._wake.set()

    def _let_go(self) -> None:
        """Give back what is held of hosts that leave, and say of those that were left that nothing is."""
        assert self._roster is not None
        for host in self._roster.leaving:
            lane = self._lanes.by_host.get(host)
            if lane is not None and not lane.is_empty:
                self._give_back(lane)
            else:
                self._lanes.forget(host)
                self._roster.left(host)

    def _give_back(self, lane: Lane) -> None:
        while lane.queue:
            self._busy += 1
            lane.in_flight += 1
            self._finished(lane, Released(lease=lane.queue.popleft()))

    def _make_room(self) -> None:
        """Every host has its turn, however many there are: what is left of those that had theirs goes back to the queue."""
        now = self._clock.monotonic()
        if self._roster is None:
            for lane in self._lanes.past_their_turn(now, TURN):
                lane.leaving = True
                self._give_back(lane)
        self._lanes.drop_idle(now, 5.0)

    async def _lease_more(self) -> bool:
        self._make_room()
        free_depth = min(64, max(4, self._policy.concurrency * 2))
        wants = self._lanes.wants(2, free_depth)
        rooms = self._lanes.room_for_hosts()
        if self._roster is not None:
            here = self._roster.hosts
            wants, rooms = {host: wants.get(host, min(4, free_depth)) for host in here}, 0
        if not any(wants.values()) and not rooms:
            return False
        leased = await self._store.lease(
            self._share.worker, wants, new_hosts=min(rooms, AT_ONCE), per_host=min(4, free_depth), limit=self._policy.budget.limit
        )
        now = self._clock.monotonic()
        self._lanes.take(leased.leases, leased.hosts, now)
        if self._roster is not None:
            for host in wants:
                lane = self._lanes.by_host.get(host)
                if wants[host] and (lane is None or lane.is_empty):
                    self._roster.spent(host)
        if leased.leases:
            self._poll = SHORTEST_POLL
            # After the lease: whoever brought these pages in has told before where the site is.
            await self._refresh_scope()
        return bool(leased.leases)

    async def _refresh_scope(self) -> None:
        """The start may have moved to another host while a sibling asked it."""
        text = await self._store.get_meta("scope")
        if text is not None and text != self._scope_text:
            self._scope_text = text
            self._gate.change_scope(Scope.from_dict(json.loads(text)))

    async def _nothing_left(self) -> bool | None:
        """Whether the crawl is over (True: because of the limit), or None when siblings or waiting retries may bring more."""
        if self._roster is not None:
            return None
        if self._scouting is not None and not self._scouting.done():
            return None
        counts = await self._store.counts()
        if counts.processing == 0:
            if counts.queued == 0:
                return None if await self._store.refill() else False
            if not self._policy.budget.room(counts.counted, 0, 1):
                return True
        return None

    async def _recover(self, now: float) -> None:
        """Now and then, also while there is work: a dead worker may hold the slot or the robots.txt that others wait for."""
        if now - self._recovered_at >= RECOVERY_EVERY or not self._recovered_at:
            self._recovered_at = now
            count = await self._store.recover(self._share.worker)
            if count:
                self._notify(LeasesRecovered(count=count))
            await self._store.refill()

    async def _rest(self, left: float | None) -> None:
        """Until something happens, a lane is due, or it is time to look again."""
        room = self._busy < self._policy.concurrency
        timeout = LONGEST_POLL
        if room:
            due = self._lanes.next_due()
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
        """Commit what was answered, as much at a time as there is."""
        while True:
            await self._answered.wait()
            await asyncio.sleep(0)
            self._answered.clear()
            batch, self._outcomes = self._outcomes, []
            await self._store.finish(
                self._share.worker, [outcome for _, outcome in batch], max_depth=self._policy.budget.max_depth
            )
            for lane, _ in batch:
                lane.in_flight -= 1
                self._lanes.schedule(lane)
            self._busy -= len(batch)
            self._wake.set()

    async def _drain(self) -> None:
        """Wait for the requests in flight and for their commit."""
        while self._busy:
            self._wake.clear()
            await self._wake.wait()

    async def _keep_alive(self) -> None:
        while True:
            await self._clock.sleep(self._policy.lease_ttl / 4)
            if not await self._store.renew(self._share.worker, self._policy.lease_ttl):
                self._share.worker = await self._store.join(self._policy.lease_ttl)
                self._lost = True
