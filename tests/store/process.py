"""A worker in a process of its own, driven over its pipes: `python -m tests.store.process MODE DATABASE`.

drain    lease, say so, wait for a line, then finish and lease until nothing is left, saying each URL once it is committed
hold     lease two URLs, take the slot and the robots.txt of the host, say the URLs, and wait to be killed
open     say ready, wait for a line, open the database, write to it, say what came of it
visit    the same at once, as a user who owns nothing
recrawl  say ready, wait for a line, begin a re-crawl, say its number or None, wait for a line, crawl and say how many pages
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.errors import StoreError
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tests.contract.crawls import HOST, done, lease
from tests.store.audited import SITE, crawl

LONG = 3600.0
NOBODY = 65534


def start(checkout: Path, mode: str, database: Path) -> subprocess.Popen[str]:
    """Start one of these."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.process", mode, str(database)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": f"{checkout / 'src'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def say(text: str) -> None:
    print(text, flush=True)


async def drain(store: CrawlStore) -> None:
    worker = await store.frontier.join(LONG)
    leases = await lease(store, worker, 3)
    say("leased")
    sys.stdin.readline()
    while leases:
        # Two pages lead to each page of the next level, so that workers meet each other's discoveries.
        outcomes = [done(got, *children(got.url)) for got in leases]
        assert await store.frontier.finish(worker, outcomes, max_depth=None) == len(leases)
        for got in leases:
            say(got.url)
        leases = await lease(store, worker, 3)
    await store.frontier.leave(worker)


def children(url: str) -> list[str]:
    number = int(url.rpartition("/")[2])
    return [str(child) for child in (number * 2, number * 2 + 1, number * 2 + 2) if 0 < child < 200]


async def hold(store: CrawlStore) -> None:
    worker = await store.frontier.join(LONG)
    leases = await lease(store, worker, 2)
    assert await store.hosts.take_slot(worker, HOST, LONG) == 0.0
    assert await store.robots.claim(worker, f"https://{HOST}", hold=LONG, max_age=LONG) is True
    say(" ".join(got.url for got in leases))
    sys.stdin.readline()


async def recrawl(database: str) -> None:
    store = open_store(database, SystemClock(), patience=LONG)
    say("ready")
    sys.stdin.readline()
    say(str(await store.runs.begin_recrawl({}, "2.0")))
    sys.stdin.readline()
    say(str(await crawl(store, SITE)))
    await store.close()


async def main(mode: str, database: str) -> None:
    if mode == "recrawl":
        await recrawl(database)
        return
    if mode == "visit" and os.geteuid() == 0:
        os.setuid(NOBODY)
    if mode == "open":
        say("ready")
        sys.stdin.readline()
    try:
        store = open_store(database, SystemClock(), patience=LONG)
        if mode in ("open", "visit"):
            await store.meta.set("touched", "yes")
            say("written")
        else:
            await (drain if mode == "drain" else hold)(store)
        await store.close()
    except StoreError as error:
        say(str(error))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
