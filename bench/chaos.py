"""A cluster to which everything happens: `python -m bench.chaos [--minutes 5] [--workers 3] [--hosts 40] [--pages 8] [--seed 1]`.

Sites on loopback are crawled once into a file, undisturbed, and then again and again by workers on PostgreSQL, until the time is
over. Meanwhile, every few seconds, a worker is killed, stands still for longer than it may, or the database restarts or crashes;
clocks of new workers are up to five minutes off. Every crawl has to end with what the undisturbed one found. The summary says how
often what happened, how many requests were made for it beyond those of the undisturbed crawl, and the shortest gap of a host.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import subprocess
import tempfile
import time
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tests.acceptance.command import Tadoru
from tests.cluster.hamlets import build, host_of
from tests.cluster.harness import ClusterHarness, cluster_on, kill
from tests.support.exchange import ReceivedRequest
from tests.support.planted_crowd import everything
from tests.support.planted_server import ProxiedSite
from tests.support.postgres import PostgresServer

DELAY = 0.2
LONGEST = 300.0
"""Seconds after which a crawl counts as stuck."""


class ServerLateness:
    """How late the server sees what has arrived: its process gets no core while others have them all."""

    EVERY = 0.01

    def __init__(self, town: ProxiedSite) -> None:
        self._seen: list[tuple[float, float]] = []
        """When the loop of the server ran, and how much later than it should have."""
        town.in_loop(self._tick)

    def _tick(self, due: float | None = None) -> None:
        now = time.monotonic()
        self._seen.append((now, max(0.0, now - due) if due is not None else 0.0))
        asyncio.get_running_loop().call_later(self.EVERY, self._tick, now + self.EVERY)

    def at(self, moment: float) -> float:
        """How long before this moment a request that was seen then may have arrived, at most."""
        place = bisect(self._seen, (moment, 0.0))
        return self.EVERY + max((late for _, late in self._seen[max(0, place - 2) : place + 2]), default=0.0)


def shortest_gap(requests: Sequence[ReceivedRequest], lateness: ServerLateness) -> tuple[float, float]:
    """The shortest gap of a host as the server saw it, and the shortest that can have been between two arrivals, at most."""
    times: dict[str, list[float]] = defaultdict(list)
    for seen in requests:
        times[host_of(seen)].append(seen.at)
    pairs = [pair for of_host in times.values() for pair in pairwise(sorted(of_host))]
    return min(b - a for a, b in pairs), min(b - a + lateness.at(a) for a, b in pairs)


class FaultPlan:
    """What happens to the workers and the database."""

    def __init__(self, harness: ClusterHarness, postgres: PostgresServer, workers: int, rng: random.Random) -> None:
        self._harness, self._postgres, self._rng = harness, postgres, rng
        self._workers = [self._start() for _ in range(workers)]
        self.happened: Counter[str] = Counter()

    def _start(self) -> subprocess.Popen[str]:
        return self._harness.start_timed_worker(clock_off=self._rng.uniform(-300, 300), hosts=6)

    def strike(self) -> None:
        """One thing at random."""
        name, chance = "", self._rng.random()
        at = self._rng.randrange(len(self._workers))
        if chance < 0.6:
            name = "killed"
            kill(self._workers[at])
            self._workers[at] = self._start()
        elif chance < 0.8:
            name = "stood still"
            self._workers[at].send_signal(signal.SIGSTOP)
            time.sleep(self._rng.uniform(0.5, 4.0))
            self._workers[at].send_signal(signal.SIGCONT)
        else:
            name = "database restarted" if chance < 0.9 else "database crashed"
            self._postgres.restart("fast" if chance < 0.9 else "immediate")
            self._harness.reconnect()
        self.happened[name] += 1


def crawl(harness: ClusterHarness, fate: FaultPlan, name: str, options: Sequence[str], rng: random.Random) -> None:
    """One crawl, struck every few seconds until it is done."""
    harness.submit(name, *options)
    began = time.monotonic()
    while harness.cluster.crawl(name).state == "open":
        if time.monotonic() - began > LONGEST:
            raise SystemExit(f"The crawl {name} is stuck. What the workers said:\n{harness.logs}")
        time.sleep(rng.uniform(0.5, 4.0))
        fate.strike()
    found = harness.cluster.crawl(name)
    if found.state != "done":
        raise SystemExit(f"The crawl {name} failed: {found.error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="tadoru-chaos-") as place:
        folder, tables = Path(place), Path(place) / "postgresql"
        folder.chmod(0o755)  # The server runs as another user.
        tables.mkdir()
        tadoru = Tadoru(folder)
        with ProxiedSite(folder, "bakery.example") as town:
            options = ("--proxy", town.proxy, "--allow-private", "--delay", str(DELAY), *build(town, asked.hosts, asked.pages))
            done = tadoru("audit", "-d", "quiet.db", "--processes", "1", "-q", *options)
            if done.code:
                raise SystemExit(done.err)
            expected, quiet = everything(folder / "quiet.db"), len(town.requests)
            postgres = PostgresServer(tables)
            try:
                with cluster_on(postgres, tadoru) as harness:
                    run(
                        harness,
                        FaultPlan(harness, postgres, asked.workers, rng),
                        town,
                        expected,
                        quiet,
                        options,
                        asked.minutes * 60,
                        rng,
                    )
            finally:
                postgres.stop()


def run(
    harness: ClusterHarness, fate: FaultPlan, town: ProxiedSite, expected: dict[str, list[tuple[object, ...]]], quiet: int,
    options: Sequence[str], seconds: float, rng: random.Random,
) -> None:  # fmt: skip
    """Crawl until the time is over, and say what came of it."""
    began, crawls, wrong, lateness = time.monotonic(), 0, 0, ServerLateness(town)
    while time.monotonic() - began < seconds:
        crawls += 1
        first = len(town.requests)
        crawl(harness, fate, f"c{crawls}", options, rng)
        found = harness.results(f"c{crawls}")
        different = [name for name in expected if found[name] != expected[name]]
        wrong += bool(different)
        asked = town.requests[first:]
        seen, arrived = shortest_gap(asked, lateness)
        print(
            f"crawl {crawls}: {'as undisturbed' if not different else f'DIFFERENT: {different}'}, {len(asked):,} requests "
            f"({quiet:,} undisturbed), shortest gap {seen:.3f} s of {DELAY} s as the server saw it, "
            f"{arrived:.3f} s with the time for which it had no core",
            flush=True,
        )
    happened = ", ".join(f"{number} times {name}" for name, number in sorted(fate.happened.items()))
    print(f"{crawls} crawls in {(time.monotonic() - began) / 60:.1f} minutes, {wrong} of them wrong; {happened}.")


if __name__ == "__main__":
    main()
