"""Collects many sources concurrently, each host one at a time, once or continuously.

A worker renews its lease in the database, closes runs of dead workers, sends notices, and cleans up once a day. It may be killed
at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from tadoru.clock import Clock, to_datetime
from tadoru.config.options import EventsOptions
from tadoru.engine.page_fetch import release_memory
from tadoru.engine.polite_client import PoliteClient, PoliteClientContext, RequestPolicy
from tadoru.engine.request_flow import Expiry
from tadoru.errors import StoreError
from tadoru.fetch import http
from tadoru.jobs.events import notify
from tadoru.jobs.events.collect.collector import CollectionStopped, Collector, SourceRun, StageLog, run_log_path, write_run_log
from tadoru.jobs.events.search.engine import SearchEngineError, engine_for
from tadoru.jobs.events.search.index_sync import IndexSync
from tadoru.rules.address import Exemptions
from tadoru.rules.robots import product_token
from tadoru.rules.url import host_key
from tadoru.store.calendar.records import EventSource
from tadoru.store.calendar.runs import WorkerRemoved
from tadoru.store.calendar.store import CalendarStore
from tadoru.store.files import FileStore

if TYPE_CHECKING:
    from tadoru.jobs.events.enrich.enricher import Enricher

WORKER_LEASE = 60.0
"""Seconds for which a worker counts as alive after each renewal."""
IDLE_SECONDS = 30.0
"""Seconds after which an idle worker looks for due sources again: some may have been added."""
RECENT_RUNS = 500
"""Closed runs that are checked for a missing log file after a worker died."""
LARGE_RUN = 1_000
"""Events of a run after which memory is returned to the system."""
LEASES_PER_SLOT = 4
"""Sources leased for each one that can be collected concurrently: those of one host wait for each other."""
OnCollected = Callable[[SourceRun], None]
T = TypeVar("T")


@dataclass(slots=True)
class CycleResult:
    """The results of a cycle."""

    collected: list[SourceRun] = field(default_factory=list)
    busy: list[EventSource] = field(default_factory=list)
    """Leased by another worker."""

    @property
    def failed(self) -> list[SourceRun]:
        return [one for one in self.collected if one.failed]


class WorkerPool:
    """A worker of the database that collects several sources concurrently."""

    def __init__(
        self,
        store: CalendarStore,
        files: FileStore,
        clock: Clock,
        options: EventsOptions,
        log_stage: StageLog,
        *,
        accept_drops: bool = False,
        allowed: Exemptions | None = None,
        also_allowed: Exemptions = Exemptions(),  # noqa: B008 - immutable
    ) -> None:
        """With `allowed`, exactly these private addresses are permitted, whatever is stored with a source; `also_allowed` are
        permitted beside those that are stored."""
        self._store = store
        self._files = files
        self._clock = clock
        self._options = options
        self._log_stage = log_stage
        self._accept_drops = accept_drops
        self._allowed, self._also_allowed = allowed, also_allowed
        self._send = notify.create_sender(options.notify)
        self._clients: dict[Exemptions, PoliteClient] = {}
        self._slots = asyncio.Semaphore(options.concurrency)
        self._host_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._search = engine_for(options)
        self._next_sync = 0.0
        self._stop = asyncio.Event()
        self._wake = asyncio.Event()
        self._client_context: PoliteClientContext | None = None

    def stop(self) -> None:
        """Start nothing new, and give up sources that are not fetched soon."""
        self._stop.set()
        self._wake.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Register as a worker of the database."""
        store = self._store
        enricher = await self._enricher() if self._options.enrich else None
        await self._clean_up()
        lease = Expiry(self._clock, WORKER_LEASE)
        self.worker = await asyncio.to_thread(store.schedule.join, WORKER_LEASE)
        policy = RequestPolicy(
            gap=self._options.delay,
            timeout=self._options.timeout,
            max_bytes=self._options.max_response_size,
            obey_robots=not self._options.ignore_robots,
            robots_token=product_token(self._options.user_agent),
        )
        self._client_context = PoliteClientContext(store.hosts, self._clock, self.worker, policy)
        self._client_context.lease = lease
        self.collector = Collector(
            store, self._files, self._clock, self.worker, self._options, self._log_stage,
            accept_drops=self._accept_drops, enricher=enricher,
        )  # fmt: skip
        self.collector.stopping = self._stop
        keep_alive = asyncio.create_task(self._keep_alive())
        try:
            yield
        finally:
            keep_alive.cancel()
            await asyncio.gather(keep_alive, return_exceptions=True)
            for client in self._clients.values():
                await client.close()
            if enricher is not None:
                await enricher.close()
            if self._search is not None:
                self._search.close()
            await asyncio.to_thread(store.schedule.leave, self.worker)
            await asyncio.to_thread(self._write_missing_logs)

    async def _enricher(self) -> Enricher | None:
        # Imported when needed, because it imports numpy.
        from tadoru.jobs.events.enrich.enricher import enricher_for

        return await enricher_for(self._options, self._files, self._clock, self._log_stage)

    def client_for(self, source: EventSource) -> PoliteClient:
        """The client of a source: one for each set of permitted addresses."""
        exemptions = self._allowed
        if exemptions is None:
            exemptions = Exemptions.from_list([source.named_host] if source.named_host else [])
            exemptions |= Exemptions(allow_all=source.allow_private) | self._also_allowed
        if self._options.allow_private:
            exemptions = Exemptions(allow_all=True)
        assert self._client_context is not None, "a client is made while the pool runs"
        if exemptions not in self._clients:
            fetcher = http.build_http_fetcher(
                user_agent=self._options.user_agent,
                exemptions=exemptions,
                proxy=self._options.proxy,
                verify_tls=not self._options.insecure,
                connections=self._options.concurrency,
            )
            self._clients[exemptions] = PoliteClient(self._client_context, fetcher)
        return self._clients[exemptions]

    async def run(self, sources: Iterable[EventSource], done: OnCollected = lambda collected: None) -> CycleResult:
        """Collect these sources once, due or not; each after its dependency."""
        result, every = CycleResult(), list(sources)
        tasks: dict[int, asyncio.Task[None]] = {}

        async def one(source: EventSource) -> None:
            before = tasks.get(source.depends_on or 0)
            if before is not None:
                await asyncio.wait([before])
            async with self._host_slot(source):
                if self._stop.is_set():
                    return
                if not await self._as_worker(self._store.schedule.lease, source.id):
                    result.busy.append(source)
                    return
                await self._collect(source, result, done)

        for source in sorted(every, key=lambda one: (-one.priority, one.id)):
            tasks[source.id] = asyncio.create_task(one(source))
        await _wait_for_all(tasks.values())
        await self._send_notices()
        await self._sync_search(is_last=True)
        return result

    async def run_due(self, done: OnCollected = lambda collected: None, *, forever: bool = False) -> CycleResult:
        """Collect due sources until none is left, or `forever`."""
        result = CycleResult()
        working: set[asyncio.Task[None]] = set()
        next_prune, was_cleaned = self._clock.monotonic(), False
        try:
            while not self._stop.is_set():
                free = self._options.concurrency * LEASES_PER_SLOT - len(working)
                leased = await self._as_worker(self._store.schedule.lease_due, limit=free) if free else ()
                for source in leased:
                    working.add(asyncio.create_task(self._collect_in_slot(source, result, done)))
                if forever and self._clock.monotonic() >= next_prune:
                    next_prune = self._clock.monotonic() + timedelta(days=1).total_seconds()
                    await self._prune()
                if forever:
                    result.collected.clear()
                was_cleaned = was_cleaned and not leased
                if not working:
                    if not forever and was_cleaned:
                        break
                    await (
                        self._idle() if forever else self._clean_up()
                    )  # Another worker may have died since: take over its sources.
                    was_cleaned = True
                    continue
                finished, working = await self._first(working, none_left=not leased)
                _raise_first(finished)
                await self._send_notices()
                await self._sync_search()
        finally:
            await _wait_for_all(working)
        await self._send_notices()
        await self._sync_search(is_last=True)
        return result

    async def _first(
        self, working: set[asyncio.Task[None]], *, none_left: bool
    ) -> tuple[set[asyncio.Task[None]], set[asyncio.Task[None]]]:
        """Wait until one is done, or until it is time to look for more."""
        if not none_left and len(working) < self._options.concurrency * LEASES_PER_SLOT:
            return {task for task in working if task.done()}, {task for task in working if not task.done()}
        finished, rest = await asyncio.wait(working, timeout=IDLE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return set(finished), set(rest)

    async def _idle(self) -> None:
        """Nothing is due: wait for the next source, or a while."""
        await self._clean_up()
        await self._send_notices()
        await self._sync_search()
        wait = await asyncio.to_thread(self._store.schedule.seconds_until_due)
        pause = asyncio.create_task(self._clock.sleep(min(IDLE_SECONDS, wait if wait is not None else IDLE_SECONDS)))
        woken = asyncio.create_task(self._wake.wait())
        await asyncio.wait([pause, woken], return_when=asyncio.FIRST_COMPLETED)
        for task in (pause, woken):
            task.cancel()

    @asynccontextmanager
    async def _host_slot(self, source: EventSource) -> AsyncIterator[None]:
        """Wait for the host first, then for a free slot, so that waiting for a host blocks no slot."""
        async with self._host_locks.setdefault(host_key(source.url), asyncio.Lock()), self._slots:
            yield

    async def _collect_in_slot(self, source: EventSource, result: CycleResult, done: OnCollected) -> None:
        async with self._host_slot(source):
            if self._stop.is_set():
                await asyncio.to_thread(self._store.schedule.release, self.worker, source.id)
            else:
                await self._collect(source, result, done)

    async def _collect(self, source: EventSource, result: CycleResult, done: OnCollected) -> None:
        try:
            collected = await self.collector.collect(source, self.client_for(source))
        except (CollectionStopped, WorkerRemoved):
            return
        finally:
            await asyncio.to_thread(self._store.schedule.release, self.worker, source.id)
        if collected.run.parsed_count > LARGE_RUN:
            await asyncio.to_thread(release_memory)
        result.collected.append(collected)
        done(collected)

    async def _keep_alive(self) -> None:
        """Renew the lease, and clean up after dead workers: a busy worker never idles."""
        while True:
            await self._clock.sleep(WORKER_LEASE / 3)
            assert self._client_context is not None
            lease = Expiry(self._clock, WORKER_LEASE)
            try:
                if await asyncio.to_thread(self._store.schedule.renew, self.worker, WORKER_LEASE):
                    self._client_context.lease = lease
                else:
                    await self._join_again()
                await self._clean_up()
            except StoreError as error:  # The database may be back before the lease expires.
                self._log_stage("worker", error=str(error))

    async def _as_worker(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a method of the schedule in a thread; a worker that was removed joins again before."""
        try:
            return await asyncio.to_thread(call, self.worker, *arguments, **named)
        except WorkerRemoved:
            await self._join_again()
            return await asyncio.to_thread(call, self.worker, *arguments, **named)

    async def _join_again(self) -> None:
        """Register as another worker. Runs under way were closed; their sources are due."""
        assert self._client_context is not None
        self._log_stage("worker", error="This worker did not renew its lease in time and was removed. It joins again.")
        lease = Expiry(self._clock, WORKER_LEASE)
        self.worker = self.collector.worker = self._client_context.worker = await asyncio.to_thread(
            self._store.schedule.join, WORKER_LEASE
        )
        self._client_context.lease = lease

    async def _clean_up(self) -> None:
        """Close the runs of dead workers."""
        closed = await asyncio.to_thread(self._store.schedule.reap)
        if closed:
            self._log_stage("reap", runs=closed)
            await asyncio.to_thread(self._write_missing_logs)

    def _write_missing_logs(self) -> None:
        """Write the log files of runs that were closed by another worker."""
        for run in self._store.runs.list(limit=RECENT_RUNS):
            if run.finished_at is not None and not self._files.exists(run_log_path(run)):
                write_run_log(self._files, run)

    async def _send_notices(self) -> None:
        if self._send is not None:
            await asyncio.to_thread(notify.send_notices, self._store, self._send, self._log_stage)

    async def _sync_search(self, *, is_last: bool = False) -> None:
        """Sync the search engine at intervals and at the end. What fails now is synced next time."""
        if self._search is None or (not is_last and self._clock.monotonic() < self._next_sync):
            return
        self._next_sync = self._clock.monotonic() + IDLE_SECONDS
        sync = IndexSync(self._store, self._search, self._clock, self.worker, archived=self._options.search_archived, tries=1)
        try:
            done = await sync.run()
        except SearchEngineError as error:
            self._log_stage("search", error=str(error))
            return
        if done is not None and (done.put or done.removed):
            self._log_stage("search", put=done.put, removed=done.removed)

    async def _prune(self) -> None:
        from tadoru.jobs.events.maintenance import prune_calendar

        pruned = await asyncio.to_thread(prune_calendar, self._store, self._files, to_datetime(self._clock.now()))
        self._log_stage("prune", result=str(pruned))


async def _wait_for_all(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Wait for all tasks, then raise the first exception."""
    waiting = list(tasks)
    if not waiting:
        return
    try:
        await asyncio.wait(waiting)
    except asyncio.CancelledError:
        for task in waiting:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)
        raise
    _raise_first(waiting)


def _raise_first(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Raise the first exception. All exceptions are retrieved, otherwise asyncio prints each with its traceback."""
    for error in [task.exception() for task in tasks if not task.cancelled()]:
        if error is not None:
            raise error
