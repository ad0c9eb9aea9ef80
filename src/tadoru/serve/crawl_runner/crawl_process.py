"""The process of one crawl: `python -m tadoru.serve.crawl_runner.crawl_process`, started by the dispatcher.

Its request comes as one line of JSON on standard input, because a database URL may contain a password and command lines are
visible to all users. The input stays open while the service lives. When it closes, the service is gone, and this process ends
gracefully and queues its crawl, so that the next service on the database resumes it.

A thread reports progress and reads the requested action every second, also during the analysis of the site.
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
from tadoru.errors import Message, StoreError, TadoruError, message_of
from tadoru.i18n.stored_texts import error_regression, regression_changes
from tadoru.jobs import launch
from tadoru.jobs.audit.trend import count_problems, mark_recovery
from tadoru.jobs.service_crawl import CrawlHooks, CrawlTask, RunResult, links_changes, options_for, run_crawl_task
from tadoru.log import Log
from tadoru.rules.address import Exemptions
from tadoru.serve.crawl_runner.crawl_files import crawl_path_in, keep_last_run
from tadoru.serve.crawl_runner.process_messages import CrawlRequest, NoticeSender, progress_of
from tadoru.signals import yield_cores
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.register import CrawlLost
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tadoru.store.service import ServiceStore, open_service

HEARTBEAT_SECONDS = 1.0
"""Seconds between two progress reports."""
COMPARED_RUNS = 50
STATE_AFTER_STOP = {"pause": CrawlState.PAUSED, "stop": CrawlState.STOPPED, "": CrawlState.QUEUED}


class _Stoppable(Protocol):
    def stop(self) -> None: ...


class StopRequest:
    """A request to stop the crawl, from any thread, before or while it runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # A signal handler may run in the thread that holds the lock.
        self._crawl: _Stoppable | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_requested = False
        self.is_lost = False
        """Another process holds the crawl now: write nothing more about it."""

    def attach(self, crawl: Crawler) -> None:
        """Set the crawl to stop."""
        with self._lock:
            self._crawl, self._loop = crawl, asyncio.get_running_loop()
            if self.is_requested:
                crawl.stop()

    def request(self, *, lost: bool = False) -> None:
        with self._lock:
            self.is_requested, self.is_lost = True, self.is_lost or lost
            if self._crawl is not None and self._loop is not None:
                with suppress(RuntimeError):  # The loop has ended, and the crawl with it.
                    self._loop.call_soon_threadsafe(self._crawl.stop)


class Heartbeat:
    """Reports progress and reads the requested action, in a thread."""

    def __init__(self, store: ServiceStore, crawl: ServedCrawl, stop: StopRequest, log: Log) -> None:
        self._store, self._crawl, self._stop, self._log = store, crawl, stop, log
        self._me = current()
        self._began = SystemClock().monotonic()
        self._metrics: CrawlMetrics | None = None
        self._seen: deque[tuple[float, int]] = deque(maxlen=30)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.wanted = ""
        self.notices = NoticeSender(store.messages, crawl.id)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def watch(self, metrics: CrawlMetrics, _use: float) -> None:
        """Called by the crawl, several times a second."""
        self._metrics = metrics

    def _run(self) -> None:
        # Only the main thread handles signals.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        is_last = False
        while True:
            self._report()
            if is_last:
                return
            is_last = self._over.wait(HEARTBEAT_SECONDS)

    def _report(self) -> None:
        now = SystemClock().monotonic()
        progress = progress_of(self._metrics, now - self._began, self._seen, now)
        try:
            self.wanted = self._store.claims.beat(self._crawl.id, self._me, progress) or self.wanted
            self.notices.send_pending()
        except CrawlLost:
            self._stop.request(lost=True)
        except StoreError as error:
            # Retried at the next heartbeat; the results are in another database.
            self._log.write("warning", f"crawl {self._crawl.id}: {error}", crawl_id=self._crawl.id)
        if self.wanted:
            self._stop.request()


def main() -> int:
    """Run the crawl of the request on standard input."""
    line = _read_request_line()
    if not line:
        return 0  # The service ended before it wrote the request.
    request = CrawlRequest.from_json(line)
    stop = StopRequest()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.request())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # A terminal sends it to all processes; the service stops this one.
    threading.Thread(target=_exit_with_parent, args=(stop,), name="service", daemon=True).start()
    log = Log(sys.stderr, SystemClock(), form=request.log_format, level=request.log_level)
    yield_cores()
    launch.tune_process()
    try:
        with closing(open_service(request.database)) as store:
            if store.crawls.get(request.crawl_id).is_ours:
                os.umask(0o077)  # Files that an operator added keep their permissions.
            return run_crawl(request, store, stop, log)
    except TadoruError as error:
        log.write("error", f"crawl {request.crawl_id}: {error}", crawl_id=request.crawl_id)
        return 1


def _read_request_line() -> bytes:
    """The first line of standard input, read without buffering: a thread reads the rest until the end."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            return b""
        line += piece
    return line


def _exit_with_parent(stop: StopRequest) -> None:
    """Stop when standard input closes, which happens when the service ends."""
    with suppress(OSError):
        os.read(0, 1)
    stop.request()


def run_crawl(request: CrawlRequest, store: ServiceStore, stop: StopRequest, log: Log) -> int:
    """Run the crawl until it ends or is stopped, and record the result."""
    crawl, me = store.crawls.get(request.crawl_id), current()
    path = crawl_path_in(request.database, crawl)
    order = CrawlTask(
        job=crawl.job, starts=crawl.starts, options=options_for(crawl.job, request.operators, crawl.options), path=path,
        again=crawl.again, allowed=Exemptions.from_list(request.private),
    )  # fmt: skip
    log.write("info", "crawl started", crawl_id=crawl.id, job=crawl.job, again=crawl.again)
    came = RunResult(is_over=False)
    error: Message | None = None
    with Heartbeat(store, crawl, stop, log) as heartbeat:
        hooks = CrawlHooks(
            notify=_notice_handler(heartbeat.notices, log, crawl.id), watch=heartbeat.watch, on_created=stop.attach,
            on_prepared=lambda: store.claims.mark_restarted(crawl.id, me), is_stopped=lambda: stop.is_requested,
        )  # fmt: skip
        try:
            keep_last_run(request.database, crawl, store.crawls.runs(crawl.id, limit=COMPARED_RUNS))
            came = run_crawl_task(order, hooks)
            error = came.error
        except CrawlLost:
            stop.request(lost=True)
        except TadoruError as problem:
            error = _without_path(problem, str(path), crawl.id)
        except OSError as problem:
            error = Message(
                "Cannot write the crawl files: {reason}. Free some disk space and run the crawl again.", reason=problem.strerror
            )
        except Exception as problem:
            log.write("error", "crawl failed", crawl_id=crawl.id, error=type(problem).__name__, at=_frames(problem))
            error = Message("Bug in Tadoru ({error}). Please report it with the service log.", error=type(problem).__name__)
        for note in came.notes:
            heartbeat.notices.send("info", note)
    if stop.is_lost:
        return 1
    state = (
        CrawlState.FAILED if error is not None else CrawlState.FINISHED if came.is_over else STATE_AFTER_STOP[heartbeat.wanted]
    )
    return _record_end(store, crawl, state, error, came, log)


def _record_end(
    store: ServiceStore, crawl: ServedCrawl, state: CrawlState, error: Message | None, came: RunResult, log: Log
) -> int:
    changes = _run_changes(store, crawl, error, came) if state in (CrawlState.FINISHED, CrawlState.FAILED) else {}
    with suppress(CrawlLost):
        store.claims.end(crawl.id, current(), state, error=error or "", figures=came.figures, changes=changes)
        log.write("error" if error else "info", f"crawl {state.value}", crawl_id=crawl.id, error=error or "")
        return 0
    return 1


def _run_changes(store: ServiceStore, crawl: ServedCrawl, error: Message | None, came: RunResult) -> dict[str, Any]:
    """The changes of this run against earlier runs: regression, recovery, or neither."""
    runs = [run for run in store.crawls.runs(crawl.id, limit=COMPARED_RUNS) if run.ended_at is not None]
    finished = next((run for run in runs if run.outcome == "finished"), None)
    changes: Mapping[str, Any] = came.changes
    if error is not None:
        since = runs[: runs.index(finished)] if finished is not None else runs
        is_news = finished is not None and not any(run.changes.get("regression") for run in since)
        changes = regression_changes([error_regression(error)] if is_news else [])
    elif crawl.job == "links" and finished is not None:
        changes = links_changes(came.figures, finished.figures)
    figures = came.figures if count_problems(came.figures) is not None else {}
    return mark_recovery(changes, figures, [(run.outcome, run.figures, run.changes) for run in runs])


def _without_path(problem: TadoruError, path: str, crawl_id: int) -> Message:
    """The message of an error with the crawl in place of its path, which users of the service do not know."""
    crawl = Message("of crawl {id}", id=crawl_id)
    return message_of(problem).map_values(lambda text: crawl if text == path else text.replace(path, str(crawl)))


def _frames(problem: BaseException) -> str:
    """The source lines of an exception, without values, which may contain user input."""
    return " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(extract_tb(problem.__traceback__)[-8:]))


def _notice_handler(notices: NoticeSender, log: Log, number: int) -> Any:
    def notify(notice: CrawlNotification) -> None:
        notices.add(notice)
        if (broke := NoticeSender.bug_report(notice)) is not None:
            log.write("error", f"bug in Tadoru on {broke[0]}: please report it", crawl_id=number, trace=broke[1])

    return notify


if __name__ == "__main__":
    sys.exit(main())
