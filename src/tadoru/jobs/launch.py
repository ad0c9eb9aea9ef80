"""Runs a crawl: connects store, fetcher and engine, and starts the sibling processes that share the work.

A sibling is a complete engine on the same store, like a second invocation of the command. So processes need no protocol between
them, and a lost process is like any lost worker.
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
from typing import Any, TypeVar

from tadoru.clock import Clock, SystemClock
from tadoru.engine.crawl import Crawler, CrawlOutcome
from tadoru.engine.host_queues import HostAssignment
from tadoru.engine.job import CrawlJob, CrawlPolicy
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.engine.page_fetch import release_memory
from tadoru.errors import TadoruError
from tadoru.fetch.base import BrowserOptions, Fetcher, MayRequest, Renderer, WaitForTurn
from tadoru.fetch.credentials import Credentials
from tadoru.fetch.local_files import LocalFileFetcher, LocalSite
from tadoru.rules.address import Exemptions
from tadoru.signals import stop_signals
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.metrics import CrawlMetrics

T = TypeVar("T")
ProgressCallback = Callable[[CrawlMetrics, float], None]
"""Called from time to time with the metrics of the crawl and the utilization of this process, from 0 to 1."""
PROGRESS_INTERVAL = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAccess:
    """How the crawl identifies itself to servers, and where it may connect."""

    user_agent: str
    exemptions: Exemptions = Exemptions()
    credentials: Credentials = Credentials()
    proxy: str | None = None
    verify_tls: bool = True
    local: LocalSite | None = None
    """The folder whose URLs are read from the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """A crawl that is ready to run. Picklable for sibling processes."""

    job: CrawlJob
    policy: CrawlPolicy
    access: NetworkAccess
    database: str
    durable: bool = True
    processes: int = 1
    render: bool = False
    """Whether pages may be rendered."""
    rendering: BrowserOptions = BrowserOptions()

    def for_one_process(self) -> CrawlPlan:
        """The plan of one process, with its share of the concurrent requests."""
        return replace(self, policy=replace(self.policy, concurrency=max(1, -(-self.policy.concurrency // self.processes))))


def pick_processes(processes: int | None, delay: float) -> int:
    """The number of processes. By default one, because a paced crawl of a site needs no more, and all cores without a delay."""
    if processes is not None:
        return processes
    return (os.cpu_count() or 1) if delay == 0 else 1


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, with uvloop where it is available."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def build_renderer(access: NetworkAccess, rendering: BrowserOptions, before: WaitForTurn, allow: MayRequest) -> Renderer:
    """A browser for the crawl."""
    # Imported late: only a crawl that renders needs it.
    from tadoru.fetch.browser.browser import Browser
    from tadoru.fetch.browser.request_filter import BrowserPolicy

    return Browser(
        user_agent=access.user_agent,
        exemptions=access.exemptions,
        policy=BrowserPolicy(wait_for_turn=before, may_request=allow, credentials=access.credentials),
        options=rendering,
        proxy=access.proxy,
        verify_tls=access.verify_tls,
    )


def build_fetcher(access: NetworkAccess, concurrency: int) -> Fetcher:
    """The fetcher of a crawl."""
    if access.local is not None:
        return LocalFileFetcher(access.local, partial(build_fetcher, replace(access, local=None), concurrency))
    from tadoru.fetch import http  # Imported late: aiohttp takes 0.3 s to import.

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
    on_created: Callable[[Crawler], None] | None = None,
    clock: Clock | None = None,
    assignment: HostAssignment | None = None,
) -> CrawlOutcome:
    """Run the part of a crawl that one process does. `on_created` is called with the crawler before it starts, to be able to stop
    it. With an assignment only the assigned hosts are crawled."""
    from tadoru.store.crawl.open import open_beside  # Other commands use this module too, without a crawl.

    clock = clock or SystemClock()
    store = await open_beside(plan.database, clock, durable=plan.durable)
    fetcher = build_fetcher(plan.access, plan.policy.concurrency)
    renderer: Renderer | None = None
    try:
        work = Crawler(
            job=plan.job, policy=plan.policy, store=store, fetcher=fetcher, clock=clock, notify=notify, assignment=assignment
        )
        if plan.render:
            renderer = work.render_with(partial(build_renderer, plan.access, plan.rendering))
        if on_created is not None:
            on_created(work)
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

    async def report() -> None:
        while True:
            watch(await store.frontier.metrics(), work.utilization)
            await clock.sleep(PROGRESS_INTERVAL)

    progress_task = asyncio.create_task(report())
    try:
        yield
    finally:
        progress_task.cancel()
        with suppress(asyncio.CancelledError):
            await progress_task
        watch(await store.frontier.metrics(), work.utilization)


def run(plan: CrawlPlan, notify: Notify, watch: ProgressCallback | None = None) -> CrawlOutcome:
    """Run a crawl from a command, with sibling processes and signal handling. In the main thread only."""
    if plan.access.local is None:
        import_module("tadoru.fetch.http")  # Before the fork, so that siblings need not import it again.
    siblings = SiblingProcesses(plan, notify)
    block_stop_signals()
    try:
        siblings.start()
        tune_process()
        return run_loop(_run_with_signals(plan.for_one_process(), notify, watch, siblings))
    except BaseException:
        siblings.stop(now=True)
        raise
    finally:
        unblock_stop_signals()
        siblings.join()
        release_memory()


def block_stop_signals() -> None:
    """Block stop signals until the crawl can handle them: a sibling may run before this process does."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *stop_signals()})


def unblock_stop_signals() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *stop_signals()})


def tune_process() -> None:
    """Tune the garbage collector and malloc for a crawl: measured, parsing takes half the time.

    glibc would return the memory of each parsed page to the system and request it again for the next one, and give each thread an
    arena of its own, where the holes of large sources stay.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_TRIM_THRESHOLD, 64 << 20)
            libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)
            libc.mallopt(_M_TOP_PAD, 8 << 20)
            libc.mallopt(_M_ARENA_MAX, 2)


_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -2, -3, -8


async def _run_with_signals(
    plan: CrawlPlan, notify: Notify, watch: ProgressCallback | None, siblings: SiblingProcesses
) -> CrawlOutcome:
    """The first Ctrl-C or SIGTERM finishes requests in flight, the second stops immediately; leases are released either way."""
    crawlers: list[Crawler] = []
    task = asyncio.create_task(crawl(plan, notify, watch=watch, on_created=crawlers.append))
    signals = 0

    def stop() -> None:
        nonlocal signals
        signals += 1
        siblings.stop(now=signals > 1)
        if signals == 1 and crawlers:
            crawlers[0].stop()
        else:
            task.cancel()

    with handle_stop_signals(stop):
        unblock_stop_signals()
        try:
            ended = await task
        except asyncio.CancelledError:
            if not signals:
                raise
            ended = CrawlOutcome(stopped=True)
        # While the loop still handles signals: a second one is for the siblings that are still running.
        await siblings.ended()
        return ended


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call `stop` at the first stop signal and cancel the current task at the second. Yields whether a signal has arrived."""
    task = asyncio.current_task()
    assert task is not None
    signals = 0

    def receive() -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            task.cancel()
        else:
            stop()

    with handle_stop_signals(receive):
        yield lambda: signals > 0


@contextmanager
def handle_stop_signals(call: Callable[[], None], *, interrupts: bool = True) -> Iterator[None]:
    """Call a function for each stop signal; without `interrupts`, Ctrl-C stays as it is. Loops on Windows handle no signals."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, *stop_signals()) if interrupts else stop_signals()
    before = {number: signal.getsignal(number) for number in numbers}
    with suppress(NotImplementedError):
        for number in before:
            loop.add_signal_handler(number, call)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)  # The loop would leave the default handler, which ends the process silently.


# A fork takes milliseconds and no second import; no thread has been started yet when siblings start.
_Fork = multiprocessing.get_context("fork").Process if sys.platform == "linux" else None
_Process = _Fork or multiprocessing.get_context("spawn").Process


class SiblingProcesses:
    """The other processes of this crawl. They end when the work is done or when this process ends."""

    def __init__(self, plan: CrawlPlan, notify: Notify) -> None:
        # Only a forked process can use `notify`; a spawned one is visible in the shared counts only.
        sibling_notify = notify if _Process is _Fork else ignore_notification
        self._processes = [
            _Process(target=_run_sibling, args=(plan, sibling_notify), name=f"tadoru-{n}") for n in range(1, plan.processes)
        ]

    def start(self) -> None:
        for process in self._processes:
            process.start()

    def stop(self, *, now: bool = False) -> None:
        """Let them finish requests in flight; `now`: kill them, because a second SIGTERM might be merged with the first."""
        for process in self._processes:
            if process.is_alive():
                process.kill() if now else process.terminate()

    async def ended(self) -> None:
        """Wait until all of them have ended."""
        if sys.platform == "win32":
            return  # The loop cannot watch their sentinels; `join` waits.
        loop = asyncio.get_running_loop()
        for process in self._processes:
            ended = asyncio.Event()
            loop.add_reader(process.sentinel, ended.set)
            await ended.wait()
            loop.remove_reader(process.sentinel)

    def join(self) -> None:
        for process in self._processes:
            if process.pid is not None:  # It could be started.
                process.join()


def _run_sibling(plan: CrawlPlan, notify: Notify) -> None:
    """The main function of a sibling process."""
    for number in {signal.SIGINT, *stop_signals()} - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)  # The parent stops it; signals of a terminal reach both.
    tune_process()
    # The parent reports errors of the store or the options.
    with suppress(TadoruError, KeyboardInterrupt):
        run_loop(_crawl_as_sibling(plan.for_one_process(), notify))


async def _crawl_as_sibling(plan: CrawlPlan, notify: Notify) -> None:
    loop = asyncio.get_running_loop()
    crawlers: list[Crawler] = []
    task = asyncio.create_task(crawl(plan, notify, on_created=crawlers.append))
    signals = 0

    def stop() -> None:
        nonlocal signals
        signals += 1
        if signals == 1 and crawlers:
            crawlers[0].stop()
        else:
            task.cancel()

    parent = multiprocessing.parent_process()
    with suppress(NotImplementedError):  # Windows: there the parent kills it.
        loop.add_signal_handler(signal.SIGTERM, stop)
        if parent is not None:
            loop.add_reader(parent.sentinel, task.cancel)
    unblock_stop_signals()
    with suppress(asyncio.CancelledError):
        await task


def ignore_notification(notification: CrawlNotification) -> None:
    """Drop a notification."""
