"""The process of one crawl: `python -m tadoru.serve.crawl_runner.crawl_process`, started by the dispatcher.

What it is to do comes as one line of JSON on its standard input: an address may hold a password, and what is on a command line
everybody sees. The input stays open for as long as the service lives; when it ends, the service is gone, and so this process ends
as well: gracefully, with the crawl queued, so that whoever serves the database next goes on with it.

A thread says once a second how it goes and hears what is wanted, also while the site is analysed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from traceback import extract_tb
from typing import Any, Protocol

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Crawler
from tadoru.engine.notifications import CrawlNotification
from tadoru.errors import StoreError, TadoruError
from tadoru.jobs import launch
from tadoru.jobs.audit.trend import count_problems, mark_recovery
from tadoru.jobs.service_crawl import CrawlHooks, CrawlTask, RunResult, links_changes, options_for, run_crawl_task
from tadoru.log import Log
from tadoru.rules.address import Exemptions
from tadoru.serve.crawl_runner.crawl_files import crawl_path_in
from tadoru.serve.crawl_runner.process_messages import CrawlRequest, NoticeSender, progress_of
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.claims import CrawlLost
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tadoru.store.service import ServiceStore, open_service

HEARTBEAT_SECONDS = 1.0
"""Seconds between two words about how it goes."""
COMPARED_RUNS = 50
STATE_AFTER_STOP = {"pause": CrawlState.PAUSED, "stop": CrawlState.STOPPED, "": CrawlState.QUEUED}


class _Stoppable(Protocol):
    def stop(self) -> None: ...


class StopRequest:
    """That the crawl should end, said by any thread before or while it runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # A signal may say it in the very thread that holds it.
        self._crawl: _Stoppable | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_said = False
        self.is_lost = False
        """The crawl is somebody else's by now: nothing more is to be written about it."""

    def take(self, crawl: Crawler) -> None:
        """Here is the crawl."""
        with self._lock:
            self._crawl, self._loop = crawl, asyncio.get_running_loop()
            if self.is_said:
                crawl.stop()

    def say(self, *, lost: bool = False) -> None:
        with self._lock:
            self.is_said, self.is_lost = True, self.is_lost or lost
            if self._crawl is not None and self._loop is not None:
                with suppress(RuntimeError):  # The loop has ended: so has the crawl.
                    self._loop.call_soon_threadsafe(self._crawl.stop)


class Heartbeat:
    """Says how it goes, and hears what is wanted."""

    def __init__(self, store: ServiceStore, crawl: ServedCrawl, wish: StopRequest, log: Log) -> None:
        self._store, self._crawl, self._wish, self._log = store, crawl, wish, log
        self._me = current()
        self._began = SystemClock().monotonic()
        self._metrics: CrawlMetrics | None = None
        self._seen: deque[tuple[float, int]] = deque(maxlen=30)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="beats", daemon=True)
        self.wanted = ""
        self.notices = NoticeSender(store, crawl.id)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def watch(self, metrics: CrawlMetrics, _use: float) -> None:
        """Called by the crawl, several times a second."""
        self._metrics = metrics

    def _go_on(self) -> None:
        # Signals are the main thread's.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        is_last = False
        while True:
            self._say()
            if is_last:
                return
            is_last = self._over.wait(HEARTBEAT_SECONDS)

    def _say(self) -> None:
        now = SystemClock().monotonic()
        progress = progress_of(self._metrics, now - self._began, self._seen, now)
        try:
            self.wanted = self._store.beat(self._crawl.id, self._me, progress) or self.wanted
            self.notices.hand_on()
        except CrawlLost:
            self._wish.say(lost=True)
        except StoreError as error:
            # Tried again at the next beat; what is crawled is in a database of its own.
            self._log.write("warning", f"crawl {self._crawl.id}: {error}", crawl_id=self._crawl.id)
        if self.wanted:
            self._wish.say()


def main() -> int:
    """Do the errand on standard input."""
    line = _read_request_line()
    if not line:
        return 0  # Whoever started this died at once.
    errand = CrawlRequest.loaded(line)
    wish = StopRequest()
    signal.signal(signal.SIGTERM, lambda _number, _frame: wish.say())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A terminal sends it to everybody; the service tells us when to end.
    threading.Thread(target=_exit_with_parent, args=(wish,), name="service", daemon=True).start()
    log = Log(sys.stderr, SystemClock(), form=errand.log_format, level=errand.log_level)
    launch.tune_process()
    try:
        with closing(open_service(errand.database)) as store:
            if store.crawl(errand.crawl_id).is_ours:
                os.umask(0o077)  # What an operator named keeps the rights that it was given.
            return run_crawl(errand, store, wish, log)
    except TadoruError as error:
        log.write("error", f"crawl {errand.crawl_id}: {error}", crawl_id=errand.crawl_id)
        return 1


def _read_request_line() -> bytes:
    """The first line of the input, read without Python's buffers: a thread is at the input until the very end."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            return b""
        line += piece
    return line


def _exit_with_parent(wish: StopRequest) -> None:
    """Nothing is ever written to the input again: it ends when the service does."""
    with suppress(OSError):
        os.read(0, 1)
    wish.say()


def run_crawl(errand: CrawlRequest, store: ServiceStore, wish: StopRequest, log: Log) -> int:
    """Run the crawl to its end, or to where it is stopped, and write down how that was."""
    crawl, me = store.crawl(errand.crawl_id), current()
    path = crawl_path_in(errand.database, crawl)
    order = CrawlTask(
        job=crawl.job, starts=crawl.starts, options=options_for(crawl.job, errand.operators, crawl.options), path=path,
        again=crawl.again, allowed=Exemptions.from_list(errand.private),
    )  # fmt: skip
    log.write("info", f"crawl {crawl.id} runs", crawl_id=crawl.id, job=crawl.job, again=crawl.again)
    came, error = RunResult(is_over=False), ""
    with Heartbeat(store, crawl, wish, log) as beats:
        hooks = CrawlHooks(
            notify=_notice_handler(beats.notices, log, crawl.id), watch=beats.watch, steer=wish.take,
            begun=lambda: store.mark_restarted(crawl.id, me), is_stopped=lambda: wish.is_said,
        )  # fmt: skip
        try:
            came = run_crawl_task(order, hooks)
            error = came.error
        except CrawlLost:
            wish.say(lost=True)
        except TadoruError as problem:
            error = str(problem).replace(str(path), f"of crawl {crawl.id}")
        except OSError as problem:
            error = f"Its files could not be written ({problem.strerror}): free some disk space, and run it again."
        except Exception as problem:
            log.write("error", f"crawl {crawl.id} broke", crawl_id=crawl.id, error=type(problem).__name__, at=_frames(problem))
            error = f"Tadoru failed on it ({type(problem).__name__}): please report this, with the log of the service."
        for note in came.notes:
            beats.notices.say("info", note)
    if wish.is_lost:
        return 1
    state = CrawlState.FAILED if error else CrawlState.FINISHED if came.is_over else STATE_AFTER_STOP[beats.wanted]
    return _record_end(store, crawl, state, error, came, log)


def _record_end(store: ServiceStore, crawl: ServedCrawl, state: CrawlState, error: str, came: RunResult, log: Log) -> int:
    changes = _run_changes(store, crawl, state, error, came) if state in (CrawlState.FINISHED, CrawlState.FAILED) else {}
    with suppress(CrawlLost):
        store.end_crawl(crawl.id, current(), state, error=error, figures=came.figures, changes=changes)
        log.write("error" if error else "info", f"crawl {crawl.id} is {state.value}", crawl_id=crawl.id, error=error)
        return 0
    return 1


def _run_changes(store: ServiceStore, crawl: ServedCrawl, state: CrawlState, error: str, came: RunResult) -> dict[str, Any]:
    """What this run means after those before it: worse, well again, or neither."""
    runs = [run for run in store.crawl_runs(crawl.id, limit=COMPARED_RUNS) if run.ended_at is not None]
    finished = next((run for run in runs if run.outcome == "finished"), None)
    changes: Mapping[str, Any] = came.changes
    if state is CrawlState.FAILED:
        since = runs[: runs.index(finished)] if finished is not None else runs
        is_news = finished is not None and not any(run.changes.get("regression") for run in since)
        changes = {"regression": is_news, "reasons": [error] if is_news else []}
    elif crawl.job == "links" and finished is not None:
        changes = links_changes(came.figures, finished.figures)
    figures = came.figures if count_problems(came.figures) is not None else {}
    return mark_recovery(changes, figures, [(run.outcome, run.figures, run.changes) for run in runs])


def _frames(problem: BaseException) -> str:
    """Where it went wrong. Only places: values may be what somebody typed."""
    return " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(extract_tb(problem.__traceback__)[-8:]))


def _notice_handler(notices: NoticeSender, log: Log, number: int) -> Any:
    def notify(notice: CrawlNotification) -> None:
        notices.hear(notice)
        if (broke := NoticeSender.is_our_fault(notice)) is not None:
            log.write(
                "error", f"crawl {number}: Tadoru failed on {broke[0]}; please report this", crawl_id=number, trace=broke[1]
            )

    return notify


if __name__ == "__main__":
    sys.exit(main())
