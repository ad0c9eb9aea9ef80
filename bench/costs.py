"""What each part of a crawl on PostgreSQL costs: `python -m bench.costs`. The input of `bench.simulation`.

A real server with the settings of a real one (everything is flushed), asked through the store's own methods, a part at a time.
For every part: CPU of the worker, CPU of the database's processes (from /proc: pg_stat_statements would tell how long statements
waited, not what they took), and bytes of write-ahead log. CPU is what a busy machine spoils least.

    python -m bench.costs                 about two minutes; prints a table
    python -m bench.costs -o FILE.json    and keeps the figures for the simulation
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure import TICKS, tree
from bench.scaling_site import page
from tadoru.clock import SystemClock
from tadoru.engine.job import FetchedPage, PageResult
from tadoru.engine.page_fetch import page_facts
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.jobs.launch import tune_process
from tadoru.model.web import Link, LinkKind, Response, Timings
from tadoru.rules.pace import start
from tadoru.rules.scope import Scope
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import CompletedOutcome, Lease, LinkTarget, PageFacts, PageStatus
from tests.support.postgres import PostgresServer

REAL = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "1GB", "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
}  # fmt: skip
"""As an operator would set them; the server of the tests flushes nothing."""
HOSTS, AT_ONCE, LINKS, ROUNDS = 1_000, 16, 40, 4
KEPT_IN = {"linked": ("link_relations", "texts"), "kept": ("page_details",), "judged": ("page_findings",)}
HEADERS = (("Server", "nginx"), ("Content-Type", "text/html; charset=utf-8"), ("ETag", '"65a1-13f2"'))


@dataclass(frozen=True, slots=True)
class Part:
    """What one unit of a part takes. Seconds, and bytes of write-ahead log."""

    worker: float
    database: float
    wall: float
    wal: float
    written: bool = False
    """Whether it belongs to the transaction of a batch, of which a worker writes one at a time."""

    def minus(self, other: Part, times: float = 1.0) -> Part:
        """What is left of it without another, divided by a number. Noise never makes less than nothing of it."""
        pairs = zip(self.numbers, other.numbers, strict=True)
        return Part(*(max(0.0, mine - theirs) / times for mine, theirs in pairs), written=self.written)

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        return self.worker, self.database, self.wall, self.wal


def server_cpu(pid: int) -> float:
    """Seconds of CPU that a server and its processes have taken, those that have ended too."""
    seconds = 0.0
    for one in tree(pid):
        try:
            seconds += int(Path(f"/proc/{one}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return seconds + sum(map(int, fields[13:15])) / TICKS


@contextmanager
def real_server(**more: str) -> Iterator[PostgresServer]:
    """A server that flushes what it promises to keep."""
    server = PostgresServer(Path(tempfile.mkdtemp(prefix="tadoru-costs-")), **(REAL | more))
    try:
        yield server
    finally:
        server.stop()


class Bench:
    """One crawl on one server, and what its parts took."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.database = server.new_database()
        self.address = f"{self.database}&crawl=costs"
        self.store = PostgresStore(self.address, SystemClock())
        self.other = PostgresStore(self.address, SystemClock())
        self._watch = server.connect(self.database.partition("@/")[2].partition("?")[0])
        self.parts: dict[str, Part] = {}
        self.bytes: dict[str, float] = {}
        self.worker = 0
        self.findings = 0.0

    def rows(self, text: str) -> list[Any]:
        return self._watch.execute(text).fetchall()

    def wal(self) -> int:
        return int(self.rows("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")[0][0])

    async def measured(self, work: Callable[[], Awaitable[int]]) -> Part:
        """What one of so many units took, as many as the work says it did."""
        before = time.process_time(), server_cpu(self.server.pid), time.perf_counter(), float(self.wal())
        number = await work()
        after = time.process_time(), server_cpu(self.server.pid), time.perf_counter(), float(self.wal())
        return Part(*((then - now) / number for now, then in zip(before, after, strict=True)))

    async def part(self, name: str, work: Callable[[], Awaitable[int]]) -> Part:
        found = self.parts[name] = await self.measured(work)
        print(f"  {name:34} {_line(found)}", flush=True)
        return found

    # ---- the frontier
    def target(self, number: int) -> LinkTarget:
        host = f"host-{number % HOSTS}.example"
        return LinkTarget(f"https://{host}/section-{number % 97}/a-page-with-a-name-{number}.html", host, PageStatus.QUEUED)

    async def frontier(self, urls: int) -> None:
        async def add(store: PostgresStore, first: int, number: int) -> int:
            for at in range(first, first + number, 1_000):
                await store.frontier.add([self.target(n) for n in range(at, at + 1_000)], seed=False)
            return number

        await add(self.store, 0, 10_000)
        before = self._size("pages")
        tenth = urls // 10
        await self.part("a new URL (few known)", lambda: add(self.store, 10_000, tenth))
        await self.measured(lambda: add(self.store, 10_000 + tenth, urls - 2 * tenth))
        await self.part("a new URL", lambda: add(self.store, 10_000 + urls - tenth, tenth))
        self.bytes["a URL"] = (self._size("pages") - before) / urls
        await self.part("a known URL", lambda: add(self.other, 10_000, min(tenth, 30_000)))
        self.worker = await self.store.frontier.join(7200.0)

    def _size(self, *tables: str) -> float:
        return float(sum(self.rows(f"SELECT pg_total_relation_size('crawl_costs.{name}')")[0][0] for name in tables))

    async def leases(self, rounds: int) -> None:
        hosts = [f"host-{n}.example" for n in range(HOSTS)]

        async def lease(each: int, at_once: int) -> int:
            number = 0
            for turn in range(rounds):
                some = [hosts[(turn * at_once + n) % HOSTS] for n in range(at_once)]
                held = await self.store.frontier.lease(self.worker, dict.fromkeys(some, each), new_hosts=0, per_host=0, limit=0)
                number += len(held.leases)
            return number

        await self.part("a lease (2 hosts × 2)", lambda: lease(2, 2))
        await self.part("a lease (20 hosts × 2)", lambda: lease(2, 20))

        async def slots(work: Callable[[str], Awaitable[object]]) -> int:
            for turn in range(rounds * 4):
                await work(hosts[turn % HOSTS])
            return rounds * 4

        pace = replace(start(0.0, None), gap=1e-6, base=1e-6, latency=0.1, baseline=0.1)
        for host in hosts:
            await self.store.hosts.begin_pace(host, pace)
        for name, work in (
            ("take a slot", lambda host: self.store.hosts.take_slot(self.worker, host, 1.0)),
            ("confirm a request", lambda host: self.store.hosts.sent(self.worker, host)),
            ("store a pace", lambda host: self.store.hosts.set_pace(host, pace)),
        ):
            await self.part(name, lambda work=work: slots(work))  # type: ignore[misc]

    # ---- pages
    async def finish(self, pages: int, at_once: int, make: Callable[[Lease, int], CompletedOutcome]) -> Part:
        """Lease, make, and measure the writing alone."""
        outcomes: list[CompletedOutcome] = []
        while len(outcomes) < pages:
            some = {f"host-{(len(outcomes) + n) % HOSTS}.example": 2 for n in range(256)}
            leased = await self.store.frontier.lease(self.worker, some, new_hosts=0, per_host=0, limit=0)
            assert leased.leases, "Too few URLs for so many pages: give more of them with --urls."
            outcomes += [make(lease, len(outcomes) + at) for at, lease in enumerate(leased.leases)]

        async def write() -> int:
            for at in range(0, len(outcomes), at_once):
                await self.store.frontier.finish(self.worker, outcomes[at : at + at_once], max_depth=None)
            return len(outcomes)

        return replace(await self.measured(write), written=True)

    async def pages(self, number: int, pages: list[Response]) -> None:
        """One thing more at a time, in turns; what it takes is the difference."""
        job = AuditJob(scope=Scope(sites=("https://host-0.example/",)))
        await self.store.checks.install(job.catalogue.checks.values(), "page", dict(job.thresholds))
        began = time.process_time()
        found = [job.handle(FetchedPage(url=one.url, depth=1, response=one)) for one in pages]
        self.put("parse and check a page", Part((time.process_time() - began) / len(pages), 0.0, 0.0, 0.0))
        self.findings = sum(0 if one.records is None else len(one.records.findings) for one in found) / len(found)
        makers = self._makers(found, page_facts(pages[0], found[0]))
        await self.finish(AT_ONCE, AT_ONCE, makers["linked"])  # What every later page finds in its caches.
        sizes: dict[str, float] = defaultdict(float)
        turns: dict[str, list[Part]] = defaultdict(list)
        for _ in range(ROUNDS):
            for name, make in makers.items():
                before = self._size(*KEPT_IN.get(name, ()))
                each = number // ROUNDS
                turns[name].append(await self.finish(each, 1 if name == "alone" else AT_ONCE, make))
                sizes[name] += (self._size(*KEPT_IN.get(name, ())) - before) / each / ROUNDS
        self._differences({name: middle(taken) for name, taken in turns.items()}, sizes)

    def _differences(self, by: dict[str, Part], sizes: dict[str, float]) -> None:
        transaction = by["alone"].minus(by["plain"], 1 - 1 / AT_ONCE)
        self.put("a transaction", transaction)
        self.put("a page", by["plain"].minus(Part(*(value / AT_ONCE for value in transaction.numbers))))
        self.put("a link to a known URL", by["linked"].minus(by["plain"], LINKS))
        self.put("a link to a new URL", by["finding"].minus(by["plain"], LINKS))
        self.put("the record of a page", by["kept"].minus(by["plain"]))
        self.put("a finding", by["judged"].minus(by["kept"], max(1.0, self.findings)))
        self.bytes |= {"a link": sizes["linked"] / LINKS, "the record of a page": sizes["kept"]}
        self.bytes["a finding"] = sizes["judged"] / max(1.0, self.findings)

    def _makers(self, found: list[PageResult], facts: PageFacts) -> dict[str, Callable[[Lease, int], CompletedOutcome]]:
        """How the pages of each turn are made: each has one thing more than a plain one."""
        known = [self.target(n) for n in range(HOSTS)]
        fresh = count(100_000_000)
        records = [one.records for one in found]
        lean = [None if one is None else replace(one, findings=()) for one in records]

        def leading_to(lease: Lease, targets: list[LinkTarget]) -> CompletedOutcome:
            links = [Link(target.url, LinkKind.A, f"Text {n}", "", n, "") for n, target in enumerate(targets)]
            return CompletedOutcome(lease=lease, facts=facts, links=links, targets={target.url: target for target in targets})

        def linked(lease: Lease, at: int) -> CompletedOutcome:
            return leading_to(lease, [known[(at + n) % HOSTS] for n in range(LINKS)])

        def finding(lease: Lease, _: int) -> CompletedOutcome:
            return leading_to(lease, [self.target(next(fresh)) for _ in range(LINKS)])

        return {
            "alone": lambda lease, _: CompletedOutcome(lease=lease, facts=facts),
            "plain": lambda lease, _: CompletedOutcome(lease=lease, facts=facts),
            "linked": linked,
            "finding": finding,
            "kept": lambda lease, at: CompletedOutcome(lease=lease, facts=facts, records=lean[at % len(found)]),
            "judged": lambda lease, at: CompletedOutcome(lease=lease, facts=facts, records=records[at % len(found)]),
        }

    def put(self, name: str, part: Part) -> None:
        self.parts[name] = part
        print(f"  {name:34} {_line(part)}", flush=True)

    async def analysis(self) -> None:
        """What comes once, at the end: by pages."""
        await self.store.checks.install(SITE_CHECKS.values(), "site")
        done = int(self.rows("SELECT count(*) FROM crawl_costs.pages WHERE status = 'completed'")[0][0])
        links = int(self.rows("SELECT count(*) FROM crawl_costs.link_relations")[0][0])

        async def settle() -> int:
            await self.store.frontier.leave(self.worker)
            await self.store.graph.settle()
            await analyse(self.store, Limits(SITE_CHECKS.values()), notify=lambda _: None)
            return links

        await self.part("analysis per link", settle)
        print(f"    ({done:,} pages, {links:,} links)")

    async def close(self) -> None:
        await self.store.close()
        await self.other.close()
        self._watch.close()


def rest_of(worker: float, database: float, parts: dict[str, Part], findings: float) -> Part:
    """What a page took in a real crawl, without pace, beyond the parts that were measured one by one: the fetching, the loop."""
    times = {
        "parse and check a page": 1.0, "a page": 1.0, "the record of a page": 1.0, "a finding": findings,
        "a link to a known URL": 19.0, "a link to a new URL": 1.0, "a lease (20 hosts × 2)": 1.0, "a transaction": 0.1,
    }  # fmt: skip
    known = [sum(getattr(parts[name], what) * number for name, number in times.items()) for what in ("worker", "database")]
    return Part(max(0.0, worker - known[0]), max(0.0, database - known[1]), 0.0, 0.0)


def middle(taken: list[Part]) -> Part:
    """The median of each number."""
    return Part(*(median(column) for column in zip(*(one.numbers for one in taken), strict=True)), written=taken[0].written)


def flush_seconds(folder: Path, times: int = 60) -> float:
    """How long it takes until something small is on the disk: the median. The file is long enough before, as the log's are."""
    taken = []
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(8192 * times))
        os.fsync(file.fileno())
        for turn in range(times):
            file.seek(8192 * turn)
            file.write(b"x" * 8192)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - began)
    return median(taken)


def _line(part: Part) -> str:
    mark = "written" if part.written else ""
    return (
        f"worker {part.worker * 1e6:8.1f} µs  database {part.database * 1e6:8.1f} µs  wall {part.wall * 1e6:8.1f} µs"
        f"  log {part.wal:7.0f} B  {mark}"
    )


def sample(number: int) -> list[Response]:
    """Pages to read: 40 links, some 20 KB."""
    links = [f"https://host-0.example/section-{n}/a-page.html" for n in range(LINKS)]
    return [
        Response(
            url=f"https://host-0.example/page-{n}.html", status=200, headers=HEADERS, address="127.0.0.1",
            body=page(f"Subject {n}", links, n).encode(), timings=Timings(ttfb=0.1, download=0.01),
        )
        for n in range(number)
    ]  # fmt: skip


async def measure(urls: int, pages: int) -> dict[str, Any]:
    from bench.queue_costs import queue_parts
    from bench.scaling_runs import crawl

    tune_process()
    with real_server() as server:
        bench = Bench(server)
        await bench.frontier(urls)
        await bench.leases(150)
        await bench.pages(pages, sample(200))
        await bench.analysis()
        await bench.close()
        queue = await queue_parts(server)
        whole = crawl(server, hosts=60, pages=20, workers=1, at_once=20, delay=0.0)
        flush = flush_seconds(server.folder)
    bench.put("fetch and loop", rest_of(whole.worker, whole.database, bench.parts, bench.findings))
    print(f"  a flush of the disk {flush * 1e3:.2f} ms; {bench.findings:.1f} findings a page; load {os.getloadavg()[0]:.1f}")
    return {
        "parts": {name: asdict(part) for name, part in bench.parts.items()}, "queue": queue, "bytes": bench.bytes,
        "flush": flush, "findings": bench.findings,
        "machine": f"{os.cpu_count()} cores ({platform.processor() or platform.machine()}), load {os.getloadavg()[0]:.1f}",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.costs", description="Measure what each part of a crawl costs.")
    parser.add_argument("--urls", type=int, default=50_000)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("-o", "--output", type=Path, help="keep the figures here, as JSON")
    given = parser.parse_args()
    found = asyncio.run(measure(given.urls, given.pages))
    if given.output:
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
