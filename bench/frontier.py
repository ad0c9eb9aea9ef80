"""The memory of `tadoru links` when it finds far more URLs than it requests. `python -m bench.frontier`: every form of output.

A start page leads to some pages, and these to a million URLs that differ. The pages are read, the rest is only found. What the
store alone takes is in `bench.store`, how fast a crawl is in `python -m bench`.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from bench.fallback import Connection, Files

ROOT = Path(__file__).resolve().parent.parent
FORMS = ("text", "json", "csv", "dot", "html")
BEYOND = 19
"""URLs that are requested besides the pages: they answer 404."""


class WideSite(Files):
    """A start page, and pages of links, made when they are asked for: `urls` in all, no two the same."""

    def __init__(self, urls: int, pages: int) -> None:
        super().__init__(ROOT)
        self.each, self.pages = urls // pages, pages

    def answer(self, target: str) -> tuple[int, str, bytes]:
        name = target.strip("/")
        if not name:
            return 200, "text/html", _page("Start", [f"/list-{number}" for number in range(self.pages)])
        if name.startswith("list-"):
            first = int(name.removeprefix("list-")) * self.each
            numbers = range(first, first + self.each)
            return 200, "text/html", _page(name, [f"/section-{n % 97}/a-page-of-some-name-{n}.html" for n in numbers])
        return 404, "text/plain", b"not found\n"


def _page(title: str, links: list[str]) -> bytes:
    anchors = "".join(f'<li><a href="{link}">To {link[-20:]}</a>\n' for link in links)
    return f"<!doctype html><title>{title}</title><ul>{anchors}</ul>".encode()


def serve(listening: socket.socket, site: Files) -> None:
    """Answer on a socket for as long as the process lives."""

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(site, StringIO()), sock=listening)
        await server.serve_forever()

    asyncio.run(main())


@dataclass(frozen=True, slots=True)
class CrawlUsage:
    """What one crawl took."""

    peak: float
    """MB resident, at most."""
    seconds: float
    written: int


def crawl(url: str, form: str, limit: int) -> CrawlUsage:
    """Run the command once. Raises RuntimeError when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / f"links.{form}"
        options = f"--delay 0 --ignore-robots --limit {limit} --depth 5 --processes 1 -q -f {form} -o {output}"
        environment = {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(ROOT / "src")}
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "tadoru", "links", url, *options.split()],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"tadoru ended with exit code {process.returncode}")
        # Linux counts in KB, macOS in bytes.
        unit = 1024 if sys.platform == "linux" else 1
        return CrawlUsage(usage.ru_maxrss * unit / 1e6, time.monotonic() - began, output.stat().st_size)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.frontier", description="Measure the memory of a wide crawl.")
    parser.add_argument("--urls", type=int, default=1_000_000, help="URLs to be found (default 1000000)")
    parser.add_argument("--pages", type=int, default=100, help="pages they are found on (default 100)")
    parser.add_argument("--form", choices=FORMS, help="only this form of output")
    given = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server = multiprocessing.get_context("fork").Process(
            target=serve, args=(listening, WideSite(given.urls, given.pages)), daemon=True
        )
        server.start()
        try:
            print(f"{given.urls:,} URLs on {given.pages:,} pages\nform    peak MB  seconds          bytes", flush=True)
            for form in [given.form] if given.form else FORMS:
                taken = crawl(url, form, given.pages + 1 + BEYOND)
                print(f"{form:<6} {taken.peak:8.0f} {taken.seconds:8.1f} {taken.written:14,}", flush=True)
        finally:
            server.terminate()
            server.join()


if __name__ == "__main__":
    main()
