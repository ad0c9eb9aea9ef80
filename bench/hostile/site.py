"""A site on loopback, in a process of its own, whose pages are the hostile responses of some numbers."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.hostile.responses import hostile_response
from tests.support.exchange import Exchange, status_line
from tests.support.site import Site

PATIENCE = 300.0
PAUSES = (429, 503)
"""Statuses that ask for a pause."""


@dataclass(frozen=True, slots=True)
class ServedSite:
    """A site that is served."""

    url: str
    pid: int
    paths: dict[int, str]
    """Where the response of each number is."""
    formats: dict[int, str]


@contextmanager
def serve(numbers: Sequence[int], seed: int) -> Iterator[ServedSite]:
    """Serve the responses of these numbers: all linked from the start page, sitemaps from an index of sitemaps."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(numbers, seed, theirs), daemon=True)
    process.start()
    try:
        if not ours.poll(PATIENCE):
            raise RuntimeError("The site did not start.")
        url, paths, formats = ours.recv()
        yield ServedSite(url, process.pid or 0, paths, formats)
    finally:
        process.terminate()
        process.join()


def _serve(numbers: Sequence[int], seed: int, started: Connection) -> None:
    described = {number: hostile_response(number, seed) for number in numbers}
    paths = {number: response.path for number, response in described.items()}
    formats = {number: response.format for number, response in described.items()}
    del described

    async def answer(exchange: Exchange, rest: str) -> None:
        number = int(rest.partition("/")[0]) if rest.partition("/")[0].isdecimal() else -1
        if paths.get(number) != f"/case/{rest}":
            await exchange.raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        response = await asyncio.to_thread(hostile_response, number, seed)
        headers, body = response.sent()
        # A server that asks for a pause gets one, up to an hour for its whole host: the other responses would wait with it.
        status = 200 if response.status in PAUSES else response.status
        sent = (f"{name}: {value}" for name, value in headers if name.lower() != "retry-after")
        lines = [status_line(status), *sent, f"Content-Length: {len(body)}"]
        await exchange.raw("\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body)

    async def main() -> None:
        async with Site() as site:
            site.handle("/case/*", answer)
            site.page("/", links=paths.values())
            site.sitemap("/sitemap.xml", [path for number, path in paths.items() if formats[number] == "sitemap"], index=True)
            started.send((site.url(), paths, formats))
            await asyncio.Event().wait()

    asyncio.run(main())
