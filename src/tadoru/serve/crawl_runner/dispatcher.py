"""The thread that runs crawls: it claims queued crawls, starts a process for each, and monitors how they end.

Every process of the service has one; the database decides which claims a crawl, so that each crawl runs once. At shutdown the
crawl processes are stopped and their crawls queued: the next start resumes them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

from tadoru.errors import Message, StoreError
from tadoru.serve.crawl_runner.crawl_files import used_bytes
from tadoru.serve.crawl_runner.notifier import WebhookNotifier
from tadoru.serve.crawl_runner.process_messages import CrawlRequest
from tadoru.serve.service import Service
from tadoru.store.crawl.workers import WorkerIdentity, current, identity_of, machine_name
from tadoru.store.served_crawls.register import CrawlLost
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

POLL_SECONDS = 1.0
"""Seconds between two polls."""
POLLS_PER_MEASUREMENT = 10
"""Polls between two measurements of disk usage."""
MAX_POLLS_WITHOUT_CRAWL = 30
"""Polls after which a process that lost its crawl is killed."""
COMMAND = (sys.executable, "-P", "-m", "tadoru.serve.crawl_runner.crawl_process")


@dataclass(slots=True)
class CrawlChild:
    """A crawl process of this dispatcher."""

    crawl_id: int
    process: subprocess.Popen[bytes]
    identity: WorkerIdentity
    polls_without_crawl: int = 0
    """Polls since the process lost its crawl."""


class Dispatcher:
    """Runs crawls for one process of the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._me = current()
        self._here = machine_name()
        self._wake = threading.Event()
        self._is_over = False
        self._running: list[CrawlChild] = []
        self._polls = 0
        self._notifier = WebhookNotifier(service)
        self._thread = threading.Thread(target=self._run, name="crawls", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Poll immediately."""
        self._wake.set()

    def stop(self) -> None:
        """Stop the processes, gracefully within the shutdown timeout, and queue their crawls."""
        self._is_over = True
        self._wake.set()
        self._thread.join()
        running = self._running
        for one in running:
            one.process.terminate()
        clock = self._service.clock
        until = clock.monotonic() + self._service.options.shutdown_timeout
        for one in running:
            try:
                one.process.wait(max(0.1, until - clock.monotonic()))
            except subprocess.TimeoutExpired:
                _kill(one.process)
            with suppress(CrawlLost, StoreError):  # It recorded its end itself, or the database is unavailable.
                self._service.store.claims.end(one.crawl_id, one.identity, CrawlState.QUEUED)
            _close_stdin(one.process)
        self._notifier.stop()

    def _run(self) -> None:
        log = self._service.log
        while not self._is_over:
            try:
                self.poll()
            except StoreError as error:
                log.write("error", "crawls cannot be dispatched", error=str(error))
            except Exception as error:  # Retried at the next poll.
                log.write("error", "dispatcher failed", error=type(error).__name__)
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()

    def poll(self) -> None:
        """Remove ended processes, check the quota, start queued crawls, send notifications."""
        store, options = self._service.store, self._service.options
        self._reap()
        if self._polls % POLLS_PER_MEASUREMENT == 0 and (why := quota_error(self._service)):
            store.claims.pause_all(why)
        self._polls += 1
        store.claims.queue_due(self._here)
        while not self._is_over and (crawl := store.claims.claim(self._me, at_once=options.crawls_at_once)) is not None:
            self._start_process(crawl)
        self._notifier.poll()

    def _start_process(self, crawl: ServedCrawl) -> None:
        service = self._service
        if why := quota_error(service):
            service.store.claims.end(crawl.id, self._me, CrawlState.PAUSED, error=why)
            return
        request = CrawlRequest(
            database=service.store.db.database, crawl_id=crawl.id, operators=service.crawl_defaults.get(crawl.job, {}),
            private=service.options.crawl_private, log_format=service.log.form, log_level=service.log.level,
        )  # fmt: skip
        # Its own process group: Ctrl-C in the terminal goes to the service, which stops its processes.
        process = subprocess.Popen(  # noqa: S603 - our own program
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, process_group=0
        )
        identity = identity_of(process.pid)
        try:
            service.store.claims.transfer(crawl.id, self._me, identity)
            assert process.stdin is not None
            process.stdin.write(request.to_json())
            process.stdin.flush()
        except BaseException as error:
            _kill(process)
            _close_stdin(process)
            if not isinstance(error, CrawlLost | BrokenPipeError):
                raise
            return  # The next poll finds the process dead and queues the crawl again.
        self._running.append(CrawlChild(crawl.id, process, identity))
        threading.Thread(target=self._wait_for, args=(process,), name=f"crawl {crawl.id}", daemon=True).start()

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self.wake()

    def _reap(self) -> None:
        """Remove processes that ended, and kill those that lost their crawl and do not end."""
        for one in list(self._running):
            if one.process.poll() is None:
                is_held = self._service.store.claims.holds(one.crawl_id, one.identity)
                one.polls_without_crawl = 0 if is_held else one.polls_without_crawl + 1
                if one.polls_without_crawl < MAX_POLLS_WITHOUT_CRAWL:  # A process that just recorded its end is about to exit.
                    continue
                self._service.log.write("warning", "crawl process hangs; killed", crawl_id=one.crawl_id)
                _kill(one.process)
            elif one.process.returncode < 0:
                self._service.log.write(
                    "warning", "crawl process killed by a signal",
                    crawl_id=one.crawl_id, signal=-one.process.returncode,
                )  # fmt: skip
            _close_stdin(one.process)
            self._running.remove(one)


def start_dispatcher(service: Service) -> None:
    """Start the dispatcher of a service; it stops with the service."""
    dispatcher = service.crawling = Dispatcher(service)
    service.at_end.append(dispatcher.stop)
    dispatcher.start()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it started, such as a browser."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close_stdin(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def quota_error(service: Service) -> Message | None:
    """The problem if the files of crawls exceed the quota, else None."""
    quota = service.options.crawl_quota
    if not quota or (used := used_bytes(service.store.db.database)) < quota:
        return None
    return Message(
        "Crawl files use {used} of {quota} MB. "
        "Remove crawls that you no longer need, or ask the operator to raise --crawl-quota.",
        used=f"{used / 1024**2:,.0f}", quota=f"{quota / 1024**2:,.0f}",
    )  # fmt: skip
