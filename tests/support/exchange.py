"""One request at the programmable site and the ways to answer it, from a proper reply down to single bytes."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as the server saw it."""

    at: float
    """Monotonic seconds: comparable between requests."""
    method: str
    path: str
    """The request target: path and query."""
    headers: dict[str, str]
    """Names in lower case."""
    connection: int
    """The number of the connection it came over."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed answer."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: Pairs = ()
    compress: bool = False

    def encoded(self, method: str) -> bytes:
        """The bytes on the wire."""
        body = gzip.compress(self.body, mtime=0) if self.compress else self.body
        lines = [status_line(self.status)]
        if self.content_type:
            lines.append(f"Content-Type: {self.content_type}")
        if self.compress:
            lines.append("Content-Encoding: gzip")
        if self.status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        return head if method == "HEAD" or self.status in (204, 304) else head + body


@dataclass(slots=True)
class Exchange:
    """A request in the hands of a handler."""

    seen: ReceivedRequest
    writer: asyncio.StreamWriter
    hits: int
    """How many requests there were for this target, this one included."""
    base: str
    """`http://host:port` of the site."""
    keep_alive: bool = field(default=True)

    async def send(self, reply: Reply) -> None:
        """Answer properly."""
        await self.raw(reply.encoded(self.seen.method))

    async def raw(self, data: bytes) -> None:
        """Answer with these bytes, whatever they are."""
        self.writer.write(data)
        await self.writer.drain()

    def drop(self) -> None:
        """Close after what was sent so far."""
        self.keep_alive = False

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        self.keep_alive = False
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Handler = Callable[[Exchange, str], Awaitable[None]]
"""Takes the exchange and what follows the handler's own prefix in the path."""


def status_line(status: int) -> str:
    """`HTTP/1.1 404 Not Found`."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unheard Of"
    return f"HTTP/1.1 {status} {phrase}"


def pairs(headers: Mapping[str, str] | Pairs) -> Pairs:
    """Headers in either spelling."""
    return tuple(headers.items()) if isinstance(headers, Mapping) else headers
