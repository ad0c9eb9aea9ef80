"""CPU a page of whole crawls on a file, this version beside another: `python -m bench.crawl_cpu --against ../before/src`.

Both crawl the generated site over loopback with one process and no delay, in turns, so that a machine that is busy for a while
slows both. CPU is user and system time of the command without its start (`--version`); the pages are those of the server's log.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.server import Server, serve
from bench.site import build

HERE = Path(__file__).resolve().parent.parent
JOBS = {
    "links": ("links", "-f", "json", "-o", os.devnull, "--depth", "100", "--state", "{database}"),
    "audit": ("audit", "-d", "{database}"),
}


def cpu(source: Path, arguments: list[str]) -> float:
    """Seconds of CPU of a command and the processes that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(source)}
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "tadoru", *arguments], env=environment, stdout=output, stderr=output, check=False
        )
        if done.returncode not in (0, 10):
            output.seek(0)
            raise SystemExit(f"{source}: exit {done.returncode}\n{output.read().decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def crawl(source: Path, job: str, server: Server) -> float:
    """Milliseconds of CPU a page."""
    start = min(cpu(source, ["--version"]) for _ in range(3))
    mark = server.mark()
    with tempfile.TemporaryDirectory() as folder:
        arguments = [part.format(database=f"{folder}/crawl.db") for part in JOBS[job]]
        spent = cpu(source, [*arguments, server.url, "--delay", "0", "--processes", "1", "--limit", "0", "-q"])
    return (spent - start) * 1000 / server.seen_since(mark).pages


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crawl_cpu", description="Measure the CPU a page of whole crawls.")
    parser.add_argument("--against", type=Path, metavar="SRC", help="the `src` of another checkout")
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", default="links,audit")
    options = parser.parse_args()
    versions = {"this": HERE / "src"} | ({"before": options.against.resolve()} if options.against else {})
    site = build(HERE / ".bench", options.pages, 1)
    with tempfile.TemporaryDirectory() as folder, serve(site, Path(folder)) as server:
        for job in options.jobs.split(","):
            taken: dict[str, list[float]] = {name: [] for name in versions}
            for _ in range(options.rounds):
                for name, source in versions.items():
                    taken[name].append(crawl(source, job, server))
            middle = {name: statistics.median(values) for name, values in taken.items()}
            ratio = f", {middle['this'] / middle['before']:.2f} of before" if "before" in middle else ""
            for name, values in taken.items():
                print(f"{job} {name}: {middle[name]:.2f} ms CPU a page ({min(values):.2f} to {max(values):.2f})")
            print(f"{job}: {middle['this']:.2f} ms{ratio}", flush=True)


if __name__ == "__main__":
    main()
