"""The proxy the browser has to go through: whatever a page makes it connect to passes the address guard and a question to us.

It listens on loopback, on a port of the system's choice, and serves only its guests: each has a random name and password of its
own, so that no other program on the machine can use it and so that we know which page a connection belongs to. A guest can be
sent away at any moment with all its connections.

Plain HTTP is one request a connection; everything else (TLS, WebSocket) is a tunnel. A refusal has no answer: the connection
just ends, because an answer would look like one of the site. Why is told to the guest (`Guest.faults`).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tadoru.fetch.browser import relay
from tadoru.fetch.browser.relay import ConnectionFailure, Dialer, MessageHead, Stream
from tadoru.model.web import FailureKind
from tadoru.rules.url import canonical, host_key, split_url

Admit = Callable[[str], Awaitable[bool]]
"""Asked before anything is looked up or connected, with the URL of a plain request or `https://host:port/` of a tunnel. It waits
for the host's turn as long as it likes; False refuses."""

CLIENT_BYTES = 64 * 1024 * 1024
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
    """One page, or one kept session: who it is, what it may still load, and what went wrong for it."""

    admit: Admit
    bytes_left: int
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    password: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    faults: dict[str, ConnectionFailure] = field(default_factory=dict)
    """By `host_key`: why the last connection there failed."""
    loaded: int = 0
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CLIENT_CONNECTIONS), repr=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    @property
    def authorization(self) -> str:
        return relay.basic_authorization(f"{self.name}:{self.password}")

    def count(self, size: int) -> None:
        """So many more bytes came in for it."""
        self.loaded += size
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise ConnectionFailure(FailureKind.TOO_LARGE, "The page loads more than it may.")

    def note(self, host: str, fault: ConnectionFailure) -> None:
        """Remember why a host could not be had; a page can think of any number of hosts."""
        if host in self.faults or len(self.faults) < _MAX_FAILURES:
            self.faults[host] = fault


class GuardedProxy:
    """Starts with `start`; guests come with `invite` and go with `dismiss`."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._guests: dict[str, ProxyClient] = {}
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        """`127.0.0.1:port`."""
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=relay.HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        await _cancel_all(self._clients)
        if self._server is not None:
            await self._server.wait_closed()

    def invite(self, admit: Admit, max_bytes: int = CLIENT_BYTES) -> ProxyClient:
        """Let somebody in."""
        guest = ProxyClient(admit, max_bytes)
        self._guests[guest.authorization] = guest
        return guest

    async def dismiss(self, guest: ProxyClient) -> None:
        """Let it in no longer, and end what it has open."""
        self._guests.pop(guest.authorization, None)
        await _cancel_all(guest._tasks)

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
        guest = None
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await relay.read_head(reader)
            guest = self._guests.get(head.get("proxy-authorization"))
            if guest is None:
                writer.write(_AUTHENTICATION_REQUIRED + _NO_BODY)
            else:
                guest._tasks.add(task)
                await self._entertain(guest, head, (reader, writer))
            await relay.close_gracefully(writer)
        except (OSError, TimeoutError):
            pass  # The browser has gone, or it was never the browser.
        finally:
            if guest is not None:
                guest._tasks.discard(task)
            writer.transport.abort()

    async def _entertain(self, guest: ProxyClient, head: MessageHead, client: Stream) -> None:
        method, _, rest = head.start.partition(" ")
        target = rest.rpartition(" ")[0]
        is_tunnel = method == "CONNECT"
        url = canonical(f"https://{target}/" if is_tunnel else target)
        # A request for the proxy itself, or for a scheme it does not speak.
        if url is None or (not is_tunnel and not url.startswith("http://")):
            return
        if not await guest.admit(url) or client[0].at_eof():
            return
        site = split_url(url)
        host = site.host.strip("[]")
        try:
            async with guest.places:
                upstream = await self._dialer.dial(host, site.port, tunnel=is_tunnel)
                try:
                    if is_tunnel:
                        client[1].write(_TUNNEL_ESTABLISHED)
                        await _relay(guest, (client[0], upstream[1]), (upstream[0], client[1]))
                    else:
                        await self._one_request(guest, head, url, client, upstream)
                finally:
                    upstream[1].transport.abort()
        except ConnectionFailure as fault:
            guest.note(host_key(url), fault)

    async def _one_request(self, guest: ProxyClient, head: MessageHead, url: str, client: Stream, upstream: Stream) -> None:
        """Send the request on as the only one of its connection, and its answer back as the only one of the other."""
        method, asked, _ = head.start.split(" ", 2)
        place = host_key(url)
        proxy = self._dialer.upstream
        # As the browser wrote it: a URL may be signed.
        target = asked if proxy is not None else "/" + asked.split("/", 3)[3] if asked.count("/") > 2 else "/"
        fields = head.without(frozenset({"proxy-authorization", "proxy-connection", "host"}))
        login = (("Proxy-Authorization", proxy.authorization),) if proxy is not None and proxy.authorization else ()
        upstream[1].write(
            MessageHead(f"{method} {target} HTTP/1.1", (("Host", place), *fields, *login, ("Connection", "close"))).encoded()
        )
        length = head.get("content-length")
        if head.get("transfer-encoding") or not (length.isdecimal() or not length):
            return
        sending = asyncio.create_task(_send_body(client[0], upstream[1], int(length or 0)))
        await relay.wait_for_first(sending, asyncio.create_task(_relay_response(guest, place, client[1], upstream[0])))


async def _send_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
    while length > 0 and (data := await reader.read(min(length, relay.CHUNK))):
        length -= len(data)
        writer.write(data)
        await writer.drain()
    # There is nothing more to say: the next thing to come is the end, when the browser has lost interest.
    await reader.read(1)


async def _relay_response(guest: ProxyClient, place: str, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            head = await relay.read_response_head(reader, place)
    except TimeoutError:
        raise ConnectionFailure(FailureKind.RESPONSE_TIMEOUT, f"No answer from {place} within {IDLE_SECONDS:g} s.") from None
    fields = head.without(frozenset({"proxy-authenticate", "proxy-connection"}))
    data = MessageHead(head.start, (*fields, ("Connection", "close"))).encoded()
    guest.count(len(data))
    writer.write(data)
    await _relay(guest, (reader, writer))


async def _relay(guest: ProxyClient, *ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Copy until one of the ways has ended, or nothing has come for long."""
    deadline = asyncio.timeout(IDLE_SECONDS)
    loop = asyncio.get_running_loop()

    def count(size: int) -> None:
        deadline.reschedule(loop.time() + IDLE_SECONDS)
        guest.count(size)

    with suppress(TimeoutError):
        async with deadline:
            await relay.wait_for_first(*(asyncio.create_task(relay.copy_stream(source, sink, count)) for source, sink in ways))


async def _cancel_all(tasks: set[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
