"""Made-up sites for the benches of scaling: pages like ordinary ones, and many hosts of them on loopback addresses.

Every host is an address of its own below 127.64.0.0, so that a crawler paces each by itself. The server writes down when each
request came in, which is what politeness and throughput are read from.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

WORDS = [
    f"{a}{b}" for a in ("lo", "ma", "ri", "ta", "ve", "sun", "kal", "por") for b in ("rem", "nis", "to", "dale", "ka", "men")
]
SENTENCES = 24
"""In a section, of which a page has ten: some 20 KB of text, as an ordinary page has."""


class Request(NamedTuple):
    """A request as the server saw it."""

    at: float
    host: str
    path: str


def address(number: int) -> str:
    """The loopback address of a host."""
    return f"127.{64 + number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"


def page(title: str, links: Sequence[str], seed: int) -> str:
    """A page with these links: headings, text, the usual head."""
    rng = random.Random(seed)
    each = max(1, len(links) // 10)
    parts = []
    for section in range(10):
        words = " ".join(" ".join(rng.choices(WORDS, k=14)).capitalize() + "." for _ in range(SENTENCES))
        anchors = "".join(
            f'<li><a href="{link}">About {link[-24:]}</a></li>' for link in links[section * each : (section + 1) * each]
        )
        parts.append(f"<h2>Part {section} of {title}</h2><p>{words}</p><ul>{anchors}</ul>")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="description" content="What there is to know about {title}, told in ten parts."></head>'
        f"<body><header><h1>{title}</h1></header><main>{''.join(parts)}</main></body></html>"
    )


class Sites:
    """So many pages on every host, each linking to `links` of them; all of them one click from the start."""

    def __init__(self, pages: int, links: int) -> None:
        paths = ["/", *(f"/page-{number}.html" for number in range(1, pages))]
        self.bodies = {
            path: page(f"Page {at}", [paths[(at + step) % pages] for step in range(1, min(links, pages) + 1)], at).encode()
            for at, path in enumerate(paths)
        }
        self.bodies["/"] = page("The start", paths, 0).encode()

    def answer(self, path: str) -> bytes:
        if path == "/robots.txt":
            return _reply(200, "text/plain", b"User-agent: *\nAllow: /\n")
        body = self.bodies.get(path)
        return _reply(404, "text/plain", b"not found\n") if body is None else _reply(200, "text/html; charset=utf-8", body)


def _reply(status: int, media_type: str, body: bytes) -> bytes:
    reason = "OK" if status == 200 else "Not Found"
    fields = f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n"
    return f"HTTP/1.1 {status} {reason}\r\n{fields}\r\n".encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, sites: Sites, host: str, log: list[str]) -> None:
        self._sites, self._host, self._log = sites, host, log
        self._pending = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # Not an instance of it on uvloop.

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._pending += data
        while b"\r\n\r\n" in self._pending:
            head, _, self._pending = self._pending.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            now = asyncio.get_running_loop().time()
            self._log.append(f"{now:.4f}\t{self._host}\t{path}\n")
            self._transport.write(self._sites.answer(path))


def _serve(listening: Sequence[tuple[str, socket.socket]], sites: Sites, log: Path) -> None:
    import uvloop

    async def main() -> None:
        loop, lines = asyncio.get_running_loop(), []
        for host, sock in listening:
            await loop.create_server(lambda host=host: _Connection(sites, host, lines), sock=sock)
        with log.open("a", encoding="utf-8") as out:
            while True:
                await asyncio.sleep(0.2)
                out.write("".join(lines))
                out.flush()
                lines.clear()

    uvloop.run(main())


@contextmanager
def serving(hosts: int, sites: Sites, log: Path) -> Iterator[tuple[list[str], int]]:
    """Serve from a process of its own; the starts of all hosts, and the process."""
    first = socket.create_server((address(0), 0), backlog=256)
    port = first.getsockname()[1]
    listening = [(address(0), first)]
    listening += [(address(n), socket.create_server((address(n), port), backlog=256)) for n in range(1, hosts)]
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(listening, sites, log), daemon=True)
    server.start()
    for _, sock in listening:
        sock.close()
    try:
        yield [f"http://{host}:{port}/" for host, _ in listening], server.pid or 0
    finally:
        server.terminate()
        server.join()


def requests(log: Path) -> list[Request]:
    """What the server was asked, in order."""
    rows = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines())
    return [Request(float(at), host, path) for at, host, path in rows]
