"""One cycle over a thousand sources on two hundred hosts, one in twenty of them failing: how long, how polite, how large.

    .venv/bin/python -m bench.events_cycle                       1,000 sources, 200 hosts, a gap of 2 s
    .venv/bin/python -m bench.events_cycle --sources 100 --hosts 20 --gap 0.2

The hosts are addresses of 127.0.0.0/8. The server counts how many requests of each host are open at once, and the gaps between
them; the collector is the real command in a process of its own, whose peak of memory is what the system says.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

EVENTS = 20
FAILING = 20
"""Every so many sources fails, in one of several ways."""
FAULTS = ("404", "500", "close", "garbage", "slow")


class Hosts:
    """A server for all of them."""

    def __init__(self) -> None:
        self.open: dict[str, int] = defaultdict(int)
        self.most = 0
        self.sent: dict[str, list[float]] = defaultdict(list)
        self.requests = 0

    async def serve(self) -> tuple[asyncio.Server, int]:
        server = await asyncio.start_server(self._accept, "0.0.0.0", 0)  # All of 127.0.0.0/8.
        return server, server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = head.split(b" ", 2)[1].decode()
                self.requests += 1
                self.open[host] += 1
                self.most = max(self.most, self.open[host])
                self.sent[host].append(time.monotonic())
                try:
                    keep = await self._answer(target, reader, writer)
                finally:
                    self.open[host] -= 1
                if not keep:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if target == "/robots.txt":
            return await _reply(writer, 404, b"")
        number = int(target.strip("/").partition(".")[0])
        if number % FAILING == 0:
            match FAULTS[number // FAILING % len(FAULTS)]:
                case "404":
                    return await _reply(writer, 404, b"")
                case "500":
                    return await _reply(writer, 500, b"")
                case "close":
                    return False
                case "garbage":
                    return await _reply(writer, 200, b"<html>maintenance</html>")
                case "slow":
                    await reader.read(1)  # Until the other side has had enough.
                    return False
        return await _reply(writer, 200, _calendar(number))


async def _reply(writer: asyncio.StreamWriter, status: int, body: bytes) -> bool:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: text/calendar\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    return True


def _calendar(number: int) -> bytes:
    events = "".join(
        f"BEGIN:VEVENT\r\nUID:{number}-{one}@x\r\nSUMMARY:Meeting {number:x} of group {one:x}\r\n"
        f"DTSTART:2031{1 + number % 12:02}{1 + one:02}T{8 + number % 12:02}0000Z\r\nLOCATION:Hall {number % 97}\r\nEND:VEVENT\r\n"
        for one in range(EVENTS)
    )
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n{events}END:VCALENDAR\r\n".encode()


async def cycle(sources: int, hosts: int, gap: float, keep: str = "") -> str:
    """Collect once; a table of what was seen."""
    site = Hosts()
    server, port = await site.serve()
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "sources.csv"
        rows = [f"source {n},ics,http://127.0.{n % hosts // 250}.{1 + n % hosts % 250}:{port}/{n}.ics" for n in range(sources)]
        listing.write_text("\n".join(["name,type,url", *rows]), "utf-8")
        database = str(Path(folder) / "events.db")
        await _command("-d", database, "sources", "import", str(listing))
        began = time.monotonic()
        options = ("--delay", str(gap), "--timeout", "3s", "-c", "100", "-q")
        await _command("-d", database, "run", "--all", *options)
        seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        if keep:
            shutil.copyfile(database, keep)
        with sqlite3.connect(database) as sql:
            statuses = dict(sql.execute("SELECT status, count(*) FROM run_logs GROUP BY status").fetchall())
            events = sql.execute("SELECT count(*) FROM events WHERE status = 'active' AND merged_into IS NULL").fetchone()[0]
    server.close()
    gaps = sorted(later - earlier for times in site.sent.values() for earlier, later in pairwise(times))
    wanted = sum(EVENTS for number in range(sources) if number % FAILING)
    return "\n".join(
        [
            "| what | |",
            "|---|---|",
            f"| sources, hosts, gap | {sources:,}, {hosts:,}, {gap:g} s |",
            f"| runs | {statuses.get('success', 0):,} well, {statuses.get('fail', 0):,} failed, "
            f"{sum(statuses.values()) - statuses.get('success', 0) - statuses.get('fail', 0):,} else |",
            f"| events stored | {events:,} of {wanted:,} |",
            f"| requests | {site.requests:,} |",
            f"| most open at once on a host | {site.most} |",
            f"| gaps on a host: smallest, 5th percentile | {gaps[0]:.3f} s, {gaps[len(gaps) // 20]:.3f} s |",
            f"| peak memory of the collector | {peak:.0f} MB |",
            f"| time | {seconds:.0f} s |",
        ]
    )


async def _command(*arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tadoru", "events", *arguments, env=environment)
    code = await process.wait()
    if code:
        raise SystemExit(f"tadoru events {' '.join(arguments)} ended with {code}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--gap", type=float, default=2.0)
    parser.add_argument("--keep", default="", metavar="FILE", help="keep the database, to look at it")
    arguments = parser.parse_args()
    print(asyncio.run(cycle(arguments.sources, arguments.hosts, arguments.gap, arguments.keep)))


if __name__ == "__main__":
    main()
