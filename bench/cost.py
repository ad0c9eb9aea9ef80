"""Where the CPU of an audited page goes: `python -m bench.cost`. Everything between an answer and its rows, step by step.

`bench.read` measures the first three steps; what a job keeps of a page, the links decided, the lease and the transaction come on
top. Fetching and the event loop are not in it: the CPU of a whole crawl (`bench/run --audit`) tells them by difference. Times are
CPU times, the best of several rounds for every page and every batch, so that a busy machine spoils little.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from bench.read import SITE_URL, SITES, best, read_all, sample
from tadoru.clock import SystemClock
from tadoru.engine.job import FetchedPage, PageResult
from tadoru.engine.page_fetch import link_targets, page_facts
from tadoru.engine.url_filter import UrlFilter
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.launch import tune_process
from tadoru.model.web import Response, Timings
from tadoru.rules.scope import Scope
from tadoru.rules.url import host_key
from tadoru.store.crawl.records import CompletedOutcome, Lease
from tadoru.store.crawl.sqlite.store import SqliteStore

AT_ONCE = 16
"""Pages in a transaction: what a crawl comes to."""
TIMES = Timings(ttfb=0.001, download=0.002)


class Batch(NamedTuple):
    """Seconds of CPU for the pages of one transaction."""

    lease: float
    links: float
    store: float


def handle_all(job: AuditJob, pages: list[Response]) -> tuple[dict[str, tuple[Response, PageResult]], list[float]]:
    """What the job makes of each page, and the seconds it took."""
    found, taken = {}, []
    for response in pages:
        page = FetchedPage(url=response.url, depth=1, response=response)
        start = time.process_time()
        found[response.url] = response, job.handle(page)
        taken.append(time.process_time() - start)
    return found, taken


def outcome(lease: Lease, response: Response, found: PageResult, url_filter: UrlFilter) -> CompletedOutcome:
    """As the engine does it."""
    targets = link_targets(found.links, url_filter)
    resources = [url_filter.resource(link) for link in found.resources]
    facts = page_facts(response, found)
    return CompletedOutcome(
        lease=lease, facts=facts, links=found.links, targets=targets, records=found.records, resources=resources
    )


async def store_all(job: AuditJob, found: dict[str, tuple[Response, PageResult]], file: Path) -> list[Batch]:
    """Write every page into a new database."""
    clock, batches = time.process_time, []
    store = SqliteStore(str(file), SystemClock())
    await store.checks.install(job.catalogue.checks.values(), "page", {})
    url_filter = UrlFilter(job.scope, check_external=False, follow=True, trap_cap=500)
    await store.frontier.add([url_filter.start_target(url) for url in found], seed=True)
    worker = await store.frontier.join(3600.0)
    wanted = {host_key(SITE_URL): AT_ONCE}
    for _ in repeat(None, -(-len(found) // AT_ONCE)):
        start = clock()
        leased = await store.frontier.lease(worker, wanted, new_hosts=1, per_host=AT_ONCE, limit=0)
        have = clock()
        outcomes = [outcome(lease, *found[lease.url], url_filter) for lease in leased.leases if lease.url in found]
        decided = clock()
        await store.frontier.finish(worker, outcomes, max_depth=None)
        batches.append(Batch(have - start, decided - have, clock() - decided))
    await store.close()
    return batches


def measure(name: str, number: int, rounds: int) -> None:
    pages = [replace(page, timings=TIMES, address="127.0.0.1") for page in sample(SITES[name], number)]
    read = best([list(read_all(pages)) for _ in range(rounds)])
    job = AuditJob(scope=Scope(sites=(SITE_URL,)))
    tries = [handle_all(job, pages) for _ in range(rounds)]
    handled = sum(map(min, zip(*(taken for _, taken in tries), strict=True)))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        stored = [asyncio.run(store_all(job, tries[0][0], Path(folder) / f"{turn}.db")) for turn in range(rounds)]
    batches = [Batch(*map(min, zip(*tried, strict=True))) for tried in zip(*stored, strict=True)]
    totals = {step: sum(getattr(cost, step) for cost in read) for step in ("parse", "read", "checks")}
    totals["keep"] = handled - sum(totals.values())
    totals |= {step: sum(getattr(batch, step) for batch in batches) for step in Batch._fields}
    whole = sum(totals.values())
    links = sum(len(found.links) for _, found in tries[0][0].values())
    print(f"{name}: {len(pages)} pages, {links / len(pages):.0f} links each; milliseconds of CPU for a page")
    for step, seconds in totals.items():
        print(f"  {step:8} {1000 * seconds / len(pages):6.3f}  {100 * seconds / whole:4.0f} %")
    print(f"  {'together':8} {1000 * whole / len(pages):6.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cost", description="Measure where the CPU of an audited page goes.")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--site", choices=SITES, action="append", help="by default every site that is there")
    given = parser.parse_args()
    tune_process()
    for name in given.site or SITES:
        if SITES[name].is_dir():
            measure(name, given.pages, given.rounds)
        else:
            print(f"{name}: not there; bench/run builds it or says which package has it", file=sys.stderr)


if __name__ == "__main__":
    main()
