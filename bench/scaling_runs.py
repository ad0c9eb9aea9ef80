"""Real crawls by real workers, watched: how fast, and whose CPU went into it. For `bench.costs` and `bench.scaling_check`.

The crawl is that of `bench.cluster`. CPU is sampled while it runs and read between the moment a tenth and the moment seven tenths
of the pages were asked for, so that neither the start of programs nor the analysis at the end is in it.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from bench import cluster
from bench.costs import server_cpu
from bench.measure import TICKS, tree
from bench.scaling_site import Sites, requests, serving
from tests.support.postgres import PostgresServer

EVERY = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlMeasurement:
    """A crawl as it was."""

    workers: int
    hosts: int
    pages: int
    rate: float
    """Pages a second while every place was taken."""
    until: float
    """Seconds from the first request to the last."""
    gap: float
    """The shortest between two requests to one host."""
    usual_gap: float
    """The median of them."""
    worker: float
    """CPU of the workers for a page."""
    database: float
    site: float
    cores: float
    """How many our processes got."""


class CpuWatch:
    """Who has used how much CPU, as time goes by."""

    def __init__(self, server: PostgresServer, site: int) -> None:
        self._server, self._site = server, site
        self.times: list[float] = []
        self.used: list[tuple[float, float, float]] = []
        self._end = threading.Event()
        self._by_worker: dict[int, float] = {}

    def _look(self) -> None:
        while not self._end.wait(EVERY):
            for pid in tree(os.getpid()):
                try:
                    if b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                        self._by_worker[pid] = (int(fields[11]) + int(fields[12])) / TICKS
                except OSError:
                    continue
            self.times.append(time.monotonic())
            self.used.append((sum(self._by_worker.values()), server_cpu(self._server.pid), server_cpu(self._site)))

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def between(self, first: float, last: float) -> tuple[float, float, float]:
        """What was used from one moment to another."""
        begin, end = (min(bisect_left(self.times, at), len(self.times) - 1) for at in (first, last))
        worker, database, site = (late - early for early, late in zip(self.used[begin], self.used[end], strict=True))
        return worker, database, site


def crawl(server: PostgresServer, *, hosts: int, pages: int, workers: int, at_once: int, delay: float) -> CrawlMeasurement:
    """One crawl: `hosts` hosts of `pages` pages each, of 20 links."""
    with tempfile.TemporaryDirectory() as place:
        folder, log = Path(place), Path(place) / "requests.tsv"
        log.touch()
        with serving(hosts, Sites(pages, 20), log) as (starts, site):
            watch = CpuWatch(server, site)
            with watch.watching():
                run = cluster.crawl(server, starts, log, workers, at_once=at_once, delay=delay, folder=folder)
            asked = sorted(one.at for one in requests(log) if one.path != "/robots.txt")
            usual = _usual_gap(log)
    first, last = asked[len(asked) // 10], asked[len(asked) * 7 // 10]
    number = len(asked) * 7 // 10 - len(asked) // 10
    worker, database, site_cpu = watch.between(first, last)
    return CrawlMeasurement(
        workers=workers, hosts=hosts, pages=run.pages, rate=run.rate, until=asked[-1] - asked[0],
        gap=run.shortest_gap, usual_gap=usual,
        worker=worker / number, database=database / number, site=site_cpu / number,
        cores=(worker + database + site_cpu) / max(last - first, 1e-9),
    )  # fmt: skip


def _usual_gap(log: Path) -> float:
    by_host: dict[str, list[float]] = defaultdict(list)
    for one in requests(log):
        by_host[one.host].append(one.at)
    return median(late - early for times in by_host.values() for early, late in pairwise(times))
