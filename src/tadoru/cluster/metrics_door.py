"""Where a worker answers for its metrics: `/metrics` and `/healthz` over plain HTTP, and nothing else.

It takes no input but a path, keeps no connection, and gives nobody time to hold one open. On loopback it answers only to names of
this machine, so that a page in somebody's browser can not read it through a name of its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tadoru.cluster.metrics import WorkerMetrics
from tadoru.errors import UsageError, quoted
from tadoru.jobs.exposition import MEDIA_TYPE

LARGEST_HEAD = 8192
PATIENCE = 5.0
"""Seconds that a caller has to say what it wants, and to take the answer."""
MOST_CALLERS = 16
PLAIN = "text/plain; charset=utf-8"
_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.[01]")
_WORDS = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 421: "Misdirected Request",
    431: "Request Header Fields Too Large",
}  # fmt: skip
Answer = tuple[int, str, str]


def address_in(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:9464`, `[::1]:9464`, `:9464` (loopback). Raises UsageError."""
    host, colon, port = text.strip().rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) < 6 and 1 <= int(port) <= 65535
    if not colon or not is_port or (":" in host and host[0] != "["):
        raise UsageError(f"Metrics can not be served at {quoted(text)}: write an address and a port, such as 127.0.0.1:9464.")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def serve_metrics(metrics: WorkerMetrics, host: str, port: int) -> asyncio.Server:
    """Answer from now on, until the server that comes back is closed. Raises UsageError where nobody can listen."""
    door = _Door(metrics, is_private=_is_loopback(host))
    try:
        return await asyncio.start_server(door.call, host, port, limit=LARGEST_HEAD)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"Metrics can not be served at {host}:{port} ({why}): choose another place with --metrics.") from None


@asynccontextmanager
async def answering(metrics: WorkerMetrics, place: str | None) -> AsyncIterator[None]:
    """Measure the loop and answer at a place for as long as this lasts; without a place nothing is done."""
    if place is None:
        yield
        return
    server = await serve_metrics(metrics, *address_in(place))
    measuring = asyncio.create_task(metrics.measure())
    try:
        yield
    finally:
        measuring.cancel()
        server.close()


class _Door:
    """Who calls, and what they are told."""

    def __init__(self, metrics: WorkerMetrics, *, is_private: bool) -> None:
        self._metrics, self._is_private = metrics, is_private
        self._callers = 0

    async def call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._callers += 1
        try:
            if self._callers <= MOST_CALLERS:
                async with asyncio.timeout(PATIENCE):
                    await self._talk(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass  # They have gone, or never said what they want.
        finally:
            self._callers -= 1
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            head, (status, kind, body) = b"", (431, PLAIN, "The request is too long.\n")
        else:
            status, kind, body = self._answer(head)
        content = body.encode()
        lines = [
            f"HTTP/1.1 {status} {_WORDS[status]}", f"Content-Type: {kind}", f"Content-Length: {len(content)}",
            "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Connection: close",
            *(["Allow: GET, HEAD"] if status == 405 else []),
        ]  # fmt: skip
        writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if head.startswith(b"HEAD ") else content))
        await writer.drain()

    def _answer(self, head: bytes) -> Answer:
        line, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        asked = _LINE.fullmatch(line)
        if asked is None:
            return 400, PLAIN, "This is no request of HTTP/1.1.\n"
        if asked[1] not in (b"GET", b"HEAD"):
            return 405, PLAIN, "There is nothing to change here: use GET.\n"
        if self._is_private and not _is_near(_named(fields)):
            return 421, PLAIN, "This worker answers to this machine only, by its address or as localhost.\n"
        match asked[2].partition(b"?")[0]:
            case b"/metrics":
                return 200, MEDIA_TYPE, self._metrics.text()
            case b"/healthz":
                return 200, PLAIN, "ok\n"
        return 404, PLAIN, "There is only /metrics here, and /healthz.\n"


def _named(fields: list[bytes]) -> str:
    """Whom the caller believes to talk to."""
    for field in fields:
        name, _, value = field.partition(b":")
        if name.strip().lower() == b"host":
            return value.strip().decode("latin-1")
    return "localhost"


def _is_near(name: str) -> bool:
    host = re.sub(r":\d*$", "", name).removeprefix("[").removesuffix("]")
    return _is_loopback(host)


def _is_loopback(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
