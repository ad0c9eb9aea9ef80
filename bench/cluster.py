"""Workers on one PostgreSQL, crawling hundreds of hosts: `python -m bench.cluster [--hosts 300] [--pages 12] [--delay 1]
[--workers 1,2,4] [--at-once 20] [--against SRC] [--plot FILE.svg]`.

Every host is an address below 127.64.0.0. The crawl is handed over with `tadoru audit --detach`, each worker is `tadoru worker`.
Throughput is read from the server's own record of requests, while all places of all workers are taken: between the moment a tenth
and the moment seven tenths of the pages were asked for. Gaps are between two requests of one host, whoever sent them. `--at-once
0` leaves the number of hosts to the worker's own default, `--delay 0` measures what the cores can do. `--against SRC` runs each
number of workers with another version, whose `src` folder that is, right before the present one.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.costs import server_cpu
from bench.scaling_site import Request, Sites, requests, serving
from tadoru.store.cluster.registry import OPEN, ClusterRegistry
from tadoru.store.cluster.status import ClusterStatusReader
from tests.support.postgres import PostgresServer

COMMAND = [sys.executable, "-m", "tadoru"]


class Run(NamedTuple):
    """One crawl."""

    workers: int
    pages: int
    seconds: float
    rate: float
    """Pages a second while every place was taken."""
    shortest_gap: float
    slowest: float
    """Seconds until the last host had been asked for its first page."""
    per_worker: tuple[int, ...]
    database_cpu: float
    """Milliseconds of CPU of the database a page."""
    worker_cpu: float
    """Milliseconds of CPU of all workers a page."""


@contextmanager
def postgres() -> Iterator[PostgresServer]:
    """A server with the settings that a careful operator leaves on."""
    with tempfile.TemporaryDirectory(prefix="tadoru-bench-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder), fsync="on", synchronous_commit="on", full_page_writes="on")
        try:
            yield server
        finally:
            server.stop()


def crawl(
    server: PostgresServer,
    starts: Sequence[str],
    log: Path,
    workers: int,
    *,
    at_once: int,
    delay: float,
    folder: Path,
    source: Path | None = None,
) -> Run:
    """Hand the hosts over, and let so many workers do it: of this version, or of the one in `source`."""
    database = server.new_database()
    environment = os.environ if source is None else os.environ | {"PYTHONPATH": str(source.resolve())}
    name = f"w{workers}"
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{start}\n" for start in starts), "utf-8")
    log.write_text("", "utf-8")
    place = f"{database}&crawl={name}"
    hand = [
        *COMMAND,
        "audit",
        "-d",
        place,
        "--detach",
        "--seed-file",
        str(seeds),
        "--delay",
        str(delay),
        "--sitemap",
        "off",
        "-q",
    ]
    subprocess.run(hand, check=True, cwd=folder, env=environment)
    chosen = ["--hosts", str(at_once)] if at_once else []
    began, cpu, worker_cpu = time.monotonic(), server_cpu(server.pid), children_cpu()
    with ExitStack() as all_of_them:
        started = [
            all_of_them.enter_context(
                subprocess.Popen([*COMMAND, "worker", "-d", database, *chosen, "--no-events", "-q"], cwd=folder, env=environment)
            )
            for _ in range(workers)
        ]
        wait_until_done(database, name)
        # The older version may have other tables.
        done = () if source else pages_by_worker(database)
        for worker in started:
            worker.terminate()
    seconds, cpu = time.monotonic() - began, server_cpu(server.pid) - cpu
    time.sleep(0.5)  # The server writes its record down five times a second.
    asked = [one for one in requests(log) if one.path != "/robots.txt"]
    return Run(
        workers,
        len(asked),
        seconds,
        rate(asked),
        shortest_gap(requests(log)),
        slowest(asked),
        done,
        1000 * cpu / len(asked),
        1000 * (children_cpu() - worker_cpu) / len(asked),
    )


def children_cpu() -> float:
    """Seconds of CPU of the commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def wait_until_done(database: str, name: str) -> None:
    """Wait for the end of a crawl."""
    cluster = ClusterRegistry(database)
    while cluster.crawl(name).state == OPEN:
        time.sleep(0.25)
    found = cluster.crawl(name)
    if found.state != "done":
        raise SystemExit(f"The crawl failed: {found.error}")
    cluster.close()


def pages_by_worker(database: str) -> tuple[int, ...]:
    """How many pages each worker did."""
    with closing(ClusterStatusReader(database)) as view:
        return tuple(worker.pages for worker in view.look().workers)


def described(run: Run) -> str:
    return (
        f"{run.workers} workers: {run.pages:,} pages in {run.seconds:.1f} s, {run.rate:.1f}/s with all places taken, CPU a page: "
        f"database {run.database_cpu:.2f} ms, workers {run.worker_cpu:.2f} ms; shortest gap {run.shortest_gap:.3f} s, last host "
        f"after {run.slowest:.1f} s, by worker {run.per_worker}"
    )


def rate(asked: Sequence[Request]) -> float:
    times = sorted(one.at for one in asked)
    first, last = times[len(times) // 10], times[len(times) * 7 // 10]
    return (len(times) * 7 // 10 - len(times) // 10) / max(last - first, 1e-9)


def shortest_gap(asked: Sequence[Request]) -> float:
    by_host: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        by_host[one.host].append(one.at)
    return min((late - early for times in by_host.values() for early, late in pairwise(sorted(times))), default=0.0)


def slowest(asked: Sequence[Request]) -> float:
    first: dict[str, float] = {}
    for one in asked:
        first.setdefault(one.host, one.at)
    return max(first.values()) - min(first.values())


def svg(runs: Sequence[Run]) -> str:
    """Pages a second over workers, with the straight line through the first."""
    wide, high, left, top = 420, 260, 60, 20
    most_x, most_y = max(run.workers for run in runs), max(runs[0].rate / runs[0].workers * run.workers for run in runs) * 1.05

    def at(x: float, y: float) -> str:
        return f"{left + x / most_x * wide:.1f},{top + high - y / most_y * high:.1f}"

    straight = f"{at(0, 0)} {at(most_x, runs[0].rate / runs[0].workers * most_x)}"
    line = " ".join(at(run.workers, run.rate) for run in runs)
    dots = "".join(_dot(at(run.workers, run.rate), f"{run.workers}: {run.rate:.1f}/s") for run in runs)
    middle = f'x="14" y="{top + high / 2}" text-anchor="middle" transform="rotate(-90 14 {top + high / 2})"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + left + 30} {high + top + 50}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Pages a second over the number of workers">'
        f'<path d="M{left},{top}V{top + high}H{left + wide}" fill="none" stroke="#888"/>'
        f'<polyline points="{straight}" fill="none" stroke="#bbb" stroke-dasharray="5 4"/>'
        f'<polyline points="{line}" fill="none" stroke="#2a6f97" stroke-width="2"/><g fill="#2a6f97">{dots}</g>'
        f'<text x="{left + wide / 2}" y="{top + high + 36}" text-anchor="middle">workers</text>'
        f"<text {middle}>pages a second</text></svg>"
    )


def _dot(place: str, words: str) -> str:
    x, y = place.split(",")
    return f'<circle cx="{x}" cy="{y}" r="4"/><text x="{float(x) - 6}" y="{float(y) - 8}" text-anchor="end">{words}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--against", type=Path, metavar="SRC")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    runs = []
    with postgres() as server, tempfile.TemporaryDirectory() as place:
        folder, log = Path(place), Path(place) / "requests.tsv"
        log.touch()
        with serving(options.hosts, Sites(options.pages, 20), log) as (starts, _):
            for workers in (int(number) for number in options.workers.split(",")):
                for source in (options.against, None) if options.against else (None,):
                    run = crawl(
                        server, starts, log, workers, at_once=options.at_once, delay=options.delay, folder=folder, source=source
                    )
                    if source is None:
                        runs.append(run)
                    print(f"{'before: ' if source else ''}{described(run)}", flush=True)
    if options.plot is not None:
        options.plot.write_text(svg(runs) + "\n", "utf-8")


if __name__ == "__main__":
    main()
