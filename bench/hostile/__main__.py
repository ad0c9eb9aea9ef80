"""The command: feed generated hostile responses to every reader, run every job on them, and hold the service to its pace.

`python -m bench.hostile --count 2000 --seed 1`; `--case N [--reader NAME]` repeats one and shows its traceback. The exit status
is 1 when a bar is not met.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator

from bench.hostile.jobs import BATCH, JOBS, JobRun, run_jobs
from bench.hostile.measuring import MOST_CPU, MOST_MEMORY, Measurement, measure
from bench.hostile.readers import READERS
from bench.hostile.service import SLOWEST, ServiceRun, run_service

PARTS = ("readers", "jobs", "service")
OF_THE_SERVICE = 200
"""Responses that the service works on, spread over all."""


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="responses to generate (default 2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (default 0)")
    parser.add_argument("--seed", type=int, default=1, help="another seed generates other responses (default 1)")
    parser.add_argument("--case", type=int, metavar="N", help="only the response of this number, with tracebacks")
    parser.add_argument("--only", choices=PARTS, help="the readers, the jobs, or the service; all three by default")
    parser.add_argument("--reader", choices=READERS, help="only this reader")
    parser.add_argument("--job", choices=JOBS, help="only this job")
    parser.add_argument("--batch", type=int, default=BATCH, help=f"responses of one site and one process (default {BATCH})")
    parser.add_argument(
        "--seconds", type=float, default=MOST_CPU, help="CPU that a reading may take (default 2); more on a busy machine"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes (default: one for each core)")
    return parser.parse_args(given)


def read_all(numbers: Iterable[int], seed: int, reader: str | None, workers: int, most_cpu: float) -> Iterator[Measurement]:
    """Feed the responses of these numbers to their readers."""
    cases = [(number, seed, reader, most_cpu) for number in numbers]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for found in pool.imap(measure, cases):
            yield from found


def table(found: list[Measurement]) -> str:
    """The figures by reader and format, and what was not met with the case that repeats it."""
    rows: dict[tuple[str, str], list[Measurement]] = {}
    for one in found:
        rows.setdefault((one.reader, one.format), []).append(one)
    order = {name: place for place, name in enumerate(READERS)}
    lines = [f"{'reader':34}{'format':10}{'cases':>6}{'slowest s':>11}{'case':>7}{'most MB':>9}{'case':>7}{'failed':>8}"]
    for (reader, format_), of in sorted(rows.items(), key=lambda row: (order.get(row[0][0], -1), row[0][1])):
        slow, large = max(of, key=lambda one: one.cpu), max(of, key=lambda one: one.memory)
        failed = sum(bool(one.complaint) for one in of)
        lines.append(
            f"{reader:34}{format_:10}{len(of):6}{slow.cpu:11.2f}{slow.number:7}{large.memory / 1e6:9.0f}{large.number:7}"
            f"{failed or '':>8}"
        )
    complaints = [one for one in found if one.complaint]
    lines += [""] + [
        f"--case {one.number} --reader '{one.reader}': {one.format}, {one.family}: {one.complaint}" for one in complaints
    ]
    met = "met" if not complaints else f"NOT MET by {len(complaints)}"
    return "\n".join(
        [
            *lines,
            f"{len(found)} readings, each under {max(one.most_cpu for one in found)} s and {MOST_MEMORY / 1e6:.0f} MB: {met}",
        ]
    )


def job_line(one: JobRun) -> str:
    return (
        f"{one.job:8} {one.responses} responses from {one.first}: {one.cpu / one.responses:.2f} s of CPU a response, "
        f"{one.memory / 1e6:.0f} MB: {one.complaint or 'met'}"
    )


def service_line(one: ServiceRun) -> str:
    return (
        f"service: {one.requests} requests, {one.answers} answers of /healthz, the slowest {one.slowest:.2f} s "
        f"({one.slowest_cpu:.2f} s of CPU meanwhile, {one.slowest_wait:.2f} s of waiting for a core, load {one.load:.1f}), "
        f"under {SLOWEST} s: {one.complaint or 'met'}"
    )


def main(given: list[str]) -> int:
    chosen = arguments(given)
    alone = chosen.case is not None
    numbers = [chosen.case] if alone else list(range(chosen.first, chosen.first + chosen.count))
    parts = [chosen.only] if chosen.only else ["jobs"] if chosen.job else ["readers"] if alone or chosen.reader else PARTS
    is_met = True
    if "readers" in parts:
        found: list[Measurement] = []
        for one in read_all(numbers, chosen.seed, chosen.reader, chosen.workers, chosen.seconds):
            found.append(one)
            if one.complaint:
                print(f"{one.number} {one.reader}: {one.format}, {one.family}: {one.complaint}", file=sys.stderr, flush=True)
            if alone and one.failure:
                print(one.failure, file=sys.stderr)
        print(table(found), flush=True)
        is_met = not any(one.complaint for one in found)
    if "jobs" in parts:
        for job in run_jobs(numbers, chosen.seed, [chosen.job] if chosen.job else JOBS, chosen.batch):
            print(job_line(job), flush=True)
            is_met &= not job.complaint
    if "service" in parts:
        service = run_service(numbers[:: max(1, len(numbers) // OF_THE_SERVICE)], chosen.seed)
        print(service_line(service), flush=True)
        is_met &= not service.complaint
    return not is_met


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
