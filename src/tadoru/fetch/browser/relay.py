"""Connects to sites for the proxy of the browser, reads the heads of HTTP messages, and copies bytes in both directions.

It connects only to addresses that the guard allows. TLS is not decrypted: a tunnel is copied as it is.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tadoru.errors import UsageError
from tadoru.fetch.guard import AddressGuard, BlockedAddress, DnsCache, UnresolvedHost, is_literal
from tadoru.model.web import FailureKind, Headers

HEAD_BYTES = 256 * 1024
"""Maximum size of a request or response head, as in `fetch.limits`."""
CHUNK = 64 * 1024
_MAX_INTERIM = 8
_CLOSE_SECONDS = 30.0
_CONNECTION_HEADERS = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})
_STATUS = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: |$)")

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ConnectionFailure(Exception):
    """A site cannot be reached; with the failure kind and a message."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class UpstreamProxy:
    """The proxy that the user configured."""

    host: str
    port: int
    authorization: str = ""

    @classmethod
    def parse(cls, text: str) -> UpstreamProxy:
        """Parse `http://user:password@host:port`. The message does not repeat it, because it may contain a password."""
        try:
            url = urlsplit(text)
            host, port = url.hostname, url.port or 80
        except ValueError:
            host, port = None, 0
        if not host or url.scheme != "http":
            raise UsageError("The proxy URL is not valid. Use http://host:port or http://user:password@host:port.")
        pair = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
        return cls(host, port, "" if pair == ":" else basic_authorization(pair))

    def __repr__(self) -> str:
        return f"Upstream({self.host}:{self.port})"


def basic_authorization(pair: str) -> str:
    """The value of a Basic authorization header for `user:password`."""
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"


class Dialer:
    """Connects to addresses that the guard allows, or through the configured proxy once the guard has checked the name."""

    def __init__(self, guard: AddressGuard, dns: DnsCache, upstream: UpstreamProxy | None = None, timeout: float = 30.0) -> None:
        self.upstream = upstream
        self._guard = guard
        self._dns = dns
        self._timeout = timeout

    async def dial(self, host: str, port: int, *, tunnel: bool) -> Stream:
        """A connection for this host. Raises Fault."""
        try:
            async with asyncio.timeout(self._timeout):
                addresses = await self._allowed(host, port)
                if self.upstream is None:
                    return await _connect(addresses, port)
                return await self._connect_through(self.upstream, host, port, tunnel)
        except BlockedAddress as error:
            raise ConnectionFailure(FailureKind.BLOCKED_ADDRESS, str(error)) from None
        except UnresolvedHost:
            raise ConnectionFailure(FailureKind.DNS, f"{host} cannot be resolved.") from None
        except TimeoutError:
            raise ConnectionFailure(FailureKind.CONNECT_TIMEOUT, f"No connection to {host} within {self._timeout:g} s.") from None
        except ConnectionRefusedError:
            raise ConnectionFailure(FailureKind.REFUSED, f"{host} refused the connection.") from None
        except OSError:
            raise ConnectionFailure(FailureKind.NETWORK, f"No connection to {host}.") from None

    async def _allowed(self, host: str, port: int) -> list[str]:
        if self.upstream is not None and self._guard.is_exempt(host, port):
            return []  # The proxy resolves it: the name may exist only there.
        addresses = [host] if is_literal(host) else self._dns.cached(host) or await self._dns.resolve(host)
        return self._guard.allowed_addresses(host, port, addresses)

    async def _connect_through(self, upstream: UpstreamProxy, host: str, port: int, tunnel: bool) -> Stream:
        try:
            known = [upstream.host] if is_literal(upstream.host) else await self._dns.resolve(upstream.host)
            reader, writer = await _connect(list(known), upstream.port)
        except OSError:
            raise ConnectionFailure(FailureKind.PROXY, "The proxy cannot be reached.") from None
        if not tunnel:
            return reader, writer
        try:
            place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            login = (("Proxy-Authorization", upstream.authorization),) if upstream.authorization else ()
            writer.write(MessageHead(f"CONNECT {place} HTTP/1.1", (("Host", place), *login)).encoded())
            await writer.drain()
            status = (await read_head(reader)).status
            if status is None or not 200 <= status < 300:
                raise ConnectionFailure(FailureKind.PROXY, f"The proxy refused to connect to {host} with status {status}.")
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer


async def _connect(addresses: list[str], port: int) -> Stream:
    """A connection to the first of these addresses that accepts one."""
    failed: OSError = OSError("no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port, limit=HEAD_BYTES)
        except OSError as error:
            failed = error
    raise failed


@dataclass(frozen=True, slots=True)
class MessageHead:
    """The first line and the header fields of a request or response."""

    start: str
    fields: Headers

    @property
    def status(self) -> int | None:
        """The status of a response; None if it is not an HTTP/1 response."""
        found = _STATUS.match(self.start)
        return int(found[1]) if found else None

    def get(self, name: str) -> str:
        """The first value of a field, or an empty text."""
        return next((value for key, value in self.fields if key.lower() == name), "")

    def without(self, names: frozenset[str]) -> Headers:
        """The fields without these and without those of the connection."""
        gone = _CONNECTION_HEADERS | names
        return tuple((name, value) for name, value in self.fields if name.lower() not in gone)

    def encoded(self) -> bytes:
        lines = (self.start, *(f"{name}: {value}" for name, value in self.fields))
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> MessageHead:
    """Read the next head and nothing more. Raises OSError when the connection ends before."""
    lines: list[str] = []
    size = 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise OSError("no complete head") from None
        size += len(line)
        if size > HEAD_BYTES:
            raise OSError("the head is too long")
        text = line.rstrip(b"\r\n").decode("latin-1")
        if not text:
            break
        if text[0] in " \t" and len(lines) > 1:  # The obsolete continuation of a line.
            lines[-1] += " " + text.strip()
        else:
            lines.append(text)
    start, *fields = lines or [""]
    pairs = (field.partition(":") for field in fields)
    return MessageHead(start, tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon and name.strip()))


async def read_response_head(reader: asyncio.StreamReader, host: str) -> MessageHead:
    """The head of the final response; interim ones are passed over. Raises Fault when it is none a browser may be given."""
    for _ in range(_MAX_INTERIM):
        try:
            head = await read_head(reader)
        except OSError:
            raise ConnectionFailure(FailureKind.NETWORK, f"{host} closed the connection without a response.") from None
        if head.status is None or head.status == 101:
            break
        if head.status == 407:  # Only a proxy may send it, and the browser would attribute it to ours.
            raise ConnectionFailure(FailureKind.PROXY, f"{host} asks for a password like a proxy (407).")
        if head.status >= 200:
            return head
    raise ConnectionFailure(FailureKind.PROTOCOL, f"The response of {host} is not valid HTTP.")


async def copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]) -> None:
    """Copy until the reader ends. `count` is called with the size of each chunk before it is written, and may raise."""
    while data := await reader.read(CHUNK):
        count(len(data))
        writer.write(data)
        await writer.drain()


async def wait_for_first(*tasks: asyncio.Task[None]) -> None:
    """Wait until one of the tasks ends, then cancel the others."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result


async def close_gracefully(writer: asyncio.StreamWriter) -> None:
    """Close a connection once the peer has received everything, or after a timeout."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await writer.wait_closed()
