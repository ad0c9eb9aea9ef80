"""The frontier on PostgreSQL: `python -m bench.shared_frontier`. What is found is written, leased and paced through the store.

Discovered URLs, half of them known already, against a bare COPY of as many new rows into a table with the same columns and the
same unique index, in turns within one run; leases and slots a second by 1, 4 and 8 connections on a thousand hosts; and all of it
again while the frontier grows. The server flushes what it promises to keep. Results are in FRONTIER.md.

    python -m bench.shared_frontier                             about three minutes
    python -m bench.shared_frontier --sizes 100000 1000000      and how each cost grows
    python -m bench.shared_frontier --database postgresql://…   on a server of yours; the crawl `bench` there is dropped
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import psycopg

from bench.costs import real_server
from tadoru.clock import SystemClock
from tadoru.model.web import Link, LinkKind
from tadoru.rules.pace import Pace
from tadoru.store.crawl.postgres.store import PostgresStore
from tadoru.store.crawl.records import CompletedOutcome, Lease, LinkTarget, PageFacts, PageStatus

HOSTS = 1_000
LINKS, PAGES = 100, 10
"""Links of a page, and pages that are written together: what an engine with a concurrency of 20 does."""
BESIDE = 100
"""URLs of one host that are found one after the other: most links stay within a site."""
CRAWL = "bench"
_FILL_HOSTS = """INSERT INTO hosts(name, queued) SELECT 'www.host-' || h || '.example', 0 FROM generate_series(0, %s) AS h
    ON CONFLICT DO NOTHING"""
_FILL = """INSERT INTO pages(id, url, status, host_id, depth, added_at)
    SELECT n, 'https://www.host-' || h || '.example/section-' || n %% 97 || '/a-page-of-some-name-' || n || '.html', 'queued',
        (SELECT min(id) FROM hosts) + h, 3, '2026-01-01 00:00:00.000'
    FROM generate_series(%s::bigint, %s::bigint) AS n, LATERAL (SELECT n / %s %% %s AS h) AS its_host"""
_RECOUNT = """UPDATE hosts SET queued = (SELECT count(*) FROM pages p WHERE p.host_id = hosts.id AND p.status = 'queued');
    DELETE FROM counters; INSERT INTO counters(name, value) SELECT status, count(*) FROM pages GROUP BY status"""
_BARE = """DROP TABLE IF EXISTS bare; CREATE TABLE bare (LIKE pages INCLUDING DEFAULTS);
    CREATE UNIQUE INDEX bare_by_url ON bare ((md5(url)::uuid))"""
_COPY = (
    "COPY bare (id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, added_at) FROM STDIN"
)


def host(number: int) -> str:
    return f"www.host-{number // BESIDE % HOSTS}.example"


def url(number: int) -> str:
    return f"https://{host(number)}/section-{number % 97}/a-page-of-some-name-{number}.html"


def target(number: int) -> LinkTarget:
    return LinkTarget(url(number), host(number), PageStatus.QUEUED)


class Crawl:
    """A crawl that is measured, with a connection of its own for what is only set up."""

    def __init__(self, database: str) -> None:
        self.address = f"{database}{'&' if '?' in database else '?'}crawl={CRAWL}"
        self.sql = psycopg.connect(database, autocommit=True)
        self.sql.execute(f'DROP SCHEMA IF EXISTS "crawl_{CRAWL}" CASCADE')
        self.store = PostgresStore(self.address, SystemClock())
        self.sql.execute(f'SET search_path TO "crawl_{CRAWL}"')
        self.next = 1
        self.draw = random.Random(7)

    def fill(self, size: int) -> None:
        """Bring the frontier to so many URLs."""
        if size < self.next:
            return
        self.sql.execute(_FILL_HOSTS, [HOSTS - 1])
        self.sql.execute(_FILL, [self.next, size, BESIDE, HOSTS])
        self.sql.execute(_RECOUNT)
        self.sql.execute("VACUUM ANALYZE")
        self.next = size + 1
        self.store.db.forget_cached()

    def mixed(self, number: int) -> list[int]:
        """So many URLs: every second one new, the others any that are known, those met lately as often as all the rest."""
        fresh = range(self.next, self.next + (number + 1) // 2)
        known = [self.draw.randrange(max(1, self.next - 50_000) if at % 2 else 1, self.next) for at in range(number // 2)]
        self.next += len(fresh)
        return [*fresh, *known]

    async def leased(self, worker: int, number: int) -> list[Lease]:
        found: list[Lease] = []
        while len(found) < number:
            got = await self.store.frontier.lease(worker, {}, new_hosts=number, per_host=1, limit=0)
            found += got.leases
        return found


async def finished(crawl: Crawl, worker: int, turns: int) -> float:
    """Seconds for pages with links, half of them to URLs that are known."""
    taken = 0.0
    for _ in range(turns):
        leases = await crawl.leased(worker, PAGES)
        numbers = crawl.mixed(LINKS * len(leases))
        crawl.draw.shuffle(numbers)
        outcomes = [
            CompletedOutcome(
                lease=lease, facts=PageFacts(status_code=200, title="A page", content_type="text/html", ttfb_ms=40.0),
                links=[
                    Link(target(number).url, LinkKind.A, f"To page {number % 5_000}", "", position, "")
                    for position, number in enumerate(numbers[at * LINKS : (at + 1) * LINKS])
                ],
                targets={one.url: one for one in map(target, numbers[at * LINKS : (at + 1) * LINKS])},
            )
            for at, lease in enumerate(leases)
        ]  # fmt: skip
        began = time.perf_counter()
        await crawl.store.frontier.finish(worker, outcomes, max_depth=None)
        taken += time.perf_counter() - began
    return taken


async def added(crawl: Crawl, turns: int) -> float:
    """Seconds for URLs that a list or a sitemap names."""
    taken = 0.0
    for _ in range(turns):
        targets = [target(number) for number in crawl.mixed(LINKS * PAGES)]
        began = time.perf_counter()
        await crawl.store.frontier.add(targets, seed=False, depth=4)
        taken += time.perf_counter() - began
    return taken


def copied(crawl: Crawl, number: int) -> float:
    """Seconds for as many new rows by nothing but COPY."""
    at = time.monotonic_ns()
    rows = [(at + n, url(at + n), "queued", n % HOSTS, "page", True, None, 3, False, 0, 1, "2026-01-01 00:00:00.000")
            for n in range(number)]  # fmt: skip
    began = time.perf_counter()
    with crawl.sql.cursor() as cursor, cursor.copy(_COPY) as out:
        for row in rows:
            out.write_row(row)
    return time.perf_counter() - began


async def inserting(crawl: Crawl, worker: int, turns: int, rounds: int = 5) -> str:
    """One row of the table: URLs a second by each way, and their share of what COPY does."""
    crawl.sql.execute(_BARE)
    each = turns * LINKS * PAGES
    rates: list[tuple[float, float, float]] = []
    for _ in range(rounds):
        by_finish, by_add, bare = await finished(crawl, worker, turns), await added(crawl, turns), copied(crawl, each // 2)
        rates.append((each / by_finish, each / by_add, each / 2 / bare))
    finish, add, copy = (median(column) for column in zip(*rates, strict=True))
    shares = [median(rate[way] / rate[2] for rate in rates) for way in (0, 1)]
    return (
        f"| {crawl.next:,} | {finish:,.0f} | {add:,.0f} | {copy:,.0f} | {shares[0]:.2f} | {shares[1]:.2f} "
        f"| {shares[0] / 2:.2f} | {shares[1] / 2:.2f} |"
    )


# ---- several connections
async def _lease(store: PostgresStore, worker: int, number: int, of: int, until: float) -> tuple[int, int]:
    pages = calls = 0
    while time.monotonic() < until:
        calls += 1
        pages += len((await store.frontier.lease(worker, {}, new_hosts=16, per_host=4, limit=0)).leases)
    return pages, calls


async def _lease_named(store: PostgresStore, worker: int, number: int, of: int, until: float) -> tuple[int, int]:
    mine = [f"www.host-{host}.example" for host in range(number, HOSTS, of)]
    pages = calls = 0
    while time.monotonic() < until:
        wants = {mine[(calls * 16 + at) % len(mine)]: 4 for at in range(16)}
        calls += 1
        pages += len((await store.frontier.lease(worker, wants, new_hosts=0, per_host=0, limit=0)).leases)
    return pages, calls


async def _lease_limited(store: PostgresStore, worker: int, number: int, of: int, until: float) -> tuple[int, int]:
    pages = calls = 0
    while time.monotonic() < until:
        calls += 1
        pages += len((await store.frontier.lease(worker, {}, new_hosts=16, per_host=4, limit=10**9)).leases)
    return pages, calls


async def _slots(store: PostgresStore, worker: int, number: int, of: int, until: float) -> tuple[int, int]:
    taken = calls = 0
    while time.monotonic() < until:
        host = f"www.host-{(calls * of + number) % HOSTS}.example"
        calls += 1
        if await store.hosts.take_slot(worker, host, 30.0) == 0.0:
            await store.hosts.sent(worker, host)
            taken += 1
    return taken, calls


WAYS: dict[str, Callable[[PostgresStore, int, int, int, float], Any]] = {
    "leases, any hosts": _lease,
    "leases, hosts of its own": _lease_named,
    "leases, with a limit": _lease_limited,
    "slots (take, send)": _slots,
}


def _one(address: str, way: str, number: int, of: int, seconds: float, told: Connection) -> None:
    async def run() -> tuple[int, int]:
        store = PostgresStore(address, SystemClock())
        worker = await store.frontier.join(600.0)
        told.send(None)
        told.recv()
        found: tuple[int, int] = await WAYS[way](store, worker, number, of, time.monotonic() + seconds)
        told.send(found)
        told.recv()
        await store.frontier.leave(worker)
        await store.close()
        return found

    asyncio.run(run())


def together(address: str, way: str, connections: int, seconds: float) -> tuple[float, float]:
    """How much a second so many connections get, and in how many calls."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for number in range(connections):
        ours, theirs = context.Pipe()
        process = context.Process(target=_one, args=(address, way, number, connections, seconds, theirs))
        process.start()
        pipes.append(ours)
        processes.append(process)
    for pipe in pipes:
        pipe.recv()
    for pipe in pipes:
        pipe.send(None)
    found = [pipe.recv() for pipe in pipes]
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join()
    return sum(got for got, _ in found) / seconds, sum(calls for _, calls in found) / seconds


async def measured(crawl: Crawl, size: int, turns: int, seconds: float, connections: Sequence[int]) -> Iterator[str]:
    crawl.fill(size)
    worker = await crawl.store.frontier.join(3600.0)
    rows = [await inserting(crawl, worker, turns)]
    for number in range(HOSTS):
        await crawl.store.hosts.begin_pace(f"www.host-{number}.example", Pace(0.0, 0.0, None, None, 0))
    for way in WAYS:
        cells = [together(crawl.address, way, number, seconds) for number in connections]
        rows.append(f"| {size:,} | {way} | " + " | ".join(f"{got:,.0f} ({calls:,.0f})" for got, calls in cells) + " |")
    await crawl.store.frontier.leave(worker)
    return iter(rows)


@contextmanager
def database(given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    with real_server() as server:
        yield server.new_database()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.shared_frontier", description="Measure the frontier on PostgreSQL.")
    parser.add_argument("--database", help="a PostgreSQL to use instead of one that is started")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000], help="URLs in the frontier (default 100000)")
    parser.add_argument("--turns", type=int, default=10, help="transactions of 1,000 URLs in a round (default 10)")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each measure of leases and slots (default 3)")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 8])
    given = parser.parse_args()
    with database(given.database) as address:
        crawl = Crawl(address)
        inserted, shared = [], []
        for size in given.sizes:
            first, *rest = asyncio.run(measured(crawl, size, given.turns, given.seconds, given.connections))
            inserted.append(first)
            shared += rest
            print(first, *rest, sep="\n", file=sys.stderr, flush=True)
        asyncio.run(crawl.store.close())
        crawl.sql.close()
    print(f"\nload {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
    print("| URLs | by finish /s | by add /s | COPY /s | share of finish | of add | share, new only | of add, new only |")
    print("|---|---|---|---|---|---|---|---|", *inserted, sep="\n")
    head = " | ".join(f"{number} connections" for number in given.connections)
    print(f"\n| URLs | a second (calls) | {head} |\n|---|---|{'---|' * len(given.connections)}", *shared, sep="\n")


if __name__ == "__main__":
    main()
