"""Bytes between the browser and a site: connecting to checked addresses only, the heads of plain HTTP, and copying until the end.

The part of `fetch.browser.proxy` that touches sockets. It knows neither who may connect nor where to: the guard says which addresses,
the proxy says for whom. TLS is not opened here; a tunnel is copied as it is.
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
"""The most a request or response head may have; as in `fetch.limits`."""
CHUNK = 64 * 1024
_MAX_INTERIM = 8
_CLOSE_SECONDS = 30.0
_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})
_STATUS = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: |$)")

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ConnectionFailure(Exception):
    """The site can not be had, with the name of the reason and a sentence."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class UpstreamProxy:
    """The proxy that the person put between us and the sites."""

    host: str
    port: int
    authorization: str = ""

    @classmethod
    def parse(cls, text: str) -> UpstreamProxy:
        """`http://user:password@host:port`. The message does not repeat it, for it may hold a password."""
        try:
            url = urlsplit(text)
            host, port = url.hostname, url.port or 80
        except ValueError:
            host, port = None, 0
        if not host or url.scheme != "http":
            raise UsageError("The proxy is not a usable URL: give http://host:port or http://user:password@host:port.")
        pair = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
        return cls(host, port, "" if pair == ":" else basic_authorization(pair))

    def __repr__(self) -> str:
        return f"Upstream({self.host}:{self.port})"


def basic_authorization(pair: str) -> str:
    """`user:password` as a header says it."""
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"


class Dialer:
    """Connects to sites: to an address the guard has just allowed, or through the person's proxy once it has allowed the name."""

    def __init__(
        self, guard: AddressGuard, names: DnsCache, upstream: UpstreamProxy | None = None, timeout: float = 30.0
    ) -> None:
        self.upstream = upstream
        self._guard = guard
        self._names = names
        self._timeout = timeout

    async def dial(self, host: str, port: int, *, tunnel: bool) -> Stream:
        """A connection for this host. Raises Fault."""
        try:
            async with asyncio.timeout(self._timeout):
                addresses = await self._allowed(host, port)
                if self.upstream is None:
                    return await _connect(addresses, port)
                return await self._through(self.upstream, host, port, tunnel)
        except BlockedAddress as error:
            raise ConnectionFailure(FailureKind.BLOCKED_ADDRESS, str(error)) from None
        except UnresolvedHost:
            raise ConnectionFailure(FailureKind.DNS, f"{host} can not be resolved.") from None
        except TimeoutError:
            raise ConnectionFailure(FailureKind.CONNECT_TIMEOUT, f"No connection to {host} within {self._timeout:g} s.") from None
        except ConnectionRefusedError:
            raise ConnectionFailure(FailureKind.REFUSED, f"{host} refused the connection.") from None
        except OSError:
            raise ConnectionFailure(FailureKind.NETWORK, f"No connection to {host}.") from None

    async def _allowed(self, host: str, port: int) -> list[str]:
        if self.upstream is not None and self._guard.exempt(host, port):
            return []  # The proxy resolves it, and may be the only one who can.
        addresses = [host] if is_literal(host) else self._names.known(host) or await self._names.ask(host)
        return self._guard.allowed(host, port, addresses)

    async def _through(self, upstream: UpstreamProxy, host: str, port: int, tunnel: bool) -> Stream:
        try:
            known = [upstream.host] if is_literal(upstream.host) else await self._names.ask(upstream.host)
            reader, writer = await _connect(list(known), upstream.port)
        except OSError:
            raise ConnectionFailure(FailureKind.PROXY, "The proxy can not be reached.") from None
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
    """The first of these addresses that answers."""
    failed: OSError = OSError("no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port, limit=HEAD_BYTES)
        except OSError as error:
            failed = error
    raise failed


@dataclass(frozen=True, slots=True)
class MessageHead:
    """The first line of a request or response, and its header fields."""

    start: str
    fields: Headers

    @property
    def status(self) -> int | None:
        """The status of a response; None when this is no HTTP/1 response."""
        found = _STATUS.match(self.start)
        return int(found[1]) if found else None

    def get(self, name: str) -> str:
        """The first value of a field, or nothing."""
        return next((value for key, value in self.fields if key.lower() == name), "")

    def without(self, names: frozenset[str]) -> Headers:
        """The fields but for these, and but for those that belong to the connection."""
        gone = _OF_THE_CONNECTION | names
        return tuple((name, value) for name, value in self.fields if name.lower() not in gone)

    def encoded(self) -> bytes:
        lines = (self.start, *(f"{name}: {value}" for name, value in self.fields))
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> MessageHead:
    """The next head, and not one byte more. Raises OSError when the peer goes away before its end."""
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
        if text[0] in " \t" and len(lines) > 1:  # An old way to continue a line.
            lines[-1] += " " + text.strip()
        else:
            lines.append(text)
    start, *fields = lines or [""]
    pairs = (field.partition(":") for field in fields)
    return MessageHead(start, tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon and name.strip()))


async def read_response_head(reader: asyncio.StreamReader, place: str) -> MessageHead:
    """The head of the final response; interim ones are passed over. Raises Fault when it is none a browser may be given."""
    for _ in range(_MAX_INTERIM):
        try:
            head = await read_head(reader)
        except OSError:
            raise ConnectionFailure(FailureKind.NETWORK, f"{place} closed the connection without an answer.") from None
        if head.status is None or head.status == 101:
            break
        if head.status == 407:  # Only a proxy may say so, and the browser would take it for ours.
            raise ConnectionFailure(FailureKind.PROXY, f"{place} answered as a proxy does that asks for a password (407).")
        if head.status >= 200:
            return head
    raise ConnectionFailure(FailureKind.PROTOCOL, f"What {place} answered is not valid HTTP.")


async def copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]) -> None:
    """Copy until the reader's end. `count` hears of every piece before it goes on, and may raise."""
    while data := await reader.read(CHUNK):
        count(len(data))
        writer.write(data)
        await writer.drain()


async def wait_for_first(*jobs: asyncio.Task[None]) -> None:
    """Until one of them is over; the others are cancelled, and none is left behind."""
    try:
        await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for job in jobs:
            job.cancel()
        results = await asyncio.gather(*jobs, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result


async def close_gracefully(writer: asyncio.StreamWriter) -> None:
    """Close a connection once the peer has taken what was written; one that does not is not waited for for ever."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await writer.wait_closed()
