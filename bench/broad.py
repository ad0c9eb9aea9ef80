"""A broad crawl: very many hosts, each with its own pace. `python -m bench.broad`: 2,000 hosts, 30 s.

The world is made by a rule and answers in this process, so that what is measured is the crawl and not a server: every host has a
few pages, some have very many, every page leads to hosts that nobody has met, and one domain has a new host on every page. Told
are pages a second, the hosts that were known and asked, the size of the queue, and the memory of the process at every quarter
of the run: it has to be flat while the hosts that are known grow. `--seeds N` measures the reading of a seed file instead.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions
from tadoru.engine.crawl import Crawler
from tadoru.fetch.base import RequestTurn
from tadoru.jobs.audit.run import AuditCrawl
from tadoru.jobs.launch import run_loop
from tadoru.model.web import Answer, Request, Response, Timings
from tadoru.store.crawl.open import open_store

HEAD = "<!doctype html><html lang=en><head><meta charset=utf-8><title>{0}</title></head><body><h1>{0}</h1>"
FILLER = "<p>" + "The trail goes on through the quiet wood. " * 20 + "</p>"


class FakeWeb:
    """Answers for every host there could be."""

    def __init__(self, latency: float, onward: int) -> None:
        self._latency = latency
        self._onward = onward
        self.asked: Counter[str] = Counter()

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        if turn is not None:
            turn.sent()
        began = time.monotonic()
        await asyncio.sleep(self._latency)
        _, _, host, path = request.url.split("/", 3)
        if path == "robots.txt":
            return Response(url=request.url, status=404, headers=())
        self.asked[host] += 1
        body = self._page(host, path)
        took = Timings(ttfb=time.monotonic() - began, download=0.0)
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        return Response(url=request.url, status=200, headers=headers, body=body, timings=took, transferred=len(body))

    def _page(self, host: str, path: str) -> bytes:
        number = int.from_bytes(sha256(f"{host}/{path}".encode()).digest()[:6])
        own = 500 if host.startswith("large") else 3
        links = [f"/page/{(number + step) % own}" for step in range(3 if own == 3 else 40)]
        links += [f"https://h{(number + step * step) % 1_000_000}.example/" for step in range(self._onward)]
        links.append(f"https://s{number % 1_000_000}.trap.example/")
        anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        return f"{HEAD.format(f'{host} {path}')}{FILLER}<ul>{anchors}</ul></body></html>".encode()

    async def close(self) -> None:
        """Nothing is open."""


def memory() -> float:
    """MB of this process."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


async def crawl(options: AuditOptions, seeds: list[str], world: FakeWeb, seconds: float) -> None:
    """Run it, and print what was seen."""
    began = time.monotonic()
    prepared = await AuditCrawl(options, seeds).prepare()
    print(f"{len(seeds)} starts put in: {time.monotonic() - began:.1f} s, {memory():.0f} MB")
    clock = SystemClock()
    store = open_store(options.database, clock)
    policy = replace(prepared.plan.policy, sitemaps=False, resource_budget=0)
    work = Crawler(job=prepared.plan.job, policy=policy, store=store, fetcher=world, clock=clock, notify=lambda _: None)
    running = asyncio.create_task(work.run())
    began, before = time.monotonic(), time.process_time()
    for part in range(1, 5):
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(running), seconds / 4)
        counts = await store.frontier.counts()
        print(
            f"after {seconds / 4 * part:4.0f} s: {counts.completed} pages, {counts.queued} queued, {counts.skipped} skipped, "
            f"{len(world.asked)} hosts asked, {memory():.0f} MB"
        )
    work.stop()
    await running
    took, cpu = time.monotonic() - began, time.process_time() - before
    pages = (await store.frontier.counts()).completed
    await store.close()
    load = os.getloadavg()[0]
    print(f"{pages / took:.0f} pages/s, {1000 * cpu / max(1, pages):.2f} ms of CPU a page, load of the machine {load:.1f}")
    _tell_hosts(options, world)


def _tell_hosts(options: AuditOptions, world: FakeWeb) -> None:
    if "://" not in options.database:
        with closing(sqlite3.connect(options.database)) as sql:
            known, cut = sql.execute("SELECT count(*), count(CASE WHEN standing = 0 THEN 1 END) FROM hosts").fetchone()
            print(f"{known} hosts known, {cut} of them cut off as subdomains")
            for reason, number in sql.execute("SELECT skip_reason, count(*) FROM pages WHERE status = 'skipped' GROUP BY 1"):
                print(f"skipped: {number} ({reason})")
    small = [number for host, number in world.asked.items() if not host.startswith("large")]
    large = [number for host, number in world.asked.items() if host.startswith("large")]
    print(f"requests of a host: large at most {max(large, default=0)}, small at most {max(small, default=0)}")
    trap = sum(host.endswith(".trap.example") for host in world.asked)
    print(f"hosts of trap.example that were asked: {trap}")


def read_seed_file(lines: int) -> None:
    """How long a file of starts takes to be read and put into a crawl, and what it costs in memory."""
    from tadoru.cli.inputs import read_seed_urls

    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "seeds.txt"
        name.write_text("".join(f"host-{number}.example/page\n" for number in range(lines)), encoding="utf-8")
        before, began = memory(), time.process_time()
        urls = list(read_seed_urls(str(name)))
        took = time.process_time() - began
        print(f"{len(urls)} lines read, cleaned, once each: {took:.1f} s of CPU, {memory() - before:.0f} MB more")
        options = AuditOptions(database=str(Path(folder) / "crawl.db"), follow_external_hosts=True)
        began = time.process_time()
        run_loop(AuditCrawl(options, urls).prepare())
        print(f"put into a new crawl: {time.process_time() - began:.1f} s of CPU, {memory():.0f} MB in all")
        began = time.process_time()
        run_loop(AuditCrawl(options, urls).prepare())
        print(f"found there again: {time.process_time() - began:.1f} s of CPU")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=2_000, help="starts, each a host of its own")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--onward", type=int, default=5, help="links of a page to hosts that nobody has met")
    parser.add_argument("--latency", type=float, default=0.005)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--queue-limit", type=int, default=20_000)
    parser.add_argument("--database", default="", help="where the crawl is kept; otherwise a file that is removed")
    parser.add_argument("--seeds", type=int, default=0, help="only read a seed file of so many lines")
    given = parser.parse_args()
    if given.seeds:
        read_seed_file(given.seeds)
        return 0
    seeds = [f"https://{'large' if number % 100 == 0 else 'small'}-{number}.example/" for number in range(given.hosts)]
    with tempfile.TemporaryDirectory() as folder:
        options = AuditOptions(
            database=given.database or str(Path(folder) / "crawl.db"), follow_external_hosts=True, delay=given.delay,
            concurrency=64, pages_per_host=50, hosts_per_domain=20, queue_limit=given.queue_limit,
        )  # fmt: skip
        run_loop(crawl(options, seeds, FakeWeb(given.latency, given.onward), given.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
