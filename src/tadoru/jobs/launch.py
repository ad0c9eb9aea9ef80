"""Where a crawl's objects meet: store, fetcher, engine, and the sibling processes that share the work.

A sibling is a whole engine of its own on the same store, as a second invocation of the command would be; so one process more
needs no protocol between processes, and one process less is a dead worker like any other.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from tadoru.clock import Clock, SystemClock
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.host_queues import HostAssignment
from tadoru.engine.job import CrawlJob, CrawlPolicy
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.errors import TadoruError
from tadoru.fetch.base import Fetcher, MayRequest, Renderer, WaitForTurn
from tadoru.fetch.credentials import Credentials
from tadoru.rules.address import Exemptions
from tadoru.signals import stop_signals
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.open import open_store

T = TypeVar("T")
ProgressCallback = Callable[[CrawlMetrics, float], None]
"""Told now and then how the crawl stands, and how busy this process is, from 0 to 1."""
PROGRESS_INTERVAL = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAccess:
    """How the crawl presents itself to servers, and where it may connect."""

    user_agent: str
    exemptions: Exemptions = Exemptions()
    credentials: Credentials = Credentials()
    proxy: str | None = None
    verify_tls: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """How a browser is used, where one is."""

    quiet: float = 0.5
    """Seconds in which nothing may move before a page counts as complete."""
    headed: bool = False
    profile: str | None = None
    """A folder that keeps its session."""
    places: int = 2
    """Pages at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """A crawl, ready to run. Picklable, so that a sibling can be given it."""

    job: CrawlJob
    policy: CrawlPolicy
    access: NetworkAccess
    database: str
    durable: bool = True
    processes: int = 1
    render: bool = False
    """Whether pages may be given to a browser."""
    rendering: RenderOptions = RenderOptions()

    def share(self) -> CrawlPlan:
        """One process's part: its share of the places for requests in flight."""
        return replace(self, policy=replace(self.policy, concurrency=max(1, -(-self.policy.concurrency // self.processes))))


def pick_processes(asked: int | None, delay: float) -> int:
    """`auto`: a paced crawl of a site never needs more than one core; an unpaced one takes them all."""
    if asked is not None:
        return asked
    return (os.cpu_count() or 1) if delay == 0 else 1


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where there is one."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if sys.platform != "win32":
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def build_renderer(access: NetworkAccess, rendering: RenderOptions, before: WaitForTurn, allow: MayRequest) -> Renderer:
    # Late: only a crawl that renders needs it.
    from tadoru.fetch.browser.browser import Browser, BrowserOptions
    from tadoru.fetch.browser.request_filter import BrowserPolicy

    return Browser(
        user_agent=access.user_agent,
        exemptions=access.exemptions,
        policy=BrowserPolicy(wait_for_turn=before, may_request=allow, credentials=access.credentials),
        options=BrowserOptions(
            pages=rendering.places,
            headed=rendering.headed,
            profile=Path(rendering.profile) if rendering.profile else None,
            quiet=rendering.quiet,
        ),
        proxy=access.proxy,
        verify_tls=access.verify_tls,
    )


def build_fetcher(access: NetworkAccess, concurrency: int) -> Fetcher:
    from tadoru.fetch import http  # Late: the HTTP client takes 0.3 s to import, and a mistake in the command needs none.

    return http.build_http_fetcher(
        user_agent=access.user_agent,
        exemptions=access.exemptions,
        credentials=access.credentials,
        proxy=access.proxy,
        verify_tls=access.verify_tls,
        connections=concurrency,
    )


async def crawl(
    plan: CrawlPlan,
    notify: Notify,
    *,
    watch: ProgressCallback | None = None,
    steer: Callable[[Crawler], None] | None = None,
    clock: Clock | None = None,
    assignment: HostAssignment | None = None,
) -> CrawlOutcome:
    """This process's share. `steer` is handed the crawl before it starts, to be able to stop it; a roster says which hosts it
    may ask, when somebody else decides that."""
    clock = clock or SystemClock()
    store = open_store(plan.database, clock, durable=plan.durable)
    fetcher = build_fetcher(plan.access, plan.policy.concurrency)
    renderer: Renderer | None = None
    try:
        work = Crawler(
            job=plan.job, policy=plan.policy, store=store, fetcher=fetcher, clock=clock, notify=notify, assignment=assignment
        )
        if plan.render:
            renderer = work.render_with(partial(build_renderer, plan.access, plan.rendering))
        if steer is not None:
            steer(work)
        async with _report_progress(store, work, watch, clock):
            return await work.run()
    finally:
        if renderer is not None:
            await renderer.close()
        await fetcher.close()
        await store.close()


@asynccontextmanager
async def _report_progress(store: CrawlStore, work: Crawler, watch: ProgressCallback | None, clock: Clock) -> AsyncIterator[None]:
    if watch is None:
        yield
        return

    async def look() -> None:
        while True:
            watch(await store.metrics(), work.utilization)
            await clock.sleep(PROGRESS_INTERVAL)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        watch(await store.metrics(), work.utilization)


def run(plan: CrawlPlan, notify: Notify, watch: ProgressCallback | None = None) -> CrawlOutcome:
    """The whole crawl from a command: siblings, signals, this process's share. The main thread only."""
    import_module("tadoru.fetch.http")  # Before the fork: siblings must not import it once more each.
    siblings = SiblingProcesses(plan, notify)
    block_stop_signals()
    try:
        siblings.start()
        tune_process()
        return run_loop(_run_with_signals(plan.share(), notify, watch, siblings))
    except BaseException:
        siblings.stop(now=True)
        raise
    finally:
        unblock_stop_signals()
        siblings.join()
        _release_memory()


def block_stop_signals() -> None:
    """Signals that ask to stop wait until there is a crawl to answer them: a sibling may be at work before this process is."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *stop_signals()})


def unblock_stop_signals() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *stop_signals()})


def tune_process() -> None:
    """Settings for a process that does nothing but crawl: both were measured, parsing takes half the time with them.

    glibc gives the memory of each parsed page back to the system and faults it in again for the next one, unless told to keep it.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_TRIM_THRESHOLD, 64 << 20)
            libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)
            libc.mallopt(_M_TOP_PAD, 8 << 20)


def _release_memory() -> None:
    """The crawl is over: its memory is the system's again before a report is written."""
    gc.collect()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):
            libc.malloc_trim(0)


_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3


async def _run_with_signals(
    plan: CrawlPlan, notify: Notify, watch: ProgressCallback | None, siblings: SiblingProcesses
) -> CrawlOutcome:
    """Ctrl-C or SIGTERM once: finish what is in flight. Twice: stop now; leases are given back either way."""
    held: list[Crawler] = []
    task = asyncio.create_task(crawl(plan, notify, watch=watch, steer=held.append))
    asked = 0

    def asked_to_stop() -> None:
        nonlocal asked
        asked += 1
        siblings.stop(now=asked > 1)
        if asked == 1 and held:
            held[0].stop()
        else:
            task.cancel()

    with handle_stop_signals(asked_to_stop):
        unblock_stop_signals()
        try:
            ended = await task
        except asyncio.CancelledError:
            if not asked:
                raise
            ended = CrawlOutcome(stopped=True)
        # With the loop still there to hear it: a second signal is for those that are still at work.
        await siblings.ended()
        return ended


@contextmanager
def handle_stop_signals(call: Callable[[], None]) -> Iterator[None]:
    """Call it for every signal that asks to stop."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *stop_signals())}
    with suppress(NotImplementedError):
        for number in before:
            loop.add_signal_handler(number, call)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)  # The loop leaves the system's own behind: to die without a word.


# A fork costs milliseconds and no second import; nothing has started a thread yet when siblings start.
_Fork = multiprocessing.get_context("fork").Process if sys.platform == "linux" else None
_Process = _Fork or multiprocessing.get_context("spawn").Process


class SiblingProcesses:
    """The other processes of this crawl. They end by themselves when the work is done, or when this process is gone."""

    def __init__(self, plan: CrawlPlan, notify: Notify) -> None:
        # Only a fork can hand over the caller's own notify; a spawned sibling shows in the shared counts alone.
        told = notify if _Process is _Fork else _ignore
        self._processes = [_Process(target=_run_sibling, args=(plan, told), name=f"tadoru-{n}") for n in range(1, plan.processes)]

    def start(self) -> None:
        for process in self._processes:
            process.start()

    def stop(self, *, now: bool = False) -> None:
        """Ask them to finish what is in flight; `now`: end them, because a second SIGTERM might be merged with the first."""
        for process in self._processes:
            if process.is_alive():
                process.kill() if now else process.terminate()

    async def ended(self) -> None:
        """Return when all of them have ended."""
        if sys.platform == "win32":
            return  # Their sentinels cannot be watched by a loop; `join` waits.
        loop = asyncio.get_running_loop()
        for process in self._processes:
            gone = asyncio.Event()
            loop.add_reader(process.sentinel, gone.set)
            await gone.wait()
            loop.remove_reader(process.sentinel)

    def join(self) -> None:
        for process in self._processes:
            process.join()


def _run_sibling(plan: CrawlPlan, notify: Notify) -> None:
    """The main function of a sibling."""
    for number in {signal.SIGINT, *stop_signals()} - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)  # The parent tells when to stop; what a terminal sends reaches both.
    tune_process()
    # What is wrong with the store or the options the parent meets too, and says.
    with suppress(TadoruError, KeyboardInterrupt):
        run_loop(_crawl_as_sibling(plan.share(), notify))


async def _crawl_as_sibling(plan: CrawlPlan, notify: Notify) -> None:
    loop = asyncio.get_running_loop()
    held: list[Crawler] = []
    task = asyncio.create_task(crawl(plan, notify, steer=held.append))
    asked = 0

    def asked_to_stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 1 and held:
            held[0].stop()
        else:
            task.cancel()

    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, asked_to_stop)
    unblock_stop_signals()
    parent = multiprocessing.parent_process()
    if parent is not None:
        loop.add_reader(parent.sentinel, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _ignore(notice: CrawlNotification) -> None:
    """Nobody is told."""
