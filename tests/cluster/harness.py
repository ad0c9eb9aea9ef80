"""A cluster of real workers for the tests: processes on one PostgreSQL, crawls that are submitted to them, and their results."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any

from tadoru.clock import SystemClock
from tadoru.cluster.queue import ClusterTiming, prepare_schema
from tadoru.cluster.worker import Worker
from tadoru.config.options import WorkerOptions
from tadoru.log import Log
from tadoru.store.cluster.registry import ClusterRegistry
from tests.acceptance.command import CHECKOUT, Tadoru
from tests.support.clusters import linked
from tests.support.exchange import ReceivedRequest
from tests.support.planted_crowd import everything
from tests.support.postgres import PostgresServer

TIMEOUT = 180.0
FAST_TIMING: dict[str, Any] = {"heartbeat": 0.3, "stalled": 2.0, "sweep": 1, "again": 0.1}
"""So that a worker that is gone is noticed while a test waits."""


def until(reached: Callable[[], Any], what: str = "it") -> None:
    """Look again and again until it is so: what happens is in other processes, which tell us by the database only."""
    clock, pause = SystemClock(), threading.Event()
    last = clock.monotonic() + TIMEOUT
    while not reached():
        assert clock.monotonic() < last, f"{what} did not come to that"
        pause.wait(0.02)


class ClusterHarness:
    """The workers of one database, and the crawls that are submitted to them."""

    def __init__(self, tadoru: Tadoru, database: str, environment: dict[str, str] | None = None) -> None:
        self.tadoru, self.database = tadoru, database
        self.environment = environment or {}
        self.cluster = ClusterRegistry(database)
        prepare_schema(self.cluster)
        self._link = linked(database)
        self._started: list[subprocess.Popen[str]] = []
        self._numbers = count(1)

    def address(self, crawl: str) -> str:
        return f"{self.database}&crawl={crawl}"

    def reconnect(self) -> None:
        """The database was restarted."""
        self.cluster.close()
        self._link.close()
        self.cluster = ClusterRegistry(self.database)
        self._link = linked(self.database)

    # ---- workers
    def start_worker(self, *arguments: str, database: str = "") -> subprocess.Popen[str]:
        """`tadoru worker`."""
        place = ("-d", database or self.database)
        process = self.tadoru.start("worker", *place, "--no-events", *arguments, env=self.environment)
        self._started.append(process)
        return process

    def start_timed_worker(self, *, prefix: Iterable[str] = (), database: str = "", **duty: Any) -> subprocess.Popen[str]:
        """A worker with a timing of its own; see `timed_worker`."""
        given = {"database": database or self.database, "hosts": 4, "seconds": 5.0, **FAST_TIMING, **duty}
        environment = self.tadoru.environment(self.environment)
        environment["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], str(CHECKOUT)])
        command = [*prefix, sys.executable, "-m", "tests.cluster.timed_worker", json.dumps(given)]
        with (self.tadoru.folder / f"worker-{next(self._numbers)}.log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(command, env=environment, cwd=self.tadoru.folder, stdout=log, stderr=log, encoding="utf-8")
        self._started.append(process)
        return process

    @property
    def logs(self) -> str:
        """What workers with a timing of their own said."""
        return "".join(one.read_text("utf-8") for one in sorted(self.tadoru.folder.glob("worker-*.log")))

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.cluster.close()
        self._link.close()

    # ---- crawls
    def submit(self, crawl: str, *arguments: str) -> None:
        """`tadoru audit --detach`."""
        done = self.tadoru("audit", "-d", self.address(crawl), "--detach", "-q", *arguments, env=self.environment)
        assert (done.code, done.err) == (0, "")

    def until_done(self, *crawls: str) -> None:
        for crawl in crawls:
            until(lambda crawl=crawl: self.cluster.crawl(crawl).state != "open", f"{crawl}: {self.logs}")  # type: ignore[misc]
            found = self.cluster.crawl(crawl)
            assert (found.state, found.error) == ("done", ""), self.logs

    def results(self, crawl: str) -> dict[str, list[tuple[Any, ...]]]:
        """All that a crawl keeps, but for what differs between two crawls of one site."""
        file = f"{crawl}-{next(self._numbers)}.db"
        done = self.tadoru("copy", self.address(crawl), file)
        assert done.code == 0, done.err
        return everything(self.tadoru.folder / file)

    def sql(self, text: str) -> list[Any]:
        """What the database says, or nothing when it is only told something."""
        done = self._link.execute(text)
        return done.fetchall() if done.description else []


@contextmanager
def worker_threads(database: str, *, workers: int = 1, hosts: int = 4, seconds: float = 5.0) -> Iterator[list[Worker]]:
    """Workers in threads of this process: cheap, for what needs no process of its own. They are drained at the end."""
    clock = SystemClock()
    duty = WorkerOptions(database=database, hosts=hosts, slice=seconds)
    made: list[Worker] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def work(ready: threading.Event) -> None:
        log = Log(io.StringIO(), clock, form="text", level="warning")
        worker = Worker(duty, clock, log, timing=ClusterTiming(**FAST_TIMING))
        made.append(worker)
        loops.append(asyncio.get_running_loop())
        ready.set()
        await worker.run()

    threads = []
    for _ in range(workers):
        ready = threading.Event()
        threads.append(threading.Thread(target=lambda ready=ready: asyncio.run(work(ready))))  # type: ignore[misc]
        threads[-1].start()
        assert ready.wait(TIMEOUT)
    try:
        yield made
    finally:
        for worker, loop in zip(made, loops, strict=True):
            loop.call_soon_threadsafe(worker.stop)
        for thread in threads:
            thread.join()


def kill(process: subprocess.Popen[str]) -> None:
    """At whatever it is."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def gaps(requests: Iterable[ReceivedRequest], host: Callable[[ReceivedRequest], str]) -> dict[str, float]:
    """The shortest time between two requests of each host."""
    times: dict[str, list[float]] = defaultdict(list)
    for seen in requests:
        times[host(seen)].append(seen.at)
    return {name: min((b - a for a, b in pairwise(sorted(at))), default=float("inf")) for name, at in times.items()}


@contextmanager
def cluster_on(server: PostgresServer, tadoru: Tadoru, environment: dict[str, str] | None = None) -> Iterator[ClusterHarness]:
    """Workers in a database of their own; all of them are gone afterwards."""
    database = server.new_database()
    harness = ClusterHarness(tadoru, database, environment)
    try:
        yield harness
    finally:
        harness.end()
        server.drop(database)
