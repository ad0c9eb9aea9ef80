"""The proxy of the browser: each connection that a page opens passes the address guard and the request filter.

It listens on loopback, on a free port, and serves only its own clients. Each client has a random name and password, so that no
other program on the machine can use the proxy, and so that the page of each connection is known. A client can be removed at any
time with all its connections.

Plain HTTP is one request per connection; everything else (TLS, WebSocket) is a tunnel. A refused connection is closed without a
response, because a response would look like one of the site. The reason is recorded in `ProxyClient.failures`.
"""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from tadoru.errors import UsageError
from tadoru.fetch.base import PAGE_BYTES
from tadoru.fetch.guard import AddressGuard, BlockedAddress, DnsCache, UnresolvedHost, is_literal
from tadoru.model.web import FailureKind, Headers
from tadoru.rules.url import canonical, host_key, split_url

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


Admit = Callable[[str], Awaitable[bool]]
"""Called before a name is resolved, with the URL of a plain request or `https://host:port/` of a tunnel. It may wait for the turn
of the host; False refuses the connection."""

CLIENT_CONNECTIONS = 32
MAX_CONNECTIONS = 512
HEAD_SECONDS = 10.0
IDLE_SECONDS = 60.0
_MAX_FAILURES = 100
_AUTHENTICATION_REQUIRED = b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="tadoru"\r\n'
_NO_BODY = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
_TUNNEL_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(eq=False, slots=True)
class ProxyClient:
    """A client of the proxy (a page or a kept session): its credentials, its remaining bytes, and its failures."""

    admit: Admit
    bytes_left: int
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    password: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    failures: dict[str, ConnectionFailure] = field(default_factory=dict)
    """By `host_key`: why the last connection failed."""
    loaded: int = 0
    connections: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CLIENT_CONNECTIONS), repr=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    @property
    def authorization(self) -> str:
        return basic_authorization(f"{self.name}:{self.password}")

    def count_bytes(self, size: int) -> None:
        """Count received bytes. Raises ConnectionFailure when there are too many."""
        self.loaded += size
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise ConnectionFailure(FailureKind.TOO_LARGE, "The page loads more bytes than allowed.")

    def record_failure(self, host: str, failure: ConnectionFailure) -> None:
        """Record why a host could not be reached, for a limited number of hosts."""
        if host in self.failures or len(self.failures) < _MAX_FAILURES:
            self.failures[host] = failure


class GuardedProxy:
    """The proxy server. Clients are added with `add_client` and removed with `remove_client`."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._proxy_clients: dict[str, ProxyClient] = {}
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        """`127.0.0.1:port`."""
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def start(self) -> None:
        """Start to listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        await _cancel_all(self._clients)
        if self._server is not None:
            await self._server.wait_closed()

    def add_client(self, admit: Admit, max_bytes: int = PAGE_BYTES) -> ProxyClient:
        """Create a client."""
        sender = ProxyClient(admit, max_bytes)
        self._proxy_clients[sender.authorization] = sender
        return sender

    async def remove_client(self, sender: ProxyClient) -> None:
        """Remove a client and close its connections."""
        self._proxy_clients.pop(sender.authorization, None)
        await _cancel_all(sender._tasks)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        sender = None
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await read_head(reader)
            sender = self._proxy_clients.get(head.get("proxy-authorization"))
            if sender is None:
                writer.write(_AUTHENTICATION_REQUIRED + _NO_BODY)
            else:
                sender._tasks.add(task)
                await self._handle(sender, head, (reader, writer))
            await close_gracefully(writer)
        except (OSError, TimeoutError):
            pass  # The browser has closed the connection, or it was not the browser.
        finally:
            if sender is not None:
                sender._tasks.discard(task)
            writer.transport.abort()

    async def _handle(self, sender: ProxyClient, head: MessageHead, client: Stream) -> None:
        method, _, rest = head.start.partition(" ")
        target = rest.rpartition(" ")[0]
        is_tunnel = method == "CONNECT"
        url = canonical(f"https://{target}/" if is_tunnel else target)
        # A request for the proxy itself, or with an unsupported scheme.
        if url is None or (not is_tunnel and not url.startswith("http://")):
            return
        if not await sender.admit(url) or client[0].at_eof():
            return
        site = split_url(url)
        host = site.host.strip("[]")
        try:
            async with sender.connections:
                upstream = await self._dialer.dial(host, site.port, tunnel=is_tunnel)
                try:
                    if is_tunnel:
                        client[1].write(_TUNNEL_ESTABLISHED)
                        await _relay(sender, (client[0], upstream[1]), (upstream[0], client[1]))
                    else:
                        await self._forward_request(sender, head, url, client, upstream)
                finally:
                    upstream[1].transport.abort()
        except ConnectionFailure as failure:
            sender.record_failure(host_key(url), failure)

    async def _forward_request(self, sender: ProxyClient, head: MessageHead, url: str, client: Stream, upstream: Stream) -> None:
        """Forward one request over a new connection and return its response; both connections are closed afterwards."""
        method, requested, _ = head.start.split(" ", 2)
        host = host_key(url)
        proxy = self._dialer.upstream
        # Exactly as the browser wrote it: a URL may be signed.
        target = requested if proxy is not None else "/" + requested.split("/", 3)[3] if requested.count("/") > 2 else "/"
        fields = head.without(frozenset({"proxy-authorization", "proxy-connection", "host"}))
        login = (("Proxy-Authorization", proxy.authorization),) if proxy is not None and proxy.authorization else ()
        upstream[1].write(
            MessageHead(f"{method} {target} HTTP/1.1", (("Host", host), *fields, *login, ("Connection", "close"))).encoded()
        )
        length = head.get("content-length")
        if head.get("transfer-encoding") or not (length.isdecimal() or not length):
            return
        sending = asyncio.create_task(_send_body(client[0], upstream[1], int(length or 0)))
        await wait_for_first(sending, asyncio.create_task(_relay_response(sender, host, client[1], upstream[0])))


async def _send_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
    while length > 0 and (data := await reader.read(min(length, CHUNK))):
        length -= len(data)
        writer.write(data)
        await writer.drain()
    # The browser sends nothing more: wait until it closes the connection.
    await reader.read(1)


async def _relay_response(sender: ProxyClient, host: str, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            head = await read_response_head(reader, host)
    except TimeoutError:
        raise ConnectionFailure(FailureKind.RESPONSE_TIMEOUT, f"No response from {host} within {IDLE_SECONDS:g} s.") from None
    fields = head.without(frozenset({"proxy-authenticate", "proxy-connection"}))
    data = MessageHead(head.start, (*fields, ("Connection", "close"))).encoded()
    sender.count_bytes(len(data))
    writer.write(data)
    await _relay(sender, (reader, writer))


async def _relay(sender: ProxyClient, *directions: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Copy in each direction until one has ended, or nothing arrives for `IDLE_SECONDS`."""
    deadline = asyncio.timeout(IDLE_SECONDS)
    loop = asyncio.get_running_loop()

    def count(size: int) -> None:
        deadline.reschedule(loop.time() + IDLE_SECONDS)
        sender.count_bytes(size)

    with suppress(TimeoutError):
        async with deadline:
            await wait_for_first(*(asyncio.create_task(copy_stream(source, sink, count)) for source, sink in directions))


async def _cancel_all(tasks: set[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
