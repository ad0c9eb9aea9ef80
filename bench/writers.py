"""Many writers of one crawl on PostgreSQL: `python -m bench.writers`. Pages a second by 1, 2, 4 and 8 connections.

Each process leases pages of its own hosts and writes them with prepared outcomes, 16 pages at a time: 40 links each, of which one
is new, and 11 findings. Only the writing is timed. With `--against`, the same is done with the sources of another checkout, in
turns within one run. Results are in FRONTIER.md.

    python -m bench.writers                              about a minute
    python -m bench.writers --against ../before/src      beside another version
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

LINKS, FINDINGS, BATCH = 40, 11, 16
HOSTS = 64
"""Hosts; each writer has its part of them."""
SOURCES = Path(__file__).resolve().parent.parent / "src"


def host(number: int) -> str:
    return f"www.host-{number}.example"


def target(path: str, name: str) -> Any:
    from tadoru.store.crawl.records import LinkTarget, PageStatus

    return LinkTarget(f"https://{name}/{path}", name, PageStatus.QUEUED)


async def fill(address: str, pages: int) -> None:
    """A crawl with so many queued pages, and the checks of an audit."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.audit.site_checks import SITE_CHECKS

    store = _opened(address, SystemClock())
    frontier = getattr(store, "frontier", store)
    await (store.checks.install if hasattr(store, "checks") else store.install_checks)(SITE_CHECKS.values(), "page")
    each = -(-pages // HOSTS)
    for number in range(HOSTS):
        await frontier.add([target(f"page-{page}.html", host(number)) for page in range(each)], seed=False)
    await store.close()


def _opened(address: str, clock: Any) -> Any:
    from tadoru.store.crawl.postgres.store import PostgresStore

    return PostgresStore(address, clock)


async def write(address: str, place: int, writers: int, pages: int) -> None:
    """One writer: prepares everything, waits for the word, writes, and prints the seconds it took."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.audit.site_checks import SITE_CHECKS
    from tadoru.model.finding import Finding
    from tadoru.model.web import Link, LinkKind
    from tadoru.store.crawl.records import CompletedOutcome, PageFacts, PageRecords

    store = _opened(address, SystemClock())
    frontier = getattr(store, "frontier", store)
    worker = await frontier.join(600.0)
    mine = [host(number) for number in range(HOSTS) if number % writers == place]
    leases = []
    while len(leases) < pages:
        wants = dict.fromkeys(mine, -(-pages // len(mine)))
        got = (await frontier.lease(worker, wants, new_hosts=0, per_host=0, limit=0)).leases
        if not got:
            break
        leases += got
    leases = leases[:pages]
    ids = list(SITE_CHECKS)[:FINDINGS]
    batches = []
    for start in range(0, len(leases), BATCH):
        batch = []
        for at, lease in enumerate(leases[start : start + BATCH], start):
            names = [*(f"page-{(at + n) % 90}.html" for n in range(LINKS - 1)), f"new-{place}-{at}.html"]
            targets = {one.url: one for one in (target(name, lease.host) for name in names)}
            links = [Link(url, LinkKind.A, f"To {n}", "", n, "") for n, url in enumerate(targets)]
            records = PageRecords(
                indexable=True, indexability="indexable", findings=[Finding(name, lease.url, "A detail") for name in ids],
                headers=[("Content-Type", "text/html")] * 8, h1="A heading", word_count=300,
            )  # fmt: skip
            facts = PageFacts(status_code=200, title="A page", content_type="text/html", ttfb_ms=40.0, response_size_bytes=20_000)
            batch.append(CompletedOutcome(lease=lease, facts=facts, links=links, targets=targets, records=records))
        batches.append(batch)
    await frontier.counts()
    print("ready", flush=True)
    sys.stdin.readline()
    began, cpu = time.perf_counter(), time.process_time()
    for batch in batches:
        await frontier.finish(worker, batch, max_depth=None)
    took = time.perf_counter() - began
    print(json.dumps({"pages": len(leases), "seconds": took, "cpu": time.process_time() - cpu}), flush=True)
    sys.stdin.readline()
    await store.close()


def run(server: Any, sources: Path, writers: int, pages: int) -> dict[str, float]:
    """Pages a second of so many writers, and the CPU of the database a page."""
    address = server.new_database()
    address += f"{'&' if '?' in address else '?'}crawl=bench"
    environment = {**os.environ, "PYTHONPATH": f"{sources}:{Path(__file__).resolve().parent.parent}"}

    def start(*arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    filled = start("--fill", address, "--pages", pages)
    filled.communicate()
    assert filled.returncode == 0
    processes = [
        start("--write", address, "--place", at, "--writers", writers, "--pages", pages // writers) for at in range(writers)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    from bench.costs import server_cpu

    cpu, began = server_cpu(server.pid), time.perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.stdout.readline()) for process in processes if process.stdout is not None]
    seconds = time.perf_counter() - began
    cpu = server_cpu(server.pid) - cpu
    for process in processes:
        process.communicate("end\n")
    server.drop(address.partition("crawl=")[0].rstrip("?&"))
    written = sum(one["pages"] for one in found)
    return {
        "rate": written / seconds,
        "database": 1000 * cpu / written,
        "writer": 1000 * sum(one["cpu"] for one in found) / written,
    }


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--against", type=Path, help="the `src` of another checkout")
    given.add_argument("--writers", type=int, nargs="*", default=[1, 2, 4, 8])
    given.add_argument("--pages", type=int, default=3_200)
    given.add_argument("--turns", type=int, default=3)
    given.add_argument("--fill", help=argparse.SUPPRESS)
    given.add_argument("--write", help=argparse.SUPPRESS)
    given.add_argument("--place", type=int, default=0, help=argparse.SUPPRESS)
    options = given.parse_args()
    if options.fill:
        asyncio.run(fill(options.fill, options.pages))
        return
    if options.write:
        asyncio.run(write(options.write, options.place, options.writers[0], options.pages))
        return
    from bench.costs import real_server

    with real_server() as server:
        versions = {"this": SOURCES} | ({"before": options.against.resolve()} if options.against else {})
        print("| writers | " + " | ".join(f"{name}: pages/s | database ms | writer ms" for name in versions) + " |")
        for writers in options.writers:
            found: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
            for _ in range(options.turns):
                for name, sources in versions.items():
                    found[name].append(run(server, sources, writers, options.pages))
            cells = [
                f"{median(one['rate'] for one in runs):,.0f} | {median(one['database'] for one in runs):.2f} | "
                f"{median(one['writer'] for one in runs):.2f}"
                for runs in found.values()
            ]
            print(f"| {writers} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
