"""How far a cluster goes: `python -m bench.simulation`, a frontier of 100 million URLs on a million hosts, done by N workers.

Hosts are taken in passes: whoever has pages left gets a slice of bounded time, as many hosts at once as the workers have places.
How long a pass lasts is decided by the slowest of what it needs: the pace of the hosts, the CPU of the workers, their writers
(each worker writes one batch at a time, beside the others), the CPU of the database's machine, its log. That one is the
bottleneck of the pass. With several databases every host belongs to one of them by its hash, and the
fullest decides.

What a page takes was measured (`bench.costs`, kept in `costs.json`); `bench.simulation_events` does the same request by request,
for worlds that are small enough, and `bench.scaling_check` compares both with real workers. Nothing here waits or asks anybody:
the same seed gives the same figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent
COSTS = ROOT / "costs.json"
DAY = 86_400.0
PACE, WORKER, WRITER, DATABASE, LOG, MACHINE = "pace", "worker", "writer", "database CPU", "log", "machine"
EXPONENT = 0.9
"""The host of rank r has r^-0.9 times the pages of the first: a density that falls with the power 2.1, as sizes of sites do."""
PAGE_LINKS, PAGE_NEW = 40, 1.0
"""Links of a page, and how many of them lead to a URL that was not known: one over a whole crawl, as every URL is new once."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What things take. Seconds, but for the log's bytes."""

    worker: float
    """CPU of a worker for a page."""
    database: float
    """CPU of the database for a page, without its share of the transaction that writes it."""
    writer: float
    """For a page in the transaction that writes it, likewise."""
    transaction: float = 0.0
    """For a transaction, however many pages it writes."""
    transaction_cpu: float = 0.0
    """CPU of the database for it."""
    slice_cpu: float = 0.0
    """CPU of the database for handing out one slice."""
    log: float = 0.0
    """Bytes of log for a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Who does the work."""

    workers: int
    hosts_each: int = 200
    """Hosts that a worker asks at a time."""
    delay: float = 1.0
    sending: float = 0.02
    """From a slot that is free until the request is out and the gap begins: on top of every delay."""
    latency: float = 0.3
    """Until the last answer of a slice is there and written."""
    slice: float = 30.0
    handover: float = 0.3
    """From one slice of a place to the next."""
    databases: int = 1
    cores: int = 16
    """Of each database's machine."""
    log_rate: float = 200e6
    """Bytes a second that its disk takes of the log."""
    machine: int = 0
    """Cores that everything shares, when everything is on one machine."""

    @property
    def places(self) -> int:
        return self.workers * self.hosts_each

    @property
    def interval(self) -> float:
        """Between two requests to one host."""
        return self.delay + self.sending


class Span(NamedTuple):
    """A pass: when it ended, what was done, and what it waited for."""

    end: float
    pages: int
    hosts: int
    seconds: float
    bottleneck: str
    use: Mapping[str, float]
    """How much of each thing there is was used, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCrawl:
    """A crawl from beginning to end."""

    pages: int
    seconds: float
    spans: Sequence[Span]

    def at(self, share: float) -> float:
        """When so much of all pages was done."""
        done, wanted = 0, share * self.pages
        for span in self.spans:
            if done + span.pages >= wanted:
                return span.end - span.seconds * (1 - (wanted - done) / max(1, span.pages))
            done += span.pages
        return self.seconds

    @property
    def bulk(self) -> list[Span]:
        """The first nine tenths of the pages: what comes after is the tail."""
        until, found, done = 0.9 * self.pages, [], 0
        for span in self.spans:
            if done >= until:
                break
            found.append(span)
            done += span.pages
        return found

    @property
    def rate(self) -> float:
        """Pages a second, in the bulk."""
        return 0.9 * self.pages / self.at(0.9)

    def bottlenecks(self) -> dict[str, float]:
        """Share of the bulk's time that each was what was waited for, the longest first."""
        found: defaultdict[str, float] = defaultdict(float)
        for span in self.bulk:
            found[span.bottleneck] += span.seconds
        total = sum(found.values())
        return {name: found[name] / total for name in sorted(found, key=found.__getitem__, reverse=True)}

    def use(self) -> dict[str, float]:
        """How much of each thing was used in the bulk."""
        total = sum(span.seconds for span in self.bulk)
        names = self.spans[0].use
        return {name: sum(span.use[name] * span.seconds for span in self.bulk) / total for name in names}


def zipf(urls: int, hosts: int, *, exponent: float = EXPONENT, cap: int = 0, seed: int = 1) -> Numbers:
    """How many pages each host has, in no order: exactly `urls` in all unless a cap takes some away, one at least."""
    weights = np.arange(1, hosts + 1, dtype=np.float64) ** -exponent
    sizes = 1 + np.floor(weights / weights.sum() * (urls - hosts)).astype(np.int64)
    sizes[: urls - int(sizes.sum())] += 1
    if cap:
        sizes = np.minimum(sizes, cap)
    return np.random.default_rng(seed).permutation(sizes)


def simulate(sizes: Numbers, cluster: Cluster, prices: Prices, *, seed: int = 1) -> SimulatedCrawl:
    """Do all pages of all hosts."""
    left = np.array(sizes, dtype=np.int64)
    home = np.random.default_rng(seed).integers(0, cluster.databases, len(left))
    now, done, spans, slow = 0.0, 0, list[Span](), 1.0
    while len(left):
        is_tail = len(left) <= cluster.places
        quota = _quota(left, cluster, slow, is_tail=is_tail)
        pages = np.minimum(left, quota)
        polite = _polite(pages, cluster, slow, is_tail=is_tail)
        needs = _needs(pages, home, cluster, prices)
        name = max(needs, key=needs.__getitem__)
        name, seconds = (name, needs[name]) if needs[name] > polite else (PACE, polite)
        # A place that waits for something else than its host's pace does fewer pages in a slice.
        slow = min(max(1.0, slow * seconds / polite), cluster.slice / cluster.interval) if name != PACE else max(1.0, slow * 0.9)
        total = int(pages.sum())
        now, done = now + seconds, done + total
        use = {PACE: polite / seconds} | {what: need / seconds for what, need in needs.items()}
        spans.append(Span(now, total, len(left), seconds, name, use))
        left = left - pages
        alive = left > 0
        left, home = left[alive], home[alive]
    return SimulatedCrawl(pages=done, seconds=now, spans=spans)


def _quota(left: Numbers, cluster: Cluster, slow: float, *, is_tail: bool) -> int:
    """Pages of a host in this pass: a slice; when every host has a place for good, as long as few of them end."""
    slice_pages = max(1, int(cluster.slice / (cluster.interval * slow))) if cluster.interval else 1 << 40
    if not is_tail:
        return slice_pages
    return max(slice_pages, int(np.quantile(left, 0.1)))


def _polite(pages: Numbers, cluster: Cluster, slow: float, *, is_tail: bool) -> float:
    """Seconds that the pass takes if nothing but the hosts' pace, and the places for them, hold it up."""
    over = cluster.latency + cluster.handover
    if is_tail:
        most = int(pages.max())
        per_slice = max(1, int(cluster.slice / cluster.interval)) if cluster.interval else most
        return (most - 1) * cluster.interval + -(-most // per_slice) * over
    taken = float(((pages - 1) * cluster.interval + over).sum()) / cluster.places
    return max(taken, float(int(pages.max()) - 1) * cluster.interval + over)


def _needs(pages: Numbers, home: Numbers, cluster: Cluster, prices: Prices) -> dict[str, float]:
    """Seconds that each thing is busy with the pass. As much is written at a time as waits: when it is much, hosts_each pages."""
    total, slices = float(pages.sum()), float(len(pages))
    fullest = np.bincount(home, weights=pages, minlength=cluster.databases).max()
    share = fullest / total
    at_once = max(1.0, cluster.hosts_each / 2)
    database = fullest * (prices.database + prices.transaction_cpu / at_once) + share * slices * prices.slice_cpu
    needs = {
        WORKER: total * prices.worker / cluster.workers,
        WRITER: total * (prices.writer + prices.transaction / at_once) / cluster.workers,
        DATABASE: database / cluster.cores,
        LOG: fullest * prices.log / cluster.log_rate,
    }
    if cluster.machine:
        needs[MACHINE] = (total * prices.worker + database) / cluster.machine
    return needs


# ---- the measured prices
def prices_from(
    costs: Mapping[str, Any],
    *,
    links: float = PAGE_LINKS,
    new: float = PAGE_NEW,
    paced: bool = True,
    walls: bool = False,
) -> Prices:
    """What a page takes by what was measured for each part of it: by its CPU and what a flush takes, as on a machine that has
    nothing else to do; or, with `walls`, its writing by how long it took on the one that it was measured on, however busy."""
    parts = costs["parts"]
    many = costs["findings"]
    written = {
        "a page": 1.0, "the record of a page": 1.0, "a finding": many, "a link to a known URL": max(0.0, links - new),
        "a link to a new URL": new,
    }  # fmt: skip
    alone = {"a lease (20 hosts × 2)": 1.0}
    if paced:
        alone |= {"take a slot": 1.0, "confirm a request": 1.0, "store a pace": 1.0}
    every = written | alone

    def total(key: str, of: Mapping[str, float]) -> float:
        return float(sum(parts[name][key] * times for name, times in of.items()))

    transaction = parts["a transaction"]
    beside = {"parse and check a page": 1.0, "fetch and loop": 1.0}
    return Prices(
        worker=total("worker", every | {name: times for name, times in beside.items() if name in parts}),
        database=total("database", every) + parts.get("fetch and loop", {"database": 0.0})["database"],
        writer=total("wall", written) if walls else total("worker", written) + total("database", written),
        transaction=transaction["wall"] if walls else transaction["worker"] + transaction["database"] + costs["flush"],
        transaction_cpu=transaction["database"],
        slice_cpu=costs["queue"]["200"]["database"] if costs["queue"] else 0.0,
        log=total("wal", every),
    )


def load(file: Path = COSTS) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


# ---- the command
def line(cluster: Cluster, ran: SimulatedCrawl) -> str:
    """A row of the table."""
    use = ran.use()
    names = (PACE, WORKER, WRITER, DATABASE, LOG)
    return (
        f"| {cluster.workers} | {cluster.databases} | {ran.rate:,.0f} | {next(iter(ran.bottlenecks()))} | "
        + " | ".join(f"{100 * use[name]:.0f}" for name in names)
        + f" | {ran.at(0.9) / DAY:,.2f} | {ran.at(0.99) / DAY:,.2f} | {ran.seconds / DAY:,.2f} |"
    )


COLUMNS = "workers,databases,pages/s,waits for,pace %,worker %,writer %,database CPU %,log %,90 % days,99 % days,all days"
HEAD = f"| {COLUMNS.replace(',', ' | ')} |\n{'|--:' * 3}|---{'|--:' * 8}|"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.simulation", description="How far a cluster goes.")
    parser.add_argument("--urls", type=int, default=100_000_000)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--workers", default="1,2,4,8,16,32,64,128", help="how many, several with commas")
    parser.add_argument("--databases", default="1,4,16", help="how many, several with commas")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--hosts-each", type=int, default=200, help="hosts that a worker asks at a time")
    parser.add_argument("--cap", type=int, default=20_000, help="pages of one host at most; 0: all")
    parser.add_argument("--cores", type=int, default=16, help="of a database's machine")
    parser.add_argument("--exponent", type=float, default=EXPONENT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--costs", type=Path, default=COSTS)
    parser.add_argument("--plot", type=Path, help="write a chart here, as SVG")
    given = parser.parse_args()
    began = time.perf_counter()
    prices = prices_from(load(given.costs), paced=given.delay > 0)
    sizes = zipf(given.urls, given.hosts, exponent=given.exponent, cap=given.cap, seed=given.seed)
    print(f"{int(sizes.sum()):,} pages of {len(sizes):,} hosts, the largest {int(sizes.max()):,}; one page:", prices, sep="\n")
    print(HEAD)
    curves: dict[int, list[tuple[int, SimulatedCrawl]]] = defaultdict(list)
    base = Cluster(workers=1, hosts_each=given.hosts_each, delay=given.delay, cores=given.cores)
    for databases in map(int, given.databases.split(",")):
        for workers in map(int, given.workers.split(",")):
            cluster = replace(base, workers=workers, databases=databases)
            ran = simulate(sizes, cluster, prices, seed=given.seed)
            curves[databases].append((workers, ran))
            print(line(cluster, ran), flush=True)
    if given.plot:
        from bench.simulation_chart import svg

        given.plot.write_text(svg(curves, base), encoding="utf-8")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
