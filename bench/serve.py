"""Requests a second of `GET /api/v1/events`, filtered by city and month, beside a bare FastAPI endpoint that reads one row.

`python -m bench.serve [--events 10000] [--seconds 5]`. Both run under uvicorn, one worker, on the same database file, one after
the other in turns; `wrk -t1 -c16` drives them when it is there, else sixteen connections of our own. No cache, no rate limit.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import date, datetime, timedelta
from pathlib import Path
from urllib.parse import quote
from zoneinfo import ZoneInfo

CONNECTIONS, CITIES = 16, 20
TOKYO = ZoneInfo("Asia/Tokyo")


def fill(path: str, size: int) -> None:
    """So many events of a year in twenty cities, each by hand: nothing is compared."""
    from tadoru.jobs.events.dedupe.judge import EventJudge
    from tadoru.model.event import EventDraft, Occurrence
    from tadoru.store.service import open_service

    chance, store, judge = random.Random(7), open_service(path), EventJudge()
    source = store.add_source({"name": "Town", "type": "ics", "url": "https://town.example/"}, "bench")
    drafts = []
    for number in range(size):
        day = date(2050, 1, 1) + timedelta(days=chance.randrange(365))
        at = datetime(day.year, day.month, day.day, chance.randrange(8, 20), tzinfo=TOKYO)
        title = f"催し {number}"
        drafts.append(EventDraft(
            title=title, title_clean=title, occurrence=Occurrence(starts_at=at, ends_at=at + timedelta(hours=2)), uid=str(number),
            timezone="Asia/Tokyo", city=f"町{number % CITIES}市", venue=f"会館{number}", description="どなたでも。" * 20,
            category=chance.choice(["music", "art", "market"]), price="無料", position=f"row {number}",
        ))  # fmt: skip
    for start in range(0, size, 2000):
        run = store.start_run(source.id)
        store.apply_run(run, drafts[start : start + 2000], [], judge)
        store.finish_run(run, "success", counts={})  # type: ignore[arg-type]
    store.close()


def product(path: str, port: int) -> None:
    import uvicorn

    from tadoru.clock import SystemClock
    from tadoru.log import Log
    from tadoru.options import ServeOptions
    from tadoru.serve.app import build_app
    from tadoru.serve.service import Service
    from tadoru.store.service import open_service

    options = ServeOptions(database=path, rate_limit=0, key_rate_limit=0)
    log = Log(sys.stderr, SystemClock(), level="error")
    app = build_app(Service(store=open_service(path), options=options, log=log))
    uvicorn.run(app, port=port, log_level="error", access_log=False)


def bare(path: str, port: int) -> None:
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()
    database = sqlite3.connect(path, check_same_thread=False)

    @app.get("/one")
    def one() -> dict[str, object]:
        row = database.execute("SELECT id, title, starts_at, city FROM events WHERE id = 7").fetchone()
        return dict(zip(("id", "title", "starts_at", "city"), row, strict=True))

    uvicorn.run(app, port=port, log_level="error", access_log=False)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        number: int = one.getsockname()[1]
        return number


async def drive(port: int, path: str, seconds: float) -> tuple[float, float]:
    """Requests a second and the 99th percentile in milliseconds, by our own client."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    took: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"content-length: (\d+)", head)
            if not head.startswith(b"HTTP/1.1 200") or found is None:
                raise RuntimeError(head.decode())
            await reader.readexactly(int(found[1]))
            took.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    took.sort()
    return len(took) / seconds, took[int(len(took) * 0.99)] * 1000


def measured(port: int, path: str, seconds: float) -> tuple[float, float]:
    wrk = shutil.which("wrk")
    if wrk is None:
        return asyncio.run(drive(port, path, seconds))
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--latency", f"http://127.0.0.1:{port}{path}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, late = re.search(r"Requests/sec:\s+([\d.]+)", said), re.search(r"99%\s+([\d.]+)(us|ms|s)", said)
    assert rate is not None, said
    assert late is not None, said
    return float(rate[1]), float(late[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[late[2]]


def wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("The server did not start.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    listed = f"/api/v1/events?city={quote('町3市')}&from=2050-05-01&to=2050-05-31&limit=20"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "events.db")
        fill(path, given.events)
        rates: dict[str, list[tuple[float, float]]] = {"bare": [], "list": []}
        places = {"bare": (bare, "/one", free_port()), "list": (product, listed, free_port())}
        servers = [
            multiprocessing.get_context("spawn").Process(target=serve, args=(path, port)) for serve, _, port in places.values()
        ]
        for server in servers:
            server.start()
        try:
            for _, _, port in places.values():
                wait_for(port)
            for _ in range(given.rounds):
                for name, (_, address, port) in places.items():
                    rates[name].append(measured(port, address, given.seconds))
        finally:
            for server in servers:
                server.terminate()
                server.join()
    best = {name: max(found) for name, found in rates.items()}
    print(f"{given.events:,} events, {CONNECTIONS} connections, best of {given.rounds}")
    for name, (rate, late) in best.items():
        print(f"{name:5} {rate:8,.0f} requests/s   p99 {late:6.1f} ms")
    print(f"share {best['list'][0] / best['bare'][0]:.2f}")


if __name__ == "__main__":
    main()
