"""The service under load, beside a bare FastAPI endpoint that reads one row.

`python -m bench.serve rate [--events 100000] [--rounds 7]`: requests a second of `GET /api/v1/events`, filtered by city and
month, and of the bare endpoint, in turns. Both run under uvicorn, one worker, with the same settings, on the same file; wrk with
sixteen connections drives them when it is there, else as many connections of our own. No cache, no rate limit. The share is the
median of the shares of each turn; beside it the CPU that a request costs, which a busy machine changes less. `--also` measures
the page and the feed.
`python -m bench.serve soak --minutes 10`: the memory of the service under a steady load.

`--database FILE|URL` measures a database that is there already; it is filled when it is empty. `--workers N` runs the command
itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from bench.serve_load import CONNECTIONS, cpu_seconds, free_port, measured, resident, wait_for
from bench.serve_load import fill as fill_with_events

LISTED = f"/api/v1/events?city={quote('町3市')}&from=2050-05-01&to=2050-05-31&limit=20"
ALSO = {
    "page of the list": f"/?city={quote('町3市')}&from=2050-05-01&to=2050-05-31",
    "month": f"/month/2050-05?city={quote('町3市')}",
    "one event": "/api/v1/events/7",
    "ICS of a city": f"/events.ics?city={quote('町3市')}&from=2050-05-01&to=2050-05-31",
}


def product(database: str, port: int) -> None:
    import uvicorn

    from tadoru.clock import SystemClock
    from tadoru.config.options import ServeOptions
    from tadoru.log import Log
    from tadoru.serve.app import build_app
    from tadoru.serve.server import limit_malloc_arenas
    from tadoru.serve.service import Service
    from tadoru.store.service import open_service

    limit_malloc_arenas()
    options = ServeOptions(database=database, rate_limit=0, key_rate_limit=0)
    log = Log(sys.stderr, SystemClock(), level="error")
    app = build_app(Service(store=open_service(database), options=options, log=log))
    uvicorn.run(app, port=port, log_level="error", access_log=False)


def bare(database: str, port: int) -> None:
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()
    rows = sqlite3.connect(database, check_same_thread=False)

    @app.get("/one")
    def one() -> dict[str, object]:
        row = rows.execute("SELECT id, title, starts_at, city FROM events WHERE id = 7").fetchone()
        return dict(zip(("id", "title", "starts_at", "city"), row, strict=True))

    uvicorn.run(app, port=port, log_level="error", access_log=False)


@contextmanager
def running(serve: object, database: str) -> Iterator[tuple[int, list[int]]]:
    """A server in a process of its own: its port, and its processes."""
    port = free_port()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(database, port))
    process.start()
    try:
        wait_for(port)
        yield port, [process.pid or 0]
    finally:
        process.terminate()
        process.join()


@contextmanager
def command(database: str, workers: int) -> Iterator[tuple[int, list[int]]]:
    """The command itself, with so many workers."""
    port = free_port()
    call = [sys.executable, "-m", "tadoru", "serve", "-q", "-d", database, "--port", str(port), "--workers", str(workers)]
    process = subprocess.Popen([*call, "--rate-limit", "0", "--key-rate-limit", "0"], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
        yield port, [process.pid, *map(int, tasks)]
    finally:
        process.terminate()
        process.wait()


def rate(given: argparse.Namespace, database: str) -> None:
    is_file = "://" not in database
    beside = database if is_file else _one_row(given.folder)  # The bare endpoint always reads SQLite.
    ours = command(database, given.workers) if given.workers > 1 else running(product, database)
    with running(bare, beside) as (bare_port, bare_pids), ours as (port, pids):
        shares, cpu_shares, rates, lates = [], [], [], []
        for _ in range(given.rounds):
            alone, _, alone_cpu = turn(bare_port, "/one", given.seconds, bare_pids)
            listed, late, cpu = turn(port, LISTED, given.seconds, pids)
            shares.append(listed / alone)
            cpu_shares.append(alone_cpu / cpu)
            rates.append((alone, listed))
            lates.append(late)
            print(
                f"bare {alone:7,.0f}/s {alone_cpu:6.0f} µs   list {listed:7,.0f}/s {cpu:6.0f} µs   share {shares[-1]:.2f}",
                flush=True,
            )
        alone, listed = (statistics.median(one) for one in zip(*rates, strict=True))
        print(f"median: bare {alone:,.0f}/s, list {listed:,.0f}/s, p99 {statistics.median(lates):.1f} ms")
        print(f"share {statistics.median(shares):.2f}, by CPU {statistics.median(cpu_shares):.2f}")
        for name, path in ALSO.items() if given.also else ():
            found, late, cpu = turn(port, path, given.seconds, pids)
            print(f"{name}: {found:,.0f}/s, p99 {late:.1f} ms, {cpu / 1000:.2f} ms CPU")


def _one_row(folder: str) -> str:
    path = str(Path(folder) / "one.db")
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, title, starts_at, city)")
        made.execute("INSERT INTO events VALUES (7, '催し 7', '2050-05-01', '町3市')")
    return path


def turn(port: int, path: str, seconds: float, pids: list[int]) -> tuple[float, float, float]:
    """Requests a second, the 99th percentile in milliseconds, and the CPU of a request in microseconds."""
    before = sum(map(cpu_seconds, pids))
    found, late = measured(port, path, seconds)
    return found, late, (sum(map(cpu_seconds, pids)) - before) / max(found * seconds, 1) * 1e6


def soak(given: argparse.Namespace, database: str) -> None:
    ours = command(database, given.workers) if given.workers > 1 else running(product, database)
    with ours as (port, pids):
        end, began, requests = time.monotonic() + given.minutes * 60, time.monotonic(), 0.0
        paths = [LISTED, *ALSO.values(), LISTED + "&category=music", "/api/v1/events?limit=200&all=true"]
        turns = 0
        while time.monotonic() < end:
            found, _ = measured(port, paths[turns % len(paths)], 5, connections=given.connections)
            requests, turns = requests + found * 5, turns + 1
            memory = sum(map(resident, pids)) / 2**20
            print(f"{time.monotonic() - began:6.0f} s  {requests:10,.0f} requests  {memory:7.1f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rate", "soak"])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--database")
    parser.add_argument("--also", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        given.folder, database = folder, given.database or str(Path(folder) / "events.db")
        fill_with_events(database, given.events)
        print(f"{given.events:,} events, {given.connections} connections, {given.workers} worker(s)")
        (rate if given.what == "rate" else soak)(given, database)


if __name__ == "__main__":
    main()
