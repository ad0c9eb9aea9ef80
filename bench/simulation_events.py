"""A crawl by N workers, request by request: exact, and for small worlds only. What `bench.simulation` is held against.

Every host has its pages and its pace; a worker asks so many hosts at a time, each for a slice, and takes the next from one queue.
An answer is read by the worker's CPU and written by its writer, one batch at a time, as much at once as there is. When
everything shares one machine, so do all of its cores.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from bench.simulation import Cluster, Prices


class SimulatedRequest(NamedTuple):
    """A request."""

    at: float
    host: int
    page: int
    worker: int


@dataclass(slots=True)
class Host:
    """A host that is crawled."""

    pages: int
    asked: int = 0
    next_at: float = 0.0
    held: int = 0
    """Answers of it that are not written yet."""
    until: float = 0.0
    """The end of its slice."""
    is_leaving: bool = False


class Cores:
    """So many things at a time, first come first served."""

    def __init__(self, number: int) -> None:
        self._free = [0.0] * number
        self.busy = 0.0

    def take(self, at: float, seconds: float) -> float:
        """When it is done."""
        begin = max(at, heapq.heappop(self._free))
        heapq.heappush(self._free, begin + seconds)
        self.busy += seconds
        return begin + seconds


@dataclass(slots=True)
class Worker:
    """One worker: its CPU, and what waits to be written."""

    number: int
    cpu: Cores = field(default_factory=lambda: Cores(1))
    hosts: int = 0
    busy: int = 0
    """Requests that are begun and not written."""
    answered: list[int] = field(default_factory=list)
    """The hosts of answers that wait."""
    is_writing: bool = False
    ready: deque[int] = field(default_factory=deque)
    """Hosts that may send and wait for a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCrawl:
    """A crawl from beginning to end."""

    requests: Sequence[SimulatedRequest]
    seconds: float
    written: int
    transactions: int
    most_hosts: int
    """That any worker had at a time."""


class Crawl:
    """The world, and what happens next in it."""

    def __init__(self, sizes: Sequence[int], cluster: Cluster, prices: Prices) -> None:
        self.cluster, self.prices = cluster, prices
        self.hosts = [Host(size) for size in sizes]
        self.queue = deque(range(len(self.hosts)))
        self.workers = [Worker(number) for number in range(cluster.workers)]
        self.machine = Cores(cluster.machine) if cluster.machine else None
        self.requests: list[SimulatedRequest] = []
        self.written = self.transactions = self.most_hosts = 0
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def at(self, when: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(when, self.now), next(self._order), do))

    def run(self) -> SimulatedCrawl:
        for place in range(self.cluster.hosts_each):
            for worker in self.workers:
                self.at(place * 1e-6, lambda worker=worker: self.take_host(worker))  # type: ignore[misc]
        while self._events:
            self.now, _, do = heapq.heappop(self._events)
            do()
        return SimulatedCrawl(
            requests=self.requests, seconds=self.now, written=self.written, transactions=self.transactions,
            most_hosts=self.most_hosts,
        )  # fmt: skip

    # ---- places
    def take_host(self, worker: Worker) -> None:
        """The next host of the queue, for a slice."""
        if not self.queue:
            return
        number = self.queue.popleft()
        host = self.hosts[number]
        host.until, host.is_leaving = self.now + self.cluster.slice, False
        worker.hosts += 1
        self.most_hosts = max(self.most_hosts, worker.hosts)
        self.at(max(self.now, host.next_at), lambda: self.line_up(worker, number))

    def leave(self, worker: Worker, number: int) -> None:
        """Nothing of the host is held any more: it goes back to the queue, or is done; the place takes another."""
        host = self.hosts[number]
        worker.hosts -= 1
        if host.asked < host.pages:
            self.queue.append(number)
            # A place that found nobody waiting is asked again.
            for other in self.workers:
                if other.hosts < self.cluster.hosts_each and other is not worker:
                    self.at(self.now + self.cluster.handover, lambda other=other: self.take_free(other))  # type: ignore[misc]
        self.at(self.now + self.cluster.handover, lambda: self.take_free(worker))

    def take_free(self, worker: Worker) -> None:
        if worker.hosts < self.cluster.hosts_each:
            self.take_host(worker)

    # ---- requests
    def line_up(self, worker: Worker, number: int) -> None:
        host = self.hosts[number]
        if host.asked >= host.pages or self.now >= host.until:
            host.is_leaving = True
            if not host.held:
                self.leave(worker, number)
            return
        worker.ready.append(number)
        self.send_more(worker)

    def send_more(self, worker: Worker) -> None:
        """A request keeps its place until it is written."""
        while worker.ready and worker.busy < self.cluster.hosts_each:
            number = worker.ready.popleft()
            host = self.hosts[number]
            worker.busy += 1
            host.held += 1
            at = self.now + self.cluster.sending
            self.requests.append(SimulatedRequest(at, number, host.asked, worker.number))
            host.asked += 1
            host.next_at = at + self.cluster.delay
            self.at(host.next_at, lambda number=number: self.line_up(worker, number))  # type: ignore[misc]
            self.at(at + self.cluster.latency, lambda number=number: self.read(worker, number))  # type: ignore[misc]

    def read(self, worker: Worker, number: int) -> None:
        done = worker.cpu.take(self.now, self.prices.worker)
        if self.machine is not None:
            done = max(done, self.machine.take(self.now, self.prices.worker + self.prices.database))
        self.at(done, lambda: self.answer(worker, number))

    def answer(self, worker: Worker, number: int) -> None:
        worker.answered.append(number)
        self.write(worker)

    def write(self, worker: Worker) -> None:
        """As much as there is, as soon as the worker's last batch is written."""
        if worker.is_writing or not worker.answered:
            return
        worker.is_writing = True
        batch, worker.answered = worker.answered, []
        seconds = self.prices.transaction + self.prices.writer * len(batch)
        self.transactions += 1
        self.at(self.now + seconds, lambda: self.wrote(worker, batch))

    def wrote(self, worker: Worker, batch: list[int]) -> None:
        worker.is_writing = False
        worker.busy -= len(batch)
        self.written += len(batch)
        for number in batch:
            host = self.hosts[number]
            host.held -= 1
            if host.is_leaving and not host.held:
                self.leave(worker, number)
        self.send_more(worker)
        self.write(worker)


def simulate(sizes: Sequence[int], cluster: Cluster, prices: Prices) -> SimulatedCrawl:
    """Do all pages of all hosts."""
    return Crawl(sizes, cluster, prices).run()
