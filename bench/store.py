"""How fast the store alone is. `python -m bench.store`: pages/s of `finish`, leases/s; `--million`: the memory it takes.

The network, the parser and the engine are not measured here; `python -m bench` measures the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.model.web import Link, LinkKind
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import CompletedOutcome, Lease, LinkTarget, PageFacts, PageStatus

HOST = "bench.example"
LINKS = 100
BATCH = 8
FACTS = PageFacts(
    status_code=200, title="A page of an ordinary title", ttfb_ms=1.5, download_time_ms=2.5, content_type="text/html"
)
Links = Callable[[], list[tuple[LinkTarget, str]]]
"""The targets of the links of a page, with their texts."""


def target(number: int) -> LinkTarget:
    return LinkTarget(f"https://bench.example/section-{number % 97}/a-page-with-a-name-{number}.html", HOST, PageStatus.QUEUED)


def to_known(targets: list[LinkTarget]) -> Links:
    """Links of pages that lead to pages known for long, as menus and indexes do."""
    texts = [f"Text of a link, number {n}" for n in range(500)]
    turn = count(step=37)

    def links() -> list[tuple[LinkTarget, str]]:
        start = next(turn)
        size = len(targets)
        return [(targets[(start + n * 7) % size], texts[(start + n) % 500]) for n in range(LINKS)]

    return links


def to_new() -> Links:
    """Links of pages that lead to nothing but new pages, half of them with texts of their own."""
    numbers = count(10_000_000)

    def links() -> list[tuple[LinkTarget, str]]:
        return [(target(number), f"Text {number // 2}") for number in islice(numbers, LINKS)]

    return links


class Stopwatch:
    """Wall and CPU time of what runs inside `with`, summed. The CPU time is what a busy machine cannot spoil."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += time.process_time()

    def rate(self, number: int, what: str) -> str:
        return f"{number / self.cpu:8.0f} {what} per CPU second, {number / self.wall:8.0f} per second"


async def lease(store: CrawlStore, worker: int, number: int) -> list[Lease]:
    return (await store.frontier.lease(worker, {HOST: number}, new_hosts=0, per_host=0, limit=0)).leases


def _outcome(held: Lease, found: list[tuple[LinkTarget, str]]) -> CompletedOutcome:
    links = [Link(target.url, LinkKind.A, text, "", n, "") for n, (target, text) in enumerate(found)]
    return CompletedOutcome(lease=held, facts=FACTS, links=links, targets={target.url: target for target, _ in found})


async def finish(store: CrawlStore, worker: int, pages: int, links: Links) -> Stopwatch:
    """Lease and finish so many pages; the time spent in `finish`."""
    watch = Stopwatch()
    for _ in range(pages // BATCH):
        outcomes = [_outcome(held, links()) for held in await lease(store, worker, BATCH)]
        with watch:
            await store.frontier.finish(worker, outcomes, max_depth=None)
    return watch


async def rates(name: str, pages: int) -> None:
    store = open_store(name, SystemClock())
    worker = await store.frontier.join(3600)
    known = [target(n) for n in range(pages * 4)]
    await store.frontier.add(known, seed=False)
    watch = await finish(store, worker, pages, to_known(known))
    print(f"finish, {LINKS} known links a page: {watch.rate(pages, 'pages')}")
    watch = await finish(store, worker, pages, to_new())
    print(f"finish, {LINKS} new links a page:   {watch.rate(pages, 'pages')}")
    watch = Stopwatch()
    with watch:
        for _ in range(pages // 8):
            await lease(store, worker, 32)
    print(f"lease, 32 at a time:            {watch.rate(pages // 8 * 32, 'URLs')}")
    await store.close()


async def million(name: str, urls: int) -> None:
    """Make so many URLs known the way a crawl does, and say what that took."""
    store = open_store(name, SystemClock())
    worker = await store.frontier.join(3600)
    await store.frontier.add([target(n) for n in range(BATCH)], seed=True)
    before = _resident()
    watch = await finish(store, worker, urls // LINKS, to_new())
    print(f"finish, {LINKS} new links a page:   {watch.rate(urls // LINKS, 'pages')}")
    print(f"{(await store.frontier.counts()).known} URLs known, peak memory {_resident():.0f} MB ({before:.0f} MB before)")
    await store.close()


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store", description="Measure the store alone.")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--million", action="store_true", help="make 1,000,000 URLs known and show the memory")
    parser.add_argument("--store", help="memory:, :memory: or a file; by default a new temporary file")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        name = given.store or str(Path(folder) / "bench.db")
        work = million(name, 1_000_000) if given.million else rates(name, given.pages)
        if given.profile:
            profile = cProfile.Profile()
            profile.runcall(asyncio.run, work)
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(25)
        else:
            asyncio.run(work)


if __name__ == "__main__":
    main()
