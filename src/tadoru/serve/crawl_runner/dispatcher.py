"""The thread that sees to it that crawls are run: it takes what is queued, starts a process for each, and notices how they end.

Every process of the service has one, and the database decides who takes what, so that with several of them each crawl still runs
once. When the service ends, the processes are asked to end too, and their crawls are queued: the next start goes on with them.
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
from tadoru.store.served_crawls.claims import CrawlLost
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl

POLL_SECONDS = 1.0
"""Seconds between two looks."""
POLLS_PER_MEASUREMENT = 10
"""Looks between two measurements of the disk."""
MAX_POLLS_WITHOUT_CRAWL = 30
"""Looks after which a process that lost its crawl is ended."""
COMMAND = (sys.executable, "-P", "-m", "tadoru.serve.crawl_runner.crawl_process")


@dataclass(slots=True)
class CrawlChild:
    """A process that this one started."""

    crawl_id: int
    process: subprocess.Popen[bytes]
    identity: WorkerIdentity
    polls_without_crawl: int = 0
    """Looks since the crawl is no longer its own."""


class Dispatcher:
    """Runs crawls for one process of the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._me = current()
        self._here = machine_name()
        self._wake = threading.Event()
        self._is_over = False
        self._running: list[CrawlChild] = []
        self._looks = 0
        self._teller = WebhookNotifier(service)
        self._thread = threading.Thread(target=self._go_on, name="crawls", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is something to do: look at once."""
        self._wake.set()

    def stop(self) -> None:
        """End the processes, gracefully if they are quick enough. Their crawls are queued."""
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
            with suppress(CrawlLost, StoreError):  # It has said itself how it ended, or could not.
                self._service.store.end_crawl(one.crawl_id, one.identity, CrawlState.QUEUED)
            _close_stdin(one.process)
        self._teller.stop()

    def _go_on(self) -> None:
        log = self._service.log
        while not self._is_over:
            try:
                self.look()
            except StoreError as error:
                log.write("error", "crawls cannot be looked after", error=str(error))
            except Exception as error:  # Whatever it is, the next look may be better.
                log.write("error", "looking after crawls broke", error=type(error).__name__)
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()

    def look(self) -> None:
        """Do what there is to do now."""
        store, options = self._service.store, self._service.options
        self._reap()
        if self._looks % POLLS_PER_MEASUREMENT == 0 and (why := quota_error(self._service)):
            store.pause_all_crawls(why)
        self._looks += 1
        store.queue_due_crawls(self._here)
        while not self._is_over and (crawl := store.claim_crawl(self._me, at_once=options.crawls_at_once)) is not None:
            self._begin(crawl)
        self._teller.look()

    def _begin(self, crawl: ServedCrawl) -> None:
        service = self._service
        if why := quota_error(service):
            service.store.end_crawl(crawl.id, self._me, CrawlState.PAUSED, error=why)
            return
        errand = CrawlRequest(
            database=service.store.database, crawl_id=crawl.id, operators=service.crawl_defaults.get(crawl.job, {}),
            private=service.options.crawl_private, log_format=service.log.form, log_level=service.log.level,
        )  # fmt: skip
        # A group of its own: Ctrl-C at the terminal is for the service, which then tells its processes.
        process = subprocess.Popen(  # noqa: S603 - our own program
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, process_group=0
        )
        identity = identity_of(process.pid)
        try:
            service.store.transfer_crawl(crawl.id, self._me, identity)
            assert process.stdin is not None
            process.stdin.write(errand.dumped())
            process.stdin.flush()
        except BaseException as error:
            _kill(process)
            _close_stdin(process)
            if not isinstance(error, CrawlLost | BrokenPipeError):
                raise
            return  # A look from now its process is found dead, and the crawl queued again.
        self._running.append(CrawlChild(crawl.id, process, identity))
        threading.Thread(target=self._wait_for, args=(process,), name=f"crawl {crawl.id}", daemon=True).start()

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self.wake()

    def _reap(self) -> None:
        """Forget processes that ended, and end those that hang: somebody else has their crawl by now."""
        for one in list(self._running):
            if one.process.poll() is None:
                is_held = self._service.store.holds_crawl(one.crawl_id, one.identity)
                one.polls_without_crawl = 0 if is_held else one.polls_without_crawl + 1
                if one.polls_without_crawl < MAX_POLLS_WITHOUT_CRAWL:  # One that has just said how it ended is about to go.
                    continue
                self._service.log.write(
                    "warning", f"the process of crawl {one.crawl_id} hangs: it is ended", crawl_id=one.crawl_id
                )
                _kill(one.process)
            elif one.process.returncode < 0:
                self._service.log.write(
                    "warning", f"the process of crawl {one.crawl_id} was ended by a signal",
                    crawl_id=one.crawl_id, signal=-one.process.returncode,
                )  # fmt: skip
            _close_stdin(one.process)
            self._running.remove(one)


def start_dispatcher(service: Service) -> None:
    """Run the crawls of a service from here, until it is closed."""
    dispatcher = service.crawling = Dispatcher(service)
    service.at_end.append(dispatcher.stop)
    dispatcher.start()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """At once, with what it started itself, such as a browser."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close_stdin(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def quota_error(service: Service) -> Message | None:
    """What to say when the files of crawls take more room than they may; empty while they do not."""
    quota = service.options.crawl_quota
    if not quota or (used := used_bytes(service.store.database)) < quota:
        return None
    return Message(
        "Crawl files use {used} of {quota} MB. Remove crawls that you no longer need, or ask the operator to raise --crawl-quota.",
        used=f"{used / 1024**2:,.0f}", quota=f"{quota / 1024**2:,.0f}",
    )  # fmt: skip
