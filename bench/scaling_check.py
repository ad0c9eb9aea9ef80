"""The simulation beside real workers: `python -m bench.scaling_check`. The same hosts, pages, pace and places, and the error.

    python -m bench.scaling_check                     300 hosts of 20 pages, a second apart, 20 at a time: 1, 2 and 4 workers
    python -m bench.scaling_check --delay 0 ...       as fast as the cores allow
    python -m bench.scaling_check -o FILE.json        keep what was measured
    python -m bench.scaling_check --again FILE.json   compare that once more, without crawling

Parts take as long as `bench.costs` saw them take on this machine, as busy as it was then. The simulated rate is read as the
measured one is: between a tenth and seven tenths of the pages. Where the cores are the limit,
the simulation is given as many as our processes got: on a machine that is shared, that is less than there are.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path

from bench import simulation_events
from bench.costs import real_server
from bench.scaling_runs import CrawlMeasurement, crawl
from bench.simulation import COSTS, Cluster, Prices, load, prices_from


def simulated(seen: CrawlMeasurement, prices: Prices, *, at_once: int, delay: float) -> tuple[float, float]:
    """Pages a second, and seconds from the first request to the last."""
    each = seen.pages // seen.hosts
    if not delay:
        return seen.cores / (prices.worker + prices.database + seen.site), seen.pages / seen.rate
    cluster = Cluster(workers=seen.workers, hosts_each=at_once, delay=delay, latency=0.05)
    ran = simulation_events.simulate([each + 1] * seen.hosts, cluster, prices)
    times = sorted(sent.at for sent in ran.requests if sent.page)  # The first is robots.txt.
    first, last = len(times) // 10, len(times) * 7 // 10
    return (last - first) / (times[last] - times[first]), times[-1] - times[0]


COLUMNS = "workers,pages/s,simulated,error,seconds,simulated,shortest gap,usual gap,worker ms/page,database ms/page,cores"
HEAD = f"| {COLUMNS.replace(',', ' | ')} |\n{'|--:' * 11}|"


def line(seen: CrawlMeasurement, rate: float, seconds: float) -> str:
    error = 100 * (rate / seen.rate - 1)
    return (
        f"| {seen.workers} | {seen.rate:.1f} | {rate:.1f} | {error:+.0f} % | {seen.until:.0f} | {seconds:.0f} | "
        f"{seen.gap:.3f} | {seen.usual_gap:.3f} | {1e3 * seen.worker:.2f} | {1e3 * seen.database:.2f} | {seen.cores:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scaling_check", description="Compare the simulation with real workers."
    )
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--costs", type=Path, default=COSTS)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--again", type=Path)
    given = parser.parse_args()
    if given.again:
        kept = json.loads(given.again.read_text(encoding="utf-8"))
        seen, at_once, delay = [CrawlMeasurement(**one) for one in kept["seen"]], kept["at_once"], kept["delay"]
    else:
        seen, at_once, delay = [], given.at_once, given.delay
        with real_server() as server:
            for workers in map(int, given.workers.split(",")):
                run = crawl(server, hosts=given.hosts, pages=given.pages, workers=workers, at_once=at_once, delay=delay)
                print(run, f"load {os.getloadavg()[0]:.1f}", flush=True)
                seen.append(run)
                if given.output:
                    kept = {"seen": [asdict(one) for one in seen], "at_once": at_once, "delay": delay}
                    given.output.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    prices = prices_from(load(given.costs), links=20, new=1, paced=delay > 0, walls=True)
    print(HEAD)
    for run in seen:
        print(line(run, *simulated(run, prices, at_once=at_once, delay=delay)))


if __name__ == "__main__":
    main()
