"""What the benches of the service share: a calendar of any size, a load, and what a process costs."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import socket
import subprocess
import time
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

CONNECTIONS, CITIES = 16, 20
TOKYO = ZoneInfo("Asia/Tokyo")
PATIENCE = 120.0


def fill(database: str, size: int) -> None:
    """So many events of a year in twenty cities, unless there are some already. Each stands in a run of its own source, as if it
    had been collected."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.model.event import EventDraft, Occurrence
    from tadoru.store.service import open_service

    chance, store, matcher = random.Random(7), open_service(database), EventMatcher()
    if store.sources.list():
        store.close()
        return
    source = store.sources.add({"name": "Town", "type": "ics", "url": "https://town.example/"}, "bench")
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
        run = store.runs.start(source.id)
        store.results.apply(run, drafts[start : start + 2000], [], matcher)
        store.runs.finish(run, "success", counts={})  # type: ignore[arg-type]
    store.close()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        number: int = one.getsockname()[1]
        return number


def wait_for(port: int) -> None:
    """Until somebody listens and answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("The server did not start.")


def measured(port: int, path: str, seconds: float, connections: int = CONNECTIONS) -> tuple[float, float]:
    """Requests a second and the 99th percentile in milliseconds."""
    wrk = shutil.which("wrk")
    if wrk is None:
        return asyncio.run(_drive(port, path, seconds, connections))
    command = [wrk, "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--latency", f"http://127.0.0.1:{port}{path}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, late = re.search(r"Requests/sec:\s+([\d.]+)", said), re.search(r"99%\s+([\d.]+)(us|ms|s)", said)
    if rate is None or late is None or "Non-2xx" in said:
        raise RuntimeError(said)
    return float(rate[1]), float(late[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[late[2]]


async def _drive(port: int, path: str, seconds: float, connections: int) -> tuple[float, float]:
    """The same by a client of our own."""
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

    await asyncio.gather(*(one() for _ in range(connections)))
    took.sort()
    return len(took) / seconds, took[int(len(took) * 0.99)] * 1000


def cpu_seconds(pid: int) -> float:
    """What a process has used until now."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """The memory that it has, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
